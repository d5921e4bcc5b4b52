// Every activation in every cell against a plain twin in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 5;
constexpr std::int64_t kSteps = 7, kFeatures = 3, kUnits = 5;
constexpr auto kWidth = static_cast<std::size_t>(kUnits);

using Function = std::function<double(double)>;

// Alpha and beta are those of the nodes below.
constexpr double kAlpha = 0.4, kBeta = 0.6;
const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> all = {
      {"Relu", [](double x) { return std::max(x, 0.0); }},
      {"Tanh", [](double x) { return std::tanh(x); }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Affine", [](double x) { return kAlpha * x + kBeta; }},
      {"LeakyRelu", [](double x) { return x < 0 ? kAlpha * x : x; }},
      {"ThresholdedRelu", [](double x) { return x > kAlpha ? x : 0; }},
      {"ScaledTanh", [](double x) { return kAlpha * std::tanh(kBeta * x); }},
      {"HardSigmoid", [](double x) { return std::clamp(kAlpha * x + kBeta, 0.0, 1.0); }},
      {"Elu", [](double x) { return x < 0 ? kAlpha * (std::exp(x) - 1) : x; }},
      {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }},
      {"Softplus", [](double x) { return std::log1p(std::exp(x)); }}};
  return all;
}
bool has_alpha(const std::string& name) {
  return name == "Affine" || name == "LeakyRelu" || name == "ThresholdedRelu" ||
         name == "ScaledTanh" || name == "HardSigmoid" || name == "Elu";
}
bool has_beta(const std::string& name) {
  return name == "Affine" || name == "ScaledTanh" || name == "HardSigmoid";
}

struct Cell {
  std::string type;
  std::size_t gates = 1;
  std::vector<std::string> activations;
  bool resets_late = false;
};

// Weights of one direction: [gates * units, features], [gates * units, units], [2 * gates * units].
struct Weights {
  std::vector<float> w, r, b;

  explicit Weights(std::size_t gates) {
    RandomFloats random(kSeed + gates);
    const std::size_t rows = gates * kWidth;
    w = random.vector(rows * static_cast<std::size_t>(kFeatures), 0.5F);
    r = random.vector(rows * kWidth, 0.5F);
    b = random.vector(2 * rows, 0.5F);
  }
  // Row `row` of W x or R h, with its part of the bias.
  double input(std::size_t row, const float* x) const {
    double sum = b[row];
    for (std::size_t k = 0; k < static_cast<std::size_t>(kFeatures); ++k)
      sum += static_cast<double>(w[row * static_cast<std::size_t>(kFeatures) + k]) * x[k];
    return sum;
  }
  double recurrent(std::size_t row, const std::vector<double>& h) const {
    double sum = b[b.size() / 2 + row];
    for (std::size_t k = 0; k < kWidth; ++k) sum += static_cast<double>(r[row * kWidth + k]) * h[k];
    return sum;
  }
};

// The last hidden state.
std::vector<double> twin(const Cell& cell, const Weights& weights, const std::vector<float>& x) {
  const auto f = [&cell](std::size_t i) { return functions().at(cell.activations[i]); };
  std::vector<double> h(kWidth), c(kWidth);
  for (std::size_t t = 0; t < static_cast<std::size_t>(kSteps); ++t) {
    const float* frame = x.data() + t * static_cast<std::size_t>(kFeatures);
    const std::vector<double> old = h;
    const auto gate = [&](std::size_t index, std::size_t n) {
      return weights.input(index * kWidth + n, frame) + weights.recurrent(index * kWidth + n, old);
    };
    std::vector<double> reset(kWidth), reset_h(kWidth);
    if (cell.type == "GRU") {
      for (std::size_t n = 0; n < kWidth; ++n) reset[n] = f(0)(gate(1, n));
      for (std::size_t n = 0; n < kWidth; ++n) reset_h[n] = reset[n] * old[n];
    }
    for (std::size_t n = 0; n < kWidth; ++n) {
      if (cell.type == "RNN") {
        h[n] = f(0)(gate(0, n));
      } else if (cell.type == "GRU") {
        const std::size_t row = 2 * kWidth + n;
        const double late = reset[n] * weights.recurrent(row, old);
        const double candidate = f(1)(weights.input(row, frame) +
                                      (cell.resets_late ? late : weights.recurrent(row, reset_h)));
        const double update = f(0)(gate(0, n));
        h[n] = (1 - update) * candidate + update * old[n];
      } else {  // gates i, o, f, c
        c[n] = f(0)(gate(2, n)) * c[n] + f(0)(gate(0, n)) * f(1)(gate(3, n));
        h[n] = f(0)(gate(1, n)) * f(2)(c[n]);
      }
    }
  }
  return h;
}

std::vector<float> run(const Cell& cell, const Weights& weights, std::vector<float> x) {
  std::vector<float> alphas, betas;
  for (const std::string& name : cell.activations) {
    if (has_alpha(name)) alphas.push_back(static_cast<float>(kAlpha));
    if (has_beta(name)) betas.push_back(static_cast<float>(kBeta));
  }
  std::vector<Attribute> attributes = {{"hidden_size", kUnits}, {"activations", cell.activations}};
  if (!alphas.empty()) attributes.push_back({"activation_alpha", alphas});
  if (!betas.empty()) attributes.push_back({"activation_beta", betas});
  if (cell.type == "GRU")
    attributes.push_back({"linear_before_reset", std::int64_t{cell.resets_late ? 1 : 0}});
  const auto rows = static_cast<std::int64_t>(cell.gates) * kUnits;
  GraphBuilder builder;
  const auto outputs = builder.nodes(cell.type,
                                     {builder.input("x", {kSteps, 1, kFeatures}),
                                      builder.floats("w", {1, rows, kFeatures}, weights.w),
                                      builder.floats("r", {1, rows, kUnits}, weights.r),
                                      builder.floats("b", {1, 2 * rows}, weights.b)},
                                     attributes, 2);
  builder.output(outputs[1], {1, 1, kUnits});
  auto session = ReferenceSession::load(builder.finish(), {});
  EXPECT_TRUE(session.ok()) << session.error().message();
  if (!session.ok()) return {};
  FloatModel model(std::move(*session), 0);
  std::vector<float> h(kWidth);
  EXPECT_TRUE(model.run(x, h)) << model.session().error().message();
  return h;
}

TEST(RecurrentActivations, GiveWhatAPlainTwinGives) {
  std::vector<float> x = formula_input(static_cast<std::size_t>(kSteps * kFeatures));
  for (const auto& [name, function] : functions()) {
    for (const Cell& cell :
         {Cell{"RNN", 1, {name}}, Cell{"LSTM", 4, {"Sigmoid", name, name}},
          Cell{"LSTM", 4, {name, "Tanh", "Softsign"}}, Cell{"GRU", 3, {"Sigmoid", name}},
          Cell{"GRU", 3, {name, "Tanh"}}, Cell{"GRU", 3, {"HardSigmoid", name}, true}}) {
      const Weights weights(cell.gates);
      const std::vector<double> expected = twin(cell, weights, x);
      const std::vector<float> actual = run(cell, weights, x);
      ASSERT_EQ(actual.size(), expected.size()) << cell.type << " " << name;
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(static_cast<double>(actual[i]), expected[i],
                    2e-5 * std::max(1.0, std::fabs(expected[i])))
            << cell.type << " with " << name << ", unit " << i;
    }
  }
}

}  // namespace
}  // namespace tocsin
