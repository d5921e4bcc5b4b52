// Batches of at most 32 windows: larger ones are no faster and take more memory.
#include "scoring/window_batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/assert.h"

namespace tocsin {
namespace {

constexpr std::int64_t kBatchMax = 32;

}  // namespace

Result<SessionOptions> session_options_of(const PackagePrecision* precision) {
  SessionOptions options;
  if (precision == nullptr) return options;
  const std::optional<Precision> known = precision_of(precision->name);
  if (!known)
    return Error(ErrorCode::kFailedPrecondition,
                 "the package wants precision '" + precision->name + "', unknown here");
  options.precision = *known;
  options.weight_scale_per_output = precision->weight_scale_per_output;
  if (*known == Precision::kInt8)
    options.activation_scales =
        std::make_shared<const ActivationScales>(precision->activation_scales);
  return options;
}

Result<WindowBatch> WindowBatch::load(const ModelPackage& package, Engine& engine,
                                      std::int64_t steps, const PackagePrecision* precision) {
  TOCSIN_ASSIGN_OR_RETURN(SessionOptions options, session_options_of(precision));
  options.steps = steps;
  options.batch_max = package.inputs.front().shape.front() == 1 ? 1 : kBatchMax;
  WindowBatch batch;
  TOCSIN_ASSIGN_OR_RETURN(batch.session_, engine.load(package.onnx_path, options));
  batch.steps_ = steps;
  batch.features_ = static_cast<std::int64_t>(package.features.size());
  batch.columns_ = package.outputs.front().shape.back();
  batch.output_index_ = package.output_index;
  batch.batch_max_ = static_cast<std::size_t>(options.batch_max);
  batch.window_floats_ = static_cast<std::size_t>(steps * batch.features_);
  return batch;
}

Result<std::vector<float>> WindowBatch::score(std::span<const float> windows) {
  TOCSIN_ASSERT(windows.size() % window_floats_ == 0);
  const std::size_t count = windows.size() / window_floats_;
  const auto columns = static_cast<std::size_t>(columns_);
  std::vector<float> outputs(batch_max_ * columns);
  std::vector<float> scores;
  scores.reserve(count);
  for (std::size_t first = 0; first < count; first += batch_max_) {
    const std::size_t batch = std::min(batch_max_, count - first);
    const std::array input_shape = {static_cast<std::int64_t>(batch), steps_, features_};
    const std::array output_shape = {static_cast<std::int64_t>(batch), columns_};
    const auto part = windows.subspan(first * window_floats_, batch * window_floats_);
    // A view serves inputs and outputs alike; a session only reads its inputs.
    const TensorView input{DataType::kFloat32, input_shape, const_cast<float*>(part.data()),
                           part.size_bytes()};
    const TensorView output{DataType::kFloat32, output_shape, outputs.data(),
                            batch * columns * sizeof(float)};
    if (!session_->run(std::span(&input, 1), std::span(&output, 1))) return session_->error();
    for (std::size_t i = 0; i < batch; ++i) {
      scores.push_back(outputs[i * columns + output_index_]);
      if (!std::isfinite(scores.back()))
        return Error(ErrorCode::kFailedPrecondition,
                     "window " + std::to_string(first + i) + ": the score is not finite");
    }
  }
  return scores;
}

}  // namespace tocsin
