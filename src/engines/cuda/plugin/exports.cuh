// What stands in the plug-in's table of functions (cuda_plugin.h), and the ranges that profilers
// show.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include "engines/cuda/cuda_plugin.h"

namespace tocsin::cuda {

Status open_session(const Network* network, const SessionLimits* limits, SessionImpl** session);
Status run_session(SessionImpl* session, const float* windows, std::uint32_t batch,
                   float* outputs);
Memory session_memory(const SessionImpl* session);
void close_session(SessionImpl* session);

Status open_stream(const Network* network, const StreamLimits* limits, StreamImpl** stream);
Status reserve_keys(StreamImpl* stream, std::uint32_t key_count);
Status post_frame(StreamImpl* stream, std::uint32_t key, const float* frame);
Status await_answer(StreamImpl* stream, float* outputs);
Status advance_keys(StreamImpl* stream, const std::uint32_t* keys, std::uint32_t count);
Status reset_key(StreamImpl* stream, std::uint32_t key);
Memory stream_memory(const StreamImpl* stream);
void close_stream(StreamImpl* stream);

// A named range of the calling thread, seen in Nsight's tools; costs nothing without them.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name) { nvtxRangePushA(name); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
  ~ProfilerRange() { nvtxRangePop(); }
};

}  // namespace tocsin::cuda
