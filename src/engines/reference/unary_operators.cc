// Element-wise operators of one operand.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "engines/reference/activation.h"
#include "engines/reference/element_types.h"
#include "engines/reference/plan_functions.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

PlannedNode same_shape(const NodeContext& context) {
  PlannedNode planned;
  planned.outputs.push_back({context.input(0).type, context.input(0).shape, {}, {}});
  return planned;
}

template <typename T, typename Operation>
Result<PlannedNode> plan_map_as(const NodeContext& context, Operation operation) {
  const std::size_t count = context.input(0).element_count();
  PlannedNode planned = same_shape(context);
  planned.kernel = [count, operation](const Buffers& buffers) {
    const T* x = buffers.input<T>(0);
    T* y = buffers.output<T>(0);
    for (std::size_t i = 0; i < count; ++i) y[i] = operation(x[i]);
  };
  return planned;
}

template <typename Operation>
Result<PlannedNode> plan_float_map(const NodeContext& context, Operation operation) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  return plan_map_as<float>(context, operation);
}

template <typename Test>
Result<PlannedNode> plan_test(const NodeContext& context, Test test) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  PlannedNode planned;
  planned.outputs.push_back({DataType::kBool, context.input(0).shape, {}, {}});
  planned.kernel = [count = context.input(0).element_count(), test](const Buffers& buffers) {
    const float* x = buffers.input<float>(0);
    bool* y = buffers.output<bool>(0);
    for (std::size_t i = 0; i < count; ++i) y[i] = test(x[i]);
  };
  return planned;
}

using Operation = PointwiseOperation;

// The terms one after the other, from input 0 on.
Result<PlannedNode> plan_terms(const NodeContext& context, std::vector<PointwiseTerm> terms,
                               std::size_t slot_count = 0) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  std::optional<PlannedNode> planned = planned_pointwise(
      context.input(0).shape, {context.input(0).element_count(), 0, std::move(terms), slot_count});
  TOCSIN_ASSERT(planned);  // operands of one value fit any rows
  return std::move(*planned);
}

Result<PlannedNode> plan_operation(const NodeContext& context, Operation operation) {
  return plan_terms(context, {plain_term(operation)});
}

// Operations that need two functions of x go through blocks on the stack.
constexpr std::size_t kBlock = kActivationBlock;
using Block = std::array<float, kBlock>;

// block(x, y, count) for blocks of up to kBlock values.
template <typename BlockOperation>
Result<PlannedNode> plan_blocks(const NodeContext& context, BlockOperation block) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const std::size_t count = context.input(0).element_count();
  PlannedNode planned = same_shape(context);
  planned.kernel = [count, block](const Buffers& buffers) {
    for (std::size_t i = 0; i < count; i += kBlock)
      block(buffers.input<float>(0) + i, buffers.output<float>(0) + i, std::min(kBlock, count - i));
  };
  return planned;
}

// (0.5 x) (1 + v), for x in slot 0 and the value at hand v.
void finish_gelu(std::vector<PointwiseTerm>& terms) {
  terms.push_back(number_term(Operation::kAdd, 1.0F));
  terms.push_back(slot_term(Operation::kSave, 1));
  terms.push_back(slot_term(Operation::kLoad, 0));
  terms.push_back(number_term(Operation::kMultiply, 0.5F));
  terms.push_back(slot_term(Operation::kMultiply, 1));
}

std::vector<PointwiseTerm> gelu_by_erf() {
  std::vector<PointwiseTerm> terms = {
      slot_term(Operation::kSave, 0),
      number_term(Operation::kMultiply, 0x1.6a09e6p-1F),  // sqrt(1/2)
      plain_term(Operation::kErf)};
  finish_gelu(terms);
  return terms;
}

// tanh(sqrt(2 / pi) (x + 0.044715 x^3)) takes the place of the erf.
std::vector<PointwiseTerm> gelu_by_tanh() {
  std::vector<PointwiseTerm> terms = {
      slot_term(Operation::kSave, 0),     slot_term(Operation::kMultiply, 0),
      slot_term(Operation::kMultiply, 0), number_term(Operation::kMultiply, 0.044715F),
      slot_term(Operation::kAdd, 0),      number_term(Operation::kMultiply, 0x1.988454p-1F),
      plain_term(Operation::kTanh)};
  finish_gelu(terms);
  return terms;
}

// A bound of Clip: an attribute up to opset 10, an optional scalar input after that.
struct ClipBound {
  bool is_input = false;
  float value = 0;
};

PointwiseTerm bound_term(Operation operation, std::size_t input, const ClipBound& bound) {
  return bound.is_input ? input_term(operation, input, {}) : number_term(operation, bound.value);
}

