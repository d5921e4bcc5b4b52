// What LSTM, GRU and RNN share: shapes, directions, layouts, weights, and the walk over the steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "engines/reference/activation.h"
#include "engines/reference/operator.h"
#include "kernels/kernels.h"

namespace tocsin {

struct RecurrentShape {
  std::size_t steps = 0;
  std::size_t batch = 0;
  std::size_t features = 0;
  std::size_t units = 0;
  std::size_t gates = 0;  // rows of W and R are gates * units
  std::size_t directions = 1;
  bool first_is_reverse = false;
  bool batch_first = false;  // ONNX layout 1: X [batch, steps, features]
  bool has_lengths = false;  // input 4: int32 [batch]
  float clip = 0;            // infinity: none

  std::size_t width() const noexcept { return gates * units; }
  bool is_reverse(std::size_t direction) const noexcept {
    return direction == 1 || first_is_reverse;
  }
  // Row of X (and of its projection) at step t of batch row b.
  std::size_t input_row(std::size_t t, std::size_t b) const noexcept {
    return batch_first ? b * steps + t : t * batch + b;
  }
  // Offsets in Y and in the states, in floats.
  std::size_t output_offset(std::size_t t, std::size_t direction, std::size_t b) const noexcept {
    return batch_first ? ((b * steps + t) * directions + direction) * units
                       : ((t * directions + direction) * batch + b) * units;
  }
  std::size_t state_offset(std::size_t direction, std::size_t b) const noexcept {
    return batch_first ? (b * directions + direction) * units : (direction * batch + b) * units;
  }
  Shape output_shape() const;
  Shape state_shape() const;
};

// Reads and checks attributes, X, W, R, B, sequence_lens and the initial states (inputs 5
// and 6): an error for weights that are no constants. `gates` is 4 for an LSTM, 3
// for a GRU, 1 for an RNN.
Result<RecurrentShape> recurrent_shape(const NodeContext& context, std::size_t gates);

// The activations of an LSTM (f, g, h) or a GRU (f, g), for each direction.
Result<std::vector<Activation>> gated_activations(const NodeContext& context,
                                                  const RecurrentShape& shape);
// Whether they are sigmoid and tanh, which the kernels' cells compute.
bool are_usual(const std::vector<Activation>& activations, const RecurrentShape& shape) noexcept;
// An error unless the kernels have the cell of this LSTM or GRU.
Status require_usual_cell(const NodeContext& context, const RecurrentShape& shape);

// One weight matrix a direction.
using WeightsList = std::vector<SharedWeights>;
// What the products of `rows` rows need of working memory, in floats.
std::size_t product_scratch_floats(const WeightsList& weights, std::size_t rows);

// W (input 1) or R (input 2) of one direction, rows [first, first + count) of gates * units,
// packed.
struct GateRows {
  std::size_t first = 0;
  std::size_t count = 0;
};
Result<SharedWeights> pack_gates(const NodeContext& context, std::size_t input,
                                 std::size_t direction, const GateRows& rows);

// B of one direction: the first half (Wb) or the second (Rb), gates * units long; zeros without B.
std::vector<float> gate_bias(const NodeContext& context, const RecurrentShape& shape,
                             std::size_t direction, bool recurrent_half);

// The biases of direction 0 as a step's two halves take them: that of the recurrent one is added to
// the input's for the first `summed` rows, and stays apart for the others (a GRU's candidate, where
// the reset gate multiplies it).
struct StepBias {
  std::vector<float> input;      // [width]
  std::vector<float> recurrent;  // [width], or empty: none stays apart
};
StepBias step_bias(const NodeContext& context, const RecurrentShape& shape, std::size_t summed);

// The rows of one step: for each batch row its projection, or null where its sequence has ended.
class StepRows {
 public:
  StepRows(const RecurrentShape& shape, const float* projection, const std::int32_t* lengths,
           bool reverse)
      : shape_(shape), projection_(projection), lengths_(lengths), reverse_(reverse) {}

  void set_step(std::size_t step) noexcept { step_ = step; }
  // The row of X whose projection is the first one there.
  void set_first_row(std::size_t row) noexcept { first_row_ = row; }
  bool is_active(std::size_t b) const noexcept { return step_ < length(b); }
  // The time index that batch row b is at; only while it is active.
  std::size_t time(std::size_t b) const noexcept {
    return reverse_ ? length(b) - 1 - step_ : step_;
  }
  const float* projection(std::size_t b) const noexcept {
    return projection_ + (shape_.input_row(time(b), b) - first_row_) * shape_.width();
  }

 private:
  std::size_t length(std::size_t b) const noexcept {
    if (lengths_ == nullptr) return shape_.steps;
    const std::int32_t length = lengths_[b];
    if (length <= 0) return 0;
    return static_cast<std::size_t>(length) < shape_.steps ? static_cast<std::size_t>(length)
                                                           : shape_.steps;
  }

