// What a window costs in the reference engine, for the market model's shape (2-layer LSTM of 100
// units, 40 features, 50 steps) in batches of 1 and 16; rows of a batch are first compared with
// single runs. TOCSIN_ISA chooses the instruction set. Smoke run: --benchmark_min_time=0.001
#include <benchmark/benchmark.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"
#include "kernels/isa.h"

namespace tocsin {
namespace {

constexpr std::int64_t kSteps = 50;
constexpr std::int64_t kFeatures = 40;
constexpr std::int64_t kUnits = 100;
constexpr std::int64_t kBatchMax = 16;

ValueIndex weights(GraphBuilder& builder, const std::string& name, Shape shape) {
  std::vector<float> values = formula_input(*checked_element_count(shape));
  for (float& value : values) value *= 0.05F;
  return builder.floats(name, std::move(shape), values);
}

// One layer as PyTorch exports it, with time first: [steps, batch, inputs] to [steps, batch,
// units].
ValueIndex lstm_layer(GraphBuilder& builder, ValueIndex x, std::int64_t inputs,
                      const std::string& name) {
  const ValueIndex w = weights(builder, name + ".w", {1, 4 * kUnits, inputs});
  const ValueIndex r = weights(builder, name + ".r", {1, 4 * kUnits, kUnits});
  const ValueIndex b = weights(builder, name + ".b", {1, 8 * kUnits});
  const ValueIndex y = builder.node("LSTM", {x, w, r, b}, {{"hidden_size", kUnits}});
  return builder.node("Squeeze", {y, builder.ints(name + ".axes", {1})});
}

Graph lstm_graph() {
  GraphBuilder builder;
  const ValueIndex x = builder.input("x", {kFreeDimension, kFreeDimension, kFeatures});
  const std::vector<std::int64_t> time_first{1, 0, 2};
  ValueIndex y = builder.node("Transpose", {x}, {{"perm", time_first}});
  y = lstm_layer(builder, y, kFeatures, "first");
  y = lstm_layer(builder, y, kUnits, "second");
  const ValueIndex last =
      builder.weight("last", Tensor::of<std::int64_t>({}, std::vector<std::int64_t>{-1}));
  y = builder.node("Gather", {y, last}, {{"axis", std::int64_t{0}}});
  y = builder.node("Gemm",
                   {y, weights(builder, "head.w", {kUnits, 1}), weights(builder, "head.b", {1})});
  builder.output(builder.node("Sigmoid", {y}), {kFreeDimension, 1});
  return builder.finish();
}

std::unique_ptr<FloatModel> load_model(benchmark::State& state) {
  SessionOptions options;
  options.batch_max = kBatchMax;
  options.steps = kSteps;
  auto session = ReferenceSession::load(lstm_graph(), options);
  if (!session.ok()) {
    state.SkipWithError(session.error().message().c_str());
    return nullptr;
  }
  return std::make_unique<FloatModel>(std::move(*session), kSteps);
}

// Each row of the batch, run alone, must give the bits it gave in the batch.
bool rows_agree(FloatModel& model, const std::vector<float>& rows,
                const std::vector<float>& outputs) {
  const std::size_t width = model.input_width();
  model.set_batch(1);
  bool agree = true;
  for (std::size_t row = 0; row < outputs.size(); ++row) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(row * width);
    std::vector<float> one(first, first + static_cast<std::ptrdiff_t>(width));
    std::vector<float> output(1);
    agree = agree && model.run(one, output) &&
            std::bit_cast<std::uint32_t>(output[0]) == std::bit_cast<std::uint32_t>(outputs[row]);
  }
  model.set_batch(static_cast<std::int64_t>(outputs.size()));
  return agree;
}

void lstm_window(benchmark::State& state) {
  const auto batch = static_cast<std::size_t>(state.range(0));
  const std::unique_ptr<FloatModel> model = load_model(state);
  if (model == nullptr) return;
  std::vector<float> rows = formula_input(batch * model->input_width());
  std::vector<float> outputs(batch);
  model->set_batch(state.range(0));
  if (!model->run(rows, outputs) || !rows_agree(*model, rows, outputs)) {
    state.SkipWithError("the rows of a batch differ from single runs");
    return;
  }
  while (state.KeepRunning()) benchmark::DoNotOptimize(model->run(rows, outputs));
  state.SetLabel(std::string(selected_isa()));
  state.counters["windows/s"] =
      benchmark::Counter(static_cast<double>(batch), benchmark::Counter::kIsIterationInvariantRate);
}
}  // namespace
}  // namespace tocsin

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RegisterBenchmark("lstm_2x100_window50", tocsin::lstm_window)
      ->ArgName("batch")
      ->Arg(1)
      ->Arg(tocsin::kBatchMax);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
