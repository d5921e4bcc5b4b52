// Score transforms and class labels of ai.onnx.ml.
#include "engines/reference/ml_transform.h"

#include "kernels/kernels.h"

namespace tocsin {

Result<ScoreTransform> read_score_transform(const NodeContext& context) {
  const std::string name = context.string_attribute("post_transform", "NONE");
  if (name == "NONE") return ScoreTransform::kNone;
  if (name == "LOGISTIC") return ScoreTransform::kLogistic;
  if (name == "SOFTMAX") return ScoreTransform::kSoftmax;
  return unsupported("post_transform '" + name + "' is not supported");
}

void transform_scores(ScoreTransform transform, float* scores, std::size_t count) noexcept {
  if (transform == ScoreTransform::kLogistic) kernels().sigmoid(scores, scores, count);
  if (transform == ScoreTransform::kSoftmax) kernels().softmax({scores, scores, count, 1, false});
}

Result<std::vector<std::int64_t>> read_class_labels(const NodeContext& context) {
  // An exporter may give the other kinds too, as empty lists.
  std::vector<std::int64_t> labels;
  for (const char* name : {"classlabels_strings", "classlabels_ints", "classlabels_int64s"})
    if (std::vector<std::int64_t> found = context.ints_attribute(name); !found.empty())
      labels = std::move(found);
  if (!labels.empty()) return labels;
  return invalid("it has no class labels");
}

}  // namespace tocsin
