// Live crypto feeds against a server that replays recorded messages and breaks the connection: the
// book at the end is that of the whole file, and never trusted while it is not.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/decimal.h"
#include "features/book_oracle.h"
#include "features/order_book.h"
#include "ingest/byte_stream.h"
#include "ingest/json_tree.h"
#include "ingest/websocket_source.h"
#include "support/data_path.h"
#include "support/replaying_server.h"

namespace tocsin {
namespace {

// Text by text: what a venue would know of its own book.
struct VenueBook {
  std::map<std::int64_t, std::pair<std::string, std::string>> bids;
  std::map<std::int64_t, std::pair<std::string, std::string>> asks;

  void take_in(const JsonTree& tree, const JsonNode* list, bool is_bid) {
    if (list == nullptr) return;
    for (std::uint32_t at = list->first; at != 0; at = tree.at(at).next) {
      const std::string price(tree.item(tree.at(at), 0)->text);
      const std::string quantity(tree.item(tree.at(at), 1)->text);
      std::int64_t price_nanos = 0;
      std::int64_t quantity_nanos = 0;
      parse_decimal_nanos(price, price_nanos);
      parse_decimal_nanos(quantity, quantity_nanos);
      auto& side = is_bid ? bids : asks;
      side.erase(price_nanos);
      if (quantity_nanos != 0) side[price_nanos] = {price, quantity};
    }
  }
  static std::string list_of(const decltype(bids)& side) {
    std::string text = "[";
    for (const auto& [nanos, level] : side)
      text += (text.size() > 1 ? ",[\"" : "[\"") + level.first + "\",\"" + level.second + "\"]";
    return text + "]";
  }
};

std::vector<std::string> lines_of(const std::string& path, std::size_t count_max) {
  std::vector<std::string> lines;
  auto stream = open_byte_stream(path);
  EXPECT_TRUE(stream.ok());
  std::string_view line;
  while (lines.size() < count_max && (*stream)->next_line(line)) lines.emplace_back(line);
  return lines;
}

// Binance's venue: diffs and trades of the recording, its snapshot as a page.
class BinanceVenue {
 public:
  explicit BinanceVenue(std::size_t count_max) {
    for (const std::string& line :
         lines_of(tocsin_source_path("data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz"),
                  count_max)) {
      const std::string text = line.substr(line.find(' ') + 1);
      JsonTree tree;
      EXPECT_TRUE(tree.parse(text));
      if (tree.find(tree.root(), "lastUpdateId") == nullptr) {
        messages.push_back(text);
        continue;
      }
      // The recorder fetched it as this source does: it is no message of the stream.
      book.take_in(tree, tree.find(tree.root(), "bids"), true);
      book.take_in(tree, tree.find(tree.root(), "asks"), false);
      last_update_id = std::stoull(std::string(tree.find(tree.root(), "lastUpdateId")->text));
    }
  }

  void take_in(const std::string& text) {
    JsonTree tree;
    tree.parse(text);
    const JsonNode* data = tree.find(tree.root(), "data");
    if (data == nullptr || tree.find(*data, "e")->text != "depthUpdate") return;
    const std::uint64_t id = std::stoull(std::string(tree.find(*data, "u")->text));
    if (id < last_update_id) return;
    last_update_id = id;
    time = tree.find(*data, "T")->text;
    book.take_in(tree, tree.find(*data, "b"), true);
    book.take_in(tree, tree.find(*data, "a"), false);
  }
  std::string page() const {
    return "{\"lastUpdateId\":" + std::to_string(last_update_id) + ",\"E\":" + time +
           ",\"T\":" + time + ",\"bids\":" + VenueBook::list_of(book.bids) +
           ",\"asks\":" + VenueBook::list_of(book.asks) + "}";
  }

  std::vector<std::string> messages;
  VenueBook book;
  std::uint64_t last_update_id = 0;
  std::string time = "1723161255000";
};

void expect_equal(const OrderBook& book, const VenueBook& venue) {
  ASSERT_EQ(book.level_count(Side::kBid), venue.bids.size());
  ASSERT_EQ(book.level_count(Side::kAsk), venue.asks.size());
  for (const auto& [side, levels] :
       {std::pair{Side::kBid, &venue.bids}, std::pair{Side::kAsk, &venue.asks}}) {
    for (const auto& [price_nanos, level] : *levels) {
      std::int64_t quantity_nanos = 0;
      parse_decimal_nanos(level.second, quantity_nanos);
      EXPECT_EQ(book.level_at(side, price_nanos).quantity_nanos, quantity_nanos) << level.first;
    }
  }
}

struct LiveBook {
  OrderBook book;
  std::uint64_t breaks_seen = 0;
  std::uint64_t trusted_updates = 0;

