// A subgraph planned for one node of a graph, and run by that node's kernel in its scratch memory.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engines/reference/operator.h"
#include "engines/reference/plan.h"

namespace tocsin {

// One of a subgraph's own inputs. `is_weight`: the constant lives as long as the session.
struct FormalInput {
  PlanInput planned;
  bool is_weight = false;
};

class SubgraphPlan {
 public:
  // What is a weight of the session is folded into the subgraph once; other constants, among the
  // formal inputs or captured, are known to this plan alone.
  static Result<std::shared_ptr<SubgraphPlan>> build(const NodeContext& context,
                                                     const Graph& subgraph,
                                                     const std::vector<FormalInput>& formals);

  const std::vector<PlannedOutput>& outputs() const noexcept { return plan_.outputs(); }
  std::size_t arena_bytes() const noexcept { return plan_.arena_bytes(); }
  // Where something else can begin after the arena.
  std::size_t scratch_begin() const noexcept {
    return (arena_bytes() + kTensorAlignmentBytes - 1) / kTensorAlignmentBytes *
           kTensorAlignmentBytes;
  }

  // Takes the pointers to what the subgraph captures from the node's buffers.
  void bind(const Buffers& buffers) noexcept;
  void set_formal(std::size_t index, const void* data) noexcept { inputs_[index] = data; }
  // Null, or why it failed. The memory is arena_bytes() long.
  const char* run(std::byte* arena) noexcept { return plan_.run(inputs_, arena); }
  // The values of an output after run().
  const void* output_data(std::size_t index, const std::byte* arena) const noexcept {
    return plan_.output_data(index, inputs_, arena);
  }

 private:
  SubgraphPlan(Plan plan, std::size_t formal_count, std::vector<std::size_t> captured_operands)
      : plan_(std::move(plan)),
        formal_count_(formal_count),
        captured_operands_(std::move(captured_operands)),
        inputs_(formal_count_ + captured_operands_.size()) {}

  Plan plan_;
  std::size_t formal_count_;
  std::vector<std::size_t> captured_operands_;  // places among the node's operands
  std::vector<const void*> inputs_;             // filled in for each run
};

// The values that a body hands on from step to step. Each has two places in the node's scratch
// memory, since the body may read one value while it hands on another.
class CarriedValues {
 public:
  explicit CarriedValues(std::size_t scratch_begin) : scratch_end_(scratch_begin) {}

  // `stands_still`: the body hands it on unchanged.
  void add(DataType type, const Shape& shape, bool stands_still);

  std::size_t count() const noexcept { return values_.size(); }
  std::size_t scratch_end() const noexcept { return scratch_end_; }
  void start(std::size_t index, const void* data) noexcept { current_[index] = data; }
  const void* current(std::size_t index) const noexcept { return current_[index]; }
  // Takes what the body made of them at step `step`: its outputs from `first_output` on.
  void advance(const SubgraphPlan& body, std::size_t first_output, std::int64_t step,
               std::byte* scratch) noexcept;
  // Copies them to the node's first outputs.
  void write(const Buffers& buffers) const noexcept;

 private:
  struct Value {
    std::size_t bytes = 0;
    std::size_t offsets[2] = {0, 0};
    bool stands_still = false;
  };

  std::vector<Value> values_;
  std::vector<const void*> current_;
  std::size_t scratch_end_;
};

// The steps that loops may still take in this run.
class StepBudget {
 public:
  explicit StepBudget(const PreparedGraph& prepared) : work_left_(prepared.work_left()) {}

  // Null, or why there is no step left.
  const char* take() noexcept {
    if (work_left_->loop_steps <= 0)
      return "the model's loops take more steps than the limit (loop_steps_max)";
    --work_left_->loop_steps;
    return nullptr;
  }

 private:
  std::shared_ptr<WorkLeft> work_left_;
};

// Bytes of a tensor's values.
std::size_t size_bytes(DataType type, const Shape& shape);
// The same, rounded up so that another tensor can follow.
std::size_t aligned_bytes(DataType type, const Shape& shape);

}  // namespace tocsin
