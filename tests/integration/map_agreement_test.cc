// The same recording by the built-in decoder and by a map: the same book, event by event.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "ingest/source.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

std::vector<MarketEvent> events_of(const std::string& map_path,
                                   std::vector<Instrument>& instruments) {
  FileSourceOptions options;
  options.path = tocsin_source_path("data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz");
  options.map_path = map_path;
  auto source = open_file_source(options);
  EXPECT_TRUE(source.ok()) << source.error().message();
  std::vector<MarketEvent> events;
  EventBatch batch;
  while ((*source)->next(batch) == SourceStatus::kEvents)
    events.insert(events.end(), batch.begin(), batch.end());
  EXPECT_EQ((*source)->counters().malformed, 0U);
  instruments.assign((*source)->instruments().begin(), (*source)->instruments().end());
  return events;
}

TEST(FeedMap, MakesTheSameEventsOfBinanceAsTheBuiltInDecoder) {
  std::vector<Instrument> built_in_instruments;
  std::vector<Instrument> mapped_instruments;
  const auto built_in = events_of("", built_in_instruments);
  const auto mapped =
      events_of(tocsin_source_path("config/maps/binance_usdm.yaml"), mapped_instruments);
  ASSERT_EQ(built_in_instruments.size(), 1U);
  ASSERT_EQ(mapped_instruments.size(), 1U);
  EXPECT_EQ(mapped_instruments[0].symbol, built_in_instruments[0].symbol);
  EXPECT_EQ(mapped_instruments[0].price_tick_nanos, built_in_instruments[0].price_tick_nanos);
  EXPECT_EQ(mapped_instruments[0].quantity_step_nanos, built_in_instruments[0].quantity_step_nanos);
  ASSERT_EQ(mapped.size(), built_in.size());
  ASSERT_GT(mapped.size(), 100'000U);
  std::size_t different = 0;
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    const MarketEvent& a = mapped[i];
    const MarketEvent& b = built_in[i];
    const bool equal = a.exchange_time_ns == b.exchange_time_ns &&
                       a.receive_time_ns == b.receive_time_ns && a.sequence == b.sequence &&
                       a.record == b.record && a.order_id == b.order_id &&
                       a.price_nanos == b.price_nanos && a.quantity_nanos == b.quantity_nanos &&
                       a.kind == b.kind && a.side == b.side && a.quality == b.quality &&
                       a.end_of_update == b.end_of_update;
    if (!equal && ++different == 1)
      ADD_FAILURE() << "first at event " << i << " of record " << a.record;
  }
  EXPECT_EQ(different, 0U);
}

}  // namespace
}  // namespace tocsin
