// Weights from the node, products and cells from the kernels.
#include "engines/native/step_layer.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace tocsin {
namespace {

DenseRows product_rows(const DenseWeights& weights, const float* x, std::size_t rows,
                       const std::vector<float>& bias, float* y) {
  return {x, weights.input_count(), rows, bias.empty() ? nullptr : bias.data(), 0,
          y, weights.output_count()};
}

std::size_t scratch_floats_of(const DenseWeights& weights, std::size_t rows) {
  return (weights.scratch_bytes(rows) + sizeof(float) - 1) / sizeof(float);
}

double work(const SharedWeights& weights) {
  if (weights == nullptr) return 0;
  return static_cast<double>(weights->output_count()) * static_cast<double>(weights->input_count());
}

}  // namespace

Result<StepLayer> StepLayer::make(const NodeContext& context) {
  StepLayer layer;
  layer.is_lstm_ = context.node().op_type == "LSTM";
  TOCSIN_ASSIGN_OR_RETURN(layer.shape_, recurrent_shape(context, layer.is_lstm_ ? 4 : 3));
  TOCSIN_RETURN_IF_ERROR(require_usual_cell(context, layer.shape_));
  const RecurrentShape& shape = layer.shape_;
  const bool linear = layer.is_lstm_ || context.int_attribute("linear_before_reset", 0) != 0;
  layer.resets_first_ = !linear;
  const std::size_t gates = 2 * shape.units;
  TOCSIN_ASSIGN_OR_RETURN(layer.w_, pack_gates(context, 1, 0, {0, shape.width()}));
  TOCSIN_ASSIGN_OR_RETURN(layer.r_, pack_gates(context, 2, 0, {0, linear ? shape.width() : gates}));
  if (!linear) {
    TOCSIN_ASSIGN_OR_RETURN(layer.r_candidate_, pack_gates(context, 2, 0, {gates, shape.units}));
  }
  StepBias bias = step_bias(context, shape, layer.is_lstm_ || !linear ? shape.width() : gates);
  layer.bias_ = std::move(bias.input);
  layer.recurrent_bias_ = std::move(bias.recurrent);
  if (layer.is_lstm_ && context.has_input(7)) {
    const auto values = context.input(7).values<float>();
    if (values.size() != 3 * shape.units) return invalid("input P has the wrong size");
    layer.peephole_.assign(values.begin(), values.end());
  }
  return layer;
}

double StepLayer::input_work() const noexcept { return work(w_); }
double StepLayer::state_work() const noexcept { return work(r_) + work(r_candidate_); }

std::size_t StepLayer::scratch_floats(std::size_t rows) const noexcept {
  const std::size_t candidate =
      resets_first_ ? 3 * rows * units() + scratch_floats_of(*r_candidate_, rows) : 0;
  return std::max(candidate, scratch_floats_of(*w_, rows));
}

void StepLayer::project(const float* x, std::size_t rows, float* projection,
                        float* scratch) const noexcept {
  w_->run(product_rows(*w_, x, rows, bias_, projection), reinterpret_cast<std::byte*>(scratch));
}

void StepLayer::project_quantised(const std::uint8_t* x, std::size_t rows,
                                  float* projection) const noexcept {
  w_->run_quantised(product_rows(*w_, nullptr, rows, bias_, projection), x);
}

void StepLayer::quantise(const float* hidden, std::size_t rows,
                         std::uint8_t* quantised) const noexcept {
  r_->quantise(product_rows(*r_, hidden, rows, {}, nullptr), quantised);
}

void StepLayer::recur(const StateRows& states, float* recurrent) const noexcept {
  const DenseRows rows = product_rows(*r_, states.hidden, states.count, recurrent_bias_, recurrent);
  if (quantises_state())
    r_->run_quantised(rows, states.quantised);
  else
    r_->run(rows, nullptr);
}

void StepLayer::cells(const CellRows& rows, float* scratch) const noexcept {
  if (resets_first_) return reset_first_cells(rows, scratch);
  for (std::size_t r = 0; r < rows.count; ++r) {
    const float* projection = rows.projection + r * rows.projection_stride;
    float* recurrent = rows.recurrent + r * recurrent_width();
    float* hidden = rows.hidden + r * units();
    if (is_lstm_)
      kernels().lstm_cell({units(), projection, recurrent,
                           peephole_.empty() ? nullptr : peephole_.data(), shape_.clip,
                           rows.cell + r * units(), hidden});
    else
      kernels().gru_cell({units(), projection, recurrent, shape_.clip, hidden});
  }
}

void StepLayer::reset_first_cells(const CellRows& rows, float* scratch) const noexcept {
  const std::size_t n = units();
  float* update = scratch;
  float* reset_hidden = update + rows.count * n;
  float* candidate = reset_hidden + rows.count * n;
  for (std::size_t r = 0; r < rows.count; ++r)
    kernels().gru_reset({n, rows.projection + r * rows.projection_stride,
                         rows.recurrent + r * recurrent_width(), shape_.clip, rows.hidden + r * n,
                         update + r * n, reset_hidden + r * n});
  r_candidate_->run(product_rows(*r_candidate_, reset_hidden, rows.count, {}, candidate),
                    reinterpret_cast<std::byte*>(candidate + rows.count * n));
  for (std::size_t r = 0; r < rows.count; ++r)
    kernels().gru_output({n, rows.projection + r * rows.projection_stride + 2 * n,
                          candidate + r * n, update + r * n, shape_.clip, rows.hidden + r * n});
}

}  // namespace tocsin
