// Sliding windows worked ahead on the GPU: push() sends a frame to the kernel that waits there,
// score() takes its answer, work_ahead() has the windows in flight follow.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engines/cuda/cuda_library.h"
#include "engines/cuda/cuda_network.h"
#include "engines/engine.h"

namespace tocsin {

class CudaStream final : public WindowStream {
 public:
  static Result<std::unique_ptr<WindowStream>> load(std::shared_ptr<const CudaLibrary> library,
                                                    const CudaNetwork& network,
                                                    const SessionOptions& options);
  ~CudaStream() override;

  Status add_key(std::uint32_t key) override;
  void push(std::uint32_t key, std::span<const float> frame) noexcept override;
  // False also when the GPU has failed: the window then has to be run by another engine.
  bool score(std::uint32_t key, std::span<float> output) noexcept override;
  // Starts the step of all keys that wait, and does not wait for it.
  bool work_ahead() noexcept override;
  void reset(std::uint32_t key) noexcept override;
  std::uint64_t caught_up_count() const noexcept override { return caught_up_count_; }
  std::size_t bytes_per_key() const noexcept override;
  double last_step_share() const noexcept override { return last_step_share_; }

 private:
  struct Key {
    std::uint64_t frames = 0;
    bool waits = false;  // its newest frame is not in its windows yet
  };

  CudaStream(std::shared_ptr<const CudaLibrary> library, cuda::StreamImpl* impl,
             const CudaNetwork& network, const SessionOptions& options);

  bool good(const cuda::Status& status) noexcept;
  void take_answer() noexcept;
  void advance_waiting() noexcept;

  std::shared_ptr<const CudaLibrary> library_;
  cuda::StreamImpl* impl_;
  std::size_t steps_;
  std::size_t features_;
  double last_step_share_;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> waiting_;
  std::size_t output_count_;
  std::vector<float> answers_;  // [key, outputs], to the newest frame of each
  std::uint32_t answer_key_ = 0;
  bool is_asked_ = false;  // a frame was sent whose answer is not taken yet
  bool is_dead_ = false;
  std::uint64_t caught_up_count_ = 0;
};

}  // namespace tocsin
