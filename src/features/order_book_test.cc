// The rules of the book, one behaviour a test; the random comparison is in order_book_twin_test.cc.
#include "features/order_book.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "base/allocation_counter.h"
#include "features/event_builder.h"

namespace tocsin {
namespace {

using testing::add_order;
using testing::clear;
using testing::EventBuilder;
using testing::kTick;
using testing::kUnit;
using testing::set_level;
using testing::trade;

BookLevel level_of(std::int64_t ticks, std::int64_t units, std::uint32_t order_count) {
  return {ticks * kTick, units * kUnit, order_count};
}

OrderBook complete_book() {
  OrderBook book;
  book.mark_complete();
  return book;
}

constexpr QualityFlags kNothing;

TEST(OrderBook, QueuesOrdersByTimeAtEachPrice) {
  OrderBook book = complete_book();
  EXPECT_EQ(book.apply(add_order(1).bid().ticks(100).units(5)), kNothing);
  EXPECT_EQ(book.apply(add_order(2).bid().ticks(100).units(7)), kNothing);
  EXPECT_EQ(book.apply(add_order(3).bid().ticks(101).units(1)), kNothing);
  ASSERT_EQ(book.top(Side::kBid).size(), 2U);
  EXPECT_EQ(book.top(Side::kBid)[0], level_of(101, 1, 1));
  EXPECT_EQ(book.top(Side::kBid)[1], level_of(100, 12, 2));
  OrderBook::QueuePosition position;
  ASSERT_TRUE(book.queue_position(2, position));
  EXPECT_EQ(position.ahead_nanos, 5 * kUnit);
  EXPECT_EQ(position.behind_nanos, 0);
  ASSERT_TRUE(book.queue_position(1, position));
  EXPECT_EQ(position.ahead_nanos, 0);
  EXPECT_EQ(position.behind_nanos, 7 * kUnit);
  EXPECT_FALSE(book.queue_position(9, position));
}

TEST(OrderBook, ModifyKeepsPriorityOnlyWhenItShrinks) {
  OrderBook book = complete_book();
  for (std::uint64_t id : {1, 2, 3}) book.apply(add_order(id).ask().ticks(200).units(10));
  OrderBook::QueuePosition position;
  book.apply(EventBuilder(EventKind::kModifyOrder).order(1).ask().ticks(200).units(4));
  ASSERT_TRUE(book.queue_position(1, position));
  EXPECT_EQ(position.ahead_nanos, 0);
  book.apply(EventBuilder(EventKind::kModifyOrder).order(1).ask().ticks(200).units(5));
  ASSERT_TRUE(book.queue_position(1, position));
  EXPECT_EQ(position.ahead_nanos, 20 * kUnit);
  book.apply(EventBuilder(EventKind::kModifyOrder).order(2).ask().ticks(199).units(10));
  EXPECT_EQ(book.top(Side::kAsk)[0], level_of(199, 10, 1));
  book.apply(EventBuilder(EventKind::kModifyOrder).order(2).ask().ticks(200).units(10));
  ASSERT_TRUE(book.queue_position(2, position));
  EXPECT_EQ(position.ahead_nanos, 15 * kUnit);
}

TEST(OrderBook, ModifyOfAnUnknownOrderAddsIt) {
  OrderBook book = complete_book();
  EXPECT_EQ(book.apply(EventBuilder(EventKind::kModifyOrder).order(8).bid().ticks(90).units(3)),
            kNothing);
  EXPECT_EQ(book.level(Side::kBid, 0), level_of(90, 3, 1));
  EXPECT_EQ(book.apply(EventBuilder(EventKind::kModifyOrder).order(9).ticks(90).units(3)),
            QualityFlags(Quality::kUnknownOrder));
}

TEST(OrderBook, ExecutionWithoutAPriceTakesFromTheOrdersOwn) {
  OrderBook book = complete_book();
  book.apply(add_order(1).ask().ticks(300).units(10));
  EXPECT_EQ(book.apply(EventBuilder(EventKind::kExecuteOrder).order(1).units(4)), kNothing);
  EXPECT_EQ(book.level(Side::kAsk, 0), level_of(300, 6, 1));
  EXPECT_EQ(book.apply(EventBuilder(EventKind::kExecuteOrder).order(1).ticks(299).units(6)),
            kNothing);
  EXPECT_EQ(book.order_count(), 0U);
  EXPECT_EQ(book.level_count(Side::kAsk), 0U);
  EXPECT_EQ(book.changes().ask.executed_nanos, 10 * kUnit);
  EXPECT_EQ(book.changes().ask.executions, 2U);
}

TEST(OrderBook, ReplacementTakesTheSideOfTheOrderDeletedInTheSameRecord) {
  OrderBook book = complete_book();
  book.apply(add_order(1).ask().ticks(300).units(10).record(1));
  book.apply(EventBuilder(EventKind::kDeleteOrder).order(1).record(2));
  EXPECT_EQ(book.apply(add_order(2).ticks(301).units(4).record(2)), kNothing);
  EXPECT_EQ(book.level(Side::kAsk, 0), level_of(301, 4, 1));
  EXPECT_EQ(book.apply(add_order(3).ticks(302).units(4).record(3)),
            QualityFlags(Quality::kUnknownOrder));
  EXPECT_EQ(book.order_count(), 1U);
}

TEST(OrderBook, OrdersFromBeforeTheStartComeOffTheAnonymousQuantity) {
  OrderBook book = complete_book();
  book.apply(set_level().bid().ticks(100).units(50));
  book.apply(add_order(7).bid().ticks(100).units(5));
  OrderBook::QueuePosition position;
  ASSERT_TRUE(book.queue_position(7, position));
  EXPECT_EQ(position.ahead_nanos, 50 * kUnit);
  const auto reduce = [](std::int64_t units) {
    return EventBuilder(EventKind::kReduceOrder).order(99).bid().ticks(100).units(units);
  };
  EXPECT_EQ(book.apply(reduce(20)), kNothing);
  EXPECT_EQ(book.level(Side::kBid, 0), level_of(100, 35, 1));
  EXPECT_EQ(book.apply(reduce(31)), QualityFlags(Quality::kBadQuantity));
  EXPECT_EQ(book.apply(reduce(30)), kNothing);
  EXPECT_EQ(book.apply(reduce(1)), QualityFlags(Quality::kUnknownOrder));
  EXPECT_EQ(book.level(Side::kBid, 0), level_of(100, 5, 1));
  EXPECT_EQ(book.counters().bad_quantities, 1U);
  EXPECT_EQ(book.counters().unknown_orders, 1U);
}

TEST(OrderBook, SetLevelBelowItsKnownOrdersForgetsThem) {
  OrderBook book = complete_book();
  book.apply(add_order(1).bid().ticks(100).units(5));
  book.apply(add_order(2).bid().ticks(100).units(5));
  EXPECT_EQ(book.apply(set_level().bid().ticks(100).units(15)), kNothing);
  EXPECT_EQ(book.level(Side::kBid, 0), level_of(100, 15, 2));
  EXPECT_EQ(book.apply(set_level().bid().ticks(100).units(9)), QualityFlags(Quality::kBadQuantity));
  EXPECT_EQ(book.level(Side::kBid, 0), level_of(100, 9, 0));
  EXPECT_EQ(book.order_count(), 0U);
  EXPECT_EQ(book.apply(set_level().bid().ticks(100)), kNothing);
  EXPECT_EQ(book.level_count(Side::kBid), 0U);
}

TEST(OrderBook, WrongQuantitiesAreFlaggedAndCounted) {
  OrderBook book = complete_book();
  const QualityFlags bad = Quality::kBadQuantity;
  EXPECT_EQ(book.apply(add_order(1).bid().ticks(100).units(0)), bad);
  EXPECT_EQ(book.apply(add_order(1).bid().ticks(100).units(-1)), bad);
  EXPECT_EQ(book.apply(set_level().bid().ticks(100).units(-1)), bad);
  book.apply(add_order(1).bid().ticks(100).units(5));
  EXPECT_EQ(book.apply(EventBuilder(EventKind::kReduceOrder).order(1).units(-5)), bad);
  EXPECT_EQ(book.level(Side::kBid, 0), level_of(100, 5, 1));
  EXPECT_EQ(book.apply(EventBuilder(EventKind::kReduceOrder).order(1).units(6)), bad);
  EXPECT_EQ(book.order_count(), 0U);
  MarketEvent huge = add_order(2).bid().ticks(1);
  huge.quantity_nanos = INT64_MAX;
  EXPECT_EQ(book.apply(huge), kNothing);
  huge.order_id = 3;
  EXPECT_EQ(book.apply(huge), bad);
  huge.price_nanos = INT64_MAX;
  EXPECT_EQ(book.apply(huge), bad);
  EXPECT_EQ(book.counters().bad_quantities, 7U);
}

TEST(OrderBook, AnOrderAddedTwiceRestsOnce) {
  OrderBook book = complete_book();
  book.apply(add_order(1).bid().ticks(100).units(5));
  EXPECT_EQ(book.apply(add_order(1).bid().ticks(101).units(5)), QualityFlags(Quality::kDuplicate));
  EXPECT_EQ(book.level_count(Side::kBid), 1U);
  EXPECT_EQ(book.counters().duplicate_orders, 1U);
}

TEST(OrderBook, DuplicatesAndLateEventsAreNotApplied) {
  OrderBook book = complete_book();
  for (const Quality flag : {Quality::kDuplicate, Quality::kOutOfOrder}) {
    EXPECT_EQ(book.apply(add_order(1).bid().ticks(100).units(5).flag(flag).sequence(9).end()),
              kNothing);
  }
  EXPECT_EQ(book.order_count(), 0U);
  EXPECT_EQ(book.update_id(), 0U);
  EXPECT_EQ(book.counters().skipped, 2U);
}

TEST(OrderBook, TrimForgetsLevelsAndTheirOrders) {
  OrderBook book = complete_book();
  for (std::uint64_t id = 1; id <= 15; ++id) {
    book.apply(add_order(id).bid().ticks(static_cast<std::int64_t>(100 - id)).units(1));
    book.apply(add_order(id + 100).ask().ticks(static_cast<std::int64_t>(100 + id)).units(1));
  }
  book.apply(EventBuilder(EventKind::kTrimDepth).index(12));
  EXPECT_EQ(book.level_count(Side::kBid), 12U);
  EXPECT_EQ(book.level_count(Side::kAsk), 12U);
  EXPECT_EQ(book.order_count(), 24U);
  EXPECT_EQ(book.level(Side::kBid, 11), level_of(88, 1, 1));
  EXPECT_EQ(book.level(Side::kBid, 12), BookLevel{});
  EXPECT_EQ(book.apply(EventBuilder(EventKind::kDeleteOrder).order(15)),
            QualityFlags(Quality::kUnknownOrder));
}

TEST(OrderBook, IsTrustedFromASnapshotUntilAGap) {
  OrderBook book;
  const QualityFlags untrusted = Quality::kBookUntrusted;
  EXPECT_EQ(book.apply(set_level().bid().ticks(100).units(1)), untrusted);
  EXPECT_EQ(book.apply(clear().bid()), untrusted);
  EXPECT_EQ(book.apply(clear().ask()), kNothing);
  EXPECT_TRUE(book.trusted());
  EXPECT_EQ(book.apply(set_level().bid().ticks(100).units(1).flag(Quality::kGap)), untrusted);
  EXPECT_EQ(book.apply(clear().bid()), untrusted);
  EXPECT_EQ(book.apply(clear()), kNothing);
  // The clear of a new snapshot may itself stand behind the gap that it heals.
  EXPECT_EQ(book.apply(clear().flag(Quality::kGap | Quality::kSnapshot)), kNothing);
  EXPECT_EQ(book.counters().gaps, 2U);
}

TEST(OrderBook, ASnapshotThatMeetsAnEmptyBookNeedsNoClear) {
  OrderBook book;
  EXPECT_EQ(book.apply(add_order(1).bid().ticks(100).units(1).flag(Quality::kSnapshot)), kNothing);
  EXPECT_TRUE(book.trusted());
  book.apply(trade().flag(Quality::kGap));
  EXPECT_FALSE(book.trusted());
  book.apply(add_order(2).bid().ticks(100).units(1).flag(Quality::kSnapshot));
  EXPECT_FALSE(book.trusted());
}

TEST(OrderBook, CrossInsideAnUpdateIsNormal) {
  OrderBook book = complete_book();
  book.apply(add_order(1).ask().ticks(100).units(1).end());
  EXPECT_EQ(book.apply(add_order(2).bid().ticks(100).units(1)), kNothing);
  EXPECT_EQ(book.apply(EventBuilder(EventKind::kExecuteOrder).order(1).units(1).end()), kNothing);
  EXPECT_EQ(book.counters().crossed_updates, 0U);
}

TEST(OrderBook, CrossOfUnknownStatusIsUntrustedWhileItLasts) {
  OrderBook book = complete_book();
  book.apply(add_order(1).ask().ticks(100).units(1).end());
  const QualityFlags crossed = Quality::kCrossedBook | Quality::kBookUntrusted;
  EXPECT_EQ(book.apply(add_order(2).bid().ticks(100).units(1).end()), crossed);
  EXPECT_EQ(book.apply(trade().end()), crossed);
  EXPECT_EQ(book.apply(EventBuilder(EventKind::kDeleteOrder).order(2).end()), kNothing);
  EXPECT_TRUE(book.trusted());
  EXPECT_EQ(book.counters().crossed_updates, 2U);
}

TEST(OrderBook, CrossInContinuousTradingIsUntrustedUntilTheNextSnapshot) {
  OrderBook book = complete_book();
  book.apply(EventBuilder(EventKind::kStatus).status(TradingStatus::kTrading));
  book.apply(set_level().ask().ticks(100).units(1));
  EXPECT_EQ(book.apply(set_level().bid().ticks(101).units(1).end()),
            Quality::kCrossedBook | Quality::kBookUntrusted);
  EXPECT_EQ(book.apply(set_level().bid().ticks(101).end()), QualityFlags(Quality::kBookUntrusted));
  EXPECT_EQ(book.apply(clear().end()), kNothing);
}

TEST(OrderBook, CrossInAnAuctionOrHaltIsNotAFault) {
  for (const TradingStatus status :
       {TradingStatus::kAuction, TradingStatus::kHalted, TradingStatus::kClosed}) {
    OrderBook book = complete_book();
    book.apply(EventBuilder(EventKind::kStatus).status(status));
    EXPECT_EQ(book.status(), status);
    book.apply(add_order(1).ask().ticks(100).units(1));
    EXPECT_EQ(book.apply(add_order(2).bid().ticks(105).units(1).end()), kNothing);
    EXPECT_TRUE(book.trusted());
  }
}

TEST(OrderBook, UpdateIdIsThatOfTheLastAppliedUpdateOfTheBook) {
  OrderBook book = complete_book();
  book.apply(set_level().ask().ticks(100).units(1).sequence(10));
  EXPECT_EQ(book.update_id(), 0U);
  book.apply(set_level().ask().ticks(101).units(1).sequence(11).end());
  book.apply(trade().ticks(101).units(1).sequence(7777).end());
  EXPECT_EQ(book.update_id(), 11U);
}

TEST(OrderBook, ChangesAreThoseOfOneUpdateWithoutSnapshots) {
  OrderBook book = complete_book();
  book.apply(set_level().bid().ticks(100).units(9).flag(Quality::kSnapshot).end());
  EXPECT_EQ(book.changes(), BookChanges{});
  book.apply(set_level().bid().ticks(100).units(4));
  book.apply(set_level().bid().ticks(100).units(6));
  book.apply(add_order(1).ask().ticks(101).units(3));
  book.apply(EventBuilder(EventKind::kModifyOrder).order(1).ask().ticks(102).units(2));
  book.apply(EventBuilder(EventKind::kTrimDepth).index(0).end());
  BookChanges expected;
  expected.bid = {
      .added_nanos = 2 * kUnit, .cancelled_nanos = 5 * kUnit, .additions = 1, .cancels = 1};
  expected.ask = {
      .added_nanos = 5 * kUnit, .cancelled_nanos = 3 * kUnit, .additions = 2, .cancels = 1};
  EXPECT_EQ(book.changes(), expected);
  book.apply(trade().end());
  EXPECT_EQ(book.changes(), BookChanges{});
}

TEST(OrderBook, ASideRestatedInOneUpdateIsNotCountedAsArrivals) {
  OrderBook book = complete_book();
  book.apply(clear());
  book.apply(set_level().bid().ticks(100).units(9));
  book.apply(set_level().ask().ticks(101).units(9).end());
  EXPECT_EQ(book.changes(), BookChanges{});
  book.apply(set_level().bid().ticks(100).units(10).end());
  EXPECT_EQ(book.changes().bid.additions, 1U);
}

TEST(OrderBook, WhatGoesPastItsLimitsIsRefusedAndCostsTheTrust) {
  OrderBook book({.order_capacity = 1, .level_capacity = 1, .order_limit = 3, .level_limit = 2});
  book.mark_complete();
  EXPECT_EQ(book.apply(add_order(1).bid().ticks(100).units(1)), kNothing);
  EXPECT_EQ(book.apply(add_order(2).bid().ticks(99).units(1)), kNothing);
  EXPECT_EQ(book.apply(add_order(3).bid().ticks(98).units(1)),
            QualityFlags(Quality::kBookUntrusted));
  book.mark_complete();
  EXPECT_EQ(book.apply(add_order(3).bid().ticks(99).units(1)), kNothing);
  EXPECT_EQ(book.apply(add_order(4).bid().ticks(99).units(1)),
            QualityFlags(Quality::kBookUntrusted));
  EXPECT_EQ(book.order_count(), 3U);
  EXPECT_EQ(book.counters().refused, 2U);
}

TEST(OrderBook, AllocatesNothingOnceAsDeepBefore) {
  OrderBook book({.order_capacity = 16, .level_capacity = 16});
  book.mark_complete();
  std::uint64_t order_id = 0;
  // A band of prices that wanders: each price, order and tree node is used anew again and again.
  const auto fill_and_drain = [&](std::int64_t first_tick) {
    const std::uint64_t first_id = order_id + 1;
    for (std::int64_t i = 0; i < 2'000; ++i) {
      book.apply(add_order(++order_id).bid().ticks(first_tick + i * 7919 % 1'500).units(1));
    }
    for (std::uint64_t id = first_id; id <= order_id; ++id) {
      const std::uint64_t scattered = first_id + (id - first_id) * 7 % 2'000;
      book.apply(EventBuilder(EventKind::kDeleteOrder).order(scattered).end());
    }
    EXPECT_EQ(book.order_count(), 0U);
    EXPECT_EQ(book.level_count(Side::kBid), 0U);
  };
  fill_and_drain(10'000);
  const std::uint64_t before = allocation_count();
  for (std::int64_t round = 0; round < 30; ++round) fill_and_drain(10'000 + 311 * round);
  EXPECT_EQ(allocation_count(), before);
}

TEST(OrderBook, KeepsOrLosesPriorityByTheVenuesRule) {
  const auto ahead_of = [](const OrderBook& book, std::uint64_t id) {
    OrderBook::QueuePosition position;
    EXPECT_TRUE(book.queue_position(id, position));
    return position.ahead_nanos / kUnit;
  };
  const auto modify = [](std::uint64_t id, std::int64_t units) {
    return EventBuilder(EventKind::kModifyOrder).order(id).bid().ticks(100).units(units).end();
  };
  OrderBook cme;
  OrderBook cboe({.modify_priority = ModifyPriority::kLostUnlessDecreased});
  for (OrderBook* book : {&cme, &cboe}) {
    for (const std::uint64_t id : {1U, 2U}) book->apply(add_order(id).bid().ticks(100).units(5));
    book->apply(modify(1, 5));  // changes nothing
  }
  EXPECT_EQ(ahead_of(cme, 1), 0);
  EXPECT_EQ(ahead_of(cboe, 1), 5);
  for (OrderBook* book : {&cme, &cboe}) book->apply(modify(2, 3));
  EXPECT_EQ(ahead_of(cme, 2), 5);
  EXPECT_EQ(ahead_of(cboe, 2), 0);  // less keeps its place
  EXPECT_EQ(cboe.changes().bid.cancelled_nanos, 2 * kUnit);
  for (OrderBook* book : {&cme, &cboe}) book->apply(modify(1, 9));
  EXPECT_EQ(ahead_of(cme, 1), 3);
  EXPECT_EQ(ahead_of(cboe, 1), 3);
  EXPECT_EQ(cboe.level(Side::kBid, 0), (BookLevel{100 * kTick, 12 * kUnit, 2}));
}

TEST(OrderBook, HoldsAnOrderInAtMost128BytesAndGivesBackWhatItReuses) {
  OrderBook book;
  const std::size_t empty = book.memory_bytes();
  EXPECT_LT(empty, 128U << 10U);
  constexpr std::uint64_t kOrders = 300'000;
  for (std::uint64_t id = 1; id <= kOrders; ++id)
    book.apply(add_order(id).bid().ticks(static_cast<std::int64_t>(id % 500)).units(1));
  const std::size_t full = book.memory_bytes();
  EXPECT_LE(full - empty, 128 * kOrders);
  EXPECT_GE(full - empty, 40 * kOrders);
  for (std::uint64_t id = 1; id <= kOrders; ++id) {
    book.apply(EventBuilder(EventKind::kDeleteOrder).order(id).bid());
    book.apply(
        add_order(kOrders + id).ask().ticks(600 + static_cast<std::int64_t>(id % 500)).units(1));
  }
  EXPECT_LE(book.memory_bytes(), full + (128U << 10U));  // 500 levels more, no order
}

TEST(OrderBook, HoldsALevelInAtMost160Bytes) {
  OrderBook book;
  const std::size_t empty = book.memory_bytes();
  constexpr std::int64_t kLevels = 200'000;
  for (std::int64_t i = 0; i < kLevels; ++i)
    book.apply(set_level().bid().ticks(i * 7919 % kLevels + 1).units(1));
  EXPECT_EQ(book.level_count(Side::kBid), static_cast<std::size_t>(kLevels));
  EXPECT_LE(book.memory_bytes() - empty, 160 * static_cast<std::size_t>(kLevels));
}

}  // namespace
}  // namespace tocsin
