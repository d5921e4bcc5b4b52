// What the engine "cuda" says of itself, and the way to its sessions and streams.
#include "engines/cuda/cuda_engine.h"

#include <utility>

#include "engines/cuda/cuda_network.h"
#include "engines/cuda/cuda_session.h"
#include "engines/cuda/cuda_stream.h"
#include "engines/graph/onnx_import.h"

namespace tocsin {
namespace {

// The plug-in holds machine code for this compute capability and no other.
constexpr int kCapabilityMajor = 9;

}  // namespace

CudaEngine::CudaEngine(const LibraryLocations& locations)
    : library_(CudaLibrary::open(locations)), gpu_(read_gpu_facts()) {}

Status CudaEngine::usable() const {
  if (!library_.ok()) return library_.error();
  if (!gpu_.ok()) return gpu_.error();
  const GpuDevice& device = gpu_->devices[0];
  if (device.capability_major != kCapabilityMajor)
    return Error(ErrorCode::kUnavailable, device.name + " has compute capability " +
                                              device.capability() +
                                              ", the plug-in is built for 9.0");
  const int built_for = (*library_)->plugin().runtime_version;
  if (gpu_->cuda_version < built_for)
    return Error(ErrorCode::kUnavailable,
                 "the NVIDIA driver " + gpu_->driver_version + " runs CUDA " +
                     cuda_version_text(gpu_->cuda_version) + ", the plug-in needs " +
                     cuda_version_text(built_for));
  return {};
}

EngineInfo CudaEngine::info() const {
  EngineInfo info;
  info.name = "cuda";
  info.precisions = {Precision::kFloat32, Precision::kBfloat16, Precision::kFloat16,
                     Precision::kInt8};
  info.determinism = DeterminismClass::kExact;
  info.thread_count_max = 1;
  if (library_.ok()) info.path = (*library_)->path();
  const Status status = usable();
  info.found = status.ok();
  if (info.found)
    info.version = "CUDA " + cuda_version_text((*library_)->plugin().runtime_version) + ", " +
                   gpu_->devices[0].name + ", driver " + gpu_->driver_version;
  else
    info.reason = status.error().message();
  return info;
}

Result<std::unique_ptr<Session>> CudaEngine::load(const std::string& onnx_path,
                                                  const SessionOptions& options) {
  TOCSIN_RETURN_IF_ERROR(usable());
  TOCSIN_RETURN_IF_ERROR(check_precision(info(), options));
  TOCSIN_ASSIGN_OR_RETURN(Graph graph, import_onnx_file(onnx_path));
  Result<std::unique_ptr<CudaNetwork>> network = CudaNetwork::make(std::move(graph), options);
  if (!network.ok()) return network.error().within(onnx_path);
  Result<std::unique_ptr<Session>> session = CudaSession::load(*library_, **network, options);
  if (!session.ok()) return session.error().within(onnx_path);
  return session;
}

Result<std::unique_ptr<WindowStream>> CudaEngine::load_stream(const std::string& onnx_path,
                                                              const SessionOptions& options) {
  TOCSIN_RETURN_IF_ERROR(usable());
  TOCSIN_RETURN_IF_ERROR(check_precision(info(), options));
  TOCSIN_ASSIGN_OR_RETURN(Graph graph, import_onnx_file(onnx_path));
  Result<std::unique_ptr<CudaNetwork>> network = CudaNetwork::make(std::move(graph), options);
  if (!network.ok()) return network.error().within(onnx_path);
  Result<std::unique_ptr<WindowStream>> stream = CudaStream::load(*library_, **network, options);
  if (!stream.ok()) return stream.error().within(onnx_path);
  return stream;
}

}  // namespace tocsin
