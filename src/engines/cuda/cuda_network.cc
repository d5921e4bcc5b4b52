// The parts that find_window_network() finds, node by node into the plug-in's terms.
#include "engines/cuda/cuda_network.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "engines/native/row_operators.h"
#include "engines/native/window_network.h"
#include "engines/reference/recurrent.h"
#include "kernels/low_precision.h"

namespace tocsin {
namespace {

constexpr std::size_t kLayersMax = 16;

cuda::WeightType weight_type(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return cuda::WeightType::kFloat32;
    case Precision::kBfloat16:
      return cuda::WeightType::kBfloat16;
    case Precision::kFloat16:
      return cuda::WeightType::kFloat16;
    case Precision::kInt8:
      return cuda::WeightType::kInt8;
  }
  return cuda::WeightType::kFloat32;
}

}  // namespace

class CudaNetworkBuilder {
 public:
  CudaNetworkBuilder(PreparedWindow& window, CudaNetwork& network)
      : graph_(window.graph), facts_(window.facts), network_(network) {}

  Status build() {
    TOCSIN_ASSIGN_OR_RETURN(const WindowNetwork found, find_window_network(graph_.graph(), facts_));
    const Shape& window = facts(graph_.graph().inputs[0]).shape;
    if (found.layers.size() > kLayersMax || found.poolings.size() > 1)
      return unsupported("more than 16 layers, or more than one pooling");
    for (const NetworkLayer& layer : found.layers) TOCSIN_RETURN_IF_ERROR(add_layer(layer));
    if (found.tail.outputs.size() != 1) return unsupported("it has more than one output");
    TOCSIN_RETURN_IF_ERROR(add_tail(found));
    network_.description_ = {static_cast<std::uint32_t>(window[1]),
                             static_cast<std::uint32_t>(window[2]),
                             network_.layers_.data(),
                             static_cast<std::uint32_t>(network_.layers_.size()),
                             network_.scores_.data(),
                             static_cast<std::uint32_t>(network_.scores_.size()),
                             network_.head_.data(),
                             static_cast<std::uint32_t>(network_.head_.size())};
    network_.signature_ = graph_.graph().signature;
    return {};
  }

 private:
  const ValueFacts& facts(ValueIndex value) const {
    return facts_[static_cast<std::size_t>(value)];
  }
  Error at(std::size_t node, const Error& error) const {
    return node_error(graph_.graph(), node, error);
  }

  const float* keep(std::vector<float> values) {
    network_.values_.push_back(std::move(values));
    return network_.values_.back().data();
  }

  Result<cuda::Matrix> matrix_of(const MatrixView& view, const DenseWeightsOptions& options) {
    TOCSIN_RETURN_IF_ERROR(DenseWeights::pack(view, options));  // refuses what it cannot hold
    cuda::Matrix matrix;
    matrix.type = weight_type(options.precision);
    matrix.outputs = static_cast<std::uint32_t>(view.output_count);
    matrix.inputs = static_cast<std::uint32_t>(view.input_count);
    std::vector<float> weights(view.output_count * view.input_count);
    for (std::size_t n = 0; n < view.output_count; ++n)
      for (std::size_t k = 0; k < view.input_count; ++k)
        weights[n * view.input_count + k] =
            view.data[n * view.output_stride + k * view.input_stride];
    if (options.precision == Precision::kInt8) quantise(view, options, weights, matrix);
    matrix.weights = keep(std::move(weights));
    return matrix;
  }

