// Element-wise programs against a plain twin: bits, on every instruction set.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

using Operation = PointwiseOperation;
constexpr std::uint64_t kSeed = 515;

float mapped(MapFunction function, float x) {
  function(&x, &x, 1);
  return x;
}

float stepped(Operation operation, float v, float a) {
  const KernelTable& table = kernels_of(Isa::kDefault);
  switch (operation) {
    case Operation::kLoad:
      return a;
    case Operation::kSave:
      return v;
    case Operation::kAdd:
      return v + a;
    case Operation::kSubtract:
      return v - a;
    case Operation::kSubtractFrom:
      return a - v;
    case Operation::kMultiply:
      return v * a;
    case Operation::kDivide:
      return v / a;
    case Operation::kDivideInto:
      return a / v;
    case Operation::kAtLeast:
      return v < a ? a : v;
    case Operation::kAtMost:
      return v > a ? a : v;
    case Operation::kScaleNegative:
      return v < 0.0F ? a * v : v;
    case Operation::kNegate:
      return -v;
    case Operation::kMagnitude:
      return std::fabs(v);
    case Operation::kSquareRoot:
      return std::sqrt(v);
    case Operation::kExp:
      return mapped(table.exp, v);
    case Operation::kTanh:
      return mapped(table.tanh, v);
    case Operation::kSigmoid:
      return mapped(table.sigmoid, v);
    case Operation::kErf:
      return mapped(table.erf, v);
    case Operation::kLog:
      return mapped(table.log, v);
  }
  return NAN;
}

std::vector<float> twin(const PointwiseCall& call) {
  std::vector<float> y;
  for (std::size_t r = 0; r < call.row_count; ++r) {
    for (std::size_t c = 0; c < call.width; ++c) {
      std::array<float, kPointwiseSlots> slots{};
      float v = call.x[r * call.x_stride + c];
      for (std::size_t s = 0; s < call.step_count; ++s) {
        const PointwiseStep& step = call.steps[s];
        if (step.operation == Operation::kSave) {
          slots[static_cast<std::size_t>(step.slot)] = v;
          continue;
        }
        float a = 0;
        if (step.slot >= 0)
          a = slots[static_cast<std::size_t>(step.slot)];
        else if (step.operand != nullptr)
          a = step.operand[r * step.row_step + c * step.column_step];
        v = stepped(step.operation, v, a);
      }
      y.push_back(v);
    }
  }
  return y;
}

void expect_twin(const PointwiseCall& call, std::vector<float>& y) {
  const std::vector<float> expected = twin(call);
  for (const Isa isa : available_isas()) {
    std::fill(y.begin(), y.end(), 55.0F);
    kernels_of(isa).pointwise(call);
    for (std::size_t r = 0; r < call.row_count; ++r) {
      for (std::size_t c = 0; c < call.width; ++c)
        ASSERT_TRUE(same_bits(y[r * call.y_stride + c], expected[r * call.width + c]))
            << isa_name(isa) << ", row " << r << ", column " << c << " of " << call.width << ": "
            << y[r * call.y_stride + c] << ", expected " << expected[r * call.width + c];
      for (std::size_t c = call.width; c < call.y_stride; ++c)
        ASSERT_EQ(y[r * call.y_stride + c], 55.0F) << isa_name(isa);
    }
  }
}

TEST(Pointwise, EachOperationGivesTheBitsOfItsDefinition) {
  RandomFloats random(kSeed);
  for (int operation = 0; operation <= static_cast<int>(Operation::kLog); ++operation) {
    for (const std::size_t width : {1U, 15U, 16U, 63U, 64U, 100U, 131U}) {
      std::vector<float> x = random.vector(3 * width, 4.0F);
      std::vector<float> a = random.vector(3 * width, 2.0F);
      x[0] = operation % 2 == 0 ? NAN : -0.0F;
      a[width] = operation % 2 == 0 ? 0.0F : NAN;
      std::vector<float> y(3 * (width + 1));
      for (const PointwiseStep& step :
           {PointwiseStep{static_cast<Operation>(operation), -1, a.data(), width, 1},
            PointwiseStep{static_cast<Operation>(operation), -1, a.data(), 1, 0}}) {
        PointwiseStep used = step;
        if (used.operation == Operation::kSave) used.slot = 1;
        expect_twin({&used, 1, 3, width, x.data(), width, y.data(), width + 1}, y);
      }
    }
  }
}

TEST(Pointwise, ChainsKeepWhatTheySave) {
  RandomFloats random(kSeed);
  const float root = std::sqrt(2.0F);
  const float one = 1.0F;
  const float half = 0.5F;
  for (std::size_t width = 1; width <= 140; width += 3) {
    const std::vector<float> x = random.vector(5 * width, 3.0F);
    const std::vector<float> bias = random.vector(width, 1.0F);
    std::vector<float> y(x.size());
    // A GELU as exporters write it, after a bias.
    const std::array<PointwiseStep, 7> gelu = {{{Operation::kAdd, -1, bias.data(), 0, 1},
                                                {Operation::kSave, 2},
                                                {Operation::kDivide, -1, &root},
                                                {Operation::kErf},
                                                {Operation::kAdd, -1, &one},
                                                {Operation::kMultiply, 2},
                                                {Operation::kMultiply, -1, &half}}};
    expect_twin({gelu.data(), gelu.size(), 5, width, x.data(), width, y.data(), width}, y);
  }
}

}  // namespace
}  // namespace tocsin
