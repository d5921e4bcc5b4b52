// Packed weights are shared by content, and live as long as somebody holds them.
#include "engines/reference/weight_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace tocsin {
namespace {

constexpr std::size_t kOutputs = 20;
constexpr std::size_t kInputs = 6;

// Row-major [kOutputs, kInputs].
MatrixView view_of(const std::vector<float>& values) {
  return {values.data(), kOutputs, kInputs, kInputs, 1};
}

std::vector<float> some_weights() {
  std::vector<float> values(kOutputs * kInputs);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.25F * static_cast<float>(i);
  return values;
}

SharedWeights pack(WeightStore& store, const std::vector<float>& values,
                   const DenseWeightsOptions& options = {}) {
  Result<SharedWeights> packed = store.pack(view_of(values), options, true);
  EXPECT_TRUE(packed.ok());
  return *packed;
}

TEST(WeightStore, EqualWeightsAreSharedBetweenSessions) {
  const std::vector<float> values = some_weights();
  const std::vector<float> same = some_weights();
  WeightStore first{QuantisationOptions{}};
  WeightStore second{QuantisationOptions{}};
  EXPECT_EQ(pack(first, values), pack(second, same));
  EXPECT_EQ(first.size_bytes(), second.size_bytes());
}

TEST(WeightStore, WeightsThatDifferInOneValueOrInTheirPackingAreApart) {
  const std::vector<float> values = some_weights();
  std::vector<float> other = values;
  other.back() += 1.0F;
  WeightStore first{QuantisationOptions{}};
  WeightStore second{QuantisationOptions{}};
  const SharedWeights packed = pack(first, values);
  EXPECT_NE(packed, pack(second, other));
  DenseWeightsOptions bfloat16;
  bfloat16.precision = Precision::kBfloat16;
  EXPECT_NE(packed, pack(second, values, bfloat16));
}

TEST(WeightStore, AMatrixAndItsTransposeAreApart) {
  const std::vector<float> values = some_weights();
  WeightStore store{QuantisationOptions{}};
  const Result<SharedWeights> across =
      store.pack({values.data(), kOutputs, kInputs, 1, kOutputs}, {}, true);
  ASSERT_TRUE(across.ok());
  EXPECT_NE(*across, pack(store, values));
}

TEST(WeightStore, WeightsGoWithTheLastSessionThatHoldsThem) {
  const std::vector<float> values = some_weights();
  std::weak_ptr<const DenseWeights> watched;
  {
    WeightStore first{QuantisationOptions{}};
    watched = pack(first, values);
    {
      WeightStore second{QuantisationOptions{}};
      pack(second, values);
    }
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace tocsin
