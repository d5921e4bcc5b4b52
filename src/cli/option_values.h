// What an option may be: numbers in a range, NaN excluded, and names that stand for values. The
// errors say what was expected.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class Validator;
}

namespace tocsin {

CLI::Validator number_in(double low, double high);

// The name of one of the engines.
CLI::Validator engine_name();

// Names and the numbers they stand for.
CLI::Validator named_number(const std::vector<std::pair<std::string, int>>& values);

// The numbers of an enumeration's or bool's values.
template <typename T>
std::vector<std::pair<std::string, int>> numbers_of(
    const std::vector<std::pair<std::string, T>>& values) {
  std::vector<std::pair<std::string, int>> numbers;
  numbers.reserve(values.size());
  for (const auto& [name, value] : values) numbers.emplace_back(name, static_cast<int>(value));
  return numbers;
}

}  // namespace tocsin
