// Attention (opset 23 on): softmax(Q K^T scale + mask) V, head by head. Q and K are each multiplied
// by the root of the scale first, as the standard says; the sums are those of a matrix product.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engines/reference/place_walk.h"
#include "engines/reference/plan_functions.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

// [batch, heads, steps, width], or [batch, steps, heads * width] where heads stand side by side.
struct HeadsLayout {
  std::size_t heads = 1, steps = 0, width = 0;
  bool side_by_side = false;

  std::size_t offset(std::size_t batch, std::size_t head) const noexcept {
    return side_by_side ? (batch * steps * heads + head) * width
                        : (batch * heads + head) * steps * width;
  }
  std::size_t step_stride() const noexcept { return side_by_side ? heads * width : width; }
};

struct AttentionShape {
  std::size_t batch = 0;
  HeadsLayout q, k, v, y;
  float root_of_scale = 1, softcap = 0;
  bool is_causal = false;
  DataType mask_type = DataType::kFloat32;
  bool has_mask = false;
  std::array<std::size_t, 4> mask_strides{};  // of batch, head, query step, key step

  // The scratch: scaled Q, scaled and transposed K, the scores; in floats. Then a flag a step.
  std::size_t k_offset() const noexcept { return q.steps * q.width; }
  std::size_t score_offset() const noexcept { return k_offset() + k.steps * k.width; }
  std::size_t scratch_floats() const noexcept { return score_offset() + q.steps * k.steps; }
};

Result<HeadsLayout> heads_layout(const NodeContext& context, std::size_t input,
                                 const char* heads_name) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(input));
  const Shape& shape = context.input(input).shape;
  const std::int64_t heads = context.int_attribute(heads_name, 0);
  if (shape.size() == 4)
    return HeadsLayout{static_cast<std::size_t>(shape[1]), static_cast<std::size_t>(shape[2]),
                       static_cast<std::size_t>(shape[3]), false};
  if (shape.size() != 3)
    return invalid("its input " + std::to_string(input) + " has shape " + shape_text(shape) +
                   ", expected 3 or 4 dimensions");
  if (heads < 1 || shape[2] % heads != 0)
    return invalid(std::string(heads_name) + " does not divide " + std::to_string(shape[2]));
  return HeadsLayout{static_cast<std::size_t>(heads), static_cast<std::size_t>(shape[1]),
                     static_cast<std::size_t>(shape[2] / heads), true};
}

Status read_mask(const NodeContext& context, AttentionShape& shape) {
  shape.has_mask = context.has_input(3);
  if (!shape.has_mask) return {};
  const Operand& mask = context.input(3);
  shape.mask_type = mask.type;
  if (mask.type != DataType::kBool && mask.type != DataType::kFloat32)
    return unsupported("a mask of " + std::string(data_type_name(mask.type)) + " is not supported");
  const std::array<std::size_t, 4> scores{shape.batch, shape.q.heads, shape.q.steps, shape.k.steps};
  const std::size_t missing = scores.size() - std::min(scores.size(), mask.rank());
  const std::vector<std::size_t> strides = row_major_strides(mask.shape);
  for (std::size_t d = 0; d < mask.rank(); ++d) {
    const auto length = static_cast<std::size_t>(mask.shape[d]);
    if (mask.rank() > scores.size() || (length != 1 && length != scores[missing + d]))
      return invalid("its mask of shape " + shape_text(mask.shape) +
                     " does not broadcast to the scores");
    if (length != 1) shape.mask_strides[missing + d] = strides[d];
  }
  return {};
}

Result<AttentionShape> attention_shape(const NodeContext& context) {
  for (std::size_t i = 4; i < context.input_count(); ++i)
    if (context.has_input(i)) return unsupported("past keys and values are not supported");
  AttentionShape shape;
  TOCSIN_ASSIGN_OR_RETURN(shape.q, heads_layout(context, 0, "q_num_heads"));
  TOCSIN_ASSIGN_OR_RETURN(shape.k, heads_layout(context, 1, "kv_num_heads"));
  TOCSIN_ASSIGN_OR_RETURN(shape.v, heads_layout(context, 2, "kv_num_heads"));
  const auto batch = context.input(0).shape[0];
  shape.batch = static_cast<std::size_t>(batch);
  const bool fits = context.input(1).shape[0] == batch && context.input(2).shape[0] == batch &&
                    shape.k.heads == shape.v.heads && shape.k.heads > 0 &&
                    shape.q.heads % shape.k.heads == 0 && shape.k.steps == shape.v.steps &&
                    shape.q.width == shape.k.width && shape.q.width > 0;
  if (!fits)
    return invalid("shapes " + shape_text(context.input(0).shape) + ", " +
                   shape_text(context.input(1).shape) + " and " +
                   shape_text(context.input(2).shape) + " do not fit each other");
  shape.y = shape.q;
  shape.y.width = shape.v.width;
  const float scale =
      context.float_attribute("scale", 1.0F / std::sqrt(static_cast<float>(shape.q.width)));
  if (!(scale >= 0.0F)) return unsupported("a scale below 0 is not supported");
  shape.root_of_scale = std::sqrt(scale);
  shape.softcap = context.float_attribute("softcap", 0.0F);
  shape.is_causal = context.int_attribute("is_causal", 0) != 0;
  context.ignore_attribute("qk_matmul_output_mode");  // of an output that is not made here
  context.require_int("softmax_precision", 1);
  TOCSIN_RETURN_IF_ERROR(read_mask(context, shape));
  return shape;
}

