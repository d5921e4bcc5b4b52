// Loop: the body is planned once for the shapes of its carried values, which must stay as they are,
// and run step by step. Scan outputs need a number of steps that is known when the node is planned.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engines/reference/plan_functions.h"
#include "engines/reference/subgraph_plan.h"

namespace tocsin {
namespace {

constexpr std::size_t kFormalsBeforeCarried = 2;  // the step's number, the condition
constexpr std::int64_t kTrialStepsMax = 4'096;
constexpr std::size_t kTrialElementsMax = 8;  // carried values that may count steps are small

struct LoopShape {
  const Graph* body = nullptr;
  std::size_t carried_count = 0;
  std::size_t scan_count = 0;
  std::vector<bool> stands_still;  // carried values that the body hands on unchanged

  std::size_t output_of_body(std::size_t carried) const noexcept { return carried + 1; }
};

// The value behind any number of Identity nodes.
ValueIndex source_of(const Graph& graph, ValueIndex value) {
  for (std::size_t i = graph.nodes.size(); i > 0; --i) {
    const GraphNode& node = graph.nodes[i - 1];
    if (node.op_type == "Identity" && node.domain.empty() && node.outputs.size() == 1 &&
        node.inputs.size() == 1 && node.outputs[0] == value)
      value = node.inputs[0];
  }
  return value;
}

Result<LoopShape> loop_shape(const NodeContext& context) {
  LoopShape shape;
  shape.body = context.graph_attribute("body");
  if (shape.body == nullptr) return invalid("it has no body");
  shape.carried_count = context.input_count() - std::min<std::size_t>(context.input_count(), 2);
  const std::size_t formals = shape.body->signature.inputs.size();
  if (formals != kFormalsBeforeCarried + shape.carried_count)
    return invalid("its body has " + std::to_string(formals) + " inputs, expected " +
                   std::to_string(kFormalsBeforeCarried + shape.carried_count));
  if (shape.body->outputs.size() < 1 + shape.carried_count)
    return invalid("its body has " + std::to_string(shape.body->outputs.size()) +
                   " outputs, expected " + std::to_string(1 + shape.carried_count) + " or more");
  shape.scan_count = shape.body->outputs.size() - 1 - shape.carried_count;
  if (context.output_count() > shape.carried_count + shape.scan_count)
    return invalid("it has more outputs than its body");
  for (std::size_t i = 0; i < shape.carried_count; ++i) {
    if (!context.has_input(kFormalsBeforeCarried + i))
      return invalid("carried value " + std::to_string(i) + " has no start");
    shape.stands_still.push_back(
        source_of(*shape.body, shape.body->outputs[shape.output_of_body(i)]) ==
        shape.body->inputs[kFormalsBeforeCarried + i]);
  }
  return shape;
}

Status check_control(const NodeContext& context) {
  if (context.has_input(0) &&
      (context.input(0).type != DataType::kInt64 || context.input(0).element_count() != 1))
    return invalid("its trip count must be one int64");
  if (context.has_input(1) &&
      (context.input(1).type != DataType::kBool || context.input(1).element_count() != 1))
    return invalid("its condition must be one bool");
  return {};
}

// The body's own inputs: the step, the condition, and the carried values as they start.
std::vector<FormalInput> body_inputs(const NodeContext& context, const LoopShape& shape) {
  std::vector<FormalInput> formals;
  for (std::size_t i = 0; i < kFormalsBeforeCarried; ++i) {
    // A scalar, unless the body asks for one value in a vector.
    const bool is_vector = shape.body->signature.inputs[i].shape.size() == 1;
    formals.push_back(
        {{i == 0 ? DataType::kInt64 : DataType::kBool, is_vector ? Shape{1} : Shape{}, {}}, false});
  }
  for (std::size_t i = 0; i < shape.carried_count; ++i) {
    const std::size_t index = kFormalsBeforeCarried + i;
    const Operand& start = context.input(index);
    FormalInput formal{{start.type, start.shape, {}}, false};
    if (shape.stands_still[i] && start.constant != nullptr) {
      formal.planned.constant = context.constant(index);
      formal.is_weight = start.is_weight;
    }
    formals.push_back(std::move(formal));
  }
  return formals;
}

// The number of steps, if it follows from the trip count, or from a condition that counts: the body
// is then planned step by step, with the small values known so far as constants.
Result<std::optional<std::int64_t>> known_step_count(const NodeContext& context,
                                                     const LoopShape& shape) {
  std::int64_t trip_count = std::numeric_limits<std::int64_t>::max();
  const bool has_trip_count = context.has_input(0);
  if (has_trip_count) {
    if (context.input(0).constant == nullptr) return std::optional<std::int64_t>();
    trip_count = std::max<std::int64_t>(context.input(0).values<std::int64_t>()[0], 0);
  }
  if (!context.has_input(1)) return std::optional<std::int64_t>(trip_count);
  if (context.input(1).constant == nullptr) return std::optional<std::int64_t>();
  if (!context.input(1).values<bool>()[0]) return std::optional<std::int64_t>(0);
  if (source_of(*shape.body, shape.body->outputs[0]) == shape.body->inputs[1])
    return std::optional<std::int64_t>(trip_count);
  std::vector<FormalInput> formals = body_inputs(context, shape);
  for (std::size_t i = 0; i < shape.carried_count; ++i) {
    const std::size_t index = kFormalsBeforeCarried + i;
    if (context.input(index).element_count() <= kTrialElementsMax)
      formals[index].planned.constant = context.constant(index);
  }
  Tensor condition(DataType::kBool, formals[1].planned.shape);
  condition.mutable_values<bool>()[0] = true;
  formals[1].planned.constant = condition;
  const std::int64_t steps_max =
      std::min(kTrialStepsMax, context.prepared().limits().loop_steps_max);
  for (std::int64_t step = 0; step < std::min(trip_count, steps_max); ++step) {
    Tensor number(DataType::kInt64, formals[0].planned.shape);
    number.mutable_values<std::int64_t>()[0] = step;
    formals[0].planned.constant = number;
    TOCSIN_ASSIGN_OR_RETURN(const auto trial, SubgraphPlan::build(context, *shape.body, formals));
    const std::optional<Tensor>& goes_on = trial->outputs()[0].constant;
    if (!goes_on || goes_on->type() != DataType::kBool || goes_on->element_count() != 1)
      return std::optional<std::int64_t>();
    if (!goes_on->values<bool>()[0]) return std::optional<std::int64_t>(step + 1);
    for (std::size_t i = 0; i < shape.carried_count; ++i) {
      if (shape.stands_still[i]) continue;
      std::optional<Tensor>& known = formals[kFormalsBeforeCarried + i].planned.constant;
      const std::optional<Tensor>& next = trial->outputs()[shape.output_of_body(i)].constant;
      known = next && next->element_count() <= kTrialElementsMax ? next : std::nullopt;
    }
  }
  return trip_count <= steps_max ? std::optional<std::int64_t>(trip_count) : std::nullopt;
}

class LoopKernel {
 public:
  LoopKernel(std::shared_ptr<SubgraphPlan> body, const LoopShape& shape, const NodeContext& context,
             std::optional<std::int64_t> scan_steps)
      : body_(std::move(body)),
        scan_steps_(scan_steps),
        budget_(context.prepared()),
        has_trip_count_(context.has_input(0)),
        has_condition_(context.has_input(1)),
        carried_(body_->scratch_begin()) {
    for (std::size_t i = 0; i < shape.carried_count; ++i) {
      const Operand& start = context.input(kFormalsBeforeCarried + i);
      carried_.add(start.type, start.shape, shape.stands_still[i]);
    }
    for (std::size_t i = 0; i < shape.scan_count; ++i) {
      const PlannedOutput& output = body_->outputs()[1 + shape.carried_count + i];
      scan_bytes_.push_back(size_bytes(output.type, output.shape));
    }
  }

