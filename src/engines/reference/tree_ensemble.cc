// Reading of trees from attributes, and walking them.
#include "engines/reference/tree_ensemble.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "kernels/kernels.h"

namespace tocsin {
namespace {

using Ints = std::vector<std::int64_t>;
using NodeKey = std::pair<std::int64_t, std::int64_t>;  // tree, node

// The attributes that list the nodes, one entry a node.
struct NodeLists {
  Ints trees, ids, features, if_true, if_false, missing;
  std::vector<std::string> modes;
  std::vector<float> thresholds;
};

// A list of floats, which newer models may hold as a tensor.
Result<std::vector<float>> floats_of(const NodeContext& context, const std::string& name) {
  const std::string tensor_name = name + "_as_tensor";
  if (!context.has_attribute(tensor_name)) return context.floats_attribute(name);
  const Tensor* tensor = context.tensor_attribute(tensor_name);
  if (tensor == nullptr || tensor->type() != DataType::kFloat32)
    return unsupported(tensor_name + " is not a tensor of float32");
  const auto values = tensor->values<float>();
  return std::vector<float>(values.begin(), values.end());
}

Result<NodeLists> read_lists(const NodeContext& context) {
  NodeLists lists;
  lists.trees = context.ints_attribute("nodes_treeids");
  lists.ids = context.ints_attribute("nodes_nodeids");
  lists.features = context.ints_attribute("nodes_featureids");
  lists.if_true = context.ints_attribute("nodes_truenodeids");
  lists.if_false = context.ints_attribute("nodes_falsenodeids");
  lists.missing = context.ints_attribute("nodes_missing_value_tracks_true");
  lists.modes = context.strings_attribute("nodes_modes");
  TOCSIN_ASSIGN_OR_RETURN(lists.thresholds, floats_of(context, "nodes_values"));
  context.ignore_attribute("nodes_hitrates");
  context.ignore_attribute("nodes_hitrates_as_tensor");
  const std::size_t count = lists.trees.size();
  if (count == 0) return invalid("it has no trees");
  if (count > std::numeric_limits<std::uint32_t>::max())
    return unsupported("it has too many nodes");
  if (lists.missing.empty()) lists.missing.assign(count, 0);
  for (const std::size_t size :
       {lists.ids.size(), lists.features.size(), lists.if_true.size(), lists.if_false.size(),
        lists.missing.size(), lists.modes.size(), lists.thresholds.size()})
    if (size != count) return invalid("the lists of its nodes differ in length");
  return lists;
}

Result<TreeBranch> branch_of(std::string_view mode) {
  static constexpr std::array<std::pair<std::string_view, TreeBranch>, 7> kModes = {{
      {"LEAF", TreeBranch::kLeaf},
      {"BRANCH_LEQ", TreeBranch::kLessOrEqual},
      {"BRANCH_LT", TreeBranch::kLess},
      {"BRANCH_GTE", TreeBranch::kGreaterOrEqual},
      {"BRANCH_GT", TreeBranch::kGreater},
      {"BRANCH_EQ", TreeBranch::kEqual},
      {"BRANCH_NEQ", TreeBranch::kNotEqual},
  }};
  for (const auto& [name, branch] : kModes)
    if (name == mode) return branch;
  return unsupported("node mode '" + std::string(mode) + "' is not supported");
}

bool takes_true(const TreeNode& node, float value) noexcept {
  if (std::isnan(value) && node.missing_is_true) return true;
  switch (node.branch) {
    case TreeBranch::kLessOrEqual:
      return value <= node.threshold;
    case TreeBranch::kLess:
      return value < node.threshold;
    case TreeBranch::kGreaterOrEqual:
      return value >= node.threshold;
    case TreeBranch::kGreater:
      return value > node.threshold;
    case TreeBranch::kEqual:
      return value == node.threshold;
    case TreeBranch::kNotEqual:
      return value != node.threshold;
    case TreeBranch::kLeaf:
      break;
  }
  return false;
}

float aggregated(TreeAggregate aggregate, float a, float b) noexcept {
  switch (aggregate) {
    case TreeAggregate::kMin:
      return b < a ? b : a;
    case TreeAggregate::kMax:
      return a < b ? b : a;
    default:
      return a + b;
  }
}

Result<TreeAggregate> read_aggregate(const NodeContext& context) {
  const std::string name = context.string_attribute("aggregate_function", "SUM");
  if (name == "SUM") return TreeAggregate::kSum;
  if (name == "AVERAGE") return TreeAggregate::kAverage;
  if (name == "MIN") return TreeAggregate::kMin;
  if (name == "MAX") return TreeAggregate::kMax;
  return invalid("aggregate_function '" + name + "' is unknown");
}

class EnsembleReader {
 public:
  EnsembleReader(const NodeContext& context, std::size_t feature_count)
      : context_(context), feature_count_(feature_count) {}

