// Small pictures in a terminal: a series as a row of blocks, a book as a ladder. Plain ASCII where
// the terminal's locale is not UTF-8.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/inspector.h"

namespace tocsin {

enum class CharacterSet : std::uint8_t { kAscii, kUtf8 };
// What the environment says of the terminal: LC_ALL, else LC_CTYPE, else LANG.
CharacterSet terminal_character_set();

// One character a value, its height in eighths of the greatest; at most `width` characters, the
// values joined where there are more.
std::string sparkline(std::span<const std::uint64_t> values, std::size_t width,
                      CharacterSet characters);

// Asks from the top down to the best, then bids: bar of the quantity, quantity, price, orders.
std::string ladder_text(const BookPicture& picture, CharacterSet characters);

}  // namespace tocsin
