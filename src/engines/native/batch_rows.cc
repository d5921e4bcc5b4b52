// Follows the batch from the inputs through every operator. Where it is in a value is told by the
// product of the dimensions before it, which survives every change of shape.
#include "engines/native/batch_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "engines/native/row_operators.h"
#include "engines/reference/attention_fusion.h"

namespace tocsin {
namespace {

// Each row of the output from the same row of the first input, rows being the first dimension;
// everything else is constant.
constexpr std::array<std::string_view, 7> kImageOperators = {
    "AveragePool",   "BatchNormalization",    "Conv",  "GlobalAveragePool",
    "GlobalMaxPool", "InstanceNormalization", "LpPool"};
constexpr std::array<std::string_view, 11> kReductions = {
    "ArgMax",     "ArgMin",    "ReduceL1",   "ReduceL2",  "ReduceLogSum",   "ReduceMax",
    "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"};
constexpr std::array<std::string_view, 12> kComparisons = {
    "And",  "Equal", "Greater", "GreaterOrEqual", "Less",  "LessOrEqual",
    "Mean", "Not",   "Or",      "Softsign",       "Swish", "Xor"};
constexpr std::array<std::string_view, 4> kSameElementsOperators = {"Flatten", "Reshape", "Squeeze",
                                                                    "Unsqueeze"};

std::size_t product(std::span<const std::int64_t> sizes) {
  std::size_t result = 1;
  for (const std::int64_t size : sizes) result *= static_cast<std::size_t>(size);
  return result;
}

// The dimension of a value in which its rows lie, and how often they are all met in it: 1, unless
// dimensions before the batch were joined with it.
struct RowsPlace {
  std::size_t axis = 0;
  std::size_t rounds = 1;

  bool operator==(const RowsPlace&) const = default;
};

class BatchFollower {
 public:
  BatchFollower(const Graph& graph, const BatchFacts& one, const BatchFacts& other)
      : graph_(graph), one_(one), other_(other), before_(graph.value_names.size()) {}

  bool rows_are_apart() {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      const Shape& declared = graph_.signature.inputs[i].shape;
      const auto free = std::ranges::count(declared, kFreeDimension);
      if (free == 0) continue;
      if (declared[0] != kFreeDimension || !differs_in_rows_alone(graph_.inputs[i])) return false;
      before(graph_.inputs[i]) = 1;
    }
    const std::vector<bool> needed = nodes_before(graph_, graph_.outputs, {});
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (needed[i] && !follow(graph_.nodes[i])) return false;
    return std::ranges::all_of(graph_.outputs, [this](ValueIndex output) {
      return before(output) == 1 && !shape(output).empty() && shape(output)[0] == one_.batch;
    });
  }

 private:
  // The product of the dimensions before the batch; nothing: the value has no batch in it.
  std::optional<std::size_t>& before(ValueIndex value) {
    return before_[static_cast<std::size_t>(value)];
  }
  const ValueFacts& facts(ValueIndex value) const {
    return one_.facts[static_cast<std::size_t>(value)];
  }
  const Shape& shape(ValueIndex value) const { return facts(value).shape; }
  bool has_batch(ValueIndex value) { return value != kNoValue && before(value).has_value(); }

  // Of a value with a batch.
  std::optional<RowsPlace> place(ValueIndex value) {
    const Shape& sizes = shape(value);
    std::size_t outer = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto size = static_cast<std::size_t>(sizes[i]);
      if (size == 0 || *before(value) % outer != 0) return {};
      const std::size_t rounds = *before(value) / outer;
      if (size % (rounds * static_cast<std::size_t>(one_.batch)) == 0) return RowsPlace{i, rounds};
      outer *= size;
    }
    return {};
  }

  bool differs_in_rows_alone(ValueIndex value) const {
    const Shape& there = other_.facts[static_cast<std::size_t>(value)].shape;
    return std::equal(shape(value).begin() + 1, shape(value).end(), there.begin() + 1, there.end());
  }

