// In order, nothing is copied; ahead of a hole, datagrams are kept by their first number.
#include "ingest/line_arbiter.h"

#include <algorithm>
#include <utility>

namespace tocsin {

LineArbiter::Verdict LineArbiter::offer(const Datagram& datagram, const PacketRange& range,
                                        std::int64_t now_ns) {
  const auto [place, is_new] = streams_.try_emplace(range.stream);
  Stream& stream = place->second;
  if (is_new) stream.expected = range.first;
  const bool is_new_day = range.first == 1 && stream.expected > 1 &&
                          now_ns - stream.last_messages_ns >= options_.new_day_ns;
  if (is_new_day) begin_anew(stream, range.first);
  const std::uint64_t end = range.first + std::min(range.count, UINT64_MAX - range.first);
  if (range.first > stream.expected && range.first - stream.expected > options_.jump_max) {
    const bool is_led_to = range.first == stream.far_next;
    stream.far_next = end;
    if (!is_led_to) {
      ++counters_.implausible;
      return Verdict::kSeen;
    }
    begin_anew(stream, range.first);
  }
  if (range.first <= stream.expected) {
    // A heartbeat that announces the next number says nothing new, but must be seen by the decoder.
    const bool announces = range.count == 0 && range.first == stream.expected;
    if (end <= stream.expected && !announces) {
      ++counters_.seen;
      return Verdict::kSeen;
    }
    if (range.count > 0) stream.last_messages_ns = now_ns;
    pass(stream, range.first, range.count);
    watch_hole(stream);
    return Verdict::kPass;
  }
  const auto [slot, added] = stream.held.try_emplace(range.first);
  Held& held = slot->second;
  if (!added && held.count >= range.count) {
    ++counters_.seen;
    return Verdict::kSeen;
  }
  if (added) {
    ++held_count_;
    held.arrival_ns = now_ns;
  }
  held.payload.assign(datagram.payload.begin(), datagram.payload.end());
  held.datagram = datagram;
  held.count = range.count;
  if (range.count > 0) stream.last_messages_ns = now_ns;
  ++counters_.held;
  watch_hole(stream);
  return Verdict::kHeld;
}

void LineArbiter::begin_anew(Stream& stream, std::uint64_t first) noexcept {
  held_count_ -= stream.held.size();
  stream.held.clear();
  stream.hole_end = 0;
  stream.expected = first;
}

void LineArbiter::pass(Stream& stream, std::uint64_t first, std::uint64_t count) noexcept {
  const std::uint64_t end = first + std::min(count, UINT64_MAX - first);
  if (stream.hole_end > stream.expected && end > stream.expected) {
    counters_.recovered += std::min(end, stream.hole_end) - stream.expected;
  }
  stream.expected = std::max(stream.expected, end);
  ++counters_.passed;
}

// A hole's time begins when the first datagram behind it came, however long other holes were waited
// for, and does not begin anew when a part of it is filled.
void LineArbiter::watch_hole(Stream& stream) noexcept {
  if (stream.held.empty() || stream.held.begin()->first <= stream.expected) {
    stream.hole_end = 0;
    return;
  }
  const std::uint64_t end = stream.held.begin()->first;
  if (stream.hole_end != 0 && end <= stream.hole_end) {
    stream.hole_end = end;
    return;
  }
  stream.hole_end = end;
  stream.hole_since_ns = stream.held.begin()->second.arrival_ns;
  ++counters_.holes;
}

bool LineArbiter::release(std::int64_t now_ns, Datagram& datagram) {
  if (held_count_ == 0) return false;
  for (auto& [key, stream] : streams_) {
    while (!stream.held.empty()) {
      const auto first = stream.held.begin();
      if (first->first > stream.expected) {
        const bool is_over = now_ns - stream.hole_since_ns >= options_.hole_wait_ns ||
                             held_count_ > options_.held_max;
        if (!is_over) break;
        ++counters_.given_up;
        stream.hole_end = 0;
        stream.expected = first->first;
      }
      const std::uint64_t number = first->first;
      const std::uint64_t end = number + std::min(first->second.count, UINT64_MAX - number);
      released_ = std::move(first->second);
      stream.held.erase(first);
      --held_count_;
      const bool announces = released_.count == 0 && number == stream.expected;
      if (end <= stream.expected && !announces) {
        ++counters_.seen;
        continue;
      }
      pass(stream, number, released_.count);
      watch_hole(stream);
      datagram = released_.datagram;
      datagram.payload = released_.payload;
      return true;
    }
  }
  return false;
}

std::optional<PacketRange> LineArbiter::hole() const noexcept {
  const Stream* oldest = nullptr;
  std::uint64_t oldest_key = 0;
  for (const auto& [key, stream] : streams_) {
    if (stream.hole_end == 0) continue;
    if (oldest != nullptr && oldest->hole_since_ns <= stream.hole_since_ns) continue;
    oldest = &stream;
    oldest_key = key;
  }
  if (oldest == nullptr) return std::nullopt;
  return PacketRange{.stream = oldest_key,
                     .first = oldest->expected,
                     .count = oldest->hole_end - oldest->expected};
}

std::optional<std::int64_t> LineArbiter::hole_end_ns() const noexcept {
  std::optional<std::int64_t> end;
  for (const auto& [key, stream] : streams_) {
    if (stream.hole_end == 0) continue;
    const std::int64_t at = stream.hole_since_ns + options_.hole_wait_ns;
    if (!end || at < *end) end = at;
  }
  return end;
}

}  // namespace tocsin
