// Score ahead (docs/adr/score-ahead.md): the last T windows of each key are in flight, one begun at
// each frame; a frame finishes the oldest, and the others follow while nobody waits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"
#include "engines/graph/graph.h"
#include "engines/native/step_layer.h"
#include "engines/native/window_network.h"
#include "engines/reference/plan.h"

namespace tocsin {

class NativeStream final : public WindowStream {
 public:
  // Frames of a key that may wait for work_ahead(); push() catches up with what is beyond it. A
  // step of all windows costs less than half of a whole window (docs/adr/score-ahead.md).
  static constexpr std::size_t kWaitingMax = 2;

  // kUnimplemented, with the node, where the graph needs all frames of a window at once.
  static Result<std::unique_ptr<WindowStream>> load(Graph graph, const SessionOptions& options);

  Status add_key(std::uint32_t key) override;
  void push(std::uint32_t key, std::span<const float> frame) noexcept override;
  bool score(std::uint32_t key, std::span<float> output) noexcept override;
  bool work_ahead() noexcept override;
  void reset(std::uint32_t key) noexcept override;
  std::uint64_t caught_up_count() const noexcept override { return caught_up_count_; }
  std::size_t bytes_per_key() const noexcept override;
  double last_step_share() const noexcept override;

 private:
  // Rows computed from a layer's, planned for one number of rows.
  struct RowPlan {
    int layer = kFrames;
    std::size_t width = 0;      // of a row
    std::optional<Plan> plan;   // nothing: the layer's rows themselves
    std::vector<float> result;  // of the plan
  };
  // The same for one row, and for a row of each window in flight.
  struct RowPlans {
    RowPlan one;
    RowPlan all;
  };
  // Offsets are in a key's memory, in floats.
  struct Layer {
    StepLayer step;
    RowPlans input;
    std::size_t hidden_offset = 0;      // [windows, units]
    std::size_t cell_offset = 0;        // [windows, units]
    std::size_t quantised_offset = 0;   // bytes of the hidden states, if the layer quantises them
    std::size_t due_offset = 0;         // [recurrent_width] of the window that is due next
    std::size_t projection_offset = 0;  // of a layer that reads frames: [kWaitingMax + 1, width]
    bool reads_quantised = false;       // the quantised states of the layer before
    std::vector<float> last_hidden{};   // [units], after the due window's last step
    std::vector<float> last_cell{};
  };
  struct Pooling {
    RowPlans scores;
    RowPlans values;
    std::size_t state_offset = 0;  // maxima [windows], sums [windows], contexts [windows, width]
    std::vector<float> pooled;     // maximum, sum, context [width]
  };
  struct Key {
    std::vector<float> memory;
    std::uint64_t frames = 0;    // taken in since the beginning
    std::uint64_t advanced = 0;  // of them, those that the windows in flight have seen
    bool is_queued = false;
  };

  NativeStream(PreparedGraph prepared, const SessionOptions& options)
      : prepared_(std::move(prepared)), options_(options) {}

  Status build(const std::vector<ValueFacts>& facts);
  Status add_layer(const NetworkLayer& layer, const std::vector<ValueFacts>& facts);
  Status add_pooling(const NetworkPooling& pooling);
  Result<RowPlan> plan_rows(const RowSource& source, std::size_t row_count);
  Result<RowPlans> plan_both(const RowSource& source);
  Status plan_tail();
  void lay_out();
  void grow_arena(const Plan& plan);

  // sources_ holds the rows of the frames and of the layers before.
  const float* run_rows(RowPlan& rows) noexcept;
  std::size_t slot(std::uint64_t frame) const noexcept { return frame % windows_; }
  std::size_t waiting_slot(std::uint64_t frame) const noexcept { return frame % (kWaitingMax + 1); }
  float* frame_of(Key& key, std::uint64_t frame) const noexcept;
  std::uint8_t* quantised_of(Key& key, const Layer& layer, std::size_t slot) const noexcept;
  float* projection_of(Key& key, const Layer& layer, std::uint64_t frame) const noexcept;
  void begin_window(Key& key, std::size_t slot) const noexcept;
  void project_all(Key& key, Layer& layer) noexcept;
  void advance(Key& key) noexcept;
  void catch_up(Key& key) noexcept;
  void advance_pooling(Key& key, Pooling& pooling) noexcept;
  void prepare_due(Key& key, std::size_t slot) noexcept;
  void take_last_step(Key& key, std::size_t due) noexcept;
  void find_last_step(Key& key, std::size_t due) noexcept;
  void run_tail(std::span<float> output) noexcept;

  PreparedGraph prepared_;
  SessionOptions options_;
  WindowNetwork network_;
  std::size_t steps_ = 0;
  std::size_t windows_ = 0;  // in flight: as many as steps, or one that is carried on for ever
  std::size_t features_ = 0;
  std::vector<Layer> layers_;
  std::vector<Pooling> poolings_;
  std::vector<RowPlan> tail_rows_;  // by tail input; only those of Kind::kRows are used
  std::optional<Plan> tail_;
  std::size_t frame_offset_ = 0;  // [kWaitingMax + 1, features]
  std::size_t key_floats_ = 0;

  // Working memory of a step.
  std::vector<float> projection_, recurrent_, scratch_;
  std::vector<const float*> sources_;  // by layer + 1
  std::vector<const void*> tail_pointers_;
  Tensor arena_;

  std::vector<std::unique_ptr<Key>> keys_;
  std::size_t key_count_ = 0;
  std::vector<std::uint32_t> queue_;  // ring of keys with work waiting
  std::size_t queue_first_ = 0;
  std::size_t queue_count_ = 0;
  std::uint64_t caught_up_count_ = 0;
};

}  // namespace tocsin
