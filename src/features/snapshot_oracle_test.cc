#include "features/snapshot_oracle.h"

#include <gtest/gtest.h>

#include "features/book_oracle.h"
#include "features/event_builder.h"

namespace tocsin {
namespace {

using testing::add_order;
using testing::EventBuilder;

constexpr std::int64_t kSecond = 1'000'000'000;

// A book with one bid and one ask of ten units at 99 and 101 ticks, at second 10.
struct Bench {
  OrderBook book;
  BookOracle oracle;

  Bench() {
    take(testing::clear().time_ns(10 * kSecond));
    take(EventBuilder(EventKind::kStatus).status(TradingStatus::kTrading));
    take(add_order(1).bid().ticks(99).units(10).time_ns(10 * kSecond).end());
    take(add_order(2).ask().ticks(101).units(10).time_ns(10 * kSecond).end());
  }
  void take(const MarketEvent& event) {
    book.apply(event);
    oracle.on_event(event, book);
  }
  // What the venue says: one level a side, of so many units and orders.
  void snapshot(std::int64_t second, std::int64_t bid_units, std::uint64_t bid_orders,
                bool before_trade = true, std::int64_t bid_ticks = 99) {
    take(EventBuilder(EventKind::kExpectSnapshot)
             .time_ns(second * kSecond)
             .index(4)
             .order(before_trade ? 1 : 0));
    const auto level = [&](Side side, std::uint16_t index, std::int64_t ticks, std::int64_t units,
                           std::uint64_t orders) {
      take(EventBuilder(EventKind::kExpectLevel)
               .time_ns(second * kSecond)
               .side(side)
               .index(index)
               .ticks(ticks)
               .units(units)
               .order(orders));
    };
    level(Side::kBid, 0, bid_ticks, bid_units, bid_orders);
    level(Side::kBid, 1, 0, 0, 0);
    level(Side::kAsk, 0, 101, 10, 1);
    level(Side::kAsk, 1, 0, 0, 0);
  }
  const SnapshotCounters& counters() const { return oracle.counters().snapshots; }
  std::uint64_t mismatches(SnapshotMismatch kind) const {
    return counters().mismatches[static_cast<std::size_t>(kind)];
  }
};

TEST(SnapshotOracle, TheStateItMeetsMayBeTheOneItShows) {
  Bench bench;
  bench.snapshot(11, 10, 1);
  EXPECT_EQ(bench.counters().compared, 1U);
  EXPECT_EQ(bench.counters().equal, 1U);
}

TEST(SnapshotOracle, AStateOfItsTimeIsFoundLater) {
  Bench bench;
  bench.snapshot(11, 15, 2);
  EXPECT_EQ(bench.counters().equal, 0U);
  bench.take(add_order(3).bid().ticks(99).units(5).time_ns(11 * kSecond + 900'000'000).end());
  EXPECT_EQ(bench.counters().equal, 1U);
}

TEST(SnapshotOracle, AStateAfterItsTimeIsNot) {
  Bench bench;
  bench.snapshot(11, 15, 2);
  bench.take(add_order(3).bid().ticks(99).units(5).time_ns(13 * kSecond).end());
  EXPECT_EQ(bench.counters().equal, 0U);
  EXPECT_EQ(bench.mismatches(SnapshotMismatch::kQuantities), 1U);
}

TEST(SnapshotOracle, AStateAfterTheNextTradeIsNotIfItSaysSo) {
  for (const bool before_trade : {true, false}) {
    Bench bench;
    bench.snapshot(11, 8, 1, before_trade);
    bench.take(EventBuilder(EventKind::kExecuteOrder)
                   .order(1)
                   .bid()
                   .ticks(99)
                   .units(2)
                   .time_ns(11 * kSecond)
                   .end());
    EXPECT_EQ(bench.counters().equal, before_trade ? 0U : 1U);
  }
}

TEST(SnapshotOracle, OrderCountsAreComparedWhereItHasThem) {
  Bench bench;
  bench.snapshot(11, 10, 2);
  bench.snapshot(12, 10, 0);
  bench.take(EventBuilder(EventKind::kEndOfUpdate).time_ns(20 * kSecond).end());
  EXPECT_EQ(bench.counters().equal, 1U);
  EXPECT_EQ(bench.mismatches(SnapshotMismatch::kQuantities), 1U);
}

TEST(SnapshotOracle, OneThatIsNotFoundMakesTheBookSuspectUntilOneIs) {
  Bench bench;
  EXPECT_TRUE(bench.book.trusted());
  bench.snapshot(11, 10, 1, true, 98);
  bench.take(EventBuilder(EventKind::kEndOfUpdate).time_ns(20 * kSecond).end());
  EXPECT_EQ(bench.mismatches(SnapshotMismatch::kPrices), 1U);
  EXPECT_FALSE(bench.book.trusted());
  bench.snapshot(21, 10, 1);
  EXPECT_TRUE(bench.book.trusted());
}

TEST(SnapshotOracle, InAnAuctionWhatWouldTradeIsCompared) {
  Bench bench;
  bench.take(EventBuilder(EventKind::kStatus).status(TradingStatus::kAuction));
  bench.take(add_order(3).bid().ticks(101).units(4).time_ns(11 * kSecond).end());
  bench.take(EventBuilder(EventKind::kExpectSnapshot).time_ns(11 * kSecond).index(4).order(1));
  const auto level = [](Side side, std::uint16_t index, std::int64_t ticks, std::int64_t units) {
    return EventBuilder(EventKind::kExpectLevel).side(side).index(index).ticks(ticks).units(units);
  };
  bench.take(level(Side::kBid, 0, 101, 4));
  bench.take(level(Side::kBid, 1, 0, 0));
  bench.take(level(Side::kAsk, 0, 101, 4));
  bench.take(level(Side::kAsk, 1, 0, 6));
  EXPECT_EQ(bench.counters().auction_compared, 1U);
  EXPECT_EQ(bench.counters().auction_equal, 1U);
}

TEST(SnapshotOracle, WhatTheFeedFlagsIsCountedByItsKind) {
  Bench bench;
  const auto flagged = [](Quality flag) {
    return EventBuilder(EventKind::kExpectSnapshot).time_ns(11 * kSecond).index(2).flag(flag);
  };
  bench.take(flagged(Quality::kOutOfOrder));
  bench.take(flagged(Quality::kGap));
  EXPECT_EQ(bench.mismatches(SnapshotMismatch::kStale), 1U);
  EXPECT_EQ(bench.mismatches(SnapshotMismatch::kTradesMissing), 1U);
  EXPECT_EQ(bench.counters().compared, 2U);
  EXPECT_FALSE(bench.book.trusted());
}

TEST(SnapshotOracle, EmptyOnesBeforeTheDayAreNotCounted) {
  OrderBook book;
  BookOracle oracle;
  const auto take = [&](const MarketEvent& event) {
    book.apply(event);
    oracle.on_event(event, book);
  };
  take(EventBuilder(EventKind::kStatus).status(TradingStatus::kClosed));
  take(EventBuilder(EventKind::kExpectSnapshot).index(2));
  take(EventBuilder(EventKind::kExpectLevel).bid());
  take(EventBuilder(EventKind::kExpectLevel).ask());
  EXPECT_EQ(oracle.counters().snapshots, SnapshotCounters{});
}

}  // namespace
}  // namespace tocsin
