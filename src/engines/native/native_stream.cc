// Planning of a stream, and the steps of its windows.
#include "engines/native/native_stream.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include "base/assert.h"
#include "engines/native/row_cache_stream.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

constexpr std::size_t kLineFloats = kTensorAlignmentBytes / sizeof(float);

std::size_t aligned(std::size_t floats) {
  return (floats + kLineFloats - 1) / kLineFloats * kLineFloats;
}

}  // namespace

Result<std::unique_ptr<WindowStream>> NativeStream::load(Graph graph,
                                                         const SessionOptions& options) {
  try {
    TOCSIN_ASSIGN_OR_RETURN(PreparedWindow window, prepare_window(std::move(graph), options));
    PreparedGraph& prepared = window.graph;
    const std::vector<ValueFacts>& facts = window.facts;
    const Result<WindowNetwork> network = find_window_network(prepared.graph(), facts);
    if (!network.ok() && options.carried) return network.error();
    if (!network.ok()) {
      // No recurrence from frame to frame; what depends on a few of them may still be kept.
      Result<std::unique_ptr<WindowStream>> rows = RowCacheStream::make(std::move(prepared), facts);
      return rows.ok() || network.error().code() != ErrorCode::kUnimplemented ? std::move(rows)
                                                                              : network.error();
    }
    std::unique_ptr<NativeStream> stream(new NativeStream(std::move(prepared), options));
    stream->network_ = *network;
    TOCSIN_RETURN_IF_ERROR(stream->build(facts));
    return std::unique_ptr<WindowStream>(std::move(stream));
  } catch (const std::exception& exception) {
    return Error(ErrorCode::kResourceExhausted,
                 std::string("loading the model: ") + exception.what());
  }
}

Status NativeStream::build(const std::vector<ValueFacts>& facts) {
  const Shape& window = facts[static_cast<std::size_t>(prepared_.graph().inputs[0])].shape;
  steps_ = static_cast<std::size_t>(window[1]);
  features_ = static_cast<std::size_t>(window[2]);
  windows_ = options_.carried ? 1 : steps_;
  sources_.resize(network_.layers.size() + 1);
  for (const NetworkLayer& layer : network_.layers) TOCSIN_RETURN_IF_ERROR(add_layer(layer, facts));
  for (const NetworkPooling& pooling : network_.poolings)
    TOCSIN_RETURN_IF_ERROR(add_pooling(pooling));
  TOCSIN_RETURN_IF_ERROR(plan_tail());
  lay_out();
  return {};
}

Status NativeStream::add_layer(const NetworkLayer& layer, const std::vector<ValueFacts>& facts) {
  const GraphNode& node = prepared_.graph().nodes[layer.node];
  const NodeInputs inputs = planned_inputs(node, facts);
  const NodeContext context(node, inputs, prepared_);
  Result<StepLayer> step = StepLayer::make(context);
  if (!step.ok()) return node_error(prepared_.graph(), layer.node, step.error());
  TOCSIN_ASSIGN_OR_RETURN(RowPlans input, plan_both(layer.source));
  Layer added{std::move(*step), std::move(input)};
  if (const int before = layer.source.layer; before != kFrames && !layer.source.program)
    added.reads_quantised =
        added.step.shares_quantised(layers_[static_cast<std::size_t>(before)].step);
  added.last_hidden.resize(added.step.units());
  added.last_cell.resize(added.step.units());
  layers_.push_back(std::move(added));
  return {};
}

Status NativeStream::add_pooling(const NetworkPooling& pooling) {
  if (pooling.scores.layer == kFrames || pooling.values.layer == kFrames)
    return unsupported("attention over the frames themselves is not kept ahead");
  Pooling added;
  TOCSIN_ASSIGN_OR_RETURN(added.scores, plan_both(pooling.scores));
  TOCSIN_ASSIGN_OR_RETURN(added.values, plan_both(pooling.values));
  added.pooled.resize(2 + added.values.one.width);
  poolings_.push_back(std::move(added));
  return {};
}

