// Launches of kernels whose blocks form clusters, with more shared memory than the usual.
#pragma once

#include <cuda_runtime.h>

#include "engines/cuda/plugin/errors.cuh"

namespace tocsin::cuda {

struct ClusterLaunch {
  dim3 grid;
  int cluster = 1;  // blocks of a cluster, along x
  int threads = 0;
  std::size_t shared_bytes = 0;
};

template <typename Call>
Status launch_cluster(void (*kernel)(Call), const ClusterLaunch& launch, const Call& call,
                      cudaStream_t stream) {
  TOCSIN_CUDA_RETURN_IF_FAILED(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(launch.shared_bytes)));
  cudaLaunchConfig_t config = {};
  config.gridDim = launch.grid;
  config.blockDim = dim3(static_cast<unsigned>(launch.threads));
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(launch.cluster);
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = launch.cluster > 1 ? 1 : 0;
  return status_of(cudaLaunchKernelEx(&config, kernel, call), "launch of a kernel");
}

}  // namespace tocsin::cuda
