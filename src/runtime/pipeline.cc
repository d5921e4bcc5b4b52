// Decode, book, features, window, score, decision; what an alert or a sample rests on goes to the
// sinks' ring. Alert lines and outcomes are bookkeeping after the decision has left.
#include "runtime/pipeline.h"

#include <algorithm>

#include "base/allocation_counter.h"
#include "concurrency/idle_strategy.h"

namespace tocsin {

Pipeline::Pipeline(const PipelineParts& parts, const PipelineOptions& options)
    : parts_(parts),
      options_(options),
      builder_(parts.scorer.model().schema, parts.source, parts.clock, options.leaders) {
  alert_lines_.reserve(kAlertLinesMax);
  for (const SeenStretch& stretch : parts.scorer.model().package.seen)
    if (stretch.source == options_.source_name) seen_.push_back(stretch);
}

void Pipeline::add_instrument(InstrumentId instrument) {
  while (outcomes_.size() <= instrument) {
    const auto id = static_cast<InstrumentId>(outcomes_.size());
    const Instrument& known = parts_.source.instruments()[id];
    const BurstTarget& target = parts_.scorer.model().package.target;
    outcomes_.emplace_back(OutcomeOptions{.move_nanos = target.move_ticks * known.price_tick_nanos,
                                          .horizon_frames = target.horizon_frames});
    parts_.symbols.put(id, known.symbol);
    TOCSIN_ASSERT(parts_.scorer.add_key(id).ok());
  }
}

Pipeline::Step Pipeline::step(const std::atomic<bool>& give_up) noexcept {
  const std::int64_t start_ns = parts_.clock.monotonic_time_ns();
  const SourceStatus status = parts_.source.next(batch_);
  if (status == SourceStatus::kEnd) return Step::kEnd;
  if (status == SourceStatus::kError) return Step::kFailed;
  StageDurations durations;
  durations[Stage::kDecode] =
      parts_.source.decode_ns().value_or(parts_.clock.monotonic_time_ns() - start_ns);
  for (std::size_t index = 0; builder_.next_frame(batch_, index, frame_, durations);) {
    on_frame(frame_, durations, give_up);
    durations = {};
  }
  if (!batch_.empty()) last_position_.record = batch_.back().record;
  for (InstrumentId wrong = 0; builder_.take_wrong_book(wrong);) parts_.source.resynchronise(wrong);
  // While nothing is due, what later scores will need is computed. A source that is never due is
  // asked at once.
  const bool spins = options_.idle == IdlePolicy::kSpin && parts_.source.is_paced();
  while (!parts_.source.is_due() && !give_up.load(std::memory_order_relaxed) &&
         (parts_.scorer.work_ahead() || spins)) {
  }
  return Step::kWorked;
}

void Pipeline::on_frame(FeatureFrame& frame, StageDurations& durations,
                        const std::atomic<bool>& give_up) noexcept {
  const std::int64_t ready_ns = parts_.clock.monotonic_time_ns();
  if (frame.instrument >= outcomes_.size()) [[unlikely]]
    add_instrument(frame.instrument);
  ++counters_.frames;
  parts_.scorer.push(frame.instrument, frame);
  const std::int64_t start_ns = parts_.clock.monotonic_time_ns();
  float score = -1.0F;
  const ScoreStatus status = parts_.scorer.score(frame.instrument, score);
  durations[Stage::kWait] = start_ns - ready_ns;
  durations[Stage::kScore] = parts_.clock.monotonic_time_ns() - start_ns;
  bool alerted = false;
  if (status == ScoreStatus::kScored) {
    ++counters_.windows_scored;
    alerted = decide(frame, score, durations, give_up);
    if (counters_.windows_scored == options_.warmup_windows)
      allocations_at_warmup_ = allocation_count();
    if (counters_.windows_scored > options_.warmup_windows)
      counters_.allocations_after_warmup = allocation_count() - allocations_at_warmup_;
  } else if (status == ScoreStatus::kFailed) {
    // A failed inference is kept with its input and model version; the folder bounds and counts.
    ++counters_.failed_inferences;
    (void)parts_.failures.write(parts_.scorer.capture_failure(frame.instrument));
  }
  const SeenPart part = part_of(frame.position.record);
  outcomes_[frame.instrument].on_frame(frame.mid_price_nanos_x2, alerted,
                                       static_cast<std::size_t>(part));
  series_.add({frame.exchange_time_ns, frame.mid_price_nanos_x2, score});
  parts_.scorer.settle(frame.instrument);
}

bool Pipeline::decide(const FeatureFrame& frame, float score, StageDurations& durations,
                      const std::atomic<bool>& give_up) noexcept {
  const std::int64_t start_ns = parts_.clock.monotonic_time_ns();
  const DecisionOutcome outcome = parts_.policy.decide({.instrument = frame.instrument,
                                                        .exchange_time_ns = frame.exchange_time_ns,
                                                        .score = score,
                                                        .quality = frame.quality});
  const bool alerts = outcome.verdict == Verdict::kAlert;
  const bool sampled =
      !alerts && options_.sample_every > 0 && ++since_sample_ >= options_.sample_every;
  if (sampled) since_sample_ = 0;
  std::int64_t end_ns = parts_.clock.monotonic_time_ns();
  if (alerts || sampled) {
    const InstrumentId key = frame.instrument;
    DecisionRecord record;
    record.frame = frame;
    record.first_frame_record = parts_.scorer.first_position(key).record;
    record.window_hash = parts_.scorer.raw_hash(key);
    record.window_steps = static_cast<std::uint16_t>(parts_.scorer.model().steps());
    record.id = parts_.ids.id_of(frame.position, parts_.source.instruments()[key].symbol);
    record.score = score;
    record.threshold = parts_.policy.options().threshold;
    record.release_threshold = parts_.policy.options().release_threshold;
    record.sampled = sampled;
    record.verdict = outcome.verdict;
    record.determinism = parts_.scorer.model().engine.determinism;
    record.suppressed_count = outcome.held_back_count;
    end_ns = parts_.clock.monotonic_time_ns();
    durations[Stage::kDecision] = end_ns - start_ns;
    record.decided_time_ns = end_ns;
    record.durations = durations;
    hand_over(record, give_up);
    if (alerts) note_alert(record);
  }
  durations[Stage::kDecision] = end_ns - start_ns;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Stage::kHandoff); ++i)
    stages_[i].record(durations.ns[i]);
  event_to_decision_.record(durations.total_ns());
  return alerts;
}

