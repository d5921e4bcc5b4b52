#include "runtime/series_recorder.h"

#include <gtest/gtest.h>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

TEST(SeriesRecorder, KeepsEveryFrameWhileThereIsRoom) {
  SeriesRecorder recorder;
  for (int i = 0; i < 100; ++i) recorder.add({i, 2 * i, static_cast<float>(i)});
  ASSERT_EQ(recorder.points().size(), 100U);
  EXPECT_EQ(recorder.points()[42].mid_nanos_x2, 84);
}

TEST(SeriesRecorder, StaysBoundedAndKeepsTheHighestScoreAndTheLastMid) {
  SeriesRecorder recorder;
  constexpr std::int64_t kFrames = 100'000;
  const std::uint64_t allocations = allocation_count();
  for (std::int64_t i = 0; i < kFrames; ++i) recorder.add({i, i, i == 31'337 ? 0.99F : 0.1F});
  EXPECT_EQ(allocation_count(), allocations);
  EXPECT_LE(recorder.points().size(), SeriesRecorder::kPointsMax);
  EXPECT_GT(recorder.points().size(), SeriesRecorder::kPointsMax / 4);
  int spikes = 0;
  std::int64_t last_time_ns = -1;
  for (const SeriesPoint& point : recorder.points()) {
    EXPECT_GT(point.exchange_time_ns, last_time_ns);
    last_time_ns = point.exchange_time_ns;
    spikes += point.score_max == 0.99F ? 1 : 0;
  }
  EXPECT_EQ(spikes, 1);
  EXPECT_EQ(recorder.points().back().exchange_time_ns, kFrames - 1);
}

}  // namespace
}  // namespace tocsin
