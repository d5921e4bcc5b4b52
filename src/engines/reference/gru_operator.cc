// GRU (linear_before_reset 0 and 1) and the simple RNN.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "engines/reference/plan_functions.h"
#include "engines/reference/recurrent.h"

namespace tocsin {
namespace {

// What GRU and RNN have in common: one state, which is also the output.
class HiddenState {
 public:
  void start(const RecurrentShape& shape, std::size_t direction, const Buffers& buffers,
             float* scratch) const {
    const float* initial = buffers.inputs.size() > 5 ? buffers.input<float>(5) : nullptr;
    load_states(shape, direction, initial, scratch);
  }
  float* hidden(float* scratch) const { return scratch; }
  void finish(const RecurrentShape& shape, std::size_t direction, const Buffers& buffers,
              float* scratch) const {
    if (buffers.outputs.size() > 1 && buffers.outputs[1] != nullptr)
      store_states(shape, direction, scratch, buffers.output<float>(1));
  }

 protected:
  static float* after_hidden(const RecurrentShape& shape, float* scratch) {
    return scratch + shape.batch * shape.units;
  }
};

// linear_before_reset = 1: the recurrent product carries the candidate's recurrent bias.
class GruCell : public HiddenState {
 public:
  GruCell(WeightsList r, std::vector<std::vector<float>> recurrent_bias)
      : r_(std::move(r)), recurrent_bias_(std::move(recurrent_bias)) {}

  std::size_t scratch_floats(const RecurrentShape& shape) const {
    return shape.batch * (shape.units + shape.width()) + product_scratch_floats(r_, shape.batch);
  }

  void step(const RecurrentShape& shape, std::size_t direction, const StepRows& rows,
            float* scratch) const {
    float* recurrent = after_hidden(shape, scratch);
    multiply_states(shape, {*r_[direction], hidden(scratch), recurrent_bias_[direction].data(),
                            recurrent, recurrent + shape.batch * shape.width()});
    GruCellCall call;
    call.units = shape.units;
    call.clip = shape.clip;
    for (std::size_t b = 0; b < shape.batch; ++b) {
      if (!rows.is_active(b)) continue;
      call.projection = rows.projection(b);
      call.recurrent = recurrent + b * shape.width();
      call.hidden = hidden(scratch) + b * shape.units;
      kernels().gru_cell(call);
    }
  }

 private:
  WeightsList r_;
  std::vector<std::vector<float>> recurrent_bias_;  // 0 for z and r, Rb for h
};

// linear_before_reset = 0: the candidate's product is of the reset state.
class ResetFirstGruCell : public HiddenState {
 public:
  ResetFirstGruCell(WeightsList r_gates, WeightsList r_candidate)
      : r_gates_(std::move(r_gates)), r_candidate_(std::move(r_candidate)) {}

  std::size_t scratch_floats(const RecurrentShape& shape) const {
    return shape.batch * 6 * shape.units + product_scratch_floats(r_gates_, shape.batch);
  }

  void step(const RecurrentShape& shape, std::size_t direction, const StepRows& rows,
            float* scratch) const {
    const std::size_t units = shape.units;
    float* gates = after_hidden(shape, scratch);
    float* update = gates + shape.batch * 2 * units;
    float* reset_hidden = update + shape.batch * units;
    float* candidate = reset_hidden + shape.batch * units;
    float* product = candidate + shape.batch * units;
    multiply_states(shape, {*r_gates_[direction], hidden(scratch), nullptr, gates, product});
    for (std::size_t b = 0; b < shape.batch; ++b) {
      if (!rows.is_active(b)) continue;
      kernels().gru_reset({units, rows.projection(b), gates + b * 2 * units, shape.clip,
                           hidden(scratch) + b * units, update + b * units,
                           reset_hidden + b * units});
    }
    // Rows that have ended are multiplied along with the others, and not looked at.
    multiply_states(shape, {*r_candidate_[direction], reset_hidden, nullptr, candidate, product});
    for (std::size_t b = 0; b < shape.batch; ++b) {
      if (!rows.is_active(b)) continue;
      kernels().gru_output({units, rows.projection(b) + 2 * units, candidate + b * units,
                            update + b * units, shape.clip, hidden(scratch) + b * units});
    }
  }

 private:
  WeightsList r_gates_;
  WeightsList r_candidate_;
};

// h' = tanh(projection + R h).
class SimpleCell : public HiddenState {
 public:
  explicit SimpleCell(WeightsList r) : r_(std::move(r)) {}

  std::size_t scratch_floats(const RecurrentShape& shape) const {
    return shape.batch * 2 * shape.units + product_scratch_floats(r_, shape.batch);
  }

