// A model in the reference engine: plans for each batch size, one working memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"
#include "engines/reference/plan.h"

namespace tocsin {

// Runs on the calling thread whatever SessionOptions::thread_count says. Free first dimensions of
// the inputs, and others of the same name, are the batch (1 to batch_max); all other free
// dimensions are `steps` long. Batches up
// to batch_max are planned at load, up to ReferenceLimits::plan_count_max plans; a shape without a
// plan is planned at its first run, which allocates then.
class ReferenceSession : public Session {
 public:
  static Result<std::unique_ptr<ReferenceSession>> load(Graph graph, const SessionOptions& options,
                                                        const ReferenceLimits& limits = {});
  // The same model for other batches, for another thread if need be: it shares the weights with
  // this session. The other options must be those of this session.
  Result<std::unique_ptr<ReferenceSession>> again(const SessionOptions& options) const;

  const ModelSignature& signature() const noexcept override { return prepared_->graph().signature; }
  // NaNs in outputs are written as the quiet NaN 0x7fc00000.
  bool run(std::span<const TensorView> inputs,
           std::span<const TensorView> outputs) noexcept override;
  const Error& error() const noexcept override { return error_; }
  std::size_t weight_bytes() const noexcept override { return prepared_->weights().size_bytes(); }

  // The graph as it runs: with our own operators in the place of the patterns that they compute.
  const Graph& graph() const noexcept { return prepared_->graph(); }
  // What is known of its values for a batch of that size.
  Result<std::vector<ValueFacts>> infer(std::int64_t batch) const;
  // Working memory of the largest plan.
  std::size_t arena_bytes() const noexcept { return arena_.size_bytes(); }

 private:
  ReferenceSession(std::shared_ptr<PreparedGraph> prepared, const SessionOptions& options,
                   const ReferenceLimits& limits)
      : prepared_(std::move(prepared)), options_(options), limits_(limits) {}

  Status fuse();
  Status plan_batches();
  bool is_batch(std::size_t input, std::size_t dimension) const;
  std::vector<Shape> shapes_for_batch(std::int64_t batch) const;
  bool matches(const Plan& plan, std::span<const TensorView> inputs) const noexcept;
  Plan* find_plan(std::span<const TensorView> inputs) noexcept;
  Result<Plan*> add_plan(const std::vector<Shape>& shapes);
  Status check_input(std::size_t index, const TensorView& view) const;
  Status check_outputs(const Plan& plan, std::span<const TensorView> outputs) const;
  Status check_signature(const Plan& plan) const;
  Status run_checked(std::span<const TensorView> inputs, std::span<const TensorView> outputs);

  std::shared_ptr<PreparedGraph> prepared_;
  SessionOptions options_;
  ReferenceLimits limits_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<const void*> input_pointers_;
  Tensor arena_;
  Error error_{ErrorCode::kOk, ""};
};

}  // namespace tocsin
