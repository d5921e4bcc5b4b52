// Element-wise nodes as programs of the pointwise kernel, so that nodes that follow each other run
// as one program and their values stay in registers in between.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engines/graph/graph.h"
#include "kernels/kernels.h"

namespace tocsin {

// Output element i meets element (i / inner) % count of an operand.
struct OperandPattern {
  std::size_t inner = 1;
  std::size_t count = 1;
};

// The pattern in which an operand of `shape` broadcasts to `output`; none if it needs more than the
// two numbers.
std::optional<OperandPattern> operand_pattern(const Shape& shape, const Shape& output);

// One step of a program, its operand not yet found in memory.
struct PointwiseTerm {
  enum class Source { kNone, kInput, kValues, kSlot };

  PointwiseOperation operation = PointwiseOperation::kLoad;
  Source source = Source::kNone;
  std::size_t index = 0;  // of the input or the slot
  OperandPattern pattern;
  std::shared_ptr<const std::vector<float>> values{};  // kValues
};

// Terms without an operand, with a number, with one of the node's inputs, and for slots.
PointwiseTerm plain_term(PointwiseOperation operation);
PointwiseTerm number_term(PointwiseOperation operation, float value);
PointwiseTerm input_term(PointwiseOperation operation, std::size_t input,
                         const OperandPattern& pattern);
PointwiseTerm slot_term(PointwiseOperation operation, std::size_t slot);

// y = the terms one after the other, from input `start` on, which has `count` elements as y has.
struct PointwiseProgram {
  std::size_t count = 0;
  std::size_t start = 0;
  std::vector<PointwiseTerm> terms;
  std::size_t slot_count = 0;
};

// A part of an output seen as [images, rows, width].
struct RowsPart {
  std::size_t image = 0;
  std::size_t row = 0, row_count = 0;
  std::size_t column = 0, column_count = 0;
};

// A program over a node's or several nodes' inputs, with its place in memory worked out.
class PointwiseKernel {
 public:
  // None if its operands ask for different shapes of rows, or it has too many terms.
  static std::optional<PointwiseKernel> make(PointwiseProgram program);

  // Sees the output as [images, rows, width] from now on. False: an operand does not allow it.
  bool fit_rows(std::size_t rows, std::size_t width);

  void run(std::span<const void* const> inputs, float* y) const noexcept;
  // The same for a part of y alone, which may lie where an input of y's size does.
  void run_part(std::span<const void* const> inputs, float* y, const RowsPart& part) const noexcept;

 private:
  static constexpr std::size_t kTermCountMax = 24;
  // How far an operand moves from one column, row and image to the next.
  struct Strides {
    std::size_t column = 0, row = 0, image = 0;
  };

  explicit PointwiseKernel(PointwiseProgram program) : program_(std::move(program)) {}

  void choose_rows(const OperandPattern& pattern);
  bool find_strides();
  std::optional<Strides> strides(const OperandPattern& pattern) const;

  PointwiseProgram program_;
  std::vector<Strides> strides_;  // by term
  std::size_t images_ = 1;
  std::size_t rows_ = 1;
  std::size_t width_ = 0;
};

// A node among those to be joined: which values it reads and which one it makes. Values are numbers
// that the caller chooses.
struct PointwiseNode {
  const PointwiseProgram* program = nullptr;
  std::vector<std::size_t> inputs;
  std::size_t output = 0;
};

struct JoinedProgram {
  PointwiseKernel kernel;
  std::vector<std::size_t> inputs;  // the values that its inputs are
};

// One program for nodes that follow each other, of which only the last one's output is wanted. None
// if they do not fit into one.
std::optional<JoinedProgram> join_pointwise(std::span<const PointwiseNode> nodes);

}  // namespace tocsin
