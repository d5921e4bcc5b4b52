// Trees of ai.onnx.ml as one array of nodes, checked to be trees, and their evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/reference/operator.h"

namespace tocsin {

enum class TreeBranch : std::uint8_t {
  kLeaf,
  kLessOrEqual,
  kLess,
  kGreaterOrEqual,
  kGreater,
  kEqual,
  kNotEqual
};

struct TreeNode {
  TreeBranch branch = TreeBranch::kLeaf;
  bool missing_is_true = false;  // NaN takes the branch of true
  std::uint32_t feature = 0;
  float threshold = 0;
  std::uint32_t if_true = 0, if_false = 0;           // places in TreeEnsemble::nodes
  std::uint32_t first_weight = 0, weight_count = 0;  // of a leaf, in TreeEnsemble::weights
};

// What a leaf adds to the score of one target (of a class, in a classifier).
struct LeafWeight {
  std::uint32_t target = 0;
  float weight = 0;
};

enum class TreeAggregate : std::uint8_t { kSum, kAverage, kMin, kMax };

struct TreeEnsemble {
  std::vector<TreeNode> nodes;
  std::vector<std::uint32_t> roots;  // in the order in which the trees are listed
  std::vector<LeafWeight> weights;
  std::size_t target_count = 0;
  TreeAggregate aggregate = TreeAggregate::kSum;
  std::vector<float> base_values;  // one a target, or none

  // The leaf that the row of features comes to.
  const TreeNode& leaf_of(std::uint32_t root, const float* features) const noexcept;
  // Scores [target_count] of one row. Sums run over the trees in order, in blocks of kSumBlock like
  // every sum; the base value is added last. `scratch` is as long as the scores.
  void evaluate(const float* features, float* scores, float* scratch) const noexcept;
};

// Reads nodes_* and, under `prefix` ("class" or "target"), the leaves' weights. An error unless
// every node is reached from exactly one root, by one path, and reads one of `feature_count`
// features.
Result<TreeEnsemble> read_tree_ensemble(const NodeContext& context, const std::string& prefix,
                                        std::size_t feature_count);

}  // namespace tocsin