  std::size_t scratch_bytes() const noexcept { return carried_.scratch_end(); }

  void operator()(const Buffers& buffers) {
    const std::int64_t trip_count = has_trip_count_ ? *buffers.input<std::int64_t>(0)
                                                    : std::numeric_limits<std::int64_t>::max();
    bool goes_on = !has_condition_ || *buffers.input<bool>(1);
    body_->bind(buffers);
    for (std::size_t i = 0; i < carried_.count(); ++i)
      carried_.start(i, buffers.inputs[kFormalsBeforeCarried + i]);
    std::int64_t step = 0;
    for (; goes_on && step < trip_count; ++step) {
      if (const char* failure = run_step(buffers, step, goes_on); failure != nullptr) {
        *buffers.failure = failure;
        return;
      }
    }
    if (scan_steps_ && step != *scan_steps_)
      *buffers.failure = "the loop ended before the step that its outputs are sized for";
    carried_.write(buffers);
  }

 private:
  const char* run_step(const Buffers& buffers, std::int64_t step, bool& goes_on) {
    if (const char* failure = budget_.take(); failure != nullptr) return failure;
    if (scan_steps_ && step >= *scan_steps_) return "the loop takes more steps than were planned";
    step_number_ = step;
    condition_ = true;
    body_->set_formal(0, &step_number_);
    body_->set_formal(1, &condition_);
    for (std::size_t i = 0; i < carried_.count(); ++i)
      body_->set_formal(kFormalsBeforeCarried + i, carried_.current(i));
    if (const char* failure = body_->run(buffers.scratch); failure != nullptr) return failure;
    // Without a condition to start with, what the body makes of it is ignored.
    if (has_condition_) goes_on = *static_cast<const bool*>(body_->output_data(0, buffers.scratch));
    for (std::size_t i = 0; i < scan_bytes_.size(); ++i) {
      const std::size_t output = carried_.count() + i;
      if (output >= buffers.outputs.size() || buffers.outputs[output] == nullptr) continue;
      if (scan_bytes_[i] == 0) continue;
      std::memcpy(
          buffers.output<std::byte>(output) + static_cast<std::size_t>(step) * scan_bytes_[i],
          body_->output_data(1 + output, buffers.scratch), scan_bytes_[i]);
    }
    carried_.advance(*body_, 1, step, buffers.scratch);
    return nullptr;
  }

