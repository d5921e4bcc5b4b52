// Any bytes: the reader must answer with an error or with values, and what it prints as the
// effective configuration must read back to the same values.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "config/yaml_reader.h"

namespace {

using tocsin::YamlRange;
using tocsin::YamlReader;

constexpr std::array<std::string_view, 3> kChoices = {"fast", "exact", "off"};

// Every type, in a mapping that nests.
struct Values {
  bool flag = false;
  std::int64_t count = 3;
  std::uint64_t ratio_bits = 0;
  std::string name = "none";
  std::size_t choice = 0;
  std::vector<std::string> names;
  std::vector<std::int64_t> counts;
  std::vector<std::uint64_t> ratios_bits;
  std::vector<Values> items;

  friend bool operator==(const Values&, const Values&) = default;
};

Values read_values(YamlReader reader, int depth_left) {
  Values values;
  double ratio = 0.25;
  std::vector<double> ratios = {0.5};
  reader.read("flag", values.flag);
  reader.read("count", values.count, YamlRange<std::int64_t>{0, 1000});
  reader.read("ratio", ratio, YamlRange<double>{.min = -1e300});
  reader.read("name", values.name);
  reader.read_choice("choice", values.choice, kChoices);
  reader.read("names", values.names);
  reader.read("counts", values.counts);
  reader.read("ratios", ratios);
  values.ratio_bits = std::bit_cast<std::uint64_t>(ratio);
  for (const double item : ratios) values.ratios_bits.push_back(std::bit_cast<std::uint64_t>(item));
  if (depth_left == 0) return values;
  values.items.push_back(read_values(reader.child("child"), depth_left - 1));
  for (YamlReader& item : reader.children("items")) {
    values.items.push_back(read_values(item, depth_left - 1));
  }
  return values;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kDepth = 2;
  const std::string text(data, data + size);
  auto reader = YamlReader::from_text(text, "fuzz.yaml");
  if (!reader.ok()) {
    TOCSIN_ASSERT(reader.error().message().starts_with("fuzz.yaml:"));
    return 0;
  }
  const Values values = read_values(*reader, kDepth);
  const tocsin::Status finished = reader->finish();
  TOCSIN_ASSERT(finished.ok() || finished.error().message().starts_with("fuzz.yaml:"));
  if (!finished.ok()) return 0;
  auto again = YamlReader::from_text(reader->effective(), "again.yaml");
  // The effective text of a file near the limits may pass them.
  if (!again.ok()) {
    TOCSIN_ASSERT(again.error().message().find("expected at most") != std::string::npos);
    return 0;
  }
  TOCSIN_ASSERT(read_values(*again, kDepth) == values);
  TOCSIN_ASSERT(again->finish().ok());
  return 0;
}
