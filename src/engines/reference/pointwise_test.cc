// Element-wise nodes that run as one program, alone and after a product, against the same nodes run
// one by one: bits, over random graphs.
#include "engines/reference/pointwise.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>
#include <vector>

#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::size_t kGraphCount = 300;

enum class Producer { kNone, kMatMul, kGemm, kConv };

// A graph of element-wise nodes on the output of a producer, made from its number.
class RandomGraph {
 public:
  RandomGraph(std::uint64_t seed, Producer producer) : random_(seed), floats_(seed) {
    values_.push_back(start(producer));
    const std::size_t count = 2 + random_() % 12;
    for (std::size_t i = 0; i < count; ++i) values_.push_back(add_node(producer));
  }

  // Runs the graph with outputs of the last value alone, or of all of them (so that nothing can be
  // joined); returns the last one's bits.
  std::vector<std::uint32_t> run(bool shows_all) const {
    GraphBuilder builder = builder_;
    builder.output(values_.back(), shape_);
    if (shows_all)
      for (std::size_t i = 0; i + 1 < values_.size(); ++i) builder.output(values_[i], shape_);
    auto session = ReferenceSession::load(builder.finish(), {});
    EXPECT_TRUE(session.ok()) << session.error().message();
    if (!session.ok()) return {};
    std::vector<float> input = input_;
    const TensorView x{DataType::kFloat32, input_shape_, input.data(),
                       input.size() * sizeof(float)};
    const std::size_t count = *checked_element_count(shape_);
    std::vector<std::vector<float>> outputs(shows_all ? values_.size() : 1,
                                            std::vector<float>(count));
    std::vector<TensorView> views;
    views.reserve(outputs.size());
    for (std::vector<float>& y : outputs)
      views.push_back({DataType::kFloat32, shape_, y.data(), count * sizeof(float)});
    EXPECT_TRUE((*session)->run(std::span(&x, 1), views)) << (*session)->error().message();
    std::vector<std::uint32_t> bits;
    for (const float value : outputs[0]) bits.push_back(std::bit_cast<std::uint32_t>(value));
    return bits;
  }

 private:
  ValueIndex weight(const Shape& shape, float bound) {
    return builder_.floats("w" + std::to_string(++weight_count_), shape,
                           floats_.vector(*checked_element_count(shape), bound));
  }

  ValueIndex input(const Shape& shape) {
    input_shape_ = shape;
    input_ = floats_.vector(*checked_element_count(shape), 2.0F);
    return builder_.input("x", shape);
  }

  ValueIndex start(Producer producer) {
    const auto n = static_cast<std::int64_t>(1 + random_() % 150);
    switch (producer) {
      case Producer::kMatMul:
        shape_ = {2, 9, n};
        return builder_.node("MatMul", {input({2, 9, 33}), weight({33, n}, 0.3F)});
      case Producer::kGemm:
        shape_ = {130, n};
        return builder_.node("Gemm", {input({130, 17}), weight({17, n}, 0.3F), weight({n}, 1.0F)});
      case Producer::kConv: {
        const auto channels = static_cast<std::int64_t>(1 + random_() % 20);
        const auto width = static_cast<std::int64_t>(1 + random_() % 9);
        shape_ = {2, channels, 21, width};
        return builder_.node("Conv", {input({2, 3, 21, width}), weight({channels, 3, 3, 1}, 0.5F)},
                             {{"pads", std::vector<std::int64_t>{1, 0, 1, 0}}});
      }
      default:
        shape_ = {3, 5, n};
        return builder_.node("Neg", {input(shape_)});
    }
  }

  // A constant that broadcasts to the graph's shape.
  ValueIndex operand() {
    Shape shape = shape_;
    switch (random_() % 5) {
      case 0:
        return weight({}, 3.0F);
      case 1:
        return weight({shape.back()}, 3.0F);
      case 2:
        for (std::size_t i = 0; i < shape.size(); ++i)
          if (i != 1) shape[i] = 1;
        return weight(shape, 3.0F);
      case 3:
        return weight(Shape(shape.begin() + 1, shape.end()), 3.0F);
      default:
        return weight(shape, 3.0F);
    }
  }

  ValueIndex add_node(Producer producer) {
    // Mostly the newest value, and any earlier one.
    const auto pick = [this] {
      return random_() % 3 == 0 ? values_[random_() % values_.size()] : values_.back();
    };
    const std::vector<std::string> unary = {"Relu", "LeakyRelu",   "Sigmoid", "Tanh", "Erf",
                                            "Gelu", "HardSigmoid", "Abs",     "Neg",  "Clip"};
    const std::vector<std::string> binary = {"Add", "Sub", "Mul", "Div"};
    if (producer == Producer::kConv && random_() % 4 == 0) {
      const Shape channels{shape_[1]};
      const std::vector<float> variance(static_cast<std::size_t>(shape_[1]), 0.7F);
      return builder_.node(
          "BatchNormalization",
          {pick(), weight(channels, 2.0F), weight(channels, 1.0F), weight(channels, 1.0F),
           builder_.floats("v" + std::to_string(++weight_count_), channels, variance)});
    }
    const std::string& op_type =
        random_() % 2 == 0 ? unary[random_() % unary.size()] : binary[random_() % binary.size()];
    std::vector<ValueIndex> inputs = {pick()};
    if (op_type == "Clip") inputs.push_back(weight({}, 1.0F));
    if (op_type.size() == 3 && op_type != "Erf" && op_type != "Abs" && op_type != "Neg") {
      inputs.push_back(random_() % 2 == 0 ? pick() : operand());
      if (random_() % 2 == 0) std::swap(inputs[0], inputs[1]);
    }
    return builder_.node(op_type, inputs);
  }

  std::mt19937_64 random_;
  RandomFloats floats_;
  GraphBuilder builder_{20};
  Shape shape_;
  Shape input_shape_;
  std::vector<float> input_;
  std::vector<ValueIndex> values_;
  int weight_count_ = 0;
};

TEST(PointwiseProgram, JoinedNodesGiveTheBitsOfEachAlone) {
  for (const Producer producer :
       {Producer::kNone, Producer::kMatMul, Producer::kGemm, Producer::kConv}) {
    for (std::uint64_t seed = 1; seed <= kGraphCount / 4; ++seed) {
      const RandomGraph graph(seed, producer);
      ASSERT_EQ(graph.run(false), graph.run(true))
          << "seed " << seed << ", producer " << static_cast<int>(producer);
    }
  }
}

TEST(OperandPattern, SaysHowOperandsRepeat) {
  const auto expect = [](const Shape& shape, std::size_t inner, std::size_t count) {
    const auto pattern = operand_pattern(shape, {2, 3, 4, 5});
    ASSERT_TRUE(pattern);
    EXPECT_EQ(pattern->count, count);
    if (count > 1) {
      EXPECT_EQ(pattern->inner, inner);
    }
  };
  expect({}, 1, 1);
  expect({5}, 1, 5);
  expect({4, 5}, 1, 20);
  expect({3, 1, 1}, 20, 3);
  expect({1, 3, 4, 1}, 5, 12);
  expect({2, 3, 4, 5}, 1, 120);
  EXPECT_FALSE(operand_pattern({3, 1, 5}, {2, 3, 4, 5}));
}

}  // namespace
}  // namespace tocsin
