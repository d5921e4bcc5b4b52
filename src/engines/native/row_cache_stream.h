// Sliding windows of a model whose frames meet late: rows that depend on a few neighbouring frames
// are computed once and kept for all windows; the rest is run whole (docs/adr/score-ahead.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"
#include "engines/native/row_cache_network.h"
#include "engines/reference/plan.h"
#include "engines/reference/prepared_graph.h"

namespace tocsin {

class RowCacheStream final : public WindowStream {
 public:
  // `facts` are those of one window. kUnimplemented where nothing can be kept.
  static Result<std::unique_ptr<WindowStream>> make(PreparedGraph prepared,
                                                    const std::vector<ValueFacts>& facts);

  Status add_key(std::uint32_t key) override;
  void push(std::uint32_t key, std::span<const float> frame) noexcept override;
  bool score(std::uint32_t key, std::span<float> output) noexcept override;
  bool work_ahead() noexcept override { return false; }  // rows need their newest frame
  void reset(std::uint32_t key) noexcept override { keys_[key]->frames = 0; }
  std::size_t bytes_per_key() const noexcept override;
  double last_step_share() const noexcept override { return last_step_share_; }

 private:
  struct Cache {
    CachedValue value;
    std::size_t row_offset = 0;    // in a key's memory: a ring [rows, outer * inner]
    std::vector<float> assembled;  // [outer, rows, inner]
  };
  // What computes one row of all values that depend on as many frames.
  struct RowPlan {
    std::size_t context = 1;
    Plan plan;
    std::vector<std::size_t> caches;  // by output of the plan
  };
  struct Key {
    std::vector<float> memory;
    std::uint64_t frames = 0;
  };

  explicit RowCacheStream(PreparedGraph prepared) : prepared_(std::move(prepared)) {}

  Status build(const std::vector<ValueFacts>& facts);
  // Plans the rows of a context; returns the multiply-adds of one of each.
  Result<double> add_row_plan(std::size_t context);
  void grow_arena(const Plan& plan);
  void keep_rows(Key& key, RowPlan& rows, const float* frames) noexcept;
  static void assemble(const Key& key, Cache& cache) noexcept;

  PreparedGraph prepared_;
  std::size_t steps_ = 0;
  std::size_t features_ = 0;
  std::size_t context_ = 1;  // frames that the longest row needs
  std::vector<Cache> caches_;
  std::vector<RowPlan> row_plans_;
  std::optional<Plan> rest_;
  std::size_t key_floats_ = 0;  // frames, each written twice so that they lie in one piece; rows
  double last_step_share_ = 1;
  std::vector<const void*> rest_pointers_;
  Tensor arena_;
  std::vector<std::unique_ptr<Key>> keys_;
};

}  // namespace tocsin
