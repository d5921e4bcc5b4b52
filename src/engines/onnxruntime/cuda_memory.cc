// The driver's functions are declared here (cuda.h, CUDA 12 and 13): their names carry the version
// of their parameters, which never changes. Its addresses are 64 bits, as pointers are here.
#include "engines/onnxruntime/cuda_memory.h"

#include <dlfcn.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/vendor_library.h"

namespace tocsin {

struct CudaMemory::Driver {
  int (*init)(unsigned) = nullptr;
  int (*error_string)(int, const char**) = nullptr;
  int (*device_at)(int*, int) = nullptr;
  int (*retain_context)(void**, int) = nullptr;
  int (*release_context)(int) = nullptr;
  int (*set_context)(void*) = nullptr;
  int (*make_stream)(void**, unsigned) = nullptr;
  int (*destroy_stream)(void*) = nullptr;
  int (*synchronise)(void*) = nullptr;
  int (*allocate)(void**, std::size_t) = nullptr;
  int (*release)(void*) = nullptr;
  int (*allocate_pinned)(void**, std::size_t, unsigned) = nullptr;
  int (*release_pinned)(void*) = nullptr;
  int (*to_device)(void*, const void*, std::size_t, void*) = nullptr;
  int (*to_host)(void*, const void*, std::size_t, void*) = nullptr;
  int device = 0;
};

namespace {

constexpr unsigned kStreamNonBlocking = 1;

}  // namespace

CudaMemory::CudaMemory(std::unique_ptr<Driver> driver) : driver_(std::move(driver)) {}

CudaMemory::~CudaMemory() {
  if (stream_ != nullptr && enter().ok()) driver_->destroy_stream(stream_);
  if (context_ != nullptr) driver_->release_context(driver_->device);
}

Result<std::shared_ptr<CudaMemory>> CudaMemory::open() {
  void* handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return Error(ErrorCode::kUnavailable,
                 "no NVIDIA driver is installed (libcuda.so.1 is not to be found)");
  auto driver = std::make_unique<Driver>();
  Driver& d = *driver;
  const bool all =
      resolve(handle, "cuInit", d.init) && resolve(handle, "cuGetErrorString", d.error_string) &&
      resolve(handle, "cuDeviceGet", d.device_at) &&
      resolve(handle, "cuDevicePrimaryCtxRetain", d.retain_context) &&
      resolve(handle, "cuDevicePrimaryCtxRelease_v2", d.release_context) &&
      resolve(handle, "cuCtxSetCurrent", d.set_context) &&
      resolve(handle, "cuStreamCreate", d.make_stream) &&
      resolve(handle, "cuStreamDestroy_v2", d.destroy_stream) &&
      resolve(handle, "cuStreamSynchronize", d.synchronise) &&
      resolve(handle, "cuMemAlloc_v2", d.allocate) && resolve(handle, "cuMemFree_v2", d.release) &&
      resolve(handle, "cuMemHostAlloc", d.allocate_pinned) &&
      resolve(handle, "cuMemFreeHost", d.release_pinned) &&
      resolve(handle, "cuMemcpyHtoDAsync_v2", d.to_device) &&
      resolve(handle, "cuMemcpyDtoHAsync_v2", d.to_host);
  if (!all) return Error(ErrorCode::kUnavailable, "the NVIDIA driver's libcuda.so.1 is too old");
  std::shared_ptr<CudaMemory> memory(new CudaMemory(std::move(driver)));
  TOCSIN_RETURN_IF_ERROR(memory->check(d.init(0), "cuInit"));
  TOCSIN_RETURN_IF_ERROR(memory->check(d.device_at(&d.device, 0), "cuDeviceGet"));
  TOCSIN_RETURN_IF_ERROR(
      memory->check(d.retain_context(&memory->context_, d.device), "cuDevicePrimaryCtxRetain"));
  TOCSIN_RETURN_IF_ERROR(memory->enter());
  TOCSIN_RETURN_IF_ERROR(
      memory->check(d.make_stream(&memory->stream_, kStreamNonBlocking), "cuStreamCreate"));
  return memory;
}

Status CudaMemory::check(int result, const char* call) const {
  if (result == 0) return {};
  constexpr int kOutOfMemory = 2;
  constexpr int kNoDevice = 100;
  const char* text = nullptr;
  driver_->error_string(result, &text);
  const ErrorCode code = result == kOutOfMemory ? ErrorCode::kResourceExhausted
                         : result == kNoDevice  ? ErrorCode::kUnavailable
                                                : ErrorCode::kInternal;
  return Error(code, std::string(call) + ": " +
                         (text != nullptr ? text : "error " + std::to_string(result)));
}

Status CudaMemory::enter() const {
  return check(driver_->set_context(context_), "cuCtxSetCurrent");
}

Status CudaMemory::wait() const {
  return check(driver_->synchronise(stream_), "cuStreamSynchronize");
}

Result<std::unique_ptr<CudaMemory::Tensor>> CudaMemory::make_tensor(
    const std::shared_ptr<CudaMemory>& memory, std::size_t size_bytes) {
  TOCSIN_RETURN_IF_ERROR(memory->enter());
  const Driver& driver = *memory->driver_;
  // Nothing is allocated of no bytes.
  const std::size_t taken_bytes = size_bytes == 0 ? 1 : size_bytes;
  void* host = nullptr;
  TOCSIN_RETURN_IF_ERROR(
      memory->check(driver.allocate_pinned(&host, taken_bytes, 0), "cuMemHostAlloc"));
  std::memset(host, 0, taken_bytes);
  void* device = nullptr;
  const Status allocated = memory->check(driver.allocate(&device, taken_bytes), "cuMemAlloc");
  if (!allocated.ok()) {
    driver.release_pinned(host);
    return allocated.error();
  }
  auto tensor = std::make_unique<Tensor>(memory, host, device, size_bytes);
  TOCSIN_RETURN_IF_ERROR(tensor->copy_to_device());
  TOCSIN_RETURN_IF_ERROR(memory->wait());
  return tensor;
}

CudaMemory::Tensor::~Tensor() {
  if (!memory_->enter().ok()) return;
  memory_->driver_->release(device_);
  memory_->driver_->release_pinned(host_);
}

Status CudaMemory::Tensor::copy_to_device() const {
  if (size_bytes_ == 0) return {};
  return memory_->check(memory_->driver_->to_device(device_, host_, size_bytes_, memory_->stream_),
                        "cuMemcpyHtoDAsync");
}

Status CudaMemory::Tensor::copy_to_host() const {
  if (size_bytes_ == 0) return {};
  return memory_->check(memory_->driver_->to_host(host_, device_, size_bytes_, memory_->stream_),
                        "cuMemcpyDtoHAsync");
}

}  // namespace tocsin
