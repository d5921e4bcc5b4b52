// Broadcasting of operands in rows, and joining of programs.
#include "engines/reference/pointwise.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/result.h"

namespace tocsin {

std::optional<OperandPattern> operand_pattern(const Shape& shape, const Shape& output) {
  if (shape.size() > output.size()) return {};
  OperandPattern pattern;
  // From the last dimension on: some that the operand does not have, some that it has, and again.
  enum class Part { kInner, kOwn, kOuter } part = Part::kInner;
  for (std::size_t i = 0; i < output.size(); ++i) {
    const auto wanted = static_cast<std::size_t>(output[output.size() - 1 - i]);
    const auto own =
        i < shape.size() ? static_cast<std::size_t>(shape[shape.size() - 1 - i]) : std::size_t{1};
    if (wanted == 1) continue;
    if (own == wanted) {
      if (part == Part::kOuter) return {};
      part = Part::kOwn;
      pattern.count *= own;
    } else if (part == Part::kInner) {
      pattern.inner *= wanted;
    } else {
      part = Part::kOuter;
    }
  }
  if (part == Part::kInner) pattern.inner = 1;
  return pattern;
}

PointwiseTerm plain_term(PointwiseOperation operation) {
  PointwiseTerm term;
  term.operation = operation;
  return term;
}

PointwiseTerm number_term(PointwiseOperation operation, float value) {
  PointwiseTerm term;
  term.operation = operation;
  term.source = PointwiseTerm::Source::kValues;
  term.values = std::make_shared<const std::vector<float>>(1, value);
  return term;
}

PointwiseTerm input_term(PointwiseOperation operation, std::size_t input,
                         const OperandPattern& pattern) {
  PointwiseTerm term;
  term.operation = operation;
  term.source = PointwiseTerm::Source::kInput;
  term.index = input;
  term.pattern = pattern;
  return term;
}

PointwiseTerm slot_term(PointwiseOperation operation, std::size_t slot) {
  PointwiseTerm term;
  term.operation = operation;
  term.source = PointwiseTerm::Source::kSlot;
  term.index = slot;
  return term;
}

void PointwiseKernel::choose_rows(const OperandPattern& pattern) {
  const bool repeats = pattern.inner == 1;
  width_ = repeats ? pattern.count : pattern.inner;
  rows_ = repeats ? program_.count / width_ : pattern.count;
  images_ = program_.count / (width_ * rows_);
}

std::optional<PointwiseKernel::Strides> PointwiseKernel::strides(
    const OperandPattern& pattern) const {
  if (pattern.count == 1) return Strides{};
  if (pattern.inner == 1) {
    if (pattern.count == program_.count) return Strides{1, width_, rows_ * width_};
    if (pattern.count == width_) return Strides{1, 0, 0};
    if (pattern.count == rows_ * width_) return Strides{1, width_, 0};
  } else if (pattern.inner == width_) {
    if (pattern.count == rows_) return Strides{0, 1, 0};
    if (pattern.count == rows_ * images_) return Strides{0, 1, rows_};
  }
  return {};
}

std::optional<PointwiseKernel> PointwiseKernel::make(PointwiseProgram program) {
  if (program.terms.size() > kTermCountMax || program.slot_count > kPointwiseSlots) return {};
  PointwiseKernel kernel(std::move(program));
  const PointwiseProgram& own = kernel.program_;
  kernel.width_ = own.count;
  if (own.count == 0) kernel.images_ = 0;
  if (own.count == 0) return kernel;
  for (const PointwiseTerm& term : own.terms) {
    if (term.pattern.count == 1 || term.pattern.count == own.count) continue;
    kernel.choose_rows(term.pattern);
    break;
  }
  if (!kernel.find_strides()) return {};
  return kernel;
}

bool PointwiseKernel::find_strides() {
  strides_.clear();
  for (const PointwiseTerm& term : program_.terms) {
    const std::optional<Strides> found = strides(term.pattern);
    if (!found) return false;
    strides_.push_back(*found);
  }
  return true;
}

bool PointwiseKernel::fit_rows(std::size_t rows, std::size_t width) {
  if (program_.count == 0 || program_.count % (rows * width) != 0) return false;
  rows_ = rows;
  width_ = width;
  images_ = program_.count / (rows * width);
  return find_strides();
}

void PointwiseKernel::run(std::span<const void* const> inputs, float* y) const noexcept {
  for (std::size_t image = 0; image < images_; ++image)
    run_part(inputs, y, {image, 0, rows_, 0, width_});
}

void PointwiseKernel::run_part(std::span<const void* const> inputs, float* y,
                               const RowsPart& part) const noexcept {
  std::array<PointwiseStep, kTermCountMax> steps;
  for (std::size_t i = 0; i < program_.terms.size(); ++i) {
    const PointwiseTerm& term = program_.terms[i];
    PointwiseStep& step = steps[i];
    step.operation = term.operation;
    if (term.source == PointwiseTerm::Source::kNone) continue;
    if (term.source == PointwiseTerm::Source::kSlot) {
      step.slot = static_cast<int>(term.index);
      continue;
    }
    const float* operand = term.source == PointwiseTerm::Source::kValues
                               ? term.values->data()
                               : static_cast<const float*>(inputs[term.index]);
    const Strides& strides = strides_[i];
    step.operand = operand + part.image * strides.image + part.row * strides.row +
                   part.column * strides.column;
    step.row_step = strides.row;
    step.column_step = strides.column;
  }
  const std::size_t offset = (part.image * rows_ + part.row) * width_ + part.column;
  kernels().pointwise({steps.data(), program_.terms.size(), part.row_count, part.column_count,
                       static_cast<const float*>(inputs[program_.start]) + offset, width_,
                       y + offset, width_});
}

namespace {

// Puts the terms of nodes one after the other. Between nodes, the value at hand is the last node's
// output; what later nodes need of it besides is saved.
class Joiner {
 public:
  explicit Joiner(std::span<const PointwiseNode> nodes) : nodes_(nodes) {
    joined_.count = nodes[0].program->count;
  }

