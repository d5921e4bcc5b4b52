// Validators that name what they expect.
#include "cli/option_values.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

#include "engines/engine.h"

namespace tocsin {

CLI::Validator number_in(double low, double high) {
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

CLI::Validator engine_name() {
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

CLI::Validator named_number(const std::vector<std::pair<std::string, int>>& values) {
  std::string names;
  for (const auto& [name, value] : values) names += (names.empty() ? "" : ", ") + name;
  return CLI::Validator(
      [values, names](std::string& text) {
        for (const auto& [name, value] : values) {
          if (name != text) continue;
          text = std::to_string(value);
          return std::string();
        }
        return fmt::format("expected one of {}, found '{}'", names, text);
      },
      names);
}

}  // namespace tocsin