  // As PackedInt8Matrix defines it.
  void quantise(const MatrixView& view, const DenseWeightsOptions& options,
                std::vector<float>& weights, cuda::Matrix& matrix) {
    using Scales = PackedInt8Matrix::Scales;
    const PackedInt8Matrix packed(
        view, options.scale_per_output ? Scales::kPerOutput : Scales::kPerMatrix);
    std::vector<float> scales = packed.weight_scales();
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] =
          std::clamp(std::nearbyint(weights[i] / scales[i / view.input_count]), -127.0F, 127.0F);
    for (float& scale : scales) scale = scale * options.input_scale;
    matrix.output_scale = keep(std::move(scales));
    matrix.inverse_scale = 1.0F / options.input_scale;
  }

  Status add_layer(const NetworkLayer& found) {
    const GraphNode& node = graph_.graph().nodes[found.node];
    const NodeInputs inputs = planned_inputs(node, facts_);
    const Status added = add_recurrent(NodeContext(node, inputs, graph_), found);
    if (!added.ok()) return at(found.node, added.error());
    return {};
  }

  Status add_recurrent(const NodeContext& context, const NetworkLayer& found) {
    const int before = static_cast<int>(network_.layers_.size()) - 1;
    if (found.source.program || found.source.layer != before)
      return unsupported("the CUDA engine takes layers that read the frames or the layer before");
    const bool is_lstm = context.node().op_type == "LSTM";
    TOCSIN_ASSIGN_OR_RETURN(const RecurrentShape shape, recurrent_shape(context, is_lstm ? 4 : 3));
    TOCSIN_RETURN_IF_ERROR(require_usual_cell(context, shape));
    if (!is_lstm && context.int_attribute("linear_before_reset", 0) == 0)
      return unsupported("the CUDA engine has no GRU with linear_before_reset = 0");
    if (is_lstm && context.has_input(7)) return unsupported("the CUDA engine has no peepholes");
    cuda::Layer layer;
    layer.cell = is_lstm ? cuda::CellKind::kLstm : cuda::CellKind::kGru;
    layer.units = static_cast<std::uint32_t>(shape.units);
    layer.clip = shape.clip;
    using Factor = NodeContext::Factor;
    TOCSIN_ASSIGN_OR_RETURN(
        layer.input, matrix_of(gate_matrix(context, 1), context.product_options(Factor::kInput)));
    TOCSIN_ASSIGN_OR_RETURN(layer.recurrent, matrix_of(gate_matrix(context, 2),
                                                       context.product_options(Factor::kState)));
    StepBias bias = step_bias(context, shape, is_lstm ? shape.width() : 2 * shape.units);
    layer.bias = keep(std::move(bias.input));
    if (!bias.recurrent.empty()) layer.recurrent_bias = keep(std::move(bias.recurrent));
    network_.layers_.push_back(layer);
    return {};
  }

  static MatrixView gate_matrix(const NodeContext& context, std::size_t input) {
    const Operand& weights = context.input(input);
    const auto width = static_cast<std::size_t>(weights.shape[1]);
    const auto inputs = static_cast<std::size_t>(weights.shape[2]);
    return {weights.values<float>().data(), width, inputs, inputs, 1};
  }

  Status add_tail(const WindowNetwork& found) {
    const int last = static_cast<int>(network_.layers_.size()) - 1;
    std::vector<std::size_t> head;
    TOCSIN_ASSIGN_OR_RETURN(const std::size_t begin,
                            follow(found.tail.inputs, found.tail.outputs[0], head));
    const TailInput& input = found.tail_inputs[begin];
    switch (input.kind) {
      case TailInput::Kind::kPooled: {
        const NetworkPooling& pooling = found.poolings[0];
        if (pooling.values.program || pooling.values.layer != last ||
            pooling.scores.layer != last || !pooling.scores.program)
          return unsupported("the CUDA engine pools the states of the last layer alone");
        std::vector<std::size_t> scores;
        TOCSIN_RETURN_IF_ERROR(
            follow(pooling.scores.program->inputs, pooling.scores.program->outputs[0], scores));
        TOCSIN_RETURN_IF_ERROR(add_operators(scores, network_.scores_));
        if (network_.scores_.back().product.outputs != 1)
          return unsupported("attention with more than one score a step");
        break;
      }
      case TailInput::Kind::kHidden:
        if (static_cast<int>(input.index) != last)
          return unsupported("its head reads another layer than the last");
        break;
      case TailInput::Kind::kRows:
        if (input.rows.program || input.rows.layer != last)
          return unsupported("its head reads more than the last layer's states");
        break;
      case TailInput::Kind::kCell:
        return unsupported("its head reads a cell state");
    }
    return add_operators(head, network_.head_);
  }

  // The nodes from `output` back to one of `inputs`, each with one operand that is no constant.
  // Returns which of them it is.
  Result<std::size_t> follow(const std::vector<ValueIndex>& inputs, ValueIndex output,
                             std::vector<std::size_t>& nodes) {
    const std::vector<GraphNode>& all = graph_.graph().nodes;
    ValueIndex value = output;
    auto begin = std::ranges::find(inputs, value);
    for (; begin == inputs.end(); begin = std::ranges::find(inputs, value)) {
      const auto producer = std::ranges::find_if(all, [value](const GraphNode& node) {
        return !node.outputs.empty() && node.outputs[0] == value;
      });
      if (producer == all.end()) return unsupported("its head is no chain of operators");
      const auto index = static_cast<std::size_t>(producer - all.begin());
      ValueIndex before = kNoValue;
      for (const ValueIndex operand : producer->inputs) {
        if (operand == kNoValue || facts(operand).constant) continue;
        if (before != kNoValue && before != operand)
          return at(index, unsupported("the CUDA engine takes chains of operators alone"));
        before = operand;
      }
      if (before == kNoValue) return at(index, unsupported("it reads constants alone"));
      nodes.push_back(index);
      value = before;
    }
    std::ranges::reverse(nodes);
    return static_cast<std::size_t>(begin - inputs.begin());
  }

  Status add_operators(const std::vector<std::size_t>& nodes,
                       std::vector<cuda::RowOperator>& operators) {
    for (const std::size_t index : nodes) {
      const GraphNode& node = graph_.graph().nodes[index];
      const NodeInputs inputs = planned_inputs(node, facts_);
      const Status added = add_operator(NodeContext(node, inputs, graph_), operators);
      if (!added.ok()) return at(index, added.error());
    }
    if (operators.empty()) return unsupported("no product stands between the states and the score");
    return {};
  }

  Status add_operator(const NodeContext& context, std::vector<cuda::RowOperator>& operators) {
    const std::string& type = context.node().op_type;
    if (contains(kLayoutOperators, type) || type == "Identity") return {};
    if (type == "MatMul" || type == "Gemm") return add_product(context, operators);
    if (operators.empty()) return unsupported("the CUDA engine begins a chain with a product");
    cuda::RowOperator& last = operators.back();
    const bool is_open = last.activation == cuda::Activation::kNone;
    if (type == "Add" && is_open && last.added == nullptr) return add_vector(context, last);
    static constexpr std::array<std::pair<std::string_view, cuda::Activation>, 4> kActivations = {
        {{"Tanh", cuda::Activation::kTanh},
         {"Sigmoid", cuda::Activation::kSigmoid},
         {"Relu", cuda::Activation::kRelu},
         {"Softmax", cuda::Activation::kSoftmax}}};
    for (const auto& [name, activation] : kActivations) {
      if (type != name || !is_open) continue;
      const Shape& shape = context.input(0).shape;
      const auto axis = context.int_attribute("axis", -1);
      if (activation == cuda::Activation::kSoftmax && axis != -1 &&
          axis + 1 != static_cast<std::int64_t>(shape.size()))
        return unsupported("the CUDA engine has a softmax over the last axis alone");
      last.activation = activation;
      return {};
    }
    return unsupported("the CUDA engine has no kernel for it here");
  }

  Status add_product(const NodeContext& context, std::vector<cuda::RowOperator>& operators) {
    const Operand& b = context.input(1);
    if (b.constant == nullptr || b.rank() != 2)
      return unsupported("the CUDA engine multiplies with constant matrices alone");
    const bool is_gemm = context.node().op_type == "Gemm";
    const bool transposed = is_gemm && context.int_attribute("transB", 0) != 0;
    const auto k = static_cast<std::size_t>(b.shape[transposed ? 1 : 0]);
    const auto n = static_cast<std::size_t>(b.shape[transposed ? 0 : 1]);
    const float* data = b.values<float>().data();
    const MatrixView view =
        transposed ? MatrixView{data, n, k, k, 1} : MatrixView{data, n, k, 1, n};
    cuda::RowOperator added;
    if (is_gemm && (context.int_attribute("transA", 0) != 0 ||
                    context.float_attribute("alpha", 1.0F) != 1.0F ||
                    context.float_attribute("beta", 1.0F) != 1.0F))
      return unsupported("the CUDA engine has no Gemm with transA, alpha or beta");
    if (is_gemm && context.has_input(2)) {
      const Operand& c = context.input(2);
      if (c.constant == nullptr || c.element_count() != n)
        return unsupported("the CUDA engine has no Gemm whose C is not one constant row");
      const auto values = c.values<float>();
      added.bias = keep({values.begin(), values.end()});
    }
    TOCSIN_ASSIGN_OR_RETURN(added.product,
                            matrix_of(view, context.product_options(NodeContext::Factor::kInput)));
    operators.push_back(added);
    return {};
  }

  Status add_vector(const NodeContext& context, cuda::RowOperator& last) {
    const std::size_t constant = context.input(0).constant != nullptr ? 0 : 1;
    const Operand& vector = context.input(constant);
    if (vector.constant == nullptr || vector.element_count() != last.product.outputs)
      return unsupported("the CUDA engine adds one constant row");
    const auto values = vector.values<float>();
    last.added = keep({values.begin(), values.end()});
    return {};
  }

  PreparedGraph& graph_;
  const std::vector<ValueFacts>& facts_;
  CudaNetwork& network_;
};

Result<std::unique_ptr<CudaNetwork>> CudaNetwork::make(Graph graph, const SessionOptions& options) {
  try {
    TOCSIN_ASSIGN_OR_RETURN(PreparedWindow window, prepare_window(std::move(graph), options));
    std::unique_ptr<CudaNetwork> network(new CudaNetwork());
    TOCSIN_RETURN_IF_ERROR(CudaNetworkBuilder(window, *network).build());
    return network;
  } catch (const std::exception& exception) {
    return Error(ErrorCode::kResourceExhausted,
                 std::string("loading the model: ") + exception.what());
  }
}

double CudaNetwork::last_step_share(bool carried) const noexcept {
  double left = 0;
  double whole = 0;
  for (const cuda::Layer& layer : layers_) {
    const double width = layer.input.outputs;
    left += width * layer.input.inputs;
    whole += width * (layer.input.inputs + layer.recurrent.inputs);
  }
  return left / (whole * (carried ? 1 : description_.steps));
}

}  // namespace tocsin
