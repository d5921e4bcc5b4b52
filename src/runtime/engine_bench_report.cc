// Writes the report; keys are stable.
#include "runtime/engine_bench_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/distribution_fields.h"
#include "runtime/engine_bench_page.h"
#include "runtime/html_page.h"

namespace tocsin {
namespace {

using nlohmann::json;

// JSON has no infinity: an error without bound is text.
json number(double value) { return std::isfinite(value) ? json(value) : json("infinite"); }

json series_json(const std::vector<EngineBenchTurn>& series) {
  json list = json::array();
  for (const EngineBenchTurn& turn : series)
    list.push_back({{"offset_ns", turn.offset_ns},
                    {"count", turn.run_count},
                    {"mean", turn.mean_ns},
                    {"p50", turn.p50_ns},
                    {"p99", turn.p99_ns},
                    {"max", turn.max_ns}});
  return list;
}

// Of a row that was skipped everything that was not measured is null.
json row_json(const EngineBenchRow& row) {
  json entry = {{"engine", row.engine},
                {"version", row.version},
                {"precision", precision_name(row.precision)},
                {"batch", row.batch},
                {"threads", row.threads},
                {"skipped", row.skipped.empty() ? json() : json(row.skipped)},
                {"remark", row.remark.empty() ? json() : json(row.remark)},
                {"latency_ns", json()},
                {"windows_per_s", json()},
                {"rss_bytes", json()},
                {"device_bytes", json()},
                {"cold_start_ns", json()},
                {"max_abs_error", json()},
                {"agrees", json()}};
  if (!row.skipped.empty()) return entry;
  entry["max_abs_error"] = number(row.max_abs_error);
  entry["agrees"] = row.agrees;
  entry["rss_bytes"] = row.cold.rss_bytes;
  entry["device_bytes"] = row.cold.device_bytes;
  entry["cold_start_ns"] = row.cold.cold_start_ns;
  if (row.latency_ns.count == 0) return entry;
  entry["latency_ns"] = distribution_fields(row.latency_ns);
  entry["windows_per_s"] = row.windows_per_s;
  if (!row.series.empty()) entry["series"] = series_json(row.series);
  return entry;
}

json report_json(const EngineBenchReport& report) {
  json rows = json::array();
  for (const EngineBenchRow& row : report.rows) rows.push_back(row_json(row));
  const MachineFacts& machine = report.machine;
  return {{"machine",
           {{"cpu", machine.cpu},
            {"cpu_count", machine.cpu_count},
            {"isa", machine.isa},
            {"kernel", machine.kernel},
            {"governor", machine.governor}}},
          {"model", report.model},
          {"steps", report.steps},
          {"scales_origin", report.scales_origin.empty() ? json() : json(report.scales_origin)},
          {"rows", rows},
          {"jitter_ns", distribution_fields(report.jitter_ns)},
          {"interrupted", report.interrupted}};
}

}  // namespace

std::string engine_bench_json(const EngineBenchReport& report) {
  return report_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string engine_bench_html(const EngineBenchReport& report) {
  return html_page(kEngineBenchPage, report_json(report).dump(
                                         -1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace tocsin
