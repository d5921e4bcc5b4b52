// YAML scalars: which type a plain one has (YAML 1.2 core schema), and values written so that they
// read back equal. Locale-free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tocsin {

enum class PlainKind : std::uint8_t { kNull, kBool, kInteger, kFloat, kString };

// The type of a scalar without quotes (YAML 1.2.2, section 10.3.2).
PlainKind plain_kind(std::string_view text);

// Decimal or 0x…; empty for a fraction, a leading zero (octal in YAML 1.1, decimal in 1.2) or more
// than 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view text);
// Empty for infinities, NaN and what overflows or underflows to them.
std::optional<double> parse_double(std::string_view text);

std::string yaml_text(bool value);
std::string yaml_text(std::int64_t value);
// The shortest text that reads back to the same bits; `value` is finite.
std::string yaml_text(double value);
// Plain where that is safe, else in double quotes.
std::string yaml_text(std::string_view value);
std::string yaml_text(const char* value) = delete;  // would be taken for a bool

// `text` for a message: one line, control characters escaped, cut after `size_bytes_max` with "…".
std::string printable(std::string_view text, std::size_t size_bytes_max = 80);

}  // namespace tocsin
