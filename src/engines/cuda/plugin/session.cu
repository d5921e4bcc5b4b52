// Whole windows in batches: one launch, or one for each step and layer where the weights do not fit
// a cluster or the batch is large. Captured as a graph for batches of powers of two; a batch runs
// in the smallest graph that holds it, for rows do not meet.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "engines/cuda/plugin/device_network.cuh"
#include "engines/cuda/plugin/exports.cuh"
#include "engines/cuda/plugin/window_kernel.cuh"

namespace tocsin::cuda {

struct SessionImpl {
  struct Captured {
    std::uint32_t batch = 0;
    cudaGraphExec_t graph = nullptr;
  };

  DeviceMemory memory;
  DeviceNetwork network;
  int device = 0;
  std::uint32_t batch_max = 1;
  cudaStream_t stream = nullptr;
  float* host_windows = nullptr;  // pinned
  float* host_outputs = nullptr;
  float* windows = nullptr;              // [batch, steps, features]
  std::vector<float*> hidden[2];         // by layer, [batch, units]; they take turns
  std::vector<float*> cells;             // by layer, [batch, units]
  float* sequence = nullptr;             // of the last layer, [batch, steps, units]; only to pool
  float* scores = nullptr;               // [batch, steps]
  float* pooled = nullptr;               // [batch, units]
  float* work = nullptr;                 // of chains
  std::size_t work_stride = 0;
  float* outputs = nullptr;
  WindowPlan window_plan;
  bool fits_cluster = false;  // else a launch for each step and layer
  std::vector<Captured> captured;

  ~SessionImpl() {
    if (stream != nullptr) cudaStreamSynchronize(stream);
    for (const Captured& c : captured) cudaGraphExecDestroy(c.graph);
    if (host_windows != nullptr) cudaFreeHost(host_windows);
    if (host_outputs != nullptr) cudaFreeHost(host_outputs);
    if (stream != nullptr) cudaStreamDestroy(stream);
  }

  Status open(const Network& description, const SessionLimits& limits);
  Status allocate();
  Status capture(std::uint32_t batch);
  Status enqueue(int batch);
  Status enqueue_step(int step, std::size_t layer, int batch);
  Status run(const float* from, std::uint32_t batch, float* to);
};

Status SessionImpl::open(const Network& description, const SessionLimits& limits) {
  device = limits.device;
  batch_max = std::max<std::uint32_t>(limits.batch_max, 1);
  TOCSIN_CUDA_RETURN_IF_NOT_OK(use_device(device));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(DeviceNetwork::load(description, memory, &network));
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(allocate());
  fits_cluster = plan_windows(network, &window_plan);
  if (fits_cluster) TOCSIN_CUDA_RETURN_IF_NOT_OK(find_clusters_at_once(&window_plan));
  window_plan.call.windows = windows;
  window_plan.call.sequence = sequence;
  window_plan.call.last = hidden[network.steps % 2].back();
  for (std::uint32_t batch = 1;; batch *= 2) {
    TOCSIN_CUDA_RETURN_IF_NOT_OK(capture(std::min(batch, batch_max)));
    if (batch >= batch_max) break;
  }
  return {};
}

Status SessionImpl::allocate() {
  const std::size_t batch = batch_max;
  const std::size_t rows = batch * network.steps;
  const auto last_units = static_cast<std::size_t>(network.last_layer().units);
  const auto output_count = static_cast<std::size_t>(network.output_count());
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaHostAlloc(reinterpret_cast<void**>(&host_windows),
                                             rows * network.features * sizeof(float), 0));
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaHostAlloc(reinterpret_cast<void**>(&host_outputs),
                                             batch * output_count * sizeof(float), 0));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.take(rows * network.features, &windows));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.take(batch * output_count, &outputs));
  for (const DeviceLayer& layer : network.layers) {
    const auto units = static_cast<std::size_t>(layer.units);
    for (std::vector<float*>& plane : hidden) {
      plane.emplace_back();
      TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.take(batch * units, &plane.back()));
    }
    cells.emplace_back();
    TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.take(batch * units, &cells.back()));
  }
  const std::size_t chain_rows = network.pools() ? rows : batch;
  work_stride = chain_rows * network.widest_operator();
  TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.take(2 * work_stride, &work));
  if (!network.pools()) return {};
  TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.take(rows * last_units, &sequence));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.take(rows, &scores));
  return memory.take(batch * last_units, &pooled);
}

