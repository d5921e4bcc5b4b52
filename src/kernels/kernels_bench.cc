// What a window costs in the kernels alone, per instruction set: a 2-layer LSTM (100 units, 40
// features, 50 steps), its parts, and the element-wise functions. The answer is compared with the
// default instruction set's bits before anything is timed. Smoke run: --benchmark_min_time=0.001
#include <benchmark/benchmark.h>

#include <limits>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

constexpr std::size_t kSteps = 50;
constexpr std::size_t kFeatures = 40;
constexpr std::size_t kUnits = 100;
constexpr std::size_t kGates = 4 * kUnits;

struct Layer {
  Layer(std::size_t input_count, RandomFloats& random)
      : inputs(input_count),
        w(random.vector(kGates * inputs, 0.1F)),
        r(random.vector(kGates * kUnits, 0.1F)),
        bias(random.vector(kGates, 0.1F)),
        packed_w({w.data(), kGates, inputs, inputs, 1}),
        packed_r({r.data(), kGates, kUnits, kUnits, 1}) {}

  std::size_t inputs;
  std::vector<float> w, r, bias;
  PackedMatrix packed_w, packed_r;
};

class LstmStack {
 public:
  LstmStack() : random_(1), layers_{Layer(kFeatures, random_), Layer(kUnits, random_)} {}

  // The last hidden state of the second layer.
  const float* run(const KernelTable& table) {
    const float* input = window_.data();
    for (std::size_t l = 0; l < 2; ++l) {
      const Layer& layer = layers_[l];
      project(table, layer, input);
      std::vector<float>& output = hidden_[l];
      cell_.assign(kUnits, 0.0F);
      const float* hidden = zero_.data();
      for (std::size_t t = 0; t < kSteps; ++t) {
        table.dense(
            {layer.packed_r.view(), hidden, kUnits, 1, nullptr, 0, recurrent_.data(), kGates});
        float* next = output.data() + t * kUnits;
        table.lstm_cell({kUnits, projection_.data() + t * kGates, recurrent_.data(), nullptr,
                         std::numeric_limits<float>::infinity(), cell_.data(), next});
        hidden = next;
      }
      input = output.data();
    }
    return hidden_[1].data() + (kSteps - 1) * kUnits;
  }

  void project(const KernelTable& table, const Layer& layer, const float* input) {
    table.dense({layer.packed_w.view(), input, layer.inputs, kSteps, layer.bias.data(), 0,
                 projection_.data(), kGates});
  }
  const Layer& layer(std::size_t index) const { return layers_[index]; }
  const float* window() const { return window_.data(); }

 private:
  RandomFloats random_;
  Layer layers_[2];
  std::vector<float> window_ = random_.vector(kSteps * kFeatures, 2.0F);
  std::vector<float> zero_ = std::vector<float>(kUnits);
  std::vector<float> cell_ = std::vector<float>(kUnits);
  std::vector<float> recurrent_ = std::vector<float>(kGates);
  std::vector<float> projection_ = std::vector<float>(kSteps * kGates);
  std::vector<float> hidden_[2] = {std::vector<float>(kSteps * kUnits),
                                   std::vector<float>(kSteps* kUnits)};
};

void lstm_window(benchmark::State& state, Isa isa) {
  LstmStack stack;
  const float* expected = stack.run(kernels_of(Isa::kDefault));
  const std::vector<float> answer(expected, expected + kUnits);
  const float* actual = stack.run(kernels_of(isa));
  for (std::size_t j = 0; j < kUnits; ++j) {
    if (same_bits(actual[j], answer[j])) continue;
    state.SkipWithError("the bits differ from the default instruction set's");
    return;
  }
  while (state.KeepRunning()) benchmark::DoNotOptimize(stack.run(kernels_of(isa)));
  state.counters["windows/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void input_projection(benchmark::State& state, Isa isa) {
  LstmStack stack;
  while (state.KeepRunning()) stack.project(kernels_of(isa), stack.layer(0), stack.window());
  state.counters["FMA/s"] = benchmark::Counter(static_cast<double>(kSteps * kGates * kFeatures),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

void map_4096(benchmark::State& state, Isa isa, MapFunction KernelTable::*function) {
  RandomFloats random(2);
  const std::vector<float> x = random.vector(4096, 6.0F);
  std::vector<float> y(x.size());
  while (state.KeepRunning()) (kernels_of(isa).*function)(x.data(), y.data(), x.size());
  state.counters["values/s"] = benchmark::Counter(static_cast<double>(x.size()),
                                                  benchmark::Counter::kIsIterationInvariantRate);
}

void register_all() {
  for (const Isa isa : available_isas()) {
    const std::string suffix = "/" + std::string(isa_name(isa));
    benchmark::RegisterBenchmark(("lstm_2x100_window50" + suffix).c_str(), lstm_window, isa);
    benchmark::RegisterBenchmark(("projection_50x400x40" + suffix).c_str(), input_projection, isa);
    benchmark::RegisterBenchmark(("exp" + suffix).c_str(), map_4096, isa, &KernelTable::exp);
    benchmark::RegisterBenchmark(("tanh" + suffix).c_str(), map_4096, isa, &KernelTable::tanh);
    benchmark::RegisterBenchmark(("sigmoid" + suffix).c_str(), map_4096, isa,
                                 &KernelTable::sigmoid);
    benchmark::RegisterBenchmark(("erf" + suffix).c_str(), map_4096, isa, &KernelTable::erf);
    benchmark::RegisterBenchmark(("log" + suffix).c_str(), map_4096, isa, &KernelTable::log);
  }
}

}  // namespace
}  // namespace tocsin

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  tocsin::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
