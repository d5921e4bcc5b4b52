// The layout of DBN records that are decoded, and the names of all record types.
// Source: Databento's public description of DBN (https://databento.com/docs, dbn repository).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace tocsin::dbn {

inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::size_t kLengthUnitBytes = 4;  // the header counts a record in 32-bit words
inline constexpr std::size_t kRecordBytesMax = 255 * kLengthUnitBytes;

// Offsets in the header of every record.
inline constexpr std::size_t kLength = 0;        // 8 bits
inline constexpr std::size_t kRecordType = 1;    // 8
inline constexpr std::size_t kPublisherId = 2;   // 16
inline constexpr std::size_t kInstrumentId = 4;  // 32
inline constexpr std::size_t kEventTime = 8;     // 64, ns since 1970

// Record types that are decoded, or read for names and price steps.
inline constexpr std::uint8_t kTrades = 0x00;
inline constexpr std::uint8_t kMbp1 = 0x01;  // tbbo too
inline constexpr std::uint8_t kMbp10 = 0x0A;
inline constexpr std::uint8_t kDefinition = 0x13;
inline constexpr std::uint8_t kSymbolMapping = 0x16;
inline constexpr std::uint8_t kMbo = 0xA0;

namespace mbo {
inline constexpr std::size_t kSizeBytes = 56;
inline constexpr std::size_t kOrderId = 16;      // 64
inline constexpr std::size_t kPrice = 24;        // 64, signed, nanos
inline constexpr std::size_t kQuantity = 32;     // 32
inline constexpr std::size_t kFlags = 36;        // 8
inline constexpr std::size_t kAction = 38;       // a letter
inline constexpr std::size_t kSide = 39;         // a letter
inline constexpr std::size_t kReceiveTime = 40;  // 64
inline constexpr std::size_t kSequence = 52;     // 32
}  // namespace mbo

// Trades, and the beginning of mbp-1 and mbp-10, which go on with their levels.
namespace trade {
inline constexpr std::size_t kSizeBytes = 48;
inline constexpr std::size_t kPrice = 16;
inline constexpr std::size_t kQuantity = 24;
inline constexpr std::size_t kAction = 28;
inline constexpr std::size_t kSide = 29;
inline constexpr std::size_t kFlags = 30;
inline constexpr std::size_t kReceiveTime = 32;
inline constexpr std::size_t kSequence = 44;
}  // namespace trade

namespace level {
inline constexpr std::size_t kSizeBytes = 32;
inline constexpr std::size_t kBidPrice = 0;
inline constexpr std::size_t kAskPrice = 8;
inline constexpr std::size_t kBidQuantity = 16;  // 32
inline constexpr std::size_t kAskQuantity = 20;  // 32
}  // namespace level

namespace mapping {
inline constexpr std::size_t kSymbolBytesVersion1 = 22;
inline constexpr std::size_t kSymbolBytes = 71;
}  // namespace mapping

namespace definition {
inline constexpr std::size_t kSizeBytesMin = 32;
inline constexpr std::size_t kPriceIncrement = 24;  // 64, nanos
}  // namespace definition

namespace flag {
inline constexpr unsigned kLast = 0x80;        // the last record of the venue's event
inline constexpr unsigned kTopOfBook = 0x40;   // the best level, not an order
inline constexpr unsigned kSnapshot = 0x20;    // replayed, not live
inline constexpr unsigned kAggregated = 0x10;  // a price level, not an order
inline constexpr unsigned kBadReceiveTime = 0x08;
inline constexpr unsigned kMaybeBadBook = 0x04;  // a gap that the capture could not fill
}  // namespace flag

inline constexpr std::int64_t kNoPrice = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint64_t kNoTime = std::numeric_limits<std::uint64_t>::max();

struct RecordType {
  std::uint8_t number;
  std::string_view name;
  std::array<std::size_t, 3> sizes_bytes;  // in versions 1, 2 and 3
};
inline constexpr std::array kRecordTypes = {
    RecordType{kTrades, "trades", {48, 48, 48}},
    RecordType{kMbp1, "mbp-1", {80, 80, 80}},
    RecordType{kMbp10, "mbp-10", {368, 368, 368}},
    RecordType{0x11, "ohlcv", {56, 56, 56}},
    RecordType{0x12, "status", {40, 40, 40}},
    RecordType{kDefinition, "definition", {360, 400, 520}},
    RecordType{0x14, "imbalance", {112, 112, 112}},
    RecordType{0x15, "error", {80, 320, 320}},
    RecordType{kSymbolMapping, "symbol mapping", {80, 176, 176}},
    RecordType{0x17, "system", {80, 320, 320}},
    RecordType{0x18, "statistics", {64, 64, 80}},
    RecordType{0x20, "ohlcv-1s", {56, 56, 56}},
    RecordType{0x21, "ohlcv-1m", {56, 56, 56}},
    RecordType{0x22, "ohlcv-1h", {56, 56, 56}},
    RecordType{0x23, "ohlcv-1d", {56, 56, 56}},
    RecordType{0x24, "ohlcv-eod", {56, 56, 56}},
    RecordType{kMbo, "mbo", {56, 56, 56}},
    RecordType{0xB1, "cmbp-1", {80, 80, 80}},
    RecordType{0xC0, "cbbo-1s", {80, 80, 80}},
    RecordType{0xC1, "cbbo-1m", {80, 80, 80}},
    RecordType{0xC2, "tcbbo", {80, 80, 80}},
    RecordType{0xC3, "bbo-1s", {80, 80, 80}},
    RecordType{0xC4, "bbo-1m", {80, 80, 80}},
};

// Null for a type that DBN up to version 3 does not have.
constexpr const RecordType* record_type(std::uint8_t number) noexcept {
  for (const RecordType& entry : kRecordTypes) {
    if (entry.number == number) return &entry;
  }
  return nullptr;
}

}  // namespace tocsin::dbn