Result<NativeStream::RowPlan> NativeStream::plan_rows(const RowSource& source,
                                                      std::size_t row_count) {
  RowPlan rows;
  rows.layer = source.layer;
  if (!source.program) {
    rows.width = source.layer == kFrames
                     ? features_
                     : layers_[static_cast<std::size_t>(source.layer)].step.units();
    return rows;
  }
  const Shape shape{static_cast<std::int64_t>(row_count), 1, static_cast<std::int64_t>(features_)};
  TOCSIN_ASSIGN_OR_RETURN(rows.plan, Plan::build_part(prepared_, {shape}, *source.program, {}));
  const std::size_t count = *checked_element_count(rows.plan->outputs()[0].shape);
  rows.width = count / row_count;
  rows.result.resize(count);
  grow_arena(*rows.plan);
  return rows;
}

Result<NativeStream::RowPlans> NativeStream::plan_both(const RowSource& source) {
  RowPlans plans;
  TOCSIN_ASSIGN_OR_RETURN(plans.one, plan_rows(source, 1));
  if (source.layer != kFrames) {
    TOCSIN_ASSIGN_OR_RETURN(plans.all, plan_rows(source, windows_));
  }
  return plans;
}

Status NativeStream::plan_tail() {
  const Shape window{1, static_cast<std::int64_t>(steps_), static_cast<std::int64_t>(features_)};
  TOCSIN_ASSIGN_OR_RETURN(tail_, Plan::build_part(prepared_, {window}, network_.tail, {}));
  if (tail_->outputs().size() != 1 || tail_->outputs()[0].type != DataType::kFloat32)
    return unsupported("a stream gives one float32 output");
  grow_arena(*tail_);
  tail_rows_.resize(network_.tail_inputs.size());
  for (std::size_t i = 0; i < tail_rows_.size(); ++i) {
    const TailInput& input = network_.tail_inputs[i];
    if (input.kind != TailInput::Kind::kRows) continue;
    TOCSIN_ASSIGN_OR_RETURN(tail_rows_[i], plan_rows(input.rows, 1));
  }
  tail_pointers_.resize(tail_rows_.size());
  return {};
}

void NativeStream::grow_arena(const Plan& plan) {
  if (plan.arena_bytes() > arena_.size_bytes())
    arena_ = Tensor(DataType::kBool, {static_cast<std::int64_t>(plan.arena_bytes())});
}

void NativeStream::lay_out() {
  std::size_t end = 0;
  const auto take = [&end](std::size_t floats) {
    const std::size_t offset = end;
    end += aligned(floats);
    return offset;
  };
  std::size_t width = 0;
  std::size_t scratch = 0;
  frame_offset_ = take((kWaitingMax + 1) * features_);
  for (Layer& layer : layers_) {
    const StepLayer& step = layer.step;
    layer.due_offset = take(step.recurrent_width());
    if (layer.input.one.layer == kFrames)
      layer.projection_offset = take((kWaitingMax + 1) * step.width());
    layer.hidden_offset = take(windows_ * step.units());
    layer.cell_offset = step.has_cell() ? take(windows_ * step.units()) : layer.hidden_offset;
    if (step.quantises_state())
      layer.quantised_offset = take(step.quantised_bytes(windows_) / sizeof(float));
    width = std::max({width, step.width(), step.recurrent_width()});
    scratch = std::max(scratch, step.scratch_floats(windows_));
  }
  for (Pooling& pooling : poolings_)
    pooling.state_offset = take(windows_ * (2 + pooling.values.one.width));
  key_floats_ = end;
  projection_.resize(windows_ * width);
  recurrent_.resize(windows_ * width);
  scratch_.resize(scratch);
}

Status NativeStream::add_key(std::uint32_t key) {
  if (key >= keys_.size()) keys_.resize(key + 1);
  if (keys_[key] != nullptr) return {};
  keys_[key] = std::make_unique<Key>();
  keys_[key]->memory.resize(key_floats_);
  if (++key_count_ <= queue_.size()) return {};
  // The ring has room for each key; it is empty or is copied in order.
  std::vector<std::uint32_t> queue(2 * key_count_);
  for (std::size_t i = 0; i < queue_count_; ++i)
    queue[i] = queue_[(queue_first_ + i) % queue_.size()];
  queue_ = std::move(queue);
  queue_first_ = 0;
  return {};
}

