// Matching of the patterns, from the sum over time backwards.
#include "engines/reference/attention_fusion.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tocsin {
namespace {

class AttentionMatcher {
 public:
  AttentionMatcher(const Graph& graph, std::span<const ValueFacts> facts)
      : graph_(graph), facts_(facts), producers_(graph.value_names.size(), nullptr) {
    for (const GraphNode& node : graph.nodes)
      for (const ValueIndex output : node.outputs)
        if (output != kNoValue) producers_[static_cast<std::size_t>(output)] = &node;
  }

  // The node that does the work of `node` and what leads to it.
  std::optional<GraphNode> match(const GraphNode& node) const {
    if (!node.domain.empty() || node.outputs.empty()) return {};
    if (node.op_type == "ReduceSum") return match_sum(node);
    if (node.op_type == "MatMul" && node.inputs.size() == 2) return match_product(node);
    return {};
  }

 private:
  const Shape& shape(ValueIndex value) const {
    return facts_[static_cast<std::size_t>(value)].shape;
  }
  const GraphNode* producer(ValueIndex value, std::string_view op_type) const {
    const GraphNode* node = producers_[static_cast<std::size_t>(value)];
    return node != nullptr && node->domain.empty() && node->op_type == op_type ? node : nullptr;
  }
  static std::int64_t int_attribute(const GraphNode& node, std::string_view name,
                                    std::int64_t otherwise) {
    const Attribute* attribute = node.find_attribute(name);
    if (attribute == nullptr) return otherwise;
    const auto* value = std::get_if<std::int64_t>(&attribute->value);
    return value == nullptr ? otherwise : *value;
  }

  // The scores, if `weights` is their softmax over all that is not the batch.
  std::optional<ValueIndex> scores_of(ValueIndex weights, std::int64_t steps) const {
    const GraphNode* softmax = producer(weights, "Softmax");
    if (softmax == nullptr) return {};
    const Shape& all = shape(weights);
    const auto rank = static_cast<std::int64_t>(all.size());
    std::int64_t axis = int_attribute(*softmax, "axis", graph_.opset < 13 ? 1 : -1);
    if (axis < 0) axis += rank;
    if (axis < 1 || axis >= rank || all[static_cast<std::size_t>(axis)] != steps) return {};
    if (checked_element_count(all) != static_cast<std::size_t>(all[0] * steps)) return {};
    return softmax->inputs[0];
  }

  bool sums_over_time(const GraphNode& sum) const {
    std::vector<std::int64_t> axes;
    if (const Attribute* attribute = sum.find_attribute("axes"); attribute != nullptr) {
      if (const auto* values = std::get_if<std::vector<std::int64_t>>(&attribute->value))
        axes = *values;
    } else if (sum.inputs.size() > 1 && sum.inputs[1] != kNoValue) {
      const ValueFacts& facts = facts_[static_cast<std::size_t>(sum.inputs[1])];
      if (!facts.constant || facts.type != DataType::kInt64) return false;
      const auto values = facts.constant->values<std::int64_t>();
      axes.assign(values.begin(), values.end());
    }
    return axes.size() == 1 && (axes[0] == 1 || axes[0] == -2);
  }

  static GraphNode fused(const GraphNode& last, ValueIndex scores, ValueIndex values,
                         bool keeps_time) {
    GraphNode node;
    node.name = last.name;
    node.op_type = "AttentionPool";
    node.domain = kOwnDomain;
    node.inputs = {scores, values};
    node.outputs = last.outputs;
    node.attributes.push_back({"keepdims", std::int64_t{keeps_time ? 1 : 0}});
    return node;
  }

  std::optional<GraphNode> match_sum(const GraphNode& sum) const {
    if (!sums_over_time(sum)) return {};
    const GraphNode* product = producer(sum.inputs[0], "Mul");
    if (product == nullptr) return {};
    for (std::size_t i = 0; i < 2; ++i) {
      const ValueIndex weights = product->inputs[i];
      const ValueIndex values = product->inputs[1 - i];
      const Shape& v = shape(values);
      if (v.size() != 3 || shape(weights) != Shape{v[0], v[1], 1}) continue;
      if (const auto scores = scores_of(weights, v[1]))
        return fused(sum, *scores, values, int_attribute(sum, "keepdims", 1) != 0);
    }
    return {};
  }

  std::optional<GraphNode> match_product(const GraphNode& product) const {
    const ValueIndex values = product.inputs[1];
    const Shape& v = shape(values);
    if (v.size() != 3 || shape(product.inputs[0]) != Shape{v[0], 1, v[1]}) return {};
    if (facts_[static_cast<std::size_t>(values)].constant) return {};
    // A change of layout between [b, t, 1] and [b, 1, t] moves no value.
    ValueIndex weights = product.inputs[0];
    for (const std::string_view layout : {"Transpose", "Unsqueeze", "Reshape", "Squeeze"}) {
      if (const GraphNode* node = producer(weights, layout)) {
        weights = node->inputs[0];
        break;
      }
    }
    if (const auto scores = scores_of(weights, v[1])) return fused(product, *scores, values, true);
    return {};
  }

  const Graph& graph_;
  std::span<const ValueFacts> facts_;
  std::vector<const GraphNode*> producers_;
};

}  // namespace

std::optional<Graph> fuse_attention(const Graph& graph, std::span<const ValueFacts> facts) {
  const AttentionMatcher matcher(graph, facts);
  std::optional<Graph> fused;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    std::optional<GraphNode> node = matcher.match(graph.nodes[i]);
    if (!node) continue;
    if (!fused) fused = graph;
    fused->nodes[i] = std::move(*node);
  }
  return fused;
}

}  // namespace tocsin
