// The message types of NASDAQ TotalView-ITCH 5.0: their sizes and names.
// Source: "NASDAQ TotalView-ITCH 5.0" specification, with the later direct-listing message 'O'.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tocsin {

struct ItchMessageType {
  char letter;
  std::uint8_t size_bytes;     // the whole message, its type letter included
  std::uint8_t symbol_offset;  // of the eight letters that name the stock; 0: it names none
  std::string_view name;
};

inline constexpr std::array kItchMessageTypes = {
    ItchMessageType{'S', 12, 0, "system event"},
    ItchMessageType{'R', 39, 11, "stock directory"},
    ItchMessageType{'H', 25, 11, "trading action"},
    ItchMessageType{'Y', 20, 11, "short sale restriction"},
    ItchMessageType{'L', 26, 15, "market participant position"},
    ItchMessageType{'V', 35, 0, "circuit breaker levels"},
    ItchMessageType{'W', 12, 0, "circuit breaker status"},
    ItchMessageType{'K', 28, 11, "IPO quoting period"},
    ItchMessageType{'J', 35, 11, "auction collar"},
    ItchMessageType{'h', 21, 11, "operational halt"},
    ItchMessageType{'A', 36, 24, "add order"},
    ItchMessageType{'F', 40, 24, "add order with participant"},
    ItchMessageType{'E', 31, 0, "order executed"},
    ItchMessageType{'C', 36, 0, "order executed with price"},
    ItchMessageType{'X', 23, 0, "order cancel"},
    ItchMessageType{'D', 19, 0, "order delete"},
    ItchMessageType{'U', 35, 0, "order replace"},
    ItchMessageType{'P', 44, 24, "trade"},
    ItchMessageType{'Q', 40, 19, "cross trade"},
    ItchMessageType{'B', 19, 0, "broken trade"},
    ItchMessageType{'I', 50, 28, "order imbalance"},
    ItchMessageType{'N', 20, 11, "retail price improvement"},
    ItchMessageType{'O', 48, 11, "direct listing price"},
};
inline constexpr std::size_t kItchMessageSizeMax = 50;

// By type letter: the index in kItchMessageTypes; kItchMessageTypes.size() for a letter that ITCH
// 5.0 does not have.
inline constexpr std::array<std::uint8_t, 256> kItchTypeByLetter = [] {
  std::array<std::uint8_t, 256> indices{};
  indices.fill(kItchMessageTypes.size());
  for (std::size_t i = 0; i < kItchMessageTypes.size(); ++i) {
    indices[static_cast<unsigned char>(kItchMessageTypes[i].letter)] = static_cast<std::uint8_t>(i);
  }
  return indices;
}();

// The type whose letter opens a message; null for a letter that ITCH 5.0 does not have.
constexpr const ItchMessageType* itch_message_type(std::byte letter) noexcept {
  const std::size_t index = kItchTypeByLetter[static_cast<std::size_t>(letter)];
  return index < kItchMessageTypes.size() ? &kItchMessageTypes[index] : nullptr;
}

}  // namespace tocsin
