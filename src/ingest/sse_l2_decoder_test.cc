#include "ingest/sse_l2_decoder.h"

#include <gtest/gtest.h>

#include "base/allocation_counter.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

constexpr std::int64_t kYuan = 1'000'000'000;

std::unique_ptr<ByteStream> stream_of(const char* name, const std::string& text) {
  return make_memory_stream(std::string("20230201/") + name,
                            std::as_bytes(std::span(text.data(), text.size())));
}

// Three tables, row by row; `biz` numbers orders and trades.
struct Tables {
  std::string orders =
      "OrderIndex,OrderChannel,SecurityID,OrderTime,OrderType,OrderNO,OrderPrice,Balance,"
      "OrderBSFlag,BizIndex,LocalTime\n";
  std::string trades =
      "TradChan,TradeChan,SecurityID,TradTime,TradPrice,TradVolume,TradeBuyNo,TradeSellNo,"
      "TradeBSFlag,BizIndex,LocalTime\n";
  std::string snapshots = header_of_snapshots();

  static std::string header_of_snapshots() {
    std::string header = "UpdateTime,SecurityID,InstruStatus,TradNumber,TradVolume,LocalTime";
    for (int i = 1; i <= 10; ++i) {
      const std::string n = std::to_string(i);
      header += ",BidPrice" + n + ",BidVolume" + n + ",NumOrdersB" + n;
      header += ",AskPrice" + n + ",AskVolume" + n + ",NumOrdersS" + n;
    }
    return header + "\n";
  }
  Tables& order(const std::string& time, const std::string& type, int no, const std::string& price,
                int quantity, const std::string& side, int biz,
                const std::string& code = "600519") {
    orders += "1,6," + code + "," + time + "," + type + "," + std::to_string(no) + "," + price +
              "," + std::to_string(quantity) + "," + side + "," + std::to_string(biz) + "," + time +
              "\n";
    return *this;
  }
  Tables& trade(const std::string& time, const std::string& price, int quantity, int buy, int sell,
                const std::string& side, int biz) {
    trades += "1,6,600519," + time + "," + price + "," + std::to_string(quantity) + "," +
              std::to_string(buy) + "," + std::to_string(sell) + "," + side + "," +
              std::to_string(biz) + "," + time + "\n";
    return *this;
  }
  // One level a side; a quantity of 0: none.
  Tables& snapshot(const std::string& time, const std::string& phase, int trade_count, int volume,
                   int bid, int ask) {
    snapshots += time + ",600519," + phase + "," + std::to_string(trade_count) + "," +
                 std::to_string(volume) + "," + time;
    snapshots += (bid > 0 ? ",9.99,100,1" : ",,,") + std::string(ask > 0 ? ",10.01,100,1" : ",,,");
    for (int i = 2; i <= 10; ++i) snapshots += ",,,,,,";
    snapshots += "\n";
    return *this;
  }
  DrainedSource drained(std::vector<std::string> symbols = {}) const {
    return drain_made(
        SseL2Decoder::open({stream_of("entrust.csv", orders), stream_of("trade.csv", trades),
                            stream_of("snapshot.csv", snapshots)},
                           std::move(symbols)));
  }
};

