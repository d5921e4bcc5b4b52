// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing past U+10FFFF.
#include "base/printable_text.h"

#include <cstddef>
#include <cstdint>

namespace tocsin {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t index) {
  return index < text.size() ? static_cast<std::uint8_t>(text[index]) : 0;
}

// Bytes of the character at the front; 0 if there is none that may be printed.
std::size_t printable_bytes(std::string_view text) {
  const std::uint8_t first = byte_at(text, 0);
  const std::uint8_t second = byte_at(text, 1);
  const auto follows = [&text](std::size_t index) { return (byte_at(text, index) & 0xC0) == 0x80; };
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  if (first >= 0xC2 && first < 0xE0)
    return follows(1) && (first != 0xC2 || second >= 0xA0) ? 2 : 0;  // C1 controls left out
  if (first >= 0xE0 && first < 0xF0) {
    const bool fits = (first != 0xE0 || second >= 0xA0) && (first != 0xED || second < 0xA0);
    return fits && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const bool fits = (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second < 0x90);
    return fits && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::string printable(std::string_view text, bool keeps_line_ends) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const bool is_kept = keeps_line_ends && text.front() == '\n';
    const std::size_t bytes = is_kept ? 1 : printable_bytes(text);
    if (bytes == 0)
      result += '?';
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

}  // namespace

std::string printable_text(std::string_view text) { return printable(text, false); }

std::string printable_lines(std::string_view text) { return printable(text, true); }

}  // namespace tocsin
