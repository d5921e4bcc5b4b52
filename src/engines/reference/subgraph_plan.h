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

// Bytes of a tensor's values.
std::size_t size_bytes(DataType type, const Shape& shape);
// The same, rounded up so that another tensor can follow.
std::size_t aligned_bytes(DataType type, const Shape& shape);

}  // namespace tocsin
