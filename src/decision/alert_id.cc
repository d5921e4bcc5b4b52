// Encodes and hashes the parts of an alert's id.
#include "decision/alert_id.h"

#include <concepts>
#include <cstdint>

namespace tocsin {
namespace {

template <std::unsigned_integral T>
void append_number(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

void append_text(std::string& out, std::string_view text) {
  append_number(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

}  // namespace

AlertIdHasher::AlertIdHasher(const AlertOrigin& origin) {
  append_text(head_, "tocsin-alert-1");
  append_text(head_, origin.source);
  append_text(tail_, origin.rule);
  append_text(tail_, origin.model);
  append_text(tail_, origin.model_version);
  middle_.reserve(sizeof(std::uint32_t) + sizeof(std::uint64_t) + sizeof(std::uint32_t) +
                  kSymbolReserveBytes);
}

AlertId AlertIdHasher::id_of(const InputPosition& position, std::string_view symbol) noexcept {
  middle_.clear();
  append_number(middle_, position.partition);
  append_number(middle_, position.record);
  append_text(middle_, symbol);
  digest_.update(head_);
  digest_.update(middle_);
  digest_.update(tail_);
  const Digest digest = digest_.finish();
  AlertId id;
  for (std::size_t i = 0; i < sizeof(id.value); ++i) id.value = id.value << 8 | digest[i];
  return id;
}

}  // namespace tocsin
