// One partition's single-threaded pipeline: record in, decisions out to the sinks' ring.
// A bounded duty cycle: step() takes one record of the source through every stage.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "concurrency/idle_strategy.h"
#include "concurrency/spsc_ring.h"
#include "decision/alert_id.h"
#include "decision/decision_policy.h"
#include "events/decision.h"
#include "ingest/source.h"
#include "models/model_package.h"
#include "runtime/frame_builder.h"
#include "runtime/outcome_tracker.h"
#include "runtime/run_summary.h"
#include "runtime/series_recorder.h"
#include "scoring/scorer.h"
#include "sinks/symbol_table.h"
#include "telemetry/histogram.h"

namespace tocsin {

// What the pipeline works with; all of it outlives the pipeline.
struct PipelineParts {
  Source& source;
  Scorer& scorer;
  DecisionPolicy& policy;
  AlertIdHasher& ids;
  FailureCapsuleFolder& failures;
  SpscRing<DecisionRecord>& decisions;
  SymbolTable& symbols;
  const Clock& clock;
};

struct PipelineOptions {
  std::string source_name;               // base name of the input, as in ModelPackage::seen
  std::uint64_t sample_every = 0;        // every n-th decision that does not alert is recorded too
  IdlePolicy idle = IdlePolicy::kSleep;  // while the next record is not due
  std::uint64_t warmup_windows = 2'000;  // allocations are counted after so many scored windows
  std::vector<LeaderPair> leaders = {};
};

struct PipelineCounters {
  std::uint64_t frames = 0;
  std::uint64_t windows_scored = 0;
  std::uint64_t failed_inferences = 0;
  std::uint64_t ring_full_waits = 0;
  std::uint64_t allocations_after_warmup = 0;
};

class Pipeline {
 public:
  enum class Step : std::uint8_t { kWorked, kEnd, kFailed };

  Pipeline(const PipelineParts& parts, const PipelineOptions& options);

  // One record. kEnd: the source is exhausted; kFailed: it cannot go on, see Source::error().
  // Waits while the ring is full, unless `give_up` turns true (the sinks' thread has failed).
  Step step(const std::atomic<bool>& give_up) noexcept;
  // No more records: closes what looks ahead (outcomes).
  void finish() noexcept;

  const PipelineCounters& counters() const noexcept { return counters_; }
  const FrameBuilder& builder() const noexcept { return builder_; }
  InputPosition last_position() const noexcept { return last_position_; }
  // By stage; the hand-off is measured by the sinks' thread.
  const LatencyHistogram& stage(Stage stage) const noexcept {
    return stages_[static_cast<std::size_t>(stage)];
  }
  // From the record in hand to the decision, of every scored window.
  const LatencyHistogram& event_to_decision() const noexcept { return event_to_decision_; }
  OutcomeCounters outcomes(SeenPart part) const noexcept;
  const SeriesRecorder& series() const noexcept { return series_; }
  const std::vector<AlertLine>& alert_lines() const noexcept { return alert_lines_; }

 private:
  void add_instrument(InstrumentId instrument);
  void on_frame(FeatureFrame& frame, StageDurations& durations,
                const std::atomic<bool>& give_up) noexcept;
  // True if an alert left.
  bool decide(const FeatureFrame& frame, float score, StageDurations& durations,
              const std::atomic<bool>& give_up) noexcept;
  void hand_over(const DecisionRecord& record, const std::atomic<bool>& give_up) noexcept;
  void note_alert(const DecisionRecord& record) noexcept;
  SeenPart part_of(std::uint64_t record) const noexcept;

  PipelineParts parts_;
  PipelineOptions options_;
  FrameBuilder builder_;
  std::vector<SeenStretch> seen_;  // stretches of this source
  EventBatch batch_;
  FeatureFrame frame_;
  std::vector<OutcomeTracker> outcomes_;  // by InstrumentId
  SeriesRecorder series_;
  std::vector<AlertLine> alert_lines_;
  std::array<LatencyHistogram, kStageCount> stages_;
  LatencyHistogram event_to_decision_;
  PipelineCounters counters_;
  InputPosition last_position_;
  std::uint64_t since_sample_ = 0;
  std::uint64_t allocations_at_warmup_ = 0;
};

}  // namespace tocsin
