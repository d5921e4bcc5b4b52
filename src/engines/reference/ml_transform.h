// What classifiers of ai.onnx.ml do with the scores of one row before they write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engines/reference/operator.h"

namespace tocsin {

enum class ScoreTransform : std::uint8_t { kNone, kLogistic, kSoftmax };

// Reads post_transform; PROBIT and SOFTMAX_ZERO are not done here.
Result<ScoreTransform> read_score_transform(const NodeContext& context);

void transform_scores(ScoreTransform transform, float* scores, std::size_t count) noexcept;

// The class labels of a classifier: integers, or the numbers of texts.
Result<std::vector<std::int64_t>> read_class_labels(const NodeContext& context);

}  // namespace tocsin
