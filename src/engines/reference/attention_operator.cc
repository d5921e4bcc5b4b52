// AttentionPool (attention_fusion.h): scores and values over time to one value a window.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "engines/reference/plan_functions.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

struct PoolingShape {
  std::size_t batch = 0;
  std::size_t steps = 0;
  std::size_t width = 0;
};

// Scratch: a maximum and a sum for each window, then its context.
void pool(const PoolingShape& shape, const Buffers& buffers) noexcept {
  auto* maximum = reinterpret_cast<float*>(buffers.scratch);
  float* sum = maximum + shape.batch;
  float* context = buffers.output<float>(0);
  std::fill_n(maximum, shape.batch, -std::numeric_limits<float>::infinity());
  std::fill_n(sum, shape.batch, 0.0F);
  std::fill_n(context, shape.batch * shape.width, 0.0F);
  AttendCall call;
  call.row_count = shape.batch;
  call.width = shape.width;
  call.score_stride = shape.steps;
  call.value_stride = shape.steps * shape.width;
  call.maximum = maximum;
  call.sum = sum;
  call.context = context;
  call.context_stride = shape.width;
  for (std::size_t t = 0; t < shape.steps; ++t) {
    call.scores = buffers.input<float>(0) + t;
    call.values = buffers.input<float>(1) + t * shape.width;
    kernels().attend(call);
  }
  for (std::size_t b = 0; b < shape.batch; ++b) {
    float* row = context + b * shape.width;
    kernels().pooled({shape.width, maximum[b], sum[b], row, row});
  }
}

}  // namespace

Result<PlannedNode> plan_attention_pool(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  TOCSIN_RETURN_IF_ERROR(context.require_float(1));
  const Shape& values = context.input(1).shape;
  if (values.size() != 3 ||
      context.input(0).element_count() != static_cast<std::size_t>(values[0] * values[1]))
    return invalid("scores " + shape_text(context.input(0).shape) + " do not fit the values " +
                   shape_text(values));
  const PoolingShape shape{static_cast<std::size_t>(values[0]), static_cast<std::size_t>(values[1]),
                           static_cast<std::size_t>(values[2])};
  PlannedNode planned;
  const bool keeps_time = context.int_attribute("keepdims", 1) != 0;
  planned.outputs.push_back(
      {DataType::kFloat32,
       keeps_time ? Shape{values[0], 1, values[2]} : Shape{values[0], values[2]},
       {},
       {}});
  planned.scratch_bytes = 2 * shape.batch * sizeof(float);
  planned.kernel = [shape](const Buffers& buffers) { pool(shape, buffers); };
  return planned;
}

}  // namespace tocsin
