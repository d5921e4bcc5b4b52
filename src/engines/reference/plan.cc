// Building of plans: shapes are inferred and constants folded node by node, then memory is laid
// out.
#include "engines/reference/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tocsin {
namespace {

std::size_t aligned(std::size_t size_bytes) {
  return (size_bytes + kTensorAlignmentBytes - 1) / kTensorAlignmentBytes * kTensorAlignmentBytes;
}

// A piece of the arena, in use from the step that writes it to the last one that reads it.
struct ArenaBuffer {
  std::size_t size_bytes = 0;
  std::size_t first_step = 0;
  std::size_t last_step = 0;
  std::size_t offset = 0;

  bool overlaps_in_time(const ArenaBuffer& other) const noexcept {
    return first_step <= other.last_step && other.first_step <= last_step;
  }
};

// Gives each buffer the lowest offset that is free for as long as it is in use; returns the end.
std::size_t place_buffers(std::vector<ArenaBuffer>& buffers) {
  std::size_t end = 0;
  std::vector<const ArenaBuffer*> placed;  // by offset
  for (ArenaBuffer& buffer : buffers) {
    std::size_t offset = 0;
    for (const ArenaBuffer* other : placed) {
      if (!buffer.overlaps_in_time(*other)) continue;
      if (other->offset >= offset + buffer.size_bytes) break;
      offset = std::max(offset, other->offset + other->size_bytes);
    }
    buffer.offset = offset;
    end = std::max(end, offset + buffer.size_bytes);
    const auto after = std::upper_bound(
        placed.begin(), placed.end(), &buffer,
        [](const ArenaBuffer* a, const ArenaBuffer* b) { return a->offset < b->offset; });
    placed.insert(after, &buffer);
  }
  return end;
}

std::vector<PlanInput> signature_inputs(const Graph& graph, const std::vector<Shape>& shapes) {
  std::vector<PlanInput> inputs;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    inputs.push_back({graph.signature.inputs[i].type, shapes[i]});
  return inputs;
}

}  // namespace

class PlanBuilder {
 public:
  static constexpr std::size_t kJoinedStepsMax = 16;

  PlanBuilder(PreparedGraph& prepared, const ReferenceLimits& limits)
      : prepared_(prepared),
        limits_(limits),
        bytes_left_(limits.memory_bytes_max),
        values_(prepared.graph().value_names.size()) {}

  // All shapes are inferred and nothing is run.
  void mark_all() {
    needed_.assign(prepared_.graph().nodes.size(), false);
    leads_there_.assign(prepared_.graph().nodes.size(), true);
  }

  // The nodes that the part's outputs depend on: to be run, up to its inputs, and to be planned.
  void mark_needed(const GraphPart& part) {
    needed_ = nodes_before(prepared_.graph(), part.outputs, part.inputs);
    leads_there_ = nodes_before(prepared_.graph(), part.outputs, {});
  }

