// The Reduce operators and global pooling. Sums run over the reduced
// elements in row-major order, in blocks of kSumBlock like every sum.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "engines/reference/plan_functions.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

// The dimensions of a reduction, split into kept and reduced ones, each outermost first, with
// strides.
struct ReductionLoop {
  // The reduced axes are the last ones: each output sums one row of the input.
  bool is_of_rows = false;
  struct Axis {
    std::size_t count = 1, stride = 1;
  };
  std::vector<Axis> kept, reduced;
  std::size_t output_count = 1, reduced_count = 1;

  // Offset of the `index`-th combination of the axes, in row-major order.
  static std::size_t offset(const std::vector<Axis>& axes, std::size_t index) noexcept {
    std::size_t result = 0;
    for (std::size_t i = axes.size(); i > 0; --i) {
      result += index % axes[i - 1].count * axes[i - 1].stride;
      index /= axes[i - 1].count;
    }
    return result;
  }
};

ReductionLoop reduction_loop(const Shape& shape, const std::vector<bool>& is_reduced) {
  ReductionLoop loop;
  loop.is_of_rows = std::is_sorted(is_reduced.begin(), is_reduced.end());
  std::size_t stride = 1;
  for (std::size_t i = shape.size(); i > 0; --i) {
    const auto count = static_cast<std::size_t>(shape[i - 1]);
    (is_reduced[i - 1] ? loop.reduced : loop.kept)
        .insert((is_reduced[i - 1] ? loop.reduced : loop.kept).begin(), {count, stride});
    (is_reduced[i - 1] ? loop.reduced_count : loop.output_count) *= count;
    stride *= count;
  }
  return loop;
}

// An operation takes each value as enter() gives it; take() joins values and the results of blocks.
struct AsItIs {
  template <typename T>
  static T enter(T value) noexcept {
    return value;
  }
};
struct Sum : AsItIs {
  template <typename T>
  static T start() noexcept {
    return T(0);
  }
  template <typename T>
  static T take(T sum, T value) noexcept {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Unsigned>(sum) + static_cast<Unsigned>(value));
    } else {
      return sum + value;
    }
  }
};
template <typename T>
T product(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
  } else {
    return a * b;
  }
}
struct SumOfMagnitudes : Sum {
  template <typename T>
  static T enter(T value) noexcept {
    return value < T(0) ? Sum::take(T(0), product(value, T(-1))) : value;
  }
};
struct SumOfSquares : Sum {
  template <typename T>
  static T enter(T value) noexcept {
    return product(value, value);
  }
};
struct Product : AsItIs {
  template <typename T>
  static T start() noexcept {
    return T(1);
  }
  template <typename T>
  static T take(T result, T value) noexcept {
    return product(result, value);
  }
};
template <typename T>
bool is_nan(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}
// A NaN among the values comes out.
struct Max : AsItIs {
  template <typename T>
  static T start() noexcept {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::min();
  }
  template <typename T>
  static T take(T most, T value) noexcept {
    return most < value || is_nan(value) ? value : most;
  }
};
struct Min : AsItIs {
  template <typename T>
  static T start() noexcept {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::max();
  }
  template <typename T>
  static T take(T least, T value) noexcept {
    return value < least || is_nan(value) ? value : least;
  }
};

constexpr std::size_t kRow = 64;  // outputs reduced side by side

// `width` outputs that stand `step` apart in x, from x on.
template <typename T, typename Operation>
void reduce_row(const ReductionLoop& loop, const T* x, std::size_t step, std::size_t width, T* y) {
  std::array<T, kRow> block;
  std::fill_n(y, width, Operation::template start<T>());
  for (std::size_t first = 0; first < loop.reduced_count; first += kSumBlock) {
    const std::size_t end = std::min(first + kSumBlock, loop.reduced_count);
    std::fill_n(block.begin(), width, Operation::template start<T>());
    for (std::size_t k = first; k < end; ++k) {
      const T* values = x + ReductionLoop::offset(loop.reduced, k);
      for (std::size_t n = 0; n < width; ++n)
        block[n] = Operation::take(block[n], Operation::enter(values[n * step]));
    }
    for (std::size_t n = 0; n < width; ++n) y[n] = Operation::take(y[n], block[n]);
  }
}

