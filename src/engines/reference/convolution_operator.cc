// Conv over one or two spatial dimensions: the weights times a matrix [inputs, positions], whose
// rows go channel by channel and then along the kernel, and are shifted views of the image where
// they can be. Padding enters as +0.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engines/reference/plan_functions.h"
#include "engines/reference/window.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

struct ConvShape {
  std::size_t groups = 1;
  std::size_t outputs = 0;  // channels of one group
  bool has_bias = false;
  std::size_t input_count = 0;  // of the node
};

// Below this many output positions the lanes of a vector hold channels, else positions.
constexpr std::size_t kPositionsMin = 16;
// Output positions multiplied at a time where lanes hold channels, or the next whole run of them.
constexpr std::size_t kPositions = 64;
// What is gathered for a product stays in the cache.
constexpr std::size_t kPatchFloats = std::size_t{1} << 16U;

// Outputs that are finished before the next ones are begun.
constexpr std::size_t kEpilogueFloats = std::size_t{1} << 13U;

std::size_t aligned_floats(std::size_t count) { return (count + 15) / 16 * 16; }

// Where the inputs of an output position lie in the padded image of one group: input k of position
// p is at offsets[k] + start(p). Positions come in runs whose starts are `step` apart.
class PatchLayout {
 public:
  PatchLayout(const Window& window, std::size_t channels)
      : channels_(channels), positions_(window.output_count()) {
    for (std::size_t d = 0; d < 2; ++d)
      padded_[d] = window.input[d] + window.pad_before[d] + window.pad_after[d];
    is_padded_ = padded_ != window.input;
    row_step_ = window.stride[0] * padded_[1];
    step_ = window.stride[1];
    run_ = window.output[1];
    if (run_ == 1) step_ = row_step_;
    if (run_ == 1 || window.output[0] == 1 || row_step_ == step_ * run_) run_ = positions_;
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t k0 = 0; k0 < window.kernel[0]; ++k0)
        for (std::size_t k1 = 0; k1 < window.kernel[1]; ++k1)
          offsets_.push_back((c * padded_[0] + k0 * window.dilation[0]) * padded_[1] +
                             k1 * window.dilation[1]);
    // Inputs next to each other are gathered together.
    if (window.dilation[1] == 1) neighbours_ = window.kernel[1];
  }

  const std::vector<std::size_t>& offsets() const { return offsets_; }
  std::size_t positions() const { return positions_; }
  bool is_padded() const { return is_padded_; }
  std::size_t padded_floats() const { return channels_ * padded_[0] * padded_[1]; }
  // Each input's values lie side by side over all positions.
  bool is_direct() const { return step_ == 1 && run_ == positions_; }
  // Positions are gathered in multiples of this.
  std::size_t unit() const { return run_ == positions_ ? kPanelOutputs : run_; }
  std::size_t start(std::size_t position) const {
    return position / run_ * row_step_ + position % run_ * step_;
  }

  void pad(const Window& window, const float* x, float* image) const {
    std::fill_n(image, padded_floats(), 0.0F);
    for (std::size_t c = 0; c < channels_; ++c) {
      for (std::size_t row = 0; row < window.input[0]; ++row) {
        std::copy_n(x, window.input[1],
                    image + (c * padded_[0] + row + window.pad_before[0]) * padded_[1] +
                        window.pad_before[1]);
        x += window.input[1];
      }
    }
  }

  // patches [inputs, count] of the positions from `first` on, which begins a run unless all
  // positions are one.
  void gather(const float* image, std::size_t first, std::size_t count, float* patches) const {
    for (std::size_t k = 0; k < offsets_.size(); k += neighbours_) {
      for (std::size_t done = 0; done < count; done += run_) {
        TransposeCall call;
        call.row_count = std::min(run_, count - done);
        call.column_count = neighbours_;
        call.x = image + offsets_[k] + start(first + done);
        call.x_stride = step_;
        call.y = patches + k * count + done;
        call.y_stride = count;
        if (step_ == 1) {
          for (std::size_t i = 0; i < neighbours_; ++i)
            std::copy_n(call.x + i, call.row_count, call.y + i * count);
        } else {
          kernels().transpose(call);
        }
      }
    }
  }

 private:
  std::size_t channels_;
  std::size_t positions_;
  std::array<std::size_t, 2> padded_{};
  bool is_padded_ = false;
  std::size_t row_step_ = 0;
  std::size_t step_ = 0;
  std::size_t run_ = 0;
  std::size_t neighbours_ = 1;
  std::vector<std::size_t> offsets_;
};

