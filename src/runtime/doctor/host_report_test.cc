#include "runtime/doctor/host_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace tocsin {
namespace {

TEST(ClockCheck, FindsTheFrequencyThatTheClockRunsAt) {
  SystemClock clock;
  const ClockCheck check = check_clock(clock, {.span_ns = 20'000'000, .repetition_count = 3});
  if (!clock.uses_time_stamp_counter()) GTEST_SKIP() << "this machine has no invariant counter";
  ASSERT_EQ(check.frequency_hz.size(), 3U);
  EXPECT_GT(check.median_frequency_hz(), 5e8);
  EXPECT_LT(check.median_frequency_hz(), 1e10);
  // Of 20 ms, 1,000 ppm are 20 us: far more than two readings are apart on a busy machine.
  EXPECT_LT(check.spread_ppm, 1000);
  EXPECT_LT(std::abs(check.drift_ppm), 1000);
}

TEST(JitterCheck, AccountsForAllOfItsTime) {
  SystemClock clock;
  const int cpu = usable_cpus().back();
  const auto check = check_jitter({.cpu = cpu, .duration_ns = 20'000'000}, clock);
  ASSERT_TRUE(check.ok()) << check.error().message();
  EXPECT_EQ(check->cpu, cpu);
  EXPECT_GE(check->elapsed_ns, 20'000'000);
  std::int64_t total_ns = 0;
  std::int64_t lost_ns = 0;
  std::uint64_t count = 0;
  for (const JitterBand& band : check->bands) {
    EXPECT_LE(band.count * static_cast<std::uint64_t>(band.lower_ns),
              static_cast<std::uint64_t>(band.total_ns));
    total_ns += band.total_ns;
    count += band.count;
    if (band.lower_ns >= JitterCheck::kLostNs) lost_ns += band.total_ns;
  }
  EXPECT_EQ(total_ns, check->elapsed_ns);
  EXPECT_EQ(count, check->gap_ns.count);
  EXPECT_DOUBLE_EQ(check->lost_share,
                   static_cast<double>(lost_ns) / static_cast<double>(check->elapsed_ns));
}

TEST(HostReport, SaysOfEverythingWhatWasFoundAndIsOkIfAllOfItIs) {
  SystemClock clock;
  const HostReportOptions options{.clock = {.span_ns = 5'000'000, .repetition_count = 2},
                                  .jitter_duration_ns = 5'000'000};
  const Result<HostReport> report = examine_host(HostFiles(), options, clock);
  ASSERT_TRUE(report.ok()) << report.error().message();
  const nlohmann::json root = nlohmann::json::parse(host_report_json(*report));
  bool all_ok = true;
  for (const auto& finding : root["findings"]) {
    EXPECT_NE(finding["found"], "") << finding["name"];
    // What is wrong comes with what to do.
    EXPECT_TRUE(finding["ok"] || finding["advice"] != "") << finding["name"];
    all_ok = all_ok && finding["ok"];
  }
  EXPECT_EQ(root["ok"], all_ok);
  EXPECT_EQ(root["jitter"]["cpu"], usable_cpus().back());
  EXPECT_EQ(root["jitter"]["bands"].size(), 7U);
}

TEST(HostReport, RefusesACpuThatIsNotThere) {
  SystemClock clock;
  const HostReportOptions options{
      .clock = {.span_ns = 1, .repetition_count = 1}, .jitter_duration_ns = 1, .cpu = 60'000};
  const Result<HostReport> report = examine_host(HostFiles(), options, clock);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tocsin