  std::optional<JoinedProgram> join() {
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      if (!add_node(n)) return {};
    joined_.slot_count = slot_count_;
    std::optional<PointwiseKernel> kernel = PointwiseKernel::make(std::move(joined_));
    if (!kernel) return {};
    return JoinedProgram{std::move(*kernel), std::move(inputs_)};
  }

 private:
  struct SavedValue {
    std::size_t value;
    std::size_t slot;
  };

  // The input that carries the value at hand: `start`, or the operand of a single operation, which
  // is then done the other way round. None: the value at hand is not what the node starts from.
  struct Entry {
    bool continues = false;
    bool exchanged = false;
  };

  static std::optional<PointwiseOperation> exchanged(PointwiseOperation operation) {
    switch (operation) {
      case PointwiseOperation::kAdd:
      case PointwiseOperation::kMultiply:
        return operation;
      case PointwiseOperation::kSubtract:
        return PointwiseOperation::kSubtractFrom;
      case PointwiseOperation::kSubtractFrom:
        return PointwiseOperation::kSubtract;
      case PointwiseOperation::kDivide:
        return PointwiseOperation::kDivideInto;
      case PointwiseOperation::kDivideInto:
        return PointwiseOperation::kDivide;
      default:
        return {};
    }
  }

  Entry entry_of(std::size_t n) const {
    if (n == 0) return {};
    const PointwiseNode& node = nodes_[n];
    const std::size_t at_hand = nodes_[n - 1].output;
    if (node.inputs[node.program->start] == at_hand) return {true, false};
    const std::vector<PointwiseTerm>& terms = node.program->terms;
    const bool may_exchange =
        terms.size() == 1 && terms[0].source == PointwiseTerm::Source::kInput &&
        node.inputs[terms[0].index] == at_hand && terms[0].pattern.count == node.program->count &&
        exchanged(terms[0].operation).has_value();
    return {may_exchange, may_exchange};
  }

  bool is_made_here(std::size_t value) const {
    return std::ranges::any_of(nodes_,
                               [value](const PointwiseNode& node) { return node.output == value; });
  }

  // How often nodes after `n` read its output, other than as the value at hand.
  bool is_read_again(std::size_t n) const {
    std::size_t reads = 0;
    for (std::size_t later = n + 1; later < nodes_.size(); ++later) {
      const PointwiseNode& node = nodes_[later];
      if (node.inputs[node.program->start] == nodes_[n].output) ++reads;
      for (const PointwiseTerm& term : node.program->terms)
        if (term.source == PointwiseTerm::Source::kInput &&
            node.inputs[term.index] == nodes_[n].output)
          ++reads;
    }
    return reads > (n + 1 < nodes_.size() && entry_of(n + 1).continues ? 1U : 0U);
  }

  std::size_t input_index(std::size_t value) {
    const auto found = std::ranges::find(inputs_, value);
    if (found != inputs_.end()) return static_cast<std::size_t>(found - inputs_.begin());
    inputs_.push_back(value);
    return inputs_.size() - 1;
  }

  // The term with its operand where the joined program finds it. False: it was not saved.
  bool add_operand(PointwiseTerm term, std::size_t value) {
    if (is_made_here(value)) {
      const auto saved = std::ranges::find(saved_, value, &SavedValue::value);
      if (saved == saved_.end() || term.pattern.count != joined_.count) return false;
      joined_.terms.push_back(slot_term(term.operation, saved->slot));
    } else {
      term.index = input_index(value);
      joined_.terms.push_back(std::move(term));
    }
    return true;
  }

  bool add_node(std::size_t n) {
    const PointwiseNode& node = nodes_[n];
    const PointwiseProgram& program = *node.program;
    const Entry entry = entry_of(n);
    const std::size_t start_value = node.inputs[program.start];
    const OperandPattern whole{1, program.count};
    if (entry.exchanged) {
      const PointwiseOperation operation = *exchanged(program.terms[0].operation);
      if (!add_operand(input_term(operation, 0, whole), start_value)) return false;
    } else {
      if (n == 0)
        joined_.start = input_index(start_value);
      else if (!entry.continues &&
               !add_operand(input_term(PointwiseOperation::kLoad, 0, whole), start_value))
        return false;
      const std::size_t slots_before = slot_count_;
      slot_count_ += program.slot_count;
      for (PointwiseTerm term : program.terms) {
        if (term.source == PointwiseTerm::Source::kInput) {
          if (!add_operand(term, node.inputs[term.index])) return false;
          continue;
        }
        if (term.source == PointwiseTerm::Source::kSlot) term.index += slots_before;
        joined_.terms.push_back(std::move(term));
      }
    }
    if (is_read_again(n)) {
      joined_.terms.push_back(slot_term(PointwiseOperation::kSave, slot_count_));
      saved_.push_back({node.output, slot_count_++});
    }
    return true;
  }

  std::span<const PointwiseNode> nodes_;
  PointwiseProgram joined_;
  std::vector<std::size_t> inputs_;
  std::vector<SavedValue> saved_;
  std::size_t slot_count_ = 0;
};

}  // namespace

std::optional<JoinedProgram> join_pointwise(std::span<const PointwiseNode> nodes) {
  for (const PointwiseNode& node : nodes)
    if (node.program->count != nodes[0].program->count) return {};
  return Joiner(nodes).join();
}

}  // namespace tocsin
