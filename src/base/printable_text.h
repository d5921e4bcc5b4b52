// Text from outside made fit for terminals and JSON.
#pragma once

#include <string>
#include <string_view>

namespace tocsin {

// The text with each control character and each byte that is not part of UTF-8 replaced by '?'.
// Tabs and line ends too: a message is one line.
std::string printable_text(std::string_view text);
// The same, but line ends ('\n') stay.
std::string printable_lines(std::string_view text);

}  // namespace tocsin