  // Marks the output as a batch whose rows lie there.
  bool mark(ValueIndex value, RowsPlace rows) {
    const Shape& sizes = shape(value);
    const auto batch = static_cast<std::size_t>(one_.batch);
    if (rows.axis >= sizes.size()) return false;
    const auto size = static_cast<std::size_t>(sizes[rows.axis]);
    if (size == 0 || size % (rows.rounds * batch) != 0) return false;
    before(value) = product(std::span(sizes).first(rows.axis)) * rows.rounds;
    return true;
  }

  // What does not depend on the inputs' values, yet may depend on how many rows there are: equal
  // rows are a batch too, anything else is only good for shapes.
  bool follow_constant(ValueIndex value) {
    const Tensor& here = *facts(value).constant;
    const auto& there = other_.facts[static_cast<std::size_t>(value)].constant;
    if (!there || there->shape().size() != here.shape().size()) return false;
    for (std::size_t i = 0; i < here.shape().size(); ++i) {
      if (here.shape()[i] == there->shape()[i]) continue;
      return here.shape()[i] == one_.batch && has_equal_rows(here, i) && mark(value, {i, 1});
    }
    if (std::memcmp(here.data(), there->data(), here.size_bytes()) == 0) return true;
    only_for_shapes_.push_back(value);
    return true;
  }

  static bool has_equal_rows(const Tensor& tensor, std::size_t axis) {
    const std::span<const std::int64_t> sizes = tensor.shape();
    const auto rows = static_cast<std::size_t>(sizes[axis]);
    const std::size_t row_bytes =
        product(sizes.subspan(axis + 1)) * data_type_size_bytes(tensor.type());
    const auto* data = static_cast<const std::byte*>(tensor.data());
    for (std::size_t i = 0; i < product(sizes.first(axis)); ++i, data += rows * row_bytes)
      for (std::size_t row = 1; row < rows; ++row)
        if (std::memcmp(data, data + row * row_bytes, row_bytes) != 0) return false;
    return true;
  }

  bool is_for_shapes(ValueIndex value) const {
    return std::ranges::find(only_for_shapes_, value) != only_for_shapes_.end();
  }

