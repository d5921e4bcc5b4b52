// Messages a second from bytes in memory to events, one core: the decoders alone, without book,
// disk or decompression. Each feed is decoded once beforehand and its events are checked.
// Smoke mode: --benchmark_min_time=0.01
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "ingest/decoders.h"
#include "ingest/feed_bytes.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kMessageCount = 200'000;
constexpr unsigned kSeed = 1;

// What a feed must come out as.
struct Feed {
  Bytes bytes;
  std::uint64_t events = 0;
  std::uint64_t quantity_sum = 0;  // of all events, modulo 2^64
};

using Maker = Result<std::unique_ptr<Source>> (*)(std::unique_ptr<ByteStream>,
                                                  const FileSourceOptions&);

std::uint64_t nanos(std::uint64_t quantity) { return quantity * 1'000'000'000; }

// Orders of 100 stocks that come and go: 45 % added, 45 % deleted, the rest executed and replaced.
std::vector<Bytes> itch_messages(Feed& feed) {
  std::mt19937_64 random(kSeed);
  std::vector<Bytes> messages;
  for (std::uint64_t i = 0; i < kMessageCount; ++i) {
    const ItchHeader header{.locate = static_cast<std::uint16_t>(1 + random() % 100),
                            .time_ns = 34'200'000'000'000 + i * 1'000};
    const auto shares = static_cast<std::uint32_t>(1 + random() % 500);
    const auto price = static_cast<std::uint32_t>(1'000'000 + random() % 10'000);
    const ItchOrder order{.id = i, .shares = shares, .price = price, .symbol = "BENCH"};
    const std::uint64_t draw = random() % 100;
    feed.events += 1;
    if (draw < 45 || i < 1'000) {
      messages.push_back(itch_add(order, header));
      feed.quantity_sum += nanos(shares);
    } else if (draw < 90) {
      messages.push_back(itch_change('D', i, 0, header));
    } else if (draw < 95) {
      messages.push_back(itch_change('E', i, shares, header));
      feed.quantity_sum += nanos(shares);
    } else {
      messages.push_back(itch_replace(i, order, header));
      feed.events += 1;
      feed.quantity_sum += nanos(shares);
    }
  }
  return messages;
}

Feed itch_feed() {
  Feed feed;
  for (const Bytes& message : itch_messages(feed)) append_itch(feed.bytes, message);
  return feed;
}

Feed mold_feed() {
  constexpr std::size_t kMessagesOfPacket = 20;
  Feed feed;
  const std::vector<Bytes> messages = itch_messages(feed);
  std::vector<CapturedFrame> frames;
  for (std::size_t i = 0; i < messages.size(); i += kMessagesOfPacket) {
    const auto first = messages.begin() + static_cast<std::ptrdiff_t>(i);
    frames.push_back({1'692'711'000'000'000'000 + static_cast<std::int64_t>(i) * 1'000,
                      mold_frame({.sequence = 1 + i}, {first, first + kMessagesOfPacket})});
  }
  feed.bytes = pcap_file(frames);
  return feed;
}

Feed mbo_feed() {
  std::mt19937_64 random(kSeed);
  Feed feed;
  feed.bytes = dbn_header();
  for (std::uint64_t i = 0; i < kMessageCount; ++i) {
    const DbnRecord record{.time_ns = 1'700'000'000'000'000'000 + i * 1'000,
                           .sequence = static_cast<std::uint32_t>(i),
                           .action = "ACMACATC"[random() % 8],
                           .side = "AB"[random() % 2],
                           .size = static_cast<std::uint32_t>(1 + random() % 50),
                           .order_id = i};
    const Bytes bytes = dbn_mbo(record);
    feed.bytes.insert(feed.bytes.end(), bytes.begin(), bytes.end());
    feed.events += 1;
    feed.quantity_sum += nanos(record.size);
  }
  return feed;
}

Feed mbp10_feed() {
  constexpr std::uint64_t kRecordCount = kMessageCount / 10;
  Feed feed;
  feed.bytes = dbn_header({.schema = 2});
  for (std::uint64_t i = 0; i < kRecordCount; ++i) {
    std::vector<DbnLevel> levels;
    for (std::int64_t depth = 0; depth < 10; ++depth) {
      levels.push_back({(4'800 - depth) * 1'000'000'000, (4'801 + depth) * 1'000'000'000,
                        static_cast<std::uint32_t>(1 + i % 7), 5});
      feed.quantity_sum += nanos(1 + i % 7 + 5);
    }
    const Bytes bytes = dbn_levels(
        {.time_ns = 1'000 + i, .sequence = static_cast<std::uint32_t>(i), .action = 'A'}, levels);
    feed.bytes.insert(feed.bytes.end(), bytes.begin(), bytes.end());
    feed.events += 21;
  }
  return feed;
}

bool decodes_right(Source& source, const Feed& feed) {
  EventBatch batch;
  std::uint64_t quantity_sum = 0;
  SourceStatus status = SourceStatus::kEvents;
  while ((status = source.next(batch)) == SourceStatus::kEvents) {
    for (const MarketEvent& event : batch) {
      quantity_sum += static_cast<std::uint64_t>(event.quantity_nanos);
    }
  }
  return status == SourceStatus::kEnd && source.counters().events == feed.events &&
         quantity_sum == feed.quantity_sum && source.counters().malformed == 0;
}

void decode_from_memory(benchmark::State& state, const Feed& feed, Maker make) {
  const auto open = [&] { return make(make_memory_stream("bench", feed.bytes), {}); };
  if (!decodes_right(*open().value(), feed)) return state.SkipWithError("wrong events");
  EventBatch batch;
  std::uint64_t records = 0;
  for (auto _ : state) {
    const auto source = open();
    while (source.value()->next(batch) == SourceStatus::kEvents) {
      benchmark::DoNotOptimize(batch.data());
      benchmark::ClobberMemory();
    }
    records += source.value()->counters().records;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(records));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * feed.bytes.size()));
}

void BM_ItchFile(benchmark::State& state) {
  static const Feed feed = itch_feed();
  decode_from_memory(state, feed, make_itch_decoder);
}
void BM_ItchInMoldUdp64(benchmark::State& state) {
  static const Feed feed = mold_feed();
  decode_from_memory(state, feed, make_moldudp64_decoder);
}
void BM_DbnMbo(benchmark::State& state) {
  static const Feed feed = mbo_feed();
  decode_from_memory(state, feed, make_dbn_decoder);
}
void BM_DbnMbp10(benchmark::State& state) {
  static const Feed feed = mbp10_feed();
  decode_from_memory(state, feed, make_dbn_decoder);
}

BENCHMARK(BM_ItchFile)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ItchInMoldUdp64)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DbnMbo)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DbnMbp10)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tocsin

BENCHMARK_MAIN();
