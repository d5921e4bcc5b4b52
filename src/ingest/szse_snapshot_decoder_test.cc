#include "ingest/szse_snapshot_decoder.h"

#include <gtest/gtest.h>

#include "base/allocation_counter.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

struct TickRow {
  std::string time = "09:30:03.000";
  std::string symbol = "000400.SZ";
  std::string volume = "1000";
  std::string value = "20000";
  std::string last = "20";
  std::string phase = "3";
  std::string bid = "19.989999999999998";
  std::string ask = "20.01";
};

std::string table_of(const std::vector<TickRow>& rows) {
  std::string text = "MDDate,MDTime,SecurityID,TotalVolumeTrade,TotalValueTrade,LastPx";
  for (const char* name : {"BuyPrice", "BuyOrderQty", "SellPrice", "SellOrderQty"}) {
    for (int i = 1; i <= 10; ++i) text += "," + std::string(name) + std::to_string(i);
  }
  text += ",TradingPhaseCode\n";
  for (const TickRow& row : rows) {
    text += "2022.06.01," + row.time + "," + row.symbol + "," + row.volume + "," + row.value + "," +
            row.last;
    for (const std::string& first : {row.bid, std::string("500"), row.ask, std::string("700")}) {
      text += "," + first;
      for (int i = 2; i <= 10; ++i) text += ",0";
    }
    text += "," + row.phase + "\n";
  }
  return text;
}

std::unique_ptr<ByteStream> stream_of(const std::string& text) {
  return make_memory_stream("tick.csv", std::as_bytes(std::span(text.data(), text.size())));
}

DrainedSource drained(const std::vector<TickRow>& rows, std::vector<std::string> symbols = {}) {
  const std::string text = table_of(rows);
  return drain_made(SzseSnapshotDecoder::open(stream_of(text), std::move(symbols)));
}

TEST(SzseSnapshotDecoder, ARowRestatesTheBook) {
  const DrainedSource source = drained({{}});
  EXPECT_EQ(source.kinds(), (std::vector<EventKind>{EventKind::kStatus, EventKind::kClear,
                                                    EventKind::kSetLevel, EventKind::kSetLevel}));
  EXPECT_EQ(source.events[0].status, TradingStatus::kTrading);
  EXPECT_TRUE(source.events[1].quality.has(Quality::kSnapshot));
  EXPECT_EQ(source.events[2].side, Side::kBid);
  EXPECT_EQ(source.events[2].price_nanos, 19'990'000'000);
  EXPECT_EQ(source.events[2].quantity_nanos, 500'000'000'000);
  EXPECT_EQ(source.events[3].side, Side::kAsk);
  EXPECT_TRUE(source.events[3].end_of_update);
  EXPECT_EQ(source.events[0].exchange_time_ns, 1'654'047'003'000'000'000);  // 01:30:03 UTC
}

TEST(SzseSnapshotDecoder, APrintHasASideOnlyWhereAllOfItWasMadeAtTheAskOrTheBid) {
  const DrainedSource source = drained({{},
                                        {.volume = "1300", .value = "26003"},
                                        {.volume = "1500", .value = "30001"},
                                        {.volume = "1600", .value = "32001.50", .last = "20.01"}});
  std::vector<MarketEvent> prints;
  for (const MarketEvent& event : source.events)
    if (event.kind == EventKind::kTrade) prints.push_back(event);
  ASSERT_EQ(prints.size(), 3U);
  EXPECT_EQ(prints[0].side, Side::kBid);  // 300 x 20.01: a buyer came
  EXPECT_EQ(prints[0].price_nanos, 20'010'000'000);
  EXPECT_EQ(prints[0].quantity_nanos, 300'000'000'000);
  EXPECT_EQ(prints[1].side, Side::kAsk);  // 200 x 19.99
  EXPECT_EQ(prints[1].price_nanos, 19'990'000'000);
  EXPECT_EQ(prints[2].side, Side::kNone);  // 100 x 20.005
  EXPECT_EQ(prints[2].price_nanos, 20'010'000'000);
}

TEST(SzseSnapshotDecoder, AnAuctionShowsNoBook) {
  const DrainedSource source = drained({{.phase = "1", .bid = "20", .ask = "20"}, {.phase = "2"}});
  EXPECT_EQ(source.kinds(), (std::vector<EventKind>{EventKind::kStatus, EventKind::kClear,
                                                    EventKind::kStatus, EventKind::kClear,
                                                    EventKind::kSetLevel, EventKind::kSetLevel}));
  EXPECT_EQ(source.events[0].status, TradingStatus::kAuction);
  EXPECT_EQ(source.events[2].status, TradingStatus::kHalted);
}

TEST(SzseSnapshotDecoder, WhatCannotBeReadIsCountedByKind) {
  const DrainedSource source = drained({{},
                                        {.volume = "900"},
                                        {.time = "x"},
                                        {.phase = "T"},
                                        {.value = "-1"},
                                        {.bid = "99999999999"}});
  EXPECT_EQ(source.counters.malformed, 2U);
  EXPECT_EQ(source.counters.bad_quantity, 3U);  // the volume that fell is one; its book stands
  EXPECT_EQ(source.counters.records, 6U);
  EXPECT_EQ(source.count(EventKind::kClear), 2U);
}

TEST(SzseSnapshotDecoder, EachSymbolHasItsOwnTime) {
  const DrainedSource source = drained({{.time = "10:00:00.000"},
                                        {.time = "09:30:00.000", .symbol = "300274.SZ"},
                                        {.time = "09:59:57.000"}});
  EXPECT_EQ(source.instruments.size(), 2U);
  EXPECT_EQ(source.counters.time_backwards, 1U);
}

TEST(SzseSnapshotDecoder, SymbolsNotAskedForArePassedOver) {
  const DrainedSource source = drained({{.symbol = "300274.SZ", .volume = "x"}, {}}, {"000400.SZ"});
  EXPECT_EQ(source.counters.filtered, 1U);
  EXPECT_EQ(source.counters.malformed, 0U);
}

TEST(SzseSnapshotDecoder, AllocatesNothingAfterWarmUp) {
  const std::string text = table_of(std::vector<TickRow>(300));
  auto opened = SzseSnapshotDecoder::open(stream_of(text), {});
  ASSERT_TRUE(opened.ok());
  EventBatch batch;
  std::uint64_t allocations = 0;
  std::uint64_t records = 0;
  std::uint64_t before = allocation_count();
  while ((*opened)->next(batch) == SourceStatus::kEvents) {
    if (++records > 10) allocations += allocation_count() - before;
    before = allocation_count();
  }
  EXPECT_EQ(records, 300U);
  EXPECT_EQ(allocations, 0U);
}

}  // namespace
}  // namespace tocsin
