// The bundled Binance recording: whole, cut off, shuffled, and with a naive book beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <random>

#include "base/allocation_counter.h"
#include "ingest/binance_decoder.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::vector<char>& recording() {
  static const std::vector<char> bytes =
      read_file(tocsin_source_path("data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz"));
  return bytes;
}

std::string recording_text() {
  const auto stream = make_memory_stream("recording", std::as_bytes(std::span(recording())));
  std::string text;
  for (std::string_view line; stream->next_line(line);) {
    text += line;
    text += '\n';
  }
  return text;
}

// A book in a map, and the tops that the feed itself states, compared wherever both stand at the
// same update id, whichever came first.
class TopComparison {
 public:
  void on_event(const MarketEvent& event) {
    if (event.kind == EventKind::kClear) {
      bids_.clear();
      asks_.clear();
    } else if (event.kind == EventKind::kSetLevel) {
      auto& side = event.side == Side::kBid ? bids_ : asks_;
      const std::int64_t key = event.side == Side::kBid ? -event.price_nanos : event.price_nanos;
      if (event.quantity_nanos == 0) {
        side.erase(key);
      } else {
        side[key] = event.quantity_nanos;
      }
      if (event.end_of_update) compare(update_id_ = event.sequence);
    } else if (event.kind == EventKind::kExpectTop) {
      stated_[event.sequence][event.side == Side::kBid ? 0 : 1] = {event.price_nanos,
                                                                   event.quantity_nanos};
      if (event.side == Side::kAsk && event.sequence == update_id_) compare(update_id_);
    }
  }
  int compared = 0;
  int equal = 0;

 private:
  using Top = std::pair<std::int64_t, std::int64_t>;

  void compare(std::uint64_t id) {
    const auto stated = stated_.find(id);
    if (stated == stated_.end() || bids_.empty() || asks_.empty()) return;
    ++compared;
    const Top bid{-bids_.begin()->first, bids_.begin()->second};
    const Top ask{asks_.begin()->first, asks_.begin()->second};
    equal += stated->second[0] == bid && stated->second[1] == ask ? 1 : 0;
  }

  std::uint64_t update_id_ = 0;
  std::map<std::int64_t, std::int64_t> bids_, asks_;
  std::map<std::uint64_t, std::array<Top, 2>> stated_;
};

TEST(BinanceRecording, IsDecodedWholeAndItsBookAgreesWithTheStatedTops) {
  BinanceDecoder decoder(make_memory_stream("recording", std::as_bytes(std::span(recording()))),
                         {});
  EventBatch batch;
  TopComparison tops;
  std::uint64_t trades = 0;
  std::uint64_t first_record_with_events = 0;
  while (decoder.next(batch) == SourceStatus::kEvents) {
    if (!batch.empty() && first_record_with_events == 0) {
      first_record_with_events = batch.front().record;
    }
    for (const MarketEvent& event : batch) {
      ASSERT_EQ(event.record, decoder.counters().records);
      ASSERT_FALSE(event.quality.has(Quality::kGap));
      tops.on_event(event);
      trades += event.kind == EventKind::kTrade ? 1 : 0;
    }
  }
  EXPECT_EQ(first_record_with_events, 55U);
  EXPECT_EQ(decoder.counters().records, 93'954U);
  EXPECT_EQ(decoder.counts_by_type(),
            (std::vector<std::pair<std::string, std::uint64_t>>{
                {"depthUpdate", 6551}, {"bookTicker", 66089}, {"trade", 21313}, {"snapshot", 1}}));
  EXPECT_EQ(decoder.counters().gaps, 0U);
  EXPECT_EQ(decoder.counters().malformed, 0U);
  EXPECT_EQ(decoder.counters().duplicates, 0U);
  EXPECT_EQ(decoder.counters().out_of_order, 0U);
  EXPECT_EQ(decoder.counters().time_backwards, 0U);
  EXPECT_TRUE(decoder.faults().empty());
  EXPECT_EQ(tops.compared, 629);
  EXPECT_EQ(tops.equal, 629);
  ASSERT_EQ(decoder.instruments().size(), 1U);
  EXPECT_EQ(decoder.instruments()[0].price_tick_nanos, 100'000'000);
  EXPECT_EQ(decoder.instruments()[0].quantity_step_nanos, 1'000'000);
  std::printf(
      "%llu events, %llu trades, %llu messages before the snapshot ignored, %d tops equal\n",
      static_cast<unsigned long long>(decoder.counters().events),
      static_cast<unsigned long long>(trades),
      static_cast<unsigned long long>(decoder.counters().ignored), tops.equal);
}

TEST(BinanceRecording, AllocatesNothingInItsSecondHalf) {
  BinanceDecoder decoder(make_memory_stream("recording", std::as_bytes(std::span(recording()))),
                         {});
  EventBatch batch;
  for (int i = 0; i < 47'000; ++i) ASSERT_EQ(decoder.next(batch), SourceStatus::kEvents);
  const std::uint64_t before = allocation_count();
  std::uint64_t records = 0;
  while (decoder.next(batch) == SourceStatus::kEvents) ++records;
  EXPECT_EQ(allocation_count() - before, 0U);
  EXPECT_EQ(records, 93'954U - 47'000U);
}

TEST(BinanceRecording, TruncatedYieldsEverythingBeforeTheCut) {
  const auto whole = std::as_bytes(std::span(recording()));
  BinanceDecoder decoder(make_memory_stream("cut.gz", whole.first(whole.size() / 2)), {});
  EventBatch batch;
  SourceStatus status;
  while ((status = decoder.next(batch)) == SourceStatus::kEvents) {
  }
  EXPECT_EQ(status, SourceStatus::kError);
  EXPECT_EQ(decoder.error().code(), ErrorCode::kDataLoss);
  EXPECT_NE(decoder.error().message().find("cut.gz"), std::string::npos);
  EXPECT_NE(decoder.error().message().find("truncated"), std::string::npos);
  EXPECT_GT(decoder.counters().records, 30'000U);
  EXPECT_EQ(decoder.counters().malformed, 0U) << "the line that was cut is not half read";
}

TEST(BinanceRecording, ShuffledIsFlaggedAndNeverTakenForWhole) {
  constexpr std::uint64_t kSeed = 3;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  const std::string text = recording_text();
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    lines.push_back(std::string_view(text).substr(begin, end - begin));
    begin = end;
  }
  std::shuffle(lines.begin() + 60, lines.begin() + 20'000, std::mt19937_64(kSeed));
  std::string shuffled;
  for (std::size_t i = 0; i < 20'000; ++i) shuffled += lines[i];
  BinanceDecoder decoder(make_memory_stream("shuffled", std::as_bytes(std::span(shuffled))), {});
  EventBatch batch;
  SourceStatus status;
  while ((status = decoder.next(batch)) == SourceStatus::kEvents) {
  }
  EXPECT_EQ(status, SourceStatus::kEnd);
  EXPECT_EQ(decoder.counters().malformed, 0U);
  EXPECT_GT(decoder.counters().gaps, 0U);
  EXPECT_GT(decoder.counters().out_of_order, 100U);
  EXPECT_GT(decoder.counters().time_backwards, 1000U);
}

}  // namespace
}  // namespace tocsin
