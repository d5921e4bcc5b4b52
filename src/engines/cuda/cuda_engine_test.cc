// The CUDA engine against the reference, bit for bit, where there is a GPU; and what it says where
// there is none. scripts/gpu-check runs these on a machine with a GPU.
#include "engines/cuda/cuda_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "engines/cuda/cuda_network.h"
#include "engines/cuda/cuda_session.h"
#include "engines/cuda/cuda_stream.h"
#include "support/stream_trial.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kSteps = 12;

// The kinds of graph that the plug-in has no kernels for, and what is said of them.
const std::vector<std::pair<std::string, std::string>>& refused() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"lstm_three_layers_prefix", "layers that read the frames"},
      {"lstm_peephole", "no peepholes"},
      {"gru_reset_first_two_layers", "linear_before_reset = 0"},
      {"gru_attention_prefix", "layers that read the frames"},
  };
  return all;
}

bool is_refused(const Architecture& architecture) {
  return std::ranges::any_of(refused(),
                             [&](const auto& entry) { return entry.first == architecture.name; });
}

Result<std::unique_ptr<CudaNetwork>> network_of(const Architecture& architecture,
                                                Precision precision = Precision::kFloat32) {
  SessionOptions options;
  options.steps = kSteps;
  options.precision = precision;
  return CudaNetwork::make(make_graph(architecture), options);
}

TEST(CudaNetwork, TakesRecurrentStacksWithHeadsAndAttention) {
  for (const Architecture& architecture : architectures()) {
    const auto network = network_of(architecture);
    if (is_refused(architecture)) continue;
    ASSERT_TRUE(network.ok()) << architecture.name << ": " << network.error().message();
    const cuda::Network& found = (*network)->description();
    EXPECT_EQ(found.layer_count, static_cast<std::uint32_t>(architecture.layers));
    EXPECT_EQ(found.layers[0].units, static_cast<std::uint32_t>(architecture.units));
    EXPECT_EQ(found.features, static_cast<std::uint32_t>(kFeatures));
    EXPECT_EQ(found.score_operator_count, architecture.has_attention ? 2U : 0U);
    EXPECT_EQ(found.head_operator_count, 1U);
    EXPECT_EQ((*network)->output_count(), 3U);
  }
}

TEST(CudaNetwork, NamesTheNodeThatItHasNoKernelFor) {
  for (const auto& [name, reason] : refused()) {
    const auto architecture = std::ranges::find(architectures(), name, &Architecture::name);
    ASSERT_NE(architecture, architectures().end());
    const auto network = network_of(*architecture);
    ASSERT_FALSE(network.ok()) << name;
    EXPECT_EQ(network.error().code(), ErrorCode::kUnimplemented);
    EXPECT_THAT(network.error().message(), HasSubstr(reason));
    EXPECT_THAT(network.error().message(), HasSubstr("node '"));
  }
}

TEST(CudaNetwork, KeepsInt8WeightsAsIntegersWithTheScaleOfEachOutput) {
  const Mode& int8 = modes()[3];
  const Graph graph = make_graph(architectures()[0]);
  SessionOptions options = options_of(int8, graph);
  options.steps = kSteps;
  const auto network = CudaNetwork::make(graph, options);
  ASSERT_TRUE(network.ok()) << network.error().message();
  const cuda::Matrix& matrix = (*network)->description().layers[0].recurrent;
  ASSERT_EQ(matrix.type, cuda::WeightType::kInt8);
  float largest = 0;
  for (std::uint32_t i = 0; i < matrix.outputs * matrix.inputs; ++i) {
    ASSERT_EQ(matrix.weights[i], std::nearbyint(matrix.weights[i]));
    largest = std::max(largest, std::fabs(matrix.weights[i]));
  }
  EXPECT_EQ(largest, 127.0F);
  EXPECT_GT(matrix.output_scale[0], 0.0F);
}

TEST(CudaEngine, SaysInOneLineWhyItIsNotThere) {
  LibraryLocations nowhere;
  nowhere.configured_path = "/nowhere/libtocsin_cuda.so";
  CudaEngine engine(nowhere);
  const EngineInfo info = engine.info();
  EXPECT_EQ(info.name, "cuda");
  EXPECT_FALSE(info.found);
  EXPECT_THAT(info.reason, HasSubstr("/nowhere"));
  EXPECT_EQ(info.reason.find('\n'), std::string::npos);
  const auto session = engine.load("model.onnx", {});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code(), ErrorCode::kUnavailable);
}

// A library that is no plug-in of ours.
TEST(CudaEngine, RefusesAnotherLibrary) {
  LibraryLocations other;
  other.configured_path = "/lib/x86_64-linux-gnu/libm.so.6";
  const auto library = CudaLibrary::open(other);
  ASSERT_FALSE(library.ok());
  EXPECT_THAT(library.error().message(), HasSubstr("no function tocsin_cuda_plugin"));
}

class CudaOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    const EngineInfo info = CudaEngine().info();
    if (!info.found) GTEST_SKIP() << info.reason;
    library_ = *CudaLibrary::open(CudaLibrary::locations());
  }

  Result<std::unique_ptr<WindowStream>> load_stream(const Graph& graph,
                                                    const SessionOptions& options) const {
    TOCSIN_ASSIGN_OR_RETURN(const auto network, CudaNetwork::make(graph, options));
    return CudaStream::load(library_, *network, options);
  }

  std::shared_ptr<const CudaLibrary> library_;
};

