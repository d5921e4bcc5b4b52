// Measures how far a low precision's scores lie from FP32's, and the guard band that follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"
#include "models/model_package.h"

namespace tocsin {

class WindowBatch;

struct BlendSearch {
  std::size_t pair_count = 0;
  std::uint64_t seed = 0;  // chooses the pairs
};

// [n, steps, features]: windows blended from pairs of real ones, one below the threshold and one
// above, so that the FP32 score of each lies as near to `threshold` as bisection comes. Pairs are
// drawn from `windows` with their FP32 `scores`; empty where all scores lie on one side.
Result<std::vector<float>> windows_at_threshold(WindowBatch& full, std::span<const float> windows,
                                                std::span<const float> scores, float threshold,
                                                const BlendSearch& search);

// The band of `precision` for the package's model: the largest difference over `windows` ([n, steps
// of the package, features]), over windows searched to lie at the package's thresholds, and over
// its samples of every length, times kGuardMargin. By Wilks' formula (1941) the largest of n
// independent draws exceeds the quantile (1 - confidence)^(1/n) with that confidence; windows of
// one feed overlap, so that n counts for less than it says, which the margin is for.
inline constexpr double kGuardConfidence = 0.99;
inline constexpr float kGuardMargin = 2.0F;
Result<GuardBand> measure_guard_band(const ModelPackage& package, const PackagePrecision& precision,
                                     Engine& engine, std::span<const float> windows,
                                     const std::function<void(double share)>& on_progress = {});

}  // namespace tocsin
