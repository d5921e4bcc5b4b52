// Slice: a strided part of a tensor, steps of either sign.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "engines/reference/element_types.h"
#include "engines/reference/plan_functions.h"

namespace tocsin {
namespace {

struct SliceArguments {
  std::vector<std::int64_t> starts, ends, axes, steps;
};

Result<SliceArguments> slice_arguments(const NodeContext& context) {
  SliceArguments arguments;
  if (context.opset() < 10) {
    arguments = {context.ints_attribute("starts"),
                 context.ints_attribute("ends"),
                 context.ints_attribute("axes"),
                 {}};
  } else {
    TOCSIN_ASSIGN_OR_RETURN(arguments.starts, context.constant_ints(1, "starts"));
    TOCSIN_ASSIGN_OR_RETURN(arguments.ends, context.constant_ints(2, "ends"));
    if (context.has_input(3)) {
      TOCSIN_ASSIGN_OR_RETURN(arguments.axes, context.constant_ints(3, "axes"));
    }
    if (context.has_input(4)) {
      TOCSIN_ASSIGN_OR_RETURN(arguments.steps, context.constant_ints(4, "steps"));
    }
  }
  const std::size_t count = arguments.starts.size();
  if (arguments.axes.empty())
    for (std::size_t i = 0; i < count; ++i) arguments.axes.push_back(static_cast<std::int64_t>(i));
  if (arguments.steps.empty()) arguments.steps.assign(count, 1);
  if (arguments.ends.size() != count || arguments.axes.size() != count ||
      arguments.steps.size() != count)
    return invalid("starts, ends, axes and steps differ in length");
  return arguments;
}

// One axis: the first index, the step, and how many there are.
struct SliceAxis {
  std::int64_t start = 0, step = 1, count = 0;
};

SliceAxis slice_axis(std::int64_t length, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto from_end = [length](std::int64_t index) { return index < 0 ? index + length : index; };
  SliceAxis axis;
  axis.step = step;
  if (step > 0) {
    axis.start = std::clamp<std::int64_t>(from_end(start), 0, length);
    const std::int64_t stop = std::clamp<std::int64_t>(from_end(end), 0, length);
    if (stop > axis.start) axis.count = (stop - axis.start - 1) / step + 1;
  } else {
    axis.start = std::clamp<std::int64_t>(from_end(start), -1, length - 1);
    const std::int64_t stop = std::clamp<std::int64_t>(from_end(end), -1, length - 1);
    if (axis.start > stop) axis.count = (axis.start - stop - 1) / -step + 1;
  }
  return axis;
}

struct SliceLoop {
  std::size_t rank = 0;
  std::size_t count = 1;
  std::int64_t first = 0;
  std::array<std::int64_t, kRankMax> counts{};
  std::array<std::int64_t, kRankMax> strides{};
};

template <typename Unit>
void copy_slice(const SliceLoop& loop, const Unit* x, Unit* y) {
  if (loop.count == 0) return;
  std::array<std::int64_t, kRankMax> index{};
  const Unit* from = x + loop.first;
  const std::int64_t inner_count = loop.rank > 0 ? loop.counts[loop.rank - 1] : 1;
  const std::int64_t inner_stride = loop.rank > 0 ? loop.strides[loop.rank - 1] : 1;
  std::int64_t offset = 0;
  for (std::size_t done = 0; done < loop.count; done += static_cast<std::size_t>(inner_count)) {
    for (std::int64_t i = 0; i < inner_count; ++i)
      y[done + static_cast<std::size_t>(i)] = from[offset + i * inner_stride];
    for (std::size_t d = loop.rank > 0 ? loop.rank - 1 : 0; d > 0; --d) {
      offset += loop.strides[d - 1];
      if (++index[d - 1] < loop.counts[d - 1]) break;
      index[d - 1] = 0;
      offset -= loop.strides[d - 1] * loop.counts[d - 1];
    }
  }
}

template <typename Unit>
Kernel slice_kernel(const SliceLoop& loop) {
  return [loop](const Buffers& buffers) {
    copy_slice(loop, buffers.input<Unit>(0), buffers.output<Unit>(0));
  };
}

}  // namespace

Result<PlannedNode> plan_slice(const NodeContext& context) {
  const Operand& x = context.input(0);
  if (x.rank() > kRankMax) return unsupported("its input has more than 8 dimensions");
  TOCSIN_ASSIGN_OR_RETURN(const SliceArguments arguments, slice_arguments(context));
  std::vector<SliceAxis> axes;
  for (const std::int64_t length : x.shape) axes.push_back({0, 1, length});
  std::vector<bool> sliced(x.rank(), false);
  for (std::size_t i = 0; i < arguments.starts.size(); ++i) {
    TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis,
                            NodeContext::axis_of(arguments.axes[i], x.rank()));
    if (sliced[axis]) return invalid("axis " + std::to_string(axis) + " is named twice");
    sliced[axis] = true;
    constexpr std::int64_t kStepMin = -std::numeric_limits<std::int64_t>::max();
    const std::int64_t step = std::max(arguments.steps[i], kStepMin);
    if (step == 0) return invalid("a step is 0");
    axes[axis] = slice_axis(x.shape[axis], arguments.starts[i], arguments.ends[i], step);
  }
  SliceLoop loop;
  loop.rank = x.rank();
  Shape shape(x.rank());
  std::int64_t stride = 1;
  for (std::size_t i = x.rank(); i > 0; --i) {
    const SliceAxis& axis = axes[i - 1];
    shape[i - 1] = axis.count;
    loop.counts[i - 1] = axis.count;
    // With one element or none a step is never taken; it could be too large to multiply.
    loop.strides[i - 1] = axis.count > 1 ? axis.step * stride : 0;
    if (axis.count > 0) loop.first += axis.start * stride;
    loop.count *= static_cast<std::size_t>(axis.count);
    stride *= x.shape[i - 1];
  }
  PlannedNode planned;
  planned.outputs.push_back({x.type, shape, {}, {}});
  planned.kernel =
      with_unit_of(x.type, [&loop]<typename Unit>() { return slice_kernel<Unit>(loop); });
  return planned;
}

}  // namespace tocsin
