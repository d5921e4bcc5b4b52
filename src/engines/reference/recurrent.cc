// Checks and weights that LSTM, GRU and RNN share.
#include "engines/reference/recurrent.h"

#include <algorithm>
#include <limits>
#include <string>

namespace tocsin {
namespace {

Status check_shape(const NodeContext& context, std::size_t index, const char* name,
                   const Shape& expected) {
  if (!context.has_input(index) || context.input(index).shape == expected) return {};
  return invalid("input " + std::string(name) + " has shape " +
                 shape_text(context.input(index).shape) + ", expected " + shape_text(expected));
}

Status check_weights(const NodeContext& context, const RecurrentShape& shape) {
  const auto d = static_cast<std::int64_t>(shape.directions);
  const auto width = static_cast<std::int64_t>(shape.width());
  const auto units = static_cast<std::int64_t>(shape.units);
  TOCSIN_RETURN_IF_ERROR(
      check_shape(context, 1, "W", {d, width, static_cast<std::int64_t>(shape.features)}));
  TOCSIN_RETURN_IF_ERROR(check_shape(context, 2, "R", {d, width, units}));
  TOCSIN_RETURN_IF_ERROR(check_shape(context, 3, "B", {d, 2 * width}));
  for (std::size_t i = 1; i <= 3; ++i) {
    if (!context.has_input(i)) continue;
    TOCSIN_RETURN_IF_ERROR(context.require_float(i));
    if (context.input(i).constant == nullptr)
      return unsupported("its weights must be constants, input " + std::to_string(i) + " is not");
  }
  return {};
}

Status check_states(const NodeContext& context, const RecurrentShape& shape) {
  TOCSIN_RETURN_IF_ERROR(
      check_shape(context, 4, "sequence_lens", {static_cast<std::int64_t>(shape.batch)}));
  if (context.has_input(4) && context.input(4).type != DataType::kInt32)
    return invalid("sequence_lens must be int32");
  for (std::size_t i = 5; i < std::min<std::size_t>(context.input_count(), 7); ++i) {
    if (!context.has_input(i)) continue;
    TOCSIN_RETURN_IF_ERROR(context.require_float(i));
    TOCSIN_RETURN_IF_ERROR(check_shape(context, i, "initial state", shape.state_shape()));
  }
  return {};
}

}  // namespace

Shape RecurrentShape::output_shape() const {
  const auto t = static_cast<std::int64_t>(steps);
  const auto b = static_cast<std::int64_t>(batch);
  const auto d = static_cast<std::int64_t>(directions);
  const auto h = static_cast<std::int64_t>(units);
  return batch_first ? Shape{b, t, d, h} : Shape{t, d, b, h};
}

Shape RecurrentShape::state_shape() const {
  const auto b = static_cast<std::int64_t>(batch);
  const auto d = static_cast<std::int64_t>(directions);
  const auto h = static_cast<std::int64_t>(units);
  return batch_first ? Shape{b, d, h} : Shape{d, b, h};
}

Result<RecurrentShape> recurrent_shape(const NodeContext& context, std::size_t gates) {
  RecurrentShape shape;
  shape.gates = gates;
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const Operand& x = context.input(0);
  if (x.rank() != 3 || context.input(1).rank() != 3 || context.input(2).rank() != 3)
    return invalid("X, W and R must have three dimensions");
  const std::string direction = context.string_attribute("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return invalid("direction '" + direction + "' is none of forward, reverse, bidirectional");
  shape.directions = direction == "bidirectional" ? 2 : 1;
  shape.first_is_reverse = direction == "reverse";
  shape.batch_first = context.int_attribute("layout", 0) != 0;
  shape.steps = static_cast<std::size_t>(x.shape[shape.batch_first ? 1 : 0]);
  shape.batch = static_cast<std::size_t>(x.shape[shape.batch_first ? 0 : 1]);
  shape.features = static_cast<std::size_t>(x.shape[2]);
  shape.units = static_cast<std::size_t>(context.input(2).shape[2]);
  const auto hidden_size =
      context.int_attribute("hidden_size", static_cast<std::int64_t>(shape.units));
  if (hidden_size != static_cast<std::int64_t>(shape.units) || shape.units == 0)
    return invalid("hidden_size is " + std::to_string(hidden_size) + ", R is " +
                   shape_text(context.input(2).shape));
  shape.clip = context.float_attribute("clip", std::numeric_limits<float>::infinity());
  // Runtimes take 0 for no clipping.
  if (shape.clip == 0.0F) shape.clip = std::numeric_limits<float>::infinity();
  if (!(shape.clip > 0)) return invalid("clip must be positive");
  shape.has_lengths = context.has_input(4);
  TOCSIN_RETURN_IF_ERROR(check_weights(context, shape));
  TOCSIN_RETURN_IF_ERROR(check_states(context, shape));
  return shape;
}

Result<std::vector<Activation>> gated_activations(const NodeContext& context,
                                                  const RecurrentShape& shape) {
  std::vector<ActivationKind> defaults(shape.gates - 1, ActivationKind::kTanh);
  defaults[0] = ActivationKind::kSigmoid;
  return read_activations(context, shape.directions, defaults);
}

bool are_usual(const std::vector<Activation>& activations, const RecurrentShape& shape) noexcept {
  const std::size_t per_direction = shape.gates - 1;
  for (std::size_t i = 0; i < activations.size(); ++i)
    if (activations[i].kind !=
        (i % per_direction == 0 ? ActivationKind::kSigmoid : ActivationKind::kTanh))
      return false;
  return true;
}

Status require_usual_cell(const NodeContext& context, const RecurrentShape& shape) {
  TOCSIN_ASSIGN_OR_RETURN(const auto activations, gated_activations(context, shape));
  if (!are_usual(activations, shape) || context.int_attribute("input_forget", 0) != 0)
    return unsupported("only cells of sigmoid and tanh are supported");
  return {};
}

std::size_t product_scratch_floats(const WeightsList& weights, std::size_t rows) {
  std::size_t bytes = 0;
  for (const SharedWeights& matrix : weights) bytes = std::max(bytes, matrix->scratch_bytes(rows));
  return (bytes + sizeof(float) - 1) / sizeof(float);
}

Result<SharedWeights> pack_gates(const NodeContext& context, std::size_t input,
                                 std::size_t direction, const GateRows& rows) {
  const Operand& weights = context.input(input);
  const auto width = static_cast<std::size_t>(weights.shape[1]);
  const auto inputs = static_cast<std::size_t>(weights.shape[2]);
  const float* data = weights.values<float>().data() + (direction * width + rows.first) * inputs;
  using Factor = NodeContext::Factor;
  const Factor state = has_bounded_activations(context) ? Factor::kState : Factor::kUnboundedState;
  return context.pack({data, rows.count, inputs, inputs, 1}, input,
                      input == 1 ? Factor::kInput : state);
}

std::vector<float> gate_bias(const NodeContext& context, const RecurrentShape& shape,
                             std::size_t direction, bool recurrent_half) {
  std::vector<float> bias(shape.width(), 0.0F);
  if (!context.has_input(3)) return bias;
  const std::span<const float> values = context.input(3).values<float>();
  const std::size_t first = (2 * direction + (recurrent_half ? 1 : 0)) * shape.width();
  std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), bias.size(), bias.begin());
  return bias;
}

