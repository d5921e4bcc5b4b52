// Conv over one or two spatial dimensions: the inputs of each output position are gathered into a
// row, channel by channel and then along the kernel, and multiplied by the dense kernel. Padding
// enters as +0.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "engines/reference/plan_functions.h"
#include "engines/reference/window.h"

namespace tocsin {
namespace {

constexpr std::size_t kPositions = 32;  // output positions multiplied at a time

class ConvKernel {
 public:
  ConvKernel(const Window& window, std::vector<SharedWeights> groups, bool has_bias)
      : window_(window),
        groups_(std::move(groups)),
        has_bias_(has_bias),
        group_channels_(window.channels / groups_.size()),
        inputs_(group_channels_ * window.kernel_count()),
        outputs_(groups_[0]->output_count()) {}

  // Rows of gathered inputs, rows of outputs, then what the product needs.
  std::size_t scratch_bytes() const {
    return kPositions * (inputs_ + outputs_) * sizeof(float) +
           groups_[0]->scratch_bytes(kPositions);
  }

  void operator()(const Buffers& buffers) const {
    auto* rows = reinterpret_cast<float*>(buffers.scratch);
    float* products = rows + kPositions * inputs_;
    auto* scratch = reinterpret_cast<std::byte*>(products + kPositions * outputs_);
    const std::size_t positions = window_.output_count();
    for (std::size_t image = 0; image < window_.batch; ++image) {
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const float* x = buffers.input<float>(0) +
                         (image * window_.channels + g * group_channels_) * window_.input_count();
        float* y = buffers.output<float>(0) + (image * groups_.size() + g) * outputs_ * positions;
        DenseRows call;
        call.x = rows;
        call.x_stride = inputs_;
        call.bias = has_bias_ ? buffers.input<float>(2) + g * outputs_ : nullptr;
        call.y = products;
        call.y_stride = outputs_;
        for (std::size_t first = 0; first < positions; first += kPositions) {
          call.row_count = std::min(kPositions, positions - first);
          for (std::size_t r = 0; r < call.row_count; ++r) gather(x, first + r, rows + r * inputs_);
          groups_[g]->run(call, scratch);
          for (std::size_t n = 0; n < outputs_; ++n)
            for (std::size_t r = 0; r < call.row_count; ++r)
              y[n * positions + first + r] = products[r * outputs_ + n];
        }
      }
    }
  }

 private:
  void gather(const float* x, std::size_t position, float* row) const {
    const std::size_t out0 = position / window_.output[1];
    const std::size_t out1 = position % window_.output[1];
    for (std::size_t c = 0; c < group_channels_; ++c) {
      const float* channel = x + c * window_.input_count();
      for (std::size_t k0 = 0; k0 < window_.kernel[0]; ++k0) {
        std::size_t in0 = 0;
        const bool row_inside = window_.locate(0, out0, k0, in0);
        for (std::size_t k1 = 0; k1 < window_.kernel[1]; ++k1) {
          std::size_t in1 = 0;
          const bool inside = window_.locate(1, out1, k1, in1) && row_inside;
          *row++ = inside ? channel[in0 * window_.input[1] + in1] : 0.0F;
        }
      }
    }
  }

  Window window_;
  std::vector<SharedWeights> groups_;
  bool has_bias_;
  std::size_t group_channels_;
  std::size_t inputs_;
  std::size_t outputs_;  // of one group
};

}  // namespace

Result<PlannedNode> plan_conv(const NodeContext& context) {
  const Operand& x = context.input(0);
  const Operand& w = context.input(1);
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  TOCSIN_RETURN_IF_ERROR(context.require_float(1));
  if (w.rank() != x.rank() || w.rank() < 3)
    return invalid("X is " + shape_text(x.shape) + ", W is " + shape_text(w.shape));
  if (w.constant == nullptr) return unsupported("its weights must be constants");
  TOCSIN_ASSIGN_OR_RETURN(const Window window,
                          read_window(context, Shape(w.shape.begin() + 2, w.shape.end())));
  const std::int64_t group = context.int_attribute("group", 1);
  const std::int64_t outputs = w.shape[0];
  if (group < 1 || outputs < 1 || outputs % group != 0 || w.shape[1] * group != x.shape[1])
    return invalid("X is " + shape_text(x.shape) + ", W is " + shape_text(w.shape) + ", group is " +
                   std::to_string(group));
  if (context.has_input(2)) {
    TOCSIN_RETURN_IF_ERROR(context.require_float(2));
    if (context.input(2).shape != Shape{outputs}) return invalid("its bias does not fit W");
  }
  const auto group_outputs = static_cast<std::size_t>(outputs / group);
  const std::size_t inputs = static_cast<std::size_t>(w.shape[1]) * window.kernel_count();
  std::vector<SharedWeights> groups;
  for (std::size_t g = 0; g < static_cast<std::size_t>(group); ++g) {
    const float* weights = w.values<float>().data() + g * group_outputs * inputs;
    TOCSIN_ASSIGN_OR_RETURN(
        SharedWeights packed,
        context.pack({weights, group_outputs, inputs, inputs, 1}, 1, NodeContext::Factor::kInput));
    groups.push_back(std::move(packed));
  }
  PlannedNode planned;
  planned.outputs.push_back(
      {DataType::kFloat32,
       window_output_shape(window, static_cast<std::size_t>(outputs), x.rank()),
       {},
       {}});
  const ConvKernel kernel(window, std::move(groups), context.has_input(2));
  planned.scratch_bytes = kernel.scratch_bytes();
  planned.kernel = kernel;
  return planned;
}

}  // namespace tocsin
