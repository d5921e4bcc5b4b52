// Alert ids as text.
#include "sinks/sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tocsin {
namespace {

constexpr std::string_view kIdScheme = "tocsin:";
constexpr unsigned kBitsPerDigit = 4;
constexpr unsigned kShortDigits = 8;

}  // namespace

std::string format_alert_id(AlertId id) { return fmt::format("{}{:016x}", kIdScheme, id.value); }

std::string format_short_alert_id(AlertId id) {
  return format_alert_id(id).substr(0, kIdScheme.size() + kShortDigits);
}

bool AlertIdPrefix::matches(AlertId id) const noexcept {
  const unsigned free_bits = kBitsPerDigit * (kDigitsMax - digit_count);
  return (id.value ^ value) >> free_bits == 0;
}

Result<AlertIdPrefix> parse_alert_id(std::string_view text) {
  const std::string_view digits =
      text.starts_with(kIdScheme) ? text.substr(kIdScheme.size()) : text;
  AlertIdPrefix prefix;
  prefix.digit_count = static_cast<unsigned>(std::min<std::size_t>(digits.size(), 99));
  const auto parsed =
      std::from_chars(digits.data(), digits.data() + digits.size(), prefix.value, 16);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() ||
      prefix.digit_count < AlertIdPrefix::kDigitsMin ||
      prefix.digit_count > AlertIdPrefix::kDigitsMax)
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is no alert id: expected {} to {} hexadecimal digits, with or "
                    "without '{}' before them",
                    text, AlertIdPrefix::kDigitsMin, AlertIdPrefix::kDigitsMax, kIdScheme));
  prefix.value <<= kBitsPerDigit * (AlertIdPrefix::kDigitsMax - prefix.digit_count);
  return prefix;
}

Error ambiguous_alert_id(std::string_view text, std::span<const AlertId> ids) {
  constexpr std::size_t kNamedMax = 5;
  std::string message = fmt::format("{} ids begin with '{}':", ids.size(), text);
  for (const AlertId id : ids.first(std::min(ids.size(), kNamedMax)))
    message += " " + format_alert_id(id);
  if (ids.size() > kNamedMax) message += " ...";
  return Error(ErrorCode::kInvalidArgument, message);
}

}  // namespace tocsin
