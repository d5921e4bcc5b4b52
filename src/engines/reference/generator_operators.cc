// Operators that lay values out anew: Range, OneHot, Trilu, Tile and NonZero. What the size of an
// output depends on must be constant.
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

constexpr std::int64_t kRangeCountMax = std::int64_t{1} << 40U;

Status require_scalar(const NodeContext& context, std::size_t index, const char* role) {
  if (context.input(index).element_count() == 1) return {};
  return invalid(std::string("its ") + role + " must be one value");
}

// Numbers from start on, delta apart, that are below the limit (above it, where delta is negative).
template <typename T>
std::optional<std::int64_t> range_count(T start, T limit, T delta) {
  if (delta == T(0)) return std::nullopt;
  if (delta > T(0) ? limit <= start : limit >= start) return 0;
  if constexpr (std::is_floating_point_v<T>) {
    const double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                                   static_cast<double>(delta));
    if (!(count >= 0 && count < static_cast<double>(kRangeCountMax))) return std::nullopt;
    return static_cast<std::int64_t>(count);
  } else {
    // Promoted first: a char is a number here.
    const auto from = static_cast<std::uint64_t>(+start);
    const auto to = static_cast<std::uint64_t>(+limit);
    const auto step = static_cast<std::uint64_t>(+delta);
    const std::uint64_t count =
        delta > T(0) ? (to - from - 1) / step + 1 : (from - to - 1) / (std::uint64_t{0} - step) + 1;
    if (count > static_cast<std::uint64_t>(kRangeCountMax)) return std::nullopt;
    return static_cast<std::int64_t>(count);
  }
}

template <typename T>
T range_value(T start, T delta, std::size_t i) noexcept {
  if constexpr (std::is_floating_point_v<T>)
    return start + static_cast<T>(i) * delta;
  else
    return static_cast<T>(static_cast<std::uint64_t>(start) +
                          i * static_cast<std::uint64_t>(delta));
}

template <typename T>
Result<PlannedNode> plan_range_as(const NodeContext& context) {
  const T start = context.input(0).values<T>()[0];
  const T delta = context.input(2).values<T>()[0];
  const std::optional<std::int64_t> count =
      range_count(start, context.input(1).values<T>()[0], delta);
  if (!count) return invalid("its delta is 0, or it is too long");
  PlannedNode planned;
  planned.outputs.push_back({data_type_of<T>(), {*count}, {}, {}});
  planned.kernel = [start, delta,
                    length = static_cast<std::size_t>(*count)](const Buffers& buffers) {
    T* y = buffers.output<T>(0);
    for (std::size_t i = 0; i < length; ++i) y[i] = range_value(start, delta, i);
  };
  return planned;
}

