// Two lines into one: copies, holes that fill, holes that are given up, heartbeats, streams apart.
#include "ingest/line_arbiter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tocsin {
namespace {

constexpr std::int64_t kWaitNs = 100;

// What comes out, as the numbers of the datagrams' payloads.
class Joined {
 public:
  explicit Joined(const LineArbiterOptions& options = {.hole_wait_ns = kWaitNs})
      : arbiter_(options) {}

  void offer(const PacketRange& range, std::int64_t now_ns) {
    const std::byte payload{static_cast<unsigned char>(range.first)};
    const Datagram datagram{.payload = {&payload, 1}, .number = range.first};
    if (arbiter_.offer(datagram, range, now_ns) == LineArbiter::Verdict::kPass) {
      out_.push_back(range.first);
    }
    drain(now_ns);
  }
  void drain(std::int64_t now_ns) {
    Datagram released;
    while (arbiter_.release(now_ns, released)) {
      EXPECT_EQ(released.payload.size(), 1U);
      EXPECT_EQ(std::to_integer<std::uint64_t>(released.payload[0]), released.number & 0xFFU);
      out_.push_back(released.number);
    }
  }
  const std::vector<std::uint64_t>& out() const { return out_; }
  const LineArbiter& arbiter() const { return arbiter_; }

