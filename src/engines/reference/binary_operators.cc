// Element-wise operators of two or more operands, with broadcasting. Integers wrap around; integer
// division by zero gives zero, so that no input can stop the program.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "engines/reference/broadcast.h"
#include "engines/reference/element_types.h"
#include "engines/reference/plan_functions.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

// The operation a op b as a step from a, and as one from b.
struct PointwisePair {
  PointwiseOperation forward;
  PointwiseOperation exchanged;
};

// The innermost row of a binary operation, for each way in which an operand may stand still.
template <typename A, typename B, typename Out, typename Operation>
void apply_row(const A* a, bool a_moves, const B* b, bool b_moves, Out* y, std::size_t count,
               Operation operation) {
  if (a_moves && b_moves) {
    for (std::size_t i = 0; i < count; ++i) y[i] = operation(a[i], b[i]);
  } else if (a_moves) {
    for (std::size_t i = 0; i < count; ++i) y[i] = operation(a[i], *b);
  } else if (b_moves) {
    for (std::size_t i = 0; i < count; ++i) y[i] = operation(*a, b[i]);
  } else {
    for (std::size_t i = 0; i < count; ++i) y[i] = operation(*a, *b);
  }
}

template <typename A, typename B, typename Out, typename Operation>
void apply(const BroadcastLoop<2>& loop, const void* a, const void* b, void* y,
           Operation operation) {
  loop.run([&](std::size_t offset, const auto& offsets, std::size_t count, const auto& steps) {
    apply_row(static_cast<const A*>(a) + offsets[0], steps[0] != 0,
              static_cast<const B*>(b) + offsets[1], steps[1] != 0, static_cast<Out*>(y) + offset,
              count, operation);
  });
}

Status require_same_type(const NodeContext& context) {
  const DataType type = context.input(0).type;
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    if (context.input(i).type != type)
      return invalid("its inputs have different types: " + std::string(data_type_name(type)) +
                     " and " + std::string(data_type_name(context.input(i).type)));
  }
  return {};
}

template <typename A, typename B, typename Out, typename Operation>
Result<PlannedNode> plan_binary_as(const NodeContext& context, Operation operation) {
  TOCSIN_ASSIGN_OR_RETURN(const Shape shape,
                          broadcast_shapes(context.input(0).shape, context.input(1).shape));
  const BroadcastLoop<2> loop(shape, {context.input(0).shape, context.input(1).shape});
  PlannedNode planned;
  planned.outputs.push_back({data_type_of<Out>(), shape, {}, {}});
  planned.kernel = [loop, operation](const Buffers& buffers) {
    apply<A, B, Out>(loop, buffers.inputs[0], buffers.inputs[1], buffers.outputs[0], operation);
  };
  return planned;
}

// One operation of two float tensors, if one of them has the output's shape.
std::optional<PlannedNode> pointwise_binary(const NodeContext& context, const Shape& shape,
                                            const PointwisePair& operations) {
  if (context.input(0).type != DataType::kFloat32) return {};
  PointwiseProgram program;
  program.count = *checked_element_count(shape);
  program.start = context.input(0).element_count() == program.count ? 0 : 1;
  if (context.input(program.start).element_count() != program.count) return {};
  const std::size_t other = 1 - program.start;
  const auto pattern = operand_pattern(context.input(other).shape, shape);
  if (!pattern) return {};
  program.terms.push_back(
      input_term(program.start == 0 ? operations.forward : operations.exchanged, other, *pattern));
  return planned_pointwise(shape, std::move(program));
}

// Operation::apply<T>(a, b) for numbers of any type, with a result of that type.
template <typename Operation>
Result<PlannedNode> plan_arithmetic(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(require_same_type(context));
  if constexpr (requires { Operation::kPointwise; }) {
    TOCSIN_ASSIGN_OR_RETURN(const Shape shape,
                            broadcast_shapes(context.input(0).shape, context.input(1).shape));
    if (std::optional<PlannedNode> planned =
            pointwise_binary(context, shape, Operation::kPointwise))
      return std::move(*planned);
  }
  return with_number_type(context.input(0).type, [&context]<typename T>() {
    return plan_binary_as<T, T, T>(context,
                                   [](T a, T b) { return Operation::template apply<T>(a, b); });
  });
}