std::size_t NativeStream::bytes_per_key() const noexcept {
  return sizeof(Key) + sizeof(std::uint32_t) + sizeof(void*) + key_floats_ * sizeof(float);
}

double NativeStream::last_step_share() const noexcept {
  double left = 0;
  double whole = 0;
  for (const Layer& layer : layers_) {
    left += layer.step.input_work();
    whole += layer.step.input_work() + layer.step.state_work();
  }
  return left / (whole * static_cast<double>(windows_));
}

float* NativeStream::frame_of(Key& key, std::uint64_t frame) const noexcept {
  return key.memory.data() + frame_offset_ + waiting_slot(frame) * features_;
}

float* NativeStream::projection_of(Key& key, const Layer& layer,
                                   std::uint64_t frame) const noexcept {
  return key.memory.data() + layer.projection_offset + waiting_slot(frame) * layer.step.width();
}

std::uint8_t* NativeStream::quantised_of(Key& key, const Layer& layer,
                                         std::size_t slot) const noexcept {
  auto* bytes = reinterpret_cast<std::uint8_t*>(key.memory.data() + layer.quantised_offset);
  return bytes + slot * layer.step.quantised_bytes(1);
}

const float* NativeStream::run_rows(RowPlan& rows) noexcept {
  const int index = rows.layer + 1;
  const float* source = sources_[static_cast<std::size_t>(index)];
  if (!rows.plan) return source;
  const void* input = source;
  const std::span<const void* const> inputs(&input, 1);
  auto* arena = static_cast<std::byte*>(arena_.mutable_data());
  const char* failure = rows.plan->run(inputs, arena);
  TOCSIN_ASSERT(failure == nullptr);  // operators that look at one step cannot fail on values
  const auto* result = static_cast<const float*>(rows.plan->output_data(0, inputs, arena));
  std::copy_n(result, rows.result.size(), rows.result.begin());
  return rows.result.data();
}

void NativeStream::push(std::uint32_t key_index, std::span<const float> frame) noexcept {
  TOCSIN_ASSERT(frame.size() == features_);
  Key& key = *keys_[key_index];
  while (key.frames - key.advanced > kWaitingMax) catch_up(key);
  if (options_.carried && key.frames == 0) {
    begin_window(key, 0);
    prepare_due(key, 0);
  }
  float* kept = frame_of(key, key.frames);
  std::copy(frame.begin(), frame.end(), kept);
  sources_[0] = kept;
  for (Layer& layer : layers_) {
    if (layer.input.one.layer != kFrames) continue;
    layer.step.project(run_rows(layer.input.one), 1, projection_of(key, layer, key.frames),
                       scratch_.data());
  }
  ++key.frames;
  if (key.is_queued) return;
  key.is_queued = true;
  queue_[(queue_first_ + queue_count_) % queue_.size()] = key_index;
  ++queue_count_;
}

bool NativeStream::work_ahead() noexcept {
  while (queue_count_ > 0) {
    const std::uint32_t key_index = queue_[queue_first_];
    queue_first_ = (queue_first_ + 1) % queue_.size();
    --queue_count_;
    Key& key = *keys_[key_index];
    key.is_queued = false;
    if (key.frames == key.advanced) continue;  // score() or reset() was faster
    advance(key);
    if (key.frames != key.advanced) {
      key.is_queued = true;
      queue_[(queue_first_ + queue_count_) % queue_.size()] = key_index;
      ++queue_count_;
    }
    return true;
  }
  kernels().stay_awake();  // the caller is waiting for a frame
  return false;
}

void NativeStream::reset(std::uint32_t key_index) noexcept {
  Key& key = *keys_[key_index];
  key.frames = key.advanced = 0;
}

