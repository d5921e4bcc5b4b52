#include "cli/text_table.h"

#include <gtest/gtest.h>

namespace tocsin {
namespace {

TEST(TextTable, AlignsNumbersToTheRight) {
  TextTable table({"name", "count"});
  table.add_row({"a", "1"});
  table.add_row({"longer", "1,234"});
  EXPECT_EQ(table.text(),
            "  name    count\n"
            "  a           1\n"
            "  longer  1,234\n");
}

TEST(TextTable, WritesNumbersForPeople) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(1234567), "1,234,567");
  EXPECT_EQ(readable_duration(850), "850 ns");
  EXPECT_EQ(readable_duration(12'345), "12.35 us");
  EXPECT_EQ(readable_duration(4'560'000), "4.56 ms");
}

}  // namespace
}  // namespace tocsin
