// GRU (linear_before_reset 0 and 1) and the simple RNN.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "engines/reference/activation.h"
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

// Any activations f, g for each direction, in both forms of the reset gate. The same operations in
// the same order as the kernels'.
class GeneralGruCell : public HiddenState {
 public:
  struct Weights {
    WeightsList gates;                               // z and r
    WeightsList candidate;                           // h
    std::vector<std::vector<float>> candidate_bias;  // Rb of h, with linear_before_reset; or empty
  };

  GeneralGruCell(Weights weights, std::vector<Activation> activations)
      : weights_(std::move(weights)), activations_(std::move(activations)) {}

  std::size_t scratch_floats(const RecurrentShape& shape) const {
    return shape.batch * 5 * shape.units + product_scratch_floats(weights_.gates, shape.batch);
  }

  void step(const RecurrentShape& shape, std::size_t direction, const StepRows& rows,
            float* scratch) const {
    const std::size_t units = shape.units;
    const bool linear_before_reset = !weights_.candidate_bias.empty();
    float* gates = after_hidden(shape, scratch);
    float* reset_hidden = gates + shape.batch * 2 * units;
    float* candidate = reset_hidden + shape.batch * units;
    float* product = candidate + shape.batch * units;
    multiply_states(shape, {*weights_.gates[direction], hidden(scratch), nullptr, gates, product});
    for (std::size_t b = 0; b < shape.batch; ++b) {
      if (!rows.is_active(b)) continue;
      float* z = gates + b * 2 * units;
      const float* projection = rows.projection(b);
      for (std::size_t j = 0; j < 2 * units; ++j) z[j] = projection[j] + z[j];
      clamp_values(z, 2 * units, shape.clip);
      activations_[direction * 2].apply(z, z, 2 * units);
      const float* h = hidden(scratch) + b * units;
      for (std::size_t j = 0; j < units; ++j)
        reset_hidden[b * units + j] = linear_before_reset ? h[j] : z[units + j] * h[j];
    }
    const float* bias = linear_before_reset ? weights_.candidate_bias[direction].data() : nullptr;
    multiply_states(shape,
                    {*weights_.candidate[direction], reset_hidden, bias, candidate, product});
    for (std::size_t b = 0; b < shape.batch; ++b) {
      if (!rows.is_active(b)) continue;
      const float* z = gates + b * 2 * units;
      const float* projection = rows.projection(b) + 2 * units;
      float* n = candidate + b * units;
      float* h = hidden(scratch) + b * units;
      for (std::size_t j = 0; j < units; ++j)
        n[j] = linear_before_reset ? std::fma(z[units + j], n[j], projection[j])
                                   : projection[j] + n[j];
      clamp_values(n, units, shape.clip);
      activations_[direction * 2 + 1].apply(n, n, units);
      for (std::size_t j = 0; j < units; ++j) h[j] = std::fma(z[j], h[j] - n[j], n[j]);
    }
  }

 private:
  Weights weights_;
  std::vector<Activation> activations_;  // f and g for each direction
};

// h' = f(projection + R h).
class SimpleCell : public HiddenState {
 public:
  SimpleCell(WeightsList r, std::vector<Activation> activations)
      : r_(std::move(r)), activations_(std::move(activations)) {}

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
      for (std::size_t j = 0; j < shape.units; ++j) sum[j] = projection[j] + sum[j];
      clamp_values(sum, shape.units, shape.clip);
      activations_[direction].apply(sum, hidden(scratch) + b * shape.units, shape.units);
    }
  }

 private:
  WeightsList r_;
  std::vector<Activation> activations_;  // one a direction
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

Result<PlannedNode> plan_general_gru(const NodeContext& context, const RecurrentShape& shape,
                                     std::vector<Activation> activations) {
  const bool linear_before_reset = context.int_attribute("linear_before_reset", 0) != 0;
  const std::size_t gates = 2 * shape.units;
  WeightsList w;
  std::vector<std::vector<float>> bias;
  GeneralGruCell::Weights weights;
  for (std::size_t d = 0; d < shape.directions; ++d) {
    TOCSIN_ASSIGN_OR_RETURN(w.emplace_back(), pack_gates(context, 1, d, {0, shape.width()}));
    bias.push_back(projection_bias(context, shape, d, linear_before_reset ? gates : shape.width()));
    TOCSIN_ASSIGN_OR_RETURN(weights.gates.emplace_back(), pack_gates(context, 2, d, {0, gates}));
    TOCSIN_ASSIGN_OR_RETURN(weights.candidate.emplace_back(),
                            pack_gates(context, 2, d, {gates, shape.units}));
    if (!linear_before_reset) continue;
    const std::vector<float> recurrent = gate_bias(context, shape, d, true);
    weights.candidate_bias.emplace_back(recurrent.begin() + static_cast<std::ptrdiff_t>(gates),
                                        recurrent.end());
  }
  return planned_recurrent(
      context,
      RecurrentKernel<GeneralGruCell>(shape, std::move(w), std::move(bias),
                                      GeneralGruCell(std::move(weights), std::move(activations))),
      shape);
}

}  // namespace

Result<PlannedNode> plan_gru(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const RecurrentShape shape, recurrent_shape(context, 3));
  TOCSIN_ASSIGN_OR_RETURN(std::vector<Activation> activations, gated_activations(context, shape));
  if (!are_usual(activations, shape))
    return plan_general_gru(context, shape, std::move(activations));
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
  TOCSIN_ASSIGN_OR_RETURN(const RecurrentShape shape, recurrent_shape(context, 1));
  TOCSIN_ASSIGN_OR_RETURN(std::vector<Activation> activations,
                          read_activations(context, shape.directions, {ActivationKind::kTanh}));
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
      RecurrentKernel<SimpleCell>(shape, std::move(w), std::move(bias),
                                  SimpleCell(std::move(r), std::move(activations))),
      shape);
}

}  // namespace tocsin
