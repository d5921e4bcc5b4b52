// SHA-256 and BLAKE2s through OpenSSL's EVP interface.
#include "base/digest.h"

#include <openssl/evp.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace tocsin {

struct DigestBuilder::State {
  const EVP_MD* kind;
  EVP_MD_CTX* context;
};

DigestBuilder::DigestBuilder(DigestKind kind)
    : state_(std::make_unique<State>(
          State{kind == DigestKind::kSha256 ? EVP_sha256() : EVP_blake2s256(), EVP_MD_CTX_new()})) {
  TOCSIN_ASSERT(state_->context != nullptr);
  TOCSIN_ASSERT(EVP_DigestInit_ex(state_->context, state_->kind, nullptr) == 1);
}

DigestBuilder::~DigestBuilder() {
  if (state_) EVP_MD_CTX_free(state_->context);
}
DigestBuilder::DigestBuilder(DigestBuilder&&) noexcept = default;
DigestBuilder& DigestBuilder::operator=(DigestBuilder&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

void DigestBuilder::update(std::span<const std::byte> bytes) noexcept {
  TOCSIN_ASSERT(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

void DigestBuilder::update(std::string_view text) noexcept {
  update(std::as_bytes(std::span(text.data(), text.size())));
}

Digest DigestBuilder::finish() noexcept {
  Digest digest{};
  unsigned size = 0;
  TOCSIN_ASSERT(EVP_DigestFinal_ex(state_->context, digest.data(), &size) == 1);
  TOCSIN_ASSERT(size == digest.size());
  TOCSIN_ASSERT(EVP_DigestInit_ex(state_->context, nullptr, nullptr) == 1);
  return digest;
}

Digest digest_of(DigestKind kind, std::span<const std::byte> bytes) {
  DigestBuilder builder(kind);
  builder.update(bytes);
  return builder.finish();
}

Digest digest_of(DigestKind kind, std::string_view text) {
  return digest_of(kind, std::as_bytes(std::span(text.data(), text.size())));
}

Result<Digest> sha256_of_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    return Error(ErrorCode::kNotFound, path + ": cannot be opened: " + std::strerror(errno));
  DigestBuilder builder(DigestKind::kSha256);
  std::vector<std::byte> buffer(1 << 16);
  std::size_t count = 0;
  while ((count = std::fread(buffer.data(), 1, buffer.size(), file)) > 0)
    builder.update(std::span(buffer.data(), count));
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed)
    return Error(ErrorCode::kDataLoss, path + ": cannot be read: " + std::strerror(errno));
  return builder.finish();
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Result<Digest> digest_from_hex(std::string_view text) {
  Digest digest{};
  const auto value = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  bool good = text.size() == 2 * digest.size();
  for (std::size_t i = 0; good && i < digest.size(); ++i) {
    const int high = value(text[2 * i]);
    const int low = value(text[2 * i + 1]);
    good = high >= 0 && low >= 0;
    if (good) digest[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  if (!good)
    return Error(ErrorCode::kInvalidArgument,
                 "'" + std::string(text) + "' is not a digest: expected 64 hexadecimal digits");
  return digest;
}

}  // namespace tocsin
