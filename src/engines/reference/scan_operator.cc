// Scan (opset 9 on): the body is planned once and run for each slice of the scan inputs, so the
// number of steps is a dimension and always known.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/reference/place_walk.h"
#include "engines/reference/plan_functions.h"
#include "engines/reference/prepared_graph.h"
#include "engines/reference/subgraph_plan.h"

namespace tocsin {
namespace {

// A tensor that is read or written slice by slice along an axis, seen as [outer, steps, inner].
struct ScannedAxis {
  std::size_t axis = 0;
  bool is_backward = false;
  std::size_t outer = 1, inner_bytes = 0;
  std::size_t scratch_offset = 0;  // of a slice that has to be put together

  bool is_contiguous() const noexcept { return outer == 1; }
};

struct ScanShape {
  const Graph* body = nullptr;
  std::size_t state_count = 0, scan_input_count = 0, scan_output_count = 0;
  std::int64_t steps = 0;
  std::vector<ScannedAxis> inputs, outputs;
};

// An attribute of one value for each scanned tensor, or none at all.
Result<std::vector<std::int64_t>> list_for_each(const NodeContext& context, const std::string& name,
                                                std::size_t count) {
  std::vector<std::int64_t> values = context.ints_attribute(name);
  if (values.empty()) values.assign(count, 0);
  if (values.size() != count)
    return invalid(name + " has " + std::to_string(values.size()) + " values for " +
                   std::to_string(count) + " tensors");
  return values;
}

Result<ScanShape> scan_shape(const NodeContext& context) {
  ScanShape shape;
  shape.body = context.graph_attribute("body");
  if (shape.body == nullptr) return invalid("it has no body");
  const std::int64_t scanned = context.int_attribute("num_scan_inputs", 0);
  const auto input_count = static_cast<std::int64_t>(context.input_count());
  if (scanned < 1 || scanned > input_count)
    return invalid("num_scan_inputs does not fit its inputs");
  shape.scan_input_count = static_cast<std::size_t>(scanned);
  shape.state_count = context.input_count() - shape.scan_input_count;
  for (std::size_t i = 0; i < context.input_count(); ++i)
    if (!context.has_input(i)) return invalid("its input " + std::to_string(i) + " is missing");
  if (shape.body->signature.inputs.size() != context.input_count())
    return invalid("its body has " + std::to_string(shape.body->signature.inputs.size()) +
                   " inputs, expected " + std::to_string(context.input_count()));
  if (shape.body->outputs.size() < shape.state_count ||
      context.output_count() > shape.body->outputs.size())
    return invalid("the outputs of its body do not fit its states and outputs");
  shape.scan_output_count = shape.body->outputs.size() - shape.state_count;
  return shape;
}

Status read_scan_inputs(const NodeContext& context, ScanShape& shape) {
  const std::size_t count = shape.scan_input_count;
  TOCSIN_ASSIGN_OR_RETURN(const auto axes, list_for_each(context, "scan_input_axes", count));
  TOCSIN_ASSIGN_OR_RETURN(const auto directions,
                          list_for_each(context, "scan_input_directions", count));
  for (std::size_t i = 0; i < count; ++i) {
    const Operand& x = context.input(shape.state_count + i);
    ScannedAxis scanned;
    TOCSIN_ASSIGN_OR_RETURN(scanned.axis, NodeContext::axis_of(axes[i], x.rank()));
    scanned.is_backward = directions[i] != 0;
    scanned.outer = element_count_of(x.shape, 0, scanned.axis);
    scanned.inner_bytes =
        element_count_of(x.shape, scanned.axis + 1, x.rank()) * data_type_size_bytes(x.type);
    if (i > 0 && x.shape[scanned.axis] != shape.steps)
      return invalid("its scan inputs have " + std::to_string(shape.steps) + " and " +
                     std::to_string(x.shape[scanned.axis]) + " slices");
    shape.steps = x.shape[scanned.axis];
    shape.inputs.push_back(scanned);
  }
  if (shape.steps > context.prepared().limits().loop_steps_max)
    return Error(ErrorCode::kResourceExhausted,
                 "it takes " + std::to_string(shape.steps) +
                     " steps, which is over the limit (loop_steps_max)");
  return {};
}

// The body's inputs: the states as they start, and one slice of each scan input.
std::vector<FormalInput> body_inputs(const NodeContext& context, const ScanShape& shape) {
  std::vector<FormalInput> formals;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    Shape formal = context.input(i).shape;
    if (i >= shape.state_count)
      formal.erase(formal.begin() +
                   static_cast<std::ptrdiff_t>(shape.inputs[i - shape.state_count].axis));
    formals.push_back({{context.input(i).type, std::move(formal), {}}, false});
  }
  return formals;
}

class ScanKernel {
 public:
  ScanKernel(std::shared_ptr<SubgraphPlan> body, ScanShape shape, const NodeContext& context)
      : body_(std::move(body)),
        shape_(std::move(shape)),
        budget_(context.prepared()),
        states_(body_->scratch_begin()) {
    for (std::size_t i = 0; i < shape_.state_count; ++i)
      states_.add(context.input(i).type, context.input(i).shape, false);
    scratch_bytes_ = states_.scratch_end();
    for (ScannedAxis& input : shape_.inputs) {
      if (input.is_contiguous()) continue;
      input.scratch_offset = scratch_bytes_;
      scratch_bytes_ += aligned_bytes(DataType::kBool,
                                      {static_cast<std::int64_t>(input.outer * input.inner_bytes)});
    }
  }

  std::size_t scratch_bytes() const noexcept { return scratch_bytes_; }

