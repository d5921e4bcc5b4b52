// Device memory with an owner, and weights as kernels read them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engines/cuda/cuda_plugin.h"
#include "engines/cuda/plugin/errors.cuh"

namespace tocsin::cuda {

// All that a session or stream allocates; freed together.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { release(); }

  // Zeroed.
  template <typename T>
  Status take(std::size_t count, T** memory) {
    void* address = nullptr;
    const std::size_t bytes = (count == 0 ? 1 : count) * sizeof(T);
    if (const cudaError_t error = cudaMalloc(&address, bytes); error != cudaSuccess) {
      cudaGetLastError();  // a failed allocation is not to be seen by the next launch
      return failed(status_code(error), "%zu bytes of device memory: %s", bytes,
                    cudaGetErrorString(error));
    }
    allocations_.push_back(address);
    size_bytes_ += bytes;
    *memory = static_cast<T*>(address);
    TOCSIN_CUDA_RETURN_IF_FAILED(cudaMemset(address, 0, bytes));
    return {};
  }

  template <typename T>
  Status upload(const T* values, std::size_t count, const T** memory) {
    T* target = nullptr;
    TOCSIN_CUDA_RETURN_IF_NOT_OK(take(count, &target));
    TOCSIN_CUDA_RETURN_IF_FAILED(
        cudaMemcpy(target, values, count * sizeof(T), cudaMemcpyHostToDevice));
    *memory = target;
    return {};
  }

  void release() {
    for (void* address : allocations_) cudaFree(address);
    allocations_.clear();
    size_bytes_ = 0;
  }
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::vector<void*> allocations_;
  std::size_t size_bytes_ = 0;
};

// Weights are read in chunks of so many inputs. Rows on the device are padded to it by -0: with an
// input of +0, fma(-0, +0, sum) is the sum, whatever its sign.
inline constexpr int kWeightChunk = 32;
inline constexpr float kNoWeight = -0.0F;

// A matrix on the device: rows [outputs, stride] in the type's own size.
struct DeviceMatrix {
  WeightType type = WeightType::kFloat32;
  const void* weights = nullptr;
  int outputs = 0;
  int inputs = 0;
  int stride = 0;
  const float* output_scale = nullptr;
  float inverse_scale = 0;
};

constexpr std::size_t padded_inputs(std::size_t inputs) {
  return (inputs + kWeightChunk - 1) / kWeightChunk * kWeightChunk;
}

template <typename T, typename Convert>
Status upload_as(DeviceMemory& memory, const Matrix& matrix, Convert convert, const void** out) {
  const std::size_t stride = padded_inputs(matrix.inputs);
  std::vector<T> values(matrix.outputs * stride, convert(kNoWeight));
  for (std::size_t n = 0; n < matrix.outputs; ++n)
    for (std::size_t k = 0; k < matrix.inputs; ++k)
      values[n * stride + k] = convert(matrix.weights[n * matrix.inputs + k]);
  const T* target = nullptr;
  TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.upload(values.data(), values.size(), &target));
  *out = target;
  return {};
}

inline Status upload(DeviceMemory& memory, const Matrix& matrix, DeviceMatrix* out) {
  *out = {matrix.type,
          nullptr,
          static_cast<int>(matrix.outputs),
          static_cast<int>(matrix.inputs),
          static_cast<int>(padded_inputs(matrix.inputs)),
          nullptr,
          matrix.inverse_scale};
  switch (matrix.type) {
    case WeightType::kFloat32:
      return upload_as<float>(memory, matrix, [](float w) { return w; }, &out->weights);
    case WeightType::kBfloat16:
      return upload_as<__nv_bfloat16>(
          memory, matrix, [](float w) { return __float2bfloat16_rn(w); }, &out->weights);
    case WeightType::kFloat16:
      return upload_as<__half>(
          memory, matrix, [](float w) { return __float2half_rn(w); }, &out->weights);
    case WeightType::kInt8:
      break;
  }
  if (matrix.inputs > kInt8InputsMax)
    return failed(StatusCode::kUnsupported, "an int8 product has at most %u inputs, this has %u",
                  kInt8InputsMax, matrix.inputs);
  TOCSIN_CUDA_RETURN_IF_NOT_OK(
      memory.upload(matrix.output_scale, matrix.outputs, &out->output_scale));
  return upload_as<signed char>(
      memory, matrix, [](float w) { return static_cast<signed char>(w); }, &out->weights);
}

#ifdef __CUDACC__

__device__ inline float weight_at(const DeviceMatrix& matrix, int output, int input) {
  const std::size_t index = static_cast<std::size_t>(output) * matrix.stride + input;
  switch (matrix.type) {
    case WeightType::kFloat32:
      return static_cast<const float*>(matrix.weights)[index];
    case WeightType::kBfloat16:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(matrix.weights)[index]);
    case WeightType::kFloat16:
      return __half2float(static_cast<const __half*>(matrix.weights)[index]);
    case WeightType::kInt8:
      return static_cast<float>(static_cast<const signed char*>(matrix.weights)[index]);
  }
  return 0;
}

// An input as it enters a product: INT8's are integers, kept in FP32.
__device__ inline float factor(const DeviceMatrix& matrix, float x) {
  if (matrix.type != WeightType::kInt8) return x;
  const float scaled = rintf(__fmul_rn(x, matrix.inverse_scale));
  const float low = scaled < -127.0F ? -127.0F : scaled;
  const float q = low > 127.0F ? 127.0F : low;
  return x == x ? q : 0.0F;
}

// Where a product's sums start, and what becomes of them. Integer sums below 2^24 are exact.
__device__ inline float sum_start(const DeviceMatrix& matrix, float bias) {
  return matrix.type == WeightType::kInt8 ? 0.0F : bias;
}
__device__ inline float finished_sum(const DeviceMatrix& matrix, int output, float sum,
                                     float bias) {
  return matrix.type == WeightType::kInt8 ? __fmaf_rn(sum, matrix.output_scale[output], bias)
                                          : sum;
}

#endif

}  // namespace tocsin::cuda
