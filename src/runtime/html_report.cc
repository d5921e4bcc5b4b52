// Puts the summary into the page of report_page.html, which is compiled in.
#include "runtime/html_report.h"

#include <nlohmann/json.hpp>

#include "runtime/html_page.h"
#include "runtime/report_page.h"

namespace tocsin {

Result<std::string> html_report(std::string_view summary_json) {
  const nlohmann::json summary = nlohmann::json::parse(summary_json, nullptr, false);
  if (summary.is_discarded() || !summary.contains("series") || !summary.contains("stages_ns"))
    return Error(ErrorCode::kInvalidArgument,
                 "not a run's summary: expected the JSON that 'tocsin run --summary' writes");
  return html_page(kReportPage,
                   summary.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace tocsin
