// The message types of IEX's DEEP 1.0 and TOPS 1.5 and 1.6: their sizes and names, and the header
// of IEX-TP, which carries them. Sources: IEX's "DEEP Specification", "TOPS Specification" and
// "Transport Specification". A later version may append fields, so a message may be longer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tocsin {

struct IexMessageType {
  char letter;
  std::uint8_t size_bytes_min;
  std::uint8_t symbol_offset;  // of the eight letters that name the security; 0: it names none
  std::string_view name;
};

inline constexpr std::array kIexMessageTypes = {
    IexMessageType{'S', 10, 0, "system event"},
    IexMessageType{'D', 31, 10, "security directory"},
    IexMessageType{'H', 22, 10, "trading status"},
    IexMessageType{'I', 18, 10, "retail liquidity indicator"},
    IexMessageType{'O', 18, 10, "operational halt status"},
    IexMessageType{'P', 19, 10, "short sale price test status"},
    IexMessageType{'E', 18, 10, "security event"},
    IexMessageType{'8', 30, 10, "price level update, buy"},
    IexMessageType{'5', 30, 10, "price level update, sell"},
    IexMessageType{'Q', 42, 10, "quote update"},
    IexMessageType{'T', 38, 10, "trade report"},
    IexMessageType{'X', 26, 10, "official price"},
    IexMessageType{'B', 38, 10, "trade break"},
    IexMessageType{'A', 80, 10, "auction information"},
};

// By type letter: the index in kIexMessageTypes; kIexMessageTypes.size() for an unknown letter.
inline constexpr std::array<std::uint8_t, 256> kIexTypeByLetter = [] {
  std::array<std::uint8_t, 256> indices{};
  indices.fill(kIexMessageTypes.size());
  for (std::size_t i = 0; i < kIexMessageTypes.size(); ++i) {
    indices[static_cast<unsigned char>(kIexMessageTypes[i].letter)] = static_cast<std::uint8_t>(i);
  }
  return indices;
}();

inline constexpr std::uint16_t kIexTops15 = 0x8002;
inline constexpr std::uint16_t kIexTops16 = 0x8003;
inline constexpr std::uint16_t kIexDeep10 = 0x8004;
inline constexpr std::uint16_t kIexDeepPlus = 0x8005;
inline constexpr std::size_t kIexTpHeaderBytes = 40;

}  // namespace tocsin
