// The message types of Cboe's Multicast PITCH with four-byte times: their least sizes and names.
// Sources: its specifications for US equities and options, complex options, and futures (CFE).
// Versions and products differ in what they append, so a message may be longer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tocsin {

enum class PitchType : std::uint8_t {
  kTime = 0x20,
  kAddLong = 0x21,
  kAddShort = 0x22,
  kExecuted = 0x23,
  kExecutedAtPrice = 0x24,
  kReduceLong = 0x25,
  kReduceShort = 0x26,
  kModifyLong = 0x27,
  kModifyShort = 0x28,
  kDelete = 0x29,
  kTradeLong = 0x2A,
  kTradeShort = 0x2B,
  kTradeBreak = 0x2C,
  kEndOfSession = 0x2D,
  kSymbolMapping = 0x2E,
  kAddExpanded = 0x2F,
  kTradeExpanded = 0x30,
  kTradingStatus = 0x31,
  kAuctionUpdate = 0x95,
  kAuctionSummary = 0x96,
  kUnitClear = 0x97,
  kRetailPriceImprovement = 0x98,
  kComplexDefinition = 0x9A,
  kAuctionNotification = 0xAD,
  kAuctionCancel = 0xAE,
  kAuctionTrade = 0xAF,
  kTimeReference = 0xB1,
  kSettlement = 0xB9,
  kEndOfDaySummary = 0xBA,
  kFuturesDefinition = 0xBB,
  kTransactionBegin = 0xBC,
  kTransactionEnd = 0xBD,
  kComplexAuctionUpdate = 0xD1,
};

struct PitchMessageType {
  PitchType type;
  std::uint8_t size_bytes_min;
  std::string_view name;
};

inline constexpr std::array kPitchMessageTypes = {
    PitchMessageType{PitchType::kTime, 6, "time"},
    PitchMessageType{PitchType::kAddLong, 33, "add order, long"},
    PitchMessageType{PitchType::kAddShort, 25, "add order, short"},
    PitchMessageType{PitchType::kExecuted, 26, "order executed"},
    PitchMessageType{PitchType::kExecutedAtPrice, 38, "order executed at price"},
    PitchMessageType{PitchType::kReduceLong, 18, "reduce size, long"},
    PitchMessageType{PitchType::kReduceShort, 16, "reduce size, short"},
    PitchMessageType{PitchType::kModifyLong, 26, "modify order, long"},
    PitchMessageType{PitchType::kModifyShort, 18, "modify order, short"},
    PitchMessageType{PitchType::kDelete, 14, "delete order"},
    PitchMessageType{PitchType::kTradeLong, 41, "trade, long"},
    PitchMessageType{PitchType::kTradeShort, 33, "trade, short"},
    PitchMessageType{PitchType::kTradeBreak, 14, "trade break"},
    PitchMessageType{PitchType::kEndOfSession, 6, "end of session"},
    PitchMessageType{PitchType::kSymbolMapping, 29, "symbol mapping"},
    PitchMessageType{PitchType::kAddExpanded, 35, "add order, expanded"},
    PitchMessageType{PitchType::kTradeExpanded, 43, "trade, expanded"},
    PitchMessageType{PitchType::kTradingStatus, 15, "trading status"},
    PitchMessageType{PitchType::kAuctionUpdate, 6, "auction update"},
    PitchMessageType{PitchType::kAuctionSummary, 6, "auction summary"},
    PitchMessageType{PitchType::kUnitClear, 6, "unit clear"},
    PitchMessageType{PitchType::kRetailPriceImprovement, 6, "retail price improvement"},
    PitchMessageType{PitchType::kComplexDefinition, 12, "complex instrument definition"},
    PitchMessageType{PitchType::kAuctionNotification, 6, "auction notification"},
    PitchMessageType{PitchType::kAuctionCancel, 6, "auction cancel"},
    PitchMessageType{PitchType::kAuctionTrade, 6, "auction trade"},
    PitchMessageType{PitchType::kTimeReference, 6, "time reference"},
    PitchMessageType{PitchType::kSettlement, 6, "settlement"},
    PitchMessageType{PitchType::kEndOfDaySummary, 6, "end of day summary"},
    PitchMessageType{PitchType::kFuturesDefinition, 38, "futures instrument definition"},
    PitchMessageType{PitchType::kTransactionBegin, 6, "transaction begin"},
    PitchMessageType{PitchType::kTransactionEnd, 6, "transaction end"},
    PitchMessageType{PitchType::kComplexAuctionUpdate, 6, "complex auction update"},
};

// By type byte: the index in kPitchMessageTypes; kPitchMessageTypes.size() for an unknown one.
inline constexpr std::array<std::uint8_t, 256> kPitchTypeByByte = [] {
  std::array<std::uint8_t, 256> indices{};
  indices.fill(kPitchMessageTypes.size());
  for (std::size_t i = 0; i < kPitchMessageTypes.size(); ++i) {
    indices[static_cast<std::size_t>(kPitchMessageTypes[i].type)] = static_cast<std::uint8_t>(i);
  }
  return indices;
}();

inline constexpr std::size_t kPitchHeaderBytes = 8;  // length, count, unit, sequence

}  // namespace tocsin
