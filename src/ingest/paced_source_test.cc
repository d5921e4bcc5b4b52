// Replay at a pace, on a clock that jumps instead of waiting.
#include "ingest/paced_source.h"

#include <gtest/gtest.h>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

// Yields one event a record at given receive times; an absent time is a record without events.
class ListedSource final : public Source {
 public:
  explicit ListedSource(std::vector<std::optional<std::int64_t>> times_ns)
      : times_ns_(std::move(times_ns)) {}

  SourceStatus next(EventBatch& batch) noexcept override {
    batch.clear();
    if (counters_.records == times_ns_.size()) return end;
    const auto time_ns = times_ns_[counters_.records++];
    if (time_ns.has_value()) {
      MarketEvent event;
      event.receive_time_ns = *time_ns;
      event.record = counters_.records;
      batch.push_back(event);
    }
    return SourceStatus::kEvents;
  }
  const Error& error() const noexcept override { return error_; }
  const SourceCounters& counters() const noexcept override { return counters_; }
  std::span<const InputFault> faults() const noexcept override { return {}; }
  std::span<const Instrument> instruments() const noexcept override { return {}; }
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override { return {}; }
  double progress() const noexcept override { return -1.0; }

  SourceStatus end = SourceStatus::kEnd;

 private:
  std::vector<std::optional<std::int64_t>> times_ns_;
  SourceCounters counters_;
  Error error_{ErrorCode::kDataLoss, "broken"};
};

struct Release {
  std::uint64_t record;
  std::int64_t clock_ns;
  friend bool operator==(const Release&, const Release&) = default;
  friend void PrintTo(const Release& r, std::ostream* out) {
    *out << "record " << r.record << " at " << r.clock_ns;
  }
};

std::vector<Release> replay(std::vector<std::optional<std::int64_t>> times_ns, Pace pace) {
  ManualClock clock(500);
  PacedSource source(std::make_unique<ListedSource>(std::move(times_ns)), clock, pace);
  std::vector<Release> releases;
  EventBatch batch;
  std::int64_t last_ns = clock.monotonic_time_ns();
  while (source.next(batch) == SourceStatus::kEvents) {
    EXPECT_LE(clock.monotonic_time_ns() - last_ns, PacedSource::kWaitMaxNs);
    last_ns = clock.monotonic_time_ns();
    if (!batch.empty()) releases.push_back({batch.front().record, clock.monotonic_time_ns()});
  }
  return releases;
}

TEST(PacedSource, ReleasesRecordsAtTheRecordedPace) {
  EXPECT_EQ(replay({1000, 1000, 1300, 2000}, {.speed = 1.0}),
            (std::vector<Release>{{1, 500}, {2, 500}, {3, 800}, {4, 1500}}));
}

TEST(PacedSource, ReleasesRecordsAtAMultipleOfThePace) {
  EXPECT_EQ(replay({1000, 2000, 5000}, {.speed = 4.0}),
            (std::vector<Release>{{1, 500}, {2, 750}, {3, 1500}}));
  EXPECT_EQ(replay({1000, 2000, 5000}, {.speed = 0.5}),
            (std::vector<Release>{{1, 500}, {2, 2500}, {3, 8500}}));
}

TEST(PacedSource, ReleasesRecordsEvenlyWhateverTheirTimes) {
  // One without events takes no place.
  EXPECT_EQ(replay({1000, 1000, std::nullopt, 5, 90'000}, {.records_per_s = 1e7}),
            (std::vector<Release>{{1, 500}, {2, 600}, {4, 700}, {5, 800}}));
}

TEST(PacedSource, CutsALongWaitIntoShortOnes) {
  // replay() checks that no call takes more than kWaitMaxNs.
  const std::int64_t hour_ns = 3'600'000'000'000;
  EXPECT_EQ(replay({0, hour_ns}, {.speed = 1.0}),
            (std::vector<Release>{{1, 500}, {2, 500 + hour_ns}}));
}

TEST(PacedSource, ReleasesAtOnceWhatLiesInThePastAndStartsAtTheFirstEvents) {
  EXPECT_EQ(replay({std::nullopt, 1000, 400, 1200, std::nullopt, 900}, {.speed = 1.0}),
            (std::vector<Release>{{2, 500}, {3, 500}, {4, 700}, {6, 700}}));
}

TEST(PacedSource, SurvivesTimesThatCannotBe) {
  ManualClock clock(0);
  PacedSource source(std::make_unique<ListedSource>(
                         std::vector<std::optional<std::int64_t>>{INT64_MIN, INT64_MAX}),
                     clock, {.speed = 1});
  EventBatch batch;
  EXPECT_EQ(source.next(batch), SourceStatus::kEvents);
  EXPECT_EQ(batch.size(), 1U);
  EXPECT_EQ(source.next(batch), SourceStatus::kEvents);
  EXPECT_TRUE(batch.empty()) << "centuries away";
}

TEST(PacedSource, PassesOnTheEndAndTheError) {
  ManualClock clock(0);
  auto listed = std::make_unique<ListedSource>(std::vector<std::optional<std::int64_t>>{5});
  listed->end = SourceStatus::kError;
  PacedSource source(std::move(listed), clock, {.speed = 1});
  EventBatch batch;
  EXPECT_EQ(source.next(batch), SourceStatus::kEvents);
  EXPECT_EQ(source.next(batch), SourceStatus::kError);
  EXPECT_EQ(source.error().message(), "broken");
}

TEST(PacedSource, AllocatesNothingAfterWarmUp) {
  std::vector<std::optional<std::int64_t>> times_ns;
  for (std::int64_t i = 0; i < 2000; ++i) times_ns.emplace_back(i * 100);
  ManualClock clock(0);
  PacedSource source(std::make_unique<ListedSource>(std::move(times_ns)), clock, {.speed = 3});
  EventBatch batch;
  for (int i = 0; i < 10; ++i) (void)source.next(batch);
  const std::uint64_t before = allocation_count();
  std::uint64_t records = 0;
  while (source.next(batch) == SourceStatus::kEvents) records += batch.size();
  EXPECT_EQ(allocation_count() - before, 0U);
  EXPECT_EQ(records, 1990U);
}

}  // namespace
}  // namespace tocsin