template <typename T, typename Operation>
void reduce(const ReductionLoop& loop, const T* x, T* y) {
  // The innermost kept axis gives outputs that stand side by side.
  const ReductionLoop::Axis inner = loop.kept.empty() ? ReductionLoop::Axis{} : loop.kept.back();
  if (loop.output_count == 0) return;
  const std::size_t rows = loop.output_count / inner.count;
  for (std::size_t row = 0; row < rows; ++row) {
    const T* start = x + ReductionLoop::offset(loop.kept, row * inner.count);
    for (std::size_t n = 0; n < inner.count; n += kRow)
      reduce_row<T, Operation>(loop, start + n * inner.stride, inner.stride,
                               std::min(kRow, inner.count - n), y + row * inner.count + n);
  }
}

template <typename T, typename Operation>
Kernel reduction_kernel(const ReductionLoop& loop, bool is_mean) {
  return [loop, is_mean](const Buffers& buffers) {
    T* y = buffers.output<T>(0);
    const T* x = buffers.input<T>(0);
    if constexpr (std::is_same_v<T, float> && std::is_same_v<Operation, Sum>) {
      if (loop.is_of_rows)
        kernels().row_sum({loop.output_count, loop.reduced_count, x, loop.reduced_count, y});
      else
        reduce<T, Operation>(loop, x, y);
    } else {
      reduce<T, Operation>(loop, x, y);
    }
    if constexpr (std::is_floating_point_v<T>) {
      const T count = static_cast<T>(loop.reduced_count);
      if (is_mean)
        for (std::size_t i = 0; i < loop.output_count; ++i) y[i] = y[i] / count;
    }
  };
}

// Which axes are reduced: an attribute in old opsets, an input in new ones.
Result<std::vector<bool>> reduced_axes(const NodeContext& context, std::int64_t input_since) {
  const std::size_t rank = context.input(0).rank();
  std::vector<std::int64_t> axes;
  if (context.opset() < input_since) {
    axes = context.ints_attribute("axes");
  } else if (context.has_input(1)) {
    TOCSIN_ASSIGN_OR_RETURN(axes, context.constant_ints(1, "axes"));
  }
  const bool nothing_if_empty = context.int_attribute("noop_with_empty_axes", 0) != 0;
  std::vector<bool> is_reduced(rank, axes.empty() && !nothing_if_empty);
  for (const std::int64_t axis : axes) {
    TOCSIN_ASSIGN_OR_RETURN(const std::size_t index, NodeContext::axis_of(axis, rank));
    is_reduced[index] = true;
  }
  return is_reduced;
}

template <typename Operation>
Result<PlannedNode> plan_reduction(const NodeContext& context, std::int64_t input_since,
                                   bool is_mean) {
  const Operand& x = context.input(0);
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<bool> is_reduced, reduced_axes(context, input_since));
  const bool keeps = context.int_attribute("keepdims", 1) != 0;
  Shape output;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (!is_reduced[i])
      output.push_back(x.shape[i]);
    else if (keeps)
      output.push_back(1);
  }
  const ReductionLoop loop = reduction_loop(x.shape, is_reduced);
  PlannedNode planned;
  planned.outputs.push_back({x.type, output, {}, {}});
  if (x.type == DataType::kFloat32)
    planned.kernel = reduction_kernel<float, Operation>(loop, is_mean);
  else if (x.type == DataType::kInt64 && !is_mean)
    planned.kernel = reduction_kernel<std::int64_t, Operation>(loop, false);
  else if (x.type == DataType::kInt32 && !is_mean)
    planned.kernel = reduction_kernel<std::int32_t, Operation>(loop, false);
  else
    return unsupported("element type " + std::string(data_type_name(x.type)) + " is not supported");
  return planned;
}

// A reduction of float32 and then finish(y, count) of its results.
template <typename Operation, typename Finish>
Result<PlannedNode> plan_finished(const NodeContext& context, Finish finish) {
  TOCSIN_ASSIGN_OR_RETURN(PlannedNode planned, plan_reduction<Operation>(context, 18, false));
  const std::optional<std::size_t> count = checked_element_count(planned.outputs[0].shape);
  if (!count) return invalid("its output is too large");
  planned.kernel = [reduce = planned.kernel, finish, count = *count](const Buffers& buffers) {
    reduce(buffers);
    finish(buffers.output<float>(0), count);
  };
  return planned;
}