TEST(SseL2Decoder, MergesOrdersAndTradesByBizIndex) {
  const DrainedSource drained = Tables()
                                    .order("09:30:00.100", "A", 1, "9.99", 100, "B", 11)
                                    .trade("09:30:00.200", "9.99", 60, 1, 2, "S", 12)
                                    .order("09:30:00.200", "A", 3, "10.01", 50, "S", 13)
                                    .trade("09:30:00.300", "10.01", 50, 4, 3, "B", 14)
                                    .order("09:30:00.400", "D", 1, "9.99", 40, "B", 15)
                                    .drained();
  EXPECT_EQ(drained.error, "");
  EXPECT_EQ(drained.kinds(), (std::vector<EventKind>{EventKind::kAddOrder, EventKind::kExecuteOrder,
                                                     EventKind::kAddOrder, EventKind::kExecuteOrder,
                                                     EventKind::kDeleteOrder}));
  const MarketEvent& sold = drained.events[1];
  EXPECT_EQ(sold.order_id, 1U);  // the buyer rested; order 2 is never seen
  EXPECT_EQ(sold.side, Side::kBid);
  EXPECT_EQ(sold.price_nanos, 9'990'000'000);
  EXPECT_EQ(sold.quantity_nanos, 60 * kYuan);
  EXPECT_EQ(sold.sequence, 12U);
  EXPECT_EQ(drained.events[3].order_id, 3U);
  EXPECT_EQ(drained.events[3].side, Side::kAsk);
  // 2023-02-01 01:30:00.1 UTC
  EXPECT_EQ(drained.events[0].exchange_time_ns, 1'675'215'000'100'000'000);
  for (const MarketEvent& event : drained.events) EXPECT_TRUE(event.end_of_update);
}

TEST(SseL2Decoder, AnAuctionTradeTakesFromBothOrders) {
  const DrainedSource drained = Tables()
                                    .order("09:15:00.100", "A", 1, "10.00", 100, "B", 1)
                                    .order("09:15:00.200", "A", 2, "9.00", 100, "S", 2)
                                    .trade("09:25:00.900", "9.50", 100, 1, 2, "N", 3)
                                    .drained();
  EXPECT_EQ(drained.kinds(), (std::vector<EventKind>{EventKind::kClear, EventKind::kAddOrder,
                                                     EventKind::kAddOrder, EventKind::kReduceOrder,
                                                     EventKind::kReduceOrder, EventKind::kTrade}));
  EXPECT_TRUE(drained.events[0].quality.has(Quality::kSnapshot));
  EXPECT_EQ(drained.events[3].order_id, 1U);
  EXPECT_EQ(drained.events[4].order_id, 2U);
  EXPECT_EQ(drained.events[5].side, Side::kNone);
}

TEST(SseL2Decoder, ASnapshotComesWhenItsTradesAreMade) {
  const DrainedSource drained = Tables()
                                    .order("09:15:00.000", "A", 1, "9.99", 100, "B", 1)
                                    .order("09:30:03.100", "A", 2, "10.01", 200, "S", 2)
                                    .trade("09:30:03.900", "10.01", 100, 9, 2, "B", 3)
                                    .order("09:30:05.000", "A", 5, "9.00", 100, "B", 4)
                                    .snapshot("09:14:00.000", "OCALL", 0, 0, 0, 0)
                                    .snapshot("09:30:03.000", "TRADE", 1, 100, 1, 1)
                                    .drained();
  EXPECT_EQ(drained.counters.gaps, 0U);
  EXPECT_EQ(drained.kinds(),
            (std::vector<EventKind>{
                EventKind::kStatus, EventKind::kExpectSnapshot, EventKind::kExpectLevel,
                EventKind::kExpectLevel, EventKind::kClear, EventKind::kAddOrder,
                EventKind::kAddOrder, EventKind::kExecuteOrder, EventKind::kStatus,
                EventKind::kExpectSnapshot, EventKind::kExpectLevel, EventKind::kExpectLevel,
                EventKind::kExpectLevel, EventKind::kExpectLevel, EventKind::kAddOrder}));
  EXPECT_EQ(drained.events[0].status, TradingStatus::kAuction);
  EXPECT_EQ(drained.events[8].status, TradingStatus::kTrading);
  EXPECT_EQ(drained.events[9].level_index, 4U);
  EXPECT_EQ(drained.events[9].order_id, 1U);
  EXPECT_EQ(drained.events[10].price_nanos, 9'990'000'000);
  EXPECT_EQ(drained.events[10].order_id, 1U);
}

TEST(SseL2Decoder, MissingTradesAreAGapToldByTheSnapshot) {
  const DrainedSource drained = Tables()
                                    .order("09:15:00.000", "A", 1, "9.99", 100, "B", 1)
                                    .order("09:30:09.000", "A", 2, "9.98", 100, "B", 2)
                                    .snapshot("09:30:03.000", "TRADE", 3, 700, 1, 1)
                                    .drained();
  EXPECT_EQ(drained.counters.gaps, 1U);
  EXPECT_EQ(drained.counters.missing, 3U);
  EXPECT_TRUE(drained.events[3].quality.has(Quality::kGap));
}

TEST(SseL2Decoder, AnotherVolumeIsAGapToo) {
  const DrainedSource drained = Tables()
                                    .order("09:15:00.000", "A", 2, "10.01", 100, "S", 1)
                                    .trade("09:30:03.100", "10.01", 100, 9, 2, "B", 2)
                                    .snapshot("09:30:03.000", "TRADE", 1, 200, 0, 0)
                                    .drained();
  EXPECT_EQ(drained.counters.gaps, 1U);
}

TEST(SseL2Decoder, RowsThatCannotBeReadAreCountedAndFlagTheNextEvent) {
  Tables tables;
  tables.order("09:30:00.000", "A", 1, "9.99", 100, "B", 1)
      .order("09:30:00.000", "X", 2, "9.99", 100, "B", 2)
      .order("09:30:00.000", "A", 3, "99999999999", 100, "B", 3)
      .order("09:30:00.000", "A", 4, "9.99", 0, "B", 4)
      .order("09:30:00.000", "A", 5, "9.98", 100, "B", 5);
  tables.orders += "1,2,3\n";
  const DrainedSource drained = tables.drained();
  EXPECT_EQ(drained.counters.malformed, 2U);
  EXPECT_EQ(drained.counters.bad_quantity, 2U);
  ASSERT_EQ(drained.events.size(), 2U);
  EXPECT_TRUE(drained.events[1].quality.has(Quality::kGap));
  ASSERT_EQ(drained.faults.size(), 4U);
  EXPECT_EQ(drained.faults[0].message, "expected an OrderType of A or D, found \"X\"");
}

TEST(SseL2Decoder, SecuritiesNotAskedForArePassedOver) {
  const DrainedSource drained = Tables()
                                    .order("09:30:00.000", "A", 1, "9.99", 100, "B", 1)
                                    .order("09:30:00.000", "A", 2, "x", 100, "B", 2, "600000")
                                    .drained({"600519"});
  EXPECT_EQ(drained.counters.filtered, 1U);
  EXPECT_EQ(drained.counters.malformed, 0U);
  EXPECT_EQ(drained.events.size(), 1U);
}

TEST(SseL2Decoder, RepeatedNumbersAreNotApplied) {
  const DrainedSource drained = Tables()
                                    .order("09:30:00.000", "A", 1, "9.99", 100, "B", 2)
                                    .order("09:30:00.000", "A", 1, "9.99", 100, "B", 2)
                                    .order("09:30:00.000", "A", 3, "9.99", 100, "B", 1)
                                    .drained();
  EXPECT_EQ(drained.counters.duplicates, 1U);
  EXPECT_EQ(drained.counters.out_of_order, 1U);
  EXPECT_TRUE(drained.events[1].quality.has(Quality::kDuplicate));
  EXPECT_FALSE(drained.events[1].end_of_update);
}

TEST(SseL2Decoder, AHeaderWithoutAColumnIsAnErrorThatNamesIt) {
  Tables tables;
  tables.trades = "SecurityID,TradTime\n";
  const DrainedSource drained = tables.drained();
  EXPECT_EQ(drained.code, ErrorCode::kDataLoss);
  EXPECT_NE(drained.error.find("trade.csv: the header has no column \"LocalTime\""),
            std::string::npos)
      << drained.error;
}

TEST(SseL2Decoder, AllocatesNothingAfterWarmUp) {
  Tables tables;
  for (int i = 1; i < 4'000; ++i) {
    const std::string time = "09:3" + std::to_string(i / 600) + ":" +
                             (i / 10 % 60 < 10 ? "0" : "") + std::to_string(i / 10 % 60) + "." +
                             std::to_string(i % 10);
    tables.order(time, "A", i, "9.99", 100, "B", i);
    if (i % 30 == 0) tables.snapshot(time.substr(0, 8), "TRADE", 0, 0, 1, 0);
  }
  auto opened = SseL2Decoder::open(
      {stream_of("entrust.csv", tables.orders), stream_of("trade.csv", tables.trades),
       stream_of("snapshot.csv", tables.snapshots)},
      {});
  ASSERT_TRUE(opened.ok());
  EventBatch batch;
  std::uint64_t records = 0;
  std::uint64_t allocations = 0;
  std::uint64_t before = allocation_count();
  while ((*opened)->next(batch) == SourceStatus::kEvents) {
    if (++records > 2'000) allocations += allocation_count() - before;
    before = allocation_count();
  }
  EXPECT_EQ(records, 3'999U + 133U);
  EXPECT_EQ(allocations, 0U);
}

}  // namespace
}  // namespace tocsin
