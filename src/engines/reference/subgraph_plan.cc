// Which of a node's operands its subgraph captures, and which of them are constants.
#include "engines/reference/subgraph_plan.h"

#include <algorithm>
#include <cstring>

namespace tocsin {

std::size_t size_bytes(DataType type, const Shape& shape) {
  return *checked_element_count(shape) * data_type_size_bytes(type);
}

std::size_t aligned_bytes(DataType type, const Shape& shape) {
  return (size_bytes(type, shape) + kTensorAlignmentBytes - 1) / kTensorAlignmentBytes *
         kTensorAlignmentBytes;
}

Result<std::shared_ptr<SubgraphPlan>> SubgraphPlan::build(const NodeContext& context,
                                                          const Graph& subgraph,
                                                          const std::vector<FormalInput>& formals) {
  const std::size_t captured_count = subgraph.captured_values.size();
  TOCSIN_ASSERT(subgraph.inputs.size() == formals.size() + captured_count);
  std::vector<PlanInput> inputs;
  std::vector<Initializer> known;
  for (std::size_t i = 0; i < formals.size(); ++i) {
    inputs.push_back(formals[i].planned);
    if (formals[i].is_weight) known.push_back({subgraph.inputs[i], *formals[i].planned.constant});
  }
  const GraphNode& node = context.node();
  std::vector<std::size_t> captured_operands;
  for (std::size_t i = 0; i < captured_count; ++i) {
    const auto found = std::ranges::find(node.captured, subgraph.captured_values[i]);
    TOCSIN_ASSERT(found != node.captured.end());
    const std::size_t operand =
        node.inputs.size() + static_cast<std::size_t>(found - node.captured.begin());
    const Operand& captured = context.operands()[operand];
    captured_operands.push_back(operand);
    inputs.push_back({captured.type, captured.shape, context.constant(operand)});
    if (captured.is_weight && captured.constant != nullptr)
      known.push_back({subgraph.inputs[formals.size() + i], *context.constant(operand)});
  }
  TOCSIN_ASSIGN_OR_RETURN(PreparedGraph * prepared, context.prepared().subgraph(subgraph, known));
  TOCSIN_ASSIGN_OR_RETURN(Plan plan, Plan::build(*prepared, inputs, context.prepared().limits()));
  return std::shared_ptr<SubgraphPlan>(
      new SubgraphPlan(std::move(plan), formals.size(), std::move(captured_operands)));
}

void SubgraphPlan::bind(const Buffers& buffers) noexcept {
  for (std::size_t i = 0; i < captured_operands_.size(); ++i)
    inputs_[formal_count_ + i] = buffers.inputs[captured_operands_[i]];
}

void CarriedValues::add(DataType type, const Shape& shape, bool stands_still) {
  Value value{size_bytes(type, shape), {}, stands_still};
  for (std::size_t& offset : value.offsets) {
    offset = scratch_end_;
    if (!stands_still) scratch_end_ += aligned_bytes(type, shape);
  }
  values_.push_back(value);
  current_.push_back(nullptr);
}

void CarriedValues::advance(const SubgraphPlan& body, std::size_t first_output, std::int64_t step,
                            std::byte* scratch) noexcept {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& value = values_[i];
    if (value.stands_still) continue;
    if (value.bytes > 0)
      std::memcpy(scratch + value.offsets[step % 2], body.output_data(first_output + i, scratch),
                  value.bytes);
  }
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (!values_[i].stands_still) current_[i] = scratch + values_[i].offsets[step % 2];
}

void CarriedValues::write(const Buffers& buffers) const noexcept {
  for (std::size_t i = 0; i < std::min(values_.size(), buffers.outputs.size()); ++i)
    if (buffers.outputs[i] != nullptr && values_[i].bytes > 0)
      std::memcpy(buffers.outputs[i], current_[i], values_[i].bytes);
}

}  // namespace tocsin
