// GatherElements, GatherND, ScatterElements (once Scatter) and ScatterND: values moved by indices
// that are known only when the model runs. Updates are taken in the order of their indices.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engines/reference/element_types.h"
#include "engines/reference/place_walk.h"
#include "engines/reference/plan_functions.h"

namespace tocsin {
namespace {

constexpr const char* kOutOfRange = "an index is out of range";

// The place that an index means, which may count from the end.
std::optional<std::size_t> place_of(std::int64_t index, std::size_t length) noexcept {
  const auto end = static_cast<std::int64_t>(length);
  if (index < -end || index >= end) return std::nullopt;
  return static_cast<std::size_t>(index < 0 ? index + end : index);
}

// Elements along one axis of a tensor, met by indices of the same rank.
struct AxisWalk {
  PlaceWalk walk;  // over the indices; its offset in the tensor leaves the axis out
  std::size_t axis_length = 0, axis_stride = 0;
};

Result<AxisWalk> walk_along_axis(const NodeContext& context) {
  const Operand& x = context.input(0);
  const Operand& indices = context.input(1);
  if (x.rank() == 0 || indices.rank() != x.rank())
    return invalid("its indices of shape " + shape_text(indices.shape) +
                   " do not fit the rank of " + shape_text(x.shape));
  TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis,
                          NodeContext::axis_of(context.int_attribute("axis", 0), x.rank()));
  for (std::size_t d = 0; d < x.rank(); ++d)
    if (d != axis && indices.shape[d] > x.shape[d])
      return invalid("its indices of shape " + shape_text(indices.shape) + " reach beyond " +
                     shape_text(x.shape));
  std::vector<std::size_t> strides = row_major_strides(x.shape);
  const std::size_t axis_stride = std::exchange(strides[axis], 0);
  return AxisWalk{PlaceWalk(indices.shape, strides), static_cast<std::size_t>(x.shape[axis]),
                  axis_stride};
}

template <typename Unit, typename Index>
Kernel gather_elements_kernel(const AxisWalk& along) {
  return [along](const Buffers& buffers) {
    const Unit* x = buffers.input<Unit>(0);
    const Index* index = buffers.input<Index>(1);
    Unit* y = buffers.output<Unit>(0);
    along.walk.run([&](std::size_t offset) {
      const std::optional<std::size_t> place = place_of(*index++, along.axis_length);
      if (!place) {
        *buffers.failure = kOutOfRange;
        return false;
      }
      *y++ = x[offset + *place * along.axis_stride];
      return true;
    });
  };
}

enum class Reduction : std::uint8_t { kNone, kAdd, kMultiply, kMin, kMax };

Result<Reduction> read_reduction(const NodeContext& context) {
  const std::string name = context.string_attribute("reduction", "none");
  if (name == "none") return Reduction::kNone;
  if (name == "add") return Reduction::kAdd;
  if (name == "mul") return Reduction::kMultiply;
  if (name == "min") return Reduction::kMin;
  if (name == "max") return Reduction::kMax;
  return invalid("reduction '" + name + "' is unknown");
}

template <typename T>
bool is_nan(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

// What becomes of `old` where `update` arrives. Integers wrap around; a NaN comes out.
template <typename T>
T combined(Reduction reduction, T old, T update) noexcept {
  if (reduction == Reduction::kMin) return update < old || is_nan(update) ? update : old;
  if (reduction == Reduction::kMax) return update > old || is_nan(update) ? update : old;
  if constexpr (std::is_integral_v<T>) {
    // Promoted first: a char is a number here.
    const auto a = static_cast<std::uint64_t>(+old);
    const auto b = static_cast<std::uint64_t>(+update);
    if (reduction == Reduction::kAdd) return static_cast<T>(a + b);
    if (reduction == Reduction::kMultiply) return static_cast<T>(a * b);
  } else {
    if (reduction == Reduction::kAdd) return old + update;
    if (reduction == Reduction::kMultiply) return old * update;
  }
  return update;
}

// make.operator()<T>() with the element type, or one as large where values are only moved.
template <typename Function>
Result<PlannedNode> with_scattered_type(DataType type, Reduction reduction, Function&& make) {
  if (reduction != Reduction::kNone) return with_number_type(type, make);
  return with_unit_of(type, make);
}

PlannedNode output_like_input(const NodeContext& context) {
  PlannedNode planned;
  planned.outputs.push_back({context.input(0).type, context.input(0).shape, {}, {}});
  return planned;
}

void copy_bytes(const void* from, void* to, std::size_t size_bytes) {
  if (size_bytes > 0) std::memcpy(to, from, size_bytes);
}

template <typename T, typename Index>
Kernel scatter_elements_kernel(const AxisWalk& along, Reduction reduction, std::size_t count) {
  return [along, reduction, count](const Buffers& buffers) {
    const Index* index = buffers.input<Index>(1);
    const T* update = buffers.input<T>(2);
    T* y = buffers.output<T>(0);
    copy_bytes(buffers.inputs[0], y, count * sizeof(T));
    along.walk.run([&](std::size_t offset) {
      const std::optional<std::size_t> place = place_of(*index++, along.axis_length);
      if (!place) {
        *buffers.failure = kOutOfRange;
        return false;
      }
      T& target = y[offset + *place * along.axis_stride];
      target = combined(reduction, target, *update++);
      return true;
    });
  };
}

// Indices whose last dimension is a tuple: each names a slice of the tensor.
struct SliceTuples {
  std::size_t batch_count = 1, tuples_per_batch = 1, batch_elements = 1;
  std::size_t slice_elements = 1;
  std::vector<std::size_t> lengths, strides;  // of the tuple's dimensions
  Shape outer, slice;                         // of the tuples, and of what each of them names

  // Where the slice begins that a tuple names; none if it is out of range.
  std::optional<std::size_t> offset_of(const std::int64_t* tuple) const noexcept {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const std::optional<std::size_t> place = place_of(tuple[i], lengths[i]);
      if (!place) return std::nullopt;
      offset += *place * strides[i];
    }
    return offset;
  }
};

Result<SliceTuples> slice_tuples(const Operand& x, const Operand& indices, std::int64_t batch) {
  if (indices.type != DataType::kInt64) return invalid("its indices must be int64");
  if (x.rank() == 0 || indices.rank() == 0) return invalid("its inputs must not be scalars");
  const std::int64_t width = indices.shape.back();
  const auto rank = static_cast<std::int64_t>(x.rank());
  if (batch < 0 || width < 1 || batch + 1 > static_cast<std::int64_t>(indices.rank()) ||
      width > rank - batch)
    return invalid("tuples of " + std::to_string(width) + " indices do not fit shape " +
                   shape_text(x.shape));
  const auto first = static_cast<std::size_t>(batch);
  const std::size_t end = first + static_cast<std::size_t>(width);
  for (std::size_t d = 0; d < first; ++d)
    if (indices.shape[d] != x.shape[d])
      return invalid("the batch dimensions of " + shape_text(x.shape) + " and " +
                     shape_text(indices.shape) + " differ");
  SliceTuples tuples;
  tuples.batch_count = element_count_of(x.shape, 0, first);
  tuples.batch_elements = element_count_of(x.shape, first, x.rank());
  tuples.tuples_per_batch = element_count_of(indices.shape, first, indices.rank() - 1);
  tuples.slice_elements = element_count_of(x.shape, end, x.rank());
  const std::vector<std::size_t> strides = row_major_strides(x.shape);
  for (std::size_t d = first; d < end; ++d) {
    tuples.lengths.push_back(static_cast<std::size_t>(x.shape[d]));
    tuples.strides.push_back(strides[d]);
  }
  tuples.outer.assign(indices.shape.begin(), indices.shape.end() - 1);
  tuples.slice.assign(x.shape.begin() + static_cast<std::ptrdiff_t>(end), x.shape.end());
  return tuples;
}

Result<PlannedNode> plan_scatter_along_axis(const NodeContext& context, Reduction reduction) {
  TOCSIN_ASSIGN_OR_RETURN(const AxisWalk along, walk_along_axis(context));
  const Operand& x = context.input(0);
  const Operand& indices = context.input(1);
  if (context.input(2).type != x.type || context.input(2).shape != indices.shape)
    return invalid("its updates do not fit its indices and its input");
  PlannedNode planned = output_like_input(context);
  const std::size_t count = x.element_count();
  return with_scattered_type(x.type, reduction, [&]<typename T>() -> Result<PlannedNode> {
    return with_index_type(indices.type, [&]<typename Index>() -> Result<PlannedNode> {
      planned.kernel = scatter_elements_kernel<T, Index>(along, reduction, count);
      return std::move(planned);
    });
  });
}

}  // namespace

