// What a run did, for the closing table, for `--summary FILE` and for the HTML report.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "events/decision.h"
#include "features/book_oracle.h"
#include "ingest/source.h"
#include "runtime/frame_builder.h"
#include "runtime/outcome_tracker.h"
#include "runtime/series_recorder.h"
#include "telemetry/histogram.h"

namespace tocsin {

enum class RunEnd : std::uint8_t { kComplete, kInterrupted, kBadInput, kOutputFailed };
std::string_view run_end_name(RunEnd end) noexcept;

// Which part of the input a frame lies in, as far as the model package tells.
enum class SeenPart : std::uint8_t { kTraining, kValidation, kUnseen };
inline constexpr std::size_t kSeenPartCount = 3;
std::string_view seen_part_name(SeenPart part) noexcept;

struct AlertLine {
  AlertId id;
  InstrumentId instrument = 0;
  std::uint64_t record = 0;
  std::int64_t exchange_time_ns = 0;
  std::int64_t mid_nanos_x2 = 0;
  float score = 0.0F;
};

struct RunSummary {
  std::string name;
  std::string source;
  std::string model;
  std::string engine;
  std::string precision;  // of the scores; those counted in `rescored` are in float32
  std::string isa;
  DeterminismClass determinism = DeterminismClass::kExact;
  std::int64_t steps = 0;
  float threshold = 0.0F;
  float release_threshold = 0.0F;
  RunEnd end = RunEnd::kComplete;
  // Messages by type, and what a live source counts besides: datagrams, broken connections,
  // silences.
  std::vector<std::pair<std::string, std::uint64_t>> by_type;
  ErrorCode error_code = ErrorCode::kOk;  // of `error`, where the source gave it
  std::string error;                      // why the run ended early; empty if it did not

  SourceCounters input;
  std::vector<InputFault> faults;
  BookCounters books;
  OracleCounters oracle;
  FrameMemory memory;
  std::uint64_t frames = 0;
  std::uint64_t windows_scored = 0;
  std::uint64_t rescored = 0;       // within the guard band of a threshold
  std::uint64_t whole_windows = 0;  // scored whole because their work had not been kept ahead
  std::uint64_t caught_up = 0;      // steps ahead that were late, so that a frame waited for them
  std::uint64_t failed_inferences = 0;
  std::uint64_t alerts = 0;
  std::uint64_t held = 0;
  std::uint64_t suppressed_cooldown = 0;
  std::uint64_t suppressed_untrusted = 0;
  std::uint64_t already_durable = 0;  // ledger records found from an earlier, interrupted start
  std::array<OutcomeCounters, kSeenPartCount> outcomes;  // by SeenPart
  std::int64_t burst_move_ticks = 0;  // what a burst is: BurstTarget of the package
  std::int64_t burst_horizon_frames = 0;

  std::array<Distribution, kStageCount> stages_ns{};
  Distribution event_to_alert_ns;     // alerts, hand-off included
  Distribution event_to_decision_ns;  // all scored windows, without the hand-off
  std::vector<std::pair<std::int64_t, std::uint64_t>> event_to_decision_buckets;  // upper, count
  std::int64_t wall_duration_ns = 0;
  std::uint64_t allocations_after_warmup = 0;
  std::uint64_t ring_full_waits = 0;
  std::string folder;
  std::string ledger_path;
  std::uint64_t ledger_records = 0;
  std::string ledger_head;

  std::vector<std::string> symbols;  // by InstrumentId
  std::vector<SeriesPoint> series;
  std::vector<AlertLine> alert_lines;  // the first kAlertLinesMax
};
inline constexpr std::size_t kAlertLinesMax = 10'000;

// The keys of the command reference, and the series for plots under "series".
std::string run_summary_json(const RunSummary& summary);

}  // namespace tocsin
