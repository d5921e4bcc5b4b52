// Fields of binary messages, read with memcpy and checked: never through a pointer cast.
// WireRecord checks the size once and each offset when compiling; WireReader checks every read.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace tocsin {

static_assert(std::endian::native == std::endian::little, "reading fields assumes little-endian");

// The integer whose `sizeof(T)` little-endian bytes start at `bytes`.
template <std::integral T>
inline T load_little(const std::byte* bytes) noexcept {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// The same, most significant byte first.
template <std::integral T>
inline T load_big(const std::byte* bytes) noexcept {
  using Unsigned = std::make_unsigned_t<T>;
  const auto value = load_little<Unsigned>(bytes);
  if constexpr (sizeof(T) == 1) {
    return static_cast<T>(value);
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<T>(__builtin_bswap16(value));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<T>(__builtin_bswap32(value));
  } else {
    return static_cast<T>(__builtin_bswap64(value));
  }
}

// Text in a field of fixed size that is filled up with `padding` ('\0' or ' ') at its end.
inline std::string_view without_padding(std::string_view field, char padding) noexcept {
  const std::size_t last = field.find_last_not_of(padding);
  return field.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// A message of exactly kSizeBytes. Fields are named by their offset, as specifications do:
// an offset that does not fit does not compile. The bytes must outlive the record.
template <std::size_t kSizeBytes>
class WireRecord {
 public:
  explicit WireRecord(std::span<const std::byte, kSizeBytes> bytes) noexcept
      : bytes_(bytes.data()) {}

  template <std::integral T, std::size_t kOffset>
  T big() const noexcept {
    static_assert(kOffset + sizeof(T) <= kSizeBytes);
    return load_big<T>(bytes_ + kOffset);
  }
  template <std::integral T, std::size_t kOffset>
  T little() const noexcept {
    static_assert(kOffset + sizeof(T) <= kSizeBytes);
    return load_little<T>(bytes_ + kOffset);
  }
  // Six bytes, most significant first.
  template <std::size_t kOffset>
  std::uint64_t big48() const noexcept {
    return std::uint64_t{big<std::uint16_t, kOffset>()} << 32 | big<std::uint32_t, kOffset + 2>();
  }
  template <std::size_t kOffset>
  char letter() const noexcept {
    return static_cast<char>(little<std::uint8_t, kOffset>());
  }
  template <std::size_t kOffset, std::size_t kLength>
  std::string_view text() const noexcept {
    static_assert(kOffset + kLength <= kSizeBytes);
    return {reinterpret_cast<const char*>(bytes_ + kOffset), kLength};
  }

 private:
  const std::byte* bytes_;
};

// Reads fields one after another. A read past the end yields zero and makes ok() false for good, so
// that a run of reads is checked once, after it.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

  template <std::integral T>
  T big() noexcept {
    const std::span<const std::byte> field = take(sizeof(T));
    return field.empty() ? T{0} : load_big<T>(field.data());
  }
  template <std::integral T>
  T little() noexcept {
    const std::span<const std::byte> field = take(sizeof(T));
    return field.empty() ? T{0} : load_little<T>(field.data());
  }
  std::string_view text(std::size_t size_bytes) noexcept {
    const std::span<const std::byte> field = take(size_bytes);
    return {reinterpret_cast<const char*>(field.data()), field.size()};
  }
  // The next `size_bytes`, consumed; empty if fewer are left.
  std::span<const std::byte> take(std::size_t size_bytes) noexcept {
    if (size_bytes > left_.size()) {
      ok_ = false;
      left_ = {};
      return {};
    }
    const std::span<const std::byte> taken = left_.first(size_bytes);
    left_ = left_.subspan(size_bytes);
    return taken;
  }
  void skip(std::size_t size_bytes) noexcept { (void)take(size_bytes); }

  bool ok() const noexcept { return ok_; }
  std::span<const std::byte> left() const noexcept { return left_; }

 private:
  std::span<const std::byte> left_;
  bool ok_ = true;
};

}  // namespace tocsin
