// At most one frame is with the GPU; a key's next one needs its windows to have followed.
#include "engines/cuda/cuda_stream.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace tocsin {

Result<std::unique_ptr<WindowStream>> CudaStream::load(std::shared_ptr<const CudaLibrary> library,
                                                       const CudaNetwork& network,
                                                       const SessionOptions& options) {
  const cuda::StreamLimits limits{0, options.carried};
  cuda::StreamImpl* impl = nullptr;
  TOCSIN_RETURN_IF_ERROR(
      CudaLibrary::check(library->plugin().open_stream(&network.description(), &limits, &impl)));
  return std::unique_ptr<WindowStream>(new CudaStream(std::move(library), impl, network, options));
}

CudaStream::CudaStream(std::shared_ptr<const CudaLibrary> library, cuda::StreamImpl* impl,
                       const CudaNetwork& network, const SessionOptions& options)
    : library_(std::move(library)),
      impl_(impl),
      steps_(network.description().steps),
      features_(network.description().features),
      last_step_share_(network.last_step_share(options.carried)),
      output_count_(network.output_count()) {}

CudaStream::~CudaStream() { library_->plugin().close_stream(impl_); }

bool CudaStream::good(const cuda::Status& status) noexcept {
  is_dead_ = is_dead_ || !status.ok();
  return !is_dead_;
}

Status CudaStream::add_key(std::uint32_t key) {
  if (key < keys_.size()) return {};
  take_answer();
  advance_waiting();
  TOCSIN_RETURN_IF_ERROR(CudaLibrary::check(library_->plugin().reserve_keys(impl_, key + 1)));
  keys_.resize(key + 1);
  waiting_.reserve(keys_.size());
  answers_.resize(keys_.size() * output_count_);
  return {};
}

void CudaStream::take_answer() noexcept {
  if (!is_asked_) return;
  is_asked_ = false;
  if (is_dead_) return;
  good(library_->plugin().answer(impl_, answers_.data() + answer_key_ * output_count_));
}

void CudaStream::advance_waiting() noexcept {
  for (const std::uint32_t key : waiting_) keys_[key].waits = false;
  if (!is_dead_ && !waiting_.empty())
    good(library_->plugin().advance(impl_, waiting_.data(),
                                    static_cast<std::uint32_t>(waiting_.size())));
  waiting_.clear();
}

void CudaStream::push(std::uint32_t key_index, std::span<const float> frame) noexcept {
  TOCSIN_ASSERT(frame.size() == features_);
  take_answer();
  Key& key = keys_[key_index];
  if (key.waits) {
    advance_waiting();
    ++caught_up_count_;
  }
  ++key.frames;
  key.waits = true;
  waiting_.push_back(key_index);
  if (is_dead_ || !good(library_->plugin().post(impl_, key_index, frame.data()))) return;
  is_asked_ = true;
  answer_key_ = key_index;
}

bool CudaStream::score(std::uint32_t key_index, std::span<float> output) noexcept {
  TOCSIN_ASSERT(output.size() == output_count_);
  take_answer();
  if (is_dead_ || keys_[key_index].frames < steps_) return false;
  std::copy_n(answers_.data() + key_index * output_count_, output_count_, output.begin());
  return true;
}

bool CudaStream::work_ahead() noexcept {
  if (waiting_.empty()) return false;
  take_answer();
  advance_waiting();
  return true;
}

void CudaStream::reset(std::uint32_t key_index) noexcept {
  take_answer();
  advance_waiting();
  keys_[key_index].frames = 0;
  if (!is_dead_) good(library_->plugin().reset_key(impl_, key_index));
}

std::size_t CudaStream::bytes_per_key() const noexcept {
  return library_->plugin().stream_memory(impl_).bytes_per_key;
}

}  // namespace tocsin
