// Many instruments at once: what they cost, the rules that come with them, who follows whom.
#include "runtime/frame_builder.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "features/event_builder.h"
#include "runtime/resident_memory.h"

namespace tocsin {
namespace {

using testing::add_order;
using testing::EventBuilder;
using testing::kTick;
using testing::kUnit;
using testing::set_level;

// A source that only knows its instruments; the test makes the events.
class Directory final : public Source {
 public:
  explicit Directory(std::vector<Instrument> instruments) : instruments_(std::move(instruments)) {}
  SourceStatus next(EventBatch&) noexcept override { return SourceStatus::kEnd; }
  const Error& error() const noexcept override { return error_; }
  const SourceCounters& counters() const noexcept override { return counters_; }
  std::span<const InputFault> faults() const noexcept override { return {}; }
  std::span<const Instrument> instruments() const noexcept override { return instruments_; }
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override { return {}; }
  double progress() const noexcept override { return -1; }

 private:
  std::vector<Instrument> instruments_;
  Error error_{ErrorCode::kInternal, "none"};
  SourceCounters counters_;
};

std::vector<Instrument> instruments(std::size_t count) {
  std::vector<Instrument> list(count);
  for (std::size_t i = 0; i < count; ++i) list[i].symbol = "S" + std::to_string(i);
  return list;
}

struct Feed {
  explicit Feed(FrameBuilder& frame_builder) : builder(frame_builder) {}
  bool operator()(InstrumentId instrument, EventBuilder event) {
    event.event.instrument = instrument;
    event.event.end_of_update = true;
    batch.assign(1, event.event);
    std::size_t index = 0;
    StageDurations durations;
    return builder.next_frame(batch, index, frame, durations);
  }
  FrameBuilder& builder;
  EventBatch batch;
  FeatureFrame frame;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr InstrumentId kInstruments = 500;
#else
constexpr InstrumentId kInstruments = 10'000;
#endif

TEST(FrameBuilder, HoldsTenThousandInstrumentsInTheBytesItStates) {
  const Directory source(instruments(kInstruments));
  const ManualClock clock;
  const std::int64_t resident_before = resident_bytes();
  FrameBuilder builder(FeatureSchema::standard(), source, clock);
  Feed feed(builder);
  std::uint64_t frames = 0;
  constexpr int kOrders = 40;  // of each instrument, on forty levels
  for (int i = 0; i < kOrders; ++i) {
    for (InstrumentId id = 0; id < kInstruments; ++id) {
      const std::uint64_t order = 1 + static_cast<std::uint64_t>(i);
      frames += feed(id, add_order(order)
                             .side(i % 2 == 0 ? Side::kBid : Side::kAsk)
                             .ticks(i % 2 == 0 ? 100 - i : 101 + i)
                             .units(1 + i)
                             .time_ns(i * kUnit))
                    ? 1
                    : 0;
    }
  }
  EXPECT_EQ(frames, std::uint64_t{kInstruments} * (kOrders - 1));
  const FrameMemory memory = builder.memory();
  EXPECT_EQ(memory.instruments, kInstruments);
  EXPECT_EQ(memory.orders, std::uint64_t{kInstruments} * kOrders);
  EXPECT_EQ(memory.levels, std::uint64_t{kInstruments} * kOrders);
  EXPECT_LE(memory.book_bytes / kInstruments, 40U << 10U);
  EXPECT_LE(memory.feature_bytes / kInstruments, 72U << 10U);
  const std::int64_t resident = resident_bytes() - resident_before;
  std::printf("[ figures  ] %u instruments: %lld bytes resident each; books %llu, features %llu\n",
              kInstruments, static_cast<long long>(resident / kInstruments),
              static_cast<unsigned long long>(memory.book_bytes / kInstruments),
              static_cast<unsigned long long>(memory.feature_bytes / kInstruments));
  EXPECT_LE(static_cast<std::uint64_t>(resident),
            memory.book_bytes + memory.feature_bytes + (16U << 20U));
}

TEST(FrameBuilder, GivesEachBookItsInstrumentsRule) {
  std::vector<Instrument> two = instruments(2);
  two[1].modify_priority = ModifyPriority::kLostUnlessDecreased;
  const Directory source(two);
  const ManualClock clock;
  FrameBuilder builder(FeatureSchema::standard(), source, clock);
  Feed feed(builder);
  for (const InstrumentId id : {0U, 1U}) {
    feed(id, add_order(1).bid().ticks(100).units(5));
    feed(id, add_order(2).bid().ticks(100).units(7));
    feed(id, EventBuilder(EventKind::kModifyOrder).order(1).bid().ticks(100).units(5));
  }
  OrderBook::QueuePosition kept;
  OrderBook::QueuePosition lost;
  ASSERT_TRUE(builder.book(0).queue_position(1, kept));
  ASSERT_TRUE(builder.book(1).queue_position(1, lost));
  EXPECT_EQ(kept.ahead_nanos, 0);
  EXPECT_EQ(lost.ahead_nanos, 7 * kUnit);
}

TEST(FrameBuilder, TiesAnInstrumentToItsLeaderWhicheverComesFirst) {
  const std::vector<std::string> names = {"leader_move"};
  const FeatureSchema schema = FeatureSchema::from_names(names).value();
  for (const auto& [follower, leader] : {std::pair(0U, 1U), std::pair(1U, 0U)}) {
    const Directory source(instruments(2));
    const ManualClock clock;
    FrameBuilder builder(
        schema, source, clock,
        {{"S" + std::to_string(follower), "S" + std::to_string(leader)}, {"S0", "nowhere"}});
    Feed feed(builder);
    for (const InstrumentId id : {0U, 1U}) {
      feed(id, set_level().bid().ticks(100).units(5));
      feed(id, set_level().ask().ticks(102).units(5));
    }
    feed(leader, set_level().bid().ticks(101).units(5));  // the mid rises by half a tick
    ASSERT_TRUE(feed(follower, set_level().bid().ticks(99).units(5)));
    EXPECT_EQ(feed.frame.values[0], 0.5F);
    ASSERT_TRUE(feed(leader, set_level().bid().ticks(99).units(5)));
    EXPECT_EQ(feed.frame.values[0], 0.0F);
  }
}

}  // namespace
}  // namespace tocsin
