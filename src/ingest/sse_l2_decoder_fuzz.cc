// Any bytes as Shanghai's three tables, cut at lines "%"; a table that does not bring its header is
// given one.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "ingest/sse_l2_decoder.h"

namespace {

std::string header_of(std::size_t table) {
  static constexpr std::array<std::string_view, 3> kHeaders = {
      "SecurityID,OrderTime,LocalTime,OrderChannel,BizIndex,OrderPrice,Balance,OrderType,OrderNO,"
      "OrderBSFlag\n",
      "SecurityID,TradTime,LocalTime,TradeChan,BizIndex,TradPrice,TradVolume,TradeBSFlag,"
      "TradeBuyNo,TradeSellNo\n",
      "SecurityID,UpdateTime,LocalTime,InstruStatus,TradNumber,TradVolume"};
  std::string header(kHeaders[table]);
  if (table < 2) return header;
  for (int level = 1; level <= 10; ++level) {
    for (const char* name :
         {"BidPrice", "BidVolume", "NumOrdersB", "AskPrice", "AskVolume", "NumOrdersS"}) {
      header += "," + std::string(name) + std::to_string(level);
    }
  }
  return header + "\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::array<std::string, 3> tables;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::size_t cut = text.find("%\n");
    tables[i] = std::string(text.substr(0, cut));
    text = cut == std::string_view::npos ? "" : text.substr(cut + 2);
    if (!tables[i].starts_with("SecurityID,")) tables[i].insert(0, header_of(i));
  }
  const auto stream_of = [&tables](std::size_t i) {
    return tocsin::make_memory_stream("20230201",
                                      std::as_bytes(std::span(tables[i].data(), tables[i].size())));
  };
  auto opened = tocsin::SseL2Decoder::open({stream_of(0), stream_of(1), stream_of(2)}, {});
  if (!opened.ok()) return 0;
  tocsin::Source& source = **opened;
  tocsin::EventBatch batch;
  std::uint64_t records = 0;
  std::uint64_t events = 0;
  while (source.next(batch) == tocsin::SourceStatus::kEvents) {
    TOCSIN_ASSERT(source.counters().records == ++records);
    events += batch.size();
    for (const tocsin::MarketEvent& event : batch) {
      TOCSIN_ASSERT(event.record == records);
      TOCSIN_ASSERT(event.price_nanos >= 0 && event.quantity_nanos >= 0);
      TOCSIN_ASSERT(event.instrument < source.instruments().size());
    }
  }
  TOCSIN_ASSERT(source.counters().events == events);
  return 0;
}
