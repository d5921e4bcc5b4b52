// Operators that move values: Concat, Split, Gather, Transpose.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "engines/reference/element_types.h"
#include "engines/reference/plan_functions.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

std::size_t product(const Shape& shape, std::size_t first, std::size_t end) {
  std::size_t result = 1;
  for (std::size_t i = first; i < end; ++i) result *= static_cast<std::size_t>(shape[i]);
  return result;
}

void copy_bytes(const void* from, void* to, std::size_t size_bytes) {
  if (size_bytes > 0) std::memcpy(to, from, size_bytes);
}

Result<std::vector<std::int64_t>> split_lengths(const NodeContext& context, std::int64_t length) {
  std::vector<std::int64_t> lengths;
  if (context.opset() < 13) {
    lengths = context.ints_attribute("split");
  } else if (context.has_input(1)) {
    TOCSIN_ASSIGN_OR_RETURN(lengths, context.constant_ints(1, "split"));
  }
  const auto outputs = static_cast<std::int64_t>(context.output_count());
  if (context.int_attribute("num_outputs", outputs) != outputs)
    return invalid("num_outputs does not match its outputs");
  if (!lengths.empty()) return lengths;
  // Equal parts, the last one smaller where they do not fit (opset 18).
  const std::int64_t part = (length + outputs - 1) / outputs;
  if (context.opset() < 18 && length % outputs != 0)
    return invalid("dimension " + std::to_string(length) + " does not split evenly");
  for (std::int64_t i = 0; i < outputs; ++i)
    lengths.push_back(std::clamp<std::int64_t>(length - i * part, 0, part));
  return lengths;
}

// Output dimensions that follow each other in the input are merged.
struct TransposeLoop {
  struct Dimension {
    std::size_t count = 1, x_stride = 1, y_stride = 1;
  };
  std::size_t count = 1;
  std::vector<Dimension> dimensions;  // of the output, outermost first; none of them is 1 long

  bool is_copy() const {
    return dimensions.empty() || (dimensions.size() == 1 && dimensions[0].x_stride == 1);
  }
};

TransposeLoop transpose_loop(const Shape& shape, const std::vector<std::size_t>& order) {
  std::vector<std::size_t> input_strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i > 1; --i)
    input_strides[i - 2] = input_strides[i - 1] * static_cast<std::size_t>(shape[i - 1]);
  TransposeLoop loop;
  for (const std::size_t axis : order) {
    const auto count = static_cast<std::size_t>(shape[axis]);
    loop.count *= count;
    if (count == 1) continue;
    if (!loop.dimensions.empty() &&
        loop.dimensions.back().x_stride == input_strides[axis] * count) {
      loop.dimensions.back().count *= count;
      loop.dimensions.back().x_stride = input_strides[axis];
    } else {
      loop.dimensions.push_back({count, input_strides[axis], 1});
    }
  }
  std::size_t stride = 1;
  for (std::size_t i = loop.dimensions.size(); i > 0; --i) {
    loop.dimensions[i - 1].y_stride = stride;
    stride *= loop.dimensions[i - 1].count;
  }
  return loop;
}

// Calls plane(x offset, y offset) for all places of the dimensions.
template <typename Plane>
void walk(std::span<const TransposeLoop::Dimension> dimensions, Plane&& plane) {
  std::array<std::size_t, kRankMax> index{};
  std::size_t x = 0;
  std::size_t y = 0;
  while (true) {
    plane(x, y);
    std::size_t d = dimensions.size();
    for (; d > 0; --d) {
      const TransposeLoop::Dimension& dimension = dimensions[d - 1];
      x += dimension.x_stride;
      y += dimension.y_stride;
      if (++index[d - 1] < dimension.count) break;
      index[d - 1] = 0;
      x -= dimension.x_stride * dimension.count;
      y -= dimension.y_stride * dimension.count;
    }
    if (d == 0) return;
  }
}

template <typename Unit>
Kernel transpose_kernel(const TransposeLoop& loop) {
  return [loop](const Buffers& buffers) {
    const TransposeLoop::Dimension inner = loop.dimensions.back();
    const Unit* x = buffers.input<Unit>(0);
    Unit* y = buffers.output<Unit>(0);
    walk(std::span(loop.dimensions).first(loop.dimensions.size() - 1),
         [&](std::size_t x_offset, std::size_t y_offset) {
           for (std::size_t i = 0; i < inner.count; ++i)
             y[y_offset + i] = x[x_offset + i * inner.x_stride];
         });
  };
}