class ConvKernel {
 public:
  ConvKernel(const Window& window, std::vector<SharedWeights> groups, const ConvShape& shape)
      : window_(window),
        groups_(std::move(groups)),
        shape_(shape),
        layout_(window, window.channels / shape.groups) {
    const std::size_t inputs = layout_.offsets().size();
    chunk_ = layout_.positions();
    if (groups_.empty() && !layout_.is_direct()) {
      const std::size_t units = std::max<std::size_t>(1, kPatchFloats / (inputs * layout_.unit()));
      chunk_ = std::min(chunk_, units * layout_.unit());
      row_offsets_.resize(inputs);
    }
    if (!groups_.empty()) {
      const std::size_t units = std::max<std::size_t>(1, kPositions / layout_.unit());
      chunk_ = std::min(chunk_, units * layout_.unit());
    }
    image_floats_ = layout_.is_padded() ? aligned_floats(layout_.padded_floats()) : 0;
  }

  EpilogueSupport epilogue() const {
    return {shape_.groups * shape_.outputs, layout_.positions(),
            [kernel = *this](const PointwiseKernel& program) {
              ConvKernel joined = kernel;
              joined.set_epilogue(program);
              return Kernel(std::move(joined));
            }};
  }

  // The padded image of a group, then what is gathered, then rows of outputs.
  std::size_t scratch_bytes() const {
    const std::size_t inputs = layout_.offsets().size();
    std::size_t floats = image_floats_;
    if (!groups_.empty())
      floats += aligned_floats(chunk_ * inputs) + chunk_ * (inputs + shape_.outputs);
    else if (!layout_.is_direct())
      floats += inputs * chunk_;
    const std::size_t product = groups_.empty() ? 0 : groups_[0]->scratch_bytes(chunk_);
    return floats * sizeof(float) + product;
  }

  void operator()(const Buffers& buffers) const {
    auto* scratch = reinterpret_cast<float*>(buffers.scratch);
    const std::size_t group_inputs = window_.channels / shape_.groups * window_.input_count();
    const std::size_t inputs = layout_.offsets().size();
    for (std::size_t i = 0; i < window_.batch * shape_.groups; ++i) {
      const std::size_t g = i % shape_.groups;
      const float* image = buffers.input<float>(0) + i * group_inputs;
      if (layout_.is_padded()) {
        layout_.pad(window_, image, scratch);
        image = scratch;
      }
      ProductCall call;
      call.row_count = shape_.outputs;
      call.input_count = inputs;
      call.a = buffers.input<float>(1) + g * shape_.outputs * inputs;
      call.a_stride = inputs;
      call.bias = shape_.has_bias ? buffers.input<float>(2) + g * shape_.outputs : nullptr;
      call.y = buffers.output<float>(0) + i * shape_.outputs * layout_.positions();
      call.y_stride = layout_.positions();
      Part part{call, buffers, {i / shape_.groups, g * shape_.outputs, shape_.outputs, 0, 0}};
      if (groups_.empty())
        multiply_over_positions(part, image, scratch + image_floats_);
      else
        multiply_over_channels(part, image, *groups_[g], scratch + image_floats_);
    }
  }

 private:
  // The product of one image and group, and where its outputs lie in the whole.
  struct Part {
    ProductCall call;
    const Buffers& buffers;
    RowsPart place;
  };

