// The checks that the plug-in does not make, and the call.
#include "engines/cuda/cuda_session.h"

#include <string>
#include <utility>

#include "engines/tensor_check.h"

namespace tocsin {

Result<std::unique_ptr<Session>> CudaSession::load(std::shared_ptr<const CudaLibrary> library,
                                                   const CudaNetwork& network,
                                                   const SessionOptions& options) {
  TOCSIN_RETURN_IF_ERROR(check_counts(options));
  const std::int64_t fixed_batch = network.signature().inputs[0].shape[0];
  if (fixed_batch != kFreeDimension && options.batch_max > fixed_batch)
    return Error(ErrorCode::kInvalidArgument,
                 "the model's batch is fixed at " + std::to_string(fixed_batch) +
                     ", a batch_max of " + std::to_string(options.batch_max) + " is not possible");
  const cuda::SessionLimits limits{0, static_cast<std::uint32_t>(options.batch_max)};
  cuda::SessionImpl* impl = nullptr;
  TOCSIN_RETURN_IF_ERROR(
      CudaLibrary::check(library->plugin().open_session(&network.description(), &limits, &impl)));
  return std::unique_ptr<Session>(
      new CudaSession(std::move(library), impl, network, options.batch_max));
}

CudaSession::CudaSession(std::shared_ptr<const CudaLibrary> library, cuda::SessionImpl* impl,
                         const CudaNetwork& network, std::int64_t batch_max)
    : library_(std::move(library)),
      impl_(impl),
      signature_(network.signature()),
      input_specs_(network.signature().inputs),
      batch_max_(batch_max),
      output_count_(network.output_count()) {
  input_specs_[0].shape[1] = network.description().steps;
}

CudaSession::~CudaSession() { library_->plugin().close_session(impl_); }

std::size_t CudaSession::weight_bytes() const noexcept {
  return library_->plugin().session_memory(impl_).weight_bytes;
}

Status CudaSession::run_checked(std::span<const TensorView> inputs,
                                std::span<const TensorView> outputs) {
  if (const auto error = misfit(inputs, input_specs_, "input")) return *error;
  const std::int64_t batch = inputs[0].shape[0];
  if (batch < 1 || batch > batch_max_)
    return Error(ErrorCode::kInvalidArgument, "a batch of " + std::to_string(batch) +
                                                  ", the session was loaded for 1 to " +
                                                  std::to_string(batch_max_));
  const std::size_t output_bytes = static_cast<std::size_t>(batch) * output_count_ * sizeof(float);
  if (outputs.size() != 1 || outputs[0].size_bytes != output_bytes)
    return Error(ErrorCode::kInvalidArgument, "output '" + signature_.outputs[0].name + "' needs " +
                                                  std::to_string(output_bytes) + " bytes");
  return CudaLibrary::check(library_->plugin().run(impl_, static_cast<const float*>(inputs[0].data),
                                                   static_cast<std::uint32_t>(batch),
                                                   static_cast<float*>(outputs[0].data)));
}

bool CudaSession::run(std::span<const TensorView> inputs,
                      std::span<const TensorView> outputs) noexcept {
  const Status status = run_checked(inputs, outputs);
  if (!status.ok()) error_ = status.error();
  return status.ok();
}

}  // namespace tocsin
