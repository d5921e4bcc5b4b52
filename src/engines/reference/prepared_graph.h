// A graph made ready for planning: operators looked up, and everything that depends on weights
// alone computed once.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "engines/graph/graph.h"
#include "engines/reference/operator.h"
#include "engines/reference/weight_store.h"

namespace tocsin {

struct ReferenceLimits {
  std::size_t node_count_max = 20'000;
  // Of constants computed from others, and of the memory a run needs: each alone.
  std::size_t memory_bytes_max = std::size_t{1} << 31U;
  std::size_t plan_count_max = 64;  // plans kept, one for each combination of input shapes
  // Of all loops in a run together, and of those that planning computes.
  std::int64_t loop_steps_max = 1'000'000;
  // Nodes planned for one combination of input shapes, each time that a body is tried counted.
  std::size_t node_plans_max = 5'000'000;
};

// What is left of the limits on work; a graph and its subgraphs share it.
struct WorkLeft {
  std::size_t node_plans = 0;
  std::int64_t loop_steps = 0;
};

class PreparedGraph;

// Plans one node: the operator's own checks, the number of inputs and outputs, attributes, sizes.
Result<PlannedNode> plan_node(PreparedGraph& prepared, std::size_t node_index,
                              const NodeInputs& inputs);

// The outputs of a planned node whose inputs are all constants. `bytes_left` is lowered by their
// size; an error if it does not suffice.
Result<std::vector<Tensor>> fold_node(const PlannedNode& planned, const NodeInputs& inputs,
                                      std::size_t& bytes_left);

class PreparedGraph {
 public:
  // The error names the node; for an operator that is unknown here it names the engines that may
  // have it.
  static Result<PreparedGraph> prepare(Graph graph, const ReferenceLimits& limits,
                                       const QuantisationOptions& quantisation = {});

  const Graph& graph() const noexcept { return graph_; }
  // Indices of the nodes that are left to be planned, in order.
  const std::vector<std::size_t>& nodes() const noexcept { return nodes_; }
  // One a value; set where it is a weight or depends on weights alone.
  const std::vector<std::optional<Tensor>>& constants() const noexcept { return constants_; }
  WeightStore& weights() noexcept { return weights_; }
  const WeightStore& weights() const noexcept { return weights_; }
  const ReferenceLimits& limits() const noexcept { return limits_; }

  // Of a graph that is no subgraph: the work of another plan begins.
  void begin_planning() noexcept {
    if (!is_subgraph_) work_left_->node_plans = limits_.node_plans_max;
  }
  bool is_subgraph() const noexcept { return is_subgraph_; }
  const std::shared_ptr<WorkLeft>& work_left() const noexcept { return work_left_; }

  // A subgraph of one of the nodes, prepared when it is first asked for: so a branch that is never
  // taken may hold operators that are unknown here. `known` must be the same each time.
  Result<PreparedGraph*> subgraph(const Graph& graph, const std::vector<Initializer>& known);

 private:
  PreparedGraph(Graph graph, const ReferenceLimits& limits, const QuantisationOptions& quantisation)
      : graph_(std::move(graph)), limits_(limits), weights_(quantisation) {}

  Status check_operators() const;
  Status fold(const std::vector<Initializer>& known);
  Status fold_constants();
  NodeInputs constant_inputs(const GraphNode& node) const;

  Graph graph_;
  ReferenceLimits limits_;
  std::map<const Graph*, std::unique_ptr<PreparedGraph>> subgraphs_;
  std::vector<std::size_t> nodes_;
  std::vector<std::optional<Tensor>> constants_;
  WeightStore weights_;
  std::shared_ptr<WorkLeft> work_left_ = std::make_shared<WorkLeft>();
  bool is_subgraph_ = false;
};

// The error with the node it belongs to, and with the engines to turn to if something is not done
// here.
Error node_error(const Graph& graph, std::size_t node_index, const Error& error);

}  // namespace tocsin
