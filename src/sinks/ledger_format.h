// What a ledger says: the content of every kind of record, and its encoding, version 1.
// Everything is little-endian and explicit; docs/adr/ledger-format.md has the byte tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "events/decision.h"

namespace tocsin {

inline constexpr std::uint32_t kLedgerFormatVersion = 1;
inline constexpr std::size_t kLedgerPayloadBytesMax = std::size_t{16} << 20;
inline constexpr std::size_t kLedgerSymbolBytesMax = 255;

enum class LedgerRecordKind : std::uint8_t {
  kRunStart = 1,
  kDecision = 2,
  kRunEnd = 3,
  kResume = 4
};
std::string_view ledger_record_kind_name(LedgerRecordKind kind) noexcept;

// One column of the frames of a run, enough to read a frame without the model's package.
struct LedgerFeature {
  std::string name;
  std::string unit;
  float mean = 0.0F;   // of the training data
  float scale = 0.0F;  // 1 / deviation; 0: not known
  friend bool operator==(const LedgerFeature&, const LedgerFeature&) = default;
};

// What all decisions of a run rest on; they refer to it by the number of its record.
struct LedgerRunStart {
  std::int64_t unix_time_ns = 0;
  std::string config;  // effective configuration, YAML
  std::string tocsin_version;
  std::string tocsin_commit;
  std::string source_name;
  std::string source_path;
  std::uint64_t source_size_bytes = 0;
  std::string model_name;
  std::string model_version;
  Digest model_sha256{};
  Digest schema_hash{};
  std::vector<LedgerFeature> features;
  std::vector<std::string> rules;  // by DecisionRecord::rule_index
  std::string engine;
  std::string engine_version;
  std::string isa;  // instruction set in use: "avx2"
  DeterminismClass determinism = DeterminismClass::kExact;
};

// True if the second run repeats the first: the same program, configuration, input, model, schema
// and engine. Time, path and instruction set may differ.
bool same_run(const LedgerRunStart& a, const LedgerRunStart& b);

struct LedgerDecision {
  std::uint64_t run_record = 0;  // number of the LedgerRunStart that it belongs to
  std::string symbol;
  DecisionRecord decision;
};

enum class RunEndReason : std::uint8_t { kComplete = 0, kInterrupted = 1, kFailed = 2 };
std::string_view run_end_reason_name(RunEndReason reason) noexcept;

// Counts of the whole run, from its first record of input.
struct LedgerRunCounters {
  std::uint64_t events = 0;
  std::uint64_t gaps = 0;
  std::uint64_t frames = 0;
  std::uint64_t windows_scored = 0;
  std::uint64_t rescored = 0;
  std::uint64_t alerts = 0;
  std::uint64_t held = 0;
  std::uint64_t suppressed_cooldown = 0;
  std::uint64_t suppressed_untrusted = 0;
  std::uint64_t not_finite = 0;
  std::uint64_t held_back_remainder = 0;  // qualifying events that no alert has carried
  friend bool operator==(const LedgerRunCounters&, const LedgerRunCounters&) = default;
};

struct LedgerRunEnd {
  RunEndReason reason = RunEndReason::kComplete;
  std::int64_t unix_time_ns = 0;
  InputPosition last_position;
  LedgerRunCounters counters;
};

// A run that stopped before its end goes on; decisions that are already in the ledger are derived
// again, compared, and not written twice.
struct LedgerResume {
  std::int64_t unix_time_ns = 0;
  std::uint64_t run_record = 0;
  std::uint64_t durable_decision_count = 0;  // decisions of the run that were in the ledger
  std::uint64_t torn_bytes = 0;              // cut off the end of the ledger: an unfinished record
  std::string isa;
};

// Each appends to `out`. Limits: texts and lists within kLedgerPayloadBytesMax, else
// kInvalidArgument; a symbol longer than kLedgerSymbolBytesMax is cut.
Status encode_run_start(const LedgerRunStart& run, std::vector<std::byte>& out);
void encode_decision(const LedgerDecision& decision, std::vector<std::byte>& out);
void encode_run_end(const LedgerRunEnd& end, std::vector<std::byte>& out);
void encode_resume(const LedgerResume& resume, std::vector<std::byte>& out);

// A payload that is short, long or holds a value out of range is kDataLoss.
Result<LedgerRunStart> decode_run_start(std::span<const std::byte> payload);
Result<LedgerDecision> decode_decision(std::span<const std::byte> payload);
Result<LedgerRunEnd> decode_run_end(std::span<const std::byte> payload);
Result<LedgerResume> decode_resume(std::span<const std::byte> payload);

// A decision's payload ends in the fields that differ from run to run (when it was made and how
// long its stages took); all before them is the same whenever the run is repeated by an exact
// engine.
inline constexpr std::size_t kLedgerTimingBytes = 8 * (1 + kStageCount);
// Where the bits of the score stand in a decision's payload: only they may differ between
// repetitions by an engine that isn't exact.
inline constexpr std::size_t kLedgerScoreOffset = 88;

}  // namespace tocsin
