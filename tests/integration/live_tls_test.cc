// A live feed and its snapshots over TLS: taken from a server whose certificate is trusted, and
// from no other.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "features/order_book.h"
#include "ingest/websocket_source.h"
#include "support/replaying_server.h"
#include "support/tls_certificate.h"

namespace tocsin {
namespace {

constexpr std::int64_t kPriceNanos = 100'000'000'000;

std::string diff(std::uint64_t first, std::uint64_t last, const std::string& quantity) {
  return R"({"stream":"btcusdt@depth","data":{"e":"depthUpdate","E":1723161255000,)"
         R"("T":1723161255000,"s":"BTCUSDT","U":)" +
         std::to_string(first) + R"(,"u":)" + std::to_string(last) + R"(,"pu":)" +
         std::to_string(first - 1) + R"(,"b":[["100.0",")" + quantity + R"("]],"a":[]}})";
}

class LiveTls : public testing::Test {
 protected:
  ~LiveTls() override { std::filesystem::remove(trusted_file_); }

  // A server that answers with `shown`, and a source that trusts `trusted` alone.
  Result<std::unique_ptr<Source>> connect(const TlsCertificate& shown,
                                          const TlsCertificate& trusted) {
    tls_.use_certificate_chain(boost::asio::buffer(shown.certificate_pem));
    tls_.use_private_key(boost::asio::buffer(shown.key_pem), boost::asio::ssl::context::pem);
    std::ofstream(trusted_file_) << trusted.certificate_pem;
    ReplayingServer::Script script;
    script.messages = {diff(11, 12, "5"), diff(13, 14, "7")};
    script.page = [] {
      return R"({"lastUpdateId":12,"E":1723161255000,"T":1723161255000,)"
             R"("bids":[["100.0","5"]],"asks":[["101.0","2"]]})";
    };
    script.waits_for_page = true;
    script.tls = &tls_;
    server_.emplace(std::move(script));
    WebSocketSourceOptions options;
    options.connection.url = server_->feed_url();
    options.connection.subscribe = {"subscribe"};
    options.connection.certificates = trusted_file_;
    options.feed.format = FeedFormat::kBinanceUsdm;
    options.feed.symbols = {"BTCUSDT"};
    options.snapshot_url = server_->page_url();
    options.pause_min_ms = 1;
    options.pause_max_ms = 1;
    options.attempts_max = 2;
    return WebSocketSource::create(options, clock_);
  }

  // What the source gives up with; empty: it did not.
  std::string refusal(const TlsCertificate& shown, const TlsCertificate& trusted) {
    auto source = connect(shown, trusted);
    if (!source.ok()) return source.error().message();
    EventBatch batch;
    const std::int64_t give_up_ns = clock_.monotonic_time_ns() + 60'000'000'000;
    while (clock_.monotonic_time_ns() < give_up_ns && server_->connection_count() == 0) {
      if ((*source)->next(batch) == SourceStatus::kError) return (*source)->error().message();
      EXPECT_TRUE(batch.empty());
    }
    return {};
  }

  SystemClock clock_;
  std::string trusted_file_ =
      testing::TempDir() + "tocsin_tls_" + std::to_string(::getpid()) + ".pem";
  boost::asio::ssl::context tls_{boost::asio::ssl::context::tls_server};
  std::optional<ReplayingServer> server_;
};

TEST_F(LiveTls, FeedAndSnapshotComeFromATrustedServer) {
  const TlsCertificate certificate = make_tls_certificate({});
  auto source = connect(certificate, certificate);
  ASSERT_TRUE(source.ok()) << source.error().message();
  OrderBook book;
  EventBatch batch;
  const std::int64_t give_up_ns = clock_.monotonic_time_ns() + 60'000'000'000;
  while (book.update_id() != 14 && clock_.monotonic_time_ns() < give_up_ns) {
    ASSERT_EQ((*source)->next(batch), SourceStatus::kEvents) << (*source)->error().message();
    for (const MarketEvent& event : batch) book.apply(event);
  }
  EXPECT_TRUE(book.trusted());
  EXPECT_EQ(book.level_at(Side::kBid, kPriceNanos).quantity_nanos, 7'000'000'000);
  EXPECT_EQ(server_->connection_count(), 1U);
  EXPECT_EQ(server_->last_subscription(), "subscribe");
}

TEST_F(LiveTls, RefusesACertificateThatNobodyItTrustsHasSigned) {
  const std::string told = refusal(make_tls_certificate({}), make_tls_certificate({}));
  EXPECT_NE(told.find("certificate verify failed"), std::string::npos) << told;
  EXPECT_EQ(server_->connection_count(), 0U);
}

TEST_F(LiveTls, RefusesACertificateOfAnotherPlace) {
  for (const std::string place : {"IP:127.0.0.2", "DNS:venue.example"}) {
    const TlsCertificate certificate = make_tls_certificate({.place = place});
    const std::string told = refusal(certificate, certificate);
    EXPECT_NE(told.find("certificate verify failed"), std::string::npos) << place << ": " << told;
    EXPECT_EQ(server_->connection_count(), 0U) << place;
  }
}

TEST_F(LiveTls, RefusesACertificateThatHasRunOut) {
  const TlsCertificate certificate = make_tls_certificate({.valid_until_s = -3'600});
  const std::string told = refusal(certificate, certificate);
  EXPECT_NE(told.find("certificate verify failed"), std::string::npos) << told;
  EXPECT_EQ(server_->connection_count(), 0U);
}

}  // namespace
}  // namespace tocsin
