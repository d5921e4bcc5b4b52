// CumSum and TopK: along one axis, in the order of its elements.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engines/reference/element_types.h"
#include "engines/reference/place_walk.h"
#include "engines/reference/plan_functions.h"

namespace tocsin {
namespace {

// A tensor seen as [outer, count, inner] around an axis.
struct AxisLoop {
  std::size_t outer = 1, count = 1, inner = 1;

  AxisLoop(const Shape& shape, std::size_t axis)
      : outer(element_count_of(shape, 0, axis)),
        count(static_cast<std::size_t>(shape[axis])),
        inner(element_count_of(shape, axis + 1, shape.size())) {}
};

struct SumOptions {
  bool is_exclusive = false, is_reverse = false;
};

template <typename T>
T sum_of(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}

template <typename T>
Kernel cumulative_kernel(const AxisLoop& loop, const SumOptions& options) {
  return [loop, options](const Buffers& buffers) {
    for (std::size_t row = 0; row < loop.outer * loop.inner; ++row) {
      const std::size_t start = row / loop.inner * loop.count * loop.inner + row % loop.inner;
      const T* x = buffers.input<T>(0) + start;
      T* y = buffers.output<T>(0) + start;
      T sum = T(0);
      for (std::size_t i = 0; i < loop.count; ++i) {
        const std::size_t place = (options.is_reverse ? loop.count - 1 - i : i) * loop.inner;
        const T next = sum_of(sum, x[place]);
        y[place] = options.is_exclusive ? sum : next;
        sum = next;
      }
    }
  };
}

struct TopOptions {
  std::size_t k = 0;
  bool is_largest = true;
};

template <typename T>
bool is_above(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return a > b;
}

// Best first; of equals, the one that comes first. NaN counts as the largest value.
template <typename T>
Kernel top_kernel(const AxisLoop& loop, const TopOptions& options) {
  return [loop, options](const Buffers& buffers) {
    auto* order = reinterpret_cast<std::int64_t*>(buffers.scratch);
    T* values = buffers.output<T>(0);
    std::int64_t* places = buffers.outputs.size() > 1 ? buffers.output<std::int64_t>(1) : nullptr;
    for (std::size_t row = 0; row < loop.outer * loop.inner; ++row) {
      const std::size_t outer = row / loop.inner;
      const std::size_t inner = row % loop.inner;
      const T* x = buffers.input<T>(0) + outer * loop.count * loop.inner + inner;
      for (std::size_t i = 0; i < loop.count; ++i) order[i] = static_cast<std::int64_t>(i);
      const auto value = [&](std::int64_t place) {
        return x[static_cast<std::size_t>(place) * loop.inner];
      };
      std::partial_sort(order, order + options.k, order + loop.count,
                        [&](std::int64_t a, std::int64_t b) {
                          const T left = value(a);
                          const T right = value(b);
                          if (is_above(left, right)) return options.is_largest;
                          if (is_above(right, left)) return !options.is_largest;
                          return a < b;
                        });
      for (std::size_t i = 0; i < options.k; ++i) {
        const std::size_t place = (outer * options.k + i) * loop.inner + inner;
        if (values != nullptr) values[place] = value(order[i]);
        if (places != nullptr) places[place] = order[i];
      }
    }
  };
}

}  // namespace

Result<PlannedNode> plan_cum_sum(const NodeContext& context) {
  const Operand& x = context.input(0);
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> axes, context.constant_ints(1, "axis"));
  if (axes.size() != 1) return invalid("its axis must be one value");
  TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis, NodeContext::axis_of(axes[0], x.rank()));
  const SumOptions options{context.int_attribute("exclusive", 0) != 0,
                           context.int_attribute("reverse", 0) != 0};
  const AxisLoop loop(x.shape, axis);
  PlannedNode planned;
  planned.outputs.push_back({x.type, x.shape, {}, {}});
  return with_number_type(x.type, [&]<typename T>() -> Result<PlannedNode> {
    planned.kernel = cumulative_kernel<T>(loop, options);
    return std::move(planned);
  });
}

Result<PlannedNode> plan_top_k(const NodeContext& context) {
  const Operand& x = context.input(0);
  std::vector<std::int64_t> k{context.int_attribute("k", 0)};
  if (context.opset() >= 10) {
    if (!context.has_input(1)) return invalid("it has no K");
    TOCSIN_ASSIGN_OR_RETURN(k, context.constant_ints(1, "K"));
  }
  TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis,
                          NodeContext::axis_of(context.int_attribute("axis", -1), x.rank()));
  if (k.size() != 1 || k[0] < 0 || k[0] > x.shape[axis])
    return invalid("its K must be one value from 0 to " + std::to_string(x.shape[axis]));
  context.ignore_attribute("sorted");  // any order is allowed without it
  const AxisLoop loop(x.shape, axis);
  const TopOptions options{static_cast<std::size_t>(k[0]),
                           context.int_attribute("largest", 1) != 0};
  PlannedNode planned;
  Shape shape = x.shape;
  shape[axis] = k[0];
  planned.outputs.push_back({x.type, shape, {}, {}});
  planned.outputs.push_back({DataType::kInt64, std::move(shape), {}, {}});
  planned.scratch_bytes = loop.count * sizeof(std::int64_t);
  return with_number_type(x.type, [&]<typename T>() -> Result<PlannedNode> {
    planned.kernel = top_kernel<T>(loop, options);
    return std::move(planned);
  });
}

}  // namespace tocsin
