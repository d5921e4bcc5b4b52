// What an option may be: numbers in a range, NaN excluded, and names that stand for values. The
// errors say what was expected.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/engine.h"

namespace tocsin {

inline CLI::Validator number_in(double low, double high) {
  const std::string range = fmt::format("from {} to {}", low, high);
  return CLI::Validator(
      [low, high, range](std::string& text) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool fits = error == std::errc() && end == text.data() + text.size() &&
                          value >= low && value <= high;
        return fits ? std::string() : fmt::format("expected a number {}, found '{}'", range, text);
      },
      range);
}

// The name of one of the engines.
inline CLI::Validator engine_name() {
  std::string names;
  for (const std::string_view name : engine_names())
    names += (names.empty() ? "" : ", ") + std::string(name);
  return CLI::Validator(
      [names](std::string& text) {
        for (const std::string_view name : engine_names())
          if (name == text) return std::string();
        return fmt::format("no engine is named '{}'; the engines are {}", text, names);
      },
      names);
}

// T is an enumeration or bool.
template <typename T>
CLI::Validator named_value(const std::vector<std::pair<std::string, T>>& values) {
  std::string names;
  for (const auto& [name, value] : values) names += (names.empty() ? "" : ", ") + name;
  return CLI::Validator(
      [values, names](std::string& text) {
        for (const auto& [name, value] : values) {
          if (name != text) continue;
          text = std::to_string(static_cast<int>(value));
          return std::string();
        }
        return fmt::format("expected one of {}, found '{}'", names, text);
      },
      names);
}

}  // namespace tocsin
