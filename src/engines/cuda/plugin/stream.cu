// Sliding windows of many keys: the resident kernel takes last steps, batched kernels advance the
// windows in flight on the other multiprocessors.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "engines/cuda/plugin/exports.cuh"
#include "engines/cuda/plugin/resident_kernel.cuh"

namespace tocsin::cuda {
namespace {

constexpr int kListCount = 8;            // lists of keys in flight
constexpr std::uint32_t kListKeys = 256;  // of a list
constexpr std::uint32_t kKeysMin = 16;

}  // namespace

struct StreamImpl {
  DeviceMemory memory;
  std::unique_ptr<DeviceMemory> states;  // that grow with the keys
  DeviceNetwork network;
  ResidentPlan plan;
  int device = 0;
  bool carried = false;
  int windows = 1;
  cudaStream_t resident = nullptr;
  cudaStream_t background = nullptr;
  Chunk* requests = nullptr;  // mapped host memory
  Chunk* answers = nullptr;
  std::uint32_t* lists = nullptr;  // [kListCount, kListKeys], mapped
  cudaEvent_t list_done[kListCount] = {};
  std::uint64_t next_list = 0;
  std::uint32_t key_capacity = 0;
  std::uint32_t number = 0;  // of the last request
  bool is_running = false;
  std::vector<std::uint32_t> advanced;  // by key, as the device has or will have it
  // On the device, by key.
  unsigned long long* device_advanced = nullptr;
  float* projection = nullptr;
  std::vector<Planes> hidden;
  std::vector<float*> cells;
  std::vector<float*> due;
  float* scores = nullptr;  // [kListKeys, windows]
  float* work = nullptr;
  std::size_t work_stride = 0;
  float* maximum = nullptr;
  float* sum = nullptr;
  float* context = nullptr;

  ~StreamImpl();
  Status open(const Network& description, const StreamLimits& limits);
  Status allocate_states(std::uint32_t keys);
  Status reserve(std::uint32_t key_count);
  Status start();
  Status stop();
  Status post(std::uint32_t key, const float* frame);
  Status answer(float* outputs);
  Status enqueue(const std::uint32_t* keys, int count);
  Status advance(const std::uint32_t* keys, std::uint32_t count);
};

StreamImpl::~StreamImpl() {
  stop();
  if (background != nullptr) cudaStreamSynchronize(background);
  for (cudaEvent_t event : list_done)
    if (event != nullptr) cudaEventDestroy(event);
  if (resident != nullptr) cudaStreamDestroy(resident);
  if (background != nullptr) cudaStreamDestroy(background);
  for (void* host : {static_cast<void*>(requests), static_cast<void*>(answers),
                     static_cast<void*>(lists)})
    if (host != nullptr) cudaFreeHost(host);
}

Status StreamImpl::open(const Network& description, const StreamLimits& limits) {
  device = limits.device;
  carried = limits.carried;
  TOCSIN_CUDA_RETURN_IF_NOT_OK(use_device(device));
  int major = 0;
  TOCSIN_CUDA_RETURN_IF_FAILED(
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major < 9)
    return failed(StatusCode::kUnsupported,
                  "windows in flight need clusters of blocks: compute capability 9.0 or later");
  TOCSIN_CUDA_RETURN_IF_NOT_OK(DeviceNetwork::load(description, memory, &network));
  windows = carried ? 1 : network.steps;
  TOCSIN_CUDA_RETURN_IF_NOT_OK(plan_resident(network, &plan));
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaStreamCreateWithFlags(&resident, cudaStreamNonBlocking));
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaStreamCreateWithFlags(&background, cudaStreamNonBlocking));
  const std::size_t request_bytes = request_chunks(network.features) * sizeof(Chunk);
  const std::size_t answer_bytes = chunk_count(network.output_count()) * sizeof(Chunk);
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaHostAlloc(reinterpret_cast<void**>(&requests), request_bytes,
                                             cudaHostAllocMapped));
  TOCSIN_CUDA_RETURN_IF_FAILED(
      cudaHostAlloc(reinterpret_cast<void**>(&answers), answer_bytes, cudaHostAllocMapped));
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaHostAlloc(reinterpret_cast<void**>(&lists),
                                             kListCount * kListKeys * sizeof(std::uint32_t),
                                             cudaHostAllocMapped));
  for (cudaEvent_t& event : list_done)
    TOCSIN_CUDA_RETURN_IF_FAILED(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  hidden.resize(network.layers.size());
  cells.resize(network.layers.size());
  due.resize(network.layers.size());
  if (network.pools()) {
    const std::size_t list_rows = std::size_t{kListKeys} * windows;
    work_stride = list_rows * network.widest_operator();
    TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.take(2 * work_stride, &work));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.take(list_rows, &scores));
  }
  TOCSIN_CUDA_RETURN_IF_NOT_OK(load_kernels());
  return reserve(1);
}