Result<ClipBound> clip_bound(const NodeContext& context, std::size_t index, const char* name,
                             float otherwise) {
  if (context.opset() < 11) return ClipBound{false, context.float_attribute(name, otherwise)};
  if (!context.has_input(index)) return ClipBound{false, otherwise};
  TOCSIN_RETURN_IF_ERROR(context.require_float(index));
  if (context.input(index).element_count() != 1)
    return invalid("its bound '" + std::string(name) + "' must be one value");
  return ClipBound{true, 0};
}

}  // namespace

Result<PlannedNode> plan_abs(const NodeContext& context) {
  return plan_operation(context, Operation::kMagnitude);
}

Result<PlannedNode> plan_ceil(const NodeContext& context) {
  return plan_float_map(context, [](float x) { return std::ceil(x); });
}

Result<PlannedNode> plan_clip(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  constexpr float kMax = std::numeric_limits<float>::max();
  TOCSIN_ASSIGN_OR_RETURN(const ClipBound low, clip_bound(context, 1, "min", -kMax));
  TOCSIN_ASSIGN_OR_RETURN(const ClipBound high, clip_bound(context, 2, "max", kMax));
  return plan_terms(
      context, {bound_term(Operation::kAtLeast, 1, low), bound_term(Operation::kAtMost, 2, high)});
}

Result<PlannedNode> plan_elu(const NodeContext& context) {
  const float alpha = context.float_attribute("alpha", 1.0F);
  return plan_blocks(context, [alpha](const float* x, float* y, std::size_t count) {
    Block below;
    kernels().expm1(x, below.data(), count);
    for (std::size_t i = 0; i < count; ++i) y[i] = x[i] < 0.0F ? alpha * below[i] : x[i];
  });
}

Result<PlannedNode> plan_celu(const NodeContext& context) {
  const float alpha = context.float_attribute("alpha", 1.0F);
  return plan_blocks(context, [alpha](const float* x, float* y, std::size_t count) {
    Block below;
    for (std::size_t i = 0; i < count; ++i) below[i] = x[i] / alpha;
    kernels().expm1(below.data(), below.data(), count);
    for (std::size_t i = 0; i < count; ++i) y[i] = x[i] < 0.0F ? alpha * below[i] : x[i];
  });
}

Result<PlannedNode> plan_selu(const NodeContext& context) {
  const float alpha = context.float_attribute("alpha", 1.67326319217681884765625F);
  const float gamma = context.float_attribute("gamma", 1.05070102214813232421875F);
  return plan_blocks(context, [alpha, gamma](const float* x, float* y, std::size_t count) {
    Block below;
    kernels().expm1(x, below.data(), count);
    for (std::size_t i = 0; i < count; ++i) y[i] = gamma * (x[i] < 0.0F ? alpha * below[i] : x[i]);
  });
}

Result<PlannedNode> plan_swish(const NodeContext& context) {
  const float alpha = context.float_attribute("alpha", 1.0F);
  return plan_blocks(context, [alpha](const float* x, float* y, std::size_t count) {
    Block gate;
    for (std::size_t i = 0; i < count; ++i) gate[i] = alpha * x[i];
    kernels().sigmoid(gate.data(), gate.data(), count);
    for (std::size_t i = 0; i < count; ++i) y[i] = x[i] * gate[i];
  });
}

Result<PlannedNode> plan_hard_swish(const NodeContext& context) {
  return plan_float_map(context, [](float x) {
    const float line = x / 6.0F + 0.5F;
    const float raised = line < 0.0F ? 0.0F : line;
    return x * (raised > 1.0F ? 1.0F : raised);
  });
}

Result<PlannedNode> plan_shrink(const NodeContext& context) {
  const float bias = context.float_attribute("bias", 0.0F);
  const float limit = context.float_attribute("lambd", 0.5F);
  return plan_float_map(context, [bias, limit](float x) {
    if (x < -limit) return x + bias;
    if (x > limit) return x - bias;
    return std::isnan(x) ? x : 0.0F;
  });
}

Result<PlannedNode> plan_softsign(const NodeContext& context) {
  return plan_float_map(context, [](float x) { return x / (1.0F + std::fabs(x)); });
}

Result<PlannedNode> plan_thresholded_relu(const NodeContext& context) {
  const float alpha = context.float_attribute("alpha", 1.0F);
  return plan_float_map(context, [alpha](float x) { return x <= alpha ? 0.0F : x; });
}

