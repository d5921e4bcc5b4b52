#include "features/auction_match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "features/event_builder.h"

namespace tocsin {
namespace {

using testing::add_order;
using testing::kTick;
using testing::kUnit;

struct Quote {
  bool bid;
  std::int64_t ticks;
  std::int64_t units;
};

OrderBook book_of(const std::vector<Quote>& quotes) {
  OrderBook book;
  std::uint64_t id = 0;
  for (const Quote& quote : quotes) {
    book.apply(add_order(++id)
                   .side(quote.bid ? Side::kBid : Side::kAsk)
                   .ticks(quote.ticks)
                   .units(quote.units));
  }
  return book;
}

AuctionMatch match_of(const std::vector<Quote>& quotes) {
  AuctionMatcher matcher;
  return matcher.match(book_of(quotes));
}

// Every price tried, every order looked at.
AuctionMatch naive_match(const std::vector<Quote>& quotes) {
  std::set<std::int64_t> prices;
  for (const Quote& quote : quotes) prices.insert(quote.ticks);
  AuctionMatch best;
  for (const std::int64_t price : prices) {
    std::int64_t bid = 0;
    std::int64_t ask = 0;
    for (const Quote& quote : quotes) {
      if (quote.bid && quote.ticks >= price) bid += quote.units * kUnit;
      if (!quote.bid && quote.ticks <= price) ask += quote.units * kUnit;
    }
    const std::int64_t matched = std::min(bid, ask);
    const std::int64_t unmatched = std::max(bid, ask) - matched;
    if (matched == 0) continue;
    if (matched > best.matched_nanos ||
        (matched == best.matched_nanos && unmatched < best.unmatched_nanos)) {
      best = {matched, unmatched, price * kTick, price * kTick};
    } else if (matched == best.matched_nanos && unmatched == best.unmatched_nanos) {
      best.price_nanos_max = price * kTick;
    }
  }
  return best;
}

TEST(AuctionMatch, NothingWhereTheBookIsNotCrossed) {
  EXPECT_EQ(match_of({}), AuctionMatch{});
  EXPECT_EQ(match_of({{true, 100, 5}}), AuctionMatch{});
  EXPECT_EQ(match_of({{true, 100, 5}, {false, 101, 5}}), AuctionMatch{});
}

TEST(AuctionMatch, ThePriceThatTradesMost) {
  // At 100: 8 bid, 6 asked. At 101: 5 bid, 6 asked.
  const AuctionMatch expected{6 * kUnit, 2 * kUnit, 100 * kTick, 100 * kTick};
  EXPECT_EQ(match_of({{true, 101, 5}, {true, 100, 3}, {false, 99, 4}, {false, 100, 2}}), expected);
}

TEST(AuctionMatch, AllPricesBetweenTwoOrdersAreEqualWhereBothAreFilled) {
  const AuctionMatch expected{5 * kUnit, 0, 90 * kTick, 110 * kTick};
  EXPECT_EQ(match_of({{true, 110, 5}, {false, 90, 5}}), expected);
}

TEST(AuctionMatch, AgreesWithTryingEveryPrice) {
  std::mt19937 random(20'230'201);
  for (int trial = 0; trial < 2'000; ++trial) {
    std::vector<Quote> quotes(random() % 30);
    for (Quote& quote : quotes) {
      quote = {random() % 2 == 0, 100 + static_cast<std::int64_t>(random() % 12),
               1 + static_cast<std::int64_t>(random() % 9)};
    }
    ASSERT_EQ(match_of(quotes), naive_match(quotes)) << "trial " << trial;
  }
}

}  // namespace
}  // namespace tocsin