void NativeStream::begin_window(Key& key, std::size_t slot) const noexcept {
  float* memory = key.memory.data();
  for (const Layer& layer : layers_) {
    const std::size_t units = layer.step.units();
    std::fill_n(memory + layer.hidden_offset + slot * units, units, 0.0F);
    std::fill_n(memory + layer.cell_offset + slot * units, units, 0.0F);
    if (layer.step.quantises_state())
      layer.step.quantise(memory + layer.hidden_offset + slot * units, 1,
                          quantised_of(key, layer, slot));
  }
  for (const Pooling& pooling : poolings_) {
    const std::size_t width = pooling.values.one.width;
    float* state = memory + pooling.state_offset;
    state[slot] = -std::numeric_limits<float>::infinity();
    state[windows_ + slot] = 0.0F;
    std::fill_n(state + 2 * windows_ + slot * width, width, 0.0F);
  }
}

// All windows take the step of frame `advanced`: the one that is due with it too, which nobody
// needs, and those not yet begun, whose states are set to zero when they begin.
void NativeStream::advance(Key& key) noexcept {
  float* memory = key.memory.data();
  if (!options_.carried) begin_window(key, slot(key.advanced));
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    CellRows rows;
    rows.count = windows_;
    rows.projection = projection_.data();
    rows.projection_stride = layer.step.width();
    if (layer.input.one.layer == kFrames) {
      rows.projection = projection_of(key, layer, key.advanced);
      rows.projection_stride = 0;
    } else {
      project_all(key, layer);
    }
    rows.recurrent = recurrent_.data();
    rows.hidden = memory + layer.hidden_offset;
    rows.cell = memory + layer.cell_offset;
    std::uint8_t* quantised = quantised_of(key, layer, 0);
    layer.step.recur({windows_, rows.hidden, quantised}, rows.recurrent);
    layer.step.cells(rows, scratch_.data());
    if (layer.step.quantises_state()) layer.step.quantise(rows.hidden, windows_, quantised);
    sources_[l + 1] = rows.hidden;
  }
  for (Pooling& pooling : poolings_) advance_pooling(key, pooling);
  ++key.advanced;
  prepare_due(key, slot(key.advanced + 1));
}

void NativeStream::catch_up(Key& key) noexcept {
  advance(key);
  ++caught_up_count_;
}

// Of a layer that reads another's states.
void NativeStream::project_all(Key& key, Layer& layer) noexcept {
  if (layer.reads_quantised) {
    const Layer& before = layers_[static_cast<std::size_t>(layer.input.all.layer)];
    layer.step.project_quantised(quantised_of(key, before, 0), windows_, projection_.data());
  } else {
    layer.step.project(run_rows(layer.input.all), windows_, projection_.data(), scratch_.data());
  }
}

void NativeStream::advance_pooling(Key& key, Pooling& pooling) noexcept {
  float* state = key.memory.data() + pooling.state_offset;
  const std::size_t width = pooling.values.one.width;
  AttendCall call;
  call.row_count = windows_;
  call.width = width;
  call.scores = run_rows(pooling.scores.all);
  call.values = run_rows(pooling.values.all);
  call.value_stride = width;
  call.maximum = state;
  call.sum = state + windows_;
  call.context = state + 2 * windows_;
  call.context_stride = width;
  kernels().attend(call);
}

// What the due window's last step needs of its state alone.
void NativeStream::prepare_due(Key& key, std::size_t slot) noexcept {
  float* memory = key.memory.data();
  for (const Layer& layer : layers_)
    layer.step.recur({1, memory + layer.hidden_offset + slot * layer.step.units(),
                      quantised_of(key, layer, slot)},
                     memory + layer.due_offset);
}