  void set_epilogue(const PointwiseKernel& program) {
    epilogue_ = program;
    // As many positions as stay in the first-level cache.
    if (layout_.is_direct())
      chunk_ = std::min(chunk_,
                        std::max<std::size_t>(1, kEpilogueFloats / shape_.outputs / kPanelOutputs) *
                            kPanelOutputs);
  }

  void finish(const Part& part) const {
    if (epilogue_)
      epilogue_->run_part(part.buffers.inputs.subspan(shape_.input_count),
                          part.buffers.output<float>(0), part.place);
  }

  void multiply_over_positions(Part part, const float* image, float* patches) const {
    ProductCall& call = part.call;
    for (std::size_t first = 0; first < layout_.positions(); first += chunk_) {
      call.column_count = std::min(chunk_, layout_.positions() - first);
      if (layout_.is_direct()) {
        call.b = image + first;
        call.b_offsets = layout_.offsets().data();
      } else {
        layout_.gather(image, first, call.column_count, patches);
        for (std::size_t k = 0; k < row_offsets_.size(); ++k)
          row_offsets_[k] = k * call.column_count;
        call.b = patches;
        call.b_offsets = row_offsets_.data();
      }
      kernels().product(call);
      call.y += call.column_count;
      part.place.column = first;
      part.place.column_count = call.column_count;
      finish(part);
    }
  }

  // Gathered as above and turned, since a product with packed weights takes a row for a position.
  void multiply_over_channels(Part part, const float* image, const DenseWeights& weights,
                              float* patches) const {
    const std::size_t inputs = layout_.offsets().size();
    float* rows = patches + aligned_floats(chunk_ * inputs);
    float* products = rows + chunk_ * inputs;
    auto* scratch = reinterpret_cast<std::byte*>(products + chunk_ * shape_.outputs);
    for (std::size_t first = 0; first < layout_.positions(); first += chunk_) {
      const std::size_t count = std::min(chunk_, layout_.positions() - first);
      layout_.gather(image, first, count, patches);
      kernels().transpose({inputs, count, patches, count, rows, inputs});
      weights.run({rows, inputs, count, part.call.bias, 0, products, shape_.outputs}, scratch);
      kernels().transpose({count, shape_.outputs, products, shape_.outputs, part.call.y + first,
                           part.call.y_stride});
      part.place.column = first;
      part.place.column_count = count;
      finish(part);
    }
  }

  Window window_;
  std::vector<SharedWeights> groups_;  // empty: lanes hold positions, in FP32
  ConvShape shape_;
  PatchLayout layout_;
  std::size_t chunk_ = 0;  // positions multiplied at a time
  std::size_t image_floats_ = 0;
  mutable std::vector<std::size_t> row_offsets_;
  std::optional<PointwiseKernel> epilogue_;
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
  const ConvShape shape{static_cast<std::size_t>(group), group_outputs, context.has_input(2),
                        context.input_count()};
  std::vector<SharedWeights> groups;
  const bool is_float =
      context.product_options(NodeContext::Factor::kInput).precision == Precision::kFloat32;
  const std::size_t positions = window.output_count();
  if (!is_float || (positions < kPositionsMin && group_outputs > positions)) {
    for (std::size_t g = 0; g < shape.groups; ++g) {
      const float* weights = w.values<float>().data() + g * group_outputs * inputs;
      TOCSIN_ASSIGN_OR_RETURN(SharedWeights packed,
                              context.pack({weights, group_outputs, inputs, inputs, 1}, 1,
                                           NodeContext::Factor::kInput));
      groups.push_back(std::move(packed));
    }
  }
  PlannedNode planned;
  planned.outputs.push_back(
      {DataType::kFloat32,
       window_output_shape(window, static_cast<std::size_t>(outputs), x.rank()),
       {},
       {}});
  const ConvKernel kernel(window, std::move(groups), shape);
  planned.scratch_bytes = kernel.scratch_bytes();
  planned.kernel = kernel;
  if (window.output_count() > 0) planned.epilogue = kernel.epilogue();
  return planned;
}

}  // namespace tocsin
