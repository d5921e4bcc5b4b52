// Tags each value with the frames that one of its rows depends on.
#include "engines/native/row_cache_network.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "engines/native/row_operators.h"
#include "engines/reference/operator.h"

namespace tocsin {
namespace {

std::size_t product(std::span<const std::int64_t> sizes) {
  std::size_t result = 1;
  for (const std::int64_t size : sizes) result *= static_cast<std::size_t>(size);
  return result;
}

struct Rows {
  std::size_t context = 1;
  std::size_t axis = 0;  // of time
};

class RowCacheFinder {
 public:
  RowCacheFinder(const Graph& graph, std::span<const ValueFacts> facts)
      : graph_(graph), facts_(facts), rows_(graph.value_names.size()) {}

  Result<RowCacheNetwork> find() {
    const ModelSignature& signature = graph_.signature;
    if (signature.inputs.size() != 1 || signature.inputs[0].type != DataType::kFloat32 ||
        shape(graph_.inputs[0]).size() != 3 || shape(graph_.inputs[0])[0] != 1)
      return unsupported(
          "only models with one float32 input [batch, steps, features] have windows");
    rows_[static_cast<std::size_t>(graph_.inputs[0])] = Rows{1, 1};
    const std::vector<bool> needed = nodes_before(graph_, graph_.outputs, {});
    double cached_work = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      if (!needed[i] || is_known(node)) continue;
      const double work = multiply_adds(node, facts_);
      network_.whole_work += work;
      if (const std::optional<Rows> rows = rows_of(node)) {
        rows_[static_cast<std::size_t>(node.outputs[0])] = rows;
        cached_work += work;
      } else {
        network_.rest_work += work;
        for (const ValueIndex input : node.inputs) cache(input);
        for (const ValueIndex value : node.captured) cache(value);
      }
    }
    for (const ValueIndex output : graph_.outputs) cache(output);
    if (cached_work == 0)
      return unsupported("every product of the model needs all frames of a window at once");
    network_.rest.outputs = graph_.outputs;
    return std::move(network_);
  }

 private:
  const Shape& shape(ValueIndex value) const {
    return facts_[static_cast<std::size_t>(value)].shape;
  }
  bool is_constant(ValueIndex value) const {
    return value == kNoValue || facts_[static_cast<std::size_t>(value)].constant.has_value();
  }
  bool is_known(const GraphNode& node) const {
    return std::ranges::all_of(node.outputs, [this](ValueIndex v) { return is_constant(v); });
  }
  const std::optional<Rows>& rows(ValueIndex value) const {
    return rows_[static_cast<std::size_t>(value)];
  }

  // A value that the rest reads.
  void cache(ValueIndex value) {
    if (value == kNoValue || !rows(value)) return;
    const auto same = [value](const CachedValue& cached) { return cached.value == value; };
    if (std::ranges::any_of(network_.cached, same)) return;
    const Shape& all = shape(value);
    const std::size_t axis = rows(value)->axis;
    network_.cached.push_back({.value = value,
                               .context = rows(value)->context,
                               .rows = static_cast<std::size_t>(all[axis]),
                               .outer = product(std::span(all).first(axis)),
                               .inner = product(std::span(all).subspan(axis + 1))});
    network_.rest.inputs.push_back(value);
  }

  // The rows of the node's output, if each depends on a few frames alone.
  std::optional<Rows> rows_of(const GraphNode& node) const {
    if (!node.domain.empty() || node.outputs.size() != 1) return {};
    const ValueIndex first = node.inputs[0];
    if (contains(kElementwiseOperators, node.op_type)) return elementwise(node);
    if (!rows(first)) return {};
    for (std::size_t i = 1; i < node.inputs.size(); ++i)
      if (!is_constant(node.inputs[i])) return {};
    const Rows from = *rows(first);
    const std::size_t rank = shape(first).size();
    if (node.op_type == "MatMul")
      return from.axis + 1 < rank && shape(node.inputs[1]).size() <= 2 ? std::optional(from)
                                                                       : std::nullopt;
    if (node.op_type == "BatchNormalization")
      return from.axis != 1 ? std::optional(from) : std::nullopt;
    if (contains(kAlongLastAxisOperators, node.op_type)) {
      const auto axis = int_attribute(node, "axis");
      const auto last = static_cast<std::int64_t>(rank) - 1;
      return axis && (*axis == -1 || *axis == last) && from.axis + 1 < rank ? std::optional(from)
                                                                            : std::nullopt;
    }
    if (node.op_type == "Conv" || node.op_type == "MaxPool" || node.op_type == "AveragePool")
      return convolution(node, from);
    if (node.op_type == "Transpose") return transpose(node, from);
    if (contains(kLayoutOperators, node.op_type)) return layout(node, from);
    return {};
  }

