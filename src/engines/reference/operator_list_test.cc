// docs/operators.md against the lists in the code: a table that went stale fails here.
#include "engines/reference/operator_list.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engines/native/row_operators.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

struct Row {
  std::string inputs, ahead;
};

// The rows below the heading "## domain", by operator.
std::map<std::string, Row> documented(const std::string& domain) {
  std::ifstream file(tocsin_source_path("docs/operators.md"));
  std::map<std::string, Row> rows;
  bool is_here = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) is_here = line == "## " + domain;
    if (!is_here || !line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, '|');) {
      const std::size_t first = cell.find_first_not_of(" `");
      const std::size_t last = cell.find_last_not_of(" `");
      cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
    }
    EXPECT_EQ(cells.size(), 5U) << line;
    if (cells.size() != 5) continue;
    EXPECT_TRUE(rows.emplace(cells[1], Row{cells[2], cells[3]}).second) << line;
  }
  return rows;
}

std::string input_text(const OperatorEntry& entry) {
  constexpr std::size_t kManyInputs = 1'000;
  const std::string least = std::to_string(entry.input_count_min);
  if (entry.input_count_max == entry.input_count_min) return least;
  return entry.input_count_max > kManyInputs
             ? least + " or more"
             : least + " to " + std::to_string(entry.input_count_max);
}

// How the lists of the native engine say that an operator is worked ahead; other ways are told by
// words of their own.
void expect_ahead(const std::string& name, const std::string& ahead) {
  EXPECT_EQ(ahead == "element", contains(kElementwiseOperators, name)) << name;
  EXPECT_EQ(ahead == "layout", contains(kLayoutOperators, name)) << name;
  EXPECT_EQ(ahead == "last axis", contains(kAlongLastAxisOperators, name)) << name;
}

TEST(OperatorList, IsThatOfTheDocument) {
  for (const std::string domain : {"ai.onnx", "ai.onnx.ml"}) {
    std::map<std::string, Row> rows = documented(domain);
    for (const OperatorEntry& entry : operators_of(domain == "ai.onnx" ? "" : domain)) {
      const std::string name(entry.name);
      const auto found = rows.find(name);
      if (found == rows.end()) {
        ADD_FAILURE() << name << " of " << domain << " is not in docs/operators.md";
        continue;
      }
      EXPECT_EQ(found->second.inputs, input_text(entry)) << name;
      expect_ahead(name, found->second.ahead);
      rows.erase(found);
    }
    for (const auto& [name, row] : rows)
      ADD_FAILURE() << "docs/operators.md lists " << name << " of " << domain
                    << ", which the code does not have";
  }
}

TEST(OperatorList, NamesWorkedAheadAreNamesOfOperators) {
  for (const auto names : {std::span<const std::string_view>(kElementwiseOperators),
                           std::span<const std::string_view>(kLayoutOperators),
                           std::span<const std::string_view>(kAlongLastAxisOperators)})
    for (const std::string_view name : names) EXPECT_NE(find_operator("", name), nullptr) << name;
}

}  // namespace
}  // namespace tocsin
