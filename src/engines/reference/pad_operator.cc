// Pad: constant, edge, reflect and wrap; negative pads cut off. Each output dimension has a table
// that says which index of the input it takes.
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines/reference/element_types.h"
#include "engines/reference/plan_functions.h"

namespace tocsin {
namespace {

constexpr std::int64_t kPadMax = 1 << 20;

struct PadArguments {
  std::vector<std::int64_t> before, after;  // one for each dimension of the input
  std::string mode;
  std::optional<float> constant_attribute;
};

Result<PadArguments> pad_arguments(const NodeContext& context) {
  const std::size_t rank = context.input(0).rank();
  PadArguments arguments;
  arguments.mode = context.string_attribute("mode", "constant");
  std::vector<std::int64_t> pads;
  std::vector<std::int64_t> axes;
  if (context.opset() < 11) {
    pads = context.ints_attribute("pads");
    arguments.constant_attribute = context.float_attribute("value", 0.0F);
  } else {
    TOCSIN_ASSIGN_OR_RETURN(pads, context.constant_ints(1, "pads"));
  }
  if (context.has_input(3)) {
    TOCSIN_ASSIGN_OR_RETURN(axes, context.constant_ints(3, "axes"));
  } else {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (pads.size() != 2 * axes.size())
    return invalid("it has " + std::to_string(pads.size()) + " pads for " +
                   std::to_string(axes.size()) + " axes");
  arguments.before.assign(rank, 0);
  arguments.after.assign(rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis, NodeContext::axis_of(axes[i], rank));
    for (const std::int64_t pad : {pads[i], pads[axes.size() + i]})
      if (pad < -kPadMax || pad > kPadMax) return invalid("a pad is " + std::to_string(pad));
    arguments.before[axis] = pads[i];
    arguments.after[axis] = pads[axes.size() + i];
  }
  return arguments;
}

// The input index that stands at `position` (counted from the first value of the input), or -1
// where the constant stands.
std::int64_t source_index(const std::string& mode, std::int64_t position, std::int64_t length) {
  if (position >= 0 && position < length) return position;
  if (mode == "edge") return position < 0 ? 0 : length - 1;
  if (mode == "wrap") return ((position % length) + length) % length;
  if (mode == "reflect") {
    if (length == 1) return 0;
    const std::int64_t period = 2 * (length - 1);
    const std::int64_t folded = ((position % period) + period) % period;
    return folded < length ? folded : period - folded;
  }
  return -1;
}

struct PadLoop {
  std::size_t rank = 0;
  std::size_t count = 1;
  std::array<std::vector<std::int64_t>, kRankMax> sources;  // offsets in elements; -1: the constant
};

template <typename Unit>
void pad(const PadLoop& loop, const Unit* x, Unit constant, Unit* y) {
  if (loop.count == 0) return;
  std::array<std::size_t, kRankMax> index{};
  const std::size_t inner = loop.rank > 0 ? loop.sources[loop.rank - 1].size() : 1;
  for (std::size_t done = 0; done < loop.count; done += inner) {
    std::int64_t offset = 0;
    bool is_inside = true;
    for (std::size_t d = 0; d + 1 < loop.rank; ++d) {
      const std::int64_t source = loop.sources[d][index[d]];
      is_inside = is_inside && source >= 0;
      offset += source;
    }
    for (std::size_t i = 0; i < inner; ++i) {
      const std::int64_t source = loop.rank > 0 ? loop.sources[loop.rank - 1][i] : 0;
      y[done + i] = is_inside && source >= 0 ? x[offset + source] : constant;
    }
    for (std::size_t d = loop.rank > 0 ? loop.rank - 1 : 0; d > 0; --d) {
      if (++index[d - 1] < loop.sources[d - 1].size()) break;
      index[d - 1] = 0;
    }
  }
}

template <typename Unit>
Kernel pad_kernel(std::shared_ptr<const PadLoop> loop, std::optional<float> attribute) {
  return [loop = std::move(loop), attribute](const Buffers& buffers) {
    Unit constant{};
    if (buffers.inputs.size() > 2 && buffers.inputs[2] != nullptr)
      constant = *buffers.input<Unit>(2);
    else if (attribute && sizeof(Unit) == sizeof(float))
      std::memcpy(&constant, &*attribute, sizeof(float));
    pad(*loop, buffers.input<Unit>(0), constant, buffers.output<Unit>(0));
  };
}

}  // namespace

Result<PlannedNode> plan_pad(const NodeContext& context) {
  const Operand& x = context.input(0);
  if (x.rank() > kRankMax) return unsupported("its input has more than 8 dimensions");
  TOCSIN_ASSIGN_OR_RETURN(const PadArguments arguments, pad_arguments(context));
  const std::string& mode = arguments.mode;
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    return invalid("mode '" + mode + "' is unknown");
  if (arguments.constant_attribute) TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  if (context.has_input(2) &&
      (context.input(2).type != x.type || context.input(2).element_count() != 1))
    return invalid("its constant must be one value of the input's type");
  auto loop = std::make_shared<PadLoop>();
  loop->rank = x.rank();
  Shape shape(x.rank());
  for (std::size_t d = 0; d < x.rank(); ++d) {
    shape[d] = x.shape[d] + arguments.before[d] + arguments.after[d];
    if (shape[d] < 0) return invalid("its pads cut off more than there is");
    if (x.shape[d] == 0 && mode != "constant" && shape[d] > 0)
      return invalid("there is nothing to repeat along axis " + std::to_string(d));
  }
  if (!checked_element_count(shape)) return invalid("its output is too large");
  std::int64_t stride = 1;
  for (std::size_t d = x.rank(); d > 0; --d) {
    for (std::int64_t i = 0; i < shape[d - 1]; ++i) {
      const std::int64_t source = source_index(mode, i - arguments.before[d - 1], x.shape[d - 1]);
      loop->sources[d - 1].push_back(source < 0 ? -1 : source * stride);
    }
    loop->count *= static_cast<std::size_t>(shape[d - 1]);
    stride *= x.shape[d - 1];
  }
  PlannedNode planned;
  planned.outputs.push_back({x.type, shape, {}, {}});
  planned.kernel = with_unit_of(x.type, [&]<typename Unit>() {
    return pad_kernel<Unit>(loop, arguments.constant_attribute);
  });
  return planned;
}

}  // namespace tocsin