  std::optional<Rows> elementwise(const GraphNode& node) const {
    std::optional<Rows> result;
    const std::size_t rank = shape(node.outputs[0]).size();
    for (const ValueIndex input : node.inputs) {
      if (input == kNoValue || !rows(input)) continue;
      const Rows own{rows(input)->context, rows(input)->axis + rank - shape(input).size()};
      if (result && (result->context != own.context || result->axis != own.axis)) return {};
      result = own;
    }
    if (!result) return {};
    for (const ValueIndex input : node.inputs) {
      if (input == kNoValue || rows(input)) continue;
      if (!is_constant(input)) return {};
      const Shape& constant = shape(input);
      const std::size_t missing = rank - std::min(rank, constant.size());
      if (result->axis >= missing && constant[result->axis - missing] != 1) return {};
    }
    return result;
  }

  // Over time with stride 1 and without padding.
  std::optional<Rows> convolution(const GraphNode& node, Rows from) const {
    if (from.axis < 2) return {};
    const std::size_t spatial = from.axis - 2;
    const std::size_t axes = shape(node.inputs[0]).size() - 2;
    const auto at = [&node, spatial](std::string_view name, std::int64_t otherwise) {
      const auto values = ints_attribute(node, name);
      return values.size() > spatial ? values[spatial] : otherwise;
    };
    const auto pads = ints_attribute(node, "pads");
    const auto text = string_attribute(node, "auto_pad");
    if ((!text.empty() && text != "NOTSET" && text != "VALID") || at("strides", 1) != 1 ||
        (pads.size() == 2 * axes && (pads[spatial] != 0 || pads[spatial + axes] != 0)) ||
        int_attribute(node, "ceil_mode").value_or(0) != 0)
      return {};
    std::int64_t kernel = at("kernel_shape", 0);
    if (kernel == 0 && node.op_type == "Conv") kernel = shape(node.inputs[1])[from.axis];
    const std::int64_t reach = (kernel - 1) * at("dilations", 1);
    if (kernel < 1 || shape(node.outputs[0])[from.axis] != shape(node.inputs[0])[from.axis] - reach)
      return {};
    return Rows{from.context + static_cast<std::size_t>(reach), from.axis};
  }

  std::optional<Rows> transpose(const GraphNode& node, Rows from) const {
    const auto perm = ints_attribute(node, "perm");
    const auto found = std::ranges::find(perm, static_cast<std::int64_t>(from.axis));
    if (found == perm.end()) return {};
    return Rows{from.context, static_cast<std::size_t>(found - perm.begin())};
  }

  // The axis that has as much before and behind it as the old one.
  std::optional<Rows> layout(const GraphNode& node, Rows from) const {
    const std::span<const std::int64_t> before = shape(node.inputs[0]);
    const std::span<const std::int64_t> after = shape(node.outputs[0]);
    for (std::size_t axis = 0; axis < after.size(); ++axis) {
      if (after[axis] == before[from.axis] &&
          product(after.first(axis)) == product(before.first(from.axis)))
        return Rows{from.context, axis};
    }
    return {};
  }

  const Graph& graph_;
  std::span<const ValueFacts> facts_;
  std::vector<std::optional<Rows>> rows_;  // by value; nothing: not known by rows
  RowCacheNetwork network_;
};

}  // namespace

double multiply_adds(const GraphNode& node, std::span<const ValueFacts> facts) {
  if (!node.domain.empty() || node.outputs.empty() || node.inputs.size() < 2) return 0;
  const auto shape = [&facts](ValueIndex value) -> const Shape& {
    return facts[static_cast<std::size_t>(value)].shape;
  };
  const auto count = [](const Shape& s) { return static_cast<double>(product(s)); };
  const auto output = [&]() { return count(shape(node.outputs[0])); };
  const Shape& weights = shape(node.inputs[1]);
  if (node.op_type == "MatMul") return output() * static_cast<double>(shape(node.inputs[0]).back());
  if (node.op_type == "Gemm")
    return output() * count(weights) / static_cast<double>(shape(node.outputs[0]).back());
  if (node.op_type == "Conv") return output() * count(weights) / static_cast<double>(weights[0]);
  if (node.op_type == "LSTM" || node.op_type == "GRU" || node.op_type == "RNN") {
    const Shape& x = shape(node.inputs[0]);
    return static_cast<double>(x[0] * x[1]) * (count(weights) + count(shape(node.inputs[2])));
  }
  return 0;
}

Result<RowCacheNetwork> find_row_cache_network(const Graph& graph,
                                               std::span<const ValueFacts> facts) {
  return RowCacheFinder(graph, facts).find();
}

}  // namespace tocsin
