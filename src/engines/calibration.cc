// Two passes over the windows: the first finds the largest value of each tap, the second fills the
// histograms. The taps are outputs of a part of the graph.
#include "engines/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "engines/graph/onnx_import.h"
#include "engines/reference/plan.h"

namespace tocsin {
namespace {

constexpr std::array<std::string_view, 3> kMethodNames = {"max", "percentile", "entropy"};
constexpr double kPercentile = 0.9999;
constexpr std::size_t kIntegerSteps = 128;  // of |q|: 0 to 127
constexpr float kLargestInteger = 127.0F;
constexpr std::int64_t kBatch = 32;

// Divergence of the first `bin_count` bins, with all above in the last, from the same in
// kIntegerSteps steps.
double divergence(std::span<const std::uint64_t> bins, std::uint64_t above) {
  double reference_sum = static_cast<double>(above);
  double quantised_sum = 0;
  for (const std::uint64_t count : bins) quantised_sum += static_cast<double>(count);
  reference_sum += quantised_sum;
  if (quantised_sum == 0) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t step = 0; step < kIntegerSteps; ++step) {
    const std::size_t first = step * bins.size() / kIntegerSteps;
    const std::size_t last = (step + 1) * bins.size() / kIntegerSteps;
    double total = 0;
    double filled = 0;
    for (std::size_t i = first; i < last; ++i) {
      total += static_cast<double>(bins[i]);
      filled += bins[i] > 0 ? 1.0 : 0.0;
    }
    for (std::size_t i = first; i < last; ++i) {
      const bool is_last = i + 1 == bins.size();
      const double count = static_cast<double>(bins[i] + (is_last ? above : 0));
      if (count == 0) continue;
      // What saturates into an empty bin has nothing to be compared with: the worst there is.
      if (bins[i] == 0) return std::numeric_limits<double>::infinity();
      const double p = count / reference_sum;
      const double q = total / filled / quantised_sum;
      sum += p * std::log(p / q);
    }
  }
  return sum;
}

bool is_product(const GraphNode& node) {
  static constexpr std::array<std::string_view, 3> kProducts = {"MatMul", "Gemm", "Conv"};
  return node.domain.empty() && std::ranges::find(kProducts, node.op_type) != kProducts.end();
}

bool is_recurrent(const GraphNode& node) {
  static constexpr std::array<std::string_view, 3> kRecurrent = {"LSTM", "GRU", "RNN"};
  return node.domain.empty() && std::ranges::find(kRecurrent, node.op_type) != kRecurrent.end();
}

// The values whose scales engines ask for: what enters products, and the states.
std::vector<ValueIndex> find_taps(const PreparedGraph& prepared) {
  std::vector<ValueIndex> taps;
  const auto& constants = prepared.constants();
  const auto is_constant = [&constants](ValueIndex value) {
    return value != kNoValue && constants[static_cast<std::size_t>(value)].has_value();
  };
  const auto add = [&](ValueIndex value) {
    if (value == kNoValue || is_constant(value)) return;
    if (std::ranges::find(taps, value) == taps.end()) taps.push_back(value);
  };
  for (const std::size_t index : prepared.nodes()) {
    const GraphNode& node = prepared.graph().nodes[index];
    if (node.inputs.size() < 2 || !is_constant(node.inputs[1])) continue;
    if (is_product(node) || is_recurrent(node)) add(node.inputs[0]);
    if (is_recurrent(node) && !node.outputs.empty()) add(node.outputs[0]);
  }
  return taps;
}

// Whether the values are the model's inputs, moved but not changed.
bool is_model_input(const Graph& graph, ValueIndex value) {
  static constexpr std::array<std::string_view, 8> kMovements = {
      "Transpose", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Slice", "Gather"};
  const auto makes = [&value](const GraphNode& node) {
    return std::ranges::find(node.outputs, value) != node.outputs.end();
  };
  while (std::ranges::find(graph.inputs, value) == graph.inputs.end()) {
    const auto node = std::ranges::find_if(graph.nodes, makes);
    if (node == graph.nodes.end() || !node->domain.empty() ||
        std::ranges::find(kMovements, node->op_type) == kMovements.end())
      return false;
    value = node->inputs.front();
  }
  return true;
}

// A graph that gives its taps, planned for one batch.
struct TapPlan {
  Plan plan;
  Tensor arena;
};

class TapRunner {
 public:
  static Result<TapRunner> load(const std::string& onnx_path, const CalibrationOptions& options) {
    TOCSIN_ASSIGN_OR_RETURN(Graph graph, import_onnx_file(onnx_path));
    if (graph.inputs.size() != 1)
      return Error(ErrorCode::kFailedPrecondition,
                   "calibration takes models of one input, this one has " +
                       std::to_string(graph.inputs.size()));
    TOCSIN_ASSIGN_OR_RETURN(PreparedGraph prepared,
                            PreparedGraph::prepare(std::move(graph), ReferenceLimits{}));
    std::vector<ValueIndex> taps = find_taps(prepared);
    if (taps.empty())
      return Error(ErrorCode::kFailedPrecondition,
                   "the model has no product with constant weights: INT8 changes nothing");
    return TapRunner(std::move(prepared), std::move(taps), options);
  }

  std::size_t tap_count() const noexcept { return taps_.size(); }
  const std::string& name(std::size_t tap) const {
    return prepared_.graph().value_names[static_cast<std::size_t>(taps_[tap])];
  }

  bool is_model_input(std::size_t tap) const {
    return tocsin::is_model_input(prepared_.graph(), taps_[tap]);
  }

  // Calls take(tap, values) for each tap of each batch of windows.
  template <typename Take>
  Status run(std::span<const float> windows, const std::function<void(double)>& on_progress,
             Take&& take) {
    const auto window_floats = static_cast<std::size_t>(options_.steps * options_.feature_count);
    const std::size_t count = windows.size() / window_floats;
    const std::int64_t declared = prepared_.graph().signature.inputs.front().shape.front();
    const auto batch_max = static_cast<std::size_t>(declared == kFreeDimension ? kBatch : declared);
    for (std::size_t first = 0; first < count; first += batch_max) {
      const std::size_t batch = std::min(batch_max, count - first);
      if (!planned_ || planned_batch_ != batch) TOCSIN_RETURN_IF_ERROR(plan(batch));
      // Batches are copied to where the kernels expect their inputs: aligned.
      std::ranges::copy(windows.subspan(first * window_floats, batch * window_floats),
                        input_.mutable_values<float>().begin());
      TOCSIN_RETURN_IF_ERROR(run_batch(take));
      if (on_progress) on_progress(static_cast<double>(first + batch) / static_cast<double>(count));
    }
    return {};
  }

 private:
  TapRunner(PreparedGraph prepared, std::vector<ValueIndex> taps, CalibrationOptions options)
      : prepared_(std::move(prepared)), taps_(std::move(taps)), options_(std::move(options)) {}

  Status plan(std::size_t batch) {
    const Shape shape = {static_cast<std::int64_t>(batch), options_.steps, options_.feature_count};
    input_ = Tensor(DataType::kFloat32, shape);
    TOCSIN_ASSIGN_OR_RETURN(
        Plan plan,
        Plan::build_part(prepared_, {shape}, {prepared_.graph().inputs, taps_}, ReferenceLimits{}));
    Tensor arena(DataType::kBool, {static_cast<std::int64_t>(plan.arena_bytes())});
    planned_.emplace(TapPlan{std::move(plan), std::move(arena)});
    planned_batch_ = batch;
    return {};
  }

  template <typename Take>
  Status run_batch(Take&& take) {
    const std::array<const void*, 1> inputs = {input_.data()};
    auto* arena = static_cast<std::byte*>(planned_->arena.mutable_data());
    if (const char* failure = planned_->plan.run(inputs, arena); failure != nullptr)
      return node_error(prepared_.graph(), planned_->plan.failed_node(),
                        Error(ErrorCode::kInvalidArgument, failure));
    for (std::size_t tap = 0; tap < taps_.size(); ++tap) {
      const auto* values =
          static_cast<const float*>(planned_->plan.output_data(tap, inputs, arena));
      const auto size = checked_element_count(planned_->plan.outputs()[tap].shape);
      const std::span<const float> all(values, *size);
      if (!std::ranges::all_of(all, [](float value) { return std::isfinite(value); }))
        return Error(ErrorCode::kFailedPrecondition, "value '" + name(tap) + "' is not finite");
      take(tap, all);
    }
    return {};
  }

  PreparedGraph prepared_;
  std::vector<ValueIndex> taps_;
  CalibrationOptions options_;
  Tensor input_;
  std::optional<TapPlan> planned_;
  std::size_t planned_batch_ = 0;
};

Result<ActivationScales> measure(const std::string& onnx_path, std::span<const float> windows,
                                 const CalibrationOptions& options) {
  TOCSIN_ASSIGN_OR_RETURN(TapRunner runner, TapRunner::load(onnx_path, options));
  const auto report = [&options](double done) {
    if (options.on_progress) options.on_progress(done);
  };
  std::vector<float> largest(runner.tap_count(), 0.0F);
  TOCSIN_RETURN_IF_ERROR(runner.run(
      windows, [&report](double share) { report(0.5 * share); },
      [&largest](std::size_t tap, std::span<const float> values) {
        for (const float value : values) largest[tap] = std::max(largest[tap], std::abs(value));
      }));
  std::vector<ActivationHistogram> histograms;
  histograms.reserve(largest.size());
  for (const float max : largest) histograms.emplace_back(max);
  if (options.method != CalibrationMethod::kMax)
    TOCSIN_RETURN_IF_ERROR(runner.run(
        windows, [&report](double share) { report(0.5 + 0.5 * share); },
        [&histograms](std::size_t tap, std::span<const float> values) {
          histograms[tap].add(values);
        }));
  ActivationScales scales;
  for (std::size_t tap = 0; tap < largest.size(); ++tap) {
    const CalibrationMethod method =
        runner.is_model_input(tap) ? CalibrationMethod::kMax : options.method;
    const float scale = static_cast<float>(histograms[tap].cut_off(method)) / kLargestInteger;
    // A scale below the normal floats has no inverse.
    if (scale >= std::numeric_limits<float>::min()) scales[runner.name(tap)] = scale;
  }
  return scales;
}

}  // namespace

std::string_view calibration_method_name(CalibrationMethod method) noexcept {
  return kMethodNames[static_cast<std::size_t>(method)];
}

std::optional<CalibrationMethod> calibration_method_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(kMethodNames, name);
  if (found == kMethodNames.end()) return {};
  return static_cast<CalibrationMethod>(found - kMethodNames.begin());
}

