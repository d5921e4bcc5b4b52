// LSTM: both directions, both layouts, initial states, sequence lengths, peepholes, clipping, and
// activations other than the usual ones.
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

using Peepholes = std::vector<std::vector<float>>;  // one a direction, in order i, o, f; or none

// What every LSTM cell has: hidden and cell states [batch, units] each, then the recurrent products
// [batch, 4 units], then what these need.
class LstmStates {
 public:
  explicit LstmStates(WeightsList r) : r_(std::move(r)) {}

  std::size_t scratch_floats(const RecurrentShape& shape) const {
    return shape.batch * (shape.width() + 2 * shape.units) +
           product_scratch_floats(r_, shape.batch);
  }

  void start(const RecurrentShape& shape, std::size_t direction, const Buffers& buffers,
             float* scratch) const {
    const auto initial = [&buffers](std::size_t index) {
      return index < buffers.inputs.size() ? buffers.input<float>(index) : nullptr;
    };
    load_states(shape, direction, initial(5), hidden(scratch));
    load_states(shape, direction, initial(6), cell(shape, scratch));
  }

  float* hidden(float* scratch) const { return scratch; }

  void finish(const RecurrentShape& shape, std::size_t direction, const Buffers& buffers,
              float* scratch) const {
    for (std::size_t i = 1; i < buffers.outputs.size(); ++i) {
      if (buffers.outputs[i] == nullptr) continue;
      const float* states = i == 1 ? hidden(scratch) : cell(shape, scratch);
      store_states(shape, direction, states, buffers.output<float>(i));
    }
  }

 protected:
  static float* cell(const RecurrentShape& shape, float* scratch) {
    return scratch + shape.batch * shape.units;
  }
  // R h of all rows.
  float* multiply(const RecurrentShape& shape, std::size_t direction, float* scratch) const {
    float* recurrent = scratch + 2 * shape.batch * shape.units;
    multiply_states(shape, {*r_[direction], hidden(scratch), nullptr, recurrent,
                            recurrent + shape.batch * shape.width()});
    return recurrent;
  }

 private:
  WeightsList r_;
};

// The usual activations: one kernel.
class LstmCell : public LstmStates {
 public:
  LstmCell(WeightsList r, Peepholes peepholes)
      : LstmStates(std::move(r)), peepholes_(std::move(peepholes)) {}

  void step(const RecurrentShape& shape, std::size_t direction, const StepRows& rows,
            float* scratch) const {
    float* recurrent = multiply(shape, direction, scratch);
    LstmCellCall call;
    call.units = shape.units;
    call.peephole = peepholes_.empty() ? nullptr : peepholes_[direction].data();
    call.clip = shape.clip;
    for (std::size_t b = 0; b < shape.batch; ++b) {
      if (!rows.is_active(b)) continue;
      call.projection = rows.projection(b);
      call.recurrent = recurrent + b * shape.width();
      call.cell = cell(shape, scratch) + b * shape.units;
      call.hidden = hidden(scratch) + b * shape.units;
      kernels().lstm_cell(call);
    }
  }

 private:
  Peepholes peepholes_;
};

// Any activations f, g, h for each direction, and input_forget, under which f = 1 - i. The same
// operations in the same order as the kernel's.
class GeneralLstmCell : public LstmStates {
 public:
  GeneralLstmCell(WeightsList r, Peepholes peepholes, std::vector<Activation> activations,
                  bool couples_forget)
      : LstmStates(std::move(r)),
        peepholes_(std::move(peepholes)),
        activations_(std::move(activations)),
        couples_forget_(couples_forget) {}

  void step(const RecurrentShape& shape, std::size_t direction, const StepRows& rows,
            float* scratch) const {
    float* recurrent = multiply(shape, direction, scratch);
    for (std::size_t b = 0; b < shape.batch; ++b)
      if (rows.is_active(b))
        step_row(shape, direction, rows.projection(b),
                 {recurrent + b * shape.width(), cell(shape, scratch) + b * shape.units,
                  hidden(scratch) + b * shape.units});
  }

 private:
  struct RowStates {
    float* gates;  // R h in, gates after that: i, o, f, c
    float* cell;
    float* hidden;
  };