// Takes memory for `keys`; what there is of earlier keys moves with them.
Status StreamImpl::allocate_states(std::uint32_t keys) {
  auto grown = std::make_unique<DeviceMemory>();
  const auto grow = [&](std::size_t per_key, auto** memory) {
    auto* before = *memory;
    const Status taken = grown->take(keys * per_key, memory);
    if (!taken.ok() || before == nullptr) return taken;
    return status_of(cudaMemcpy(*memory, before, key_capacity * per_key * sizeof(**memory),
                                cudaMemcpyDeviceToDevice),
                     "copy of the keys' states");
  };
  const auto rows = static_cast<std::size_t>(windows);
  TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(1, &device_advanced));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(network.layers[0].width(), &projection));
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const DeviceLayer& layer = network.layers[l];
    const auto units = static_cast<std::size_t>(layer.units);
    hidden[l].stride = units;
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows * units, &hidden[l].plane[0]));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows * units, &hidden[l].plane[1]));
    if (layer.cell == CellKind::kLstm)
      TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows * units, &cells[l]));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(layer.width(), &due[l]));
  }
  if (network.pools()) {
    const auto width = static_cast<std::size_t>(network.last_layer().units);
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows, &maximum));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows, &sum));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows * width, &context));
  }
  states = std::move(grown);
  key_capacity = keys;
  return {};
}

Status StreamImpl::reserve(std::uint32_t key_count) {
  if (key_count <= key_capacity) return {};
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaSetDevice(device));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(stop());
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaStreamSynchronize(background));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(
      allocate_states(std::max({key_count, 2 * key_capacity, kKeysMin})));
  advanced.resize(key_capacity);
  ResidentCall& call = plan.call;
  for (int l = 0; l < call.layer_count; ++l) {
    call.layers[l].due = due[l];
    call.layers[l].cell = cells[l];
    call.layers[l].hidden = hidden[l];
  }
  call.windows = windows;
  call.carried = carried;
  call.advanced = device_advanced;
  call.projection = projection;
  call.maximum = maximum;
  call.sum = sum;
  call.context = context;
  call.requests = requests;
  call.answers = answers;
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaDeviceSynchronize());
  return start();
}

Status StreamImpl::start() {
  std::memset(requests, 0, request_chunks(network.features) * sizeof(Chunk));
  std::memset(answers, 0, chunk_count(network.output_count()) * sizeof(Chunk));
  number = 0;
  TOCSIN_CUDA_RETURN_IF_NOT_OK(start_resident(plan, resident));
  is_running = true;
  return {};
}

Status StreamImpl::stop() {
  if (!is_running) return {};
  is_running = false;
  for (int c = 0; c < request_chunks(network.features); ++c) {
    volatile Chunk* chunk = requests + c;
    chunk->number = kStopNumber;
  }
  return status_of(cudaStreamSynchronize(resident), "end of the resident kernel");
}

Status StreamImpl::post(std::uint32_t key, const float* frame) {
  ++number;
  if (number == kStopNumber) {
    TOCSIN_CUDA_RETURN_IF_NOT_OK(stop());
    TOCSIN_CUDA_RETURN_IF_NOT_OK(start());
    ++number;
  }
  const auto put = [this](int c, std::uint32_t a, std::uint32_t b, std::uint32_t d) {
    _mm_store_si128(reinterpret_cast<__m128i*>(requests + c),
                    _mm_set_epi32(static_cast<int>(number), static_cast<int>(d),
                                  static_cast<int>(b), static_cast<int>(a)));
  };
  put(0, key, advanced[key], 0);
  for (int c = 0; c < chunk_count(network.features); ++c) {
    std::uint32_t words[kChunkFloats] = {};
    const int count = std::min(kChunkFloats, network.features - c * kChunkFloats);
    std::memcpy(words, frame + c * kChunkFloats, count * sizeof(float));
    put(1 + c, words[0], words[1], words[2]);
  }
  return {};
}

