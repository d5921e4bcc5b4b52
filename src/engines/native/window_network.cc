// Walks the graph in order and tags each value: known beforehand, a row for each time step, or one
// for each window.
#include "engines/native/window_network.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "engines/native/row_operators.h"
#include "engines/reference/attention_fusion.h"
#include "engines/reference/prepared_graph.h"

namespace tocsin {
namespace {

struct Tag {
  enum class Kind { kNone, kConstant, kRows, kWindow };
  Kind kind = Kind::kNone;
  int layer = kFrames;     // of kRows: what they are computed from
  bool is_direct = false;  // of kRows: they are the layer's output, only in another shape
};

class NetworkFinder {
 public:
  NetworkFinder(const Graph& graph, std::span<const ValueFacts> facts)
      : graph_(graph), facts_(facts), tags_(graph.value_names.size()) {}

  Result<WindowNetwork> find() {
    const ModelSignature& signature = graph_.signature;
    if (signature.inputs.size() != 1 || signature.inputs[0].type != DataType::kFloat32 ||
        facts(graph_.inputs[0]).shape.size() != 3 || facts(graph_.inputs[0]).shape[0] != 1)
      return unsupported(
          "only models with one float32 input [batch, steps, features] have windows");
    steps_ = facts(graph_.inputs[0]).shape[1];
    if (steps_ < 2) return unsupported("windows of one step have nothing to compute ahead");
    for (std::size_t i = 0; i < facts_.size(); ++i)
      if (facts_[i].constant) tags_[i].kind = Tag::Kind::kConstant;
    tag(graph_.inputs[0]) = {Tag::Kind::kRows, kFrames, true};
    sources_.push_back(graph_.inputs[0]);
    const std::vector<bool> needed = nodes_before(graph_, graph_.outputs, {});
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!needed[i]) continue;
      const Status status = visit(i);
      if (!status.ok()) return status.error().within(node_text(graph_.nodes[i], i));
    }
    for (const ValueIndex output : graph_.outputs)
      if (tag(output).kind != Tag::Kind::kWindow)
        return unsupported("output '" + graph_.value_names[static_cast<std::size_t>(output)] +
                           "' is not one for each window");
    if (network_.layers.empty()) return unsupported("it has no recurrent layer");
    network_.tail.outputs = graph_.outputs;
    return std::move(network_);
  }

 private:
  const ValueFacts& facts(ValueIndex value) const {
    return facts_[static_cast<std::size_t>(value)];
  }
  Tag& tag(ValueIndex value) { return tags_[static_cast<std::size_t>(value)]; }
  bool is_rows(ValueIndex value) {
    return value != kNoValue && tag(value).kind == Tag::Kind::kRows;
  }

