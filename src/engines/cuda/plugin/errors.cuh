// CUDA's error codes as the plug-in's status.
#pragma once

#include <cuda_runtime.h>

#include <cstdarg>
#include <cstdio>

#include "engines/cuda/cuda_plugin.h"

namespace tocsin::cuda {

inline StatusCode status_code(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return StatusCode::kOk;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorInvalidDevice:
    case cudaErrorStubLibrary:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return StatusCode::kNoDevice;
    case cudaErrorMemoryAllocation:
      return StatusCode::kOutOfMemory;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      return StatusCode::kUnsupported;
    default:
      return StatusCode::kDead;
  }
}

__attribute__((format(printf, 2, 3))) inline Status failed(StatusCode code, const char* format,
                                                           ...) {
  Status status;
  status.code = code;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(status.message, sizeof(status.message), format, arguments);
  va_end(arguments);
  return status;
}

inline Status status_of(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return {};
  return failed(status_code(error), "%s: %s (%s)", call, cudaGetErrorString(error),
                cudaGetErrorName(error));
}

}  // namespace tocsin::cuda

// For functions that return a Status.
#define TOCSIN_CUDA_RETURN_IF_FAILED(call)                                                \
  do {                                                                                    \
    if (const cudaError_t tocsin_error = (call); tocsin_error != cudaSuccess)             \
      return ::tocsin::cuda::status_of(tocsin_error, #call);                              \
  } while (false)
#define TOCSIN_CUDA_RETURN_IF_NOT_OK(expression)                                          \
  do {                                                                                    \
    if (const ::tocsin::cuda::Status tocsin_status = (expression); !tocsin_status.ok())   \
      return tocsin_status;                                                               \
  } while (false)
