// OrderBook against its naive twin over millions of random events: flags, top, changes and counters
// after each, every level and every queue position from time to time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "features/naive_order_book.h"
#include "features/order_book.h"
#include "features/random_book_stream.h"

namespace tocsin {
namespace {

using testing::NaiveOrderBook;
using testing::RandomBookStream;
using testing::RandomBookStreamOptions;

::testing::AssertionResult same_top(const OrderBook& book, const NaiveOrderBook& twin, Side side) {
  const auto top = book.top(side);
  const auto& levels = twin.levels(side);
  if (top.size() != std::min(levels.size(), OrderBook::kTopLevels)) {
    return ::testing::AssertionFailure() << "top holds " << top.size() << " of " << levels.size();
  }
  auto expected = levels.begin();
  for (const BookLevel& level : top) {
    if (level != NaiveOrderBook::view(side, *expected)) {
      return ::testing::AssertionFailure() << "at price " << level.price_nanos;
    }
    ++expected;
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult same_levels(const OrderBook& book, const NaiveOrderBook& twin,
                                       Side side) {
  const auto& levels = twin.levels(side);
  if (book.level_count(side) != levels.size()) return ::testing::AssertionFailure() << "count";
  std::size_t rank = 0;
  for (const auto& entry : levels) {
    const BookLevel expected = NaiveOrderBook::view(side, entry);
    if (book.level_at(side, expected.price_nanos) != expected) {
      return ::testing::AssertionFailure() << "at price " << expected.price_nanos;
    }
    // Ranks are walked to, so not all of a deep book are.
    if ((rank < 40 || rank % 97 == 0) && book.level(side, rank) != expected) {
      return ::testing::AssertionFailure() << "at rank " << rank;
    }
    ++rank;
  }
  if (book.level(side, rank) != BookLevel{}) return ::testing::AssertionFailure() << "past the end";
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult same_queues(const OrderBook& book, const NaiveOrderBook& twin,
                                       std::uint64_t order_ids) {
  for (std::uint64_t id = 0; id < order_ids; ++id) {
    OrderBook::QueuePosition position;
    const bool known = book.queue_position(id, position);
    const auto expected = twin.queue_position(id);
    if (known != expected.has_value()) return ::testing::AssertionFailure() << "known? " << id;
    if (known && (position.ahead_nanos != expected->ahead_nanos ||
                  position.behind_nanos != expected->behind_nanos)) {
      return ::testing::AssertionFailure() << "queue of " << id;
    }
  }
  return ::testing::AssertionSuccess();
}

struct Comparison {
  RandomBookStreamOptions stream;
  OrderBookOptions book;
  int events = 0;
  std::size_t levels_reached = 0;  // the deeper side must have held so many at some time
};

void compare(const Comparison& comparison) {
  SCOPED_TRACE(::testing::Message() << "seed " << comparison.stream.seed);
  RandomBookStream stream(comparison.stream);
  OrderBook book(comparison.book);
  NaiveOrderBook twin(comparison.book);
  std::size_t levels_max = 0;
  for (int i = 0; i < comparison.events; ++i) {
    const MarketEvent event = stream.next();
    const QualityFlags noticed = book.apply(event);
    const QualityFlags expected = twin.apply(event);
    ASSERT_EQ(quality_names(noticed), quality_names(expected)) << "event " << i;
    ASSERT_EQ(book.changes(), twin.changes()) << "event " << i;
    ASSERT_EQ(book.order_count(), twin.order_count()) << "event " << i;
    ASSERT_EQ(book.trusted(), twin.trusted()) << "event " << i;
    ASSERT_EQ(book.update_id(), twin.update_id()) << "event " << i;
    for (const Side side : {Side::kBid, Side::kAsk}) {
      levels_max = std::max(levels_max, book.level_count(side));
      ASSERT_TRUE(same_top(book, twin, side)) << "event " << i;
      if (i % 1'000 == 0) {
        ASSERT_TRUE(same_levels(book, twin, side)) << "event " << i;
      }
    }
    if (i % 20'000 == 0) {
      ASSERT_TRUE(same_queues(book, twin, comparison.stream.order_ids)) << "event " << i;
    }
  }
  EXPECT_EQ(book.counters(), twin.counters());
  EXPECT_GE(levels_max, comparison.levels_reached);
  const OrderBookCounters& counters = book.counters();
  for (const std::uint64_t count :
       {counters.skipped, counters.unknown_orders, counters.bad_quantities,
        counters.duplicate_orders, counters.gaps, counters.crossed_updates}) {
    EXPECT_GT(count, 0U) << "the stream left a rule untried";
  }
}

TEST(OrderBook, AgreesWithItsNaiveTwinInAnOrdinaryBook) {
  compare({.stream = {.seed = 20240808},
           .book = {.order_capacity = 16, .level_capacity = 16},
           .events = 1'000'000,
           .levels_reached = 100});
}

TEST(OrderBook, AgreesWithItsNaiveTwinInAThinBook) {
  compare({.stream = {.seed = 20120621, .order_ids = 60, .tick_range = 6, .one_disaster_in = 500},
           .book = {},
           .events = 300'000,
           .levels_reached = 10});
}

TEST(OrderBook, AgreesWithItsNaiveTwinInADeepBook) {
  compare({.stream = {.seed = 20191230,
                      .order_ids = 20'000,
                      .tick_range = 2'000,
                      .one_disaster_in = 15'000},
           .book = {},
           .events = 300'000,
           .levels_reached = 2'000});
}

TEST(OrderBook, AgreesWithItsNaiveTwinAtItsLimits) {
  compare({.stream = {.seed = 20231225, .order_ids = 500, .one_disaster_in = 300},
           .book = {.order_limit = 60, .level_limit = 25},
           .events = 150'000,
           .levels_reached = 25});
}

}  // namespace
}  // namespace tocsin
