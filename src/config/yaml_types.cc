// Words for what was expected and what was found.
#include "config/yaml_types.h"

#include <algorithm>
#include <limits>

namespace tocsin {
namespace {

template <typename T>
std::string text_of_range(const YamlRange<T>& range) {
  const bool has_min = range.min > std::numeric_limits<T>::lowest();
  const bool has_max = range.max < std::numeric_limits<T>::max();
  if (has_min && has_max) {
    return " from " + yaml_text(range.min) + " to " + yaml_text(range.max);
  }
  if (has_min) return " of at least " + yaml_text(range.min);
  if (has_max) return " of at most " + yaml_text(range.max);
  return {};
}

}  // namespace

std::string range_text(const YamlRange<std::int64_t>& range) { return text_of_range(range); }
std::string range_text(const YamlRange<double>& range) { return text_of_range(range); }

std::string found_text(const YamlValue& value) {
  switch (value.kind) {
    case YamlValue::Kind::kNull:
      return "nothing";
    case YamlValue::Kind::kSequence:
      return "a sequence";
    case YamlValue::Kind::kMapping:
      return "a mapping";
    case YamlValue::Kind::kScalar:
      break;
  }
  if (value.quoted) return "the string \"" + printable(value.text) + "\"";
  switch (plain_kind(value.text)) {
    case PlainKind::kInteger:
    case PlainKind::kFloat:
      return "the number " + printable(value.text);
    case PlainKind::kBool:
      return "the word " + printable(value.text);
    case PlainKind::kNull:
    case PlainKind::kString:
      break;
  }
  return "the string " + printable(value.text);
}

std::string IntegerType::hint(const YamlValue& found) const {
  const bool is_plain = found.kind == YamlValue::Kind::kScalar && !found.quoted;
  if (!is_plain || plain_kind(found.text) != PlainKind::kInteger || parse_integer(found.text)) {
    return {};
  }
  return "; an integer has no leading zero and at most 64 bits";
}

std::optional<std::size_t> ChoiceType::parse(const YamlValue& scalar) const {
  const auto found = std::find(names.begin(), names.end(), scalar.text);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

std::string ChoiceType::expected() const {
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "one of '" : ", '") + std::string(name) + "'";
  }
  return text;
}

std::string ChoiceType::hint(const YamlValue& found) const {
  if (found.kind != YamlValue::Kind::kScalar) return {};
  const std::string_view nearest = nearest_name(found.text, names);
  return nearest.empty() ? "" : "; nearest known value is '" + std::string(nearest) + "'";
}

}  // namespace tocsin
