// Words for verdicts, inputs, features and stages.
#include "sinks/ledger_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

#include "events/quality.h"
#include "sinks/alert_text.h"
#include "sinks/sink.h"

namespace tocsin {
namespace {

constexpr std::size_t kTopFeatures = 5;
using Out = std::back_insert_iterator<std::string>;

std::string float_with_bits(float value) {
  return fmt::format("{} (bits 0x{:08x})", format_float(value),
                     std::bit_cast<std::uint32_t>(value));
}

std::string digest_text(const Digest& digest) { return to_hex(digest); }

// Why the decision came out as it did.
std::string verdict_reason(const DecisionRecord& decision) {
  const std::string score = format_float(decision.score);
  const std::string threshold = format_float(decision.threshold);
  const std::string release = format_float(decision.release_threshold);
  switch (decision.verdict) {
    case Verdict::kAlert:
      return fmt::format("the score {} is at or above the threshold {}", score, threshold);
    case Verdict::kHeld:
      return fmt::format("an alert stands, and the score {} is not below its release threshold {}",
                         score, release);
    case Verdict::kSuppressedCooldown:
      return fmt::format(
          "the score {} is at or above the threshold {}, but within the cooldown of "
          "the last alert",
          score, threshold);
    case Verdict::kSuppressedUntrusted:
      return fmt::format(
          "the score {} is at or above the threshold {}, but the input may not be "
          "trusted: {}",
          score, threshold, quality_names(decision.frame.quality));
    case Verdict::kQuiet:
      break;
  }
  if (!std::isfinite(decision.score))
    return fmt::format("the score {} is not a number to judge", score);
  return fmt::format("the score {} is too low for an alert (threshold {}, release {})", score,
                     threshold, release);
}

void write_line(std::string& text, std::string_view label, const std::string& value) {
  fmt::format_to(Out(text), "  {:<17} {}\n", label, value);
}

void write_judgement(std::string& text, const FoundDecision& found) {
  const DecisionRecord& decision = found.decision.decision;
  fmt::format_to(Out(text), "{}: {}\n  because {}\n", format_alert_id(decision.id),
                 verdict_name(decision.verdict), verdict_reason(decision));
  const std::size_t rule = decision.rule_index;
  write_line(
      text, "rule",
      rule < found.run.rules.size() ? found.run.rules[rule] : fmt::format("number {}", rule));
  write_line(text, "score", float_with_bits(decision.score));
  write_line(text, "threshold", float_with_bits(decision.threshold));
  write_line(text, "release threshold", float_with_bits(decision.release_threshold));
  write_line(text, "held back before",
             fmt::format("{} qualifying events", decision.suppressed_count));
  write_line(text, "in the ledger as",
             decision.sampled ? "one of the sample of all decisions" : "an alert");
}

void write_input(std::string& text, const FoundDecision& found) {
  const FeatureFrame& frame = found.decision.decision.frame;
  text += "input\n";
  write_line(text, "symbol",
             fmt::format("{} (instrument {})", found.decision.symbol, frame.instrument));
  write_line(
      text, "exchange time",
      fmt::format("{} ({} ns)", format_time(frame.exchange_time_ns), frame.exchange_time_ns));
  write_line(text, "receive time",
             fmt::format("{} ({} ns)", format_time(frame.receive_time_ns), frame.receive_time_ns));
  write_line(text, "source",
             fmt::format("{} ({} bytes)", found.run.source_name, found.run.source_size_bytes));
  write_line(text, "path", found.run.source_path);
  write_line(
      text, "position",
      fmt::format("record {}, partition {}", frame.position.record, frame.position.partition));
  write_line(text, "frame", fmt::format("number {} of its key", frame.frame_number));
  write_line(text, "mid price", format_mid_price(frame.mid_price_nanos_x2));
  const std::string quality = quality_names(frame.quality);
  write_line(text, "quality", quality.empty() ? "nothing noticed" : quality);
}

void write_judge(std::string& text, const FoundDecision& found) {
  const DecisionRecord& decision = found.decision.decision;
  const LedgerRunStart& run = found.run;
  text += "what judged it\n";
  write_line(text, "model", run.model_name + "/" + run.model_version);
  write_line(text, "model sha256", digest_text(run.model_sha256));
  write_line(text, "feature schema", digest_text(run.schema_hash));
  write_line(text, "window",
             fmt::format("{} frames, the oldest from record {}, hash {:016x}",
                         decision.window_steps, decision.first_frame_record, decision.window_hash));
  write_line(text, "engine", fmt::format("{} {} on {}", run.engine, run.engine_version, run.isa));
  write_line(text, "determinism", std::string(determinism_name(decision.determinism)));
  write_line(text, "tocsin", fmt::format("{}, commit {}", run.tocsin_version, run.tocsin_commit));
  write_line(
      text, "run",
      fmt::format("began {}, record {}", format_time(run.unix_time_ns), found.decision.run_record));
}

// Distance from the training data's mean in deviations; 0 where the run does not say.
double deviation_of(const FoundDecision& found, std::size_t index) {
  if (index >= found.run.features.size()) return 0;
  const LedgerFeature& feature = found.run.features[index];
  const double value = static_cast<double>(found.decision.decision.frame.values[index]);
  return (value - static_cast<double>(feature.mean)) * static_cast<double>(feature.scale);
}

void write_features(std::string& text, const FoundDecision& found) {
  const FeatureFrame& frame = found.decision.decision.frame;
  std::vector<std::size_t> order(frame.feature_count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(deviation_of(found, a)) > std::abs(deviation_of(found, b));
  });
  text += "features of the newest frame, those furthest from the training data's mean first\n";
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::size_t index = order[rank];
    const bool known = index < found.run.features.size();
    const std::string name =
        known ? found.run.features[index].name : fmt::format("number {}", index);
    const std::string unit = known ? found.run.features[index].unit : "";
    fmt::format_to(Out(text), "  {} {:<28} {:>14} {:<8} {:+8.2f} deviations  bits 0x{:08x}\n",
                   rank < kTopFeatures ? '*' : ' ', name, format_float(frame.values[index]), unit,
                   deviation_of(found, index), std::bit_cast<std::uint32_t>(frame.values[index]));
  }
}

