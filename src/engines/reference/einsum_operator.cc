// Einsum of one or two operands. Each operand is laid out as [batch, kept, summed], the sums are
// those of a matrix product, and their results are laid out as the equation says.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/reference/place_walk.h"
#include "engines/reference/plan_functions.h"
#include "engines/reference/prepared_graph.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

// The letters of the operands and of the output; "..." has become digits, the last dimension '0'.
struct Equation {
  std::vector<std::string> operands;
  std::string output;
};

// `text` with its ellipsis replaced by `width` digits.
Result<std::string> labels_of(std::string_view text, std::size_t width) {
  std::string labels;
  bool has_ellipsis = false;
  while (!text.empty()) {
    if (text.starts_with("...")) {
      if (has_ellipsis) return invalid("its equation has two ellipses in one place");
      has_ellipsis = true;
      for (std::size_t i = width; i > 0; --i) labels += static_cast<char>('0' + i - 1);
      text.remove_prefix(3);
    } else if (std::isalpha(static_cast<unsigned char>(text[0])) != 0) {
      labels += text[0];
      text.remove_prefix(1);
    } else {
      return invalid("its equation has a '" + std::string(1, text[0]) + "'");
    }
  }
  return labels;
}

// Without "->": the letters that stand once, in alphabetical order, after the ellipsis.
std::string implicit_output(const std::vector<std::string>& operands) {
  std::map<char, int> uses;
  std::string digits;
  for (const std::string& labels : operands)
    for (const char label : labels) ++uses[label];
  std::string letters;
  for (const auto& [label, count] : uses) {
    if (std::isdigit(static_cast<unsigned char>(label)) != 0)
      digits.insert(digits.begin(), label);
    else if (count == 1)
      letters += label;
  }
  return digits + letters;
}

Result<Equation> parse(const NodeContext& context) {
  std::string text = context.string_attribute("equation", "");
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  Equation equation;
  std::size_t ellipsis_width = 0;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const std::size_t comma = left.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == context.input_count()))
      return invalid("its equation '" + text + "' does not fit its inputs");
    const std::string_view part = left.substr(0, comma);
    const std::size_t rank = context.input(i).rank();
    const bool has_ellipsis = part.find("...") != std::string_view::npos;
    const std::size_t letters = part.size() - (has_ellipsis ? 3 : 0);
    if (letters > rank || (!has_ellipsis && letters != rank))
      return invalid("'" + std::string(part) + "' of its equation does not fit shape " +
                     shape_text(context.input(i).shape));
    TOCSIN_ASSIGN_OR_RETURN(std::string labels, labels_of(part, rank - letters));
    if (has_ellipsis) ellipsis_width = std::max(ellipsis_width, rank - letters);
    equation.operands.push_back(std::move(labels));
    if (comma != std::string_view::npos) left.remove_prefix(comma + 1);
  }
  if (arrow == std::string::npos) {
    equation.output = implicit_output(equation.operands);
  } else {
    TOCSIN_ASSIGN_OR_RETURN(equation.output,
                            labels_of(std::string_view(text).substr(arrow + 2), ellipsis_width));
  }
  return equation;
}

// How far an operand moves along a label: 0 where it lacks the label or has it 1 long.
struct LabelSize {
  std::int64_t length = 1;
  std::array<std::size_t, 2> strides{0, 0};
};
using LabelSizes = std::map<char, LabelSize>;

Result<LabelSizes> label_sizes(const NodeContext& context, const Equation& equation) {
  LabelSizes sizes;
  for (std::size_t i = 0; i < equation.operands.size(); ++i) {
    const Shape& shape = context.input(i).shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      LabelSize& size = sizes[equation.operands[i][d]];
      if (size.length != 1 && shape[d] != 1 && size.length != shape[d])
        return invalid("'" + std::string(1, equation.operands[i][d]) +
                       "' of its equation stands for " + std::to_string(size.length) + " and " +
                       std::to_string(shape[d]));
      if (shape[d] != 1) size.length = shape[d];
    }
  }
  for (std::size_t i = 0; i < equation.operands.size(); ++i) {
    const Shape& shape = context.input(i).shape;
    const std::vector<std::size_t> strides = row_major_strides(shape);
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] != 1) sizes[equation.operands[i][d]].strides[i] += strides[d];
  }
  return sizes;
}

// An operand, or the output, in the order in which the sums read or write it.
struct Layout {
  PlaceWalk walk;
  bool is_as_it_lies = false;  // the walk's offsets are 0, 1, 2, ...
};

Result<Layout> layout_of(const std::string& labels, const LabelSizes& sizes, std::size_t operand) {
  if (labels.size() > kRankMax) return unsupported("its equation has more than 8 letters together");
  Shape shape;
  std::vector<std::size_t> strides;
  for (const char label : labels) {
    shape.push_back(sizes.at(label).length);
    strides.push_back(sizes.at(label).strides[operand]);
  }
  if (!checked_element_count(shape)) return invalid("its operands spread out are too large");
  bool as_it_lies = true;
  const std::vector<std::size_t> plain = row_major_strides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d)
    as_it_lies = as_it_lies && (shape[d] == 1 || strides[d] == plain[d]);
  return Layout{PlaceWalk(shape, strides), as_it_lies};
}

// The labels by what becomes of them; each in the order of the output or of their appearance.
struct Roles {
  std::string batch, left, right, summed;
};