template <typename T>
std::optional<std::int64_t> depth_as(const Operand& depth) {
  const T value = depth.values<T>()[0];
  if (!(value >= T(1) && static_cast<double>(value) <= 1e9)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

Result<std::int64_t> read_depth(const Operand& depth) {
  std::optional<std::int64_t> value;
  TOCSIN_ASSIGN_OR_RETURN([[maybe_unused]] const PlannedNode none,
                          with_number_type(depth.type, [&]<typename T>() -> Result<PlannedNode> {
                            value = depth_as<T>(depth);
                            return PlannedNode{};
                          }));
  if (!value) return invalid("its depth must be a number from 1 to 1e9");
  return *value;
}

// The place among `depth` that an index means, or `depth`: none.
template <typename Index>
std::size_t hot_place(Index index, std::int64_t depth) noexcept {
  const auto end = static_cast<std::size_t>(depth);
  if constexpr (std::is_floating_point_v<Index>) {
    if (!(std::fabs(index) <= static_cast<Index>(depth))) return end;
  } else if constexpr (std::is_unsigned_v<Index>) {
    if (index >= static_cast<std::uint64_t>(depth)) return end;
  }
  const auto place = static_cast<std::int64_t>(+index);
  if (place < -depth || place >= depth) return end;
  return static_cast<std::size_t>(place < 0 ? place + depth : place);
}

struct OneHotShape {
  std::size_t outer = 1, inner = 1;
  std::int64_t depth = 1;
};

template <typename Unit, typename Index>
Kernel one_hot_kernel(const OneHotShape& shape) {
  return [shape](const Buffers& buffers) {
    const Unit* values = buffers.input<Unit>(2);  // off, on
    const Index* index = buffers.input<Index>(0);
    Unit* y = buffers.output<Unit>(0);
    const auto depth = static_cast<std::size_t>(shape.depth);
    std::fill_n(y, shape.outer * depth * shape.inner, values[0]);
    for (std::size_t o = 0; o < shape.outer; ++o) {
      for (std::size_t i = 0; i < shape.inner; ++i) {
        const std::size_t place = hot_place(*index++, shape.depth);
        if (place < depth) y[(o * depth + place) * shape.inner + i] = values[1];
      }
    }
  };
}

struct TriluShape {
  std::size_t matrices = 1;
  std::int64_t rows = 0, columns = 0;
  bool keeps_upper = true;
  bool has_diagonal = false;
};

template <typename Unit>
Kernel trilu_kernel(const TriluShape& shape) {
  return [shape](const Buffers& buffers) {
    const std::int64_t diagonal =
        shape.has_diagonal ? std::clamp(*buffers.input<std::int64_t>(1), -shape.rows, shape.columns)
                           : 0;
    const Unit* x = buffers.input<Unit>(0);
    Unit* y = buffers.output<Unit>(0);
    for (std::size_t matrix = 0; matrix < shape.matrices; ++matrix) {
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        for (std::int64_t column = 0; column < shape.columns; ++column, ++x, ++y) {
          const std::int64_t distance = column - row;
          *y = (shape.keeps_upper ? distance >= diagonal : distance <= diagonal) ? *x : Unit(0);
        }
      }
    }
  };
}

// The input's row that becomes row `row` of a tiled output, whose shape is without its last
// dimension.
std::size_t input_row(std::size_t row, const Shape& from, const Shape& output) noexcept {
  std::size_t result = 0;
  std::size_t stride = 1;
  for (std::size_t d = output.size(); d > 0; --d) {
    const auto length = static_cast<std::size_t>(from[d - 1]);
    const auto tiled = static_cast<std::size_t>(output[d - 1]);
    result += row % tiled % length * stride;
    row /= tiled;
    stride *= length;
  }
  return result;
}

template <typename T>
std::size_t count_nonzero(const T* values, std::size_t count) {
  return static_cast<std::size_t>(
      std::count_if(values, values + count, [](T value) { return value != T(0); }));
}

template <typename T>
Result<PlannedNode> plan_nonzero_as(const NodeContext& context) {
  const Operand& x = context.input(0);
  const std::size_t count = x.element_count();
  const std::size_t found = count_nonzero(x.values<T>().data(), count);
  PlannedNode planned;
  planned.outputs.push_back(
      {DataType::kInt64,
       {static_cast<std::int64_t>(x.rank()), static_cast<std::int64_t>(found)},
       {},
       {}});
  planned.kernel = [shape = x.shape, strides = row_major_strides(x.shape), count,
                    found](const Buffers& buffers) {
    const T* values = buffers.input<T>(0);
    auto* y = buffers.output<std::int64_t>(0);
    std::size_t column = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (values[i] == T(0)) continue;
      for (std::size_t d = 0; d < shape.size(); ++d)
        y[d * found + column] = static_cast<std::int64_t>(i / strides[d]) % shape[d];
      ++column;
    }
  };
  return planned;
}

}  // namespace

Result<PlannedNode> plan_range(const NodeContext& context) {
  for (std::size_t i = 0; i < 3; ++i) {
    TOCSIN_RETURN_IF_ERROR(require_scalar(context, i, "bounds"));
    if (context.input(i).type != context.input(0).type)
      return invalid("its start, limit and delta differ in type");
    if (context.input(i).constant == nullptr)
      return unsupported("the size of its output depends on the model's input values");
  }
  return with_number_type(context.input(0).type,
                          [&context]<typename T>() { return plan_range_as<T>(context); });
}

