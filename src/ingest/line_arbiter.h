// Joins the lines of a numbered feed into one sequence: what both lines bring is passed on once,
// and a hole is waited for, since the other line or a retransmission may fill it. No clock, no
// sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ingest/packet_protocol.h"

namespace tocsin {

struct LineArbiterOptions {
  std::int64_t hole_wait_ns = 20'000'000;  // then what is missing is given up
  std::size_t held_max = 4096;             // datagrams; past it the oldest hole is given up
  // A stream begins anew, for a new day, where number one comes after so long without messages.
  std::int64_t new_day_ns = 60'000'000'000;
  // A number further ahead is believed when a second datagram goes on from it.
  std::uint64_t jump_max = std::uint64_t{1} << 24;
};

struct LineArbiterCounters {
  std::uint64_t passed = 0;       // datagrams passed on
  std::uint64_t seen = 0;         // that held nothing new: the other line's, or late ones
  std::uint64_t held = 0;         // that waited for a hole before them
  std::uint64_t holes = 0;        // opened
  std::uint64_t given_up = 0;     // holes that nothing filled; the decoder finds them as gaps
  std::uint64_t recovered = 0;    // numbers of holes that were filled
  std::uint64_t implausible = 0;  // dropped: too far ahead, and nothing before led there
  friend bool operator==(const LineArbiterCounters&, const LineArbiterCounters&) = default;
};

class LineArbiter {
 public:
  enum class Verdict : std::uint8_t {
    kPass,  // to be decoded now
    kHeld,  // copied; it comes out of release() later
    kSeen,  // nothing new
  };

  explicit LineArbiter(const LineArbiterOptions& options) : options_(options) {}

  // Judges a datagram by what it carries. The first one of a stream is its start.
  Verdict offer(const Datagram& datagram, const PacketRange& range, std::int64_t now_ns);
  // The next datagram that was held and may be decoded now: its hole was filled, or is given up.
  // Its payload is valid until the next call of offer() or release().
  bool release(std::int64_t now_ns, Datagram& datagram);
  // Numbers that are waited for, of the stream whose hole is oldest: what to ask for again.
  std::optional<PacketRange> hole() const noexcept;
  // When release() will give up a hole; absent if none is open.
  std::optional<std::int64_t> hole_end_ns() const noexcept;
  const LineArbiterCounters& counters() const noexcept { return counters_; }

 private:
  struct Held {
    std::vector<std::byte> payload;
    Datagram datagram;
    std::uint64_t count = 0;
    std::int64_t arrival_ns = 0;
  };
  struct Stream {
    std::uint64_t expected = 0;
    std::int64_t last_messages_ns = 0;  // when it last brought a message
    std::int64_t hole_since_ns = 0;
    std::uint64_t hole_end = 0;          // of the hole that is waited for; 0: none
    std::map<std::uint64_t, Held> held;  // by first number
    std::uint64_t far_next = 0;          // what would go on from the last implausible one; 0: none
  };

  void pass(Stream& stream, std::uint64_t first, std::uint64_t count) noexcept;
  void watch_hole(Stream& stream) noexcept;
  void begin_anew(Stream& stream, std::uint64_t first) noexcept;

  LineArbiterOptions options_;
  LineArbiterCounters counters_;
  std::map<std::uint64_t, Stream> streams_;
  std::size_t held_count_ = 0;
  Held released_;  // what release() returned last
};

}  // namespace tocsin