struct WindowTrial {
  const Architecture& architecture;
  const Mode& mode;
  std::vector<std::int64_t> batches;
};

class CudaWindows : public CudaOnGpu {
 protected:
  void compare(const WindowTrial& trial) {
    constexpr std::size_t kWidth = kSteps * kFeatures;
    const Graph graph = make_graph(trial.architecture);
    SessionOptions options = options_of(trial.mode, graph);
    options.steps = kSteps;
    options.batch_max = trial.batches.back();
    const auto network = CudaNetwork::make(graph, options);
    ASSERT_TRUE(network.ok()) << network.error().message();
    auto session = CudaSession::load(library_, **network, options);
    ASSERT_TRUE(session.ok()) << session.error().message();
    FloatModel gpu(std::move(*session), kSteps);
    auto reference = ReferenceSession::load(graph, options);
    ASSERT_TRUE(reference.ok()) << reference.error().message();
    FloatModel cpu(std::move(*reference), kSteps);
    for (const std::int64_t batch : trial.batches) {
      gpu.set_batch(batch);
      cpu.set_batch(batch);
      const auto rows = static_cast<std::size_t>(batch);
      std::vector<float> windows = random_.vector(rows * kWidth, 2.0F);
      if (rows > 2) {
        windows[kWidth] = std::numeric_limits<float>::quiet_NaN();
        windows[kWidth + 1] = std::numeric_limits<float>::infinity();
      }
      std::vector<float> expected(rows * 3);
      std::vector<float> found(rows * 3, -1.0F);
      ASSERT_TRUE(cpu.run(windows, expected));
      ASSERT_TRUE(gpu.run(windows, found)) << gpu.session().error().message();
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(found[i]), std::bit_cast<std::uint32_t>(expected[i]))
            << trial.architecture.name << " " << trial.mode.name << " batch " << batch << " output "
            << i << " seed " << kSeed;
    }
  }

  RandomFloats random_{kSeed};
};

TEST_F(CudaWindows, HaveTheBitsOfTheReferenceInEveryPrecisionAndBatch) {
  for (const Architecture& architecture : architectures())
    for (const Mode& mode : modes())
      if (!is_refused(architecture))
        compare({architecture, mode, {1, 2, 7, 8, 9, 33, 64, 65, 300}});
}

// Sums of more than one block, layers that fill a cluster, and one that does not fit it.
TEST_F(CudaWindows, OfWideLayersHaveTheBitsOfTheReference) {
  const std::vector<Architecture> wide = {{"lstm_128_attention", "LSTM", 1, 128, true, false, true},
                                          {"gru_150", "GRU", 1, 150},
                                          {"lstm_two_100", "LSTM", 2, 100},
                                          {"lstm_two_300", "LSTM", 2, 300}};
  for (const Architecture& architecture : wide)
    for (const std::size_t mode : {0U, 2U, 3U})
      compare({architecture, modes()[mode], {1, 5, 40, 100}});
}

TEST_F(CudaOnGpu, StreamsGiveTheBitsOfWholeWindowsWhateverHappens) {
  const auto load = [this](const Graph& graph, const SessionOptions& options) {
    return load_stream(graph, options);
  };
  for (const Architecture& architecture : architectures()) {
    if (is_refused(architecture)) continue;
    for (const Mode& mode : modes()) {
      for (const std::int64_t steps : {2, 5, 30}) {
        const TrialCounts counts = StreamTrial({load, architecture, mode, steps}).run();
        EXPECT_GT(counts.scored, 200U) << architecture.name << " steps " << steps;
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(CudaOnGpu, ThousandsOfKeysKeepTheBitsOfWholeWindows) {
  const auto load = [this](const Graph& graph, const SessionOptions& options) {
    return load_stream(graph, options);
  };
  const TrialCounts counts =
      StreamTrial({load, architectures()[3], modes()[0], 8, 2'000, 60'000}).run();
  EXPECT_GT(counts.scored, 6'000U);
}

TEST_F(CudaOnGpu, StreamsOfWideLayersGiveTheBitsOfWholeWindows) {
  const auto load = [this](const Graph& graph, const SessionOptions& options) {
    return load_stream(graph, options);
  };
  const std::vector<Architecture> wide = {{"lstm_128_attention", "LSTM", 1, 128, true, false, true},
                                          {"gru_two_150", "GRU", 2, 150},
                                          {"lstm_three_200", "LSTM", 3, 200}};
  for (const Architecture& architecture : wide)
    EXPECT_GT(StreamTrial({load, architecture, modes()[0], 9, 3, 300}).run().scored, 30U);
}

TEST_F(CudaOnGpu, CarriedStatesAreThoseOfAllFramesSinceTheReset) {
  for (const Architecture& architecture : architectures()) {
    if (is_refused(architecture)) continue;
    const Graph graph = make_graph(architecture);
    SessionOptions options;
    options.steps = 4;
    options.carried = true;
    auto stream = load_stream(graph, options);
    ASSERT_TRUE(stream.ok()) << stream.error().message();
    ASSERT_TRUE((*stream)->add_key(0).ok());
    RandomFloats random(kSeed);
    for (int round = 0; round < 2; ++round) {
      (*stream)->reset(0);
      std::vector<float> frames;
      for (std::int64_t seen = 1; seen <= 15; ++seen) {
        const std::vector<float> frame = random.vector(kFeatures, 2.0F);
        frames.insert(frames.end(), frame.begin(), frame.end());
        (*stream)->push(0, frame);
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

}  // namespace
}  // namespace tocsin