Result<PlannedNode> plan_gather_elements(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const AxisWalk along, walk_along_axis(context));
  const Operand& indices = context.input(1);
  PlannedNode planned;
  planned.outputs.push_back({context.input(0).type, indices.shape, {}, {}});
  return with_index_type(indices.type, [&]<typename Index>() -> Result<PlannedNode> {
    planned.kernel = with_unit_of(context.input(0).type, [&along]<typename Unit>() {
      return gather_elements_kernel<Unit, Index>(along);
    });
    return std::move(planned);
  });
}

Result<PlannedNode> plan_gather_nd(const NodeContext& context) {
  const Operand& x = context.input(0);
  TOCSIN_ASSIGN_OR_RETURN(
      const SliceTuples tuples,
      slice_tuples(x, context.input(1), context.int_attribute("batch_dims", 0)));
  PlannedNode planned;
  Shape shape = tuples.outer;
  shape.insert(shape.end(), tuples.slice.begin(), tuples.slice.end());
  planned.outputs.push_back({x.type, std::move(shape), {}, {}});
  planned.kernel = [tuples, unit = data_type_size_bytes(x.type)](const Buffers& buffers) {
    const auto* tuple = buffers.input<std::int64_t>(1);
    auto* y = buffers.output<std::byte>(0);
    const std::size_t slice_bytes = tuples.slice_elements * unit;
    for (std::size_t batch = 0; batch < tuples.batch_count; ++batch) {
      const std::byte* values = buffers.input<std::byte>(0) + batch * tuples.batch_elements * unit;
      for (std::size_t i = 0; i < tuples.tuples_per_batch; ++i) {
        const std::optional<std::size_t> offset = tuples.offset_of(tuple);
        if (!offset) {
          *buffers.failure = kOutOfRange;
          return;
        }
        copy_bytes(values + *offset * unit, y, slice_bytes);
        tuple += tuples.lengths.size();
        y += slice_bytes;
      }
    }
  };
  return planned;
}