Status StreamImpl::answer(float* outputs) {
  const int count = network.output_count();
  std::uint64_t looks = 0;
  auto begun = std::chrono::steady_clock::time_point();
  for (int c = 0; c < chunk_count(count); ++c) {
    alignas(16) Chunk seen;
    for (;;) {
      const auto* chunk = reinterpret_cast<const __m128i*>(answers + c);
      asm volatile("" ::: "memory");
      _mm_store_si128(reinterpret_cast<__m128i*>(&seen), _mm_load_si128(chunk));
      if (seen.number == number) break;
      _mm_pause();
      if (++looks % (1 << 20) != 0) continue;
      // The kernel is still there unless it failed.
      if (const cudaError_t error = cudaStreamQuery(resident); error != cudaErrorNotReady)
        return failed(StatusCode::kDead, "the resident kernel has ended: %s",
                      cudaGetErrorString(error));
      const auto now = std::chrono::steady_clock::now();
      if (begun == std::chrono::steady_clock::time_point()) begun = now;
      if (now - begun > std::chrono::seconds(10))
        return failed(StatusCode::kDead, "the resident kernel has not answered for 10 s");
    }
    if (outputs == nullptr) continue;
    for (int i = 0; i < kChunkFloats && c * kChunkFloats + i < count; ++i)
      std::memcpy(outputs + c * kChunkFloats + i, &seen.words[i], sizeof(float));
  }
  return {};
}

Status StreamImpl::enqueue(const std::uint32_t* keys, int count) {
  RowMap rows;
  rows.keys = keys;
  rows.advanced = device_advanced;
  rows.windows = windows;
  rows.carried = carried;
  const int row_count = count * windows;
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    StepCall step{network.layers[l], rows, row_count, {}, nullptr, hidden[l], cells[l]};
    if (l == 0)
      step.projection = projection;
    else
      step.input = hidden[l - 1];
    TOCSIN_CUDA_RETURN_IF_NOT_OK(launch_step(step, background));
  }
  if (network.pools()) {
    TOCSIN_CUDA_RETURN_IF_NOT_OK(launch_chain({&network.scores, rows, row_count, hidden.back(),
                                               work, work_stride, scores, false}, background));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(launch_attend({rows, row_count, scores, hidden.back(),
                                                network.last_layer().units, maximum, sum, context},
                                               background));
  }
  rows.is_due = true;
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    DenseCall dense;
    dense.matrix = network.layers[l].recurrent;
    dense.bias = network.layers[l].recurrent_bias;
    dense.rows = rows;
    dense.row_count = count;
    dense.x = hidden[l];
    dense.y = due[l];
    dense.by_group = true;
    TOCSIN_CUDA_RETURN_IF_NOT_OK(launch_dense(dense, background));
  }
  return launch_finish(keys, count, device_advanced, background);
}

Status StreamImpl::advance(const std::uint32_t* keys, std::uint32_t count) {
  const ProfilerRange range("tocsin advance");
  for (std::uint32_t first = 0; first < count; first += kListKeys) {
    const std::uint32_t size = std::min(kListKeys, count - first);
    const std::uint64_t list = next_list++ % kListCount;
    TOCSIN_CUDA_RETURN_IF_FAILED(cudaEventSynchronize(list_done[list]));
    std::uint32_t* target = lists + list * kListKeys;
    std::memcpy(target, keys + first, size * sizeof(std::uint32_t));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(enqueue(target, static_cast<int>(size)));
    TOCSIN_CUDA_RETURN_IF_FAILED(cudaEventRecord(list_done[list], background));
    for (std::uint32_t i = 0; i < size; ++i) ++advanced[keys[first + i]];
  }
  return {};
}

Status open_stream(const Network* network, const StreamLimits* limits, StreamImpl** stream) {
  auto opened = std::make_unique<StreamImpl>();
  TOCSIN_CUDA_RETURN_IF_NOT_OK(opened->open(*network, *limits));
  *stream = opened.release();
  return {};
}
Status reserve_keys(StreamImpl* stream, std::uint32_t key_count) {
  return stream->reserve(key_count);
}
Status post_frame(StreamImpl* stream, std::uint32_t key, const float* frame) {
  return stream->post(key, frame);
}
Status await_answer(StreamImpl* stream, float* outputs) { return stream->answer(outputs); }
Status advance_keys(StreamImpl* stream, const std::uint32_t* keys, std::uint32_t count) {
  return stream->advance(keys, count);
}

Status reset_key(StreamImpl* stream, std::uint32_t key) {
  stream->advanced[key] = 0;
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaMemsetAsync(stream->device_advanced + key, 0,
                                               sizeof(*stream->device_advanced),
                                               stream->background));
  return status_of(cudaStreamSynchronize(stream->background), "reset of a key");
}

Memory stream_memory(const StreamImpl* stream) {
  return {stream->memory.size_bytes() + stream->states->size_bytes(),
          stream->network.weight_bytes, stream->states->size_bytes() / stream->key_capacity};
}

void close_stream(StreamImpl* stream) { delete stream; }

}  // namespace tocsin::cuda
