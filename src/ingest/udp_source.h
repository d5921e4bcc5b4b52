// A live feed over UDP multicast: the lines of one feed joined into one sequence, holes asked for
// again, silence told. Feeds the same protocols as captures do.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ingest/feed_ledger.h"
#include "ingest/line_arbiter.h"
#include "ingest/packet_protocol.h"
#include "ingest/source.h"
#include "ingest/stale_feed_detector.h"
#include "ingest/udp_socket.h"

namespace tocsin {

struct UdpSourceOptions {
  FileSourceOptions feed;          // format, symbols, and what the format's decoder needs
  std::vector<std::string> lines;  // "239.1.2.3:26477": each carries the whole feed; A, B, …
  std::string interface;           // to join on: a name or an IPv4 address; empty: the system's
  std::string request_server;      // MoldUDP64: who sends again what is missing; empty: nobody
  std::int64_t hole_wait_ms = 20;
  std::int64_t request_interval_ms = 2;
  std::int64_t heartbeat_timeout_ms = 5'000;  // without a datagram on any line; 0: none
  std::int64_t receive_buffer_bytes = std::int64_t{8} << 20;
  std::int64_t idle_wait_ms = 50;  // one next() waits so long at most
  StaleFeedOptions stale;
};

class UdpSource final : public Source, private FeedLedger {
 public:
  static constexpr std::size_t kLinesMax = 4;

  // Joins the groups. `clock` must outlive the source. Errors: a format without packets, an address
  // that is none, a group that cannot be joined.
  static Result<std::unique_ptr<Source>> open(const UdpSourceOptions& options, Clock& clock);

  // An empty batch where nothing came in time. Never ends by itself.
  SourceStatus next(EventBatch& batch) noexcept override;
  bool is_due() noexcept override;
  bool is_live() const noexcept override { return true; }
  const Error& error() const noexcept override { return error_; }
  const SourceCounters& counters() const noexcept override { return counters_; }
  std::span<const InputFault> faults() const noexcept override { return kept_faults(); }
  std::span<const Instrument> instruments() const noexcept override { return known_instruments(); }
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;
  std::string venue() const override { return protocol_->venue(); }
  double progress() const noexcept override { return -1; }

 private:
  // The last event of an instrument, for what is told of it in silence.
  struct LastEvent {
    std::int64_t exchange_time_ns = 0;
    std::uint64_t sequence = 0;
    bool is_known = false;
  };
  static constexpr std::size_t kSessionBytes = 10;

  UdpSource(const UdpSourceOptions& options, Clock& clock);

  SourceStatus yield(const EventBatch& batch) noexcept;
  // True if a datagram was decoded into `batch`.
  bool receive(std::int64_t now_ns, EventBatch& batch);
  void take(const Datagram& datagram, EventBatch& batch);
  void remember_session(std::uint64_t stream, std::span<const std::byte> payload);
  void request_missing(std::int64_t now_ns) noexcept;
  // Appends an event for each instrument once no line has sent anything for too long.
  void check_lines(std::int64_t now_ns, EventBatch& batch);
  void wait(std::int64_t now_ns) const noexcept;

  UdpSourceOptions options_;
  Clock& clock_;
  std::unique_ptr<PacketProtocol> protocol_;
  LineArbiter arbiter_;
  StaleFeedDetector stale_;
  std::vector<std::unique_ptr<UdpSocket>> sockets_;  // the lines, then the request server
  std::size_t next_socket_ = 0;
  UdpSocket* server_ = nullptr;
  // Streams are told apart by a number; requests name the session.
  std::map<std::uint64_t, std::array<std::byte, kSessionBytes>> session_by_stream_;
  std::vector<LastEvent> last_events_;  // by InstrumentId
  std::uint64_t datagram_count_ = 0;
  std::uint64_t request_count_ = 0;
  std::uint64_t silent_count_ = 0;
  std::int64_t last_request_ns_ = 0;
  std::int64_t last_datagram_ns_ = 0;
  bool is_silent_ = false;
  Error error_{ErrorCode::kOk, ""};
};

}  // namespace tocsin
