// A model as the measuring commands see it: a package or a bare ONNX file, and tensors to run it
// with. Bare files have no samples: their inputs are random, and shapes are filled in by rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"

namespace tocsin {

struct BenchModel {
  std::string name;  // "btcusdt_burst_lstm/1", or the file's name
  std::string onnx_path;
  std::int64_t steps = 0;  // value of the free time axis; 0: the model has none
  std::shared_ptr<const ActivationScales> activation_scales;  // null: no calibration
  std::string scales_origin;  // what they were measured on; empty: null
  float tolerance = 1e-4F;    // of FP32 outputs, relative to the largest of them if that is above 1
};

// `path` is an .onnx file, or the folder of a package (<repository>/<name> or
// <repository>/<name>/<version>), which is checked. `steps` of 0 is the package's window length;
// a file that leaves its length open needs one (kInvalidArgument).
Result<BenchModel> open_bench_model(const std::string& path, std::int64_t steps);

// For the time that INT8 takes, where nothing is known of the real activations: scales from
// kCalibrationSamplesMin windows of standard normal values, unless the model has scales. A model
// that takes no windows [batch, steps, features] of float32, or empty ones, is left as it is.
Status calibrate_on_random_windows(BenchModel& model, std::uint64_t seed);

// Inputs and outputs of one signature for one batch; the memory is its own.
class BatchTensors {
 public:
  // A free first axis is the batch, and a free axis behind it the steps; where the first axis is
  // fixed, the first free axis is the batch (recurrent states). kFailedPrecondition: the model's
  // batch is fixed at another size, a free axis has no value, or a tensor holds text.
  static Result<BatchTensors> make(const ModelSignature& signature, std::int64_t batch,
                                   std::int64_t steps);

  // Floats standard normal, integers and booleans 0; a seed always gives the same values.
  void fill_inputs(std::uint64_t seed);

  const std::vector<TensorView>& inputs() const noexcept { return inputs_; }
  const std::vector<TensorView>& outputs() const noexcept { return outputs_; }

 private:
  std::vector<std::vector<std::int64_t>> shapes_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<TensorView> inputs_;
  std::vector<TensorView> outputs_;
};

struct AnswerDifference {
  double max_abs_error = 0;  // infinite where only one of two values is a number
  double largest = 0;        // absolute value among the expected ones that are finite
};

// Of outputs of the same signature and batch.
AnswerDifference difference(const std::vector<TensorView>& found,
                            const std::vector<TensorView>& expected);

}  // namespace tocsin
