// The plug-in's one exported symbol.
#include <cuda_runtime.h>

#include "engines/cuda/plugin/exports.cuh"

namespace tocsin::cuda {
namespace {

constexpr Plugin kPlugin = {
    .runtime_version = CUDART_VERSION,
    .open_session = open_session,
    .run = run_session,
    .session_memory = session_memory,
    .close_session = close_session,
    .open_stream = open_stream,
    .reserve_keys = reserve_keys,
    .post = post_frame,
    .answer = await_answer,
    .advance = advance_keys,
    .reset_key = reset_key,
    .stream_memory = stream_memory,
    .close_stream = close_stream,
};

}  // namespace
}  // namespace tocsin::cuda

extern "C" __attribute__((visibility("default"))) const tocsin::cuda::Plugin* tocsin_cuda_plugin() {
  return &tocsin::cuda::kPlugin;
}
