// A real recording of Kraken through decoder, book and oracle: every checksum that the venue sent
// is compared with the rebuilt book's.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "features/book_oracle.h"
#include "features/order_book.h"
#include "ingest/byte_stream.h"
#include "ingest/kraken_decoder.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

struct Books {
  std::vector<OrderBook> books;
  std::vector<BookOracle> oracles;
  std::vector<std::string> symbols;

  void read(const std::string& lines) {
    KrakenDecoder decoder(make_memory_stream("lines", std::as_bytes(std::span(lines))), {});
    EventBatch batch;
    while (decoder.next(batch) == SourceStatus::kEvents) {
      for (const MarketEvent& event : batch) take_in(event, decoder);
    }
    EXPECT_EQ(decoder.counters().malformed, 0U);
  }
  void take_in(const MarketEvent& event, const Source& source) {
    while (books.size() <= event.instrument) {
      const Instrument& instrument = source.instruments()[books.size()];
      books.emplace_back();
      oracles.emplace_back(instrument);
      symbols.push_back(instrument.symbol);
    }
    books[event.instrument].apply(event);
    oracles[event.instrument].on_event(event, books[event.instrument]);
  }
  std::uint64_t compared() const {
    std::uint64_t sum = 0;
    for (const BookOracle& oracle : oracles) sum += oracle.counters().checksums_compared;
    return sum;
  }
  std::uint64_t equal() const {
    std::uint64_t sum = 0;
    for (const BookOracle& oracle : oracles) sum += oracle.counters().checksums_equal;
    return sum;
  }
};

class KrakenRecording : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = tocsin_data_path("crypto/KRAKEN.ws.50.0.gz");
    if (path.empty()) GTEST_SKIP() << "crypto/KRAKEN.ws.50.0.gz is not there (TOCSIN_DATA)";
    auto stream = open_byte_stream(path);
    ASSERT_TRUE(stream.ok()) << stream.error().message();
    std::string_view line;
    while ((*stream)->next_line(line)) lines_.emplace_back(line);
    ASSERT_EQ(lines_.size(), 4325U);
  }
  std::string text() const {
    std::string all;
    for (const std::string& line : lines_) all += line + "\n";
    return all;
  }

  std::vector<std::string> lines_;
};

TEST_F(KrakenRecording, EachOfItsChecksumsIsThatOfTheBook) {
  Books rebuilt;
  rebuilt.read(text());
  EXPECT_EQ(rebuilt.symbols.size(), 10U);
  EXPECT_EQ(rebuilt.compared(), 4'269U);
  EXPECT_EQ(rebuilt.equal(), 4'269U);
  for (const OrderBook& book : rebuilt.books) {
    EXPECT_TRUE(book.trusted());
    EXPECT_LE(book.level_count(Side::kBid), 1'000U);
    EXPECT_LE(book.level_count(Side::kAsk), 1'000U);
  }
}

// One digit of one quantity, in the best level that an update of XMR/USD sets.
TEST_F(KrakenRecording, OneFlippedLevelFailsUntilTheNextSnapshot) {
  std::string snapshot;
  std::size_t flipped = 0;
  for (std::size_t i = 0; i < lines_.size() && flipped == 0; ++i) {
    std::string& line = lines_[i];
    if (!line.ends_with("\"XMR/USD\"]")) continue;
    if (line.find("\"as\":") != std::string::npos) snapshot = line;
    const std::size_t at = line.find("{\"b\":[[\"354.17000000\",\"6.88271768\"");
    if (at == std::string::npos) continue;
    line[line.find("6.88271768", at)] = '7';
    flipped = i;
  }
  ASSERT_GT(flipped, 0U);
  Books wrong;
  wrong.read(text());
  EXPECT_EQ(wrong.compared(), wrong.equal() + 1);
  EXPECT_LT(wrong.equal(), 4'269U);
  for (std::size_t i = 0; i < wrong.books.size(); ++i)
    EXPECT_EQ(wrong.books[i].trusted(), wrong.symbols[i] != "XMR/USD") << wrong.symbols[i];

  lines_.push_back(snapshot);
  Books healed;
  healed.read(text());
  for (const OrderBook& book : healed.books) EXPECT_TRUE(book.trusted());
}

}  // namespace
}  // namespace tocsin
