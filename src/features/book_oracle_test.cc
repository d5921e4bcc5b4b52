// What the oracle compares, what it adopts and what it calls a mismatch.
#include "features/book_oracle.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "base/allocation_counter.h"
#include "features/event_builder.h"

namespace tocsin {
namespace {

using testing::add_order;
using testing::clear;
using testing::EventBuilder;
using testing::kUnit;
using testing::set_level;
using testing::trade;

struct Feed {
  OrderBook book;
  BookOracle oracle;

  void operator()(const MarketEvent& event) {
    book.apply(event);
    oracle.on_event(event, book);
  }
  // A row of two levels a side {ticks, units}, as LOBSTER gives it, and the trim that ends it.
  using Levels = std::initializer_list<std::pair<std::int64_t, std::int64_t>>;
  void row(Levels bids, Levels asks) {
    for (const Side side : {Side::kBid, Side::kAsk}) {
      std::uint16_t index = 0;
      for (const auto& [ticks, units] : side == Side::kBid ? bids : asks) {
        (*this)(EventBuilder(EventKind::kExpectLevel)
                    .side(side)
                    .ticks(ticks)
                    .units(units)
                    .index(index));
        ++index;
      }
      if (index < 2) (*this)(EventBuilder(EventKind::kExpectLevel).side(side).index(index));
    }
    (*this)(EventBuilder(EventKind::kTrimDepth).index(2).end());
  }
  void top(std::uint64_t update_id, std::int64_t bid_units, std::int64_t ask_units) {
    (*this)(
        EventBuilder(EventKind::kExpectTop).bid().ticks(100).units(bid_units).sequence(update_id));
    (*this)(
        EventBuilder(EventKind::kExpectTop).ask().ticks(101).units(ask_units).sequence(update_id));
  }
  void diff(std::uint64_t update_id, std::int64_t bid_units, std::int64_t ask_units) {
    (*this)(set_level().bid().ticks(100).units(bid_units).sequence(update_id));
    (*this)(set_level().ask().ticks(101).units(ask_units).sequence(update_id).end());
  }
};

MarketEvent delete_order(std::uint64_t id) {
  return EventBuilder(EventKind::kDeleteOrder).order(id);
}

TEST(BookOracle, TheFirstRowIsTheStartOfTheBook) {
  Feed feed;
  feed(add_order(1).bid().ticks(100).units(18));
  feed.row({{100, 30}, {99, 5}}, {{101, 7}, {102, 8}});
  EXPECT_TRUE(feed.book.trusted());
  EXPECT_EQ(feed.book.level(Side::kBid, 0).quantity_nanos, 30 * kUnit);
  OracleCounters expected{.rows_adopted = 1, .levels_adopted = 4};
  EXPECT_EQ(feed.oracle.counters(), expected);
  feed.row({{100, 30}, {99, 5}}, {{101, 7}, {102, 8}});
  expected.rows_compared = expected.rows_equal = 1;
  expected.levels_compared = expected.levels_equal = 4;
  EXPECT_EQ(feed.oracle.counters(), expected);
}

TEST(BookOracle, ARowAfterAClearStartsTheBookAnew) {
  Feed feed;
  feed(clear().flag(Quality::kSnapshot));
  feed(add_order(1).bid().ticks(100).units(18));
  feed.row({{100, 30}, {99, 5}}, {{101, 7}, {102, 8}});
  feed.row({{100, 30}, {99, 5}}, {{101, 7}, {102, 8}});
  feed(clear().flag(Quality::kSnapshot));
  feed.row({{90, 3}, {89, 5}}, {{91, 7}, {92, 8}});
  const OracleCounters expected{.rows_compared = 1,
                                .rows_equal = 1,
                                .rows_adopted = 2,
                                .levels_compared = 4,
                                .levels_equal = 4,
                                .levels_adopted = 8};
  EXPECT_EQ(feed.oracle.counters(), expected);
}

TEST(BookOracle, ARowAfterAGapHealsTheBook) {
  Feed feed;
  feed.row({{100, 1}, {99, 5}}, {{101, 7}, {102, 8}});
  feed(add_order(1).bid().ticks(100).units(18).flag(Quality::kGap));
  EXPECT_FALSE(feed.book.trusted());
  feed.row({{98, 1}, {97, 5}}, {{99, 7}, {100, 8}});
  EXPECT_TRUE(feed.book.trusted());
  EXPECT_EQ(feed.oracle.counters().rows_adopted, 2U);
  EXPECT_EQ(feed.book.level_count(Side::kBid), 2U);
}

TEST(BookOracle, ALevelRevealedFromBelowIsAdopted) {
  Feed feed;
  feed.row({{100, 1}, {99, 5}}, {{101, 7}, {102, 8}});
  feed(EventBuilder(EventKind::kDeleteOrder).order(55).bid().ticks(100).units(1));
  feed.row({{99, 5}, {97, 3}}, {{101, 7}, {102, 8}});
  const OracleCounters expected{.rows_compared = 1,
                                .rows_equal = 1,
                                .rows_adopted = 1,
                                .levels_compared = 3,
                                .levels_equal = 3,
                                .levels_adopted = 5};
  EXPECT_EQ(feed.oracle.counters(), expected);
  EXPECT_EQ(feed.book.level(Side::kBid, 1).quantity_nanos, 3 * kUnit);
}

TEST(BookOracle, AnOrderOnALevelBelowTheKnownDepthDoesNotMakeItKnown) {
  Feed feed;
  feed.row({{100, 1}, {99, 5}}, {{101, 7}, {102, 8}});
  feed(EventBuilder(EventKind::kDeleteOrder).order(55).bid().ticks(100).units(1));
  feed(add_order(1).bid().ticks(98).units(2));
  feed.row({{99, 5}, {98, 30}}, {{101, 7}, {102, 8}});
  EXPECT_EQ(feed.oracle.counters().rows_equal, 1U);
  EXPECT_EQ(feed.oracle.counters().levels_adopted, 5U);
  OrderBook::QueuePosition position;
  ASSERT_TRUE(feed.book.queue_position(1, position));
  EXPECT_EQ(position.ahead_nanos, 28 * kUnit);
}

TEST(BookOracle, AMissingLevelWithinTheKnownDepthIsAMismatch) {
  Feed feed;
  feed.row({{100, 1}, {98, 5}}, {{101, 7}, {102, 8}});
  feed.row({{100, 1}, {99, 5}}, {{101, 7}, {102, 8}});
  const OracleCounters& counters = feed.oracle.counters();
  EXPECT_EQ(counters.rows_compared, 1U);
  EXPECT_EQ(counters.rows_equal, 0U);
  EXPECT_EQ(counters.levels_compared, 4U);
  EXPECT_EQ(counters.levels_equal, 3U);
  EXPECT_EQ(counters.levels_adopted, 4U);
}

TEST(BookOracle, ALevelThatTheRowLacksIsAMismatchOfTheRow) {
  Feed feed;
  feed.row({{100, 1}, {98, 5}}, {{101, 7}, {102, 8}});
  feed(add_order(1).bid().ticks(99).units(2));
  feed.row({{100, 1}, {98, 5}}, {{101, 7}, {102, 8}});
  EXPECT_EQ(feed.oracle.counters().rows_equal, 0U);
  EXPECT_EQ(feed.oracle.counters().levels_equal, 4U);
}

TEST(BookOracle, ASideShownToItsEndIsKnownWhole) {
  Feed feed;
  feed.row({{100, 1}}, {});
  feed(add_order(1).bid().ticks(90).units(2));
  feed(add_order(2).ask().ticks(110).units(3));
  feed.row({{100, 1}, {90, 2}}, {{110, 3}});
  const OracleCounters expected{.rows_compared = 1,
                                .rows_equal = 1,
                                .rows_adopted = 1,
                                .levels_compared = 3,
                                .levels_equal = 3,
                                .levels_adopted = 1};
  EXPECT_EQ(feed.oracle.counters(), expected);
  feed(delete_order(1));
  feed.row({{100, 1}, {90, 2}}, {{110, 3}});
  EXPECT_EQ(feed.oracle.counters().levels_equal, 5U);
  feed(add_order(3).ask().ticks(111).units(3));
  feed.row({{100, 1}}, {{110, 3}});
  EXPECT_EQ(feed.oracle.counters().rows_equal, 1U);
}

TEST(BookOracle, AdoptionIsNotCountedAsOrdersArriving) {
  Feed feed;
  feed.row({{100, 1}, {99, 5}}, {{101, 7}, {102, 8}});
  EXPECT_EQ(feed.book.changes(), BookChanges{});
}

TEST(BookOracle, TopsAreComparedWhicheverComesFirst) {
  Feed feed;
  feed(clear());
  feed.diff(10, 1, 2);
  feed.top(10, 1, 2);  // after the book
  feed.top(11, 7, 8);  // between two updates of the book: no place
  feed.top(12, 3, 4);  // before the book
  feed.diff(12, 3, 4);
  feed.top(11, 9, 9);  // behind the book
  feed(trade().sequence(999).end());
  feed.top(15, 5, 5);
  feed.diff(15, 5, 6);
  EXPECT_EQ(feed.oracle.counters().top_compared, 3U);
  EXPECT_EQ(feed.oracle.counters().top_equal, 2U);
}

TEST(BookOracle, TopsOfABookWithoutTrustAreNotCompared) {
  Feed feed;
  feed.diff(10, 1, 2);
  feed.top(10, 1, 2);
  feed(clear());
  feed.top(11, 1, 2);
  feed(set_level().bid().ticks(100).units(1).flag(Quality::kGap));
  feed.diff(11, 1, 2);
  EXPECT_EQ(feed.oracle.counters().top_compared, 0U);
}

TEST(BookOracle, HalfATopIsNoPlace) {
  Feed feed;
  feed(clear());
  feed.diff(10, 1, 2);
  feed(EventBuilder(EventKind::kExpectTop).bid().ticks(100).units(1).sequence(10));
  feed(EventBuilder(EventKind::kExpectTop).ask().ticks(101).units(2).sequence(11));
  feed.diff(11, 1, 2);
  EXPECT_EQ(feed.oracle.counters().top_compared, 0U);
}

TEST(BookOracle, KeepsABoundedNumberOfTopsNewerThanTheBook) {
  Feed feed;
  feed(clear());
  feed.diff(1, 1, 1);
  const std::uint64_t before = allocation_count();
  for (std::uint64_t id = 2; id < 2 + BookOracle::kPendingTopsMax + 5; ++id) feed.top(id, 1, 1);
  for (std::uint64_t id = 2; id < 2 + BookOracle::kPendingTopsMax + 5; ++id) feed.diff(id, 1, 1);
  EXPECT_EQ(allocation_count(), before);
  EXPECT_EQ(feed.oracle.counters().top_evicted, 5U);
  EXPECT_EQ(feed.oracle.counters().top_compared, BookOracle::kPendingTopsMax);
  EXPECT_EQ(feed.oracle.counters().top_equal, BookOracle::kPendingTopsMax);
}

// The worked example of Kraken's guide "Book checksum (WebSocket v2)".
TEST(BookOracle, ComputesTheChecksumOfKrakensGuide) {
  struct Level {
    std::int64_t price_tenths;
    std::int64_t quantity_e8;
  };
  const std::vector<Level> bids = {{452835, 10000000}, {452834, 154582015}, {452821, 10000000},
                                   {452810, 10000000}, {452803, 154592586}, {452790, 7990000},
                                   {452776, 3310103},  {452775, 30000000},  {452773, 154602737},
                                   {452766, 15445238}};
  const std::vector<Level> asks = {{452852, 100000},    {452864, 154571953}, {452866, 154571109},
                                   {452896, 154560911}, {452902, 15890660},  {452918, 154553491},
                                   {452947, 4454749},   {452961, 35380000},  {452975, 9945542},
                                   {452995, 18772827}};
  Instrument instrument;
  instrument.price_decimals = 1;
  instrument.quantity_decimals = 8;
  Feed feed{.book = OrderBook(), .oracle = BookOracle(instrument)};
  feed(clear().flag(Quality::kSnapshot));
  for (const Side side : {Side::kBid, Side::kAsk}) {
    for (const Level& level : side == Side::kBid ? bids : asks) {
      EventBuilder event = set_level().side(side);
      event.event.price_nanos = level.price_tenths * 100'000'000;
      event.event.quantity_nanos = level.quantity_e8 * 10;
      feed(event);
    }
  }
  feed(EventBuilder(EventKind::kExpectChecksum).order(3'310'070'434).end());
  EXPECT_EQ(feed.oracle.counters().checksums_compared, 1U);
  EXPECT_EQ(feed.oracle.counters().checksums_equal, 1U);
  EXPECT_TRUE(feed.book.trusted());

  feed(EventBuilder(EventKind::kExpectChecksum).order(3'310'070'435).end());
  EXPECT_EQ(feed.oracle.counters().checksums_equal, 1U);
  EXPECT_FALSE(feed.book.trusted());
  // A book known to be wrong is not compared; a snapshot heals it.
  feed(EventBuilder(EventKind::kExpectChecksum).order(3'310'070'434).end());
  EXPECT_EQ(feed.oracle.counters().checksums_compared, 2U);
  feed(clear().flag(Quality::kSnapshot).end());
  EXPECT_TRUE(feed.book.trusted());
  feed(EventBuilder(EventKind::kExpectChecksum).order(0).end());  // of nothing
  EXPECT_EQ(feed.oracle.counters().checksums_equal, 2U);
}

TEST(BookOracle, ComparesNoChecksumWhereTheDecimalsAreNotKnown) {
  Feed feed;
  feed(clear().flag(Quality::kSnapshot).end());
  feed(EventBuilder(EventKind::kExpectChecksum).order(5).end());
  EXPECT_EQ(feed.oracle.counters().checksums_compared, 0U);
  EXPECT_TRUE(feed.book.trusted());
}

}  // namespace
}  // namespace tocsin
