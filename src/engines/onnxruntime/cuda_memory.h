// Pairs of pinned and device memory, and the copies between them on one stream: by the CUDA driver,
// opened at run time. The device is the first one, in its primary context.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"

namespace tocsin {

class CudaMemory {
 public:
  // Starts CUDA. kUnavailable: no driver, or no device that it can use.
  static Result<std::shared_ptr<CudaMemory>> open();
  ~CudaMemory();
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  // A tensor on both sides; its bytes are zero. Outlived by the memory it is of.
  class Tensor {
   public:
    Tensor(std::shared_ptr<CudaMemory> memory, void* host, void* device, std::size_t size_bytes)
        : memory_(std::move(memory)), host_(host), device_(device), size_bytes_(size_bytes) {}
    ~Tensor();
    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;

    void* host() const noexcept { return host_; }
    void* device() const noexcept { return device_; }
    // In the stream's order; the host's side may be used again after wait().
    Status copy_to_device() const;
    Status copy_to_host() const;

   private:
    std::shared_ptr<CudaMemory> memory_;
    void* host_;
    void* device_;
    std::size_t size_bytes_;
  };
  static Result<std::unique_ptr<Tensor>> make_tensor(const std::shared_ptr<CudaMemory>& memory,
                                                     std::size_t size_bytes);
  void* stream() const noexcept { return stream_; }  // a cudaStream_t
  // Makes this thread one of the device's. To be called before the others on each thread.
  Status enter() const;
  // Until all that was put into the stream is done.
  Status wait() const;

 private:
  struct Driver;

  explicit CudaMemory(std::unique_ptr<Driver> driver);
  Status check(int result, const char* call) const;

  std::unique_ptr<Driver> driver_;
  void* context_ = nullptr;
  void* stream_ = nullptr;
};

}  // namespace tocsin
