// A graph planned for given input shapes: the steps left to run, and where their data lies.
// Building a plan allocates; running it does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/reference/prepared_graph.h"

namespace tocsin {

// A part of a graph: what computes `outputs` from `inputs`, which stand for the nodes that would
// compute them. Everything else that the part reads must be constant for the planned shapes.
struct GraphPart {
  std::vector<ValueIndex> inputs;
  std::vector<ValueIndex> outputs;
};

// What is known of a value before anything runs.
struct ValueFacts {
  DataType type = DataType::kFloat32;
  Shape shape;
  std::optional<Tensor> constant;  // set where it does not depend on what the inputs hold
};

// An input as a plan is built for it.
struct PlanInput {
  DataType type = DataType::kFloat32;
  Shape shape;
  std::optional<Tensor> constant{};  // for a subgraph: known from the graph around it
};

// NaNs come out of the kernels with any sign and payload; outputs have the quiet NaN 0x7fc00000.
void copy_with_quiet_nans(const float* from, std::span<float> to) noexcept;

class Plan {
 public:
  // `input_shapes` in the signature's order, without free dimensions. The graph's constants must
  // outlive the plan.
  static Result<Plan> build(PreparedGraph& prepared, const std::vector<Shape>& input_shapes,
                            const ReferenceLimits& limits);
  // The same for a subgraph: all inputs of the graph, those that it captures among them.
  static Result<Plan> build(PreparedGraph& prepared, const std::vector<PlanInput>& inputs,
                            const ReferenceLimits& limits);
  // The plan of a part alone: run() takes the part's inputs. `input_shapes` are the whole graph's.
  static Result<Plan> build_part(PreparedGraph& prepared, const std::vector<Shape>& input_shapes,
                                 const GraphPart& part, const ReferenceLimits& limits);

  // The facts of all values of a graph, by ValueIndex; with `outputs`, of those alone that lead to
  // them (the others stay as they are by default).
  static Result<std::vector<ValueFacts>> infer(PreparedGraph& prepared,
                                               const std::vector<Shape>& input_shapes,
                                               const ReferenceLimits& limits,
                                               const std::vector<ValueIndex>& outputs = {});

  const std::vector<Shape>& input_shapes() const noexcept { return input_shapes_; }
  // Types, shapes, and the values of those that do not depend on the inputs' values.
  const std::vector<PlannedOutput>& outputs() const noexcept { return outputs_; }
  // What run() needs of working memory, aligned to kTensorAlignmentBytes.
  std::size_t arena_bytes() const noexcept { return arena_bytes_; }

  // Runs all steps on inputs of the planned shapes. Returns null, or why it failed (a static text);
  // failed_node() then says where.
  const char* run(std::span<const void* const> inputs, std::byte* arena) noexcept;
  std::size_t failed_node() const noexcept { return failed_node_; }

  // The values of model output `index` after run(); valid until the next run.
  const void* output_data(std::size_t index, std::span<const void* const> inputs,
                          const std::byte* arena) const noexcept;

 private:
  friend class PlanBuilder;

  // Where a value's memory is.
  struct Place {
    enum class Kind { kNone, kConstant, kInput, kArena };
    Kind kind = Kind::kNone;
    std::size_t position = 0;    // index of the input, or offset in the arena
    const void* data = nullptr;  // of a constant
  };
  struct Step {
    std::size_t node_index = 0;
    Kernel kernel;
    std::vector<Place> inputs, outputs;
    std::vector<const void*> input_pointers;  // filled in by run()
    std::vector<void*> output_pointers;
  };

  static const void* resolve(const Place& place, std::span<const void* const> inputs,
                             const std::byte* arena) noexcept;

  std::vector<Shape> input_shapes_;
  std::vector<PlannedOutput> outputs_;
  std::vector<Place> output_places_;
  std::vector<Step> steps_;
  std::vector<Tensor> constants_;  // computed for these shapes
  std::size_t scratch_offset_ = 0;
  std::size_t arena_bytes_ = 0;
  std::size_t failed_node_ = 0;
  // Of a graph that is no subgraph: what its loops may take in a run.
  std::shared_ptr<WorkLeft> work_left_;
  std::int64_t loop_steps_max_ = 0;
};

}  // namespace tocsin