template <typename Operation>
Result<PlannedNode> plan_comparison(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(require_same_type(context));
  return with_number_type(context.input(0).type, [&context]<typename T>() {
    return plan_binary_as<T, T, bool>(context, [](T a, T b) { return Operation::compare(a, b); });
  });
}

template <typename Operation>
Result<PlannedNode> plan_logical(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(require_same_type(context));
  if (context.input(0).type != DataType::kBool) return unsupported("its inputs must be bool");
  return plan_binary_as<bool, bool, bool>(context,
                                          [](bool a, bool b) { return Operation::compare(a, b); });
}

// Signed arithmetic done unsigned: overflow wraps around instead of being undefined.
template <typename T, typename Operation>
T wrapping(T a, T b, Operation operation) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return operation(a, b);
  } else {
    // At least as wide as int, or the operands would be promoted to it.
    using Unsigned = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return static_cast<T>(operation(static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
  }
}

struct Add {
  static constexpr PointwisePair kPointwise{PointwiseOperation::kAdd, PointwiseOperation::kAdd};
  template <typename T>
  static T apply(T a, T b) noexcept {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Sub {
  static constexpr PointwisePair kPointwise{PointwiseOperation::kSubtract,
                                            PointwiseOperation::kSubtractFrom};
  template <typename T>
  static T apply(T a, T b) noexcept {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Mul {
  static constexpr PointwisePair kPointwise{PointwiseOperation::kMultiply,
                                            PointwiseOperation::kMultiply};
  template <typename T>
  static T apply(T a, T b) noexcept {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};
struct Div {
  static constexpr PointwisePair kPointwise{PointwiseOperation::kDivide,
                                            PointwiseOperation::kDivideInto};
  template <typename T>
  static T apply(T a, T b) noexcept {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return Sub::apply<T>(0, a);
      }
      return static_cast<T>(a / b);
    }
  }
};
// The result takes the divisor's sign (integers only).
struct Mod {
  template <typename T>
  static T apply(T a, T b) noexcept {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    const T rest = static_cast<T>(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  }
};
// The result takes the dividend's sign, as std::fmod's.
struct TruncatedMod {
  template <typename T>
  static T apply(T a, T b) noexcept {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      return static_cast<T>(a % b);
    }
  }
};
template <typename T>
bool is_nan(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}
// A NaN among the operands comes out.
struct Min {
  template <typename T>
  static T apply(T a, T b) noexcept {
    return b < a || is_nan(b) ? b : a;
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) noexcept {
    return a < b || is_nan(b) ? b : a;
  }
};

struct Equal {
  template <typename T>
  static bool compare(T a, T b) noexcept {
    return a == b;
  }
};
struct Less {
  template <typename T>
  static bool compare(T a, T b) noexcept {
    return a < b;
  }
};
struct LessOrEqual {
  template <typename T>
  static bool compare(T a, T b) noexcept {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  static bool compare(T a, T b) noexcept {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <typename T>
  static bool compare(T a, T b) noexcept {
    return a >= b;
  }
};
struct And {
  static bool compare(bool a, bool b) noexcept { return a && b; }
};
struct Or {
  static bool compare(bool a, bool b) noexcept { return a || b; }
};
struct Xor {
  static bool compare(bool a, bool b) noexcept { return a != b; }
};

// The square is one multiplication; every other power goes through double precision.
float power_of(float x, float y) noexcept { return y == 2.0F ? x * x : power(x, y); }

// Through double precision; what the type cannot hold becomes its nearest, NaN 0.
template <typename Base, typename Exponent>
Base integer_power(Base x, Exponent y) noexcept {
  const double power = std::pow(static_cast<double>(x), static_cast<double>(y));
  constexpr auto kLow = static_cast<double>(std::numeric_limits<Base>::min());
  if (std::isnan(power)) return 0;
  if (power < kLow) return std::numeric_limits<Base>::min();
  if (power >= -kLow) return std::numeric_limits<Base>::max();
  return static_cast<Base>(power);
}

// One input, or a chain y = in0 op in1, y = y op in2, ... of inputs that broadcast to one shape.
template <typename T, typename Operation>
Result<PlannedNode> plan_chain_as(const NodeContext& context, float scale) {
  Shape shape = context.input(0).shape;
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    TOCSIN_ASSIGN_OR_RETURN(shape, broadcast_shapes(shape, context.input(i).shape));
  }
  const std::size_t count = *checked_element_count(shape);
  const BroadcastLoop<1> first(shape, {context.input(0).shape});
  std::vector<BroadcastLoop<2>> rest;
  for (std::size_t i = 1; i < context.input_count(); ++i)
    rest.emplace_back(shape,
                      std::array<std::span<const std::int64_t>, 2>{shape, context.input(i).shape});
  PlannedNode planned;
  planned.outputs.push_back({data_type_of<T>(), shape, {}, {}});
  planned.kernel = [first, rest, count, scale](const Buffers& buffers) {
    T* y = buffers.output<T>(0);
    const T* x = buffers.input<T>(0);
    first.run([&](std::size_t offset, const auto& offsets, std::size_t row, const auto& steps) {
      for (std::size_t i = 0; i < row; ++i) y[offset + i] = x[offsets[0] + i * steps[0]];
    });
    for (std::size_t i = 0; i < rest.size(); ++i)
      apply<T, T, T>(rest[i], y, buffers.inputs[i + 1], y,
                     [](T a, T b) { return Operation::template apply<T>(a, b); });
    if constexpr (std::is_floating_point_v<T>) {
      if (scale != 1.0F)
        for (std::size_t i = 0; i < count; ++i) y[i] = y[i] / static_cast<T>(scale);
    }
  };
  return planned;
}

template <typename Operation>
Result<PlannedNode> plan_chain(const NodeContext& context, float scale) {
  TOCSIN_RETURN_IF_ERROR(require_same_type(context));
  return with_number_type(context.input(0).type, [&context, scale]<typename T>() {
    return plan_chain_as<T, Operation>(context, scale);
  });
}

template <typename T>
Result<PlannedNode> plan_where_as(const NodeContext& context, const Shape& shape) {
  const BroadcastLoop<3> loop(
      shape, {context.input(0).shape, context.input(1).shape, context.input(2).shape});
  PlannedNode planned;
  planned.outputs.push_back({context.input(1).type, shape, {}, {}});
  planned.kernel = [loop](const Buffers& buffers) {
    const bool* condition = buffers.input<bool>(0);
    const T* a = buffers.input<T>(1);
    const T* b = buffers.input<T>(2);
    T* y = buffers.output<T>(0);
    loop.run([&](std::size_t offset, const auto& offsets, std::size_t count, const auto& steps) {
      for (std::size_t i = 0; i < count; ++i)
        y[offset + i] = condition[offsets[0] + i * steps[0]] ? a[offsets[1] + i * steps[1]]
                                                             : b[offsets[2] + i * steps[2]];
    });
  };
  return planned;
}

template <typename T>
Result<PlannedNode> plan_expand_as(const NodeContext& context, const Shape& shape) {
  const BroadcastLoop<1> loop(shape, {context.input(0).shape});
  PlannedNode planned;
  planned.outputs.push_back({context.input(0).type, shape, {}, {}});
  planned.kernel = [loop](const Buffers& buffers) {
    const T* x = buffers.input<T>(0);
    T* y = buffers.output<T>(0);
    loop.run([&](std::size_t offset, const auto& offsets, std::size_t count, const auto& steps) {
      for (std::size_t i = 0; i < count; ++i) y[offset + i] = x[offsets[0] + i * steps[0]];
    });
  };
  return planned;
}

}  // namespace

Result<PlannedNode> plan_add(const NodeContext& context) { return plan_arithmetic<Add>(context); }
Result<PlannedNode> plan_sub(const NodeContext& context) { return plan_arithmetic<Sub>(context); }
Result<PlannedNode> plan_mul(const NodeContext& context) { return plan_arithmetic<Mul>(context); }
Result<PlannedNode> plan_div(const NodeContext& context) { return plan_arithmetic<Div>(context); }

Result<PlannedNode> plan_mod(const NodeContext& context) {
  if (context.int_attribute("fmod", 0) != 0) return plan_arithmetic<TruncatedMod>(context);
  TOCSIN_RETURN_IF_ERROR(require_same_type(context));
  return with_number_type(context.input(0).type, [&context]<typename T>() -> Result<PlannedNode> {
    if constexpr (std::is_integral_v<T>) return plan_binary_as<T, T, T>(context, Mod::apply<T>);
    return invalid("numbers with a fraction need fmod = 1");
  });
}

Result<PlannedNode> plan_pow(const NodeContext& context) {
  const DataType base = context.input(0).type;
  if (base != DataType::kFloat32 && base != DataType::kInt32 && base != DataType::kInt64)
    return unsupported_type(base);
  const Operand& exponent = context.input(1);
  if (base == DataType::kFloat32 && exponent.type == DataType::kFloat32 &&
      exponent.constant != nullptr && exponent.element_count() == 1 &&
      exponent.rank() <= context.input(0).rank() && exponent.values<float>()[0] == 2.0F) {
    PointwiseProgram program{context.input(0).element_count(), 0, {}, 0};
    program.terms.push_back(input_term(PointwiseOperation::kMultiply, 0, {1, program.count}));
    if (std::optional<PlannedNode> planned =
            planned_pointwise(context.input(0).shape, std::move(program)))
      return std::move(*planned);
  }
  return with_number_type(context.input(1).type, [&context, base]<typename T>() {
    if (base == DataType::kInt64)
      return plan_binary_as<std::int64_t, T, std::int64_t>(context, integer_power<std::int64_t, T>);
    if (base == DataType::kInt32)
      return plan_binary_as<std::int32_t, T, std::int32_t>(context, integer_power<std::int32_t, T>);
    return plan_binary_as<float, T, float>(
        context, [](float x, T y) { return power_of(x, static_cast<float>(y)); });
  });
}

Result<PlannedNode> plan_equal(const NodeContext& context) {
  if (context.input(0).type == DataType::kBool) return plan_logical<Equal>(context);
  return plan_comparison<Equal>(context);
}
Result<PlannedNode> plan_less(const NodeContext& context) { return plan_comparison<Less>(context); }
Result<PlannedNode> plan_less_or_equal(const NodeContext& context) {
  return plan_comparison<LessOrEqual>(context);
}
Result<PlannedNode> plan_greater(const NodeContext& context) {
  return plan_comparison<Greater>(context);
}
Result<PlannedNode> plan_greater_or_equal(const NodeContext& context) {
  return plan_comparison<GreaterOrEqual>(context);
}
Result<PlannedNode> plan_and(const NodeContext& context) { return plan_logical<And>(context); }
Result<PlannedNode> plan_or(const NodeContext& context) { return plan_logical<Or>(context); }
Result<PlannedNode> plan_xor(const NodeContext& context) { return plan_logical<Xor>(context); }

Result<PlannedNode> plan_min(const NodeContext& context) { return plan_chain<Min>(context, 1); }
Result<PlannedNode> plan_max(const NodeContext& context) { return plan_chain<Max>(context, 1); }
Result<PlannedNode> plan_sum(const NodeContext& context) { return plan_chain<Add>(context, 1); }
Result<PlannedNode> plan_mean(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  return plan_chain<Add>(context, static_cast<float>(context.input_count()));
}

Result<PlannedNode> plan_prelu(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  TOCSIN_RETURN_IF_ERROR(context.require_float(1));
  TOCSIN_ASSIGN_OR_RETURN(PlannedNode planned,
                          (plan_binary_as<float, float, float>(context, [](float x, float slope) {
                            return x < 0.0F ? slope * x : x;
                          })));
  if (planned.outputs[0].shape == context.input(0).shape) return planned;
  return invalid("its slope " + shape_text(context.input(1).shape) + " does not broadcast to " +
                 shape_text(context.input(0).shape));
}

Result<PlannedNode> plan_where(const NodeContext& context) {
  if (context.input(0).type != DataType::kBool) return invalid("its condition must be bool");
  if (context.input(1).type != context.input(2).type)
    return invalid("its two choices have different types");
  TOCSIN_ASSIGN_OR_RETURN(Shape shape,
                          broadcast_shapes(context.input(1).shape, context.input(2).shape));
  TOCSIN_ASSIGN_OR_RETURN(shape, broadcast_shapes(context.input(0).shape, shape));
  return with_unit_of(context.input(1).type,
                      [&]<typename T>() { return plan_where_as<T>(context, shape); });
}

Result<PlannedNode> plan_expand(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> target,
                          context.constant_ints(1, "shape"));
  TOCSIN_ASSIGN_OR_RETURN(const Shape shape, broadcast_shapes(context.input(0).shape, target));
  return with_unit_of(context.input(0).type,
                      [&]<typename T>() { return plan_expand_as<T>(context, shape); });
}

}  // namespace tocsin
