// One recurrent layer, one step at a time for many rows: its three parts are apart, so that each
// can be computed as soon as what it needs is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "engines/reference/operator.h"
#include "engines/reference/recurrent.h"

namespace tocsin {

// Hidden states as recur() and the next layer read them.
struct StateRows {
  std::size_t count = 0;
  const float* hidden = nullptr;            // [count, units()]
  const std::uint8_t* quantised = nullptr;  // of hidden, if quantises_state()
};

// The rows of one cell step.
struct CellRows {
  std::size_t count = 0;
  const float* projection = nullptr;  // row r at projection + r * projection_stride
  std::size_t projection_stride = 0;  // width(), or 0: one for all rows
  float* recurrent = nullptr;         // [count, recurrent_width()]; overwritten
  float* hidden = nullptr;            // [count, units()] in and out
  float* cell = nullptr;              // the same for an LSTM's cells; unused for a GRU
};

// An LSTM or GRU node with its weights packed. The definitions are the kernels'.
class StepLayer {
 public:
  // `context` is that of the node, planned for any number of steps.
  static Result<StepLayer> make(const NodeContext& context);

  bool has_cell() const noexcept { return is_lstm_; }
  std::size_t inputs() const noexcept { return shape_.features; }
  std::size_t units() const noexcept { return shape_.units; }
  std::size_t width() const noexcept { return shape_.width(); }
  std::size_t recurrent_width() const noexcept { return r_->output_count(); }
  // INT8: the states enter products as integers, made once by quantise().
  bool quantises_state() const noexcept { return r_->precision() == Precision::kInt8; }
  std::size_t quantised_bytes(std::size_t rows) const noexcept { return r_->scratch_bytes(rows); }
  // Whether the quantised states of `before` are what project() would make of them.
  bool shares_quantised(const StepLayer& before) const noexcept {
    return quantises_state() && before.quantises_state() &&
           w_->input_scale() == before.r_->input_scale();
  }
  // Multiply-adds of a row: of the part that needs the input, and of the one that needs the state.
  double input_work() const noexcept;
  double state_work() const noexcept;
  // What project() and cells() need of working memory.
  std::size_t scratch_floats(std::size_t rows) const noexcept;

  // projection [rows, width()] of x [rows, inputs()].
  void project(const float* x, std::size_t rows, float* projection, float* scratch) const noexcept;
  // The same from quantised rows that shares_quantised() allows.
  void project_quantised(const std::uint8_t* x, std::size_t rows, float* projection) const noexcept;
  // quantised [rows, quantised_bytes(1)] of hidden [rows, units()].
  void quantise(const float* hidden, std::size_t rows, std::uint8_t* quantised) const noexcept;
  // recurrent [rows, recurrent_width()] of the states.
  void recur(const StateRows& states, float* recurrent) const noexcept;
  void cells(const CellRows& rows, float* scratch) const noexcept;

 private:
  StepLayer() = default;

  void reset_first_cells(const CellRows& rows, float* scratch) const noexcept;

  bool is_lstm_ = false;
  bool resets_first_ = false;  // GRU with linear_before_reset = 0
  RecurrentShape shape_;
  SharedWeights w_;
  SharedWeights r_;                    // the gates that need only the state
  SharedWeights r_candidate_;          // resets_first_: of the reset state
  std::vector<float> bias_;            // of the projection
  std::vector<float> recurrent_bias_;  // empty: none
  std::vector<float> peephole_;        // empty: none
};

}  // namespace tocsin