void Pipeline::hand_over(const DecisionRecord& record, const std::atomic<bool>& give_up) noexcept {
  IdleStrategy idle;
  while (!parts_.decisions.try_push(record)) {
    ++counters_.ring_full_waits;
    if (give_up.load(std::memory_order_acquire)) return;
    idle.idle(0);
  }
}

void Pipeline::note_alert(const DecisionRecord& record) noexcept {
  if (alert_lines_.size() >= kAlertLinesMax) return;
  alert_lines_.push_back({.id = record.id,
                          .instrument = record.frame.instrument,
                          .record = record.frame.position.record,
                          .exchange_time_ns = record.frame.exchange_time_ns,
                          .mid_nanos_x2 = record.frame.mid_price_nanos_x2,
                          .score = record.score});
}

void Pipeline::finish() noexcept {
  for (OutcomeTracker& outcome : outcomes_) outcome.finish();
}

OutcomeCounters Pipeline::outcomes(SeenPart part) const noexcept {
  OutcomeCounters sum;
  for (const OutcomeTracker& outcome : outcomes_)
    sum += outcome.counters(static_cast<std::size_t>(part));
  return sum;
}

SeenPart Pipeline::part_of(std::uint64_t record) const noexcept {
  for (const SeenStretch& stretch : seen_)
    if (record >= stretch.first_record && record <= stretch.last_record)
      return stretch.part == "training" ? SeenPart::kTraining : SeenPart::kValidation;
  return SeenPart::kUnseen;
}

}  // namespace tocsin
