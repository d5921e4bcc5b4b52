// Names an alert after where its input stood and what judged it: the same input and model give the
// same id in every run, on every machine, so that a repeated alert is known as one.
#pragma once

#include <string>
#include <string_view>

#include "base/digest.h"
#include "events/decision.h"
#include "events/feature_frame.h"

namespace tocsin {

// What all alerts of one run and rule have in common.
struct AlertOrigin {
  std::string source;         // name of the input; not its folder: "BTCUSDT.jsonl.zst"
  std::string rule;           // "burst"
  std::string model;          // "btcusdt_burst_lstm"
  std::string model_version;  // "1"
};

// The id is the first 8 bytes, most significant first, of BLAKE2s-256 over these in a row:
//   text "tocsin-alert-1"
//   text source, u32 partition, u64 record, text symbol, text rule, text model, text model_version
// where a number is little-endian and a text is its length in bytes as u32 and then its bytes.
// Lengths stand before texts, so that no two different inputs have the same encoding.
class AlertIdHasher {
 public:
  explicit AlertIdHasher(const AlertOrigin& origin);

  // Allocates nothing for symbols up to kSymbolReserveBytes.
  AlertId id_of(const InputPosition& position, std::string_view symbol) noexcept;

  static constexpr std::size_t kSymbolReserveBytes = 256;

 private:
  DigestBuilder digest_{DigestKind::kBlake2s256};
  std::string head_;    // up to and with the source
  std::string tail_;    // from the rule on
  std::string middle_;  // position and symbol of the call
};

}  // namespace tocsin