class AttentionKernel {
 public:
  explicit AttentionKernel(const AttentionShape& shape) : shape_(shape) {
    for (std::size_t i = 0; i < shape.k.width; ++i) key_offsets_.push_back(i * shape.k.steps);
    for (std::size_t t = 0; t < shape.v.steps; ++t)
      value_offsets_.push_back(t * shape.v.step_stride());
  }

  void operator()(const Buffers& buffers) const {
    const std::size_t queries_per_key = shape_.q.heads / shape_.k.heads;
    for (std::size_t batch = 0; batch < shape_.batch; ++batch)
      for (std::size_t head = 0; head < shape_.q.heads; ++head)
        run_head(buffers, {batch, head, head / queries_per_key});
  }

 private:
  struct Place {
    std::size_t batch, head, key_head;
  };

  void run_head(const Buffers& buffers, const Place& place) const {
    auto* q = reinterpret_cast<float*>(buffers.scratch);
    float* k = q + shape_.k_offset();
    float* scores = q + shape_.score_offset();
    scale_query(buffers.input<float>(0) + shape_.q.offset(place.batch, place.head), q);
    scale_key(buffers.input<float>(1) + shape_.k.offset(place.batch, place.key_head), k);
    ProductCall call;
    call.row_count = shape_.q.steps;
    call.input_count = shape_.q.width;
    call.column_count = shape_.k.steps;
    call.a = q;
    call.a_stride = shape_.q.width;
    call.b = k;
    call.b_offsets = key_offsets_.data();
    call.y = scores;
    call.y_stride = shape_.k.steps;
    kernels().product(call);
    finish_scores(buffers, place, scores);
    call.input_count = shape_.k.steps;
    call.column_count = shape_.v.width;
    call.a = scores;
    call.a_stride = shape_.k.steps;
    call.b = buffers.input<float>(2) + shape_.v.offset(place.batch, place.key_head);
    call.b_offsets = value_offsets_.data();
    call.y = buffers.output<float>(0) + shape_.y.offset(place.batch, place.head);
    call.y_stride = shape_.y.step_stride();
    kernels().product(call);
  }

  void scale_query(const float* x, float* q) const {
    for (std::size_t step = 0; step < shape_.q.steps; ++step)
      for (std::size_t i = 0; i < shape_.q.width; ++i)
        *q++ = x[step * shape_.q.step_stride() + i] * shape_.root_of_scale;
  }
  void scale_key(const float* x, float* k) const {
    for (std::size_t step = 0; step < shape_.k.steps; ++step)
      for (std::size_t i = 0; i < shape_.k.width; ++i)
        k[i * shape_.k.steps + step] = x[step * shape_.k.step_stride() + i] * shape_.root_of_scale;
  }

  // Soft cap, mask and softmax.
  void finish_scores(const Buffers& buffers, const Place& place, float* scores) const {
    auto* is_empty = reinterpret_cast<bool*>(scores + shape_.q.steps * shape_.k.steps);
    const std::size_t keys = shape_.k.steps;
    const std::size_t count = shape_.q.steps * keys;
    if (shape_.softcap != 0.0F) {
      for (std::size_t i = 0; i < count; ++i) scores[i] = scores[i] / shape_.softcap;
      kernels().tanh(scores, scores, count);
      for (std::size_t i = 0; i < count; ++i) scores[i] = scores[i] * shape_.softcap;
    }
    for (std::size_t step = 0; step < shape_.q.steps; ++step) {
      float* row = scores + step * keys;
      if (shape_.has_mask) mask_row(buffers, place, step, row);
      if (shape_.is_causal && step + 1 < keys)
        std::fill(row + step + 1, row + keys, -std::numeric_limits<float>::infinity());
      is_empty[step] = std::all_of(row, row + keys, [](float score) {
        return score == -std::numeric_limits<float>::infinity();
      });
    }
    kernels().softmax({scores, scores, keys, 1, false, shape_.q.steps, keys});
    // What must attend to nothing gets nothing.
    for (std::size_t step = 0; step < shape_.q.steps; ++step)
      if (is_empty[step]) std::fill_n(scores + step * keys, keys, 0.0F);
  }

  void mask_row(const Buffers& buffers, const Place& place, std::size_t step, float* row) const {
    const std::array<std::size_t, 4>& strides = shape_.mask_strides;
    const std::size_t start =
        place.batch * strides[0] + place.head * strides[1] + step * strides[2];
    for (std::size_t t = 0; t < shape_.k.steps; ++t) {
      const std::size_t offset = start + t * strides[3];
      if (shape_.mask_type == DataType::kFloat32)
        row[t] = row[t] + buffers.input<float>(3)[offset];
      else if (!buffers.input<bool>(3)[offset])
        row[t] = -std::numeric_limits<float>::infinity();
    }
  }

  AttentionShape shape_;
  std::vector<std::size_t> key_offsets_, value_offsets_;
};

}  // namespace

Result<PlannedNode> plan_attention(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const AttentionShape shape, attention_shape(context));
  const Shape scores{static_cast<std::int64_t>(shape.q.steps),
                     static_cast<std::int64_t>(shape.k.steps)};
  if (!checked_element_count(scores)) return invalid("its scores are too large");
  PlannedNode planned;
  Shape output = context.input(0).shape;
  output.back() = static_cast<std::int64_t>(shape.y.side_by_side ? shape.y.heads * shape.y.width
                                                                 : shape.y.width);
  planned.outputs.push_back({DataType::kFloat32, std::move(output), {}, {}});
  planned.scratch_bytes = shape.scratch_floats() * sizeof(float) + shape.q.steps;
  planned.kernel = AttentionKernel(shape);
  return planned;
}

}  // namespace tocsin
