#include "telemetry/progress_bar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/allocation_counter.h"
#include "base/clock.h"

namespace tocsin {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::string_view kClear = "\r\x1b[K";

class ProgressBarTest : public testing::Test {
 protected:
  ProgressBar::Output output() {
    return [this](std::string_view text) { drawings_.emplace_back(text); };
  }
  // The last drawing without its control sequences.
  std::string line() const {
    std::string text = drawings_.empty() ? std::string() : drawings_.back();
    EXPECT_TRUE(text.starts_with("\r") && text.ends_with("\x1b[K")) << text;
    return text.substr(1, text.size() - 4);
  }

  ManualClock clock_{5 * kSecondNs};
  std::vector<std::string> drawings_;
};

TEST_F(ProgressBarTest, ShowsShareRateAndTimeLeft) {
  ProgressBar bar(true, clock_, output());
  clock_.advance(10 * kSecondNs);
  bar.update({.share = 0.25, .event_count = 15'000'000});
  EXPECT_EQ(line(), "[######..................]  25 %  1.50 M events/s  ETA 0:30");
}

TEST_F(ProgressBarTest, ShowsNoRateWhereNothingIsCounted) {
  ProgressBar bar(true, clock_, output());
  clock_.advance(10 * kSecondNs);
  bar.update({.share = 0.25});
  EXPECT_EQ(line(), "[######..................]  25 %  ETA 0:30");
}

TEST_F(ProgressBarTest, ScalesTheRate) {
  ProgressBar bar(true, clock_, output());
  const auto rate_line = [&](std::uint64_t event_count) {
    clock_.advance(kSecondNs);
    bar.update({.share = -1.0, .event_count = event_count});
    return line();
  };
  EXPECT_EQ(rate_line(12), "12 events/s");
  EXPECT_EQ(rate_line(1'999), "1.0 k events/s");
  EXPECT_EQ(rate_line(3 * 94'321ULL), "94.3 k events/s");
  EXPECT_EQ(rate_line(4 * 999'499ULL), "999.5 k events/s");
  EXPECT_EQ(rate_line(5 * 999'500ULL), "1.00 M events/s");
  EXPECT_EQ(rate_line(6 * 12'345'678ULL), "12.35 M events/s");
}

TEST_F(ProgressBarTest, ScalesTheTimeLeft) {
  ProgressBar bar(true, clock_, output());
  const auto eta_after_1_more_second = [&](double share) {
    clock_.advance(kSecondNs);
    bar.update({.share = share, .event_count = 0});
    const std::string text = line();
    return text.substr(text.find("ETA"));
  };
  EXPECT_EQ(eta_after_1_more_second(0.0), "ETA --:--");
  EXPECT_EQ(eta_after_1_more_second(1.0 / 64), "ETA 2:06");
  EXPECT_EQ(eta_after_1_more_second(1.0 / 4096), "ETA 3:24:45");
  EXPECT_EQ(eta_after_1_more_second(1e-9), "ETA --:--");
  EXPECT_EQ(eta_after_1_more_second(1.0), "ETA 0:00");
}

TEST_F(ProgressBarTest, ShowsOnlyTheRateWhereTheShareIsUnknown) {
  ProgressBar bar(true, clock_, output());
  clock_.advance(kSecondNs);
  bar.update({.share = std::nan(""), .event_count = 7});
  EXPECT_EQ(line(), "7 events/s");
}

TEST_F(ProgressBarTest, DoesNotShowAHundredPercentTooEarlyNorMore) {
  ProgressBar bar(true, clock_, output());
  bar.update({.share = 0.9999, .event_count = 0});
  EXPECT_NE(line().find(" 99 %"), std::string::npos) << line();
  clock_.advance(kSecondNs);
  bar.update({.share = 1.5, .event_count = 0});
  EXPECT_NE(line().find("[########################] 100 %"), std::string::npos) << line();
}

TEST_F(ProgressBarTest, DrawsAtMostTenTimesASecond) {
  ProgressBar bar(true, clock_, output());
  for (int millisecond = 0; millisecond < 1'000; ++millisecond) {
    bar.update({.share = 0.001 * millisecond, .event_count = 1});
    clock_.advance(1'000'000);
  }
  EXPECT_EQ(drawings_.size(), 10U);
}

TEST_F(ProgressBarTest, DrawsNothingOnWhatIsNoTerminal) {
  {
    ProgressBar bar(false, clock_, output());
    for (int i = 0; i < 5; ++i) {
      clock_.advance(kSecondNs);
      bar.update({.share = 0.5, .event_count = 1});
    }
    bar.clear();
  }
  EXPECT_TRUE(drawings_.empty());
}

TEST_F(ProgressBarTest, ClearsItselfOnceForOtherLinesAndComesBack) {
  ProgressBar bar(true, clock_, output());
  bar.clear();
  EXPECT_TRUE(drawings_.empty());
  bar.update({.share = 0.1, .event_count = 1});
  bar.clear();
  bar.clear();
  ASSERT_EQ(drawings_.size(), 2U);
  EXPECT_EQ(drawings_[1], kClear);
  bar.update({.share = 0.2, .event_count = 2});
  EXPECT_EQ(drawings_.size(), 2U);  // Not before its time.
  clock_.advance(100'000'000);
  bar.update({.share = 0.2, .event_count = 2});
  EXPECT_EQ(drawings_.size(), 3U);
}

TEST_F(ProgressBarTest, ClearsItselfAtTheEnd) {
  {
    ProgressBar bar(true, clock_, output());
    bar.update({.share = 0.1, .event_count = 1});
  }
  ASSERT_EQ(drawings_.size(), 2U);
  EXPECT_EQ(drawings_[1], kClear);
}

TEST_F(ProgressBarTest, TheLongestLineFitsIntoEightyColumns) {
  ProgressBar bar(true, clock_, output());
  clock_.advance(3600 * kSecondNs);
  bar.update({.share = 0.012, .event_count = ~std::uint64_t{0}});
  EXPECT_LT(line().size(), 80U) << line();
  EXPECT_NE(line().find("ETA 82:20:00"), std::string::npos) << line();
}

TEST_F(ProgressBarTest, UpdatingAllocatesNothing) {
  std::uint64_t size_bytes = 0;
  ProgressBar bar(true, clock_,
                  [&size_bytes](std::string_view text) { size_bytes += text.size(); });
  const std::uint64_t before = allocation_count();
  for (int i = 0; i < 10; ++i) {
    clock_.advance(kSecondNs);
    bar.update({.share = 0.05 * i, .event_count = 1'000'000});
  }
  EXPECT_EQ(allocation_count(), before);
  EXPECT_GT(size_bytes, 0U);
}

}  // namespace
}  // namespace tocsin
