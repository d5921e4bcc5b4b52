// Score ahead against whole windows: bits, over random events, stalls, resets and window lengths.
#include "engines/native/native_stream.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 5;
constexpr std::int64_t kFeatures = 7;

struct Architecture {
  std::string name;
  std::string cell;  // "LSTM" or "GRU"
  std::int64_t layers = 1;
  std::int64_t units = 12;
  bool linear_before_reset = true;
  bool has_prefix = false;     // a dense layer over each frame first
  bool has_attention = false;  // else the last state
  bool has_peephole = false;
};

ValueIndex weights(GraphBuilder& builder, RandomFloats& random, const std::string& name,
                   Shape shape) {
  const std::vector<float> values = random.vector(*checked_element_count(shape), 0.4F);
  return builder.floats(name, std::move(shape), values);
}

ValueIndex add_layer(GraphBuilder& builder, RandomFloats& random, const Architecture& a,
                     ValueIndex x, std::int64_t inputs, const std::string& name) {
  const std::int64_t gates = a.cell == "LSTM" ? 4 : 3;
  std::vector<ValueIndex> all = {
      x, weights(builder, random, name + ".w", {1, gates * a.units, inputs}),
      weights(builder, random, name + ".r", {1, gates * a.units, a.units}),
      weights(builder, random, name + ".b", {1, 2 * gates * a.units})};
  if (a.has_peephole) {
    all.insert(all.end(), {kNoValue, kNoValue, kNoValue,
                           weights(builder, random, name + ".p", {1, 3 * a.units})});
  }
  std::vector<Attribute> attributes = {{"hidden_size", a.units}};
  if (a.cell == "GRU")
    attributes.push_back({"linear_before_reset", std::int64_t{a.linear_before_reset ? 1 : 0}});
  const ValueIndex y = builder.node(a.cell, all, attributes);
  return builder.node("Squeeze", {y, builder.ints(name + ".axes", {1})});
}

Graph make_graph(const Architecture& a) {
  RandomFloats random(kSeed);
  GraphBuilder builder;
  ValueIndex rows = builder.input("x", {kFreeDimension, kFreeDimension, kFeatures});
  std::int64_t inputs = kFeatures;
  if (a.has_prefix) {
    inputs = 9;
    rows = builder.node("MatMul", {rows, weights(builder, random, "pre.w", {kFeatures, inputs})});
    rows = builder.node("Add", {rows, weights(builder, random, "pre.b", {inputs})});
    rows = builder.node("Relu", {rows});
  }
  const std::vector<std::int64_t> swap{1, 0, 2};
  rows = builder.node("Transpose", {rows}, {{"perm", swap}});
  for (std::int64_t l = 0; l < a.layers; ++l) {
    rows = add_layer(builder, random, a, rows, l == 0 ? inputs : a.units, "l" + std::to_string(l));
  }
  rows = builder.node("Transpose", {rows}, {{"perm", swap}});
  ValueIndex state = kNoValue;
  if (a.has_attention) {
    ValueIndex scores =
        builder.node("MatMul", {rows, weights(builder, random, "att.a", {a.units, 5})});
    scores = builder.node("Tanh", {scores});
    scores = builder.node("MatMul", {scores, weights(builder, random, "att.v", {5, 1})});
    scores = builder.node("Softmax", {scores}, {{"axis", std::int64_t{1}}});
    const ValueIndex product = builder.node("Mul", {scores, rows});
    state = builder.node("ReduceSum", {product, builder.ints("time", {1})},
                         {{"keepdims", std::int64_t{0}}});
  } else {
    const ValueIndex last =
        builder.weight("last", Tensor::of<std::int64_t>({}, std::vector<std::int64_t>{-1}));
    state = builder.node("Gather", {rows, last}, {{"axis", std::int64_t{1}}});
  }
  state = builder.node("Gemm", {state, weights(builder, random, "head.w", {a.units, 3}),
                                weights(builder, random, "head.b", {3})});
  builder.output(builder.node("Softmax", {state}, {{"axis", std::int64_t{-1}}}),
                 {kFreeDimension, 3});
  return builder.finish();
}

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> all = {
      {"lstm", "LSTM", 1, 12},
      {"lstm_two_layers", "LSTM", 2, 20},
      {"lstm_three_layers_prefix", "LSTM", 3, 9, true, true},
      {"lstm_attention", "LSTM", 1, 17, true, false, true},
      {"lstm_peephole", "LSTM", 2, 11, true, false, false, true},
      {"gru", "GRU", 1, 16},
      {"gru_reset_first_two_layers", "GRU", 2, 13, false},
      {"gru_attention_prefix", "GRU", 2, 10, true, true, true},
  };
  return all;
}

