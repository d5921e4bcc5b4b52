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
    std::optional<Plan> row;       // of the last `context` frames; nothing: the frame is the row
    std::size_t row_offset = 0;    // in a key's memory: a ring [rows, outer * inner]
    std::vector<float> assembled;  // [outer, rows, inner]
  };
  struct Key {
    std::vector<float> memory;
    std::uint64_t frames = 0;
  };

  explicit RowCacheStream(PreparedGraph prepared) : prepared_(std::move(prepared)) {}

  Status build(const std::vector<ValueFacts>& facts);
  Result<double> add_cache(const CachedValue& value);
  void grow_arena(const Plan& plan);
  void keep_row(Key& key, Cache& cache, const float* frames) noexcept;
  static void assemble(const Key& key, Cache& cache) noexcept;

  PreparedGraph prepared_;
  std::size_t steps_ = 0;
  std::size_t features_ = 0;
  std::size_t context_ = 1;  // frames that the longest row needs
  std::vector<Cache> caches_;
  std::optional<Plan> rest_;
  std::size_t key_floats_ = 0;  // frames, each written twice so that they lie in one piece; rows
  double last_step_share_ = 1;
  std::vector<const void*> rest_pointers_;
  Tensor arena_;
  std::vector<std::unique_ptr<Key>> keys_;
};

}  // namespace tocsin
