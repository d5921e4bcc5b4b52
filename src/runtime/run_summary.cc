// A run's summary as JSON; keys may be added, never renamed.
#include "runtime/run_summary.h"

#include <nlohmann/json.hpp>

#include "base/decimal.h"
#include "runtime/distribution_fields.h"
#include "runtime/memory_fields.h"
#include "sinks/sink.h"

namespace tocsin {
namespace {

using nlohmann::json;

json outcome_json(const OutcomeCounters& counters) {
  return {{"hits", counters.hits},
          {"misses", counters.misses},
          {"false_alerts", counters.false_alerts},
          {"undecided", counters.undecided},
          {"frames", counters.frames},
          {"base_rate", counters.base_rate()}};
}

json outcomes_json(const RunSummary& summary) {
  OutcomeCounters all;
  json parts = json::object();
  for (std::size_t part = 0; part < kSeenPartCount; ++part) {
    all += summary.outcomes[part];
    parts[std::string(seen_part_name(static_cast<SeenPart>(part)))] =
        outcome_json(summary.outcomes[part]);
  }
  json root = outcome_json(all);
  root["parts"] = parts;
  root["move_ticks"] = summary.burst_move_ticks;
  root["horizon_frames"] = summary.burst_horizon_frames;
  return root;
}

json series_json(const RunSummary& summary) {
  json times = json::array();
  json mids = json::array();
  json scores = json::array();
  for (const SeriesPoint& point : summary.series) {
    times.push_back(point.exchange_time_ns);
    mids.push_back(static_cast<double>(point.mid_nanos_x2) / (2.0 * kNanosPerUnit));
    scores.push_back(point.score_max < 0 ? json() : json(point.score_max));
  }
  return {{"exchange_time_ns", times}, {"mid", mids}, {"score", scores}};
}

json alerts_json(const RunSummary& summary) {
  json lines = json::array();
  for (const AlertLine& line : summary.alert_lines)
    lines.push_back({{"id", format_alert_id(line.id)},
                     {"symbol", summary.symbols[line.instrument]},
                     {"record", line.record},
                     {"exchange_time_ns", line.exchange_time_ns},
                     {"mid", static_cast<double>(line.mid_nanos_x2) / (2.0 * kNanosPerUnit)},
                     {"score", line.score}});
  return lines;
}

json faults_json(const RunSummary& summary) {
  json faults = json::array();
  for (const InputFault& fault : summary.faults)
    faults.push_back({{"record", fault.record}, {"message", fault.message}});
  return faults;
}

json feed_json(const RunSummary& summary) {
  const SourceCounters& input = summary.input;
  json by_type = json::object();
  for (const auto& [type, count] : summary.by_type) by_type[type] = count;
  return {{"records", input.records},
          {"by_type", by_type},
          {"malformed", input.malformed},
          {"ignored", input.ignored},
          {"filtered", input.filtered},
          {"missing", input.missing},
          {"time_backwards", input.time_backwards},
          {"bad_quantity", input.bad_quantity + summary.books.bad_quantity},
          {"crossed", summary.books.crossed},
          {"unknown_orders", summary.books.unknown_orders},
          {"untrusted_updates", summary.books.untrusted},
          {"faults", faults_json(summary)}};
}

}  // namespace

std::string_view run_end_name(RunEnd end) noexcept {
  static constexpr std::array<std::string_view, 4> kNames = {"complete", "interrupted", "bad_input",
                                                             "output_failed"};
  return kNames[static_cast<std::size_t>(end)];
}

std::string_view seen_part_name(SeenPart part) noexcept {
  static constexpr std::array<std::string_view, kSeenPartCount> kNames = {"training", "validation",
                                                                          "unseen"};
  return kNames[static_cast<std::size_t>(part)];
}

std::string run_summary_json(const RunSummary& summary) {
  json stages = json::object();
  for (std::size_t i = 0; i < kStageCount; ++i)
    stages[std::string(stage_name(static_cast<Stage>(i)))] =
        distribution_fields(summary.stages_ns[i]);
  json buckets = json::array();
  for (const auto& [upper_ns, count] : summary.event_to_decision_buckets)
    buckets.push_back({upper_ns, count});
  const double wall_s = static_cast<double>(summary.wall_duration_ns) / 1e9;
  const json root = {
      {"name", summary.name},
      {"source", summary.source},
      {"model", summary.model},
      {"end", run_end_name(summary.end)},
      {"error", summary.error},
      {"events", summary.input.events},
      {"gaps", summary.input.gaps},
      {"duplicates", summary.input.duplicates},
      {"out_of_order", summary.input.out_of_order},
      {"feed", feed_json(summary)},
      {"book",
       {{"rows_compared", summary.oracle.rows_compared + summary.oracle.top_compared +
                              summary.oracle.checksums_compared},
        {"rows_equal",
         summary.oracle.rows_equal + summary.oracle.top_equal + summary.oracle.checksums_equal},
        {"levels_compared", summary.oracle.levels_compared},
        {"levels_equal", summary.oracle.levels_equal}}},
      {"frames", summary.frames},
      {"windows_scored", summary.windows_scored},
      {"failed_inferences", summary.failed_inferences},
      {"alerts", summary.alerts},
      {"outcomes", outcomes_json(summary)},
      {"suppressed",
       {{"cooldown", summary.suppressed_cooldown},
        {"untrusted_book", summary.suppressed_untrusted},
        {"held", summary.held}}},
      {"engine", summary.engine},
      {"precision", summary.precision},
      {"isa", summary.isa},
      {"determinism", determinism_name(summary.determinism)},
      {"steps", summary.steps},
      {"threshold", summary.threshold},
      {"release_threshold", summary.release_threshold},
      {"rescored", summary.rescored},
      {"whole_windows", summary.whole_windows},
      {"caught_up", summary.caught_up},
      {"stages_ns", stages},
      {"event_to_alert_ns", distribution_fields(summary.event_to_alert_ns)},
      {"event_to_decision_ns", distribution_fields(summary.event_to_decision_ns)},
      {"event_to_decision_buckets", buckets},
      {"wall_s", wall_s},
      {"events_per_s", wall_s > 0 ? static_cast<double>(summary.input.events) / wall_s : 0.0},
      {"memory", memory_fields(summary.memory)},
      {"allocations_after_warmup", summary.allocations_after_warmup},
      {"ring_full_waits", summary.ring_full_waits},
      {"folder", summary.folder},
      {"ledger",
       {{"path", summary.ledger_path},
        {"records", summary.ledger_records},
        {"head", summary.ledger_head},
        {"already_durable", summary.already_durable}}},
      {"series", series_json(summary)},
      {"alert_list", alerts_json(summary)},
  };
  return root.dump(1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tocsin
