// Scores, decisions and their latency ledger, as they cross from the pipeline to the sinks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "events/feature_frame.h"
#include "events/quality.h"

namespace tocsin {

// How far a score can be reproduced (design: "the same bits, always").
enum class DeterminismClass : std::uint8_t {
  kExact = 0,      // the same bits on every declared machine
  kTolerance = 1,  // equal within a stated tolerance
  kRecorded = 2,   // only the record says what it was
};
std::string_view determinism_name(DeterminismClass determinism) noexcept;

// The stages of the data path, in order. "wait" is the time between a frame being ready and its
// scoring; "handoff" from the decision to the sinks' thread taking it.
enum class Stage : std::uint8_t { kDecode, kBook, kFeatures, kWait, kScore, kDecision, kHandoff };
inline constexpr std::size_t kStageCount = 7;
std::string_view stage_name(Stage stage) noexcept;

// Nanoseconds of each stage; their sum is the whole from record in hand to hand-off.
struct StageDurations {
  std::array<std::int64_t, kStageCount> ns{};
  std::int64_t& operator[](Stage stage) noexcept { return ns[static_cast<std::size_t>(stage)]; }
  std::int64_t operator[](Stage stage) const noexcept {
    return ns[static_cast<std::size_t>(stage)];
  }
  std::int64_t total_ns() const noexcept {
    std::int64_t total = 0;
    for (const std::int64_t duration : ns) total += duration;
    return total;
  }
};

enum class Verdict : std::uint8_t {
  kQuiet = 0,                // below the threshold
  kAlert = 1,                // an alert leaves
  kHeld = 2,                 // above the release threshold of an alert already given (hysteresis)
  kSuppressedCooldown = 3,   // would alert, but one left within the cooldown
  kSuppressedUntrusted = 4,  // would alert, but the book may not be trusted
};
std::string_view verdict_name(Verdict verdict) noexcept;

// 64 bits of BLAKE2s over source, partition, record, rule and model version (design: idea 4).
struct AlertId {
  std::uint64_t value = 0;
  friend bool operator==(AlertId, AlertId) = default;
};

// Everything a decision rests on; fixed size, so that it crosses a ring without allocation.
struct DecisionRecord {
  FeatureFrame frame;                    // the newest frame of the window
  std::uint64_t first_frame_record = 0;  // position of the window's oldest frame
  std::uint64_t window_hash = 0;         // window_hash() of its raw values (scoring/frame_window.h)
  AlertId id;
  float score = 0.0F;
  float threshold = 0.0F;
  float release_threshold = 0.0F;
  std::uint16_t window_steps = 0;
  std::uint16_t rule_index = 0;  // into the run's list of rules
  bool sampled = false;          // goes into the ledger although it is no alert
  Verdict verdict = Verdict::kQuiet;
  DeterminismClass determinism = DeterminismClass::kExact;
  std::uint64_t suppressed_count =
      0;                             // qualifying events held back since the last alert of the key
  std::int64_t decided_time_ns = 0;  // Clock::monotonic_time_ns() at the decision
  StageDurations durations;
};
static_assert(std::is_trivially_copyable_v<DecisionRecord>);

}  // namespace tocsin
