// The core schema by hand: regular expressions and locale-bound conversions are kept out.
#include "config/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <system_error>

#include "base/assert.h"

namespace tocsin {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return text;
}

// Takes the digits at the start of `text` off and tells how many there were.
std::size_t take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

bool looks_like_integer(std::string_view text) {
  if (text.starts_with("0x")) return all_of(text.substr(2), "0123456789abcdefABCDEF");
  if (text.starts_with("0o")) return all_of(text.substr(2), "01234567");
  return all_of(without_sign(text), "0123456789");
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool looks_like_finite_float(std::string_view text) {
  std::string_view rest = without_sign(text);
  const std::size_t whole_count = take_digits(rest);
  std::size_t fraction_count = 0;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction_count = take_digits(rest);
  }
  if (whole_count + fraction_count == 0) return false;
  if (rest.empty()) return true;
  if (rest[0] != 'e' && rest[0] != 'E') return false;
  rest = without_sign(rest.substr(1));
  return take_digits(rest) > 0 && rest.empty();
}

template <typename... Arguments>
std::string chars_of(Arguments... arguments) {
  std::array<char, 32> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), arguments...);
  TOCSIN_ASSERT(error == std::errc{});
  return std::string(buffer.data(), end);
}

// `c` as an escape of a double-quoted YAML scalar, or empty if it stands for itself.
std::string escape_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\r') return "\\r";
  if (byte >= 0x20 && byte != 0x7F) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("\\x") + kDigits[byte >> 4U] + kDigits[byte & 0xFU];
}

bool is_safe_plain(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view kFirst = "_/";
  constexpr std::string_view kOther = "0123456789_/.+-";
  if (text.empty()) return false;
  const auto is_in = [](std::string_view set, char c) {
    return set.find(c) != std::string_view::npos;
  };
  if (!is_in(kLetters, text[0]) && !is_in(kFirst, text[0])) return false;
  for (const char c : text) {
    if (!is_in(kLetters, c) && !is_in(kOther, c)) return false;
  }
  // YAML 1.1 readers take more words for a bool than we do.
  return plain_kind(text) == PlainKind::kString &&
         !is_one_of(text, {"y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On",
                           "ON", "off", "Off", "OFF"});
}

}  // namespace

PlainKind plain_kind(std::string_view text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return PlainKind::kNull;
  if (is_one_of(text, {"true", "True", "TRUE", "false", "False", "FALSE"})) return PlainKind::kBool;
  if (looks_like_integer(text)) return PlainKind::kInteger;
  if (looks_like_finite_float(text)) return PlainKind::kFloat;
  if (is_one_of(without_sign(text), {".inf", ".Inf", ".INF"})) return PlainKind::kFloat;
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return PlainKind::kFloat;
  return PlainKind::kString;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (!looks_like_integer(text) || text.starts_with("0o")) return std::nullopt;
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  } else {
    const std::string_view digits = without_sign(text);
    if (digits.size() > 1 && digits[0] == '0') return std::nullopt;
    if (text[0] == '+') text.remove_prefix(1);
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  if (!looks_like_finite_float(text)) return std::nullopt;
  if (text[0] == '+') text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string yaml_text(bool value) { return value ? "true" : "false"; }

std::string yaml_text(std::int64_t value) { return chars_of(value); }

std::string yaml_text(double value) {
  TOCSIN_ASSERT(std::isfinite(value));
  std::string text = chars_of(value);
  if (looks_like_integer(text)) text += ".0";
  return text;
}

std::string yaml_text(std::string_view value) {
  if (is_safe_plain(value)) return std::string(value);
  std::string text = "\"";
  for (const char c : value) {
    const std::string escape = escape_of(c);
    if (!escape.empty()) {
      text += escape;
      continue;
    }
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  text += '"';
  return text;
}

std::string printable(std::string_view text, std::size_t size_bytes_max) {
  std::string result;
  std::size_t taken = 0;
  while (taken < text.size()) {
    // A cut must not fall inside a UTF-8 sequence.
    const bool at_boundary = (static_cast<unsigned char>(text[taken]) & 0xC0U) != 0x80U;
    if (taken >= size_bytes_max && at_boundary) break;
    const std::string escape = escape_of(text[taken]);
    if (escape.empty()) {
      result += text[taken];
    } else {
      result += escape;
    }
    ++taken;
  }
  if (taken < text.size()) result += "…";
  return result;
}

}  // namespace tocsin
