// Reading of attributes and constant inputs for plan functions.
#include "engines/reference/operator.h"

#include <utility>

#include "engines/reference/prepared_graph.h"

namespace tocsin {

bool NodeInputs::all_constant() const noexcept {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i].present && !constants[i]) return false;
  return true;
}

NodeContext::NodeContext(const GraphNode& node, const NodeInputs& inputs, PreparedGraph& prepared)
    : node_(node),
      node_inputs_(inputs),
      graph_(prepared.graph()),
      inputs_(std::span(inputs.operands).first(node.inputs.size())),
      prepared_(prepared),
      weights_(prepared.weights()),
      attribute_read_(node.attributes.size(), false) {}

std::optional<PlannedNode> planned_pointwise(const Shape& shape, PointwiseProgram program) {
  std::optional<PointwiseKernel> kernel = PointwiseKernel::make(program);
  if (!kernel) return {};
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, shape, {}, {}});
  planned.kernel = [kernel = std::move(*kernel)](const Buffers& buffers) {
    kernel.run(buffers.inputs, buffers.output<float>(0));
  };
  planned.pointwise = std::move(program);
  return planned;
}

template <typename T>
const T* NodeContext::read_attribute(std::string_view name) const {
  for (std::size_t i = 0; i < node_.attributes.size(); ++i) {
    if (node_.attributes[i].name != name) continue;
    attribute_read_[i] = true;
    const T* value = std::get_if<T>(&node_.attributes[i].value);
    if (value == nullptr && !attribute_error_)
      attribute_error_ = invalid("attribute '" + std::string(name) + "' has the wrong type");
    return value;
  }
  return nullptr;
}

std::optional<float> NodeContext::scale_of(ValueIndex value) const {
  const auto& scales = weights_.quantisation().activation_scales;
  if (value == kNoValue || scales == nullptr) return {};
  const auto found = scales->find(graph_.value_names[static_cast<std::size_t>(value)]);
  return found == scales->end() ? std::nullopt : std::optional(found->second);
}

DenseWeightsOptions NodeContext::product_options(Factor factor) const {
  constexpr float kStateScale = 1.0F / 127.0F;
  DenseWeightsOptions options;
  options.precision = weights_.quantisation().precision;
  options.scale_per_output = weights_.quantisation().scale_per_output;
  if (inputs_[0].constant != nullptr) options.precision = Precision::kFloat32;
  if (options.precision == Precision::kInt8) {
    const std::optional<float> scale =
        scale_of(factor == Factor::kInput ? node_.inputs[0] : node_.outputs[0]);
    if (scale || factor == Factor::kState)
      options.input_scale = scale.value_or(kStateScale);
    else
      options.precision = Precision::kFloat32;
  }
  return options;
}

Result<SharedWeights> NodeContext::pack(const MatrixView& matrix, std::size_t weights,
                                        Factor factor) const {
  return weights_.pack(matrix, product_options(factor), inputs_[weights].is_weight);
}

std::int64_t NodeContext::int_attribute(std::string_view name, std::int64_t otherwise) const {
  const auto* value = read_attribute<std::int64_t>(name);
  return value != nullptr ? *value : otherwise;
}

float NodeContext::float_attribute(std::string_view name, float otherwise) const {
  const auto* value = read_attribute<float>(name);
  return value != nullptr ? *value : otherwise;
}

std::string NodeContext::string_attribute(std::string_view name,
                                          const std::string& otherwise) const {
  const auto* value = read_attribute<std::string>(name);
  return value != nullptr ? *value : otherwise;
}

std::vector<std::int64_t> NodeContext::ints_attribute(std::string_view name) const {
  const auto* value = read_attribute<std::vector<std::int64_t>>(name);
  return value != nullptr ? *value : std::vector<std::int64_t>();
}

std::vector<std::string> NodeContext::strings_attribute(std::string_view name) const {
  const auto* value = read_attribute<std::vector<std::string>>(name);
  return value != nullptr ? *value : std::vector<std::string>();
}

std::vector<float> NodeContext::floats_attribute(std::string_view name) const {
  const auto* value = read_attribute<std::vector<float>>(name);
  return value != nullptr ? *value : std::vector<float>();
}

const Graph* NodeContext::graph_attribute(std::string_view name) const {
  const auto* value = read_attribute<std::shared_ptr<const Graph>>(name);
  return value != nullptr ? value->get() : nullptr;
}

const Tensor* NodeContext::tensor_attribute(std::string_view name) const {
  return read_attribute<Tensor>(name);
}

void NodeContext::ignore_attribute(std::string_view name) const {
  for (std::size_t i = 0; i < node_.attributes.size(); ++i)
    if (node_.attributes[i].name == name) attribute_read_[i] = true;
}

void NodeContext::require_int(std::string_view name, std::int64_t value) const {
  const std::int64_t found = int_attribute(name, value);
  if (found == value || attribute_error_) return;
  attribute_error_ =
      unsupported("attribute '" + std::string(name) + "' = " + std::to_string(found) +
                  " is not supported (only " + std::to_string(value) + ")");
}

Status NodeContext::attribute_status() const {
  if (attribute_error_) return *attribute_error_;
  for (std::size_t i = 0; i < attribute_read_.size(); ++i) {
    if (!attribute_read_[i])
      return unsupported("attribute '" + node_.attributes[i].name + "' is not supported");
  }
  return {};
}

Result<std::vector<std::int64_t>> NodeContext::constant_ints(std::size_t index,
                                                             std::string_view role) const {
  if (!has_input(index)) return invalid("its " + std::string(role) + " is missing");
  const Operand& operand = inputs_[index];
  if (operand.constant == nullptr)
    return unsupported("its " + std::string(role) + " depends on the model's input values");
  if (operand.type == DataType::kInt64) {
    const auto values = operand.values<std::int64_t>();
    return std::vector<std::int64_t>(values.begin(), values.end());
  }
  if (operand.type == DataType::kInt32) {
    const auto values = operand.values<std::int32_t>();
    return std::vector<std::int64_t>(values.begin(), values.end());
  }
  return invalid("its " + std::string(role) + " has type " +
                 std::string(data_type_name(operand.type)) + ", expected int64");
}

Status NodeContext::require_float(std::size_t index) const {
  if (inputs_[index].type == DataType::kFloat32) return {};
  return unsupported("input " + std::to_string(index) + " has type " +
                     std::string(data_type_name(inputs_[index].type)) +
                     ", only float32 is supported");
}

Result<std::size_t> NodeContext::axis_of(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank)
    return invalid("axis " + std::to_string(axis) + " is outside rank " + std::to_string(rank));
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

}  // namespace tocsin
