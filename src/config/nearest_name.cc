// "Did you mean": the nearest name by optimal string alignment (Levenshtein with swaps of
// neighbours; Boytsov, ACM JEA 16, 2011, section 2.1).
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "config/yaml_reader.h"

namespace tocsin {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the classic table: the one before last serves the swaps.
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> known) {
  std::string_view nearest;
  std::size_t nearest_distance = 0;
  for (const std::string_view name : known) {
    const std::size_t longer = std::max(word.size(), name.size());
    const std::size_t shorter = std::min(word.size(), name.size());
    // Near is a third of the letters, and one letter in words of two: the bound also keeps huge
    // words from being compared at all.
    const std::size_t distance_max = longer >= 2 ? std::max<std::size_t>(longer / 3, 1) : 0;
    if (longer - shorter > distance_max) continue;
    const std::size_t distance = edit_distance(word, name);
    if (distance > distance_max) continue;
    if (nearest.data() == nullptr || distance < nearest_distance) {
      nearest = name;
      nearest_distance = distance;
    }
  }
  return nearest;
}

}  // namespace tocsin
