// Quality flags: what was wrong with an event, a book or the input behind a decision.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

namespace tocsin {

enum class Quality : std::uint16_t {
  kGap = 1U << 0,             // sequence numbers are missing before this event
  kDuplicate = 1U << 1,       // seen before; not applied
  kOutOfOrder = 1U << 2,      // sequence below the last one; not applied
  kTimeBackwards = 1U << 3,   // exchange time below the last one of this source
  kCrossedBook = 1U << 4,     // best bid >= best ask outside an auction
  kBadQuantity = 1U << 5,     // negative, or more taken than rested
  kBadTimestamp = 1U << 6,    // the venue itself marks the receive time as unreliable
  kSnapshot = 1U << 7,        // part of a snapshot, not of live trading
  kVenueSuspect = 1U << 8,    // the venue itself marks the book as possibly bad
  kUnknownOrder = 1U << 9,    // names an order never seen
  kBookUntrusted = 1U << 10,  // no snapshot yet, or a gap not healed: see OrderBook::trusted()
  kNotTrading = 1U << 11,     // halt, auction or closed
  kTradeGap = 1U << 12,       // trade prints are missing before this event; the book is whole
  kStaleFeed = 1U << 13,      // a live feed has fallen silent while its connection stands
};

class QualityFlags {
 public:
  constexpr QualityFlags() = default;
  constexpr QualityFlags(Quality flag) : bits_(static_cast<std::uint16_t>(flag)) {}
  static constexpr QualityFlags from_bits(std::uint16_t bits) {
    QualityFlags flags;
    flags.bits_ = bits;
    return flags;
  }

  constexpr bool has(Quality flag) const noexcept {
    return (bits_ & static_cast<std::uint16_t>(flag)) != 0;
  }
  constexpr bool any() const noexcept { return bits_ != 0; }
  constexpr std::uint16_t bits() const noexcept { return bits_; }
  constexpr QualityFlags& operator|=(QualityFlags other) noexcept {
    bits_ = static_cast<std::uint16_t>(bits_ | other.bits_);
    return *this;
  }
  constexpr void remove(Quality flag) noexcept {
    bits_ = static_cast<std::uint16_t>(bits_ & ~static_cast<std::uint16_t>(flag));
  }
  friend constexpr QualityFlags operator|(QualityFlags a, QualityFlags b) noexcept {
    return a |= b;
  }
  friend constexpr bool operator==(QualityFlags, QualityFlags) = default;

 private:
  std::uint16_t bits_ = 0;
};
static_assert(std::is_trivially_copyable_v<QualityFlags> && sizeof(QualityFlags) == 2);

constexpr QualityFlags operator|(Quality a, Quality b) noexcept {
  return QualityFlags(a) | QualityFlags(b);
}

// "gap, crossed_book"; empty if none is set.
std::string quality_names(QualityFlags flags);

}  // namespace tocsin