  bool follow(const GraphNode& node) {
    const bool is_known = std::ranges::all_of(node.outputs, [this](ValueIndex output) {
      return output == kNoValue || facts(output).constant.has_value();
    });
    if (is_known)
      return std::ranges::all_of(node.outputs, [this](ValueIndex output) {
        return output == kNoValue || follow_constant(output);
      });
    const bool reads_shape = node.op_type == "Reshape" || node.op_type == "Expand";
    for (std::size_t i = reads_shape ? 2 : 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] != kNoValue && is_for_shapes(node.inputs[i])) return false;
    if (std::ranges::none_of(node.inputs, [this](ValueIndex v) { return has_batch(v); }))
      return node.captured.empty();
    if (node.domain == "ai.onnx.ml" || node.domain == kOwnDomain) return rows_first(node);
    return node.domain.empty() && follow_standard(node);
  }

  bool follow_standard(const GraphNode& node) {
    const std::string_view name = node.op_type;
    if (contains(kElementwiseOperators, name) || contains(kComparisons, name) || name == "Expand")
      return node.outputs.size() == 1 && broadcast(node);
    if (name == "LSTM" || name == "GRU" || name == "RNN") return recurrent(node);
    if (contains(kImageOperators, name) || name == "MaxPool")
      return node.outputs.size() == 1 && others_are_plain(node) && rows_first(node);
    if (name == "MatMul") return matrix_product(node);
    if (name == "Gemm")
      return int_attribute(node, "transA").value_or(0) == 0 && others_are_plain(node) &&
             is_broadcast_over_rows(node) && matrix_product(node);
    if (name == "Concat") return concat(node);
    if (!has_batch(node.inputs[0]) || !others_are_plain(node)) return false;
    if (contains(kSameElementsOperators, name)) {
      before(node.outputs[0]) = before(node.inputs[0]);
      return place(node.outputs[0]).has_value();
    }
    const std::optional<RowsPlace> at = place(node.inputs[0]);
    if (!at) return false;
    if (name == "Transpose") return transpose(node, *at);
    if (contains(kAlongLastAxisOperators, name)) return along_axis(node, *at);
    if (contains(kReductions, name)) return reduction(node, *at);
    if (name == "Gather") return gather(node, *at);
    if (name == "Slice" || name == "Split") return part(node, *at);
    return false;
  }

  bool others_are_plain(const GraphNode& node) {
    return std::none_of(node.inputs.begin() + 1, node.inputs.end(),
                        [this](ValueIndex v) { return has_batch(v); });
  }

  // All inputs that have rows have them first, and so have all outputs.
  bool rows_first(const GraphNode& node) {
    for (const ValueIndex input : node.inputs)
      if (has_batch(input) && place(input) != RowsPlace{}) return false;
    for (const ValueIndex output : node.outputs)
      if (output != kNoValue && !mark(output, {})) return false;
    return true;
  }

  // Of Gemm's third input.
  bool is_broadcast_over_rows(const GraphNode& node) const {
    if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return true;
    const Shape& bias = shape(node.inputs[2]);
    return bias.size() < 2 || bias[0] == 1;
  }

  bool broadcast(const GraphNode& node) {
    const ValueIndex output = node.outputs[0];
    const std::size_t rank = shape(output).size();
    std::optional<RowsPlace> found;
    for (const ValueIndex input : node.inputs) {
      if (!has_batch(input)) continue;
      std::optional<RowsPlace> own = place(input);
      if (!own) return false;
      const std::int64_t size = shape(input)[own->axis];
      own->axis += rank - shape(input).size();
      if (size != shape(output)[own->axis] || found.value_or(*own) != *own) return false;
      found = own;
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueIndex input = node.inputs[i];
      if (input == kNoValue || has_batch(input) || (node.op_type == "Expand" && i == 1)) continue;
      const Shape& sizes = shape(input);
      const std::size_t missing = rank - std::min(rank, sizes.size());
      if (found->axis >= missing && sizes[found->axis - missing] != 1) return false;
    }
    return mark(output, *found);
  }

  // Of the first two inputs.
  bool matrix_product(const GraphNode& node) {
    const ValueIndex left = node.inputs[0];
    const ValueIndex right = node.inputs[1];
    const std::size_t rank = shape(node.outputs[0]).size();
    if (!has_batch(left) || shape(left).size() != rank) return false;
    const std::optional<RowsPlace> at = place(left);
    if (!at || at->axis + 1 >= rank) return false;
    if (!has_batch(right)) return shape(right).size() <= 2 && mark(node.outputs[0], *at);
    return shape(right).size() == rank && place(right) == at && at->axis + 2 < rank &&
           mark(node.outputs[0], *at);
  }

  bool recurrent(const GraphNode& node) {
    const bool rows_lead = int_attribute(node, "layout").value_or(0) != 0;
    const std::size_t second = rows_lead ? 0 : 1;
    if (!has_batch(node.inputs[0]) || place(node.inputs[0]) != RowsPlace{second, 1}) return false;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      const bool is_state = i == 5 || (i == 6 && node.op_type == "LSTM");
      const bool is_length = i == 4;
      if (has_batch(node.inputs[i]) != (is_state || is_length)) return false;
      if (is_state && place(node.inputs[i]) != RowsPlace{second, 1}) return false;
      if (is_length && place(node.inputs[i]) != RowsPlace{}) return false;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::size_t at = rows_lead ? 0 : (i == 0 ? 2 : 1);
      if (node.outputs[i] != kNoValue && !mark(node.outputs[i], {at, 1})) return false;
    }
    return true;
  }

  // A negative axis counts from the end.
  static std::size_t from_front(std::int64_t axis, std::size_t rank) {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  }

  bool concat(const GraphNode& node) {
    const std::size_t rank = shape(node.outputs[0]).size();
    const std::size_t joined = from_front(int_attribute(node, "axis").value_or(0), rank);
    const std::optional<RowsPlace> at =
        has_batch(node.inputs[0]) ? place(node.inputs[0]) : std::nullopt;
    const auto is_alike = [this, &at](ValueIndex input) {
      return has_batch(input) && place(input) == at;
    };
    return at && at->axis != joined && std::ranges::all_of(node.inputs, is_alike) &&
           mark(node.outputs[0], *at);
  }

  bool transpose(const GraphNode& node, RowsPlace at) {
    const std::vector<std::int64_t> perm = ints_attribute(node, "perm");
    const std::size_t rank = shape(node.inputs[0]).size();
    if (perm.empty()) return mark(node.outputs[0], {rank - 1 - at.axis, at.rounds});
    const auto found = std::ranges::find(perm, static_cast<std::int64_t>(at.axis));
    return found != perm.end() &&
           mark(node.outputs[0], {static_cast<std::size_t>(found - perm.begin()), at.rounds});
  }

  // Softmax before opset 13 takes all dimensions from its axis on, as LayerNormalization does.
  bool along_axis(const GraphNode& node, RowsPlace at) {
    const bool is_norm = node.op_type == "LayerNormalization";
    const std::int64_t otherwise = is_norm || graph_.opset >= 13 ? -1 : 1;
    const std::size_t first =
        from_front(int_attribute(node, "axis").value_or(otherwise), shape(node.inputs[0]).size());
    const bool takes_all_behind = is_norm || graph_.opset < 13;
    return node.outputs.size() == 1 && (takes_all_behind ? first > at.axis : first != at.axis) &&
           mark(node.outputs[0], at);
  }

  bool reduction(const GraphNode& node, RowsPlace at) {
    const std::size_t rank = shape(node.inputs[0]).size();
    std::vector<std::int64_t> axes = ints_attribute(node, "axes");
    if (const auto one = int_attribute(node, "axis")) axes.push_back(*one);
    if (node.inputs.size() > 1 && node.inputs[1] != kNoValue) {
      const auto& constant = facts(node.inputs[1]).constant;
      if (!constant || constant->type() != DataType::kInt64) return false;
      const auto values = constant->values<std::int64_t>();
      axes.assign(values.begin(), values.end());
    }
    if (axes.empty()) return false;  // all of them, or the default of ArgMax: the first one
    std::size_t gone = 0;
    for (const std::int64_t reduced : axes) {
      const std::size_t index = from_front(reduced, rank);
      if (index == at.axis) return false;
      if (index < at.axis) ++gone;
    }
    const bool keeps = int_attribute(node, "keepdims").value_or(1) != 0;
    return mark(node.outputs[0], {keeps ? at.axis : at.axis - gone, at.rounds});
  }

  bool gather(const GraphNode& node, RowsPlace at) {
    const std::size_t rank = shape(node.inputs[0]).size();
    const std::size_t taken = from_front(int_attribute(node, "axis").value_or(0), rank);
    if (taken == at.axis) return false;
    const std::size_t indices = shape(node.inputs[1]).size();
    return mark(node.outputs[0], {taken < at.axis ? at.axis + indices - 1 : at.axis, at.rounds});
  }

  // Of other dimensions: where the rows' own keeps its size, all its elements are taken in order,
  // or from the last to the first.
  bool part(const GraphNode& node, RowsPlace at) {
    if (node.op_type == "Slice" && node.inputs.size() > 4 && node.inputs[4] != kNoValue) {
      const auto& steps = facts(node.inputs[4]).constant;
      if (!steps || steps->type() != DataType::kInt64) return false;
      if (std::ranges::any_of(steps->values<std::int64_t>(), [](auto step) { return step < 0; }))
        return false;
    }
    return std::ranges::all_of(node.outputs, [this, &node, at](ValueIndex output) {
      return output == kNoValue ||
             (shape(output)[at.axis] == shape(node.inputs[0])[at.axis] && mark(output, at));
    });
  }

  const Graph& graph_;
  const BatchFacts& one_;
  const BatchFacts& other_;
  std::vector<std::optional<std::size_t>> before_;  // by value
  std::vector<ValueIndex> only_for_shapes_;
};

}  // namespace

bool rows_are_apart(const Graph& graph, const BatchFacts& one, const BatchFacts& other) {
  return BatchFollower(graph, one, other).rows_are_apart();
}

}  // namespace tocsin
