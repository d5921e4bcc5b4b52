// Cells with and without quotes, and lines that are none.
#include "ingest/csv_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tocsin {
namespace {

using testing::ElementsAre;

TEST(CsvRow, SplitsAtTheDelimiter) {
  CsvRow row;
  ASSERT_TRUE(row.split("a,,1.5,", ','));
  EXPECT_THAT(row.cells(), ElementsAre("a", "", "1.5", ""));
  ASSERT_TRUE(row.split("a;b,c", ';'));
  EXPECT_THAT(row.cells(), ElementsAre("a", "b,c"));
  ASSERT_TRUE(row.split("", ','));
  EXPECT_THAT(row.cells(), ElementsAre(""));
}

TEST(CsvRow, UndoesQuotes) {
  CsvRow row;
  ASSERT_TRUE(row.split(R"("a,b","say ""x""",c"d)", ','));
  EXPECT_THAT(row.cells(), ElementsAre("a,b", "say \"x\"", "c\"d"));
}

TEST(CsvRow, RefusesABrokenQuoteInItsCell) {
  CsvRow row;
  EXPECT_FALSE(row.split(R"(a,"b,c)", ','));
  EXPECT_EQ(row.cells().size(), 1U);
  EXPECT_FALSE(row.split(R"(a,b,"c"d,e)", ','));
  EXPECT_EQ(row.cells().size(), 2U);
}

}  // namespace
}  // namespace tocsin