// Values of four bytes, moved by the kernels: rows where the innermost dimension stays the
// innermost, else planes in which it changes places with the one that was.
Kernel word_transpose_kernel(TransposeLoop loop) {
  const TransposeLoop::Dimension inner = loop.dimensions.back();
  loop.dimensions.pop_back();
  const bool keeps_rows = inner.x_stride == 1;
  auto other = std::ranges::max_element(loop.dimensions, {}, &TransposeLoop::Dimension::count);
  if (!keeps_rows)
    other = std::ranges::find(loop.dimensions, std::size_t{1}, &TransposeLoop::Dimension::x_stride);
  const TransposeLoop::Dimension plane = *other;
  loop.dimensions.erase(other);
  return [loop, inner, plane, keeps_rows](const Buffers& buffers) {
    walk(loop.dimensions, [&](std::size_t x_offset, std::size_t y_offset) {
      const float* x = buffers.input<float>(0) + x_offset;
      float* y = buffers.output<float>(0) + y_offset;
      if (keeps_rows)
        kernels().pointwise(
            {nullptr, 0, plane.count, inner.count, x, plane.x_stride, y, plane.y_stride});
      else
        kernels().transpose({inner.count, plane.count, x, inner.x_stride, y, plane.y_stride});
    });
  };
}

template <typename Index>
Kernel gather_kernel(std::size_t outer, std::size_t length, std::size_t index_count,
                     std::size_t block_bytes) {
  return [outer, length, index_count, block_bytes](const Buffers& buffers) {
    const Index* indices = buffers.input<Index>(1);
    const auto signed_length = static_cast<std::int64_t>(length);
    auto* y = buffers.output<std::byte>(0);
    for (std::size_t o = 0; o < outer; ++o) {
      const std::byte* x = buffers.input<std::byte>(0) + o * length * block_bytes;
      for (std::size_t i = 0; i < index_count; ++i) {
        std::int64_t index = indices[i];
        if (index < 0) index += signed_length;
        if (index < 0 || index >= signed_length) {
          *buffers.failure = "an index is out of range";
          return;
        }
        copy_bytes(x + static_cast<std::size_t>(index) * block_bytes, y, block_bytes);
        y += block_bytes;
      }
    }
  };
}

}  // namespace

Result<PlannedNode> plan_concat(const NodeContext& context) {
  const Operand& first = context.input(0);
  TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis,
                          NodeContext::axis_of(context.int_attribute("axis", 1), first.rank()));
  Shape shape = first.shape;
  shape[axis] = 0;
  std::vector<std::size_t> part_bytes;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const Operand& part = context.input(i);
    if (!part.present || part.type != first.type || part.rank() != first.rank())
      return invalid("its inputs differ in type or rank");
    for (std::size_t d = 0; d < part.rank(); ++d)
      if (d != axis && part.shape[d] != first.shape[d])
        return invalid("shapes " + shape_text(first.shape) + " and " + shape_text(part.shape) +
                       " cannot be joined along axis " + std::to_string(axis));
    shape[axis] += part.shape[axis];
    part_bytes.push_back(product(part.shape, axis, part.rank()) * data_type_size_bytes(part.type));
  }
  const std::size_t outer = product(shape, 0, axis);
  PlannedNode planned;
  planned.outputs.push_back({first.type, shape, {}, {}});
  planned.kernel = [outer, part_bytes](const Buffers& buffers) {
    auto* y = buffers.output<std::byte>(0);
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t i = 0; i < part_bytes.size(); ++i) {
        copy_bytes(buffers.input<std::byte>(i) + o * part_bytes[i], y, part_bytes[i]);
        y += part_bytes[i];
      }
    }
  };
  return planned;
}

