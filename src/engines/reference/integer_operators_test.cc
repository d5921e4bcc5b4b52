// The integer forms and LpPool against plain twins, over shapes, signs and zero points at random.
// Scales are powers of two, so that requantising is exact and equality is asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 23;
using Ints = std::vector<std::int64_t>;

class IntegerOperators : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { RecordProperty("seed", std::to_string(kSeed + GetParam())); }

  std::int64_t below(std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random_);
  }
  // 8-bit values of either sign, as the type at hand has them.
  template <typename T>
  std::vector<T> values(std::size_t count) {
    std::vector<T> result(count);
    for (T& value : result) value = static_cast<T>(below(256) + (std::is_signed_v<T> ? -128 : 0));
    return result;
  }

  std::mt19937_64 random_{kSeed + static_cast<std::uint64_t>(GetParam())};
};

template <typename T>
ValueIndex constant(GraphBuilder& builder, const std::string& name, Shape shape,
                    const std::vector<T>& values) {
  return builder.weight(name, Tensor::of<T>(std::move(shape), std::span<const T>(values)));
}

// The output of a graph of one input.
template <typename In, typename Out>
std::vector<Out> run(GraphBuilder builder, ValueIndex y, const Shape& in, std::vector<In> x,
                     const Shape& out) {
  builder.output(y, out, data_type_of<Out>());
  auto session = ReferenceSession::load(builder.finish(), {});
  EXPECT_TRUE(session.ok()) << session.error().message();
  std::vector<Out> values(*checked_element_count(out));
  if (!session.ok()) return values;
  const TensorView input{data_type_of<In>(), in, x.data(), x.size() * sizeof(In)};
  const TensorView output{data_type_of<Out>(), out, values.data(), values.size() * sizeof(Out)};
  EXPECT_TRUE((*session)->run({&input, 1}, {&output, 1})) << (*session)->error().message();
  return values;
}

template <typename T>
T saturated(double value, int zero_point) {
  return static_cast<T>(std::clamp<double>(std::nearbyint(value) + zero_point,
                                           std::numeric_limits<T>::min(),
                                           std::numeric_limits<T>::max()));
}

TEST_P(IntegerOperators, ProductsOfMatricesAreExact) {
  const std::int64_t m = 1 + below(5);
  const std::int64_t k = 1 + below(200);
  const std::int64_t n = 1 + below(9);
  const auto a = values<std::uint8_t>(static_cast<std::size_t>(m * k));
  const auto b = values<std::int8_t>(static_cast<std::size_t>(k * n));
  const auto a_zero = values<std::uint8_t>(1);
  const auto b_zero = values<std::int8_t>(static_cast<std::size_t>(n));
  std::vector<std::int32_t> sums(static_cast<std::size_t>(m * n));
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t column = 0; column < n; ++column)
      for (std::int64_t i = 0; i < k; ++i)
        sums[static_cast<std::size_t>(row * n + column)] +=
            (a[static_cast<std::size_t>(row * k + i)] - a_zero[0]) *
            (b[static_cast<std::size_t>(i * n + column)] -
             b_zero[static_cast<std::size_t>(column)]);
  GraphBuilder plain;
  const ValueIndex product = plain.node(
      "MatMulInteger", {plain.input("a", {m, k}, DataType::kUint8), constant(plain, "b", {k, n}, b),
                        constant(plain, "az", {}, a_zero), constant(plain, "bz", {n}, b_zero)});
  EXPECT_EQ((run<std::uint8_t, std::int32_t>(std::move(plain), product, {m, k}, a, {m, n})), sums);

  GraphBuilder scaled;
  std::vector<float> scales(static_cast<std::size_t>(n));
  for (float& scale : scales) scale = std::ldexp(1.0F, -static_cast<int>(below(4)));
  const std::vector<std::int8_t> zero = {-7};
  const ValueIndex quantised =
      scaled.node("QLinearMatMul",
                  {scaled.input("a", {m, k}, DataType::kUint8), scaled.floats("as", {}, {0.5F}),
                   constant(scaled, "az", {}, a_zero), constant(scaled, "b", {k, n}, b),
                   scaled.floats("bs", {n}, scales), constant(scaled, "bz", {n}, b_zero),
                   scaled.floats("ys", {}, {512.0F}), constant(scaled, "yz", {}, zero)});
  std::vector<std::int8_t> expected;
  for (std::size_t i = 0; i < sums.size(); ++i)
    expected.push_back(saturated<std::int8_t>(
        sums[i] * 0.5 * static_cast<double>(scales[i % scales.size()]) / 512.0, zero[0]));
  EXPECT_EQ((run<std::uint8_t, std::int8_t>(std::move(scaled), quantised, {m, k}, a, {m, n})),
            expected);
}

// One row of `length`, a window of `taps` that moves by `stride`; two groups.
struct RowWindow {
  std::int64_t length, taps, stride, dilation, pad_begin, pad_end;
  std::int64_t positions() const {
    return (length + pad_begin + pad_end - dilation * (taps - 1) - 1) / stride + 1;
  }
  std::vector<Attribute> attributes() const {
    return {{"kernel_shape", Ints{taps}},
            {"strides", Ints{stride}},
            {"dilations", Ints{dilation}},
            {"pads", Ints{pad_begin, pad_end}}};
  }
  // The place in the row that tap `tap` of position `i` meets; -1: padding.
  std::int64_t place(std::int64_t i, std::int64_t tap) const {
    const std::int64_t at = i * stride + tap * dilation - pad_begin;
    return at >= 0 && at < length ? at : -1;
  }
};

