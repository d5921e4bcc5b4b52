// Batches in pieces and on threads: the bits of a row alone, and what is refused.
#include "engines/native/native_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "base/allocation_counter.h"
#include "engines/native/native_engine.h"
#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_engine.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSteps = 14;
const std::vector<std::string> kModels = {"lstm_2x16", "gru_1x20", "lstm_both_ways",
                                          "rnn_1x10",  "encoder",  "convolutional"};

FloatModel load_model(Engine& engine, const std::string& name, std::int64_t batch_max,
                      int threads) {
  SessionOptions options;
  options.batch_max = batch_max;
  options.steps = kSteps;
  options.thread_count = threads;
  auto session = engine.load(tocsin_source_path("tests/data/engines/" + name + ".onnx"), options);
  EXPECT_TRUE(session.ok()) << session.error().message();
  return {std::move(*session), kSteps};
}

std::vector<std::uint32_t> run_bits(FloatModel& model, std::vector<float> rows, std::size_t batch) {
  model.set_batch(static_cast<std::int64_t>(batch));
  std::vector<float> outputs(batch * model.output_width());
  EXPECT_TRUE(model.run(rows, outputs)) << model.session().error().message();
  std::vector<std::uint32_t> bits;
  bits.reserve(outputs.size());
  for (const float value : outputs) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

// Rows of finite values, NaN and infinities, each alone on the reference engine, against all of
// them in batches of many sizes on 1 to 5 threads.
TEST(NativeSession, EveryRowHasItsBitsInAnyBatchOnAnyNumberOfThreads) {
  constexpr std::size_t kBatchMax = 256;
  for (const std::string& name : kModels) {
    ReferenceEngine reference;
    NativeEngine native;
    FloatModel alone = load_model(reference, name, 1, 1);
    const std::size_t width = alone.input_width();
    std::vector<float> rows = formula_input(kBatchMax * width);
    for (std::size_t row = 3; row < kBatchMax; row += 7)
      rows[row * width + row % width] = row % 2 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                                     : std::numeric_limits<float>::infinity();
    std::vector<std::uint32_t> expected;
    for (std::size_t row = 0; row < kBatchMax; ++row) {
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(row * width);
      const auto bits =
          run_bits(alone, std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(width)), 1);
      expected.insert(expected.end(), bits.begin(), bits.end());
    }
    for (int threads = 1; threads <= 5; ++threads) {
      FloatModel model = load_model(native, name, kBatchMax, threads);
      for (const std::size_t batch : {1U, 2U, 3U, 5U, 8U, 31U, 64U, 65U, 255U, 256U}) {
        const std::vector<float> some(rows.begin(),
                                      rows.begin() + static_cast<std::ptrdiff_t>(batch * width));
        const auto actual = run_bits(model, some, batch);
        ASSERT_TRUE(std::equal(actual.begin(), actual.end(), expected.begin()))
            << name << ", batch " << batch << ", threads " << threads;
      }
    }
  }
}

TEST(NativeSession, ARunAllocatesNothing) {
  NativeEngine native;
  for (const std::string& name : kModels) {
    FloatModel model = load_model(native, name, 70, 3);
    for (const std::size_t batch : {1U, 9U, 70U}) {
      model.set_batch(static_cast<std::int64_t>(batch));
      std::vector<float> rows = formula_input(batch * model.input_width());
      std::vector<float> outputs(batch * model.output_width());
      const std::uint64_t before = allocation_count();
      const bool ran = model.run(rows, outputs);
      const std::uint64_t after = allocation_count();
      EXPECT_TRUE(ran);
      EXPECT_EQ(after, before) << name << ", batch " << batch;
    }
  }
}

TEST(NativeSession, AModelWhoseRowsMeetRunsWhole) {
  GraphBuilder builder(13);
  const ValueIndex x = builder.input("x", {kFreeDimension, 3});
  const ValueIndex mean = builder.node(
      "ReduceMean", {x}, {{"axes", std::vector<std::int64_t>{0}}, {"keepdims", std::int64_t{1}}});
  builder.output(builder.node("Sub", {x, mean}), {kFreeDimension, 3});
  SessionOptions options;
  options.batch_max = 200;
  options.thread_count = 4;
  auto session = NativeSession::load(builder.finish(), options);
  ASSERT_TRUE(session.ok()) << session.error().message();
  FloatModel model(std::move(*session), 0);
  model.set_batch(200);
  std::vector<float> rows(600);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = i / 3;
    rows[i] = static_cast<float>(row);
  }
  std::vector<float> outputs(600);
  ASSERT_TRUE(model.run(rows, outputs));
  EXPECT_FLOAT_EQ(outputs[0], -99.5F);
  EXPECT_FLOAT_EQ(outputs[599], 99.5F);
}

TEST(NativeSession, ABatchThatDoesNotFitIsRefusedAndTheNextOneRuns) {
  NativeEngine native;
  FloatModel model = load_model(native, "gru_1x20", 12, 2);
  std::vector<float> rows = formula_input(13 * model.input_width());
  std::vector<float> outputs(13 * model.output_width());
  model.set_batch(13);
  EXPECT_FALSE(model.run(rows, outputs));
  EXPECT_THAT(model.session().error().message(), HasSubstr("batches of 1 to 12"));
  model.set_batch(12);
  EXPECT_FALSE(model.run(rows, outputs));
  EXPECT_THAT(model.session().error().message(), HasSubstr("does not fill"));
  rows.resize(12 * model.input_width());
  outputs.resize(12 * model.output_width());
  EXPECT_TRUE(model.run(rows, outputs));
}

}  // namespace
}  // namespace tocsin