// The due window's step with the newest frame, beside its state in flight.
void NativeStream::take_last_step(Key& key, std::size_t due) noexcept {
  float* memory = key.memory.data();
  const std::uint64_t frame = key.frames - 1;
  sources_[0] = frame_of(key, frame);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    const std::size_t units = layer.step.units();
    CellRows row;
    row.count = 1;
    row.projection = projection_.data();
    if (layer.input.one.layer == kFrames)
      row.projection = projection_of(key, layer, frame);
    else
      layer.step.project(run_rows(layer.input.one), 1, projection_.data(), scratch_.data());
    std::copy_n(memory + layer.due_offset, layer.step.recurrent_width(), recurrent_.data());
    std::copy_n(memory + layer.hidden_offset + due * units, units, layer.last_hidden.data());
    std::copy_n(memory + layer.cell_offset + due * units, units, layer.last_cell.data());
    row.recurrent = recurrent_.data();
    row.hidden = layer.last_hidden.data();
    row.cell = layer.last_cell.data();
    layer.step.cells(row, scratch_.data());
    sources_[l + 1] = row.hidden;
  }
  for (Pooling& pooling : poolings_) {
    const std::size_t width = pooling.values.one.width;
    const float* state = memory + pooling.state_offset;
    float* pooled = pooling.pooled.data();
    pooled[0] = state[due];
    pooled[1] = state[windows_ + due];
    std::copy_n(state + 2 * windows_ + due * width, width, pooled + 2);
    const float* scores = run_rows(pooling.scores.one);
    const float* values = run_rows(pooling.values.one);
    kernels().attend({1, width, scores, 1, values, width, pooled, pooled + 1, pooled + 2, width});
  }
}

// The same where work_ahead() came first: the due window has taken its last step among the others.
void NativeStream::find_last_step(Key& key, std::size_t due) noexcept {
  const float* memory = key.memory.data();
  sources_[0] = frame_of(key, key.frames - 1);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    const std::size_t units = layer.step.units();
    std::copy_n(memory + layer.hidden_offset + due * units, units, layer.last_hidden.data());
    std::copy_n(memory + layer.cell_offset + due * units, units, layer.last_cell.data());
    sources_[l + 1] = layer.last_hidden.data();
  }
  for (Pooling& pooling : poolings_) {
    const std::size_t width = pooling.values.one.width;
    const float* state = memory + pooling.state_offset;
    pooling.pooled[0] = state[due];
    pooling.pooled[1] = state[windows_ + due];
    std::copy_n(state + 2 * windows_ + due * width, width, pooling.pooled.data() + 2);
  }
}

void NativeStream::run_tail(std::span<float> output) noexcept {
  for (std::size_t i = 0; i < tail_pointers_.size(); ++i) {
    const TailInput& input = network_.tail_inputs[i];
    switch (input.kind) {
      case TailInput::Kind::kHidden:
        tail_pointers_[i] = layers_[input.index].last_hidden.data();
        break;
      case TailInput::Kind::kCell:
        tail_pointers_[i] = layers_[input.index].last_cell.data();
        break;
      case TailInput::Kind::kRows:
        tail_pointers_[i] = run_rows(tail_rows_[i]);
        break;
      case TailInput::Kind::kPooled: {
        std::vector<float>& pooled = poolings_[input.index].pooled;
        kernels().pooled(
            {pooled.size() - 2, pooled[0], pooled[1], pooled.data() + 2, pooled.data() + 2});
        tail_pointers_[i] = pooled.data() + 2;
        break;
      }
    }
  }
  auto* arena = static_cast<std::byte*>(arena_.mutable_data());
  const char* failure = tail_->run(tail_pointers_, arena);
  TOCSIN_ASSERT(failure == nullptr);  // it depends on shapes alone, which were planned
  const void* result = tail_->output_data(0, tail_pointers_, arena);
  copy_with_quiet_nans(static_cast<const float*>(result), output);
}

bool NativeStream::score(std::uint32_t key_index, std::span<float> output) noexcept {
  TOCSIN_ASSERT(output.size() == *checked_element_count(tail_->outputs()[0].shape));
  Key& key = *keys_[key_index];
  if (key.frames < steps_) return false;
  const std::size_t due = slot(key.frames);
  if (key.advanced == key.frames) {
    find_last_step(key, due);
  } else {
    while (key.advanced + 1 < key.frames) catch_up(key);
    take_last_step(key, due);
  }
  run_tail(output);
  return true;
}

}  // namespace tocsin
