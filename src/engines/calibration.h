// Measures what INT8 needs to know of a model's activations: one scale for each value that enters a
// product with constant weights. Runs the reference interpreter in FP32 over sample windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engines/engine.h"

namespace tocsin {

// Fewer say too little of the rare large values; `calibrate` refuses them.
inline constexpr std::size_t kCalibrationSamplesMin = 1'000;
inline constexpr std::size_t kCalibrationSamplesDefault = 5'000;

// Where |x| is cut off; what lies above saturates. The model's own inputs are not cut off whatever
// the method: the normaliser has clipped them already, and their tails are what tells events from
// the rest.
enum class CalibrationMethod : std::uint8_t {
  kMax,         // nowhere: the largest |x| is 127 steps
  kPercentile,  // at the 99.99th percentile of |x|
  // Where the distribution of |x| in 128 steps loses least against the one in 2,048 bins, by
  // Kullback-Leibler divergence (S. Migacz, "8-bit inference with TensorRT", GTC 2017).
  kEntropy,
};
std::string_view calibration_method_name(CalibrationMethod method) noexcept;  // "entropy", ...
std::optional<CalibrationMethod> calibration_method_of(std::string_view name) noexcept;

// Counts of |x| in bins of equal width over (0, max]; zeros have no error at any scale and are left
// out.
class ActivationHistogram {
 public:
  static constexpr std::size_t kBinCount = 2'048;

  explicit ActivationHistogram(float max) : max_(max) {}

  void add(std::span<const float> values) noexcept;
  // Where `method` cuts off; in (0, max].
  double cut_off(CalibrationMethod method) const;

 private:
  double upper_edge(std::size_t bin) const noexcept {
    return static_cast<double>(max_) * static_cast<double>(bin + 1) / kBinCount;
  }
  std::size_t percentile_bin() const noexcept;
  std::size_t entropy_bin() const;

  float max_;
  std::uint64_t counts_[kBinCount] = {};
};

struct CalibrationOptions {
  CalibrationMethod method = CalibrationMethod::kEntropy;
  std::int64_t steps = 0;          // of each window
  std::int64_t feature_count = 0;  // of each step
  // Called now and then with the share that is done, 0 to 1.
  std::function<void(double share)> on_progress{};
};

// `windows` is [n, steps, feature_count], as the model's one input takes them. Values that are 0
// throughout have no scale: their products stay in FP32. kFailedPrecondition: fewer than
// kCalibrationSamplesMin windows, a model without products, values that are not finite.
Result<ActivationScales> calibrate(const std::string& onnx_path, std::span<const float> windows,
                                   const CalibrationOptions& options);

}  // namespace tocsin
