// LSTM and GRU in the interpreter against plain twins of the order that
// docs/adr/canonical-arithmetic.md defines: bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"
#include "kernels/kernels.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::size_t kSteps = 6;
constexpr std::size_t kInputs = 131;  // more than one block of 128
constexpr std::size_t kUnits = 5;

float sigmoid(float x) {
  kernels_of(Isa::kDefault).sigmoid(&x, &x, 1);
  return x;
}
float tanh_kernel(float x) {
  kernels_of(Isa::kDefault).tanh(&x, &x, 1);
  return x;
}

// start + the blocked sum of w[k] * x[k].
float dot(float start, const float* w, const float* x, std::size_t count) {
  for (std::size_t first = 0; first < count; first += 128) {
    float block = 0;
    for (std::size_t k = first; k < count && k < first + 128; ++k)
      block = std::fma(w[k], x[k], block);
    start += block;
  }
  return start;
}

struct Weights {
  Weights(std::size_t gates, RandomFloats& random)
      : gate_count(gates),
        w(random.vector(gates * kUnits * kInputs, 0.2F)),
        r(random.vector(gates * kUnits * kUnits, 0.5F)),
        b(random.vector(2 * gates * kUnits, 0.5F)) {}

  // (Wb + Rb) + W x, or Wb + W x, of output n.
  float projection(std::size_t n, const float* x, bool with_rb) const {
    const float bias = with_rb ? b[n] + b[gate_count * kUnits + n] : b[n];
    return dot(bias, &w[n * kInputs], x, kInputs);
  }
  float recurrent(std::size_t n, const std::vector<float>& h, bool with_rb) const {
    return dot(with_rb ? b[gate_count * kUnits + n] : 0.0F, &r[n * kUnits], h.data(), kUnits);
  }

  std::size_t gate_count;
  std::vector<float> w, r, b;
};

std::vector<float> run(const std::string& op_type, const Weights& weights,
                       std::vector<Attribute> attributes, std::vector<float> x) {
  GraphBuilder builder;
  const auto width = static_cast<std::int64_t>(weights.gate_count * kUnits);
  const ValueIndex input = builder.input("x", {kSteps, 1, kInputs});
  attributes.push_back({"hidden_size", std::int64_t{kUnits}});
  const ValueIndex y = builder.node(op_type,
                                    {input, builder.floats("w", {1, width, kInputs}, weights.w),
                                     builder.floats("r", {1, width, kUnits}, weights.r),
                                     builder.floats("b", {1, 2 * width}, weights.b)},
                                    std::move(attributes));
  builder.output(y, {kSteps, 1, 1, kUnits});
  auto session = ReferenceSession::load(builder.finish(), {});
  EXPECT_TRUE(session.ok()) << session.error().message();
  FloatModel model(std::move(*session), 0);
  std::vector<float> output(kSteps * kUnits);
  EXPECT_TRUE(model.run(x, output)) << model.session().error().message();
  return output;
}

void expect_same_bits(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(actual[i]), std::bit_cast<std::uint32_t>(expected[i]))
        << "value " << i << ", seed " << kSeed;
}

TEST(RecurrentOrder, LstmIsProjectionPlusRecurrentProduct) {
  RandomFloats random(kSeed);
  const Weights weights(4, random);
  const std::vector<float> x = random.vector(kSteps * kInputs, 1.0F);
  std::vector<float> h(kUnits, 0.0F);
  std::vector<float> c(kUnits, 0.0F);
  std::vector<float> expected;
  for (std::size_t t = 0; t < kSteps; ++t) {
    const std::vector<float> before = h;
    const auto pre = [&](std::size_t gate, std::size_t j) {
      const std::size_t n = gate * kUnits + j;
      return weights.projection(n, &x[t * kInputs], true) + weights.recurrent(n, before, false);
    };
    for (std::size_t j = 0; j < kUnits; ++j) {
      const float input = sigmoid(pre(0, j)) * tanh_kernel(pre(3, j));
      c[j] = std::fma(sigmoid(pre(2, j)), c[j], input);
      h[j] = sigmoid(pre(1, j)) * tanh_kernel(c[j]);
    }
    expected.insert(expected.end(), h.begin(), h.end());
  }
  expect_same_bits(run("LSTM", weights, {}, x), expected);
}

TEST(RecurrentOrder, GruCandidateCarriesItsRecurrentBiasUnderTheResetGate) {
  RandomFloats random(kSeed);
  const Weights weights(3, random);
  const std::vector<float> x = random.vector(kSteps * kInputs, 1.0F);
  for (const bool linear_before_reset : {false, true}) {
    std::vector<float> h(kUnits, 0.0F);
    std::vector<float> expected;
    for (std::size_t t = 0; t < kSteps; ++t) {
      const std::vector<float> before = h;
      const float* step = &x[t * kInputs];
      std::vector<float> z(kUnits);
      std::vector<float> r(kUnits);
      std::vector<float> reset(kUnits);
      for (std::size_t j = 0; j < kUnits; ++j) {
        z[j] = sigmoid(weights.projection(j, step, true) + weights.recurrent(j, before, false));
        r[j] = sigmoid(weights.projection(kUnits + j, step, true) +
                       weights.recurrent(kUnits + j, before, false));
        reset[j] = r[j] * before[j];
      }
      for (std::size_t j = 0; j < kUnits; ++j) {
        const std::size_t n = 2 * kUnits + j;
        const float projection = weights.projection(n, step, !linear_before_reset);
        const float pre = linear_before_reset
                              ? std::fma(r[j], weights.recurrent(n, before, true), projection)
                              : projection + weights.recurrent(n, reset, false);
        const float candidate = tanh_kernel(pre);
        h[j] = std::fma(z[j], before[j] - candidate, candidate);
      }
      expected.insert(expected.end(), h.begin(), h.end());
    }
    expect_same_bits(
        run("GRU", weights, {{"linear_before_reset", std::int64_t{linear_before_reset}}}, x),
        expected);
  }
}

}  // namespace
}  // namespace tocsin
