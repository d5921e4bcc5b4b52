// One thread, no locks: next() decodes what waits, else looks after holes and silence, else waits.
#include "ingest/udp_source.h"

#include <algorithm>

#include "ingest/capture_formats.h"
#include "ingest/moldudp64_protocol.h"

namespace tocsin {
namespace {

constexpr std::int64_t kNanosPerMilli = 1'000'000;
// Datagrams looked at by one next() that turn out to hold nothing new.
constexpr int kSeenMax = 64;

void put_big(std::span<std::byte> out, std::uint64_t value) noexcept {
  for (std::size_t i = out.size(); i-- > 0; value >>= 8U) {
    out[i] = static_cast<std::byte>(value & 0xFFU);
  }
}

}  // namespace

UdpSource::UdpSource(const UdpSourceOptions& options, Clock& clock)
    : FeedLedger(options.feed.symbols),
      options_(options),
      clock_(clock),
      arbiter_({.hole_wait_ns = options.hole_wait_ms * kNanosPerMilli}),
      stale_(clock, options.stale),
      last_datagram_ns_(clock.monotonic_time_ns()) {}

Result<std::unique_ptr<Source>> UdpSource::open(const UdpSourceOptions& options, Clock& clock) {
  if (!options.feed.format || !is_capture_format(*options.feed.format)) {
    return Error(ErrorCode::kInvalidArgument,
                 "a UDP source needs the format of its packets: moldudp64, iex, pitch or mdp3");
  }
  if (options.lines.empty() || options.lines.size() > kLinesMax) {
    return Error(ErrorCode::kInvalidArgument, "a UDP source has one to four lines");
  }
  std::unique_ptr<UdpSource> source(new UdpSource(options, clock));
  FeedLedger& ledger = *source;
  TOCSIN_ASSIGN_OR_RETURN(source->protocol_, make_packet_protocol(options.feed, ledger));
  for (const std::string& line : options.lines) {
    TOCSIN_ASSIGN_OR_RETURN(const UdpAddress group, udp_address_from_text(line));
    TOCSIN_ASSIGN_OR_RETURN(
        auto socket,
        UdpSocket::join(group, {.interface = options.interface,
                                .receive_buffer_bytes = options.receive_buffer_bytes}));
    source->sockets_.push_back(std::move(socket));
  }
  if (!options.request_server.empty()) {
    if (*options.feed.format != FeedFormat::kMoldUdp64) {
      return Error(ErrorCode::kInvalidArgument, "only MoldUDP64 is asked for again");
    }
    TOCSIN_ASSIGN_OR_RETURN(const UdpAddress server, udp_address_from_text(options.request_server));
    TOCSIN_ASSIGN_OR_RETURN(auto socket, UdpSocket::connect(server));
    source->server_ = socket.get();
    source->sockets_.push_back(std::move(socket));
  }
  return std::unique_ptr<Source>(std::move(source));
}

SourceStatus UdpSource::next(EventBatch& batch) noexcept {
  batch.clear();
  if (protocol_->has_message()) {
    protocol_->next_message(batch);
    return yield(batch);
  }
  const std::int64_t now_ns = clock_.monotonic_time_ns();
  Datagram released;
  if (arbiter_.release(now_ns, released)) {
    take(released, batch);
    return yield(batch);
  }
  if (receive(now_ns, batch)) return yield(batch);
  request_missing(now_ns);
  check_lines(now_ns, batch);
  if (batch.empty() && stale_.append_stale(counters_.records + 1, batch) > 0) ++counters_.records;
  if (!batch.empty()) {
    counters_.events += batch.size();
    return SourceStatus::kEvents;
  }
  wait(now_ns);
  return SourceStatus::kEvents;
}

SourceStatus UdpSource::yield(const EventBatch& batch) noexcept {
  counters_.events += batch.size();
  stale_.on_batch(batch);
  for (const MarketEvent& event : batch) {
    if (event.instrument >= last_events_.size()) {
      last_events_.resize(std::size_t{event.instrument} + 1);
    }
    last_events_[event.instrument] = {event.exchange_time_ns, event.sequence, true};
  }
  return SourceStatus::kEvents;
}

void UdpSource::take(const Datagram& datagram, EventBatch& batch) {
  counters_.bytes += datagram.payload.size();
  protocol_->take(datagram, batch);
}

bool UdpSource::receive(std::int64_t now_ns, EventBatch& batch) {
  std::size_t empty_sockets = 0;
  for (int seen = 0; seen < kSeenMax && empty_sockets < sockets_.size();) {
    UdpSocket& socket = *sockets_[next_socket_];
    next_socket_ = next_socket_ + 1 < sockets_.size() ? next_socket_ + 1 : 0;
    UdpDatagram received;
    if (!socket.receive(received)) {
      ++empty_sockets;
      continue;
    }
    empty_sockets = 0;
    last_datagram_ns_ = now_ns;
    is_silent_ = false;
    const std::int64_t receive_time_ns =
        received.receive_time_ns != 0 ? received.receive_time_ns : clock_.unix_time_ns();
    const Datagram datagram{.payload = received.payload,
                            .receive_time_ns = receive_time_ns,
                            .number = ++datagram_count_};
    // What is not of the protocol is for the decoder to count; so is what has no number.
    const auto range = protocol_->range_of(received.payload);
    if (range) remember_session(range->stream, received.payload);
    if (!range || arbiter_.offer(datagram, *range, now_ns) == LineArbiter::Verdict::kPass) {
      take(datagram, batch);
      return true;
    }
    Datagram released;
    if (arbiter_.release(now_ns, released)) {
      take(released, batch);
      return true;
    }
    ++seen;
  }
  return false;
}

void UdpSource::remember_session(std::uint64_t stream, std::span<const std::byte> payload) {
  if (server_ == nullptr || session_by_stream_.contains(stream)) return;
  std::copy_n(payload.begin(), kSessionBytes, session_by_stream_[stream].begin());
}

// MoldUDP64's request: session, first sequence number, count. The answer comes as a packet of the
// feed, by the same socket, and may hold fewer messages than asked for.
void UdpSource::request_missing(std::int64_t now_ns) noexcept {
  if (server_ == nullptr) return;
  const auto hole = arbiter_.hole();
  const bool is_soon = request_count_ > 0 &&
                       now_ns - last_request_ns_ < options_.request_interval_ms * kNanosPerMilli;
  if (!hole || is_soon) return;
  const auto session = session_by_stream_.find(hole->stream);
  if (session == session_by_stream_.end()) return;
  constexpr std::uint64_t kCountMax = 0xFFFE;
  std::array<std::byte, kMoldHeaderBytes> request{};
  std::copy(session->second.begin(), session->second.end(), request.begin());
  put_big(std::span(request).subspan(kSessionBytes, 8), hole->first);
  put_big(std::span(request).subspan(kSessionBytes + 8, 2), std::min(hole->count, kCountMax));
  last_request_ns_ = now_ns;
  ++request_count_;
  (void)server_->send(request);
}

void UdpSource::check_lines(std::int64_t now_ns, EventBatch& batch) {
  const std::int64_t timeout_ns = options_.heartbeat_timeout_ms * kNanosPerMilli;
  const std::int64_t silent_ns = now_ns - last_datagram_ns_;
  if (timeout_ns == 0 || is_silent_ || silent_ns < timeout_ns) return;
  is_silent_ = true;
  ++silent_count_;
  stale_.on_disconnect();
  ++counters_.records;
  add_fault("no datagram for " + std::to_string(silent_ns / kNanosPerMilli) +
            " ms on any line, not even a heartbeat");
  for (std::size_t i = 0; i < last_events_.size(); ++i) {
    if (!last_events_[i].is_known) continue;
    MarketEvent& event = batch.emplace_back();
    event.kind = EventKind::kEndOfUpdate;
    event.quality = Quality::kStaleFeed;
    event.end_of_update = true;
    event.instrument = static_cast<InstrumentId>(i);
    event.exchange_time_ns = last_events_[i].exchange_time_ns + silent_ns;
    event.receive_time_ns = clock_.unix_time_ns();
    event.sequence = last_events_[i].sequence;
    event.record = counters_.records;
  }
}

void UdpSource::wait(std::int64_t now_ns) const noexcept {
  std::int64_t wait_ns = options_.idle_wait_ms * kNanosPerMilli;
  if (const auto end_ns = arbiter_.hole_end_ns()) {
    wait_ns = std::min(wait_ns, std::max<std::int64_t>(*end_ns - now_ns, 0));
    if (server_ != nullptr) {
      wait_ns = std::min(wait_ns, options_.request_interval_ms * kNanosPerMilli);
    }
  }
  wait_for_datagram(sockets_, wait_ns);
}

bool UdpSource::is_due() noexcept {
  if (protocol_->has_message()) return true;
  const auto end_ns = arbiter_.hole_end_ns();
  return (end_ns && *end_ns <= clock_.monotonic_time_ns()) || datagram_waits(sockets_);
}

std::vector<std::pair<std::string, std::uint64_t>> UdpSource::counts_by_type() const {
  auto counts = protocol_->counts_by_type();
  const auto add = [&counts](const char* name, std::uint64_t count) {
    if (count > 0) counts.emplace_back(name, count);
  };
  const LineArbiterCounters& lines = arbiter_.counters();
  std::uint64_t dropped = 0;
  for (const auto& socket : sockets_) dropped += socket->dropped_count();
  add("datagram", datagram_count_);
  add("datagram that another line brought first", lines.seen);
  add("datagram held behind a hole", lines.held);
  add("hole given up", lines.given_up);
  add("number recovered", lines.recovered);
  add("implausible number", lines.implausible);
  add("request for retransmission", request_count_);
  add("datagram dropped by the kernel", dropped);
  add("silence of all lines", silent_count_);
  add("silence of an instrument", stale_.stale_count());
  return counts;
}

}  // namespace tocsin