  Result<Plan> build(const std::vector<PlanInput>& inputs, const GraphPart& part) {
    const Graph& graph = prepared_.graph();
    prepared_.begin_planning();
    if (!prepared_.is_subgraph()) {
      plan_.work_left_ = prepared_.work_left();
      plan_.loop_steps_max_ = limits_.loop_steps_max;
      plan_.work_left_->loop_steps = plan_.loop_steps_max_;
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const std::optional<Tensor>& constant = prepared_.constants()[i];
      if (constant) set_constant(i, *constant, true);
    }
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      plan_.input_shapes_.push_back(inputs[i].shape);
      Value& value = values_[static_cast<std::size_t>(graph.inputs[i])];
      if (value.constant) continue;
      if (inputs[i].constant) {
        keep_constant(graph.inputs[i], *inputs[i].constant);
        continue;
      }
      value.type = inputs[i].type;
      value.shape = inputs[i].shape;
    }
    for (std::size_t i = 0; i < part.inputs.size(); ++i) {
      Value& value = values_[static_cast<std::size_t>(part.inputs[i])];
      if (!value.constant) value.place = {Plan::Place::Kind::kInput, i, nullptr};
    }
    for (const std::size_t node : prepared_.nodes())
      if (leads_there_[node]) TOCSIN_RETURN_IF_ERROR(add_node(node));
    for (const ValueIndex output : part.outputs)
      add_output(values_[static_cast<std::size_t>(output)]);
    join_steps();
    TOCSIN_RETURN_IF_ERROR(lay_out());
    return std::move(plan_);
  }

  std::vector<ValueFacts> facts() const {
    std::vector<ValueFacts> facts;
    facts.reserve(values_.size());
    for (const Value& value : values_) facts.push_back({value.type, value.shape, value.constant});
    return facts;
  }

 private:
  struct Value {
    DataType type = DataType::kFloat32;
    Shape shape;
    std::optional<Tensor> constant;
    bool is_weight = false;
    Plan::Place place;  // of kind kArena: position is an index into buffers_ until lay_out()
  };

  void set_constant(std::size_t index, const Tensor& tensor, bool is_weight) {
    values_[index] = {tensor.type(),
                      tensor.shape(),
                      tensor,
                      is_weight,
                      {Plan::Place::Kind::kConstant, 0, tensor.data()}};
  }

  NodeInputs gather_inputs(const GraphNode& node) const {
    NodeInputs inputs;
    for (std::size_t i = 0; i < node.inputs.size() + node.captured.size(); ++i) {
      const ValueIndex index = operand_value(node, i);
      if (index == kNoValue) {
        inputs.operands.emplace_back();
        inputs.constants.emplace_back();
        continue;
      }
      const Value& value = values_[static_cast<std::size_t>(index)];
      inputs.operands.push_back({true, value.type, value.shape,
                                 value.constant ? value.constant->data() : nullptr,
                                 value.is_weight});
      inputs.constants.push_back(value.constant);
    }
    return inputs;
  }

  static ValueIndex operand_value(const GraphNode& node, std::size_t index) {
    return index < node.inputs.size() ? node.inputs[index]
                                      : node.captured[index - node.inputs.size()];
  }

  Status add_node(std::size_t node_index) {
    const Graph& graph = prepared_.graph();
    const GraphNode& node = graph.nodes[node_index];
    const NodeInputs inputs = gather_inputs(node);
    TOCSIN_ASSIGN_OR_RETURN(PlannedNode planned, plan_node(prepared_, node_index, inputs));
    if (inputs.all_constant()) {
      Result<std::vector<Tensor>> folded = fold_node(planned, inputs, bytes_left_);
      if (!folded.ok()) return node_error(graph, node_index, folded.error());
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNoValue) keep_constant(node.outputs[i], (*folded)[i]);
      return {};
    }
    if (!needed_[node_index]) {
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNoValue) note_shape(node.outputs[i], planned.outputs[i]);
      return {};
    }
    Plan::Step step;
    step.node_index = node_index;
    step.kernel = std::move(planned.kernel);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      Plan::Place place;
      if (node.outputs[i] != kNoValue) place = add_value(node, node.outputs[i], planned.outputs[i]);
      step.outputs.push_back(place);
    }
    if (!step.kernel) return {};
    for (std::size_t i = 0; i < inputs.operands.size(); ++i)
      step.inputs.push_back(use(operand_value(node, i)));
    step.input_pointers.resize(step.inputs.size());
    step.output_pointers.resize(step.outputs.size());
    plan_.steps_.push_back(std::move(step));
    if (plan_.steps_.back().outputs[0].kind != Plan::Place::Kind::kArena) {
      planned.pointwise.reset();  // nobody reads what it computes
      planned.epilogue.reset();
    }
    programs_.push_back(std::move(planned.pointwise));
    epilogues_.push_back(std::move(planned.epilogue));
    scratch_bytes_ = std::max(scratch_bytes_, planned.scratch_bytes);
    return {};
  }

  void keep_constant(ValueIndex index, const Tensor& tensor) {
    plan_.constants_.push_back(tensor);
    set_constant(static_cast<std::size_t>(index), tensor, false);
  }

  // Of a value that this plan does not compute: shapes are inferred through it.
  void note_shape(ValueIndex index, const PlannedOutput& output) {
    if (output.constant) return keep_constant(index, *output.constant);
    Value& value = values_[static_cast<std::size_t>(index)];
    value.type = output.type;
    value.shape = output.shape;
  }

  // The output's place; the step that writes it is the next one.
  Plan::Place add_value(const GraphNode& node, ValueIndex index, const PlannedOutput& output) {
    if (output.constant) {
      keep_constant(index, *output.constant);
      return {};
    }
    Value& value = values_[static_cast<std::size_t>(index)];
    value.type = output.type;
    value.shape = output.shape;
    if (output.alias_of_input) {
      const ValueIndex source = operand_value(node, *output.alias_of_input);
      value.place = values_[static_cast<std::size_t>(source)].place;
      return {};
    }
    const std::size_t step = plan_.steps_.size();
    const std::size_t size_bytes =
        *checked_element_count(output.shape) * data_type_size_bytes(output.type);
    value.place = {Plan::Place::Kind::kArena, buffers_.size(), nullptr};
    buffers_.push_back({aligned(size_bytes), step, step, 0});
    return value.place;
  }

  Plan::Place use(ValueIndex index) {
    if (index == kNoValue) return {};
    const Plan::Place place = values_[static_cast<std::size_t>(index)].place;
    if (place.kind == Plan::Place::Kind::kArena)
      buffers_[place.position].last_step = plan_.steps_.size();
    return place;
  }

  void add_output(const Value& value) {
    plan_.outputs_.push_back({value.type, value.shape, {}, value.constant});
    plan_.output_places_.push_back(value.place);
    if (value.place.kind == Plan::Place::Kind::kArena)
      buffers_[value.place.position].last_step = plan_.steps_.size();
  }

  // Steps that become one.
  struct Join {
    std::size_t end = 0;  // one past the last step
    Kernel kernel;
    std::vector<Plan::Place> inputs;
  };

  static bool same_place(const Plan::Place& a, const Plan::Place& b) noexcept {
    return a.kind == b.kind && a.position == b.position && a.data == b.data;
  }

  static std::size_t value_number(const Plan::Place& place, std::vector<Plan::Place>& places) {
    const auto found = std::ranges::find_if(
        places, [&place](const Plan::Place& known) { return same_place(known, place); });
    if (found != places.end()) return static_cast<std::size_t>(found - places.begin());
    places.push_back(place);
    return places.size() - 1;
  }

  bool is_used_after(std::size_t step, std::size_t last) const {
    return buffers_[plan_.steps_[step].outputs[0].position].last_step > last;
  }

  // The program as a step's kernel: alone, or at the end of the step that `epilogue` belongs to.
  static std::optional<Kernel> kernel_of(PointwiseKernel program,
                                         const std::optional<EpilogueSupport>& epilogue) {
    if (epilogue) {
      if (!program.fit_rows(epilogue->rows, epilogue->width)) return {};
      return epilogue->bind(program);
    }
    return [program = std::move(program)](const Buffers& buffers) {
      program.run(buffers.inputs, buffers.output<float>(0));
    };
  }

  // The longest row of steps from `first` on that can become one: element-wise ones, after a first
  // one that may be of another kind. All but the last one's outputs are used within it.
  std::optional<Join> longest_join(std::size_t first) const {
    std::optional<Join> longest;
    std::vector<PointwiseNode> nodes;
    std::vector<Plan::Place> places;
    const std::optional<EpilogueSupport>& epilogue = epilogues_[first];
    const std::size_t end = std::min(plan_.steps_.size(), first + kJoinedStepsMax);
    for (std::size_t i = epilogue ? first + 1 : first; i < end && programs_[i]; ++i) {
      PointwiseNode node{&*programs_[i], {}, value_number(plan_.steps_[i].outputs[0], places)};
      for (const Plan::Place& place : plan_.steps_[i].inputs)
        node.inputs.push_back(value_number(place, places));
      nodes.push_back(std::move(node));
      bool is_closed = i > first;
      for (std::size_t before = first; before < i; ++before)
        is_closed = is_closed && !is_used_after(before, i);
      if (!is_closed) continue;
      std::optional<JoinedProgram> program = join_pointwise(nodes);
      if (!program) continue;
      std::optional<Kernel> kernel = kernel_of(std::move(program->kernel), epilogue);
      if (!kernel) continue;
      Join join{i + 1, std::move(*kernel), {}};
      if (epilogue) join.inputs = plan_.steps_[first].inputs;
      for (const std::size_t input : program->inputs) join.inputs.push_back(places[input]);
      // What the first step makes is found where the last one's output is.
      if (epilogue)
        for (Plan::Place& place : join.inputs)
          if (same_place(place, plan_.steps_[first].outputs[0])) place = plan_.steps_[i].outputs[0];
      longest = std::move(join);
    }
    return longest;
  }

  void join_steps() {
    std::vector<Plan::Step> steps;
    std::vector<std::size_t> new_index(plan_.steps_.size() + 1);
    for (std::size_t i = 0; i < plan_.steps_.size();) {
      std::optional<Join> join = longest_join(i);
      const std::size_t end = join ? join->end : i + 1;
      for (std::size_t old = i; old < end; ++old) new_index[old] = steps.size();
      Plan::Step& last = plan_.steps_[end - 1];
      if (join) {
        for (std::size_t inner = i; inner + 1 < end; ++inner)
          buffers_[plan_.steps_[inner].outputs[0].position].size_bytes = 0;
        last.inputs = std::move(join->inputs);
        last.input_pointers.resize(last.inputs.size());
        last.kernel = std::move(join->kernel);
      }
      steps.push_back(std::move(last));
      i = end;
    }
    new_index.back() = steps.size();
    for (ArenaBuffer& buffer : buffers_) {
      buffer.first_step = new_index[buffer.first_step];
      buffer.last_step = new_index[buffer.last_step];
    }
    plan_.steps_ = std::move(steps);
  }

  Status lay_out() {
    std::size_t total = scratch_bytes_;
    for (const ArenaBuffer& buffer : buffers_) {
      total = std::max(total, buffer.size_bytes);
      if (total > limits_.memory_bytes_max) return too_large(total);
    }
    plan_.scratch_offset_ = place_buffers(buffers_);
    plan_.arena_bytes_ = plan_.scratch_offset_ + aligned(scratch_bytes_);
    if (plan_.arena_bytes_ > limits_.memory_bytes_max) return too_large(plan_.arena_bytes_);
    for (Plan::Step& step : plan_.steps_) {
      for (Plan::Place& place : step.inputs) finish(place);
      for (Plan::Place& place : step.outputs) finish(place);
    }
    for (Plan::Place& place : plan_.output_places_) finish(place);
    return {};
  }

  static Error too_large(std::size_t size_bytes) {
    return Error(ErrorCode::kResourceExhausted,
                 "the model needs " + std::to_string(size_bytes) +
                     " bytes or more to run, which is over the limit (memory_bytes_max)");
  }

  void finish(Plan::Place& place) const {
    if (place.kind == Plan::Place::Kind::kArena) place.position = buffers_[place.position].offset;
  }

  PreparedGraph& prepared_;
  const ReferenceLimits& limits_;
  std::size_t bytes_left_;
  std::vector<Value> values_;
  std::vector<bool> needed_;       // by node: its kernel is run
  std::vector<bool> leads_there_;  // by node: shapes are inferred through it
  std::vector<ArenaBuffer> buffers_;
  std::vector<std::optional<PointwiseProgram>> programs_;  // by step
  std::vector<std::optional<EpilogueSupport>> epilogues_;  // by step
  std::size_t scratch_bytes_ = 0;
  Plan plan_;
};

