// Planning of single nodes and folding of constants.
#include "engines/reference/prepared_graph.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace tocsin {
namespace {

// Opsets whose definitions the operators here follow: from 7 on, elementwise operators broadcast.
constexpr std::int64_t kOpsetMin = 7;
constexpr std::int64_t kOpsetMax = 26;

Status check_counts(const OperatorEntry& entry, const GraphNode& node, const NodeInputs& inputs) {
  const bool is_variadic = entry.input_count_max == std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 0; i < std::max(entry.input_count_min, inputs.operands.size()); ++i) {
    const bool present = i < inputs.operands.size() && inputs.operands[i].present;
    if (!present && (i < entry.input_count_min || is_variadic))
      return invalid("its input " + std::to_string(i) + " is missing");
    if (present && i >= entry.input_count_max)
      return invalid("it has more than " + std::to_string(entry.input_count_max) + " inputs");
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (i >= entry.output_count_max && node.outputs[i] != kNoValue)
      return unsupported("its output " + std::to_string(i) + " is not supported");
  }
  if (node.outputs.empty()) return invalid("it has no outputs");
  return {};
}

// Fills planned.outputs up to the node's outputs and checks that each is of a sensible size.
Status check_outputs(const GraphNode& node, PlannedNode& planned) {
  planned.outputs.resize(node.outputs.size());
  for (const PlannedOutput& output : planned.outputs) {
    if (output.shape.size() > kRankMax) return unsupported("its output has more than 8 dimensions");
    if (!checked_element_count(output.shape))
      return invalid("its output of shape " + shape_text(output.shape) + " is too large");
  }
  return {};
}

}  // namespace

bool NodeInputs::all_constant() const noexcept {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i].present && !constants[i]) return false;
  return true;
}

Error node_error(const Graph& graph, std::size_t node_index, const Error& error) {
  Error located = error.within(node_text(graph.nodes[node_index], node_index));
  if (error.code() != ErrorCode::kUnimplemented) return located;
  return Error(located.code(), located.message() + "; engines that can run it: onnxruntime");
}

Result<PlannedNode> plan_node(const Graph& graph, std::size_t node_index, const NodeInputs& inputs,
                              WeightStore& weights) {
  const GraphNode& node = graph.nodes[node_index];
  const OperatorEntry* entry = find_operator(node.domain, node.op_type);
  TOCSIN_ASSERT(entry != nullptr);
  if (const Status counts = check_counts(*entry, node, inputs); !counts.ok())
    return node_error(graph, node_index, counts.error());
  const NodeContext context(node, graph, inputs.operands, weights);
  Result<PlannedNode> planned = entry->plan(context);
  if (!planned.ok()) return node_error(graph, node_index, planned.error());
  if (const Status attributes = context.attribute_status(); !attributes.ok())
    return node_error(graph, node_index, attributes.error());
  if (const Status outputs = check_outputs(node, *planned); !outputs.ok())
    return node_error(graph, node_index, outputs.error());
  return planned;
}

Result<std::vector<Tensor>> fold_node(const PlannedNode& planned, const NodeInputs& inputs,
                                      std::size_t& bytes_left) {
  std::vector<Tensor> results;
  std::size_t needed = planned.scratch_bytes;
  for (const PlannedOutput& output : planned.outputs)
    needed += *checked_element_count(output.shape) * data_type_size_bytes(output.type);
  if (needed > bytes_left)
    return Error(ErrorCode::kResourceExhausted, "its constants need " + std::to_string(needed) +
                                                    " bytes, the limit (memory_bytes_max) leaves " +
                                                    std::to_string(bytes_left));
  bytes_left -= needed - planned.scratch_bytes;
  for (const PlannedOutput& output : planned.outputs) {
    if (output.constant)
      results.push_back(*output.constant);
    else if (output.alias_of_input)
      results.push_back(inputs.constants[*output.alias_of_input]->with_shape(output.shape));
    else
      results.emplace_back(output.type, output.shape);
  }
  if (!planned.kernel) return results;
  Tensor scratch(DataType::kBool, {static_cast<std::int64_t>(planned.scratch_bytes)});
  std::vector<const void*> input_pointers;
  for (const std::optional<Tensor>& constant : inputs.constants)
    input_pointers.push_back(constant ? constant->data() : nullptr);
  std::vector<void*> output_pointers;
  output_pointers.reserve(results.size());
  for (Tensor& result : results) output_pointers.push_back(result.mutable_data());
  const char* failure = nullptr;
  planned.kernel(
      {input_pointers, output_pointers, static_cast<std::byte*>(scratch.mutable_data()), &failure});
  if (failure != nullptr) return invalid(failure);
  return results;
}

Result<PreparedGraph> PreparedGraph::prepare(Graph graph, const ReferenceLimits& limits,
                                             const QuantisationOptions& quantisation) {
  if (graph.nodes.size() > limits.node_count_max)
    return Error(ErrorCode::kResourceExhausted, "the model has " +
                                                    std::to_string(graph.nodes.size()) +
                                                    " nodes, the limit (node_count_max) is " +
                                                    std::to_string(limits.node_count_max));
  PreparedGraph prepared(std::move(graph), quantisation);
  const Graph& g = prepared.graph_;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    if (find_operator(g.nodes[i].domain, g.nodes[i].op_type) == nullptr)
      return node_error(g, i,
                        unsupported("the reference engine has no operator " + g.nodes[i].op_type));
  }
  if (g.opset < kOpsetMin || g.opset > kOpsetMax)
    return unsupported("the model uses opset " + std::to_string(g.opset) +
                       " of ai.onnx; the reference engine knows " + std::to_string(kOpsetMin) +
                       " to " + std::to_string(kOpsetMax) +
                       "; engines that can run it: onnxruntime");
  prepared.constants_.resize(g.value_names.size());
  for (const Initializer& initializer : g.initializers)
    prepared.constants_[static_cast<std::size_t>(initializer.value)] = initializer.tensor;
  std::size_t bytes_left = limits.memory_bytes_max;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const GraphNode& node = g.nodes[i];
    NodeInputs inputs;
    for (const ValueIndex value : node.inputs) {
      const std::optional<Tensor> constant =
          value == kNoValue ? std::nullopt : prepared.constants_[static_cast<std::size_t>(value)];
      Operand operand{value != kNoValue, DataType::kFloat32, {}, nullptr, true};
      if (constant) {
        operand.type = constant->type();
        operand.shape = constant->shape();
        operand.constant = constant->data();
      }
      inputs.operands.push_back(std::move(operand));
      inputs.constants.push_back(constant);
    }
    if (!inputs.all_constant()) {
      prepared.nodes_.push_back(i);
      continue;
    }
    TOCSIN_ASSIGN_OR_RETURN(const PlannedNode planned, plan_node(g, i, inputs, prepared.weights_));
    Result<std::vector<Tensor>> folded = fold_node(planned, inputs, bytes_left);
    if (!folded.ok()) return node_error(g, i, folded.error());
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      if (node.outputs[o] != kNoValue)
        prepared.constants_[static_cast<std::size_t>(node.outputs[o])] = (*folded)[o];
  }
  return prepared;
}

}  // namespace tocsin
