#include "base/result.h"

#include <gtest/gtest.h>

#include <string>

namespace tocsin {
namespace {

Result<int> half_of(int value) {
  if (value % 2 != 0) return Error(ErrorCode::kInvalidArgument, std::to_string(value) + " is odd");
  return value / 2;
}

Result<int> quarter_of(int value) {
  TOCSIN_ASSIGN_OR_RETURN(const int half, half_of(value));
  return half_of(half);
}

TEST(Result, CarriesTheValue) {
  const Result<int> quarter = quarter_of(12);
  ASSERT_TRUE(quarter.ok());
  EXPECT_EQ(*quarter, 3);
}

TEST(Result, CarriesTheErrorOfAnInnerCall) {
  const Result<int> quarter = quarter_of(6);
  ASSERT_FALSE(quarter.ok());
  EXPECT_EQ(quarter.error().message(), "3 is odd");
  EXPECT_EQ(quarter.error().within("dividing").message(), "dividing: 3 is odd");
  EXPECT_EQ(error_code_name(quarter.error().code()), "INVALID_ARGUMENT");
}

TEST(Error, MessagesAreFitForATerminalAndForJson) {
  const Error error(ErrorCode::kDataLoss, "node '\x1b[2J\xED': no operator");
  EXPECT_EQ(error.message(), "node '?[2J?': no operator");
  EXPECT_EQ(error.within("a\xFF.onnx").message(), "a?.onnx: node '?[2J?': no operator");
}

TEST(ResultDeathTest, ValueOfAnErrorStopsTheProgram) {
  const Result<int> odd = half_of(1);
  EXPECT_DEATH((void)odd.value(), "broken invariant");
}

}  // namespace
}  // namespace tocsin