  const RecurrentShape& shape_;
  const float* projection_;
  const std::int32_t* lengths_;
  bool reverse_;
  std::size_t step_ = 0;
  std::size_t first_row_ = 0;
};

// Runs all directions: input projection, then step by step. Cell is the kind of cell:
//   void start(direction, initial_states, scratch): sets the states of all batch rows
//   void step(direction, rows, scratch): one step of all active rows
//   const float* hidden(scratch), and finish(direction, outputs): writes the final states
// Where the steps follow each other in X, they are projected a few at a time, so that the
// projection stays in the cache. Scratch: the projection, what the cell asks for with
// scratch_floats(), what the projection needs.
template <typename Cell>
class RecurrentKernel {
 public:
  RecurrentKernel(const RecurrentShape& shape, WeightsList w, std::vector<std::vector<float>> bias,
                  Cell cell)
      : shape_(shape),
        w_(std::move(w)),
        bias_(std::move(bias)),
        cell_(std::move(cell)),
        chunk_(shape.steps) {
    const bool is_ordered = !shape.has_lengths && (!shape.batch_first || shape.batch == 1);
    if (is_ordered && shape.batch > 0)
      chunk_ = std::min(shape.steps, std::max<std::size_t>(1, kProjectedRows / shape.batch));
  }

  std::size_t scratch_bytes() const {
    return (projection_floats() + cell_floats() +
            product_scratch_floats(w_, chunk_ * shape_.batch)) *
           sizeof(float);
  }

  void operator()(const Buffers& buffers) const {
    auto* projection = reinterpret_cast<float*>(buffers.scratch);
    float* cell_scratch = projection + projection_floats();
    float* y = buffers.outputs.empty() ? nullptr : buffers.output<float>(0);
    const std::int32_t* lengths = shape_.has_lengths ? buffers.input<std::int32_t>(4) : nullptr;
    if (y != nullptr && lengths != nullptr) clear_output(y);
    for (std::size_t d = 0; d < shape_.directions; ++d) {
      cell_.start(shape_, d, buffers, cell_scratch);
      StepRows rows(shape_, projection, lengths, shape_.is_reverse(d));
      for (std::size_t first = 0; first < shape_.steps; first += chunk_) {
        const std::size_t count = std::min(chunk_, shape_.steps - first);
        const std::size_t time = shape_.is_reverse(d) ? shape_.steps - first - count : first;
        rows.set_first_row(time * shape_.batch);
        project(d, buffers.input<float>(0), {time * shape_.batch, count * shape_.batch},
                projection);
        for (std::size_t step = first; step < first + count; ++step) {
          rows.set_step(step);
          cell_.step(shape_, d, rows, cell_scratch);
          if (y != nullptr) store_step(d, rows, cell_.hidden(cell_scratch), y);
        }
      }
      cell_.finish(shape_, d, buffers, cell_scratch);
    }
  }

 private:
  static constexpr std::size_t kProjectedRows = 96;

  struct InputRows {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  std::size_t projection_floats() const {
    return (chunk_ * shape_.batch * shape_.width() + 15) / 16 * 16;
  }
  std::size_t cell_floats() const { return (cell_.scratch_floats(shape_) + 15) / 16 * 16; }

  void clear_output(float* y) const {
    const std::size_t count = shape_.steps * shape_.directions * shape_.batch * shape_.units;
    for (std::size_t i = 0; i < count; ++i) y[i] = 0.0F;
  }

  void project(std::size_t direction, const float* x, const InputRows& rows,
               float* projection) const {
    float* scratch = projection + projection_floats() + cell_floats();
    w_[direction]->run({x + rows.first * shape_.features, shape_.features, rows.count,
                        bias_[direction].data(), 0, projection, shape_.width()},
                       reinterpret_cast<std::byte*>(scratch));
  }

  void store_step(std::size_t direction, const StepRows& rows, const float* hidden,
                  float* y) const {
    for (std::size_t b = 0; b < shape_.batch; ++b) {
      if (!rows.is_active(b)) continue;
      float* target = y + shape_.output_offset(rows.time(b), direction, b);
      std::copy_n(hidden + b * shape_.units, shape_.units, target);
    }
  }

  RecurrentShape shape_;
  WeightsList w_;
  std::vector<std::vector<float>> bias_;
  Cell cell_;
  std::size_t chunk_;  // steps projected at a time
};

// Each to [-clip, clip]; NaN stays.
void clamp_values(float* values, std::size_t count, float clip) noexcept;

// Copies the initial states of one direction (null: zeros) to states [batch, units], and back.
void load_states(const RecurrentShape& shape, std::size_t direction, const float* initial,
                 float* states) noexcept;
void store_states(const RecurrentShape& shape, std::size_t direction, const float* states,
                  float* final_states) noexcept;

// The product of all batch rows' states [batch, inputs] with one matrix.
struct StateProduct {
  const DenseWeights& weights;
  const float* states = nullptr;
  const float* bias = nullptr;  // one for all rows; null: none
  float* result = nullptr;      // [batch, outputs]
  float* scratch = nullptr;     // product_scratch_floats() of the batch
};
void multiply_states(const RecurrentShape& shape, const StateProduct& product) noexcept;

}  // namespace tocsin
