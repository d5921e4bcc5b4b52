// Whole windows on the GPU: host to host, one call at a time.
#pragma once

#include <memory>

#include "engines/cuda/cuda_library.h"
#include "engines/cuda/cuda_network.h"
#include "engines/engine.h"

namespace tocsin {

class CudaSession final : public Session {
 public:
  static Result<std::unique_ptr<Session>> load(std::shared_ptr<const CudaLibrary> library,
                                               const CudaNetwork& network,
                                               const SessionOptions& options);
  ~CudaSession() override;

  const ModelSignature& signature() const noexcept override { return signature_; }
  bool run(std::span<const TensorView> inputs,
           std::span<const TensorView> outputs) noexcept override;
  const Error& error() const noexcept override { return error_; }
  std::size_t weight_bytes() const noexcept override;

 private:
  CudaSession(std::shared_ptr<const CudaLibrary> library, cuda::SessionImpl* impl,
              const CudaNetwork& network, std::int64_t batch_max);
  Status run_checked(std::span<const TensorView> inputs, std::span<const TensorView> outputs);

  std::shared_ptr<const CudaLibrary> library_;
  cuda::SessionImpl* impl_;
  ModelSignature signature_;
  std::vector<TensorSpec> input_specs_;  // with the steps filled in
  std::int64_t batch_max_;
  std::size_t output_count_;
  Error error_{ErrorCode::kOk, ""};
};

}  // namespace tocsin
