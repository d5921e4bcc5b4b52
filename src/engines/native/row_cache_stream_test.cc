// Rows kept for all windows against whole windows: bits.
#include "engines/native/row_cache_stream.h"

#include <gtest/gtest.h>

#include <bit>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engines/native/native_stream.h"
#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 77;
constexpr std::int64_t kFeatures = 6;
constexpr std::int64_t kSteps = 20;
using Ints = std::vector<std::int64_t>;

class Builder : public GraphBuilder {
 public:
  ValueIndex weights(Shape shape) {
    const std::vector<float> values = random_.vector(*checked_element_count(shape), 0.5F);
    return floats("w" + std::to_string(count_++), std::move(shape), values);
  }

 private:
  RandomFloats random_{kSeed};
  int count_ = 0;
};

// Convolutions over time: two without padding, then one with it, a sum over time and a head.
Graph convolution_graph() {
  Builder b;
  ValueIndex x = b.input("x", {1, kSteps, kFeatures});
  x = b.node("Unsqueeze", {x, b.ints("axes", {1})});
  x = b.node("Conv", {x, b.weights({4, 1, 1, 2}), b.weights({4})}, {{"strides", Ints{1, 2}}});
  x = b.node("LeakyRelu", {x});
  x = b.node("Conv", {x, b.weights({5, 4, 4, 1}), b.weights({5})});
  x = b.node("Conv", {x, b.weights({3, 5, 2, 1})}, {{"dilations", Ints{3, 1}}});
  const ValueIndex wide = b.node("Conv", {x, b.weights({7, 3, 1, 3})});
  const ValueIndex padded =
      b.node("Conv", {wide, b.weights({2, 7, 3, 1})}, {{"pads", Ints{1, 0, 1, 0}}});
  const ValueIndex pooled = b.node("GlobalAveragePool", {padded});
  const ValueIndex flat = b.node("Flatten", {pooled});
  b.output(b.node("Gemm", {flat, b.weights({2, 2}), b.weights({2})}), {1, 2});
  return b.finish();
}

// The beginning of an encoder: dense, norm, queries and keys, attention over all frames.
Graph encoder_graph() {
  Builder b;
  ValueIndex x = b.input("x", {kFreeDimension, kFreeDimension, kFeatures});
  x = b.node("MatMul", {x, b.weights({kFeatures, 8})});
  x = b.node("Add", {x, b.weights({8})});
  const ValueIndex norm = b.node("LayerNormalization", {x, b.weights({8}), b.weights({8})},
                                 {{"axis", std::int64_t{-1}}});
  const ValueIndex queries = b.node("MatMul", {norm, b.weights({8, 8})});
  const ValueIndex keys = b.node("MatMul", {norm, b.weights({8, 8})});
  const ValueIndex turned = b.node("Transpose", {keys}, {{"perm", Ints{0, 2, 1}}});
  ValueIndex scores = b.node("MatMul", {queries, turned});
  scores = b.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const ValueIndex mixed = b.node("Add", {b.node("MatMul", {scores, norm}), x});
  const ValueIndex mean =
      b.node("ReduceMean", {mixed}, {{"axes", Ints{1}}, {"keepdims", std::int64_t{0}}});
  b.output(b.node("Gemm", {mean, b.weights({8, 2})}), {kFreeDimension, 2});
  return b.finish();
}

void expect_bits_of_whole_windows(Graph (*make)()) {
  SessionOptions options;
  options.steps = kSteps;
  auto stream = NativeStream::load(make(), options);
  ASSERT_TRUE(stream.ok()) << stream.error().message();
  EXPECT_NE(dynamic_cast<RowCacheStream*>(stream->get()), nullptr);
  EXPECT_LT((*stream)->last_step_share(), 0.9);
  auto session = ReferenceSession::load(make(), options);
  ASSERT_TRUE(session.ok()) << session.error().message();
  FloatModel model(std::move(*session), kSteps);
  RandomFloats random(kSeed + 1);
  std::vector<std::deque<std::vector<float>>> windows(3);
  for (std::uint32_t key = 0; key < windows.size(); ++key)
    ASSERT_TRUE((*stream)->add_key(key).ok());
  std::size_t scored = 0;
  for (int event = 0; event < 600; ++event) {
    const auto key = static_cast<std::uint32_t>(random.below(windows.size()));
    auto& frames = windows[key];
    if (random.below(150) == 0) {
      frames.clear();
      (*stream)->reset(key);
    }
    frames.push_back(random.vector(kFeatures, 1.5F));
    if (frames.size() > kSteps) frames.pop_front();
    (*stream)->push(key, frames.back());
    std::vector<float> ahead(2);
    ASSERT_EQ((*stream)->score(key, ahead), frames.size() == kSteps);
    if (frames.size() < kSteps) continue;
    std::vector<float> window;
    for (const std::vector<float>& frame : frames)
      window.insert(window.end(), frame.begin(), frame.end());
    std::vector<float> whole(2);
    ASSERT_TRUE(model.run(window, whole));
    for (std::size_t i = 0; i < whole.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(ahead[i]), std::bit_cast<std::uint32_t>(whole[i]))
          << "event " << event << " of seed " << kSeed;
    ++scored;
  }
  EXPECT_GT(scored, 200U);
}

TEST(RowCacheStream, ConvolutionsOverTimeGiveTheBitsOfWholeWindows) {
  expect_bits_of_whole_windows(convolution_graph);
}

TEST(RowCacheStream, EncodersGiveTheBitsOfWholeWindows) {
  expect_bits_of_whole_windows(encoder_graph);
}

TEST(RowCacheStream, AModelThatMixesAllFramesAtOnceIsNamed) {
  Builder b;
  ValueIndex x = b.input("x", {1, kSteps, kFeatures});
  x = b.node("Flatten", {x});
  b.output(b.node("Gemm", {x, b.weights({kSteps * kFeatures, 1})}), {1, 1});
  const auto stream = NativeStream::load(b.finish(), {});
  ASSERT_FALSE(stream.ok());
  EXPECT_EQ(stream.error().code(), ErrorCode::kUnimplemented);
  EXPECT_NE(stream.error().message().find("Flatten_0"), std::string::npos)
      << stream.error().message();
}

}  // namespace
}  // namespace tocsin