  Result<TreeEnsemble> read(const std::string& prefix) {
    TOCSIN_ASSIGN_OR_RETURN(const NodeLists lists, read_lists(context_));
    for (std::size_t i = 0; i < lists.trees.size(); ++i)
      if (!places_.emplace(NodeKey{lists.trees[i], lists.ids[i]}, static_cast<std::uint32_t>(i))
               .second)
        return invalid("tree " + std::to_string(lists.trees[i]) + " has node " +
                       std::to_string(lists.ids[i]) + " twice");
    for (std::size_t i = 0; i < lists.trees.size(); ++i) TOCSIN_RETURN_IF_ERROR(add_node(lists, i));
    TOCSIN_RETURN_IF_ERROR(find_roots());
    TOCSIN_RETURN_IF_ERROR(add_weights(prefix));
    return std::move(ensemble_);
  }

 private:
  Result<std::uint32_t> place(std::int64_t tree, std::int64_t node) const {
    const auto found = places_.find({tree, node});
    if (found == places_.end())
      return invalid("tree " + std::to_string(tree) + " has no node " + std::to_string(node));
    return found->second;
  }

  Status add_node(const NodeLists& lists, std::size_t i) {
    TreeNode node;
    TOCSIN_ASSIGN_OR_RETURN(node.branch, branch_of(lists.modes[i]));
    if (node.branch != TreeBranch::kLeaf) {
      TOCSIN_ASSIGN_OR_RETURN(node.if_true, place(lists.trees[i], lists.if_true[i]));
      TOCSIN_ASSIGN_OR_RETURN(node.if_false, place(lists.trees[i], lists.if_false[i]));
      if (lists.features[i] < 0 || static_cast<std::size_t>(lists.features[i]) >= feature_count_)
        return invalid("a node reads feature " + std::to_string(lists.features[i]) + " of " +
                       std::to_string(feature_count_));
      node.feature = static_cast<std::uint32_t>(lists.features[i]);
      node.threshold = lists.thresholds[i];
      node.missing_is_true = lists.missing[i] != 0;
    }
    ensemble_.nodes.push_back(node);
    return {};
  }

  // With one parent at most for each node, what is not reached from a root lies on a cycle.
  Status find_roots() {
    std::vector<bool> has_parent(ensemble_.nodes.size(), false);
    for (const TreeNode& node : ensemble_.nodes) {
      if (node.branch == TreeBranch::kLeaf) continue;
      for (const std::uint32_t child : {node.if_true, node.if_false}) {
        if (has_parent[child]) return invalid("a node of its trees has two parents");
        has_parent[child] = true;
      }
    }
    std::vector<std::uint32_t> open;
    for (std::size_t i = 0; i < has_parent.size(); ++i)
      if (!has_parent[i]) ensemble_.roots.push_back(static_cast<std::uint32_t>(i));
    open = ensemble_.roots;
    std::size_t reached = 0;
    while (!open.empty()) {
      const TreeNode& node = ensemble_.nodes[open.back()];
      open.pop_back();
      ++reached;
      if (node.branch == TreeBranch::kLeaf) continue;
      open.push_back(node.if_true);
      open.push_back(node.if_false);
    }
    return reached == ensemble_.nodes.size() ? Status() : invalid("its trees have a cycle");
  }