Result<PlannedNode> plan_split(const NodeContext& context) {
  const Operand& x = context.input(0);
  TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis,
                          NodeContext::axis_of(context.int_attribute("axis", 0), x.rank()));
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> lengths,
                          split_lengths(context, x.shape[axis]));
  if (lengths.size() != context.output_count())
    return invalid("it has " + std::to_string(context.output_count()) + " outputs and " +
                   std::to_string(lengths.size()) + " lengths");
  PlannedNode planned;
  std::vector<std::size_t> part_bytes;
  const std::size_t block_bytes =
      product(x.shape, axis + 1, x.rank()) * data_type_size_bytes(x.type);
  std::int64_t left = x.shape[axis];
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > left)
      return invalid("its lengths do not add up to dimension " + std::to_string(x.shape[axis]));
    left -= length;
    Shape shape = x.shape;
    shape[axis] = length;
    planned.outputs.push_back({x.type, std::move(shape), {}, {}});
    part_bytes.push_back(static_cast<std::size_t>(length) * block_bytes);
  }
  if (left != 0)
    return invalid("its lengths do not add up to dimension " + std::to_string(x.shape[axis]));
  const std::size_t outer = product(x.shape, 0, axis);
  planned.kernel = [outer, part_bytes](const Buffers& buffers) {
    const auto* from = buffers.input<std::byte>(0);
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t i = 0; i < part_bytes.size(); ++i) {
        if (buffers.outputs[i] != nullptr)
          copy_bytes(from, buffers.output<std::byte>(i) + o * part_bytes[i], part_bytes[i]);
        from += part_bytes[i];
      }
    }
  };
  return planned;
}

Result<PlannedNode> plan_gather(const NodeContext& context) {
  const Operand& x = context.input(0);
  const Operand& indices = context.input(1);
  TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis,
                          NodeContext::axis_of(context.int_attribute("axis", 0), x.rank()));
  if (x.rank() - 1 + indices.rank() > kRankMax)
    return unsupported("its output has more than 8 dimensions");
  Shape shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.shape.end());
  const std::size_t outer = product(x.shape, 0, axis);
  const std::size_t block_bytes =
      product(x.shape, axis + 1, x.rank()) * data_type_size_bytes(x.type);
  const auto length = static_cast<std::size_t>(x.shape[axis]);
  PlannedNode planned;
  planned.outputs.push_back({x.type, std::move(shape), {}, {}});
  if (indices.type == DataType::kInt64)
    planned.kernel =
        gather_kernel<std::int64_t>(outer, length, indices.element_count(), block_bytes);
  else if (indices.type == DataType::kInt32)
    planned.kernel =
        gather_kernel<std::int32_t>(outer, length, indices.element_count(), block_bytes);
  else
    return invalid("its indices must be integers");
  return planned;
}

Result<PlannedNode> plan_transpose(const NodeContext& context) {
  const Operand& x = context.input(0);
  std::vector<std::int64_t> permutation = context.ints_attribute("perm");
  if (permutation.empty())
    for (std::size_t i = x.rank(); i > 0; --i)
      permutation.push_back(static_cast<std::int64_t>(i) - 1);
  if (permutation.size() != x.rank() || x.rank() > kRankMax)
    return invalid("perm does not fit shape " + shape_text(x.shape));
  std::vector<std::size_t> order;
  Shape shape;
  for (const std::int64_t axis : permutation) {
    TOCSIN_ASSIGN_OR_RETURN(const std::size_t index, NodeContext::axis_of(axis, x.rank()));
    if (std::find(order.begin(), order.end(), index) != order.end())
      return invalid("perm names axis " + std::to_string(axis) + " twice");
    order.push_back(index);
    shape.push_back(x.shape[index]);
  }
  PlannedNode planned;
  planned.outputs.push_back({x.type, std::move(shape), {}, {}});
  const TransposeLoop loop = transpose_loop(x.shape, order);
  if (loop.is_copy()) {
    planned.outputs[0].alias_of_input = 0;  // only dimensions of 1 change places
  } else if (loop.count == 0) {
    planned.kernel = [](const Buffers& /*buffers*/) {};
  } else if (data_type_size_bytes(x.type) == 4) {
    planned.kernel = word_transpose_kernel(loop);
  } else {
    planned.kernel =
        with_unit_of(x.type, [&loop]<typename Unit>() { return transpose_kernel<Unit>(loop); });
  }
  return planned;
}

}  // namespace tocsin
