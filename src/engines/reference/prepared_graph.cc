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
  const std::size_t input_count = node.inputs.size();  // without what subgraphs capture
  for (std::size_t i = 0; i < std::max(entry.input_count_min, input_count); ++i) {
    const bool present = i < input_count && inputs.operands[i].present;
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

Error node_error(const Graph& graph, std::size_t node_index, const Error& error) {
  Error located = error.within(node_text(graph.nodes[node_index], node_index));
  const bool is_told = error.message().find("; engines that can run it: ") != std::string::npos;
  if (error.code() != ErrorCode::kUnimplemented || is_told) return located;
  const std::string& domain = graph.nodes[node_index].domain;
  const bool is_standard = domain.empty() || domain == "ai.onnx.ml" || domain == "com.microsoft";
  return Error(located.code(),
               located.message() + "; engines that can run it: " +
                   (is_standard ? "onnxruntime" : "none, it is of no standard domain"));
}

Result<PlannedNode> plan_node(PreparedGraph& prepared, std::size_t node_index,
                              const NodeInputs& inputs) {
  const Graph& graph = prepared.graph();
  const GraphNode& node = graph.nodes[node_index];
  const OperatorEntry* entry = find_operator(node.domain, node.op_type);
  TOCSIN_ASSERT(entry != nullptr);
  if (prepared.work_left()->node_plans-- == 0) {
    prepared.work_left()->node_plans = 0;
    return node_error(graph, node_index,
                      Error(ErrorCode::kResourceExhausted,
                            "planning the model takes more work than the limit (node_plans_max)"));
  }
  if (const Status counts = check_counts(*entry, node, inputs); !counts.ok())
    return node_error(graph, node_index, counts.error());
  const NodeContext context(node, inputs, prepared);
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

Status PreparedGraph::check_operators() const {
  bool uses_standard_operators = false;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const GraphNode& node = graph_.nodes[i];
    uses_standard_operators = uses_standard_operators || node.domain.empty();
    if (find_operator(node.domain, node.op_type) == nullptr)
      return node_error(graph_, i,
                        unsupported("the reference engine has no operator " + node.op_type));
  }
  // A model of operators of ai.onnx.ml alone need not name a version of ai.onnx.
  if (uses_standard_operators && (graph_.opset < kOpsetMin || graph_.opset > kOpsetMax))
    return unsupported("the model uses opset " + std::to_string(graph_.opset) +
                       " of ai.onnx; the reference engine knows " + std::to_string(kOpsetMin) +
                       " to " + std::to_string(kOpsetMax) +
                       "; engines that can run it: onnxruntime");
  return {};
}

NodeInputs PreparedGraph::constant_inputs(const GraphNode& node) const {
  NodeInputs inputs;
  const auto add = [this, &inputs](ValueIndex value) {
    const std::optional<Tensor> constant =
        value == kNoValue ? std::nullopt : constants_[static_cast<std::size_t>(value)];
    Operand operand{value != kNoValue, DataType::kFloat32, {}, nullptr, true};
    if (constant) {
      operand.type = constant->type();
      operand.shape = constant->shape();
      operand.constant = constant->data();
    }
    inputs.operands.push_back(std::move(operand));
    inputs.constants.push_back(constant);
  };
  for (const ValueIndex value : node.inputs) add(value);
  for (const ValueIndex value : node.captured) add(value);
  return inputs;
}

Status PreparedGraph::fold_constants() {
  std::size_t bytes_left = limits_.memory_bytes_max;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const GraphNode& node = graph_.nodes[i];
    const NodeInputs inputs = constant_inputs(node);
    if (!inputs.all_constant()) {
      nodes_.push_back(i);
      continue;
    }
    TOCSIN_ASSIGN_OR_RETURN(const PlannedNode planned, plan_node(*this, i, inputs));
    Result<std::vector<Tensor>> folded = fold_node(planned, inputs, bytes_left);
    if (!folded.ok()) return node_error(graph_, i, folded.error());
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      if (node.outputs[o] != kNoValue)
        constants_[static_cast<std::size_t>(node.outputs[o])] = (*folded)[o];
  }
  return {};
}

Status PreparedGraph::fold(const std::vector<Initializer>& known) {
  if (graph_.nodes.size() > limits_.node_count_max)
    return Error(ErrorCode::kResourceExhausted, "the model has " +
                                                    std::to_string(graph_.nodes.size()) +
                                                    " nodes, the limit (node_count_max) is " +
                                                    std::to_string(limits_.node_count_max));
  TOCSIN_RETURN_IF_ERROR(check_operators());
  constants_.resize(graph_.value_names.size());
  for (const Initializer& constant : graph_.initializers)
    constants_[static_cast<std::size_t>(constant.value)] = constant.tensor;
  for (const Initializer& constant : known)
    constants_[static_cast<std::size_t>(constant.value)] = constant.tensor;
  return fold_constants();
}

Result<PreparedGraph> PreparedGraph::prepare(Graph graph, const ReferenceLimits& limits,
                                             const QuantisationOptions& quantisation) {
  PreparedGraph prepared(std::move(graph), limits, quantisation);
  prepared.begin_planning();
  prepared.work_left_->loop_steps = limits.loop_steps_max;
  TOCSIN_RETURN_IF_ERROR(prepared.fold({}));
  return prepared;
}

Result<PreparedGraph*> PreparedGraph::subgraph(const Graph& graph,
                                               const std::vector<Initializer>& known) {
  std::unique_ptr<PreparedGraph>& place = subgraphs_[&graph];
  if (place == nullptr) {
    std::unique_ptr<PreparedGraph> prepared(
        new PreparedGraph(graph, limits_, weights_.quantisation()));
    prepared->work_left_ = work_left_;
    prepared->is_subgraph_ = true;
    TOCSIN_RETURN_IF_ERROR(prepared->fold(known));
    place = std::move(prepared);
  }
  return place.get();
}

}  // namespace tocsin
