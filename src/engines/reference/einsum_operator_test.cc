// Einsum against a plain twin that walks all letters, and reductions that ONNX's node tests have in
// float64 alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"

namespace tocsin {
namespace {

using Lengths = std::map<char, std::int64_t>;

const Lengths kLengths = {{'a', 2}, {'b', 3}, {'c', 4}, {'d', 5}, {'t', 7}};

Shape shape_of(const std::string& letters) {
  Shape shape;
  for (const char letter : letters) shape.push_back(kLengths.at(letter));
  return shape;
}

std::size_t offset_of(const std::string& letters, const Lengths& place) {
  std::size_t offset = 0;
  for (const char letter : letters)
    offset = offset * static_cast<std::size_t>(kLengths.at(letter)) +
             static_cast<std::size_t>(place.at(letter));
  return offset;
}

struct Operands {
  std::string left, right, output;
};

// The sum over every combination of all letters, in double precision.
std::vector<double> twin(const Operands& letters, const std::vector<float>& x,
                         const std::vector<float>& w) {
  std::vector<double> y(*checked_element_count(shape_of(letters.output)));
  std::string all;
  for (const char letter : letters.left + letters.right)
    if (all.find(letter) == std::string::npos) all += letter;
  Lengths place;
  for (std::size_t n = 0; n < *checked_element_count(shape_of(all)); ++n) {
    std::size_t rest = n;
    for (const char letter : all) {
      const auto length = static_cast<std::size_t>(kLengths.at(letter));
      place[letter] = static_cast<std::int64_t>(rest % length);
      rest /= length;
    }
    const double right = letters.right.empty() ? 1.0 : w[offset_of(letters.right, place)];
    y[offset_of(letters.output, place)] += right * x[offset_of(letters.left, place)];
  }
  return y;
}

std::vector<float> run(GraphBuilder builder, ValueIndex y, const Shape& shape,
                       std::vector<float> x) {
  builder.output(y, shape);
  auto session = ReferenceSession::load(builder.finish(), {});
  EXPECT_TRUE(session.ok()) << session.error().message();
  if (!session.ok()) return {};
  FloatModel model(std::move(*session), 0);
  std::vector<float> values(*checked_element_count(shape));
  EXPECT_TRUE(model.run(x, values)) << model.session().error().message();
  return values;
}

std::vector<float> numbers(std::size_t count, std::size_t first) {
  std::vector<float> values = formula_input(count + first);
  return {values.begin() + static_cast<std::ptrdiff_t>(first), values.end()};
}

void expect_close(const std::vector<float>& actual, const std::vector<double>& expected,
                  const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(static_cast<double>(actual[i]), expected[i], 2e-5) << what << " element " << i;
}

TEST(Einsum, GivesTheSumOverAllLettersThatTheOutputLacks) {
  const std::vector<Operands> cases = {
      {"abc", "cd", "abd"},      // a dense layer over time
      {"abtc", "adtc", "abdt"},  // scores of two batch letters, one of them in the middle
      {"abt", "atd", "abd"},     // batched matrices
      {"abc", "abc", ""},        // an inner product
      {"ac", "bd", "bdca"},      // an outer product, transposed
      {"tab", "dcb", "ctad"},    // heads side by side
      {"abd", "c", "cb"},        // letters that one operand alone has are summed
      {"abt", "", "ta"},         // one operand: summed and transposed
      {"abcd", "", "dbca"},      // one operand: transposed
      {"aab", "", "ab"},         // a diagonal
      {"aab", "bca", "ac"},      // a diagonal in a product
  };
  for (const Operands& letters : cases) {
    const std::string equation =
        letters.left + (letters.right.empty() ? "" : "," + letters.right) + "->" + letters.output;
    const Shape left = shape_of(letters.left);
    const std::vector<float> x = numbers(*checked_element_count(left), 0);
    GraphBuilder builder;
    std::vector<ValueIndex> inputs = {builder.input("x", left)};
    std::vector<float> w;
    if (!letters.right.empty()) {
      const Shape right = shape_of(letters.right);
      w = numbers(*checked_element_count(right), 31);
      inputs.push_back(builder.floats("w", right, w));
    }
    const ValueIndex y = builder.node("Einsum", inputs, {{"equation", equation}});
    expect_close(run(std::move(builder), y, shape_of(letters.output), x), twin(letters, x, w),
                 equation);
  }
}

TEST(Einsum, TakesEllipsesAndOrdersAnOutputThatIsLeftOut) {
  const std::vector<float> x = numbers(std::size_t{2} * 3 * 4, 0);
  const std::vector<float> w = numbers(std::size_t{4} * 5, 31);
  for (const std::string equation : {"...c,cd->...d", "... c , cd -> ... d", "...c,cd"}) {
    GraphBuilder builder;
    const ValueIndex y =
        builder.node("Einsum", {builder.input("x", {2, 3, 4}), builder.floats("w", {4, 5}, w)},
                     {{"equation", equation}});
    expect_close(run(std::move(builder), y, {2, 3, 5}, x), twin({"abc", "cd", "abd"}, x, w),
                 equation);
  }
}

TEST(Einsum, RefusesWhatDoesNotFitWithTheReason) {
  const std::map<std::string, std::string> reasons = {
      {"ab,bc->ac", "'ab' of its equation does not fit shape [2,3,4]"},
      {"abc,de->", "does not fit shape [5]"},
      {"abc,a->b", "stands for 2 and 5"},
      {"abc,d->e", "stands in its output wrongly"},
      {"ab?,d->a", "has a '?'"},
      {"abc->a", "does not fit its inputs"}};
  for (const auto& [equation, reason] : reasons) {
    GraphBuilder builder;
    const ValueIndex y = builder.node(
        "Einsum", {builder.input("x", {2, 3, 4}), builder.floats("w", {5}, {1, 2, 3, 4, 5})},
        {{"equation", equation}});
    builder.output(y, {1});
    const auto session = ReferenceSession::load(builder.finish(), {});
    ASSERT_FALSE(session.ok()) << equation;
    EXPECT_THAT(session.error().message(), testing::HasSubstr(reason));
  }
}

TEST(ReduceLogSumExp, IsTheLogarithmOfTheSumAlsoWhereExponentialsOverflow) {
  for (const float shift : {0.0F, 1'000.0F, -1'000.0F}) {
    std::vector<float> x = numbers(std::size_t{2} * 3 * 200, 0);
    for (float& value : x) value += shift;
    GraphBuilder builder;
    const ValueIndex y =
        builder.node("ReduceLogSumExp", {builder.input("x", {2, 3, 200})},
                     {{"axes", std::vector<std::int64_t>{0, 2}}, {"keepdims", std::int64_t{0}}});
    const std::vector<float> actual = run(std::move(builder), y, {3}, x);
    ASSERT_EQ(actual.size(), 3U);
    for (std::size_t row = 0; row < 3; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (i / 200 % 3 == row) sum += std::exp(static_cast<double>(x[i] - shift));
      EXPECT_NEAR(static_cast<double>(actual[row]), std::log(sum) + static_cast<double>(shift),
                  shift == 0.0F ? 2e-6 : 7e-5);
    }
  }
}

TEST(ReduceLogSumExp, OfNothingButMinusInfinityIsMinusInfinity) {
  GraphBuilder builder;
  const ValueIndex y = builder.node("ReduceLogSumExp", {builder.input("x", {1, 3})});
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(run(std::move(builder), y, {1, 1}, {-infinity, -infinity, -infinity})[0], -infinity);
}

}  // namespace
}  // namespace tocsin
