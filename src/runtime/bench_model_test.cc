#include "runtime/bench_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/data_path.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

ModelSignature signature_of(std::vector<std::int64_t> input, std::vector<std::int64_t> output) {
  return {{{"x", DataType::kFloat32, std::move(input)}},
          {{"y", DataType::kFloat32, std::move(output)}}};
}

std::vector<std::int64_t> shape_of(const TensorView& view) {
  return {view.shape.begin(), view.shape.end()};
}

TEST(BenchModel, APackageBringsItsWindowLengthAndTolerance) {
  const auto model = open_bench_model(tocsin_source_path("models/btcusdt_burst_lstm"), 0);
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(model->name, "btcusdt_burst_lstm/1");
  EXPECT_EQ(model->steps, 50);
  EXPECT_GT(model->tolerance, 0.0F);
  EXPECT_FALSE(open_bench_model(tocsin_source_path("models/no_such_model"), 0).ok());
}

TEST(BatchTensors, FreeAxesAreTheBatchAndTheSteps) {
  auto tensors = BatchTensors::make(signature_of({-1, -1, 3}, {-1, 2}), 4, 10);
  ASSERT_TRUE(tensors.ok()) << tensors.error().message();
  EXPECT_EQ(shape_of(tensors->inputs()[0]), (std::vector<std::int64_t>{4, 10, 3}));
  EXPECT_EQ(shape_of(tensors->outputs()[0]), (std::vector<std::int64_t>{4, 2}));
  EXPECT_EQ(tensors->inputs()[0].size_bytes, 480U);
  // A recurrent state: [layers, batch, units].
  auto state = BatchTensors::make(signature_of({2, -1, 128}, {2, -1, 128}), 4, 10);
  ASSERT_TRUE(state.ok()) << state.error().message();
  EXPECT_EQ(shape_of(state->inputs()[0]), (std::vector<std::int64_t>{2, 4, 128}));
}

TEST(BatchTensors, WhatCannotBeFilledInIsRefused) {
  const auto reason = [](ModelSignature signature, std::int64_t batch, std::int64_t steps) {
    const auto tensors = BatchTensors::make(signature, batch, steps);
    return tensors.ok() ? std::string("made") : tensors.error().message();
  };
  EXPECT_THAT(reason(signature_of({1, 20, 2}, {1, 2}), 32, 0), HasSubstr("fixed at 1"));
  EXPECT_EQ(reason(signature_of({1, 20, 2}, {1, 2}), 1, 0), "made");
  EXPECT_THAT(reason(signature_of({-1, -1, 3}, {-1, 2}), 1, 0), HasSubstr("--steps"));
}

TEST(BatchTensors, ASeedAlwaysGivesTheSameInputs) {
  auto one = BatchTensors::make(signature_of({-1, 64}, {-1, 1}), 100, 0);
  auto two = BatchTensors::make(signature_of({-1, 64}, {-1, 1}), 100, 0);
  one->fill_inputs(7);
  two->fill_inputs(7);
  EXPECT_EQ(difference(one->inputs(), two->inputs()).max_abs_error, 0);
  two->fill_inputs(8);
  EXPECT_GT(difference(one->inputs(), two->inputs()).max_abs_error, 1);
  // Standard normal: of 6,400 values the largest lies between 3 and 6.
  const double largest = difference(one->inputs(), one->inputs()).largest;
  EXPECT_GT(largest, 3);
  EXPECT_LT(largest, 6);
}

TEST(BatchTensors, ANumberAgainstNoNumberIsAnInfiniteDifference) {
  auto one = BatchTensors::make(signature_of({2}, {2}), 1, 0);
  auto two = BatchTensors::make(signature_of({2}, {2}), 1, 0);
  auto* value = static_cast<float*>(one->inputs()[0].data);
  *value = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isinf(difference(one->inputs(), two->inputs()).max_abs_error));
  EXPECT_TRUE(std::isinf(difference(two->inputs(), one->inputs()).max_abs_error));
  EXPECT_EQ(difference(one->inputs(), one->inputs()).max_abs_error, 0);
}

}  // namespace
}  // namespace tocsin