void copy_with_quiet_nans(const float* from, std::span<float> to) noexcept {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = std::isnan(from[i]) ? std::numeric_limits<float>::quiet_NaN() : from[i];
}

Result<Plan> Plan::build(PreparedGraph& prepared, const std::vector<Shape>& input_shapes,
                         const ReferenceLimits& limits) {
  const Graph& graph = prepared.graph();
  return build_part(prepared, input_shapes, {graph.inputs, graph.outputs}, limits);
}

Result<Plan> Plan::build(PreparedGraph& prepared, const std::vector<PlanInput>& inputs,
                         const ReferenceLimits& limits) {
  const GraphPart whole{prepared.graph().inputs, prepared.graph().outputs};
  PlanBuilder builder(prepared, limits);
  builder.mark_needed(whole);
  return builder.build(inputs, whole);
}

Result<std::vector<ValueFacts>> Plan::infer(PreparedGraph& prepared,
                                            const std::vector<Shape>& input_shapes,
                                            const ReferenceLimits& limits,
                                            const std::vector<ValueIndex>& outputs) {
  PlanBuilder builder(prepared, limits);
  if (outputs.empty())
    builder.mark_all();
  else
    builder.mark_needed({outputs, outputs});
  TOCSIN_ASSIGN_OR_RETURN([[maybe_unused]] const Plan plan,
                          builder.build(signature_inputs(prepared.graph(), input_shapes), {}));
  return builder.facts();
}

