// Products of matrices as they lie against a plain twin: bits, on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 20260;

float twin(const ProductCall& call, std::size_t row, std::size_t column) {
  float total = call.bias == nullptr ? 0.0F : call.bias[row];
  for (std::size_t first = 0; first < call.input_count; first += kSumBlock) {
    float block = 0.0F;
    for (std::size_t k = first; k < std::min(first + kSumBlock, call.input_count); ++k)
      block = std::fma(call.a[row * call.a_stride + k], call.b[call.b_offsets[k] + column], block);
    total += block;
  }
  return total;
}

struct Case {
  std::size_t rows, inputs, columns;
};

TEST(Product, EveryIsaGivesTheBitsOfTheDefinition) {
  RandomFloats random(kSeed);
  std::vector<Case> cases;
  for (std::size_t columns = 1; columns <= 130; columns += columns < 20 ? 1 : 11)
    cases.push_back({1 + columns % 27, 1 + columns * 37 % 300, columns});
  for (std::size_t rows = 1; rows <= 30; ++rows) cases.push_back({rows, 33, 47});
  for (const Case& c : cases) {
    const std::vector<float> a = random.vector(c.rows * (c.inputs + 1), 2.0F);
    // Rows of b overlap and are in no order; the last one ends with the memory.
    std::vector<std::size_t> offsets(c.inputs);
    for (std::size_t k = 0; k < c.inputs; ++k) offsets[k] = (k * 13) % (c.inputs + 5);
    const std::size_t end = *std::max_element(offsets.begin(), offsets.end()) + c.columns;
    const std::vector<float> b = random.vector(end, 3.0F);
    const std::vector<float> bias = random.vector(c.rows, 1.0F);
    for (const bool has_bias : {false, true}) {
      std::vector<float> y(c.rows * (c.columns + 3), 55.0F);
      const ProductCall call{
          c.rows,       c.inputs,     c.columns,      a.data(),
          c.inputs + 1, b.data(),     offsets.data(), has_bias ? bias.data() : nullptr,
          y.data(),     c.columns + 3};
      for (const Isa isa : available_isas()) {
        std::fill(y.begin(), y.end(), 55.0F);
        kernels_of(isa).product(call);
        for (std::size_t r = 0; r < c.rows; ++r) {
          for (std::size_t n = 0; n < c.columns; ++n)
            ASSERT_TRUE(same_bits(y[r * call.y_stride + n], twin(call, r, n)))
                << isa_name(isa) << " " << c.rows << " x " << c.inputs << " x " << c.columns
                << ", row " << r << ", column " << n;
          for (std::size_t n = c.columns; n < call.y_stride; ++n)
            ASSERT_EQ(y[r * call.y_stride + n], 55.0F) << isa_name(isa);
        }
      }
    }
  }
}

TEST(Product, NeighbouringRowsAndColumnsDoNotReachAValue) {
  RandomFloats random(kSeed);
  constexpr std::size_t kRows = 9;
  constexpr std::size_t kInputs = 140;
  constexpr std::size_t kColumns = 70;
  std::vector<float> a = random.vector(kRows * kInputs, 1.0F);
  std::vector<float> b = random.vector(kInputs * kColumns, 1.0F);
  std::vector<std::size_t> offsets(kInputs);
  for (std::size_t k = 0; k < kInputs; ++k) offsets[k] = k * kColumns;
  std::vector<float> y(kRows * kColumns);
  const ProductCall call{kRows,    kInputs,        kColumns, a.data(), kInputs,
                         b.data(), offsets.data(), nullptr,  y.data(), kColumns};
  const float expected = twin(call, 4, 33);
  for (std::size_t r = 0; r < kRows; ++r)
    if (r != 4) std::fill_n(a.begin() + static_cast<std::ptrdiff_t>(r * kInputs), kInputs, NAN);
  for (std::size_t i = 0; i < b.size(); ++i)
    if (i % kColumns != 33) b[i] = INFINITY;
  for (const Isa isa : available_isas()) {
    kernels_of(isa).product(call);
    EXPECT_TRUE(same_bits(y[4 * kColumns + 33], expected)) << isa_name(isa);
  }
}

}  // namespace
}  // namespace tocsin