  void step(const RecurrentShape& shape, std::size_t direction, const StepRows& rows,
            float* scratch) const {
    float* recurrent = after_hidden(shape, scratch);
    multiply_states(shape, {*r_[direction], hidden(scratch), nullptr, recurrent,
                            recurrent + shape.batch * shape.units});
    for (std::size_t b = 0; b < shape.batch; ++b) {
      if (!rows.is_active(b)) continue;
      const float* projection = rows.projection(b);
      float* sum = recurrent + b * shape.units;
      for (std::size_t j = 0; j < shape.units; ++j) {
        const float value = projection[j] + sum[j];
        const float raised = value < -shape.clip ? -shape.clip : value;
        sum[j] = raised > shape.clip ? shape.clip : raised;
      }
      kernels().tanh(sum, hidden(scratch) + b * shape.units, shape.units);
    }
  }

 private:
  WeightsList r_;
};

template <typename Cell>
PlannedNode planned_recurrent(const NodeContext& context, const RecurrentKernel<Cell>& kernel,
                              const RecurrentShape& shape) {
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, shape.output_shape(), {}, {}});
  if (context.output_count() > 1)
    planned.outputs.push_back({DataType::kFloat32, shape.state_shape(), {}, {}});
  planned.scratch_bytes = kernel.scratch_bytes();
  planned.kernel = kernel;
  return planned;
}

// Wb + Rb for the first `summed` of the gates * units biases, Wb for the others.
std::vector<float> projection_bias(const NodeContext& context, const RecurrentShape& shape,
                                   std::size_t direction, std::size_t summed) {
  std::vector<float> bias = gate_bias(context, shape, direction, false);
  const std::vector<float> recurrent = gate_bias(context, shape, direction, true);
  for (std::size_t j = 0; j < summed; ++j) bias[j] = bias[j] + recurrent[j];
  return bias;
}

}  // namespace

Result<PlannedNode> plan_gru(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const RecurrentShape shape,
                          recurrent_shape(context, 3, {"sigmoid", "tanh"}));
  const bool linear_before_reset = context.int_attribute("linear_before_reset", 0) != 0;
  const std::size_t gates = 2 * shape.units;
  WeightsList w;
  WeightsList r;
  WeightsList r_candidate;
  std::vector<std::vector<float>> bias;
  std::vector<std::vector<float>> recurrent_bias;
  for (std::size_t d = 0; d < shape.directions; ++d) {
    TOCSIN_ASSIGN_OR_RETURN(w.emplace_back(), pack_gates(context, 1, d, {0, shape.width()}));
    bias.push_back(projection_bias(context, shape, d, linear_before_reset ? gates : shape.width()));
    TOCSIN_ASSIGN_OR_RETURN(
        r.emplace_back(),
        pack_gates(context, 2, d, {0, linear_before_reset ? shape.width() : gates}));
    if (linear_before_reset) {
      recurrent_bias.push_back(gate_bias(context, shape, d, true));
      std::fill_n(recurrent_bias.back().begin(), gates, 0.0F);
    } else {
      TOCSIN_ASSIGN_OR_RETURN(r_candidate.emplace_back(),
                              pack_gates(context, 2, d, {gates, shape.units}));
    }
  }
  if (linear_before_reset)
    return planned_recurrent(
        context,
        RecurrentKernel<GruCell>(shape, std::move(w), std::move(bias),
                                 GruCell(std::move(r), std::move(recurrent_bias))),
        shape);
  return planned_recurrent(
      context,
      RecurrentKernel<ResetFirstGruCell>(shape, std::move(w), std::move(bias),
                                         ResetFirstGruCell(std::move(r), std::move(r_candidate))),
      shape);
}

Result<PlannedNode> plan_rnn(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const RecurrentShape shape, recurrent_shape(context, 1, {"tanh"}));
  WeightsList w;
  WeightsList r;
  std::vector<std::vector<float>> bias;
  for (std::size_t d = 0; d < shape.directions; ++d) {
    TOCSIN_ASSIGN_OR_RETURN(w.emplace_back(), pack_gates(context, 1, d, {0, shape.width()}));
    TOCSIN_ASSIGN_OR_RETURN(r.emplace_back(), pack_gates(context, 2, d, {0, shape.width()}));
    bias.push_back(projection_bias(context, shape, d, shape.width()));
  }
  return planned_recurrent(
      context,
      RecurrentKernel<SimpleCell>(shape, std::move(w), std::move(bias), SimpleCell(std::move(r))),
      shape);
}

}  // namespace tocsin