  // For one window: nothing stands before the time axis but ones.
  std::optional<std::size_t> time_axis(const Shape& shape) const {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) continue;
      return shape[i] == steps_ ? std::optional(i) : std::nullopt;
    }
    return {};
  }

  static Error all_frames() {
    return unsupported("it needs all frames of a window at once, so nothing can be computed ahead");
  }

  Status visit(std::size_t index) {
    const GraphNode& node = graph_.nodes[index];
    const bool known = std::ranges::all_of(node.outputs, [this](ValueIndex output) {
      return output == kNoValue || tag(output).kind == Tag::Kind::kConstant;
    });
    if (known) return {};
    // A subgraph sees values as they are at run time, whole.
    if (std::ranges::any_of(node.captured, [this](ValueIndex value) { return is_rows(value); }))
      return all_frames();
    const bool reads_rows =
        std::ranges::any_of(node.inputs, [this](ValueIndex input) { return is_rows(input); });
    if (!reads_rows) {
      for (const ValueIndex output : node.outputs)
        if (output != kNoValue && tag(output).kind == Tag::Kind::kNone)
          tag(output) = {Tag::Kind::kWindow, kFrames, false};
      return {};
    }
    for (const ValueIndex input : node.inputs)
      if (input != kNoValue && tag(input).kind == Tag::Kind::kWindow) return all_frames();
    if (node.domain == kOwnDomain) return visit_pooling(node);
    if (!node.domain.empty()) return all_frames();
    if (node.op_type == "LSTM" || node.op_type == "GRU") return visit_layer(index);
    if (node.op_type == "Gather" || node.op_type == "Slice") return visit_selection(node);
    return visit_row_operator(node);
  }

  Status visit_row_operator(const GraphNode& node) {
    const ValueIndex output = node.outputs[0];
    const ValueIndex rows =
        *std::ranges::find_if(node.inputs, [this](ValueIndex input) { return is_rows(input); });
    const Shape& from = facts(rows).shape;
    const Shape& to = facts(output).shape;
    const auto axis = time_axis(to);
    if (!axis || !is_row_operator(node, from, *axis)) return all_frames();
    for (const ValueIndex input : node.inputs)
      if (is_rows(input) && tag(input).layer != tag(rows).layer) return all_frames();
    const bool keeps = contains(kLayoutOperators, node.op_type) || node.op_type == "Identity";
    tag(output) = {Tag::Kind::kRows, tag(rows).layer, keeps && tag(rows).is_direct};
    return {};
  }

  bool is_row_operator(const GraphNode& node, const Shape& from, std::size_t to_axis) {
    const std::size_t from_axis = *time_axis(from);
    if (contains(kElementwiseOperators, node.op_type)) return broadcasts_over_time(node, to_axis);
    if (node.op_type == "MatMul")
      return is_rows(node.inputs[0]) && from_axis + 1 < from.size() &&
             facts(node.inputs[1]).constant && facts(node.inputs[1]).shape.size() <= 2;
    if (contains(kAlongLastAxisOperators, node.op_type)) {
      const auto axis = int_attribute(node, "axis");
      const auto last = static_cast<std::int64_t>(from.size()) - 1;
      return axis && (*axis == -1 || *axis == last) && from_axis < static_cast<std::size_t>(last);
    }
    if (node.op_type != "Transpose") return contains(kLayoutOperators, node.op_type);
    const std::vector<std::int64_t> order = ints_attribute(node, "perm");
    return to_axis < order.size() && order[to_axis] == static_cast<std::int64_t>(from_axis) &&
           keeps_order(order, from);
  }

  // The axes that are longer than one stay in their order.
  static bool keeps_order(std::span<const std::int64_t> order, const Shape& from) {
    std::int64_t before = -1;
    for (const std::int64_t axis : order) {
      if (from[static_cast<std::size_t>(axis)] == 1) continue;
      if (axis < before) return false;
      before = axis;
    }
    return true;
  }

  // Constants among the inputs are the same at each step.
  bool broadcasts_over_time(const GraphNode& node, std::size_t axis) {
    const std::size_t rank = facts(node.outputs[0]).shape.size();
    for (const ValueIndex input : node.inputs) {
      if (input == kNoValue) continue;
      const Shape& shape = facts(input).shape;
      if (is_rows(input)) {
        const auto own = time_axis(shape);
        if (!own || shape.size() - *own != rank - axis) return false;
        continue;
      }
      const std::size_t missing = rank - std::min(rank, shape.size());
      if (axis >= missing && shape[axis - missing] != 1) return false;
    }
    return true;
  }

  RowSource source_of(ValueIndex rows) {
    RowSource source;
    source.layer = tag(rows).layer;
    const int index = source.layer + 1;
    if (!tag(rows).is_direct)
      source.program = GraphPart{{sources_[static_cast<std::size_t>(index)]}, {rows}};
    return source;
  }

  void add_tail_input(ValueIndex value, TailInput input) {
    tag(value) = {Tag::Kind::kWindow, kFrames, false};
    network_.tail.inputs.push_back(value);
    network_.tail_inputs.push_back(std::move(input));
  }

  bool is_zero_constant(ValueIndex value) const {
    const ValueFacts& known = facts(value);
    if (!known.constant || known.type != DataType::kFloat32) return false;
    return std::ranges::all_of(known.constant->values<float>(),
                               [](float state) { return state == 0.0F; });
  }

  Status visit_layer(std::size_t index) {
    const GraphNode& node = graph_.nodes[index];
    if (!is_rows(node.inputs[0])) return all_frames();
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const ValueIndex input = node.inputs[i];
      if (input == kNoValue) continue;
      if (!facts(input).constant) return unsupported("its weights and states must be constants");
      if (i == 4) return unsupported("it has sequence lengths");
      if ((i == 5 || i == 6) && !is_zero_constant(input))
        return unsupported("its windows do not start from zero");
    }
    for (const char* name : {"direction", "layout", "activations", "input_forget"}) {
      const Attribute* attribute = node.find_attribute(name);
      if (attribute == nullptr) continue;
      const auto* text = std::get_if<std::string>(&attribute->value);
      const auto* number = std::get_if<std::int64_t>(&attribute->value);
      if ((text != nullptr && *text != "forward") || (number != nullptr && *number != 0) ||
          (text == nullptr && number == nullptr))
        return unsupported("windows ahead take no " + std::string(name) + " but the default");
    }
    const int layer = static_cast<int>(network_.layers.size());
    network_.layers.push_back({index, source_of(node.inputs[0])});
    sources_.push_back(node.outputs[0]);
    if (node.outputs[0] != kNoValue) tag(node.outputs[0]) = {Tag::Kind::kRows, layer, true};
    for (std::size_t i = 1; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const auto kind = i == 1 ? TailInput::Kind::kHidden : TailInput::Kind::kCell;
      add_tail_input(node.outputs[i], {kind, static_cast<std::size_t>(layer), {}});
    }
    return {};
  }

  Status visit_pooling(const GraphNode& node) {
    if (!is_rows(node.inputs[0]) || !is_rows(node.inputs[1])) return all_frames();
    network_.poolings.push_back({source_of(node.inputs[0]), source_of(node.inputs[1])});
    add_tail_input(node.outputs[0], {TailInput::Kind::kPooled, network_.poolings.size() - 1, {}});
    return {};
  }

  std::optional<std::vector<std::int64_t>> ints(const GraphNode& node, std::size_t index) const {
    if (index >= node.inputs.size() || node.inputs[index] == kNoValue) return {};
    const ValueFacts& known = facts(node.inputs[index]);
    if (!known.constant || known.type != DataType::kInt64) return {};
    const auto values = known.constant->values<std::int64_t>();
    return std::vector<std::int64_t>(values.begin(), values.end());
  }

  // The last step of some rows.
  Status visit_selection(const GraphNode& node) {
    const ValueIndex rows = node.inputs[0];
    if (!is_rows(rows)) return all_frames();
    const auto axis = static_cast<std::int64_t>(*time_axis(facts(rows).shape));
    const auto rank = static_cast<std::int64_t>(facts(rows).shape.size());
    const auto is_time = [axis, rank](std::int64_t a) { return a == axis || a + rank == axis; };
    bool is_last = false;
    if (node.op_type == "Gather") {
      const auto index = ints(node, 1);
      is_last = is_time(int_attribute(node, "axis").value_or(0)) && index && index->size() == 1 &&
                ((*index)[0] == -1 || (*index)[0] == steps_ - 1);
    } else {
      const auto starts = ints(node, 1);
      const auto axes = ints(node, 3);
      const Shape& out = facts(node.outputs[0]).shape;
      is_last = starts && axes && starts->size() == 1 && axes->size() == 1 && is_time((*axes)[0]) &&
                ((*starts)[0] == -1 || (*starts)[0] == steps_ - 1) &&
                out[static_cast<std::size_t>(axis)] == 1;
    }
    if (!is_last) return all_frames();
    add_tail_input(node.outputs[0], {TailInput::Kind::kRows, 0, source_of(rows)});
    return {};
  }

  const Graph& graph_;
  std::span<const ValueFacts> facts_;
  std::int64_t steps_ = 0;
  std::vector<Tag> tags_;
  std::vector<ValueIndex> sources_;  // the frames, then the output of each layer
  WindowNetwork network_;
};

}  // namespace

