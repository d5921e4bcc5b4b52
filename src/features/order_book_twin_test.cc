// OrderBook against its naive twin over millions of random events: flags, changes, counters and
// every level after each (in deep books the best ten and the level touched), every queue from time
// to time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kInstrumented = 20;  // as many times fewer events, for as many times slower code
#else
constexpr int kInstrumented = 1;
#endif

struct Comparison {
  RandomBookStreamOptions stream;
  OrderBookOptions book;
  int events = 0;
  std::size_t levels_reached = 0;  // the deeper side must have held so many at some time
  bool all_levels = false;         // after each event; else every thousand
};

::testing::AssertionResult same_level_touched(const OrderBook& book, const NaiveOrderBook& twin,
                                              const MarketEvent& event) {
  if (event.side == Side::kNone || event.price_nanos < -OrderBook::kPriceNanosMax)
    return ::testing::AssertionSuccess();
  const std::int64_t key = event.side == Side::kBid ? -event.price_nanos : event.price_nanos;
  const auto found = twin.levels(event.side).find(key);
  const BookLevel expected = found == twin.levels(event.side).end()
                                 ? BookLevel{.price_nanos = event.price_nanos}
                                 : NaiveOrderBook::view(event.side, *found);
  if (book.level_at(event.side, event.price_nanos) == expected)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "at price " << event.price_nanos;
}

::testing::AssertionResult same_everywhere(const OrderBook& book, const NaiveOrderBook& twin,
                                           Side side, std::vector<BookLevel>& levels) {
  book.copy_levels(side, levels);
  const auto& expected = twin.levels(side);
  if (levels.size() != expected.size()) return ::testing::AssertionFailure() << "count";
  auto level = levels.begin();
  for (const auto& entry : expected) {
    if (*level != NaiveOrderBook::view(side, entry))
      return ::testing::AssertionFailure() << "at price " << level->price_nanos;
    ++level;
  }
  return ::testing::AssertionSuccess();
}

void compare(const Comparison& comparison) {
  SCOPED_TRACE(::testing::Message() << "seed " << comparison.stream.seed);
  RandomBookStream stream(comparison.stream);
  OrderBook book(comparison.book);
  NaiveOrderBook twin(comparison.book);
  std::size_t levels_max = 0;
  std::vector<BookLevel> levels;
  for (int i = 0; i < comparison.events / kInstrumented; ++i) {
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
      if (comparison.all_levels) {
        ASSERT_TRUE(same_everywhere(book, twin, side, levels)) << "event " << i;
      }
      if (i % 1'000 == 0) {
        ASSERT_TRUE(same_levels(book, twin, side)) << "event " << i;
      }
    }
    ASSERT_TRUE(same_level_touched(book, twin, event)) << "event " << i;
    if (i % 20'000 == 0) {
      ASSERT_TRUE(same_queues(book, twin, comparison.stream.order_ids)) << "event " << i;
    }
  }
  EXPECT_EQ(book.counters(), twin.counters());
  if (kInstrumented > 1) return;  // too few events for what follows
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

TEST(OrderBook, AgreesWithItsNaiveTwinOnEveryLevelAfterEachOfAMillionEvents) {
  compare({.stream = {.seed = 20150515,
                      .order_ids = 150,
                      .tick_range = 25,
                      .one_disaster_in = 2'000,
                      .one_recovery_in = 1'000},
           .book = {},
           .events = 1'000'000,
           .levels_reached = 40,
           .all_levels = true});
}

TEST(OrderBook, AgreesWithItsNaiveTwinThroughGapsHaltsAndSnapshots) {
  compare({.stream = {.seed = 20220815,
                      .order_ids = 60,
                      .tick_range = 12,
                      .one_disaster_in = 3'000,
                      .one_recovery_in = 120},
           .book = {},
           .events = 500'000,
           .levels_reached = 20,
           .all_levels = true});
}

TEST(OrderBook, AgreesWithItsNaiveTwinWhereNoChangeLosesPriority) {
  compare({.stream = {.seed = 20190304, .order_ids = 120, .tick_range = 10},
           .book = {.modify_priority = ModifyPriority::kLostUnlessDecreased},
           .events = 500'000,
           .levels_reached = 20,
           .all_levels = true});
}

// Both kinds of feed through one interface: what is told order by order, and then price by price.
TEST(OrderBook, IsTheSameFromOrdersAndFromLevels) {
  RandomBookStream stream({.seed = 20170601, .order_ids = 300, .tick_range = 20});
  OrderBook by_order;
  OrderBook by_level;
  std::vector<BookLevel> expected;
  std::vector<BookLevel> found;
  for (int i = 0; i < 200'000 / kInstrumented; ++i) {
    by_order.apply(stream.next());
    for (const Side side : {Side::kBid, Side::kAsk}) {
      by_order.copy_levels(side, expected);
      by_level.copy_levels(side, found);
      const auto set = [&](std::int64_t price_nanos, std::int64_t quantity_nanos) {
        MarketEvent level;
        level.kind = EventKind::kSetLevel;
        level.side = side;
        level.price_nanos = price_nanos;
        level.quantity_nanos = quantity_nanos;
        by_level.apply(level);
      };
      for (const BookLevel& level : found) {
        if (by_order.level_at(side, level.price_nanos).quantity_nanos == 0)
          set(level.price_nanos, 0);
      }
      for (const BookLevel& level : expected) {
        if (by_level.level_at(side, level.price_nanos).quantity_nanos != level.quantity_nanos)
          set(level.price_nanos, level.quantity_nanos);
      }
      by_level.copy_levels(side, found);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t rank = 0; rank < found.size(); ++rank) {
        ASSERT_EQ(found[rank].price_nanos, expected[rank].price_nanos) << "event " << i;
        ASSERT_EQ(found[rank].quantity_nanos, expected[rank].quantity_nanos) << "event " << i;
      }
      const auto best = by_order.top(side);
      for (std::size_t rank = 0; rank < best.size(); ++rank)
        ASSERT_EQ(by_level.top(side)[rank].price_nanos, best[rank].price_nanos);
    }
  }
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
