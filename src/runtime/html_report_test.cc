#include "runtime/html_report.h"

#include <gtest/gtest.h>

#include "runtime/run_summary.h"

namespace tocsin {
namespace {

RunSummary small_summary() {
  RunSummary summary;
  summary.name = "a </script> name";
  summary.symbols = {"XYZ"};
  summary.series.push_back(
      {.exchange_time_ns = 1, .mid_nanos_x2 = 2'000'000'000, .score_max = 0.5F});
  summary.alert_lines.push_back({.id = AlertId{0x1234}, .instrument = 0, .record = 7});
  return summary;
}

TEST(HtmlReport, HoldsTheSummaryAndNothingThatEndsTheScript) {
  const Result<std::string> page = html_report(run_summary_json(small_summary()));
  ASSERT_TRUE(page.ok()) << page.error().message();
  EXPECT_NE(page->find("tocsin:0000000000001234"), std::string::npos);
  EXPECT_NE(page->find("a <\\/script> name"), std::string::npos);
  EXPECT_EQ(page->find("a </script> name"), std::string::npos);
  // It opens without a network: nothing is fetched.
  EXPECT_EQ(page->find("src="), std::string::npos);
  EXPECT_EQ(page->find("href="), std::string::npos);
}

TEST(HtmlReport, RefusesWhatIsNoSummary) {
  EXPECT_FALSE(html_report("{}").ok());
  EXPECT_FALSE(html_report("not json").ok());
}

}  // namespace
}  // namespace tocsin