 private:
  LineArbiter arbiter_;
  std::vector<std::uint64_t> out_;
};

PacketRange range(std::uint64_t first, std::uint64_t count = 1) {
  return {.stream = 1, .first = first, .count = count};
}

TEST(LineArbiter, PassesOnceWhatBothLinesBring) {
  Joined joined;
  for (const std::uint64_t first : {5U, 5U, 6U, 6U, 7U, 5U}) joined.offer(range(first), 0);
  EXPECT_EQ(joined.out(), (std::vector<std::uint64_t>{5, 6, 7}));
  EXPECT_EQ(joined.arbiter().counters().seen, 3U);
}

TEST(LineArbiter, WaitsForTheLineThatHasNotLostIt) {
  Joined joined;
  for (const std::uint64_t first : {1U, 3U, 4U, 1U, 2U, 3U}) joined.offer(range(first), 0);
  EXPECT_EQ(joined.out(), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(joined.arbiter().counters().recovered, 1U);
  EXPECT_EQ(joined.arbiter().counters().given_up, 0U);
  EXPECT_FALSE(joined.arbiter().hole());
}

TEST(LineArbiter, GivesUpAHoleWhenItsTimeIsOver) {
  Joined joined;
  joined.offer(range(1), 0);
  joined.offer(range(4, 2), 10);
  joined.offer(range(9), 20);
  EXPECT_EQ(*joined.arbiter().hole(), range(2, 2));
  EXPECT_EQ(*joined.arbiter().hole_end_ns(), 10 + kWaitNs);
  joined.drain(10 + kWaitNs - 1);
  EXPECT_EQ(joined.out().size(), 1U);
  joined.drain(10 + kWaitNs);
  EXPECT_EQ(joined.out(), (std::vector<std::uint64_t>{1, 4}));
  EXPECT_EQ(*joined.arbiter().hole(), range(6, 3)) << "the next one has a time of its own";
  joined.offer(range(2), 10 + kWaitNs);
  EXPECT_EQ(joined.arbiter().counters().seen, 1U) << "late";
  joined.drain(10 + 3 * kWaitNs);
  EXPECT_EQ(joined.out(), (std::vector<std::uint64_t>{1, 4, 9}));
  EXPECT_EQ(joined.arbiter().counters().given_up, 2U);
}

TEST(LineArbiter, PassesADatagramThatOverlapsWhatWasSeen) {
  Joined joined;
  joined.offer(range(1, 2), 0);
  joined.offer(range(2, 3), 0);
  joined.offer(range(5), 0);
  EXPECT_EQ(joined.out(), (std::vector<std::uint64_t>{1, 2, 5}));
}

TEST(LineArbiter, HearsOfAHoleFromAHeartbeat) {
  Joined joined;
  joined.offer(range(1), 0);
  joined.offer(range(2, 0), 0);
  joined.offer(range(4, 0), 0);
  EXPECT_EQ(*joined.arbiter().hole(), range(2, 2));
  joined.offer(range(2), 1);
  joined.offer(range(3), 1);
  EXPECT_EQ(joined.out(), (std::vector<std::uint64_t>{1, 2, 2, 3, 4}));
  EXPECT_EQ(joined.arbiter().counters().recovered, 2U);
}

TEST(LineArbiter, KeepsStreamsApart) {
  Joined joined;
  joined.offer({.stream = 1, .first = 1, .count = 1}, 0);
  joined.offer({.stream = 2, .first = 70, .count = 1}, 0);
  joined.offer({.stream = 1, .first = 3, .count = 1}, 0);
  joined.offer({.stream = 2, .first = 71, .count = 1}, 0);
  EXPECT_EQ(joined.out(), (std::vector<std::uint64_t>{1, 70, 71}));
}

TEST(LineArbiter, BeginsANewDayAtItsFirstNumber) {
  Joined joined({.hole_wait_ns = kWaitNs, .new_day_ns = 1'000});
  joined.offer(range(1), 0);
  joined.offer(range(2), 0);
  joined.offer(range(1), 500);
  joined.offer(range(3, 0), 900);
  joined.offer(range(1), 1'000);
  joined.offer(range(2), 1'000);
  EXPECT_EQ(joined.out(), (std::vector<std::uint64_t>{1, 2, 3, 1, 2}))
      << "a heartbeat is no message, a copy no new day";
}

TEST(LineArbiter, BelievesANumberFarAheadWhenASecondDatagramGoesOnFromIt) {
  const std::uint64_t far = std::uint64_t{1} << 62;
  Joined joined;
  for (const std::uint64_t first : {std::uint64_t{1}, std::uint64_t{2}, far, std::uint64_t{3}})
    joined.offer(range(first), 0);
  EXPECT_EQ(joined.out(), (std::vector<std::uint64_t>{1, 2, 3})) << "the wild one is dropped";
  EXPECT_EQ(joined.arbiter().counters().implausible, 1U);
  EXPECT_FALSE(joined.arbiter().hole());
  joined.offer(range(far), 0);
  joined.offer(range(far + 1), 0);
  joined.offer(range(far + 2), 0);
  EXPECT_EQ(joined.out(), (std::vector<std::uint64_t>{1, 2, 3, far + 1, far + 2}));
  EXPECT_EQ(joined.arbiter().counters().implausible, 2U);
}

TEST(LineArbiter, HoldsSoManyAtMost) {
  Joined joined({.hole_wait_ns = kWaitNs, .held_max = 3});
  joined.offer(range(1), 0);
  for (const std::uint64_t first : {3U, 4U, 5U, 6U}) joined.offer(range(first), 0);
  EXPECT_EQ(joined.out(), (std::vector<std::uint64_t>{1, 3, 4, 5, 6}));
  EXPECT_EQ(joined.arbiter().counters().given_up, 1U);
}

TEST(LineArbiter, LosesOnlyWhatNeitherLineBrings) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Joined joined({.hole_wait_ns = 20});
    std::vector<std::uint64_t> expected;
    joined.offer(range(1), 0);
    expected.push_back(1);
    std::vector<std::uint64_t> late;
    for (std::uint64_t first = 2; first < 2'000; ++first) {
      const auto now_ns = static_cast<std::int64_t>(first);
      bool arrives = false;
      for (int line = 0; line < 2; ++line) {
        const std::uint64_t fate = random() % 10;
        if (fate < 2) continue;
        arrives = true;
        if (fate < 4) {
          late.push_back(first);
        } else {
          joined.offer(range(first), now_ns);
        }
      }
      if (arrives) expected.push_back(first);
      // No line is so late that its hole is given up.
      if (random() % 4 == 0 || (!late.empty() && first - late.front() > 10)) {
        for (const std::uint64_t behind : late) joined.offer(range(behind), now_ns);
        late.clear();
      }
    }
    for (const std::uint64_t behind : late) joined.offer(range(behind), 2'000);
    joined.drain(1'000'000);
    EXPECT_EQ(joined.out(), expected);
  }
}

}  // namespace
}  // namespace tocsin