Result<PreparedWindow> prepare_window(Graph graph, const SessionOptions& options) {
  const QuantisationOptions quantisation = QuantisationOptions::of(options);
  TOCSIN_ASSIGN_OR_RETURN(PreparedGraph prepared,
                          PreparedGraph::prepare(std::move(graph), {}, quantisation));
  if (prepared.graph().signature.inputs.size() != 1)
    return unsupported("only models with one input have windows");
  Shape window = prepared.graph().signature.inputs[0].shape;
  for (std::size_t i = 0; i < window.size(); ++i)
    if (window[i] == kFreeDimension) window[i] = i == 0 ? 1 : options.steps;
  TOCSIN_ASSIGN_OR_RETURN(std::vector<ValueFacts> facts, Plan::infer(prepared, {window}, {}));
  if (std::optional<Graph> fused = fuse_attention(prepared.graph(), facts)) {
    TOCSIN_ASSIGN_OR_RETURN(prepared, PreparedGraph::prepare(std::move(*fused), {}, quantisation));
    TOCSIN_ASSIGN_OR_RETURN(facts, Plan::infer(prepared, {window}, {}));
  }
  return PreparedWindow{std::move(prepared), std::move(facts)};
}

NodeInputs planned_inputs(const GraphNode& node, const std::vector<ValueFacts>& facts) {
  NodeInputs inputs;
  for (const ValueIndex value : node.inputs) {
    if (value == kNoValue) {
      inputs.operands.emplace_back();
      inputs.constants.emplace_back();
      continue;
    }
    const ValueFacts& known = facts[static_cast<std::size_t>(value)];
    inputs.operands.push_back(
        {true, known.type, known.shape, known.constant ? known.constant->data() : nullptr, true});
    inputs.constants.push_back(known.constant);
  }
  return inputs;
}

Result<WindowNetwork> find_window_network(const Graph& graph, std::span<const ValueFacts> facts) {
  return NetworkFinder(graph, facts).find();
}

}  // namespace tocsin
