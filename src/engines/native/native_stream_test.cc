// Score ahead against whole windows: bits, over random events, stalls, resets and window lengths.
#include "engines/native/native_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "support/stream_trial.h"

namespace tocsin {
namespace {

Result<std::unique_ptr<WindowStream>> load_native(const Graph& graph,
                                                  const SessionOptions& options) {
  return NativeStream::load(graph, options);
}

class StreamAgainstWindows : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(StreamAgainstWindows, GivesTheBitsOfWholeWindowsWhateverHappens) {
  const Architecture& architecture = architectures()[std::get<0>(GetParam())];
  const Mode& mode = modes()[std::get<1>(GetParam())];
  for (const std::int64_t steps : {2, 5, 30}) {
    const TrialCounts counts = StreamTrial({load_native, architecture, mode, steps}).run();
    EXPECT_GT(counts.scored, 200U) << architecture.name << " steps " << steps;
    EXPECT_GT(counts.caught_up, 0U) << "nothing ever outran the work, seed " << kSeed;
  }
}

// A window that is carried on is a whole window of all frames since the last reset.
TEST(NativeStream, CarriedStatesAreThoseOfAllFramesSinceTheReset) {
  for (const Architecture& architecture : architectures()) {
    const Graph graph = make_graph(architecture);
    SessionOptions options;
    options.steps = 4;
    options.carried = true;
    auto stream = NativeStream::load(graph, options);
    ASSERT_TRUE(stream.ok()) << stream.error().message();
    ASSERT_TRUE((*stream)->add_key(0).ok());
    RandomFloats random(kSeed);
    for (int round = 0; round < 3; ++round) {
      (*stream)->reset(0);
      std::vector<float> frames;
      for (std::int64_t seen = 1; seen <= 25; ++seen) {
        const std::vector<float> frame = random.vector(kFeatures, 2.0F);
        frames.insert(frames.end(), frame.begin(), frame.end());
        (*stream)->push(0, frame);
        if (random.below(3) == 0) (*stream)->work_ahead();
        if (random.below(2) == 0) continue;
        std::vector<float> carried(3);
        ASSERT_EQ((*stream)->score(0, carried), seen >= options.steps);
        if (seen < options.steps) continue;
        SessionOptions whole_options;
        whole_options.steps = seen;
        auto session = ReferenceSession::load(graph, whole_options);
        ASSERT_TRUE(session.ok());
        FloatModel model(std::move(*session), seen);
        std::vector<float> whole(3);
        ASSERT_TRUE(model.run(frames, whole));
        for (std::size_t i = 0; i < whole.size(); ++i)
          ASSERT_EQ(std::bit_cast<std::uint32_t>(carried[i]),
                    std::bit_cast<std::uint32_t>(whole[i]))
              << architecture.name << " after " << seen << " frames, seed " << kSeed;
      }
    }
  }
}

// The batch that a window travels in, its place there and its neighbours never enter.
TEST(NativeEngine, AWindowInABatchHasTheBitsOfItselfAlone) {
  constexpr std::int64_t kSteps = 12;
  constexpr std::size_t kWidth = kSteps * kFeatures;
  RandomFloats random(kSeed);
  for (const Architecture& architecture : architectures()) {
    SessionOptions options;
    options.steps = kSteps;
    options.batch_max = 256;
    auto session = ReferenceSession::load(make_graph(architecture), options);
    ASSERT_TRUE(session.ok()) << session.error().message();
    FloatModel model(std::move(*session), kSteps);
    std::vector<float> window = random.vector(kWidth, 2.0F);
    std::vector<float> alone(3);
    ASSERT_TRUE(model.run(window, alone));
    for (const std::size_t batch : {2U, 3U, 7U, 16U, 33U, 64U, 101U, 256U}) {
      model.set_batch(static_cast<std::int64_t>(batch));
      for (const std::size_t place : {std::size_t{0}, batch / 2, batch - 1}) {
        std::vector<float> rows(batch * kWidth, std::numeric_limits<float>::quiet_NaN());
        for (std::size_t i = 0; i < rows.size(); i += 3)
          rows[i] = std::numeric_limits<float>::infinity();
        std::copy(window.begin(), window.end(),
                  rows.begin() + static_cast<std::ptrdiff_t>(place * kWidth));
        std::vector<float> outputs(batch * 3);
        ASSERT_TRUE(model.run(rows, outputs));
        for (std::size_t i = 0; i < alone.size(); ++i)
          ASSERT_EQ(std::bit_cast<std::uint32_t>(outputs[place * 3 + i]),
                    std::bit_cast<std::uint32_t>(alone[i]))
              << architecture.name << " place " << place << " of " << batch << " seed " << kSeed;
      }
    }
  }
}

// Each test run takes a part; TOCSIN_STREAM_EVENTS=3000000 is the whole of it (about a minute).
TEST(NativeStream, ThousandsOfKeysKeepTheBitsOfWholeWindows) {
  const char* wanted = std::getenv("TOCSIN_STREAM_EVENTS");
  const std::uint64_t event_count = wanted == nullptr ? 60'000 : std::strtoull(wanted, nullptr, 10);
  const TrialCounts counts =
      StreamTrial({load_native, architectures()[3], modes()[0], 8, 2'000, event_count}).run();
  EXPECT_GT(counts.scored, event_count / 10);
  EXPECT_GT(counts.caught_up, 0U);
}

INSTANTIATE_TEST_SUITE_P(Architectures, StreamAgainstWindows,
                         testing::Combine(testing::Range<std::size_t>(0, architectures().size()),
                                          testing::Range<std::size_t>(0, modes().size())),
                         [](const auto& instance) {
                           return architectures()[std::get<0>(instance.param)].name + "_" +
                                  modes()[std::get<1>(instance.param)].name;
                         });

}  // namespace
}  // namespace tocsin
