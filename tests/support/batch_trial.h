// A recurrent model of the tests' data on any engine: batches of every size against the reference.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "engines/engine.h"
#include "engines/reference/reference_engine.h"
#include "support/data_path.h"
#include "support/float_tensor.h"

namespace tocsin {

// An LSTM of [batch, steps, 3] to [batch, 1].
inline std::unique_ptr<Session> load_burst_lstm(Engine& engine, const SessionOptions& options) {
  auto session = engine.load(model_fixture("burst_lstm/model.onnx"), options);
  EXPECT_TRUE(session.ok()) << session.error().message();
  return session.ok() ? std::move(*session) : nullptr;
}

// Also of sizes that the session was not told of.
inline void expect_reference_answers(Engine& engine, int thread_count, float tolerance) {
  constexpr std::uint64_t kSeed = 12;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> normal;
  ReferenceEngine reference_engine;
  const auto reference = load_burst_lstm(reference_engine, {.batch_max = 7, .steps = 60});
  const auto session =
      load_burst_lstm(engine, {.thread_count = thread_count, .batch_max = 6, .steps = 60});
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->signature().inputs[0].shape, (std::vector<std::int64_t>{-1, -1, 3}));
  for (const std::int64_t batch : {3, 1, 6, 2, 7, 5, 4, 6, 1}) {
    FloatTensor x({batch, 60, 3});
    for (float& value : x.values) value = normal(random);
    FloatTensor y({batch, 1});
    FloatTensor expected = y;
    ASSERT_TRUE(reference->run(std::array{x.view()}, std::array{expected.view()}));
    ASSERT_TRUE(session->run(std::array{x.view()}, std::array{y.view()}))
        << session->error().message();
    for (std::size_t i = 0; i < y.values.size(); ++i)
      EXPECT_NEAR(y.values[i], expected.values[i], tolerance) << "batch " << batch;
  }
}

}  // namespace tocsin
