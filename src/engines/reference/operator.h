// How an ONNX operator is planned: from attributes and input shapes to output shapes and a kernel
// that computes them. Planning may allocate and fail; a kernel does neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engines/graph/graph.h"
#include "engines/reference/pointwise.h"
#include "engines/reference/weight_store.h"

namespace tocsin {

inline constexpr std::size_t kRankMax = 8;

class PreparedGraph;

// One input as planning sees it.
struct Operand {
  bool present = false;
  DataType type = DataType::kFloat32;
  Shape shape;
  const void* constant = nullptr;  // its values, where they do not depend on the model's inputs
  bool is_weight = false;          // the constant lives as long as the session

  std::size_t rank() const noexcept { return shape.size(); }
  std::size_t element_count() const noexcept { return *checked_element_count(shape); }
  // The constant's values; the operand must be a constant of that type.
  template <typename T>
  std::span<const T> values() const noexcept {
    TOCSIN_ASSERT(constant != nullptr && type == data_type_of<T>());
    return {static_cast<const T*>(constant), element_count()};
  }
};

// A node's inputs as planning sees them, then what its subgraphs capture, with their constants.
struct NodeInputs {
  std::vector<Operand> operands;
  std::vector<std::optional<Tensor>> constants;

  bool all_constant() const noexcept;
};

// One output as planned.
struct PlannedOutput {
  DataType type = DataType::kFloat32;
  Shape shape;
  std::optional<std::size_t> alias_of_input;  // same values in the same order: no work to do
  std::optional<Tensor> constant;             // known without running
};

// Where a kernel finds its data. An operand that is left out is null. Kernels never allocate.
struct Buffers {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  std::byte* scratch = nullptr;    // scratch_bytes of the plan, aligned to kTensorAlignmentBytes
  const char** failure = nullptr;  // set to a static text if the values make no sense

  template <typename T>
  const T* input(std::size_t index) const noexcept {
    return static_cast<const T*>(inputs[index]);
  }
  template <typename T>
  T* output(std::size_t index) const noexcept {
    return static_cast<T*>(outputs[index]);
  }
};

using Kernel = std::function<void(const Buffers& buffers)>;

// How a kernel takes on element-wise work on its output while that is in the cache. Its output is
// seen as [images, rows, width].
struct EpilogueSupport {
  std::size_t rows = 0;
  std::size_t width = 0;
  // The kernel that runs `program` too, whose inputs follow the node's own.
  std::function<Kernel(const PointwiseKernel& program)> bind;
};

struct PlannedNode {
  std::vector<PlannedOutput> outputs;
  Kernel kernel;  // empty if no output needs work
  std::size_t scratch_bytes = 0;
  std::optional<PointwiseProgram> pointwise{};  // what the kernel does, if it is element-wise
  std::optional<EpilogueSupport> epilogue{};
};

// A node of one output that a program computes. None if the program has no kernel.
std::optional<PlannedNode> planned_pointwise(const Shape& shape, PointwiseProgram program);

// Everything a plan function may look at. Attributes of the wrong type, and attributes that nothing
// has read, are errors that the caller of the plan function reports from attribute_status().
class NodeContext {
 public:
  // `prepared` is the graph that the node stands in.
  NodeContext(const GraphNode& node, const NodeInputs& inputs, PreparedGraph& prepared);

  const GraphNode& node() const noexcept { return node_; }
  std::int64_t opset() const noexcept { return graph_.opset; }
  std::size_t input_count() const noexcept { return inputs_.size(); }
  bool has_input(std::size_t index) const noexcept {
    return index < inputs_.size() && inputs_[index].present;
  }
  const Operand& input(std::size_t index) const noexcept { return inputs_[index]; }
  // The inputs, then what the node's subgraphs capture: a kernel's inputs in the same order.
  std::span<const Operand> operands() const noexcept { return node_inputs_.operands; }
  // The values of one of the operands, if it is a constant.
  const std::optional<Tensor>& constant(std::size_t operand) const noexcept {
    return node_inputs_.constants[operand];
  }
  PreparedGraph& prepared() const noexcept { return prepared_; }
  std::size_t output_count() const noexcept { return node_.outputs.size(); }
  bool has_output(std::size_t index) const noexcept {
    return index < node_.outputs.size() && node_.outputs[index] != kNoValue;
  }
  bool has_attribute(std::string_view name) const noexcept {
    return node_.find_attribute(name) != nullptr;
  }
  std::int64_t int_attribute(std::string_view name, std::int64_t otherwise) const;
  float float_attribute(std::string_view name, float otherwise) const;
  std::string string_attribute(std::string_view name, const std::string& otherwise) const;
  std::vector<std::int64_t> ints_attribute(std::string_view name) const;  // empty: not there
  std::vector<std::string> strings_attribute(std::string_view name) const;
  std::vector<float> floats_attribute(std::string_view name) const;
  // Null if the node has no such attribute.
  const Tensor* tensor_attribute(std::string_view name) const;
  const Graph* graph_attribute(std::string_view name) const;
  // Marks an attribute that has no influence on inference.
  void ignore_attribute(std::string_view name) const;
  // The attribute must have this value, or be left out.
  void require_int(std::string_view name, std::int64_t value) const;

  Status attribute_status() const;

  // What a constant matrix is multiplied with: input 0, or the state that the node carries.
  // kState: of values in [-1, 1], as sigmoid and tanh give them.
  enum class Factor { kInput, kState, kUnboundedState };
  // How a product with it is computed. INT8 without a scale for the factor, and a factor that is a
  // constant itself, stay in FP32.
  DenseWeightsOptions product_options(Factor factor) const;
  // Packs `matrix`, a part of the constant input `weights`, for that.
  Result<SharedWeights> pack(const MatrixView& matrix, std::size_t weights, Factor factor) const;

  // The integers of input `index`, which must be a constant of int64 or int32.
  Result<std::vector<std::int64_t>> constant_ints(std::size_t index, std::string_view role) const;
  // An error unless input `index` is a float32.
  Status require_float(std::size_t index) const;
  // An axis counted from either end, checked against the rank.
  static Result<std::size_t> axis_of(std::int64_t axis, std::size_t rank);

 private:
  template <typename T>
  const T* read_attribute(std::string_view name) const;
  std::optional<float> scale_of(ValueIndex value) const;

  const GraphNode& node_;
  const NodeInputs& node_inputs_;
  const Graph& graph_;
  std::span<const Operand> inputs_;
  PreparedGraph& prepared_;
  WeightStore& weights_;
  mutable std::vector<bool> attribute_read_;
  mutable std::optional<Error> attribute_error_;
};

using PlanFunction = Result<PlannedNode> (*)(const NodeContext& context);

// One line of the table of operators.
struct OperatorEntry {
  std::string_view name;
  PlanFunction plan;
  std::size_t input_count_min;
  std::size_t input_count_max;
  std::size_t output_count_max;
};

// Null if the reference engine has no such operator. Operators are those of the domains ai.onnx
// and ai.onnx.ml.
const OperatorEntry* find_operator(std::string_view domain, std::string_view op_type) noexcept;

// Error codes used by plan functions: what is legal ONNX but not done here, and what is not legal.
inline Error unsupported(std::string what) {
  return Error(ErrorCode::kUnimplemented, std::move(what));
}
inline Error invalid(std::string what) {
  return Error(ErrorCode::kFailedPrecondition, std::move(what));
}

}  // namespace tocsin