template <typename Operation>
Result<PlannedNode> plan_global_pool(const NodeContext& context, bool is_mean) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const Operand& x = context.input(0);
  if (x.rank() < 3) return invalid("its input needs batch, channel and spatial dimensions");
  std::vector<bool> is_reduced(x.rank(), true);
  is_reduced[0] = is_reduced[1] = false;
  Shape output(x.rank(), 1);
  output[0] = x.shape[0];
  output[1] = x.shape[1];
  PlannedNode planned;
  planned.outputs.push_back({x.type, output, {}, {}});
  planned.kernel = reduction_kernel<float, Operation>(reduction_loop(x.shape, is_reduced), is_mean);
  return planned;
}

}  // namespace

Result<PlannedNode> plan_reduce_sum(const NodeContext& context) {
  return plan_reduction<Sum>(context, 13, false);
}
Result<PlannedNode> plan_reduce_mean(const NodeContext& context) {
  return plan_reduction<Sum>(context, 18, true);
}
Result<PlannedNode> plan_reduce_max(const NodeContext& context) {
  return plan_reduction<Max>(context, 18, false);
}
Result<PlannedNode> plan_reduce_min(const NodeContext& context) {
  return plan_reduction<Min>(context, 18, false);
}
Result<PlannedNode> plan_reduce_l1(const NodeContext& context) {
  return plan_reduction<SumOfMagnitudes>(context, 18, false);
}
Result<PlannedNode> plan_reduce_prod(const NodeContext& context) {
  return plan_reduction<Product>(context, 18, false);
}
Result<PlannedNode> plan_reduce_sum_square(const NodeContext& context) {
  return plan_reduction<SumOfSquares>(context, 18, false);
}
Result<PlannedNode> plan_reduce_l2(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  return plan_finished<SumOfSquares>(context, [](float* y, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) y[i] = std::sqrt(y[i]);
  });
}
Result<PlannedNode> plan_reduce_log_sum(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  return plan_finished<Sum>(context,
                            [](float* y, std::size_t count) { kernels().log(y, y, count); });
}
// log(sum(exp(x - m))) + m, m being the largest x, or 0 where that is not finite.
Result<PlannedNode> plan_reduce_log_sum_exp(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const Operand& x = context.input(0);
  TOCSIN_ASSIGN_OR_RETURN(PlannedNode planned, plan_reduction<Max>(context, 18, false));
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<bool> is_reduced, reduced_axes(context, 18));
  const ReductionLoop loop = reduction_loop(x.shape, is_reduced);
  // The exponentials, then the maxima.
  planned.scratch_bytes = (x.element_count() + loop.output_count) * sizeof(float);
  planned.kernel = [loop, count = x.element_count()](const Buffers& buffers) {
    const float* values = buffers.input<float>(0);
    float* y = buffers.output<float>(0);
    auto* terms = reinterpret_cast<float*>(buffers.scratch);
    float* maxima = terms + count;
    reduce<float, Max>(loop, values, maxima);
    for (std::size_t i = 0; i < loop.output_count; ++i) {
      if (!std::isfinite(maxima[i])) maxima[i] = 0.0F;
      const std::size_t start = ReductionLoop::offset(loop.kept, i);
      for (std::size_t k = 0; k < loop.reduced_count; ++k) {
        const std::size_t place = start + ReductionLoop::offset(loop.reduced, k);
        terms[place] = values[place] - maxima[i];
      }
    }
    kernels().exp(terms, terms, count);
    reduce<float, Sum>(loop, terms, y);
    kernels().log(y, y, loop.output_count);
    for (std::size_t i = 0; i < loop.output_count; ++i) y[i] += maxima[i];
  };
  return planned;
}
Result<PlannedNode> plan_global_average_pool(const NodeContext& context) {
  return plan_global_pool<Sum>(context, true);
}
Result<PlannedNode> plan_global_max_pool(const NodeContext& context) {
  return plan_global_pool<Max>(context, false);
}

}  // namespace tocsin