  void take_in(const EventBatch& batch) {
    for (const MarketEvent& event : batch) {
      book.apply(event);
      if (event.kind == EventKind::kEndOfUpdate && event.quality.has(Quality::kGap)) {
        ++breaks_seen;
        EXPECT_FALSE(book.trusted());
      }
      if (event.end_of_update && book.trusted()) ++trusted_updates;
    }
  }
};

WebSocketSourceOptions options_for(const ReplayingServer& server) {
  WebSocketSourceOptions options;
  options.connection.url = server.feed_url();
  options.connection.subscribe = {
      R"({"method":"SUBSCRIBE","params":["btcusdt@depth@0ms"],"id":1})"};
  options.pause_min_ms = 1;
  options.pause_max_ms = 5;
  return options;
}

TEST(LiveCrypto, BinanceIsWholeAgainAfterBrokenConnections) {
  constexpr unsigned kSeed = 20240808;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  BinanceVenue venue(20'000);
  std::mt19937 random(kSeed);
  ReplayingServer::Script script;
  for (int i = 0; i < 6; ++i)
    script.breaks.insert(1'000 + random() % (venue.messages.size() - 2'000));
  const std::size_t break_count = script.breaks.size();
  script.messages = venue.messages;
  script.lost_at_break = 40;
  script.on_message = [&venue](const std::string& text) { venue.take_in(text); };
  script.page = [&venue] { return venue.page(); };
  ReplayingServer server(std::move(script));

  SystemClock clock;
  WebSocketSourceOptions options = options_for(server);
  options.feed.format = FeedFormat::kBinanceUsdm;
  options.feed.symbols = {"BTCUSDT"};
  options.snapshot_url = server.page_url() + "?symbol={symbol}&limit=1000";
  auto source = WebSocketSource::create(options, clock);
  ASSERT_TRUE(source.ok()) << source.error().message();

  LiveBook live;
  EventBatch batch;
  const std::int64_t give_up_ns = clock.monotonic_time_ns() + 120'000'000'000;
  std::uint64_t idle_count = 0;
  while (idle_count < 20 && clock.monotonic_time_ns() < give_up_ns) {
    ASSERT_EQ((*source)->next(batch), SourceStatus::kEvents) << (*source)->error().message();
    live.take_in(batch);
    const bool is_done = server.all_sent() && live.book.trusted() && !(*source)->is_due();
    idle_count = is_done ? idle_count + 1 : 0;
  }
  EXPECT_TRUE(live.book.trusted());
  EXPECT_EQ(live.book.update_id(), venue.last_update_id);
  expect_equal(live.book, venue.book);
  EXPECT_EQ(server.connection_count(), break_count + 1);
  EXPECT_GE(live.breaks_seen, 1U);  // others may come before the first snapshot
  EXPECT_GT(live.trusted_updates, 100U);
  EXPECT_NE(server.last_subscription().find("SUBSCRIBE"), std::string::npos);
}

// Kraken's venue: sends its snapshots itself, to each new subscriber.
class KrakenVenue {
 public:
  explicit KrakenVenue(const std::string& path) {
    for (const std::string& line : lines_of(path, 4'325)) {
      if (line.find(": [") == std::string::npos) continue;
      const std::string text = line.substr(line.find(": [") + 2);
      if (text.find("\"as\":") != std::string::npos) {
        take_in(text);
      } else {
        messages.push_back(text);
      }
    }
  }

  void take_in(const std::string& text) {
    JsonTree tree;
    tree.parse(text);
    VenueBook& book = books[std::string(tree.item(tree.root(), -1)->text)];
    for (std::int64_t i = 1; i + 2 < tree.root().count; ++i) {
      const JsonNode& content = *tree.item(tree.root(), i);
      for (const auto& [key, is_bid] :
           {std::pair{"bs", true}, {"as", false}, {"b", true}, {"a", false}})
        book.take_in(tree, tree.find(content, key), is_bid);
    }
  }
  std::vector<std::string> greeting() const {
    // Each level has a time.
    const auto timed = [](std::string list) {
      for (std::size_t at = list.find("\"]"); at != std::string::npos;
           at = list.find("\"]", at + 10))
        list.replace(at, 2, "\",\"1.5\"]");
      return list;
    };
    std::vector<std::string> snapshots;
    for (const auto& [symbol, book] : books)
      snapshots.push_back("[7,{\"as\":" + timed(VenueBook::list_of(book.asks)) +
                          ",\"bs\":" + timed(VenueBook::list_of(book.bids)) + "},\"book-1000\",\"" +
                          symbol + "\"]");
    return snapshots;
  }

  std::vector<std::string> messages;
  std::map<std::string, VenueBook> books;
};

TEST(LiveCrypto, KrakenChecksumsStayRightOverBrokenConnections) {
  const std::string path = tocsin_data_path("crypto/KRAKEN.ws.50.0.gz");
  if (path.empty()) GTEST_SKIP() << "crypto/KRAKEN.ws.50.0.gz is not there (TOCSIN_DATA)";
  KrakenVenue venue(path);
  ReplayingServer::Script script;
  script.messages = venue.messages;
  script.breaks = {500, 1'700, 3'000};
  script.lost_at_break = 25;
  script.on_message = [&venue](const std::string& text) { venue.take_in(text); };
  script.greeting = [&venue] { return venue.greeting(); };
  ReplayingServer server(std::move(script));
  SystemClock clock;
  WebSocketSourceOptions options = options_for(server);
  options.feed.format = FeedFormat::kKraken;
  auto source = WebSocketSource::create(options, clock);
  ASSERT_TRUE(source.ok()) << source.error().message();

  std::map<InstrumentId, std::pair<OrderBook, BookOracle>> live;
  EventBatch batch;
  const std::int64_t give_up_ns = clock.monotonic_time_ns() + 60'000'000'000;
  std::uint64_t idle_count = 0;
  while (idle_count < 20 && clock.monotonic_time_ns() < give_up_ns) {
    ASSERT_EQ((*source)->next(batch), SourceStatus::kEvents) << (*source)->error().message();
    for (const MarketEvent& event : batch) {
      const auto& instrument = (*source)->instruments()[event.instrument];
      auto& [book, oracle] =
          live.try_emplace(event.instrument, OrderBook(), BookOracle(instrument)).first->second;
      book.apply(event);
      oracle.on_event(event, book);
    }
    idle_count = server.all_sent() && !(*source)->is_due() ? idle_count + 1 : 0;
  }
  std::uint64_t compared = 0;
  for (const auto& [id, parts] : live) {
    const OracleCounters& counters = parts.second.counters();
    EXPECT_EQ(counters.checksums_equal, counters.checksums_compared);
    EXPECT_TRUE(parts.first.trusted());
    compared += counters.checksums_compared;
  }
  EXPECT_EQ(server.connection_count(), 4U);
  // What a broken connection still held is lost with it.
  EXPECT_GT(compared, 1'000U);
}

TEST(LiveCrypto, ASilentFeedWithALiveConnectionIsToldAsStale) {
  BinanceVenue venue(2'000);
  ReplayingServer::Script script;
  script.messages = venue.messages;
  script.on_message = [&venue](const std::string& text) { venue.take_in(text); };
  script.page = [&venue] { return venue.page(); };
  script.waits_for_page = true;
  ReplayingServer server(std::move(script));
  SystemClock clock;
  WebSocketSourceOptions options = options_for(server);
  options.feed.format = FeedFormat::kBinanceUsdm;
  options.feed.symbols = {"BTCUSDT"};
  options.snapshot_url = server.page_url();
  options.stale = {.after_intervals = 20, .silence_min_ns = 200'000'000};
  auto source = WebSocketSource::create(options, clock);
  ASSERT_TRUE(source.ok()) << source.error().message();
  EXPECT_TRUE((*source)->is_live());
  EventBatch batch;
  bool is_stale = false;
  const std::int64_t give_up_ns = clock.monotonic_time_ns() + 60'000'000'000;
  std::uint64_t last_record = 0;
  while (!is_stale && clock.monotonic_time_ns() < give_up_ns) {
    ASSERT_EQ((*source)->next(batch), SourceStatus::kEvents);
    for (const MarketEvent& event : batch) {
      EXPECT_GE(event.record, last_record);
      last_record = event.record;
      is_stale = event.quality.has(Quality::kStaleFeed);
      EXPECT_TRUE(!is_stale || event.end_of_update);
    }
  }
  EXPECT_TRUE(is_stale);
  EXPECT_EQ(server.connection_count(), 1U);
  EXPECT_EQ((*source)->counters().records, last_record);
}

}  // namespace
}  // namespace tocsin
