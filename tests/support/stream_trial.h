// Streams against whole windows, for the tests of every engine that has streams: graphs of many
// kinds, random events, and the comparison of bits.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"
#include "kernels/random_floats.h"

namespace tocsin {

inline constexpr std::uint64_t kSeed = 5;
inline constexpr std::int64_t kFeatures = 7;

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

inline ValueIndex weights(GraphBuilder& builder, RandomFloats& random, const std::string& name,
                          Shape shape) {
  const std::vector<float> values = random.vector(*checked_element_count(shape), 0.4F);
  return builder.floats(name, std::move(shape), values);
}

inline ValueIndex add_layer(GraphBuilder& builder, RandomFloats& random, const Architecture& a,
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

inline Graph make_graph(const Architecture& a) {
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

inline const std::vector<Architecture>& architectures() {
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

inline const std::vector<Mode>& modes() {
  static const std::vector<Mode> all = {{"float32"},
                                        {"bfloat16", Precision::kBfloat16},
                                        {"float16", Precision::kFloat16},
                                        {"int8", Precision::kInt8},
                                        {"some_int8", Precision::kInt8, 2}};
  return all;
}

// States are below one, so their scale is the same in each layer and they are quantised once.
inline SessionOptions options_of(const Mode& mode, const Graph& graph) {
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

using StreamLoader = std::function<Result<std::unique_ptr<WindowStream>>(
    const Graph& graph, const SessionOptions& options)>;

struct Trial {
  StreamLoader load;
  const Architecture& architecture;
  const Mode& mode;
  std::int64_t steps = 0;
  std::size_t key_count = 5;
  std::uint64_t event_count = 1'500;
};

struct TrialCounts {
  std::uint64_t scored = 0;
  std::uint64_t caught_up = 0;
};

// Frames, scores, resets and idle turns at random; every score is compared with a whole window's.
// In two of four phases the events outrun the work: hardly a score, no idle time.
class StreamTrial {
 public:
  explicit StreamTrial(const Trial& trial)
      : trial_(trial), random_(kSeed + trial.event_count), keys_(trial.key_count) {}

  TrialCounts run() {
    load();
    for (event_ = 0; event_ < trial_.event_count && !testing::Test::HasFatalFailure(); ++event_)
      take_event();
    counts_.caught_up = stream_->caught_up_count();
    return counts_;
  }

 private:
  void load() {
    const Graph graph = make_graph(trial_.architecture);
    SessionOptions options = options_of(trial_.mode, graph);
    options.steps = trial_.steps;
    auto stream = trial_.load(graph, options);
    ASSERT_TRUE(stream.ok()) << stream.error().message();
    stream_ = std::move(*stream);
    auto session = ReferenceSession::load(graph, options);
    ASSERT_TRUE(session.ok()) << session.error().message();
    model_.emplace(std::move(*session), trial_.steps);
  }

  void take_event() {
    const auto key = static_cast<std::uint32_t>(random_.below(keys_.size()));
    ASSERT_TRUE(stream_->add_key(key).ok());  // keys come while others have work waiting
    std::deque<std::vector<float>>& frames = keys_[key].frames;
    if (random_.below(200) == 0) {
      frames.clear();
      stream_->reset(key);
    }
    frames.push_back(random_.vector(kFeatures, 2.0F));
    if (frames.size() > static_cast<std::size_t>(trial_.steps)) frames.pop_front();
    stream_->push(key, frames.back());
    const bool is_rushed = event_ * 8 / trial_.event_count % 4 >= 2;
    const bool idles_first = !is_rushed && random_.below(20) == 0;
    while (idles_first && stream_->work_ahead()) {
    }
    if (random_.below(8) < (is_rushed ? 2U : 7U)) compare_score(key);
    for (std::size_t turns = is_rushed ? 0 : random_.below(3); turns > 0; --turns)
      stream_->work_ahead();
  }

  void compare_score(std::uint32_t key) {
    const std::deque<std::vector<float>>& frames = keys_[key].frames;
    const bool is_full = frames.size() == static_cast<std::size_t>(trial_.steps);
    std::vector<float> ahead(3);
    ASSERT_EQ(stream_->score(key, ahead), is_full);
    if (!is_full) return;
    std::vector<float> window;
    for (const std::vector<float>& frame : frames)
      window.insert(window.end(), frame.begin(), frame.end());
    std::vector<float> whole(3);
    ASSERT_TRUE(model_->run(window, whole));
    for (std::size_t i = 0; i < whole.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(ahead[i]), std::bit_cast<std::uint32_t>(whole[i]))
          << trial_.architecture.name << " " << trial_.mode.name << " steps " << trial_.steps
          << " event " << event_ << " seed " << kSeed;
    ++counts_.scored;
  }

  const Trial trial_;
  RandomFloats random_;
  std::vector<Key> keys_;
  std::unique_ptr<WindowStream> stream_;
  std::optional<FloatModel> model_;
  std::uint64_t event_ = 0;
  TrialCounts counts_;
};

}  // namespace tocsin