void write_durations(std::string& text, const FoundDecision& found) {
  const DecisionRecord& decision = found.decision.decision;
  const std::int64_t total_ns = decision.durations.total_ns();
  fmt::format_to(
      Out(text),
      "time from the record in hand to the sinks: {}, decided at {} ns of the run's clock\n",
      format_duration(total_ns), decision.decided_time_ns);
  for (std::size_t i = 0; i < kStageCount; ++i) {
    const std::int64_t duration_ns = decision.durations.ns[i];
    const double share =
        total_ns == 0 ? 0 : 100 * static_cast<double>(duration_ns) / static_cast<double>(total_ns);
    fmt::format_to(Out(text), "  {:<10} {:>14} ns {:>6.1f} %\n", stage_name(static_cast<Stage>(i)),
                   duration_ns, share);
  }
  fmt::format_to(Out(text), "  {:<10} {:>14} ns\n", "sum", total_ns);
}

void write_place(std::string& text, const FoundDecision& found) {
  fmt::format_to(Out(text), "in the ledger: record {}, segment {}, byte {}\n  hash {}\n",
                 found.record, found.segment, found.byte, digest_text(found.hash));
  text += found.report.ok()
              ? fmt::format("  the ledger verifies: {} records\n", found.report.records)
              : fmt::format("  THE LEDGER DOES NOT VERIFY: {}\n",
                            format_ledger_fault(*found.report.fault));
}

}  // namespace

std::string explain_decision(const FoundDecision& found) {
  std::string text;
  write_judgement(text, found);
  write_input(text, found);
  write_judge(text, found);
  write_features(text, found);
  write_durations(text, found);
  write_place(text, found);
  return text;
}

std::string describe_difference(const LedgerDecision& recorded, const LedgerDecision& derived) {
  std::string text;
  const auto compare = [&](std::string_view name, const std::string& a, const std::string& b) {
    if (a == b) return;
    fmt::format_to(Out(text), "{}{} {} in the ledger, {} now", text.empty() ? "" : "; ", name, a,
                   b);
  };
  const auto compare_numbers = [&](std::string_view name, auto a, auto b) {
    compare(name, fmt::format("{}", a), fmt::format("{}", b));
  };
  const DecisionRecord& a = recorded.decision;
  const DecisionRecord& b = derived.decision;
  compare_numbers("input record", a.frame.position.record, b.frame.position.record);
  compare_numbers("partition", a.frame.position.partition, b.frame.position.partition);
  compare("symbol", recorded.symbol, derived.symbol);
  compare_numbers("instrument", a.frame.instrument, b.frame.instrument);
  compare("id", format_alert_id(a.id), format_alert_id(b.id));
  compare("verdict", std::string(verdict_name(a.verdict)), std::string(verdict_name(b.verdict)));
  compare("score", float_with_bits(a.score), float_with_bits(b.score));
  compare("threshold", float_with_bits(a.threshold), float_with_bits(b.threshold));
  compare("release threshold", float_with_bits(a.release_threshold),
          float_with_bits(b.release_threshold));
  compare_numbers("rule number", a.rule_index, b.rule_index);
  compare_numbers("sampled", a.sampled, b.sampled);
  compare("determinism", std::string(determinism_name(a.determinism)),
          std::string(determinism_name(b.determinism)));
  compare_numbers("exchange time", a.frame.exchange_time_ns, b.frame.exchange_time_ns);
  compare_numbers("receive time", a.frame.receive_time_ns, b.frame.receive_time_ns);
  compare_numbers("frame number", a.frame.frame_number, b.frame.frame_number);
  compare("mid price", format_mid_price(a.frame.mid_price_nanos_x2),
          format_mid_price(b.frame.mid_price_nanos_x2));
  compare("quality", quality_names(a.frame.quality), quality_names(b.frame.quality));
  compare_numbers("window's first record", a.first_frame_record, b.first_frame_record);
  compare_numbers("window steps", a.window_steps, b.window_steps);
  compare_numbers("window hash", a.window_hash, b.window_hash);
  compare_numbers("held back", a.suppressed_count, b.suppressed_count);
  compare_numbers("features", a.frame.feature_count, b.frame.feature_count);
  for (std::size_t i = 0; i < std::min(a.frame.feature_count, b.frame.feature_count); ++i)
    compare(fmt::format("feature {}", i), float_with_bits(a.frame.values[i]),
            float_with_bits(b.frame.values[i]));
  return text.empty() ? "nothing" : text;
}

}  // namespace tocsin
