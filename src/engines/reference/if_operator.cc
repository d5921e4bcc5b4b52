// If: where the condition follows from shapes or weights the branch is chosen when the node is
// planned, and the other one is not even looked at; else both branches must agree in their shapes.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "engines/reference/plan_functions.h"
#include "engines/reference/subgraph_plan.h"

namespace tocsin {
namespace {

using Branch = std::shared_ptr<SubgraphPlan>;

Result<Branch> plan_branch(const NodeContext& context, const char* name) {
  const Graph* graph = context.graph_attribute(name);
  if (graph == nullptr) return invalid(std::string("it has no ") + name);
  if (!graph->signature.inputs.empty())
    return invalid(std::string(name) + " has inputs, which the branches of an If have not");
  if (graph->outputs.size() != context.output_count())
    return invalid(std::string(name) + " has " + std::to_string(graph->outputs.size()) +
                   " outputs, the node has " + std::to_string(context.output_count()));
  return SubgraphPlan::build(context, *graph, {});
}

// Runs the branch and copies its outputs, but for those that are constants of the plan.
void run_branch(SubgraphPlan& branch, const std::vector<bool>& copied, const Buffers& buffers) {
  branch.bind(buffers);
  if (const char* failure = branch.run(buffers.scratch); failure != nullptr) {
    *buffers.failure = failure;
    return;
  }
  for (std::size_t i = 0; i < copied.size(); ++i) {
    const std::size_t bytes = size_bytes(branch.outputs()[i].type, branch.outputs()[i].shape);
    if (copied[i] && bytes > 0 && buffers.outputs[i] != nullptr)
      std::memcpy(buffers.outputs[i], branch.output_data(i, buffers.scratch), bytes);
  }
}

Result<PlannedNode> plan_chosen(const NodeContext& context, bool condition) {
  context.ignore_attribute(condition ? "else_branch" : "then_branch");
  TOCSIN_ASSIGN_OR_RETURN(const Branch branch,
                          plan_branch(context, condition ? "then_branch" : "else_branch"));
  PlannedNode planned;
  std::vector<bool> copied;
  for (const PlannedOutput& output : branch->outputs()) {
    planned.outputs.push_back(output);
    copied.push_back(!output.constant);
  }
  planned.scratch_bytes = branch->arena_bytes();
  planned.kernel = [branch, copied](const Buffers& buffers) {
    run_branch(*branch, copied, buffers);
  };
  return planned;
}

Result<PlannedNode> plan_both(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const Branch then_branch, plan_branch(context, "then_branch"));
  TOCSIN_ASSIGN_OR_RETURN(const Branch else_branch, plan_branch(context, "else_branch"));
  PlannedNode planned;
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    const PlannedOutput& a = then_branch->outputs()[i];
    const PlannedOutput& b = else_branch->outputs()[i];
    if (a.type != b.type) return invalid("its branches give different types");
    if (a.shape != b.shape)
      return unsupported("its branches give shapes " + shape_text(a.shape) + " and " +
                         shape_text(b.shape) + ", and which one depends on input values");
    planned.outputs.push_back({a.type, a.shape, {}, {}});
  }
  planned.scratch_bytes = std::max(then_branch->arena_bytes(), else_branch->arena_bytes());
  const std::vector<bool> copied(context.output_count(), true);
  planned.kernel = [then_branch, else_branch, copied](const Buffers& buffers) {
    run_branch(*buffers.input<bool>(0) ? *then_branch : *else_branch, copied, buffers);
  };
  return planned;
}

}  // namespace

Result<PlannedNode> plan_if(const NodeContext& context) {
  const Operand& condition = context.input(0);
  if (condition.type != DataType::kBool || condition.element_count() != 1)
    return invalid("its condition must be one bool");
  return condition.constant != nullptr ? plan_chosen(context, condition.values<bool>()[0])
                                       : plan_both(context);
}

}  // namespace tocsin