  void step_row(const RecurrentShape& shape, std::size_t direction, const float* projection,
                const RowStates& row) const {
    const std::size_t units = shape.units;
    const Activation& f = activations_[direction * 3];
    float* input = row.gates;
    float* output = row.gates + units;
    float* forget = row.gates + 2 * units;
    float* candidate = row.gates + 3 * units;
    for (std::size_t j = 0; j < 4 * units; ++j) row.gates[j] = projection[j] + row.gates[j];
    add_peephole(direction, 0, row.cell, input, units);
    add_peephole(direction, 2, row.cell, forget, units);
    activate(shape, f, input);
    activate(shape, f, forget);
    activate(shape, activations_[direction * 3 + 1], candidate);
    for (std::size_t j = 0; j < units; ++j) {
      const float kept = couples_forget_ ? 1.0F - input[j] : forget[j];
      row.cell[j] = std::fma(kept, row.cell[j], input[j] * candidate[j]);
    }
    add_peephole(direction, 1, row.cell, output, units);
    activate(shape, f, output);
    activations_[direction * 3 + 2].apply(row.cell, row.hidden, units);
    for (std::size_t j = 0; j < units; ++j) row.hidden[j] = output[j] * row.hidden[j];
  }

  void add_peephole(std::size_t direction, std::size_t gate, const float* cell, float* values,
                    std::size_t units) const {
    if (peepholes_.empty()) return;
    const float* peephole = peepholes_[direction].data() + gate * units;
    for (std::size_t j = 0; j < units; ++j) values[j] = std::fma(peephole[j], cell[j], values[j]);
  }

  static void activate(const RecurrentShape& shape, const Activation& activation, float* values) {
    clamp_values(values, shape.units, shape.clip);
    activation.apply(values, values, shape.units);
  }

  Peepholes peepholes_;
  std::vector<Activation> activations_;  // f, g, h for each direction
  bool couples_forget_;
};

template <typename Cell>
PlannedNode planned_lstm(const NodeContext& context, const RecurrentKernel<Cell>& kernel,
                         const RecurrentShape& shape) {
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, shape.output_shape(), {}, {}});
  for (std::size_t i = 1; i < context.output_count(); ++i)
    planned.outputs.push_back({DataType::kFloat32, shape.state_shape(), {}, {}});
  planned.scratch_bytes = kernel.scratch_bytes();
  planned.kernel = kernel;
  return planned;
}

Result<Peepholes> read_peepholes(const NodeContext& context, const RecurrentShape& shape) {
  Peepholes peepholes;
  if (!context.has_input(7)) return peepholes;
  const Operand& p = context.input(7);
  const Shape expected{static_cast<std::int64_t>(shape.directions),
                       static_cast<std::int64_t>(3 * shape.units)};
  TOCSIN_RETURN_IF_ERROR(context.require_float(7));
  if (p.shape != expected)
    return invalid("input P has shape " + shape_text(p.shape) + ", expected " +
                   shape_text(expected));
  if (p.constant == nullptr) return unsupported("its peepholes must be constants");
  for (std::size_t d = 0; d < shape.directions; ++d) {
    const auto values = p.values<float>().subspan(d * 3 * shape.units, 3 * shape.units);
    peepholes.emplace_back(values.begin(), values.end());
  }
  return peepholes;
}

}  // namespace

Result<PlannedNode> plan_lstm(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const RecurrentShape shape, recurrent_shape(context, 4));
  const bool couples_forget = context.int_attribute("input_forget", 0) != 0;
  TOCSIN_ASSIGN_OR_RETURN(std::vector<Activation> activations, gated_activations(context, shape));
  TOCSIN_ASSIGN_OR_RETURN(Peepholes peepholes, read_peepholes(context, shape));
  WeightsList w;
  WeightsList r;
  std::vector<std::vector<float>> bias;
  for (std::size_t d = 0; d < shape.directions; ++d) {
    TOCSIN_ASSIGN_OR_RETURN(w.emplace_back(), pack_gates(context, 1, d, {0, shape.width()}));
    TOCSIN_ASSIGN_OR_RETURN(r.emplace_back(), pack_gates(context, 2, d, {0, shape.width()}));
    std::vector<float> sum = gate_bias(context, shape, d, false);
    const std::vector<float> recurrent = gate_bias(context, shape, d, true);
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] = sum[j] + recurrent[j];
    bias.push_back(std::move(sum));
  }
  if (are_usual(activations, shape) && !couples_forget)
    return planned_lstm(context,
                        RecurrentKernel<LstmCell>(shape, std::move(w), std::move(bias),
                                                  LstmCell(std::move(r), std::move(peepholes))),
                        shape);
  return planned_lstm(
      context,
      RecurrentKernel<GeneralLstmCell>(shape, std::move(w), std::move(bias),
                                       GeneralLstmCell(std::move(r), std::move(peepholes),
                                                       std::move(activations), couples_forget)),
      shape);
}

}  // namespace tocsin