  std::shared_ptr<SubgraphPlan> body_;
  std::optional<std::int64_t> scan_steps_;
  StepBudget budget_;
  bool has_trip_count_, has_condition_;
  CarriedValues carried_;
  std::vector<std::size_t> scan_bytes_;
  std::int64_t step_number_ = 0;
  bool condition_ = true;
};

// A trip count that nothing but the limit can end.
Status check_trip_count(const NodeContext& context, const LoopShape& shape) {
  if (!context.has_input(0) || context.input(0).constant == nullptr) return {};
  const bool may_end = context.has_input(1) &&
                       source_of(*shape.body, shape.body->outputs[0]) != shape.body->inputs[1];
  const std::int64_t trip_count = context.input(0).values<std::int64_t>()[0];
  if (may_end || trip_count <= context.prepared().limits().loop_steps_max) return {};
  return Error(ErrorCode::kResourceExhausted, "its trip count " + std::to_string(trip_count) +
                                                  " is over the limit (loop_steps_max)");
}

Status check_body(const NodeContext& context, const LoopShape& shape, const SubgraphPlan& body) {
  const PlannedOutput& condition = body.outputs()[0];
  if (condition.type != DataType::kBool || checked_element_count(condition.shape) != 1)
    return invalid("the condition of its body must be one bool");
  for (std::size_t i = 0; i < shape.carried_count; ++i) {
    const Operand& start = context.input(kFormalsBeforeCarried + i);
    const PlannedOutput& next = body.outputs()[shape.output_of_body(i)];
    if (next.type != start.type) return invalid("a carried value changes its type");
    if (next.shape != start.shape)
      return unsupported("carried value " + std::to_string(i) + " changes its shape from " +
                         shape_text(start.shape) + " to " + shape_text(next.shape));
  }
  return {};
}

}  // namespace

Result<PlannedNode> plan_loop(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(check_control(context));
  TOCSIN_ASSIGN_OR_RETURN(const LoopShape shape, loop_shape(context));
  TOCSIN_RETURN_IF_ERROR(check_trip_count(context, shape));
  TOCSIN_ASSIGN_OR_RETURN(const auto body,
                          SubgraphPlan::build(context, *shape.body, body_inputs(context, shape)));
  TOCSIN_RETURN_IF_ERROR(check_body(context, shape, *body));
  std::optional<std::int64_t> scan_steps;
  if (context.output_count() > shape.carried_count) {
    TOCSIN_ASSIGN_OR_RETURN(scan_steps, known_step_count(context, shape));
    if (!scan_steps)
      return unsupported(
          "the number of its steps, and so the size of its outputs, depends on "
          "input values");
  }
  PlannedNode planned;
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    const PlannedOutput& output = body->outputs()[i + 1];
    planned.outputs.push_back({output.type, output.shape, {}, {}});
    if (i >= shape.carried_count)
      planned.outputs.back().shape.insert(planned.outputs.back().shape.begin(), *scan_steps);
  }
  auto kernel = std::make_shared<LoopKernel>(body, shape, context, scan_steps);
  planned.scratch_bytes = kernel->scratch_bytes();
  planned.kernel = [kernel](const Buffers& buffers) { (*kernel)(buffers); };
  return planned;
}

}  // namespace tocsin
