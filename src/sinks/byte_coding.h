// Little-endian numbers and length-prefixed texts, to bytes and back. The decoder checks every
// bound and remembers the first failure, so that a caller asks once, at the end.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/digest.h"

namespace tocsin {

class ByteEncoder {
 public:
  explicit ByteEncoder(std::vector<std::byte>& out) : out_(out) {}

  template <std::integral T>
  void number(T value) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i)
      out_.push_back(static_cast<std::byte>(bits >> (8 * i) & 0xFFU));
  }
  void bits_of(float value) { number(std::bit_cast<std::uint32_t>(value)); }
  void bytes(std::span<const std::byte> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  void digest(const Digest& digest) { bytes(std::as_bytes(std::span(digest))); }
  // The length as u32, then the bytes.
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    bytes(std::as_bytes(std::span(text.data(), text.size())));
  }

 private:
  std::vector<std::byte>& out_;
};

class ByteDecoder {
 public:
  explicit ByteDecoder(std::span<const std::byte> bytes) : rest_(bytes) {}

  // Zero once anything failed.
  template <std::integral T>
  T number() noexcept {
    std::make_unsigned_t<T> bits = 0;
    const std::span<const std::byte> taken = take(sizeof(T));
    for (std::size_t i = 0; i < taken.size(); ++i)
      bits = static_cast<std::make_unsigned_t<T>>(
          bits | static_cast<std::uint64_t>(std::to_integer<std::uint8_t>(taken[i])) << (8 * i));
    return static_cast<T>(bits);
  }
  float float_bits() noexcept { return std::bit_cast<float>(number<std::uint32_t>()); }
  Digest digest() noexcept {
    Digest digest{};
    const std::span<const std::byte> taken = take(digest.size());
    for (std::size_t i = 0; i < taken.size(); ++i)
      digest[i] = std::to_integer<std::uint8_t>(taken[i]);
    return digest;
  }
  std::string text() { return fixed_text(number<std::uint32_t>()); }
  std::string fixed_text(std::size_t size_bytes) {
    const std::span<const std::byte> taken = take(size_bytes);
    return std::string(reinterpret_cast<const char*>(taken.data()), taken.size());
  }
  // Marks the input as bad: for values that only the caller can judge.
  void fail() noexcept { failed_ = true; }

  bool failed() const noexcept { return failed_; }
  // All was read and nothing is left.
  bool complete() const noexcept { return !failed_ && rest_.empty(); }
  std::size_t left_bytes() const noexcept { return rest_.size(); }

 private:
  std::span<const std::byte> take(std::size_t size_bytes) noexcept {
    if (failed_ || size_bytes > rest_.size()) {
      failed_ = true;
      return {};
    }
    const std::span<const std::byte> taken = rest_.first(size_bytes);
    rest_ = rest_.subspan(size_bytes);
    return taken;
  }

  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace tocsin
