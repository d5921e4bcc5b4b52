// Opens models for measuring, makes their tensors and compares answers.
#include "runtime/bench_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

#include "base/printable_text.h"
#include "engines/calibration.h"
#include "engines/graph/onnx_import.h"
#include "models/model_package.h"

namespace tocsin {
namespace {

namespace fs = std::filesystem;

Error unfit(const TensorSpec& spec, const std::string& why) {
  return Error(ErrorCode::kFailedPrecondition, "'" + spec.name + "': " + why);
}

// The shape of `spec` with its free axes filled in.
Result<std::vector<std::int64_t>> resolve(const TensorSpec& spec, std::int64_t batch,
                                          std::int64_t steps, bool is_input) {
  if (spec.type == DataType::kString) return unfit(spec, "text tensors are not measured");
  std::vector<std::int64_t> shape = spec.shape;
  bool batch_placed = false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != kFreeDimension) continue;
    if (!batch_placed) {
      shape[axis] = batch;
      batch_placed = true;
    } else if (steps > 0) {
      shape[axis] = steps;
    } else {
      return unfit(
          spec, "axis " + std::to_string(axis) + " is free: give the number of steps with --steps");
    }
  }
  if (is_input && !batch_placed && shape.size() > 1 && shape[0] != batch)
    return unfit(spec, "the model's batch is fixed at " + std::to_string(shape[0]));
  return shape;
}

// A model that cannot be read here is left to the engines, which say why or run it.
Status check_length_is_fixed(const std::string& onnx_path) {
  const Result<Graph> graph = import_onnx_file(onnx_path);
  if (!graph.ok()) return {};
  for (const TensorSpec& input : graph->signature.inputs) {
    if (std::ranges::count(input.shape, kFreeDimension) < 2) continue;
    return Error(ErrorCode::kInvalidArgument,
                 onnx_path + ": input '" + input.name +
                     "' leaves the length of a window open: give it with --steps");
  }
  return {};
}

double value_at(const TensorView& view, std::size_t index) {
  const auto read = [&]<typename T>(T) {
    T value{};
    std::memcpy(&value, static_cast<const std::byte*>(view.data) + index * sizeof(T), sizeof(T));
    return static_cast<double>(value);
  };
  switch (view.type) {
    case DataType::kFloat32:
      return read(float{});
    case DataType::kFloat64:
      return read(double{});
    case DataType::kInt64:
      return read(std::int64_t{});
    case DataType::kInt32:
      return read(std::int32_t{});
    case DataType::kBool:
      return read(std::uint8_t{});
    case DataType::kInt8:
      return read(std::int8_t{});
    case DataType::kUint8:
      return read(std::uint8_t{});
    case DataType::kInt16:
      return read(std::int16_t{});
    case DataType::kUint16:
      return read(std::uint16_t{});
    case DataType::kUint32:
      return read(std::uint32_t{});
    case DataType::kUint64:
      return read(std::uint64_t{});
    case DataType::kString:
      break;
  }
  return 0;
}

double distance(double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected))) return 0;
  const double distance = std::abs(found - expected);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

}  // namespace

Result<BenchModel> open_bench_model(const std::string& path, std::int64_t steps) {
  BenchModel model;
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) {
    model.name = printable_text(fs::path(path).filename().string());
    model.onnx_path = path;
    model.steps = steps;
    if (steps == 0) TOCSIN_RETURN_IF_ERROR(check_length_is_fixed(path));
    return model;
  }
  TOCSIN_ASSIGN_OR_RETURN(const ModelPackage package, load_model_package(path));
  model.name = package.name + "/" + package.version;
  model.onnx_path = package.onnx_path;
  model.steps = steps > 0 ? steps : package.steps;
  model.tolerance = package.samples_tolerance;
  if (package.precision && !package.precision->activation_scales.empty()) {
    model.activation_scales =
        std::make_shared<const ActivationScales>(package.precision->activation_scales);
    model.scales_origin = "the package";
  }
  return model;
}

