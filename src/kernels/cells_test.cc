// The recurrent cells against plain twins of their definitions: bits, on every instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSeed = 99;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float sigmoid(float x) {
  kernels_of(Isa::kDefault).sigmoid(&x, &x, 1);
  return x;
}
float tanh_kernel(float x) {
  kernels_of(Isa::kDefault).tanh(&x, &x, 1);
  return x;
}
float clamped(float x, float clip) { return x < -clip ? -clip : (x > clip ? clip : x); }

struct State {
  std::vector<float> cell;
  std::vector<float> hidden;
};

State lstm_twin(const LstmCellCall& call) {
  const std::size_t n = call.units;
  State state{std::vector<float>(call.cell, call.cell + n), std::vector<float>(n)};
  const auto pre = [&call, n](std::size_t gate, std::size_t j) {
    return call.projection[gate * n + j] + call.recurrent[gate * n + j];
  };
  const auto peep = [&call, n](std::size_t gate, std::size_t j, float cell, float value) {
    return call.peephole == nullptr ? value : std::fma(call.peephole[gate * n + j], cell, value);
  };
  for (std::size_t j = 0; j < n; ++j) {
    const float i = sigmoid(clamped(peep(0, j, state.cell[j], pre(0, j)), call.clip));
    const float f = sigmoid(clamped(peep(2, j, state.cell[j], pre(2, j)), call.clip));
    const float g = tanh_kernel(clamped(pre(3, j), call.clip));
    state.cell[j] = std::fma(f, state.cell[j], i * g);
    const float o = sigmoid(clamped(peep(1, j, state.cell[j], pre(1, j)), call.clip));
    state.hidden[j] = o * tanh_kernel(state.cell[j]);
  }
  return state;
}

void expect_same(const std::vector<float>& actual, const std::vector<float>& expected, Isa isa) {
  for (std::size_t j = 0; j < expected.size(); ++j)
    ASSERT_TRUE(same_bits(actual[j], expected[j]))
        << isa_name(isa) << " unit " << j << " of " << expected.size() << ", seed " << kSeed;
}

TEST(LstmCell, EveryIsaGivesTheBitsOfTheDefinition) {
  RandomFloats random(kSeed);
  for (std::size_t units = 1; units <= 70; ++units) {
    for (int variant = 0; variant < 4; ++variant) {
      const std::vector<float> projection = random.vector(4 * units, 3.0F);
      std::vector<float> recurrent = random.vector(4 * units, 3.0F);
      const std::vector<float> peephole = random.vector(3 * units, 1.0F);
      const std::vector<float> cell = random.vector(units, 2.0F);
      LstmCellCall call;
      call.units = units;
      call.projection = projection.data();
      call.recurrent = recurrent.data();
      call.peephole = variant % 2 == 0 ? nullptr : peephole.data();
      call.clip = variant < 2 ? kInfinity : 0.75F;
      std::vector<float> expected_cell = cell;
      call.cell = expected_cell.data();
      const State expected = lstm_twin(call);
      for (const Isa isa : available_isas()) {
        State state{cell, std::vector<float>(units + 1, 99.0F)};
        call.cell = state.cell.data();
        call.hidden = state.hidden.data();
        std::vector<float> gates = recurrent;
        call.recurrent = gates.data();
        kernels_of(isa).lstm_cell(call);
        EXPECT_EQ(state.hidden[units], 99.0F) << "wrote past the end";
        expect_same(state.cell, expected.cell, isa);
        expect_same(
            state.hidden,
            [&] {
              auto h = expected.hidden;
              h.push_back(99.0F);
              return h;
            }(),
            isa);
      }
    }
  }
}

TEST(GruCell, EveryIsaGivesTheBitsOfTheDefinition) {
  RandomFloats random(kSeed);
  for (std::size_t units = 1; units <= 70; ++units) {
    const std::vector<float> projection = random.vector(3 * units, 3.0F);
    const std::vector<float> recurrent = random.vector(3 * units, 3.0F);
    const std::vector<float> hidden = random.vector(units, 1.0F);
    const float clip = units % 3 == 0 ? 0.5F : kInfinity;
    std::vector<float> expected(units);
    for (std::size_t j = 0; j < units; ++j) {
      const float z = sigmoid(clamped(projection[j] + recurrent[j], clip));
      const float r = sigmoid(clamped(projection[units + j] + recurrent[units + j], clip));
      const float n = tanh_kernel(
          clamped(std::fma(r, recurrent[2 * units + j], projection[2 * units + j]), clip));
      expected[j] = std::fma(z, hidden[j] - n, n);
    }
    for (const Isa isa : available_isas()) {
      std::vector<float> actual = hidden;
      std::vector<float> gates = recurrent;
      kernels_of(isa).gru_cell({units, projection.data(), gates.data(), clip, actual.data()});
      expect_same(actual, expected, isa);
    }
  }
}

TEST(GruHalves, EveryIsaGivesTheBitsOfTheDefinition) {
  RandomFloats random(kSeed);
  for (std::size_t units = 1; units <= 40; ++units) {
    const std::vector<float> projection = random.vector(3 * units, 3.0F);
    const std::vector<float> recurrent = random.vector(2 * units, 3.0F);
    const std::vector<float> candidate = random.vector(units, 3.0F);
    const std::vector<float> hidden = random.vector(units, 1.0F);
    std::vector<float> expected_reset(units);
    std::vector<float> expected(units);
    for (std::size_t j = 0; j < units; ++j) {
      const float z = sigmoid(projection[j] + recurrent[j]);
      expected_reset[j] = sigmoid(projection[units + j] + recurrent[units + j]) * hidden[j];
      const float n = tanh_kernel(projection[2 * units + j] + candidate[j]);
      expected[j] = std::fma(z, hidden[j] - n, n);
    }
    for (const Isa isa : available_isas()) {
      std::vector<float> update(units);
      std::vector<float> reset(units);
      std::vector<float> actual = hidden;
      kernels_of(isa).gru_reset({units, projection.data(), recurrent.data(), kInfinity,
                                 actual.data(), update.data(), reset.data()});
      expect_same(reset, expected_reset, isa);
      kernels_of(isa).gru_output({units, projection.data() + 2 * units, candidate.data(),
                                  update.data(), kInfinity, actual.data()});
      expect_same(actual, expected, isa);
    }
  }
}

TEST(LstmCell, NanInOneUnitStaysInThatUnit) {
  constexpr std::size_t kUnits = 20;
  std::vector<float> projection(4 * kUnits, 0.5F);
  projection[3 * kUnits + 7] = std::numeric_limits<float>::quiet_NaN();
  for (const Isa isa : available_isas()) {
    std::vector<float> recurrent(4 * kUnits, 0.25F);
    std::vector<float> cell(kUnits, 0.1F);
    std::vector<float> hidden(kUnits);
    kernels_of(isa).lstm_cell({kUnits, projection.data(), recurrent.data(), nullptr, kInfinity,
                               cell.data(), hidden.data()});
    for (std::size_t j = 0; j < kUnits; ++j) EXPECT_EQ(std::isnan(hidden[j]), j == 7);
  }
}

}  // namespace
}  // namespace tocsin
