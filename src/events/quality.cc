// Names of the quality flags.
#include "events/quality.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace tocsin {

std::string quality_names(QualityFlags flags) {
  static constexpr std::array<std::string_view, 14> kNames = {
      "gap",           "duplicate",     "out_of_order",   "time_backwards",
      "crossed_book",  "bad_quantity",  "bad_timestamp",  "snapshot",
      "venue_suspect", "unknown_order", "book_untrusted", "not_trading",
      "trade_gap",     "stale_feed"};
  std::string text;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if ((flags.bits() >> i & 1U) == 0) continue;
    if (!text.empty()) text += ", ";
    text += kNames[i];
  }
  return text;
}

}  // namespace tocsin
