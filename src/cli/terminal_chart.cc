// Pictures by characters.
#include "cli/terminal_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/decimal.h"

namespace tocsin {
namespace {

constexpr std::size_t kBarWidth = 30;
constexpr std::string_view kEighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kAsciiHeights[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};

// `values` in at most `width` parts as even as may be, each summed.
std::vector<std::uint64_t> joined(std::span<const std::uint64_t> values, std::size_t width) {
  const std::size_t parts = std::min(values.size(), width);
  std::vector<std::uint64_t> sums(parts);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i * parts / values.size()] += values[i];
  return sums;
}

std::string bar(std::int64_t quantity, std::int64_t greatest, CharacterSet characters) {
  const double share = static_cast<double>(quantity) / static_cast<double>(greatest);
  const auto length = static_cast<std::size_t>(share * static_cast<double>(kBarWidth) + 0.5);
  std::string text(kBarWidth - length, ' ');
  for (std::size_t i = 0; i < length; ++i) text += characters == CharacterSet::kUtf8 ? "█" : "#";
  return text;
}

}  // namespace

CharacterSet terminal_character_set() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread sets it
    if (value == nullptr || *value == '\0') continue;
    std::string text(value);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const bool utf8 =
        text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
    return utf8 ? CharacterSet::kUtf8 : CharacterSet::kAscii;
  }
  return CharacterSet::kAscii;
}

std::string sparkline(std::span<const std::uint64_t> values, std::size_t width,
                      CharacterSet characters) {
  const std::vector<std::uint64_t> sums = joined(values, width);
  const std::uint64_t greatest = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  std::string text;
  for (const std::uint64_t sum : sums) {
    // Anything is more than nothing.
    const std::size_t height =
        sum == 0
            ? 0
            : std::max<std::size_t>(
                  1, static_cast<std::size_t>(
                         static_cast<double>(sum) * 8.0 / static_cast<double>(greatest) + 0.5));
    text += characters == CharacterSet::kUtf8 ? kEighths[height] : kAsciiHeights[height];
  }
  return text;
}

std::string ladder_text(const BookPicture& picture, CharacterSet characters) {
  std::int64_t greatest = 1;
  for (const auto* side : {&picture.bids, &picture.asks})
    for (const BookLevel& level : *side) greatest = std::max(greatest, level.quantity_nanos);
  std::string text;
  const auto add = [&](const BookLevel& level, std::string_view side) {
    text += fmt::format(
        "  {}  {:>14}  {:>14}  {}{}\n", bar(level.quantity_nanos, greatest, characters),
        format_decimal_nanos(level.quantity_nanos), format_decimal_nanos(level.price_nanos), side,
        level.order_count > 0 ? fmt::format("  {} orders", level.order_count) : "");
  };
  for (std::size_t i = picture.asks.size(); i-- > 0;) add(picture.asks[i], "ask");
  for (const BookLevel& level : picture.bids) add(level, "bid");
  return text;
}

}  // namespace tocsin