  Status add_weights(const std::string& prefix) {
    const Ints trees = context_.ints_attribute(prefix + "_treeids");
    const Ints ids = context_.ints_attribute(prefix + "_nodeids");
    const Ints targets = context_.ints_attribute(prefix + "_ids");
    TOCSIN_ASSIGN_OR_RETURN(const std::vector<float> values,
                            floats_of(context_, prefix + "_weights"));
    if (trees.size() != ids.size() || trees.size() != targets.size() ||
        trees.size() != values.size())
      return invalid("the lists of its leaves' weights differ in length");
    std::vector<std::vector<LeafWeight>> of_nodes(ensemble_.nodes.size());
    for (std::size_t i = 0; i < trees.size(); ++i) {
      TOCSIN_ASSIGN_OR_RETURN(const std::uint32_t node, place(trees[i], ids[i]));
      if (targets[i] < 0 || targets[i] > std::numeric_limits<std::int32_t>::max())
        return invalid("a leaf adds to target " + std::to_string(targets[i]));
      of_nodes[node].push_back({static_cast<std::uint32_t>(targets[i]), values[i]});
    }
    for (std::size_t i = 0; i < of_nodes.size(); ++i) {
      ensemble_.nodes[i].first_weight = static_cast<std::uint32_t>(ensemble_.weights.size());
      ensemble_.nodes[i].weight_count = static_cast<std::uint32_t>(of_nodes[i].size());
      ensemble_.weights.insert(ensemble_.weights.end(), of_nodes[i].begin(), of_nodes[i].end());
    }
    return {};
  }

  const NodeContext& context_;
  std::size_t feature_count_;
  std::map<NodeKey, std::uint32_t> places_;
  TreeEnsemble ensemble_;
};

}  // namespace

const TreeNode& TreeEnsemble::leaf_of(std::uint32_t root, const float* features) const noexcept {
  const TreeNode* node = &nodes[root];
  while (node->branch != TreeBranch::kLeaf)
    node = &nodes[takes_true(*node, features[node->feature]) ? node->if_true : node->if_false];
  return *node;
}

void TreeEnsemble::evaluate(const float* features, float* scores, float* scratch) const noexcept {
  const bool sums = aggregate == TreeAggregate::kSum || aggregate == TreeAggregate::kAverage;
  const float start = sums ? 0.0F
                           : (aggregate == TreeAggregate::kMin ? 1.0F : -1.0F) *
                                 std::numeric_limits<float>::infinity();
  std::fill_n(scores, target_count, start);
  for (std::size_t first = 0; first < roots.size(); first += kSumBlock) {
    std::fill_n(scratch, target_count, start);
    const std::size_t end = std::min(first + kSumBlock, roots.size());
    for (std::size_t tree = first; tree < end; ++tree) {
      const TreeNode& leaf = leaf_of(roots[tree], features);
      for (std::size_t i = 0; i < leaf.weight_count; ++i) {
        const LeafWeight& entry = weights[leaf.first_weight + i];
        scratch[entry.target] = aggregated(aggregate, scratch[entry.target], entry.weight);
      }
    }
    for (std::size_t i = 0; i < target_count; ++i)
      scores[i] = aggregated(aggregate, scores[i], scratch[i]);
  }
  for (std::size_t i = 0; i < target_count; ++i) {
    // A target to which no leaf adds anything has the score 0 under every aggregate.
    if (!sums && std::isinf(scores[i])) scores[i] = 0.0F;
    if (aggregate == TreeAggregate::kAverage)
      scores[i] = scores[i] / static_cast<float>(roots.size());
    if (!base_values.empty()) scores[i] = scores[i] + base_values[i];
  }
}

Result<TreeEnsemble> read_tree_ensemble(const NodeContext& context, const std::string& prefix,
                                        std::size_t feature_count) {
  TOCSIN_ASSIGN_OR_RETURN(TreeEnsemble ensemble,
                          EnsembleReader(context, feature_count).read(prefix));
  TOCSIN_ASSIGN_OR_RETURN(ensemble.aggregate, read_aggregate(context));
  TOCSIN_ASSIGN_OR_RETURN(ensemble.base_values, floats_of(context, "base_values"));
  return ensemble;
}

}  // namespace tocsin
