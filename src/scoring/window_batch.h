// P(event) of many windows at once, for measuring: calibration, guard bands, audits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"
#include "models/model_package.h"

namespace tocsin {

class WindowBatch {
 public:
  // The package's model in `precision` (its name, scales and weights; null: FP32), for windows of
  // `steps`.
  static Result<WindowBatch> load(const ModelPackage& package, Engine& engine, std::int64_t steps,
                                  const PackagePrecision* precision);

  // `windows` is [n, steps, features], normalised; n scores. An error of the engine, or
  // kFailedPrecondition where a score is not finite.
  Result<std::vector<float>> score(std::span<const float> windows);

  std::size_t window_floats() const noexcept { return window_floats_; }
  std::size_t weight_bytes() const noexcept { return session_->weight_bytes(); }

 private:
  WindowBatch() = default;

  std::unique_ptr<Session> session_;
  std::int64_t steps_ = 0;
  std::int64_t features_ = 0;
  std::int64_t columns_ = 0;
  std::size_t output_index_ = 0;
  std::size_t batch_max_ = 1;
  std::size_t window_floats_ = 0;
};

// How a session is to compute a package's products.
Result<SessionOptions> session_options_of(const PackagePrecision* precision);

}  // namespace tocsin