void ActivationHistogram::add(std::span<const float> values) noexcept {
  const float bins_per_unit = static_cast<float>(kBinCount) / max_;
  for (const float value : values) {
    if (value == 0.0F) continue;
    const auto bin = static_cast<std::size_t>(std::abs(value) * bins_per_unit);
    ++counts_[std::min(bin, kBinCount - 1)];
  }
}

std::size_t ActivationHistogram::percentile_bin() const noexcept {
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts_) total += count;
  std::uint64_t below = 0;
  for (std::size_t bin = 0; bin < kBinCount; ++bin) {
    below += counts_[bin];
    if (static_cast<double>(below) >= kPercentile * static_cast<double>(total)) return bin;
  }
  return kBinCount - 1;
}

std::size_t ActivationHistogram::entropy_bin() const {
  std::uint64_t above = 0;
  std::size_t best_bin = kBinCount - 1;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t bin_count = kBinCount; bin_count >= kIntegerSteps; --bin_count) {
    const double found = divergence(std::span(counts_).first(bin_count), above);
    if (found < best) {
      best = found;
      best_bin = bin_count - 1;
    }
    above += counts_[bin_count - 1];
  }
  return best_bin;
}

double ActivationHistogram::cut_off(CalibrationMethod method) const {
  switch (method) {
    case CalibrationMethod::kMax:
      return static_cast<double>(max_);
    case CalibrationMethod::kPercentile:
      return upper_edge(percentile_bin());
    case CalibrationMethod::kEntropy:
      return upper_edge(entropy_bin());
  }
  return static_cast<double>(max_);
}

Result<ActivationScales> calibrate(const std::string& onnx_path, std::span<const float> windows,
                                   const CalibrationOptions& options) {
  const auto window_floats = static_cast<std::size_t>(options.steps * options.feature_count);
  TOCSIN_ASSERT(window_floats > 0 && windows.size() % window_floats == 0);
  const std::size_t count = windows.size() / window_floats;
  if (count < kCalibrationSamplesMin)
    return Error(ErrorCode::kFailedPrecondition,
                 "calibration needs at least " + std::to_string(kCalibrationSamplesMin) +
                     " sample windows, found " + std::to_string(count));
  Result<ActivationScales> scales = measure(onnx_path, windows, options);
  if (!scales.ok()) return scales.error().within("calibrating " + onnx_path);
  return scales;
}

}  // namespace tocsin
