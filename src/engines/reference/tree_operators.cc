// TreeEnsembleClassifier and TreeEnsembleRegressor of ai.onnx.ml.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "engines/reference/ml_transform.h"
#include "engines/reference/plan_functions.h"
#include "engines/reference/tree_ensemble.h"

namespace tocsin {
namespace {

using SharedEnsemble = std::shared_ptr<const TreeEnsemble>;

// How a classifier comes from scores to a label.
enum class LabelRule : std::uint8_t {
  kLargest,      // the class with the largest score, the first of equals
  kAboveZero,    // two classes, one score: the second class if it is above 0
  kAboveOneHalf  // the same for scores that are probabilities
};

struct Classifier {
  SharedEnsemble ensemble;
  std::vector<std::int64_t> labels;
  ScoreTransform transform = ScoreTransform::kNone;
  LabelRule rule = LabelRule::kLargest;
  std::size_t scored_class = 0;  // where one score decides
  // The one score is that of the second class, and the first one's follows from it.
  bool completes_first = false;
  std::size_t row_count = 0, feature_count = 0;
};

Result<std::pair<std::size_t, std::size_t>> rows_and_features(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const Operand& x = context.input(0);
  if (x.rank() != 2) return invalid("its input must be a matrix, found " + shape_text(x.shape));
  return std::pair(static_cast<std::size_t>(x.shape[0]), static_cast<std::size_t>(x.shape[1]));
}

// With two classes and the scores of one, that score alone decides: exporters of boosted trees
// write it as class 0, though it stands for the second class.
Status set_label_rule(Classifier& classifier) {
  const TreeEnsemble& ensemble = *classifier.ensemble;
  if (ensemble.target_count != 2 || ensemble.weights.empty()) return {};
  const std::uint32_t first = ensemble.weights[0].target;
  bool all_positive = true;
  for (const LeafWeight& entry : ensemble.weights) {
    if (entry.target != first) return {};
    all_positive = all_positive && entry.weight >= 0.0F;
  }
  if (ensemble.base_values.size() > 1)
    return unsupported("two base values where the leaves add to one class are not supported");
  classifier.scored_class = first;
  classifier.completes_first = first == 0;
  classifier.rule = all_positive ? LabelRule::kAboveOneHalf : LabelRule::kAboveZero;
  return {};
}

std::int64_t label_of(const Classifier& classifier, const float* scores) {
  if (classifier.rule == LabelRule::kLargest) {
    const auto count = static_cast<std::ptrdiff_t>(classifier.labels.size());
    return classifier
        .labels[static_cast<std::size_t>(std::max_element(scores, scores + count) - scores)];
  }
  const float limit = classifier.rule == LabelRule::kAboveOneHalf ? 0.5F : 0.0F;
  return classifier.labels[scores[classifier.scored_class] > limit ? 1 : 0];
}

void write_scores(const Classifier& classifier, float* scores) {
  if (!classifier.completes_first) {
    transform_scores(classifier.transform, scores, classifier.labels.size());
    return;
  }
  scores[1] = scores[0];
  const bool are_probabilities = classifier.rule == LabelRule::kAboveOneHalf;
  scores[0] = are_probabilities ? 1.0F - scores[1] : -scores[1];
  if (!are_probabilities && classifier.transform == ScoreTransform::kLogistic)
    transform_scores(classifier.transform, scores, 2);
}

void classify(const Classifier& classifier, const Buffers& buffers) {
  const std::size_t classes = classifier.labels.size();
  auto* scratch = reinterpret_cast<float*>(buffers.scratch);
  for (std::size_t row = 0; row < classifier.row_count; ++row) {
    float* scores = scratch + classes;
    classifier.ensemble->evaluate(buffers.input<float>(0) + row * classifier.feature_count, scores,
                                  scratch);
    if (buffers.outputs[0] != nullptr)
      buffers.output<std::int64_t>(0)[row] = label_of(classifier, scores);
    if (buffers.outputs.size() < 2 || buffers.outputs[1] == nullptr) continue;
    write_scores(classifier, scores);
    std::copy_n(scores, classes, buffers.output<float>(1) + row * classes);
  }
}

}  // namespace

Result<PlannedNode> plan_tree_ensemble_classifier(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const auto size, rows_and_features(context));
  Classifier classifier;
  classifier.row_count = size.first;
  classifier.feature_count = size.second;
  TOCSIN_ASSIGN_OR_RETURN(classifier.labels, read_class_labels(context));
  TOCSIN_ASSIGN_OR_RETURN(classifier.transform, read_score_transform(context));
  TOCSIN_ASSIGN_OR_RETURN(TreeEnsemble ensemble, read_tree_ensemble(context, "class", size.second));
  ensemble.target_count = classifier.labels.size();
  const std::size_t class_count = classifier.labels.size();
  if (class_count < 2) return unsupported("fewer than two classes are not supported");
  for (const LeafWeight& entry : ensemble.weights)
    if (entry.target >= class_count) return invalid("a leaf adds to a class that has no label");
  classifier.ensemble = std::make_shared<const TreeEnsemble>(ensemble);
  TOCSIN_RETURN_IF_ERROR(set_label_rule(classifier));
  if (ensemble.base_values.size() == 1 && classifier.completes_first)
    ensemble.base_values.push_back(0.0F);
  if (!ensemble.base_values.empty() && ensemble.base_values.size() != class_count)
    return unsupported("it has " + std::to_string(ensemble.base_values.size()) +
                       " base values for " + std::to_string(class_count) + " classes");
  classifier.ensemble = std::make_shared<const TreeEnsemble>(std::move(ensemble));
  const auto rows = static_cast<std::int64_t>(size.first);
  PlannedNode planned;
  planned.outputs.push_back({DataType::kInt64, {rows}, {}, {}});
  planned.outputs.push_back(
      {DataType::kFloat32, {rows, static_cast<std::int64_t>(class_count)}, {}, {}});
  planned.outputs.resize(std::min<std::size_t>(planned.outputs.size(), context.output_count()));
  planned.scratch_bytes = 2 * class_count * sizeof(float);
  planned.kernel = [classifier = std::move(classifier)](const Buffers& buffers) {
    classify(classifier, buffers);
  };
  return planned;
}

