// Puts the summary into the page of report_page.html, which is compiled in.
#include "runtime/html_report.h"

#include <nlohmann/json.hpp>

#include "runtime/report_page.h"

namespace tocsin {
namespace {

constexpr std::string_view kPlaceholder = "/*SUMMARY*/null";

// "</script>" inside a string would end the script element (HTML standard, 4.12.1.3).
std::string escaped_for_script(std::string text) {
  for (std::size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.replace(at, 2, "<\\/");
  return text;
}

}  // namespace

Result<std::string> html_report(std::string_view summary_json) {
  const nlohmann::json summary = nlohmann::json::parse(summary_json, nullptr, false);
  if (summary.is_discarded() || !summary.contains("series") || !summary.contains("stages_ns"))
    return Error(ErrorCode::kInvalidArgument,
                 "not a run's summary: expected the JSON that 'tocsin run --summary' writes");
  std::string page(kReportPage);
  const std::size_t at = page.find(kPlaceholder);
  TOCSIN_ASSERT(at != std::string::npos);
  page.replace(at, kPlaceholder.size(), escaped_for_script(summary.dump()));
  return page;
}

}  // namespace tocsin