Result<PlannedNode> plan_one_hot(const NodeContext& context) {
  const Operand& indices = context.input(0);
  const Operand& values = context.input(2);
  TOCSIN_RETURN_IF_ERROR(require_scalar(context, 1, "depth"));
  if (context.input(1).constant == nullptr)
    return unsupported("the size of its output depends on the model's input values");
  if (values.element_count() != 2) return invalid("its values must be two");
  OneHotShape shape;
  TOCSIN_ASSIGN_OR_RETURN(shape.depth, read_depth(context.input(1)));
  if (indices.rank() >= kRankMax) return unsupported("its output has more than 8 dimensions");
  TOCSIN_ASSIGN_OR_RETURN(
      const std::size_t axis,
      NodeContext::axis_of(context.int_attribute("axis", -1), indices.rank() + 1));
  Shape output = indices.shape;
  output.insert(output.begin() + static_cast<std::ptrdiff_t>(axis), shape.depth);
  shape.outer = element_count_of(indices.shape, 0, axis);
  shape.inner = element_count_of(indices.shape, axis, indices.rank());
  PlannedNode planned;
  planned.outputs.push_back({values.type, std::move(output), {}, {}});
  return with_number_type(indices.type, [&]<typename Index>() -> Result<PlannedNode> {
    planned.kernel = with_unit_of(
        values.type, [&shape]<typename Unit>() { return one_hot_kernel<Unit, Index>(shape); });
    return std::move(planned);
  });
}

Result<PlannedNode> plan_trilu(const NodeContext& context) {
  const Operand& x = context.input(0);
  if (x.rank() < 2) return invalid("its input must be matrices, found " + shape_text(x.shape));
  TriluShape shape;
  shape.matrices = element_count_of(x.shape, 0, x.rank() - 2);
  shape.rows = x.shape[x.rank() - 2];
  shape.columns = x.shape.back();
  shape.keeps_upper = context.int_attribute("upper", 1) != 0;
  shape.has_diagonal = context.has_input(1);
  if (shape.has_diagonal) {
    TOCSIN_RETURN_IF_ERROR(require_scalar(context, 1, "diagonal"));
    if (context.input(1).type != DataType::kInt64) return invalid("its diagonal must be an int64");
  }
  PlannedNode planned;
  planned.outputs.push_back({x.type, x.shape, {}, {}});
  planned.kernel =
      with_unit_of(x.type, [&shape]<typename Unit>() { return trilu_kernel<Unit>(shape); });
  return planned;
}

Result<PlannedNode> plan_tile(const NodeContext& context) {
  const Operand& x = context.input(0);
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> repeats,
                          context.constant_ints(1, "repeats"));
  if (repeats.size() != x.rank() || x.rank() > kRankMax)
    return invalid("its repeats do not fit shape " + shape_text(x.shape));
  Shape output;
  for (std::size_t d = 0; d < x.rank(); ++d) {
    if (repeats[d] < 0) return invalid("its repeats are negative");
    if (!checked_element_count(Shape{x.shape[d], repeats[d]}))
      return invalid("its output is too large");
    output.push_back(x.shape[d] * repeats[d]);
  }
  if (!checked_element_count(output)) return invalid("its output is too large");
  const std::size_t row_bytes =
      (x.rank() == 0 ? 1 : static_cast<std::size_t>(x.shape.back())) * data_type_size_bytes(x.type);
  const std::size_t repeats_of_row = x.rank() == 0 ? 1 : static_cast<std::size_t>(repeats.back());
  PlannedNode planned;
  planned.outputs.push_back({x.type, output, {}, {}});
  if (!output.empty()) output.pop_back();
  planned.kernel = [from = x.shape, output, row_bytes, repeats_of_row](const Buffers& buffers) {
    const std::size_t row_count = *checked_element_count(output);
    auto* y = buffers.output<std::byte>(0);
    if (row_bytes == 0) return;
    for (std::size_t row = 0; row < row_count; ++row) {
      const std::byte* x_row =
          buffers.input<std::byte>(0) + input_row(row, from, output) * row_bytes;
      for (std::size_t i = 0; i < repeats_of_row; ++i, y += row_bytes)
        std::memcpy(y, x_row, row_bytes);
    }
  };
  return planned;
}

Result<PlannedNode> plan_nonzero(const NodeContext& context) {
  const Operand& x = context.input(0);
  if (x.constant == nullptr)
    return unsupported("the size of its output depends on the model's input values");
  if (x.type == DataType::kBool) return plan_nonzero_as<bool>(context);
  return with_number_type(x.type, [&context]<typename T>() { return plan_nonzero_as<T>(context); });
}

}  // namespace tocsin
