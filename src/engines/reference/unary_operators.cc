// Element-wise operators of one operand.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

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

Result<PlannedNode> plan_kernel_map(const NodeContext& context, MapFunction function) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const std::size_t count = context.input(0).element_count();
  PlannedNode planned = same_shape(context);
  planned.kernel = [count, function](const Buffers& buffers) {
    function(buffers.input<float>(0), buffers.output<float>(0), count);
  };
  return planned;
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

void gelu_by_erf(const float* x, float* y, std::size_t count) {
  Block t;
  for (std::size_t i = 0; i < count; ++i) t[i] = x[i] * 0x1.6a09e6p-1F;  // sqrt(1/2)
  kernels().erf(t.data(), t.data(), count);
  for (std::size_t i = 0; i < count; ++i) y[i] = 0.5F * x[i] * (1.0F + t[i]);
}

void gelu_by_tanh(const float* x, float* y, std::size_t count) {
  Block t;
  for (std::size_t i = 0; i < count; ++i)
    t[i] = 0x1.988454p-1F * (x[i] + 0.044715F * (x[i] * x[i] * x[i]));  // sqrt(2/pi)
  kernels().tanh(t.data(), t.data(), count);
  for (std::size_t i = 0; i < count; ++i) y[i] = 0.5F * x[i] * (1.0F + t[i]);
}

// A bound of Clip: an attribute up to opset 10, an optional scalar input after that.
struct ClipBound {
  bool is_input = false;
  float value = 0;
};

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
  return plan_float_map(context, [](float x) { return std::fabs(x); });
}

Result<PlannedNode> plan_ceil(const NodeContext& context) {
  return plan_float_map(context, [](float x) { return std::ceil(x); });
}

Result<PlannedNode> plan_clip(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  constexpr float kMax = std::numeric_limits<float>::max();
  TOCSIN_ASSIGN_OR_RETURN(const ClipBound low, clip_bound(context, 1, "min", -kMax));
  TOCSIN_ASSIGN_OR_RETURN(const ClipBound high, clip_bound(context, 2, "max", kMax));
  const std::size_t count = context.input(0).element_count();
  PlannedNode planned = same_shape(context);
  planned.kernel = [count, low, high](const Buffers& buffers) {
    const float least = low.is_input ? *buffers.input<float>(1) : low.value;
    const float most = high.is_input ? *buffers.input<float>(2) : high.value;
    const float* x = buffers.input<float>(0);
    float* y = buffers.output<float>(0);
    for (std::size_t i = 0; i < count; ++i) {
      const float raised = x[i] < least ? least : x[i];
      y[i] = raised > most ? most : raised;
    }
  };
  return planned;
}

Result<PlannedNode> plan_elu(const NodeContext& context) {
  const float alpha = context.float_attribute("alpha", 1.0F);
  return plan_blocks(context, [alpha](const float* x, float* y, std::size_t count) {
    Block below;
    kernels().expm1(x, below.data(), count);
    for (std::size_t i = 0; i < count; ++i) y[i] = x[i] < 0.0F ? alpha * below[i] : x[i];
  });
}

Result<PlannedNode> plan_erf(const NodeContext& context) {
  return plan_kernel_map(context, kernels().erf);
}
Result<PlannedNode> plan_exp(const NodeContext& context) {
  return plan_kernel_map(context, kernels().exp);
}
Result<PlannedNode> plan_floor(const NodeContext& context) {
  return plan_float_map(context, [](float x) { return std::floor(x); });
}

Result<PlannedNode> plan_gelu(const NodeContext& context) {
  const std::string approximate = context.string_attribute("approximate", "none");
  if (approximate == "none") return plan_blocks(context, gelu_by_erf);
  if (approximate == "tanh") return plan_blocks(context, gelu_by_tanh);
  return unsupported("approximate = '" + approximate + "' is not supported");
}

Result<PlannedNode> plan_hard_sigmoid(const NodeContext& context) {
  const float alpha = context.float_attribute("alpha", 0.2F);
  const float beta = context.float_attribute("beta", 0.5F);
  return plan_float_map(context, [alpha, beta](float x) {
    const float line = alpha * x + beta;
    const float raised = line < 0.0F ? 0.0F : line;
    return raised > 1.0F ? 1.0F : raised;
  });
}

Result<PlannedNode> plan_leaky_relu(const NodeContext& context) {
  const float alpha = context.float_attribute("alpha", 0.01F);
  return plan_float_map(context, [alpha](float x) { return x < 0.0F ? alpha * x : x; });
}

Result<PlannedNode> plan_log(const NodeContext& context) {
  return plan_kernel_map(context, kernels().log);
}

Result<PlannedNode> plan_neg(const NodeContext& context) {
  if (context.input(0).type == DataType::kInt64)
    return plan_map_as<std::int64_t>(context, [](std::int64_t x) {
      return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));
    });
  return plan_float_map(context, [](float x) { return -x; });
}

Result<PlannedNode> plan_not(const NodeContext& context) {
  if (context.input(0).type != DataType::kBool) return invalid("its input must be bool");
  return plan_map_as<bool>(context, [](bool x) { return !x; });
}

Result<PlannedNode> plan_reciprocal(const NodeContext& context) {
  return plan_float_map(context, [](float x) { return 1.0F / x; });
}
Result<PlannedNode> plan_relu(const NodeContext& context) {
  return plan_float_map(context, [](float x) { return x < 0.0F ? 0.0F : x; });
}
Result<PlannedNode> plan_sigmoid(const NodeContext& context) {
  return plan_kernel_map(context, kernels().sigmoid);
}
Result<PlannedNode> plan_sign(const NodeContext& context) {
  return plan_float_map(context, [](float x) { return x > 0.0F ? 1.0F : (x < 0.0F ? -1.0F : x); });
}
Result<PlannedNode> plan_softplus(const NodeContext& context) {
  return plan_blocks(context, softplus_block);
}
Result<PlannedNode> plan_sqrt(const NodeContext& context) {
  return plan_float_map(context, [](float x) { return std::sqrt(x); });
}
Result<PlannedNode> plan_tanh(const NodeContext& context) {
  return plan_kernel_map(context, kernels().tanh);
}

}  // namespace tocsin
