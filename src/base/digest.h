// Cryptographic digests (OpenSSL's libcrypto behind a narrow door).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tocsin {

using Digest = std::array<std::uint8_t, 32>;

enum class DigestKind : std::uint8_t {
  kSha256,      // checksums of files: what sha256sum prints
  kBlake2s256,  // ids and the hash chain: fast on short input (RFC 7693)
};

class DigestBuilder {
 public:
  explicit DigestBuilder(DigestKind kind);
  ~DigestBuilder();
  DigestBuilder(DigestBuilder&&) noexcept;
  DigestBuilder& operator=(DigestBuilder&&) noexcept;

  void update(std::span<const std::byte> bytes) noexcept;
  void update(std::string_view text) noexcept;
  // The digest of all since construction or the last finish(); the builder starts anew.
  Digest finish() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest digest_of(DigestKind kind, std::span<const std::byte> bytes);
Digest digest_of(DigestKind kind, std::string_view text);
Result<Digest> sha256_of_file(const std::string& path);

// Lower-case hexadecimal; to_hex(d) has 64 digits.
std::string to_hex(std::span<const std::uint8_t> bytes);
// Empty if `text` is not exactly 64 hexadecimal digits.
Result<Digest> digest_from_hex(std::string_view text);

}  // namespace tocsin