Status SessionImpl::enqueue_step(int step, std::size_t layer, int batch) {
  const DeviceLayer& own = network.layers[layer];
  const std::size_t features = network.features;
  const std::size_t units = own.units;
  const bool keeps_all = network.pools() && layer + 1 == network.layers.size();
  StepCall call;
  call.layer = own;
  call.row_count = batch;
  if (layer == 0)
    call.input = {windows + step * features, network.steps * features};
  else
    call.input = {hidden[(step + 1) % 2][layer - 1],
                  static_cast<std::size_t>(network.layers[layer - 1].units)};
  call.hidden = {hidden[step % 2][layer], units};
  call.target = {hidden[(step + 1) % 2][layer], units};
  if (keeps_all) {
    call.hidden = {sequence + (step - 1) * static_cast<std::ptrdiff_t>(units),
                   network.steps * units};
    call.target = {sequence + step * units, network.steps * units};
  }
  if (step == 0) call.hidden.data = nullptr;
  call.cell = cells[layer];
  return launch_step(call, stream);
}

Status SessionImpl::enqueue(int batch) {
  if (fits_cluster && takes(window_plan, batch)) {
    TOCSIN_CUDA_RETURN_IF_NOT_OK(launch_windows(window_plan, batch, stream));
  } else {
    for (int step = 0; step < network.steps; ++step)
      for (std::size_t layer = 0; layer < network.layers.size(); ++layer)
        TOCSIN_CUDA_RETURN_IF_NOT_OK(enqueue_step(step, layer, batch));
  }
  const auto units = static_cast<std::size_t>(network.last_layer().units);
  ChainCall head{&network.head, batch, {}, work, work_stride, outputs, true};
  if (network.pools()) {
    const ChainCall chain{&network.scores, batch * network.steps, {sequence, units}, work,
                          work_stride,     scores,                 false};
    TOCSIN_CUDA_RETURN_IF_NOT_OK(launch_chain(chain, stream));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(launch_pool({scores, sequence, batch, network.steps,
                                              static_cast<int>(units), pooled}, stream));
    head.x = {pooled, units};
  } else {
    head.x = {hidden[network.steps % 2].back(), units};
  }
  return launch_chain(head, stream);
}

Status SessionImpl::capture(std::uint32_t batch) {
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  const std::size_t window_bytes =
      std::size_t{batch} * network.steps * network.features * sizeof(float);
  cudaMemcpyAsync(windows, host_windows, window_bytes, cudaMemcpyHostToDevice, stream);
  const Status enqueued = enqueue(static_cast<int>(batch));
  const std::size_t output_bytes = std::size_t{batch} * network.output_count() * sizeof(float);
  cudaMemcpyAsync(host_outputs, outputs, output_bytes, cudaMemcpyDeviceToHost, stream);
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  TOCSIN_CUDA_RETURN_IF_NOT_OK(enqueued);
  TOCSIN_CUDA_RETURN_IF_FAILED(ended);
  Captured added{batch, nullptr};
  const cudaError_t made = cudaGraphInstantiate(&added.graph, graph, 0);
  cudaGraphDestroy(graph);
  TOCSIN_CUDA_RETURN_IF_FAILED(made);
  captured.push_back(added);
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaGraphUpload(added.graph, stream));
  return status_of(cudaStreamSynchronize(stream), "upload of a graph");
}

Status SessionImpl::run(const float* from, std::uint32_t batch, float* to) {
  const ProfilerRange range("tocsin windows");
  if (batch == 0) return {};
  if (batch > batch_max)
    return failed(StatusCode::kUnsupported, "a batch of %u windows, at most %u were asked for",
                  batch, batch_max);
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaSetDevice(device));
  const std::size_t window_floats = std::size_t{batch} * network.steps * network.features;
  std::memcpy(host_windows, from, window_floats * sizeof(float));
  const auto fits = std::find_if(captured.begin(), captured.end(),
                                 [batch](const Captured& c) { return c.batch >= batch; });
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaGraphLaunch(fits->graph, stream));
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaStreamSynchronize(stream));
  std::memcpy(to, host_outputs, std::size_t{batch} * network.output_count() * sizeof(float));
  return {};
}

Status open_session(const Network* network, const SessionLimits* limits, SessionImpl** session) {
  auto opened = std::make_unique<SessionImpl>();
  TOCSIN_CUDA_RETURN_IF_NOT_OK(opened->open(*network, *limits));
  *session = opened.release();
  return {};
}

Status run_session(SessionImpl* session, const float* windows, std::uint32_t batch,
                   float* outputs) {
  return session->run(windows, batch, outputs);
}

Memory session_memory(const SessionImpl* session) {
  return {session->memory.size_bytes(), session->network.weight_bytes, 0};
}

void close_session(SessionImpl* session) { delete session; }

}  // namespace tocsin::cuda
