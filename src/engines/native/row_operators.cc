// Attributes and reachability.
#include "engines/native/row_operators.h"

#include <algorithm>

namespace tocsin {
namespace {

template <typename T>
const T* find_value(const GraphNode& node, std::string_view name) {
  const Attribute* attribute = node.find_attribute(name);
  return attribute == nullptr ? nullptr : std::get_if<T>(&attribute->value);
}

}  // namespace

bool contains(std::span<const std::string_view> names, std::string_view name) noexcept {
  return std::ranges::find(names, name) != names.end();
}

std::optional<std::int64_t> int_attribute(const GraphNode& node, std::string_view name) {
  const auto* value = find_value<std::int64_t>(node, name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::vector<std::int64_t> ints_attribute(const GraphNode& node, std::string_view name) {
  const auto* values = find_value<std::vector<std::int64_t>>(node, name);
  return values == nullptr ? std::vector<std::int64_t>() : *values;
}

std::string string_attribute(const GraphNode& node, std::string_view name) {
  const auto* text = find_value<std::string>(node, name);
  return text == nullptr ? std::string() : *text;
}

}  // namespace tocsin
