// Shanghai's book against its own 10-level snapshots over a whole real day, and Shenzhen's
// snapshots: the figures that docs/feeds.md states.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "features/book_oracle.h"
#include "features/order_book.h"
#include "ingest/source.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

const std::string kShanghaiDay = "cn_l2/ddb_600519_20230201_entrust_snapshot_trade.zip";
const std::string kShenzhenDay = "cn_l2/ddb_SZ_tick10_20220601.zip";

struct DayRun {
  std::vector<OrderBook> books;
  std::vector<BookOracle> oracles;
  std::map<std::string, std::uint64_t> by_type;
  std::map<TradingStatus, std::uint64_t> updates_by_status;
  std::map<TradingStatus, std::uint64_t> traded_units_by_status;
  std::uint64_t untrusted_updates = 0;
  SourceCounters counters;

  explicit DayRun(const std::string& path) {
    FileSourceOptions options;
    options.path = path;
    auto opened = open_file_source(options);
    if (!opened.ok()) {
      ADD_FAILURE() << opened.error().message();
      return;
    }
    Source& source = **opened;
    EventBatch batch;
    SourceStatus status = source.next(batch);
    for (; status == SourceStatus::kEvents; status = source.next(batch)) {
      for (const MarketEvent& event : batch) take_in(event);
    }
    EXPECT_EQ(status, SourceStatus::kEnd) << source.error().message();
    counters = source.counters();
    for (const auto& [name, count] : source.counts_by_type()) by_type[name] = count;
  }

  void take_in(const MarketEvent& event) {
    while (books.size() <= event.instrument) {
      books.emplace_back();
      oracles.emplace_back();
    }
    OrderBook& book = books[event.instrument];
    book.apply(event);
    oracles[event.instrument].on_event(event, book);
    if (event.kind == EventKind::kTrade || event.kind == EventKind::kExecuteOrder) {
      traded_units_by_status[book.status()] +=
          static_cast<std::uint64_t>(event.quantity_nanos / 1'000'000'000);
    }
    if (!event.end_of_update) return;
    ++updates_by_status[book.status()];
    if (!book.trusted()) ++untrusted_updates;
  }
};

// 4,847 snapshots of continuous trading and 42 of the book after the close: all ten levels, with
// their order counts, are those of a state of the book before the next trade. 191 of the two call
// auctions show what would trade; seven of these are of a state 2 to 17 s older than their time.
TEST(ShanghaiBook, HoldsEverySnapshotOfADay) {
  const std::string path = tocsin_data_path(kShanghaiDay);
  if (path.empty()) GTEST_SKIP() << kShanghaiDay << " is not at TOCSIN_DATA";
  const DayRun run(path);
  ASSERT_EQ(run.books.size(), 1U);
  SnapshotCounters expected{
      .compared = 5'080, .equal = 5'073, .auction_compared = 191, .auction_equal = 184};
  expected.mismatches[static_cast<std::size_t>(SnapshotMismatch::kAuctionMatch)] = 7;
  EXPECT_EQ(run.oracles[0].counters().snapshots, expected);
  EXPECT_EQ(run.books[0].counters(), OrderBookCounters{});
  EXPECT_EQ(run.untrusted_updates, 0U);
  EXPECT_EQ(run.books[0].order_count(), 3'401U);
  EXPECT_EQ(run.counters.records, 54'735U + 27'135U + 5'109U);
  EXPECT_EQ(run.counters.malformed + run.counters.bad_quantity + run.counters.time_backwards, 0U);
}

TEST(ShanghaiBook, TellsAuctionsFromContinuousTrading) {
  const std::string path = tocsin_data_path(kShanghaiDay);
  if (path.empty()) GTEST_SKIP() << kShanghaiDay << " is not at TOCSIN_DATA";
  DayRun run(path);
  const std::map<std::string, std::uint64_t> by_type = {
      {"order_add", 39'067},   {"order_delete", 15'668},  {"trade_buy", 12'601},
      {"trade_sell", 13'971},  {"trade_auction", 563},    {"snapshot_START", 29},
      {"snapshot_OCALL", 127}, {"snapshot_TRADE", 4'847}, {"snapshot_CCALL", 64},
      {"snapshot_CLOSE", 6},   {"snapshot_ENDTR", 36}};
  EXPECT_EQ(run.by_type, by_type);
  // Of 3,397,389 shares on the day, as its last snapshot says.
  EXPECT_EQ(run.traded_units_by_status[TradingStatus::kTrading], 3'318'677U);
  EXPECT_EQ(run.traded_units_by_status[TradingStatus::kAuction], 78'712U);
  EXPECT_EQ(run.updates_by_status[TradingStatus::kClosed], 0U);
  EXPECT_EQ(run.updates_by_status[TradingStatus::kUnknown], 0U);
}

// Of the rows with a new volume, 2,916 traded all of it at the ask of the row before, 2,132 at its
// bid: only these prints have a side.
TEST(ShenzhenSnapshots, RestateFiveBooksOfADay) {
  const std::string path = tocsin_data_path(kShenzhenDay);
  if (path.empty()) GTEST_SKIP() << kShenzhenDay << " is not at TOCSIN_DATA";
  DayRun run(path);
  const std::map<std::string, std::uint64_t> by_type = {
      {"snapshot_open_call", 230}, {"snapshot_opened", 25},     {"snapshot_trade", 20'176},
      {"snapshot_break", 442},     {"snapshot_close_call", 92}, {"snapshot_closed", 15},
      {"print_at_ask", 2'916},     {"print_at_bid", 2'132},     {"print_mixed", 11'798}};
  EXPECT_EQ(run.by_type, by_type);
  EXPECT_EQ(run.books.size(), 5U);
  EXPECT_EQ(run.counters.records, 20'980U);
  EXPECT_EQ(run.counters.malformed + run.counters.bad_quantity + run.counters.time_backwards, 0U);
  EXPECT_EQ(run.untrusted_updates, 0U);
  for (const OrderBook& book : run.books) EXPECT_EQ(book.counters(), OrderBookCounters{});
}

}  // namespace
}  // namespace tocsin