TEST_P(IntegerOperators, ConvolutionsAreExactAndPadWithTheZeroPoint) {
  const RowWindow window{9 + below(30), 1 + below(4), 1 + below(3),
                         1 + below(2),  below(3),     below(3)};
  const std::int64_t channels = 2 * (1 + below(3));
  const std::int64_t outputs = 2 * (1 + below(4));
  const Shape in{1, channels, window.length};
  const Shape out{1, outputs, window.positions()};
  const std::int64_t group_channels = channels / 2;
  const auto x = values<std::uint8_t>(*checked_element_count(in));
  const auto w =
      values<std::int8_t>(static_cast<std::size_t>(outputs * group_channels * window.taps));
  const auto x_zero = values<std::uint8_t>(1);
  const auto w_zero = values<std::int8_t>(1);
  std::vector<std::int32_t> bias(static_cast<std::size_t>(outputs));
  for (std::int32_t& value : bias) value = static_cast<std::int32_t>(below(2'000)) - 1'000;
  std::vector<std::int32_t> sums;
  for (std::int64_t o = 0; o < outputs; ++o) {
    for (std::int64_t i = 0; i < window.positions(); ++i) {
      std::int32_t sum = 0;
      for (std::int64_t c = 0; c < group_channels; ++c) {
        for (std::int64_t tap = 0; tap < window.taps; ++tap) {
          const std::int64_t place = window.place(i, tap);
          if (place < 0) continue;
          const std::int64_t channel = o / (outputs / 2) * group_channels + c;
          sum += (x[static_cast<std::size_t>(channel * window.length + place)] - x_zero[0]) *
                 (w[static_cast<std::size_t>((o * group_channels + c) * window.taps + tap)] -
                  w_zero[0]);
        }
      }
      sums.push_back(sum);
    }
  }
  std::vector<Attribute> attributes = window.attributes();
  attributes.push_back({"group", std::int64_t{2}});
  const Shape w_shape{outputs, group_channels, window.taps};
  GraphBuilder plain;
  const ValueIndex product =
      plain.node("ConvInteger",
                 {plain.input("x", in, DataType::kUint8), constant(plain, "w", w_shape, w),
                  constant(plain, "xz", {}, x_zero), constant(plain, "wz", {}, w_zero)},
                 attributes);
  EXPECT_EQ((run<std::uint8_t, std::int32_t>(std::move(plain), product, in, x, out)), sums);

  GraphBuilder scaled;
  const std::vector<std::uint8_t> zero = {100};
  const ValueIndex quantised =
      scaled.node("QLinearConv",
                  {scaled.input("x", in, DataType::kUint8), scaled.floats("xs", {}, {0.25F}),
                   constant(scaled, "xz", {}, x_zero), constant(scaled, "w", w_shape, w),
                   scaled.floats("ws", {}, {0.5F}), constant(scaled, "wz", {}, w_zero),
                   scaled.floats("ys", {}, {64.0F}), constant(scaled, "yz", {}, zero),
                   constant(scaled, "b", {outputs}, bias)},
                  attributes);
  std::vector<std::uint8_t> expected;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::int32_t sum = sums[i] + bias[i / static_cast<std::size_t>(window.positions())];
    expected.push_back(saturated<std::uint8_t>(sum * 0.125 / 64.0, zero[0]));
  }
  EXPECT_EQ((run<std::uint8_t, std::uint8_t>(std::move(scaled), quantised, in, x, out)), expected);
}

TEST_P(IntegerOperators, LpPoolIsTheNormOfItsWindow) {
  const RowWindow window{9 + below(30), 2 + below(3), 1 + below(3), 1, below(2), below(2)};
  const Shape in{1, 2, window.length};
  const Shape out{1, 2, window.positions()};
  std::vector<float> x(*checked_element_count(in));
  for (float& value : x) value = static_cast<float>(below(2'001) - 1'000) / 300.0F;
  for (const std::int64_t p : {1, 2}) {
    std::vector<Attribute> attributes = window.attributes();
    std::erase_if(attributes, [](const Attribute& a) { return a.name == "dilations"; });
    attributes.push_back({"p", p});
    GraphBuilder builder;
    const ValueIndex y = builder.node("LpPool", {builder.input("x", in)}, attributes);
    const std::vector<float> actual = run<float, float>(std::move(builder), y, in, x, out);
    for (std::size_t o = 0; o < actual.size(); ++o) {
      const auto i = static_cast<std::int64_t>(o) % window.positions();
      const auto channel = static_cast<std::int64_t>(o) / window.positions();
      double sum = 0;
      for (std::int64_t tap = 0; tap < window.taps; ++tap) {
        const std::int64_t place = window.place(i, tap);
        if (place < 0) continue;
        sum += std::pow(std::fabs(static_cast<double>(
                            x[static_cast<std::size_t>(channel * window.length + place)])),
                        static_cast<double>(p));
      }
      EXPECT_NEAR(static_cast<double>(actual[o]), p == 1 ? sum : std::sqrt(sum), 1e-5) << "p " << p;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, IntegerOperators, ::testing::Range(0, 12));

}  // namespace
}  // namespace tocsin