  void operator()(const Buffers& buffers) {
    body_->bind(buffers);
    for (std::size_t i = 0; i < shape_.state_count; ++i) states_.start(i, buffers.inputs[i]);
    for (std::int64_t step = 0; step < shape_.steps; ++step) {
      for (std::size_t i = 0; i < shape_.state_count; ++i) body_->set_formal(i, states_.current(i));
      for (std::size_t i = 0; i < shape_.inputs.size(); ++i)
        body_->set_formal(shape_.state_count + i, slice_of(buffers, i, step));
      if (const char* failure = body_->run(buffers.scratch); failure != nullptr) {
        *buffers.failure = failure;
        return;
      }
      for (std::size_t i = 0; i < shape_.outputs.size(); ++i) write_slice(buffers, i, step);
      states_.advance(*body_, 0, step, buffers.scratch);
    }
    states_.write(buffers);
  }

 private:
  std::size_t place_of(const ScannedAxis& scanned, std::int64_t step) const noexcept {
    return static_cast<std::size_t>(scanned.is_backward ? shape_.steps - 1 - step : step);
  }

  const void* slice_of(const Buffers& buffers, std::size_t index,
                       std::int64_t step) const noexcept {
    const ScannedAxis& scanned = shape_.inputs[index];
    const std::byte* x = buffers.input<std::byte>(shape_.state_count + index) +
                         place_of(scanned, step) * scanned.inner_bytes;
    if (scanned.is_contiguous()) return x;
    std::byte* slice = buffers.scratch + scanned.scratch_offset;
    const std::size_t stride = static_cast<std::size_t>(shape_.steps) * scanned.inner_bytes;
    for (std::size_t o = 0; o < scanned.outer && scanned.inner_bytes > 0; ++o)
      std::memcpy(slice + o * scanned.inner_bytes, x + o * stride, scanned.inner_bytes);
    return slice;
  }

  void write_slice(const Buffers& buffers, std::size_t index, std::int64_t step) const noexcept {
    const std::size_t output = shape_.state_count + index;
    const ScannedAxis& scanned = shape_.outputs[index];
    if (output >= buffers.outputs.size() || buffers.outputs[output] == nullptr) return;
    const auto* slice = static_cast<const std::byte*>(body_->output_data(output, buffers.scratch));
    std::byte* y =
        buffers.output<std::byte>(output) + place_of(scanned, step) * scanned.inner_bytes;
    const std::size_t stride = static_cast<std::size_t>(shape_.steps) * scanned.inner_bytes;
    for (std::size_t o = 0; o < scanned.outer && scanned.inner_bytes > 0; ++o)
      std::memcpy(y + o * stride, slice + o * scanned.inner_bytes, scanned.inner_bytes);
  }

  std::shared_ptr<SubgraphPlan> body_;
  ScanShape shape_;
  StepBudget budget_;
  CarriedValues states_;
  std::size_t scratch_bytes_ = 0;
};

// Fills in shape.outputs; returns what the node's outputs are.
Result<std::vector<PlannedOutput>> plan_outputs(const NodeContext& context,
                                                const SubgraphPlan& body, ScanShape& shape) {
  const std::size_t count = shape.scan_output_count;
  TOCSIN_ASSIGN_OR_RETURN(const auto axes, list_for_each(context, "scan_output_axes", count));
  TOCSIN_ASSIGN_OR_RETURN(const auto directions,
                          list_for_each(context, "scan_output_directions", count));
  std::vector<PlannedOutput> outputs;
  for (std::size_t i = 0; i < body.outputs().size(); ++i) {
    const PlannedOutput& made = body.outputs()[i];
    outputs.push_back({made.type, made.shape, {}, {}});
    if (i < shape.state_count) {
      if (made.type != context.input(i).type || made.shape != context.input(i).shape)
        return unsupported("state " + std::to_string(i) + " changes its type or its shape from " +
                           shape_text(context.input(i).shape) + " to " + shape_text(made.shape));
      continue;
    }
    ScannedAxis scanned;
    TOCSIN_ASSIGN_OR_RETURN(
        scanned.axis, NodeContext::axis_of(axes[i - shape.state_count], made.shape.size() + 1));
    scanned.is_backward = directions[i - shape.state_count] != 0;
    scanned.outer = element_count_of(made.shape, 0, scanned.axis);
    scanned.inner_bytes = element_count_of(made.shape, scanned.axis, made.shape.size()) *
                          data_type_size_bytes(made.type);
    Shape& full = outputs.back().shape;
    full.insert(full.begin() + static_cast<std::ptrdiff_t>(scanned.axis), shape.steps);
    shape.outputs.push_back(scanned);
  }
  outputs.resize(context.output_count());
  return outputs;
}

}  // namespace

Result<PlannedNode> plan_scan(const NodeContext& context) {
  if (context.opset() < 9) return unsupported("the form of opset 8 is not supported");
  TOCSIN_ASSIGN_OR_RETURN(ScanShape shape, scan_shape(context));
  TOCSIN_RETURN_IF_ERROR(read_scan_inputs(context, shape));
  TOCSIN_ASSIGN_OR_RETURN(const auto body,
                          SubgraphPlan::build(context, *shape.body, body_inputs(context, shape)));
  PlannedNode planned;
  TOCSIN_ASSIGN_OR_RETURN(planned.outputs, plan_outputs(context, *body, shape));
  auto kernel = std::make_shared<ScanKernel>(body, std::move(shape), context);
  planned.scratch_bytes = kernel->scratch_bytes();
  planned.kernel = [kernel](const Buffers& buffers) { (*kernel)(buffers); };
  return planned;
}

}  // namespace tocsin