struct Mode {
  std::string name;
  Precision precision = Precision::kFloat32;
  // INT8: of the values of a layer's input, all or every other one has a scale.
  std::size_t scale_every = 1;
};

const std::vector<Mode>& modes() {
  static const std::vector<Mode> all = {{"float32"},
                                        {"bfloat16", Precision::kBfloat16},
                                        {"float16", Precision::kFloat16},
                                        {"int8", Precision::kInt8},
                                        {"some_int8", Precision::kInt8, 2}};
  return all;
}

// States are below one, so their scale is the same in each layer and they are quantised once.
SessionOptions options_of(const Mode& mode, const Graph& graph) {
  ActivationScales scales;
  for (std::size_t i = 0; i < graph.value_names.size(); i += mode.scale_every) {
    const std::string& name = graph.value_names[i];
    const bool is_state =
        name.starts_with("LSTM") || name.starts_with("GRU") || name.starts_with("Squeeze");
    scales[name] = (is_state ? 1.0F : 2.0F) / 127.0F;
  }
  SessionOptions options;
  options.precision = mode.precision;
  options.activation_scales = std::make_shared<const ActivationScales>(std::move(scales));
  return options;
}

// One key as its user sees it, with the frames that a whole window needs.
struct Key {
  std::deque<std::vector<float>> frames;
};

class StreamAgainstWindows : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(StreamAgainstWindows, GivesTheBitsOfWholeWindowsWhateverHappens) {
  const Architecture& architecture = architectures()[std::get<0>(GetParam())];
  const Mode& mode = modes()[std::get<1>(GetParam())];
  RandomFloats random(kSeed + std::get<0>(GetParam()));
  for (const std::int64_t steps : {2, 5, 30}) {
    SessionOptions options = options_of(mode, make_graph(architecture));
    options.steps = steps;
    auto stream = NativeStream::load(make_graph(architecture), options);
    ASSERT_TRUE(stream.ok()) << stream.error().message();
    auto session = ReferenceSession::load(make_graph(architecture), options);
    ASSERT_TRUE(session.ok()) << session.error().message();
    FloatModel model(std::move(*session), steps);
    std::vector<Key> keys(5);
    for (std::uint32_t key = 0; key < keys.size(); ++key) ASSERT_TRUE((*stream)->add_key(key).ok());
    std::size_t scored = 0;
    std::size_t not_ahead = 0;
    for (int event = 0; event < 1'500; ++event) {
      const auto key = static_cast<std::uint32_t>(random.below(keys.size()));
      Key& own = keys[key];
      if (random.below(200) == 0) {
        own.frames.clear();
        (*stream)->reset(key);
      }
      own.frames.push_back(random.vector(kFeatures, 2.0F));
      if (own.frames.size() > static_cast<std::size_t>(steps)) own.frames.pop_front();
      (*stream)->push(key, own.frames.back());
      const bool idles_first = random.below(20) == 0;
      while (idles_first && (*stream)->work_ahead()) {
      }
      std::vector<float> ahead(3);
      // In one of four phases the events outrun the work: hardly a score, no idle time.
      const bool is_rushed = event / 100 % 4 == 3;
      if (random.below(8) < (is_rushed ? 2U : 7U)) {
        if ((*stream)->score(key, ahead)) {
          ASSERT_EQ(own.frames.size(), static_cast<std::size_t>(steps));
          std::vector<float> window;
          for (const std::vector<float>& frame : own.frames)
            window.insert(window.end(), frame.begin(), frame.end());
          std::vector<float> whole(3);
          ASSERT_TRUE(model.run(window, whole));
          for (std::size_t i = 0; i < whole.size(); ++i)
            ASSERT_EQ(std::bit_cast<std::uint32_t>(ahead[i]),
                      std::bit_cast<std::uint32_t>(whole[i]))
                << architecture.name << " steps " << steps << " event " << event << " seed "
                << kSeed;
          ++scored;
        } else {
          not_ahead += own.frames.size() == static_cast<std::size_t>(steps) ? 1 : 0;
        }
      }
      for (std::size_t turns = is_rushed ? 0 : random.below(3); turns > 0; --turns)
        (*stream)->work_ahead();
    }
    EXPECT_GT(scored, 200U) << architecture.name << " steps " << steps;
    EXPECT_GT(not_ahead, 0U) << "nothing ever outran the work, seed " << kSeed;
  }
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