Result<Roles> roles_of(const Equation& equation, const LabelSizes& sizes) {
  Roles roles;
  const auto has = [&equation](std::size_t operand, char label) {
    return operand < equation.operands.size() &&
           equation.operands[operand].find(label) != std::string::npos;
  };
  for (std::size_t i = 0; i < equation.output.size(); ++i) {
    const char label = equation.output[i];
    if (equation.output.find(label, i + 1) != std::string::npos || !sizes.contains(label))
      return invalid("'" + std::string(1, label) + "' stands in its output wrongly");
    (has(0, label) && has(1, label) ? roles.batch
     : has(0, label)                ? roles.left
                                    : roles.right) += label;
  }
  for (const auto& [label, size] : sizes)
    if (equation.output.find(label) == std::string::npos) roles.summed += label;
  return roles;
}

std::size_t length_of(const std::string& labels, const LabelSizes& sizes) {
  std::size_t length = 1;
  for (const char label : labels) length *= static_cast<std::size_t>(sizes.at(label).length);
  return length;
}

struct EinsumShape {
  std::size_t batch = 1, m = 1, k = 1, n = 1;
  std::size_t right_offset = 0, result_offset = 0;  // in the scratch, in floats
};

// Copies an operand in its layout's order, if it does not lie so already.
const float* laid_out(const Layout& layout, const float* x, float* scratch) {
  if (layout.is_as_it_lies) return x;
  float* y = scratch;
  layout.walk.run([&](std::size_t offset) {
    *y++ = x[offset];
    return true;
  });
  return scratch;
}

class EinsumKernel {
 public:
  EinsumKernel(const EinsumShape& shape, const std::array<Layout, 3>& layouts, bool has_right)
      : shape_(shape), layouts_(layouts), has_right_(has_right) {
    for (std::size_t k = 0; k < shape.k; ++k) b_offsets_.push_back(k * shape.n);
  }

  void operator()(const Buffers& buffers) const {
    auto* scratch = reinterpret_cast<float*>(buffers.scratch);
    const float* a = laid_out(layouts_[0], buffers.input<float>(0), scratch);
    float* y = buffers.output<float>(0);
    float* result = layouts_[2].is_as_it_lies ? y : scratch + shape_.result_offset;
    if (has_right_)
      multiply(a, laid_out(layouts_[1], buffers.input<float>(1), scratch + shape_.right_offset),
               result);
    else
      kernels().row_sum({shape_.m, shape_.k, a, shape_.k, result});
    if (result == y) return;
    const float* next = result;
    layouts_[2].walk.run([&](std::size_t offset) {
      y[offset] = *next++;
      return true;
    });
  }

 private:
  void multiply(const float* a, const float* b, float* result) const {
    ProductCall call;
    call.row_count = shape_.m;
    call.input_count = shape_.k;
    call.column_count = shape_.n;
    call.a_stride = shape_.k;
    call.b_offsets = b_offsets_.data();
    call.y_stride = shape_.n;
    for (std::size_t i = 0; i < shape_.batch; ++i) {
      call.a = a + i * shape_.m * shape_.k;
      call.b = b + i * shape_.k * shape_.n;
      call.y = result + i * shape_.m * shape_.n;
      kernels().product(call);
    }
  }

  EinsumShape shape_;
  std::array<Layout, 3> layouts_;  // left, right, result
  std::vector<std::size_t> b_offsets_;
  bool has_right_;
};

}  // namespace

Result<PlannedNode> plan_einsum(const NodeContext& context) {
  if (context.input_count() > 2) return unsupported("more than two operands are not supported");
  for (std::size_t i = 0; i < context.input_count(); ++i)
    TOCSIN_RETURN_IF_ERROR(context.require_float(i));
  TOCSIN_ASSIGN_OR_RETURN(const Equation equation, parse(context));
  TOCSIN_ASSIGN_OR_RETURN(LabelSizes sizes, label_sizes(context, equation));
  TOCSIN_ASSIGN_OR_RETURN(const Roles roles, roles_of(equation, sizes));
  PlannedNode planned;
  Shape output;
  for (const char label : equation.output) output.push_back(sizes.at(label).length);
  if (output.size() > kRankMax || !checked_element_count(output))
    return invalid("its output is too large");
  planned.outputs.push_back({DataType::kFloat32, output, {}, {}});
  TOCSIN_ASSIGN_OR_RETURN(const Layout left,
                          layout_of(roles.batch + roles.left + roles.summed, sizes, 0));
  TOCSIN_ASSIGN_OR_RETURN(const Layout right,
                          layout_of(roles.batch + roles.summed + roles.right, sizes, 1));
  const std::vector<std::size_t> strides = row_major_strides(output);
  for (std::size_t d = 0; d < output.size(); ++d) sizes[equation.output[d]].strides[0] = strides[d];
  TOCSIN_ASSIGN_OR_RETURN(const Layout result,
                          layout_of(roles.batch + roles.left + roles.right, sizes, 0));
  EinsumShape shape{length_of(roles.batch, sizes),
                    length_of(roles.left, sizes),
                    length_of(roles.summed, sizes),
                    length_of(roles.right, sizes),
                    left.walk.count(),
                    left.walk.count() + right.walk.count()};
  planned.scratch_bytes = (shape.result_offset + result.walk.count()) * sizeof(float);
  if (planned.scratch_bytes > context.prepared().limits().memory_bytes_max)
    return Error(ErrorCode::kResourceExhausted,
                 "its operands spread out need " + std::to_string(planned.scratch_bytes) +
                     " bytes, which is over the limit (memory_bytes_max)");
  planned.kernel = EinsumKernel(shape, {left, right, result}, context.input_count() == 2);
  return planned;
}

}  // namespace tocsin