Result<PlannedNode> plan_scatter(const NodeContext& context) {
  return plan_scatter_along_axis(context, Reduction::kNone);
}

Result<PlannedNode> plan_scatter_elements(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const Reduction reduction, read_reduction(context));
  return plan_scatter_along_axis(context, reduction);
}

Result<PlannedNode> plan_scatter_nd(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const Reduction reduction, read_reduction(context));
  const Operand& x = context.input(0);
  TOCSIN_ASSIGN_OR_RETURN(const SliceTuples tuples, slice_tuples(x, context.input(1), 0));
  Shape expected = tuples.outer;
  expected.insert(expected.end(), tuples.slice.begin(), tuples.slice.end());
  if (context.input(2).type != x.type || context.input(2).shape != expected)
    return invalid("its updates have shape " + shape_text(context.input(2).shape) + ", expected " +
                   shape_text(expected));
  PlannedNode planned = output_like_input(context);
  const std::size_t count = x.element_count();
  return with_scattered_type(x.type, reduction, [&]<typename T>() -> Result<PlannedNode> {
    planned.kernel = [tuples, reduction, count](const Buffers& buffers) {
      const auto* tuple = buffers.input<std::int64_t>(1);
      const T* update = buffers.input<T>(2);
      T* y = buffers.output<T>(0);
      copy_bytes(buffers.inputs[0], y, count * sizeof(T));
      for (std::size_t i = 0; i < tuples.tuples_per_batch; ++i) {
        const std::optional<std::size_t> offset = tuples.offset_of(tuple);
        if (!offset) {
          *buffers.failure = kOutOfRange;
          return;
        }
        for (std::size_t e = 0; e < tuples.slice_elements; ++e)
          y[*offset + e] = combined(reduction, y[*offset + e], *update++);
        tuple += tuples.lengths.size();
      }
    };
    return std::move(planned);
  });
}

}  // namespace tocsin
