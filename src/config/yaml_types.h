// The scalar types a key may be asked for. Each has parse() (empty: not of this type), in_range()
// (may a file say this value?), text() (how it says it); expected() and hint() are for messages.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/yaml_document.h"
#include "config/yaml_reader.h"
#include "config/yaml_scalar.h"

namespace tocsin {

// What stands at a key, in words: "the number 5", "a mapping", "nothing".
std::string found_text(const YamlValue& value);

// " from 1 to 9", " of at least 1", " of at most 9", or empty.
std::string range_text(const YamlRange<std::int64_t>& range);
std::string range_text(const YamlRange<double>& range);

struct BoolType {
  using Value = bool;
  std::optional<bool> parse(const YamlValue& scalar) const {
    if (scalar.quoted || plain_kind(scalar.text) != PlainKind::kBool) return std::nullopt;
    return scalar.text[0] == 't' || scalar.text[0] == 'T';
  }
  std::string expected() const { return "true or false"; }
  bool in_range(bool /*value*/) const { return true; }
  std::string text(bool value) const { return yaml_text(value); }
  std::string hint(const YamlValue& /*found*/) const { return {}; }
};

struct IntegerType {
  using Value = std::int64_t;
  YamlRange<std::int64_t> range;
  std::optional<std::int64_t> parse(const YamlValue& scalar) const {
    return scalar.quoted ? std::nullopt : parse_integer(scalar.text);
  }
  std::string expected() const { return "an integer" + range_text(range); }
  bool in_range(std::int64_t value) const { return value >= range.min && value <= range.max; }
  std::string text(std::int64_t value) const { return yaml_text(value); }
  std::string hint(const YamlValue& found) const;
};

struct DoubleType {
  using Value = double;
  YamlRange<double> range;
  std::optional<double> parse(const YamlValue& scalar) const {
    return scalar.quoted ? std::nullopt : parse_double(scalar.text);
  }
  std::string expected() const { return "a finite number" + range_text(range); }
  bool in_range(double value) const {
    return std::isfinite(value) && value >= range.min && value <= range.max;
  }
  std::string text(double value) const { return yaml_text(value); }
  std::string hint(const YamlValue& /*found*/) const { return {}; }
};

struct StringType {
  using Value = std::string;
  std::optional<std::string> parse(const YamlValue& scalar) const {
    if (!scalar.quoted && plain_kind(scalar.text) != PlainKind::kString) return std::nullopt;
    return scalar.text;
  }
  std::string expected() const { return "a string (numbers and true or false in quotes)"; }
  bool in_range(const std::string& /*value*/) const { return true; }
  std::string text(const std::string& value) const { return yaml_text(std::string_view(value)); }
  std::string hint(const YamlValue& /*found*/) const { return {}; }
};

// A place in a list of names.
struct ChoiceType {
  using Value = std::size_t;
  std::span<const std::string_view> names;
  std::optional<std::size_t> parse(const YamlValue& scalar) const;
  std::string expected() const;
  bool in_range(std::size_t index) const { return index < names.size(); }
  std::string text(std::size_t index) const { return yaml_text(names[index]); }
  std::string hint(const YamlValue& found) const;
};

}  // namespace tocsin