Status calibrate_on_random_windows(BenchModel& model, std::uint64_t seed) {
  if (model.activation_scales != nullptr) return {};
  SessionOptions options;
  options.steps = model.steps;
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, make_engine("reference"));
  // What it cannot load has rows that say so.
  const Result<std::unique_ptr<Session>> session = engine->load(model.onnx_path, options);
  if (!session.ok()) return {};
  const std::vector<TensorSpec>& inputs = (*session)->signature().inputs;
  if (inputs.size() != 1 || inputs[0].type != DataType::kFloat32 || inputs[0].shape.size() != 3 ||
      inputs[0].shape[2] == kFreeDimension)
    return {};
  CalibrationOptions calibration;
  calibration.steps = inputs[0].shape[1] == kFreeDimension ? model.steps : inputs[0].shape[1];
  calibration.feature_count = inputs[0].shape[2];
  if (calibration.steps < 1 || calibration.feature_count < 1) return {};
  std::vector<float> windows(kCalibrationSamplesMin * static_cast<std::size_t>(calibration.steps) *
                             static_cast<std::size_t>(calibration.feature_count));
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::ranges::generate(windows, [&] { return normal(random); });
  TOCSIN_ASSIGN_OR_RETURN(ActivationScales scales,
                          calibrate(model.onnx_path, windows, calibration));
  model.activation_scales = std::make_shared<const ActivationScales>(std::move(scales));
  model.scales_origin = std::to_string(kCalibrationSamplesMin) + " random windows";
  return {};
}

Result<BatchTensors> BatchTensors::make(const ModelSignature& signature, std::int64_t batch,
                                        std::int64_t steps) {
  BatchTensors tensors;
  const std::size_t count = signature.inputs.size() + signature.outputs.size();
  // The views point into both.
  tensors.shapes_.reserve(count);
  tensors.buffers_.reserve(count);
  for (const bool is_input : {true, false}) {
    for (const TensorSpec& spec : is_input ? signature.inputs : signature.outputs) {
      TOCSIN_ASSIGN_OR_RETURN(std::vector<std::int64_t> shape,
                              resolve(spec, batch, steps, is_input));
      std::size_t size_bytes = data_type_size_bytes(spec.type);
      for (const std::int64_t size : shape) size_bytes *= static_cast<std::size_t>(size);
      tensors.shapes_.push_back(std::move(shape));
      tensors.buffers_.emplace_back(size_bytes);
      (is_input ? tensors.inputs_ : tensors.outputs_)
          .push_back(
              {spec.type, tensors.shapes_.back(), tensors.buffers_.back().data(), size_bytes});
    }
  }
  return tensors;
}

void BatchTensors::fill_inputs(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (const TensorView& input : inputs_) {
    auto* bytes = static_cast<std::byte*>(input.data);
    const auto fill = [&]<typename T>(T) {
      for (std::size_t at = 0; at < input.size_bytes; at += sizeof(T)) {
        const T value = static_cast<T>(normal(random));
        std::memcpy(bytes + at, &value, sizeof(T));
      }
    };
    if (input.type == DataType::kFloat32) {
      fill(float{});
    } else if (input.type == DataType::kFloat64) {
      fill(double{});
    }
  }
}

AnswerDifference difference(const std::vector<TensorView>& found,
                            const std::vector<TensorView>& expected) {
  AnswerDifference result;
  for (std::size_t output = 0; output < expected.size(); ++output) {
    const TensorView& view = expected[output];
    const std::size_t count = view.size_bytes / data_type_size_bytes(view.type);
    for (std::size_t i = 0; i < count; ++i) {
      const double value = value_at(view, i);
      result.max_abs_error =
          std::max(result.max_abs_error, distance(value_at(found[output], i), value));
      if (std::isfinite(value)) result.largest = std::max(result.largest, std::abs(value));
    }
  }
  return result;
}

}  // namespace tocsin
