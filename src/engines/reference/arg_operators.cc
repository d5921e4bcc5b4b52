// ArgMax and ArgMin: the first place of equals, unless the node asks for the last. The first NaN
// wins.
#include <cmath>
#include <cstddef>
#include <utility>

#include "engines/reference/plan_functions.h"

namespace tocsin {
namespace {

struct ArgSearch {
  std::size_t outer = 1, count = 1, inner = 1;
  bool is_max = true, takes_last = false;

  std::int64_t place_of(const float* x) const noexcept {
    std::size_t best = 0;
    for (std::size_t i = 1; i < count && !std::isnan(x[best * inner]); ++i) {
      const float value = x[i * inner];
      const float most = x[best * inner];
      const bool is_better = is_max ? value > most : value < most;
      if (is_better || std::isnan(value) || (takes_last && value == most)) best = i;
    }
    return static_cast<std::int64_t>(best);
  }
};

Result<PlannedNode> plan_arg(const NodeContext& context, bool is_max) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const Operand& x = context.input(0);
  TOCSIN_ASSIGN_OR_RETURN(const std::size_t axis,
                          NodeContext::axis_of(context.int_attribute("axis", 0), x.rank()));
  ArgSearch search;
  search.is_max = is_max;
  search.takes_last = context.int_attribute("select_last_index", 0) != 0;
  for (std::size_t i = 0; i < x.rank(); ++i)
    (i < axis    ? search.outer
     : i == axis ? search.count
                 : search.inner) *= static_cast<std::size_t>(x.shape[i]);
  if (search.count == 0) return invalid("the axis that it searches is empty");
  Shape shape = x.shape;
  shape[axis] = 1;
  if (context.int_attribute("keepdims", 1) == 0)
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  PlannedNode planned;
  planned.outputs.push_back({DataType::kInt64, std::move(shape), {}, {}});
  planned.kernel = [search](const Buffers& buffers) {
    auto* y = buffers.output<std::int64_t>(0);
    for (std::size_t outer = 0; outer < search.outer; ++outer)
      for (std::size_t inner = 0; inner < search.inner; ++inner)
        *y++ =
            search.place_of(buffers.input<float>(0) + outer * search.count * search.inner + inner);
  };
  return planned;
}

}  // namespace

Result<PlannedNode> plan_arg_max(const NodeContext& context) { return plan_arg(context, true); }
Result<PlannedNode> plan_arg_min(const NodeContext& context) { return plan_arg(context, false); }

}  // namespace tocsin
