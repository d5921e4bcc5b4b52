// The live source on loopback multicast: a sender that loses, repeats and reorders, a server that
// sends again, silence. Time is a manual clock's, so that each run is the same.
#include "ingest/udp_source.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/allocation_counter.h"
#include "ingest/moldudp64_protocol.h"
#include "ingest/packet_feed_bytes.h"
#include "ingest/wire_reader.h"

namespace tocsin {
namespace {

constexpr std::int64_t kMilli = 1'000'000;
constexpr std::int64_t kStartNs = 1'692'711'000'000'000'000;
constexpr std::string_view kSession = "0000000042";

::sockaddr_in address_of(const std::string& host, std::uint16_t port) {
  ::sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  (void)::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

// A plain socket, for the other side of the wire.
class PlainSocket {
 public:
  PlainSocket() : descriptor_(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    const ::in_addr loopback{htonl(INADDR_LOOPBACK)};
    EXPECT_EQ(::setsockopt(descriptor_, IPPROTO_IP, IP_MULTICAST_IF, &loopback, sizeof(loopback)),
              0);
    const ::sockaddr_in any = address_of("127.0.0.1", 0);
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const ::sockaddr*>(&any), sizeof(any)), 0);
  }
  ~PlainSocket() { (void)::close(descriptor_); }
  PlainSocket(const PlainSocket&) = delete;
  PlainSocket& operator=(const PlainSocket&) = delete;

