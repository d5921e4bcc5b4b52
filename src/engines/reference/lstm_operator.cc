// LSTM: both directions, both layouts, initial states, sequence lengths, peepholes and clipping.
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "engines/reference/plan_functions.h"
#include "engines/reference/recurrent.h"

namespace tocsin {
namespace {

class LstmCell {
 public:
  LstmCell(WeightsList r, std::vector<std::vector<float>> peepholes)
      : r_(std::move(r)), peepholes_(std::move(peepholes)) {}

  // Hidden and cell states [batch, units] each, the recurrent products [batch, 4 units], then what
  // these need.
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

  void step(const RecurrentShape& shape, std::size_t direction, const StepRows& rows,
            float* scratch) const {
    float* recurrent = products(shape, scratch);
    multiply_states(shape, {*r_[direction], hidden(scratch), nullptr, recurrent,
                            recurrent + shape.batch * shape.width()});
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

  float* hidden(float* scratch) const { return scratch; }

  void finish(const RecurrentShape& shape, std::size_t direction, const Buffers& buffers,
              float* scratch) const {
    for (std::size_t i = 1; i < buffers.outputs.size(); ++i) {
      if (buffers.outputs[i] == nullptr) continue;
      const float* states = i == 1 ? hidden(scratch) : cell(shape, scratch);
      store_states(shape, direction, states, buffers.output<float>(i));
    }
  }

 private:
  static float* cell(const RecurrentShape& shape, float* scratch) {
    return scratch + shape.batch * shape.units;
  }
  static float* products(const RecurrentShape& shape, float* scratch) {
    return scratch + 2 * shape.batch * shape.units;
  }

  WeightsList r_;
  std::vector<std::vector<float>> peepholes_;  // one a direction, in the order i, o, f; or none
};

Result<std::vector<std::vector<float>>> read_peepholes(const NodeContext& context,
                                                       const RecurrentShape& shape) {
  std::vector<std::vector<float>> peepholes;
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
  TOCSIN_ASSIGN_OR_RETURN(const RecurrentShape shape,
                          recurrent_shape(context, 4, {"sigmoid", "tanh", "tanh"}));
  context.require_int("input_forget", 0);
  TOCSIN_ASSIGN_OR_RETURN(auto peepholes, read_peepholes(context, shape));
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
  const RecurrentKernel<LstmCell> kernel(shape, std::move(w), std::move(bias),
                                         LstmCell(std::move(r), std::move(peepholes)));
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, shape.output_shape(), {}, {}});
  for (std::size_t i = 1; i < context.output_count(); ++i)
    planned.outputs.push_back({DataType::kFloat32, shape.state_shape(), {}, {}});
  planned.scratch_bytes = kernel.scratch_bytes();
  planned.kernel = kernel;
  return planned;
}

}  // namespace tocsin