StepBias step_bias(const NodeContext& context, const RecurrentShape& shape, std::size_t summed) {
  StepBias bias{gate_bias(context, shape, 0, false), gate_bias(context, shape, 0, true)};
  for (std::size_t j = 0; j < summed; ++j) bias.input[j] = bias.input[j] + bias.recurrent[j];
  if (summed == shape.width())
    bias.recurrent.clear();
  else
    std::fill_n(bias.recurrent.begin(), summed, 0.0F);
  return bias;
}

void clamp_values(float* values, std::size_t count, float clip) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const float raised = values[i] < -clip ? -clip : values[i];
    values[i] = raised > clip ? clip : raised;
  }
}

void load_states(const RecurrentShape& shape, std::size_t direction, const float* initial,
                 float* states) noexcept {
  for (std::size_t b = 0; b < shape.batch; ++b) {
    float* state = states + b * shape.units;
    if (initial == nullptr)
      std::fill_n(state, shape.units, 0.0F);
    else
      std::copy_n(initial + shape.state_offset(direction, b), shape.units, state);
  }
}

void store_states(const RecurrentShape& shape, std::size_t direction, const float* states,
                  float* final_states) noexcept {
  for (std::size_t b = 0; b < shape.batch; ++b)
    std::copy_n(states + b * shape.units, shape.units,
                final_states + shape.state_offset(direction, b));
}

void multiply_states(const RecurrentShape& shape, const StateProduct& product) noexcept {
  product.weights.run({product.states, product.weights.input_count(), shape.batch, product.bias, 0,
                       product.result, product.weights.output_count()},
                      reinterpret_cast<std::byte*>(product.scratch));
}

}  // namespace tocsin