  std::uint16_t port() const {
    ::sockaddr_in own{};
    ::socklen_t size = sizeof(own);
    (void)::getsockname(descriptor_, reinterpret_cast<::sockaddr*>(&own), &size);
    return ntohs(own.sin_port);
  }
  void send(const ::sockaddr_in& to, const Bytes& payload) const {
    ASSERT_EQ(::sendto(descriptor_, payload.data(), payload.size(), 0,
                       reinterpret_cast<const ::sockaddr*>(&to), sizeof(to)),
              static_cast<::ssize_t>(payload.size()));
  }
  bool receive(Bytes& payload, ::sockaddr_in& from) const {
    payload.resize(2'048);
    ::socklen_t size = sizeof(from);
    const ::ssize_t got = ::recvfrom(descriptor_, payload.data(), payload.size(), 0,
                                     reinterpret_cast<::sockaddr*>(&from), &size);
    if (got < 0) return false;
    payload.resize(static_cast<std::size_t>(got));
    return true;
  }

 private:
  int descriptor_;
};

// A day of orders of three stocks: adds, executions, deletions.
std::vector<Bytes> day_of_messages(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Bytes> messages = {itch_system_event('O')};
  std::vector<std::uint64_t> live;
  constexpr std::array<std::string_view, 3> kSymbols = {"AAA", "BBB", "CCC"};
  std::vector<std::uint16_t> locate_of(count + 2);
  while (messages.size() < count) {
    const std::uint64_t id = messages.size();
    const std::uint64_t time_ns = 34'200'000'000'000 + id * 1'000;
    if (live.empty() || random() % 3 != 0) {
      const auto locate = static_cast<std::uint16_t>(random() % 3);
      locate_of[id] = static_cast<std::uint16_t>(locate + 1);
      messages.push_back(itch_add({.id = id,
                                   .side = random() % 2 == 0 ? 'B' : 'S',
                                   .shares = static_cast<std::uint32_t>(random() % 500 + 1),
                                   .price = static_cast<std::uint32_t>(random() % 1'000 + 1),
                                   .symbol = kSymbols[locate]},
                                  {.locate = locate_of[id], .time_ns = time_ns}));
      live.push_back(id);
    } else {
      const std::size_t place = random() % live.size();
      const std::uint64_t order = live[place];
      messages.push_back(itch_change(random() % 2 == 0 ? 'D' : 'E', order, 1,
                                     {.locate = locate_of[order], .time_ns = time_ns}));
      if (messages.back()[0] == std::byte{'D'}) {
        live[place] = live.back();
        live.pop_back();
      }
    }
  }
  return messages;
}

struct Packet {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  Bytes payload;
};

std::vector<Packet> packets_of(const std::vector<Bytes>& messages, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Packet> packets;
  for (std::size_t at = 0; at < messages.size();) {
    const std::size_t count = std::min<std::size_t>(random() % 4 + 1, messages.size() - at);
    const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(at);
    packets.push_back(
        {at + 1, count,
         mold_packet({.session = kSession, .sequence = at + 1},
                     std::vector<Bytes>(begin, begin + static_cast<std::ptrdiff_t>(count)))});
    at += count;
  }
  return packets;
}

// The lossless run: all packets in order into the decoder.
std::vector<MarketEvent> lossless(const std::vector<Packet>& packets) {
  FeedLedger ledger({});
  MoldUdp64Protocol protocol(ledger);
  std::vector<MarketEvent> events;
  for (const Packet& packet : packets) {
    EventBatch batch;
    protocol.take({.payload = packet.payload, .receive_time_ns = kStartNs}, batch);
    while (protocol.has_message()) protocol.next_message(batch);
    events.insert(events.end(), batch.begin(), batch.end());
  }
  return events;
}

// What a line does to the packets: which it brings at each step, some twice, some one to three
// steps late.
std::vector<std::vector<std::size_t>> line_of(std::size_t packet_count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::size_t>> steps(packet_count + 4);
  for (std::size_t i = 0; i < packet_count; ++i) {
    const std::uint64_t fate = random() % 100;
    // The first packet is the start and the last one ends the last hole.
    const bool is_edge = i == 0 || i + 1 == packet_count;
    if (fate < 20 && !is_edge) continue;
    const std::size_t delay = fate < 35 && !is_edge ? random() % 3 + 1 : 0;
    steps[i + delay].push_back(i);
    if (fate >= 90) steps[i + delay].push_back(i);
  }
  return steps;
}

class UdpSourceTest : public testing::Test {
 protected:
  UdpSourceOptions options() const {
    UdpSourceOptions options;
    options.feed.format = FeedFormat::kMoldUdp64;
    options.lines = {group_a_ + ":" + std::to_string(port_),
                     group_b_ + ":" + std::to_string(port_)};
    options.interface = "127.0.0.1";
    options.idle_wait_ms = 1;
    options.stale.silence_min_ns = 500 * kMilli;
    return options;
  }
  void open(const UdpSourceOptions& options) {
    auto opened = UdpSource::open(options, clock_);
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    source_ = std::move(opened).value();
  }
  void send(bool line_b, const Bytes& payload) const {
    sender_.send(address_of(line_b ? group_b_ : group_a_, port_), payload);
  }
  // Takes what waits, until nothing came twice in a row.
  void drain() {
    EventBatch batch;
    for (int empty = 0; empty < 2;) {
      const std::uint64_t records = source_->counters().records;
      ASSERT_EQ(source_->next(batch), SourceStatus::kEvents);
      empty = source_->counters().records == records ? empty + 1 : 0;
      for (const MarketEvent& event : batch) EXPECT_EQ(event.record, source_->counters().records);
      events_.insert(events_.end(), batch.begin(), batch.end());
    }
  }
  std::uint64_t count_of(const std::string& type) const {
    for (const auto& [name, count] : source_->counts_by_type()) {
      if (name == type) return count;
    }
    return 0;
  }
  // Both lines step by step, two steps a millisecond; `serve` runs between.
  template <typename Serve>
  void send_lines(const std::vector<Packet>& packets, std::uint64_t seed, Serve serve) {
    const auto line_a = line_of(packets.size(), seed);
    const auto line_b = line_of(packets.size(), seed + 1'000);
    for (std::size_t step = 0; step < line_a.size(); ++step) {
      for (const std::size_t i : line_a[step]) send(false, packets[i].payload);
      for (const std::size_t i : line_b[step]) send(true, packets[i].payload);
      delivered_.insert(line_a[step].begin(), line_a[step].end());
      delivered_.insert(line_b[step].begin(), line_b[step].end());
      drain();
      serve();
      if (step % 2 == 0) clock_.advance(kMilli);
    }
  }

  // Groups and port of this process alone, so that tests may run beside each other.
  const std::string group_a_ = "239.255.71." + std::to_string(::getpid() % 200 + 1);
  const std::string group_b_ = "239.255.72." + std::to_string(::getpid() % 200 + 1);
  const std::uint16_t port_ = static_cast<std::uint16_t>(20'000 + ::getpid() % 20'000);
  ManualClock clock_{kStartNs};
  PlainSocket sender_;
  std::unique_ptr<Source> source_;
  std::vector<MarketEvent> events_;
  std::set<std::size_t> delivered_;
};

// All but the times: the midnight that message times count from follows from the receive time.
bool same_change(const MarketEvent& a, const MarketEvent& b) {
  return a.sequence == b.sequence && a.kind == b.kind && a.order_id == b.order_id &&
         a.price_nanos == b.price_nanos && a.quantity_nanos == b.quantity_nanos &&
         a.side == b.side && a.instrument == b.instrument && a.quality == b.quality &&
         a.end_of_update == b.end_of_update;
}

TEST_F(UdpSourceTest, ReceivesWithTheKernelsTime) {
  open(options());
  send(false, mold_packet({.session = kSession, .sequence = 1}, {itch_add({.id = 1})}));
  drain();
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_NE(events_[0].receive_time_ns, kStartNs) << "not the clock's";
  EXPECT_GT(events_[0].receive_time_ns, 0);
  EXPECT_TRUE(source_->is_live());
  EXPECT_EQ(count_of("datagram"), 1U);
}

TEST_F(UdpSourceTest, CountsExactlyWhatNeitherLineBrings) {
  for (const std::uint64_t seed : {11U, 12U}) {
    SCOPED_TRACE(seed);
    events_.clear();
    delivered_.clear();
    UdpSourceOptions without_silence = options();
    without_silence.stale.after_intervals = 0;
    open(without_silence);
    const auto packets = packets_of(day_of_messages(1'500, seed), seed);
    send_lines(packets, seed, [] {});
    clock_.advance(1'000 * kMilli);
    drain();
    std::uint64_t gaps = 0;
    std::uint64_t missing = 0;
    std::uint64_t messages = 0;
    for (std::size_t i = 0; i < packets.size(); ++i) {
      const bool is_there = delivered_.contains(i);
      (is_there ? messages : missing) += packets[i].count;
      if (!is_there && delivered_.contains(i - 1)) ++gaps;
    }
    EXPECT_GT(gaps, 5U);
    EXPECT_EQ(source_->counters().gaps, gaps);
    EXPECT_EQ(source_->counters().missing, missing);
    EXPECT_EQ(source_->counters().records, messages);
    EXPECT_EQ(source_->counters().out_of_order, 0U);
    EXPECT_EQ(count_of("hole given up"), gaps);
    source_.reset();
  }
}

// A server that loses every fifth request and answers with two messages at most.
class RequestServer {
 public:
  explicit RequestServer(std::vector<Bytes> messages) : messages_(std::move(messages)) {}

  std::string address() const { return "127.0.0.1:" + std::to_string(socket_.port()); }
  void serve() {
    Bytes request;
    ::sockaddr_in from{};
    while (socket_.receive(request, from)) {
      ASSERT_EQ(request.size(), kMoldHeaderBytes);
      WireReader reader(request);
      EXPECT_EQ(reader.text(10), kSession);
      const auto first = reader.big<std::uint64_t>();
      const auto count = reader.big<std::uint16_t>();
      if (++requests_ % 5 == 0) continue;
      std::vector<Bytes> answer;
      for (std::uint64_t i = first; i < first + std::min<std::uint64_t>(count, 2); ++i) {
        answer.push_back(messages_.at(i - 1));
      }
      socket_.send(from, mold_packet({.session = kSession, .sequence = first}, answer));
    }
  }

 private:
  PlainSocket socket_;
  std::vector<Bytes> messages_;
  std::uint64_t requests_ = 0;
};

TEST_F(UdpSourceTest, EndsWithTheBookOfTheLosslessRunWhereAServerSendsAgain) {
  const std::uint64_t seed = 21;
  const auto messages = day_of_messages(1'500, seed);
  RequestServer server(messages);
  UdpSourceOptions with_server = options();
  with_server.request_server = server.address();
  with_server.hole_wait_ms = 100;
  with_server.stale.after_intervals = 0;
  open(with_server);
  const auto packets = packets_of(messages, seed);
  send_lines(packets, seed, [&] { server.serve(); });
  for (int i = 0; i < 100; ++i) {
    clock_.advance(3 * kMilli);
    drain();
    server.serve();
  }
  EXPECT_LT(delivered_.size(), packets.size()) << "the lines lost nothing, so nothing was shown";
  EXPECT_EQ(source_->counters().gaps, 0U);
  EXPECT_EQ(source_->counters().missing, 0U);
  EXPECT_GT(count_of("request for retransmission"), 0U);
  const std::vector<MarketEvent> expected = lossless(packets);
  ASSERT_EQ(events_.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(same_change(events_[i], expected[i])) << "event " << i;
  }
}

TEST_F(UdpSourceTest, TellsThatAnInstrumentIsSilentWhileItsFeedLives) {
  open(options());
  std::uint64_t sequence = 1;
  for (; sequence <= 40; ++sequence) {
    send(false,
         mold_packet({.session = kSession, .sequence = sequence}, {itch_add({.id = sequence})}));
    drain();
    clock_.advance(kMilli);
  }
  const std::size_t before = events_.size();
  for (int i = 0; i < 200; ++i) {
    send(false, mold_packet({.session = kSession, .sequence = sequence}, {}));
    drain();
    clock_.advance(10 * kMilli);
  }
  ASSERT_EQ(events_.size(), before + 1);
  EXPECT_EQ(events_.back().quality, QualityFlags(Quality::kStaleFeed));
  EXPECT_TRUE(events_.back().end_of_update);
  EXPECT_EQ(count_of("silence of an instrument"), 1U);
  EXPECT_EQ(count_of("silence of all lines"), 0U);
}

TEST_F(UdpSourceTest, TellsThatAllLinesAreSilent) {
  open(options());
  send(false, mold_packet({.session = kSession, .sequence = 1}, {itch_add({.id = 1})}));
  drain();
  clock_.advance(4'999 * kMilli);
  drain();
  EXPECT_EQ(events_.size(), 1U);
  clock_.advance(kMilli);
  drain();
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_EQ(events_[1].quality, QualityFlags(Quality::kStaleFeed));
  EXPECT_EQ(count_of("silence of all lines"), 1U);
  ASSERT_FALSE(source_->faults().empty());
  clock_.advance(50'000 * kMilli);
  drain();
  EXPECT_EQ(events_.size(), 2U) << "once a silence";
  send(true, mold_packet({.session = kSession, .sequence = 3}, {itch_add({.id = 3})}));
  drain();
  clock_.advance(20 * kMilli);
  drain();
  ASSERT_EQ(events_.size(), 3U);
  EXPECT_TRUE(events_[2].quality.has(Quality::kGap));
}

TEST_F(UdpSourceTest, LeavesTheGroupsWhenItEnds) {
  open(options());
  source_.reset();
  send(false, mold_packet({.session = kSession, .sequence = 1}, {itch_add({.id = 1})}));
  open(options());
  drain();
  EXPECT_TRUE(events_.empty()) << "sent while nobody was joined";
  send(false, mold_packet({.session = kSession, .sequence = 2}, {itch_add({.id = 2})}));
  drain();
  EXPECT_EQ(events_.size(), 1U);
}

TEST_F(UdpSourceTest, CountsWhatTheKernelDropped) {
  UdpSourceOptions small = options();
  small.lines.resize(1);
  small.receive_buffer_bytes = 4'096;
  open(small);
  constexpr std::uint64_t kSent = 500;
  for (std::uint64_t i = 1; i < kSent; ++i) {
    send(false, mold_packet({.session = kSession, .sequence = i}, {itch_add({.id = i})}));
  }
  drain();
  send(false, mold_packet({.session = kSession, .sequence = kSent}, {itch_add({.id = kSent})}));
  drain();
  const std::uint64_t dropped = count_of("datagram dropped by the kernel");
  EXPECT_GT(dropped, 0U);
  EXPECT_EQ(count_of("datagram") + dropped, kSent);
  clock_.advance(20 * kMilli);
  drain();
  EXPECT_EQ(source_->counters().missing, dropped);
}

TEST_F(UdpSourceTest, AllocatesNothingInOrderAfterWarmUp) {
  open(options());
  std::vector<Bytes> packets;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    packets.push_back(mold_packet({.session = kSession, .sequence = i}, {itch_add({.id = i})}));
  }
  EventBatch batch;
  std::uint64_t allocated = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    send(false, packets[i]);
    send(true, packets[i]);
    const std::uint64_t before = allocation_count();
    for (int call = 0; call < 3; ++call) (void)source_->next(batch);
    if (i >= 100) allocated += allocation_count() - before;
  }
  EXPECT_EQ(allocated, 0U);
  EXPECT_EQ(source_->counters().events, 200U);
}

TEST_F(UdpSourceTest, CountsWhatIsNotOfItsProtocol) {
  open(options());
  send(false, Bytes(7));
  drain();
  EXPECT_EQ(source_->counters().malformed, 1U);
  EXPECT_EQ(source_->counters().records, 1U);
}

TEST_F(UdpSourceTest, SaysWhatIsWrongWithItsOptions) {
  const auto expect_refused = [&](const UdpSourceOptions& wrong, const std::string& part) {
    const auto opened = UdpSource::open(wrong, clock_);
    ASSERT_FALSE(opened.ok());
    EXPECT_NE(opened.error().message().find(part), std::string::npos) << opened.error().message();
  };
  UdpSourceOptions wrong = options();
  wrong.feed.format = FeedFormat::kLobster;
  expect_refused(wrong, "moldudp64, iex, pitch or mdp3");
  wrong = options();
  wrong.lines = {"127.0.0.1:1000"};
  expect_refused(wrong, "not a multicast group");
  wrong.lines = {"239.1.2.3"};
  expect_refused(wrong, "239.1.2.3:26477");
  wrong.lines = {};
  expect_refused(wrong, "one to four lines");
  wrong = options();
  wrong.interface = "none0";
  expect_refused(wrong, "none0");
  wrong = options();
  wrong.feed.format = FeedFormat::kIex;
  wrong.request_server = "127.0.0.1:1";
  expect_refused(wrong, "only MoldUDP64");
}

}  // namespace
}  // namespace tocsin