Result<PlannedNode> plan_erf(const NodeContext& context) {
  return plan_operation(context, Operation::kErf);
}
Result<PlannedNode> plan_exp(const NodeContext& context) {
  return plan_operation(context, Operation::kExp);
}
Result<PlannedNode> plan_floor(const NodeContext& context) {
  return plan_float_map(context, [](float x) { return std::floor(x); });
}

Result<PlannedNode> plan_gelu(const NodeContext& context) {
  const std::string approximate = context.string_attribute("approximate", "none");
  if (approximate == "none") return plan_terms(context, gelu_by_erf(), 2);
  if (approximate == "tanh") return plan_terms(context, gelu_by_tanh(), 2);
  return unsupported("approximate = '" + approximate + "' is not supported");
}

Result<PlannedNode> plan_hard_sigmoid(const NodeContext& context) {
  const float alpha = context.float_attribute("alpha", 0.2F);
  const float beta = context.float_attribute("beta", 0.5F);
  return plan_terms(
      context, {number_term(Operation::kMultiply, alpha), number_term(Operation::kAdd, beta),
                number_term(Operation::kAtLeast, 0.0F), number_term(Operation::kAtMost, 1.0F)});
}

Result<PlannedNode> plan_leaky_relu(const NodeContext& context) {
  const float alpha = context.float_attribute("alpha", 0.01F);
  return plan_terms(context, {number_term(Operation::kScaleNegative, alpha)});
}

Result<PlannedNode> plan_log(const NodeContext& context) {
  return plan_operation(context, Operation::kLog);
}

Result<PlannedNode> plan_neg(const NodeContext& context) {
  if (context.input(0).type == DataType::kInt64)
    return plan_map_as<std::int64_t>(context, [](std::int64_t x) {
      return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));
    });
  return plan_operation(context, Operation::kNegate);
}

Result<PlannedNode> plan_not(const NodeContext& context) {
  if (context.input(0).type != DataType::kBool) return invalid("its input must be bool");
  return plan_map_as<bool>(context, [](bool x) { return !x; });
}

Result<PlannedNode> plan_reciprocal(const NodeContext& context) {
  return plan_terms(context, {number_term(Operation::kDivideInto, 1.0F)});
}
Result<PlannedNode> plan_relu(const NodeContext& context) {
  return plan_terms(context, {number_term(Operation::kAtLeast, 0.0F)});
}
Result<PlannedNode> plan_sigmoid(const NodeContext& context) {
  return plan_operation(context, Operation::kSigmoid);
}
Result<PlannedNode> plan_sign(const NodeContext& context) {
  return plan_float_map(context, [](float x) { return x > 0.0F ? 1.0F : (x < 0.0F ? -1.0F : x); });
}
Result<PlannedNode> plan_softplus(const NodeContext& context) {
  return plan_blocks(context, softplus_block);
}
Result<PlannedNode> plan_sqrt(const NodeContext& context) {
  return plan_operation(context, Operation::kSquareRoot);
}
Result<PlannedNode> plan_tanh(const NodeContext& context) {
  return plan_operation(context, Operation::kTanh);
}

// To the nearest integer, halves to the even one.
Result<PlannedNode> plan_round(const NodeContext& context) {
  return plan_float_map(context, [](float x) { return std::nearbyint(x); });
}

// Through double precision, so that the rounding to float32 hides what libraries differ in.
Result<PlannedNode> plan_cos(const NodeContext& context) {
  return plan_float_map(
      context, [](float x) { return static_cast<float>(std::cos(static_cast<double>(x))); });
}
Result<PlannedNode> plan_sin(const NodeContext& context) {
  return plan_float_map(
      context, [](float x) { return static_cast<float>(std::sin(static_cast<double>(x))); });
}

// x tanh(softplus(x))
Result<PlannedNode> plan_mish(const NodeContext& context) {
  return plan_blocks(context, [](const float* x, float* y, std::size_t count) {
    Block gate;
    softplus_block(x, gate.data(), count);
    kernels().tanh(gate.data(), gate.data(), count);
    for (std::size_t i = 0; i < count; ++i) y[i] = x[i] * gate[i];
  });
}

Result<PlannedNode> plan_is_nan(const NodeContext& context) {
  return plan_test(context, [](float x) { return std::isnan(x); });
}
Result<PlannedNode> plan_is_inf(const NodeContext& context) {
  const bool positive = context.int_attribute("detect_positive", 1) != 0;
  const bool negative = context.int_attribute("detect_negative", 1) != 0;
  return plan_test(context, [positive, negative](float x) {
    return std::isinf(x) && (x > 0.0F ? positive : negative);
  });
}

}  // namespace tocsin