Result<PlannedNode> plan_tree_ensemble_regressor(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const auto size, rows_and_features(context));
  const auto [rows, features] = size;
  TOCSIN_ASSIGN_OR_RETURN(const ScoreTransform transform, read_score_transform(context));
  TOCSIN_ASSIGN_OR_RETURN(TreeEnsemble ensemble, read_tree_ensemble(context, "target", features));
  const std::int64_t targets = context.int_attribute("n_targets", 1);
  if (targets < 1 || targets > 1'000'000) return invalid("n_targets is out of range");
  ensemble.target_count = static_cast<std::size_t>(targets);
  for (const LeafWeight& entry : ensemble.weights)
    if (entry.target >= ensemble.target_count) return invalid("a leaf adds to a missing target");
  if (!ensemble.base_values.empty() && ensemble.base_values.size() != ensemble.target_count)
    return invalid("its base values do not fit n_targets");
  PlannedNode planned;
  planned.outputs.push_back(
      {DataType::kFloat32, {static_cast<std::int64_t>(rows), targets}, {}, {}});
  planned.scratch_bytes = ensemble.target_count * sizeof(float);
  planned.kernel = [shared = std::make_shared<const TreeEnsemble>(std::move(ensemble)), transform,
                    row_count = rows, feature_count = features](const Buffers& buffers) {
    auto* scratch = reinterpret_cast<float*>(buffers.scratch);
    for (std::size_t row = 0; row < row_count; ++row) {
      float* scores = buffers.output<float>(0) + row * shared->target_count;
      shared->evaluate(buffers.input<float>(0) + row * feature_count, scores, scratch);
      transform_scores(transform, scores, shared->target_count);
    }
  };
  return planned;
}

}  // namespace tocsin
