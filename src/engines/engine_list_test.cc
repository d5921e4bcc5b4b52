#include <gtest/gtest.h>

#include "engines/engine.h"

namespace tocsin {
namespace {

TEST(EngineList, UnknownNameIsAnErrorThatSaysSo) {
  const auto engine = make_engine("abacus");
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(engine.error().message().find("'abacus'"), std::string::npos);
}

TEST(EngineList, MakesEveryEngineItNames) {
  for (const auto& engine : make_engines()) {
    const EngineInfo info = engine->info();
    const auto again = make_engine(info.name);
    EXPECT_EQ(again.ok(), info.found) << info.name << ": " << info.reason;
    if (again.ok()) {
      EXPECT_EQ((*again)->info().name, info.name);
    }
  }
}

TEST(DataType, SizesAreThoseOfTheirStorage) {
  EXPECT_EQ(data_type_size_bytes(DataType::kFloat32), sizeof(float));
  EXPECT_EQ(data_type_size_bytes(DataType::kInt64), sizeof(std::int64_t));
  EXPECT_EQ(data_type_size_bytes(DataType::kBool), sizeof(bool));
  EXPECT_EQ(data_type_name(DataType::kFloat64), "float64");
}

}  // namespace
}  // namespace tocsin
