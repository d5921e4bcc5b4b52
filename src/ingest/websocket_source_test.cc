// What is refused, and how often a venue that does not answer is asked.
#include "ingest/websocket_source.h"

#include <gtest/gtest.h>

namespace tocsin {
namespace {

WebSocketSourceOptions options_for(const std::string& url) {
  WebSocketSourceOptions options;
  options.connection.url = url;
  options.feed.format = FeedFormat::kBinanceUsdm;
  options.feed.symbols = {"BTCUSDT"};
  return options;
}

std::string refusal_of(const WebSocketSourceOptions& options) {
  ManualClock clock;
  const auto source = WebSocketSource::create(options, clock);
  return source.ok() ? std::string() : source.error().message();
}

TEST(WebSocketSource, RefusesWhatCannotWork) {
  for (const std::string url :
       {"", "http://x", "ws://", "ws://host:port/", "wss://host:1234567/", "ws://a b/",
        "ws://host:65536/", "ws://host:0/", "ws://host:/", "ws://host:+80/"})
    EXPECT_NE(refusal_of(options_for(url)).find("expected ws://HOST"), std::string::npos) << url;
  auto binary = options_for("ws://127.0.0.1:1/");
  binary.feed.format = FeedFormat::kItch50;
  EXPECT_NE(refusal_of(binary).find("lines of text"), std::string::npos);
  auto symbolless = options_for("ws://127.0.0.1:1/");
  symbolless.feed.symbols.clear();
  symbolless.snapshot_url = "http://127.0.0.1:1/";
  EXPECT_NE(refusal_of(symbolless).find("name the symbols"), std::string::npos);
  auto uncertain = options_for("wss://127.0.0.1:1/");
  uncertain.connection.certificates = "/no/such/file.pem";
  EXPECT_NE(refusal_of(uncertain).find("/no/such/file.pem"), std::string::npos);
  auto mapless = options_for("ws://127.0.0.1:1/");
  mapless.feed.format = FeedFormat::kJsonLines;
  EXPECT_NE(refusal_of(mapless).find("map"), std::string::npos);
}

// Nobody listens on port 1. The clock stands still but for the source's own pauses.
TEST(WebSocketSource, PausesLongerAfterEachFailureAndGivesUp) {
  ManualClock clock;
  auto options = options_for("ws://127.0.0.1:1/");
  options.pause_min_ms = 100;
  options.pause_max_ms = 700;
  options.attempts_max = 6;
  auto source = WebSocketSource::create(options, clock);
  ASSERT_TRUE(source.ok()) << source.error().message();
  EventBatch batch;
  SourceStatus status = SourceStatus::kEvents;
  for (int i = 0; i < 10'000 && status == SourceStatus::kEvents; ++i)
    status = (*source)->next(batch);
  ASSERT_EQ(status, SourceStatus::kError);
  EXPECT_EQ((*source)->error().code(), ErrorCode::kUnavailable);
  EXPECT_NE((*source)->error().message().find("gave up after 6 failures"), std::string::npos);
  EXPECT_EQ(clock.monotonic_time_ns(), (100 + 200 + 400 + 700 + 700) * 1'000'000LL);
  EXPECT_EQ((*source)->faults().size(), 6U);
  EXPECT_EQ((*source)->next(batch), SourceStatus::kError);
}

}  // namespace
}  // namespace tocsin
