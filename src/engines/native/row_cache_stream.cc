// Rows as frames come, windows put together as scores are asked for.
#include "engines/native/row_cache_stream.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace tocsin {

Result<std::unique_ptr<WindowStream>> RowCacheStream::make(PreparedGraph prepared,
                                                           const std::vector<ValueFacts>& facts) {
  std::unique_ptr<RowCacheStream> stream(new RowCacheStream(std::move(prepared)));
  TOCSIN_RETURN_IF_ERROR(stream->build(facts));
  return std::unique_ptr<WindowStream>(std::move(stream));
}

Status RowCacheStream::build(const std::vector<ValueFacts>& facts) {
  const Graph& graph = prepared_.graph();
  TOCSIN_ASSIGN_OR_RETURN(const RowCacheNetwork network, find_row_cache_network(graph, facts));
  const Shape& window = facts[static_cast<std::size_t>(graph.inputs[0])].shape;
  steps_ = static_cast<std::size_t>(window[1]);
  features_ = static_cast<std::size_t>(window[2]);
  for (const CachedValue& value : network.cached) context_ = std::max(context_, value.context);
  key_floats_ = 2 * context_ * features_;
  for (const CachedValue& value : network.cached) {
    caches_.push_back(
        {value, key_floats_, std::vector<float>(value.outer * value.rows * value.inner)});
    key_floats_ += caches_.back().assembled.size();
  }
  double last_work = network.rest_work;
  for (std::size_t context = 1; context <= context_; ++context) {
    const auto has_context = [context](const Cache& cache) {
      return cache.value.context == context;
    };
    if (std::ranges::none_of(caches_, has_context)) continue;
    TOCSIN_ASSIGN_OR_RETURN(const double row_work, add_row_plan(context));
    last_work += row_work;
  }
  last_step_share_ = last_work / network.whole_work;
  TOCSIN_ASSIGN_OR_RETURN(rest_, Plan::build_part(prepared_, {window}, network.rest, {}));
  if (rest_->outputs().size() != 1 || rest_->outputs()[0].type != DataType::kFloat32)
    return unsupported("a stream gives one float32 output");
  grow_arena(*rest_);
  for (const Cache& cache : caches_) rest_pointers_.push_back(cache.assembled.data());
  return {};
}

Result<double> RowCacheStream::add_row_plan(std::size_t context) {
  const Graph& graph = prepared_.graph();
  const Shape shape{1, static_cast<std::int64_t>(context), static_cast<std::int64_t>(features_)};
  GraphPart part{graph.inputs, {}};
  std::vector<std::size_t> caches;
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    if (caches_[i].value.context != context) continue;
    part.outputs.push_back(caches_[i].value.value);
    caches.push_back(i);
  }
  TOCSIN_ASSIGN_OR_RETURN(Plan plan, Plan::build_part(prepared_, {shape}, part, {}));
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const CachedValue& value = caches_[caches[i]].value;
    if (checked_element_count(plan.outputs()[i].shape) != value.outer * value.inner)
      return unsupported("its rows change with the length of the window");
  }
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<ValueFacts> facts,
                          Plan::infer(prepared_, {shape}, {}, part.outputs));
  double work = 0;
  for (const GraphNode& node : graph.nodes) {
    const bool leads_there = std::ranges::all_of(node.outputs, [&facts](ValueIndex output) {
      return output != kNoValue && !facts[static_cast<std::size_t>(output)].shape.empty();
    });
    if (leads_there) work += multiply_adds(node, facts);
  }
  grow_arena(plan);
  row_plans_.push_back({context, std::move(plan), std::move(caches)});
  return work;
}

void RowCacheStream::grow_arena(const Plan& plan) {
  if (plan.arena_bytes() > arena_.size_bytes())
    arena_ = Tensor(DataType::kBool, {static_cast<std::int64_t>(plan.arena_bytes())});
}

Status RowCacheStream::add_key(std::uint32_t key) {
  if (key >= keys_.size()) keys_.resize(key + 1);
  if (keys_[key] != nullptr) return {};
  keys_[key] = std::make_unique<Key>();
  keys_[key]->memory.resize(key_floats_);
  return {};
}

std::size_t RowCacheStream::bytes_per_key() const noexcept {
  return sizeof(Key) + sizeof(void*) + key_floats_ * sizeof(float);
}

void RowCacheStream::push(std::uint32_t key_index, std::span<const float> frame) noexcept {
  TOCSIN_ASSERT(frame.size() == features_);
  Key& key = *keys_[key_index];
  float* first = key.memory.data() + key.frames % context_ * features_;
  std::ranges::copy(frame, first);
  std::ranges::copy(frame, first + context_ * features_);
  ++key.frames;
  // The newest frames end behind the second copy of the newest.
  const float* end = first + (context_ + 1) * features_;
  for (RowPlan& rows : row_plans_)
    if (key.frames >= rows.context) keep_rows(key, rows, end - rows.context * features_);
}

void RowCacheStream::keep_rows(Key& key, RowPlan& rows, const float* frames) noexcept {
  const void* input = frames;
  const std::span<const void* const> inputs(&input, 1);
  auto* arena = static_cast<std::byte*>(arena_.mutable_data());
  const char* failure = rows.plan.run(inputs, arena);
  TOCSIN_ASSERT(failure == nullptr);  // operators on rows cannot fail on values
  for (std::size_t i = 0; i < rows.caches.size(); ++i) {
    const Cache& cache = caches_[rows.caches[i]];
    const std::size_t width = cache.value.outer * cache.value.inner;
    const auto* row = static_cast<const float*>(rows.plan.output_data(i, inputs, arena));
    std::copy_n(row, width,
                key.memory.data() + cache.row_offset +
                    (key.frames - rows.context) % cache.value.rows * width);
  }
}

void RowCacheStream::assemble(const Key& key, Cache& cache) noexcept {
  const CachedValue& value = cache.value;
  const std::size_t width = value.outer * value.inner;
  const float* ring = key.memory.data() + cache.row_offset;
  const std::uint64_t newest = key.frames - value.context;  // number of the newest row
  for (std::size_t row = 0; row < value.rows; ++row) {
    const float* from = ring + (newest + 1 + row) % value.rows * width;
    for (std::size_t o = 0; o < value.outer; ++o)
      std::copy_n(from + o * value.inner, value.inner,
                  cache.assembled.data() + (o * value.rows + row) * value.inner);
  }
}

bool RowCacheStream::score(std::uint32_t key_index, std::span<float> output) noexcept {
  TOCSIN_ASSERT(output.size() == checked_element_count(rest_->outputs()[0].shape));
  const Key& key = *keys_[key_index];
  if (key.frames < steps_) return false;
  for (Cache& cache : caches_) assemble(key, cache);
  auto* arena = static_cast<std::byte*>(arena_.mutable_data());
  if (rest_->run(rest_pointers_, arena) != nullptr) return false;
  const void* result = rest_->output_data(0, rest_pointers_, arena);
  copy_with_quiet_nans(static_cast<const float*>(result), output);
  return true;
}

}  // namespace tocsin