Result<Plan> Plan::build_part(PreparedGraph& prepared, const std::vector<Shape>& input_shapes,
                              const GraphPart& part, const ReferenceLimits& limits) {
  PlanBuilder builder(prepared, limits);
  builder.mark_needed(part);
  return builder.build(signature_inputs(prepared.graph(), input_shapes), part);
}

const void* Plan::resolve(const Place& place, std::span<const void* const> inputs,
                          const std::byte* arena) noexcept {
  switch (place.kind) {
    case Place::Kind::kConstant:
      return place.data;
    case Place::Kind::kInput:
      return inputs[place.position];
    case Place::Kind::kArena:
      return arena + place.position;
    case Place::Kind::kNone:
      break;
  }
  return nullptr;
}

const char* Plan::run(std::span<const void* const> inputs, std::byte* arena) noexcept {
  const char* failure = nullptr;
  if (work_left_ != nullptr) work_left_->loop_steps = loop_steps_max_;
  for (Step& step : steps_) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      step.input_pointers[i] = resolve(step.inputs[i], inputs, arena);
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
      const Place& place = step.outputs[i];
      step.output_pointers[i] =
          place.kind == Place::Kind::kArena ? arena + place.position : nullptr;
    }
    step.kernel({step.input_pointers, step.output_pointers, arena + scratch_offset_, &failure});
    if (failure != nullptr) {
      failed_node_ = step.node_index;
      return failure;
    }
  }
  return nullptr;
}

const void* Plan::output_data(std::size_t index, std::span<const void* const> inputs,
                              const std::byte* arena) const noexcept {
  return resolve(output_places_[index], inputs, arena);
}

}  // namespace tocsin
