// Sliding windows of many keys: the resident kernel takes last steps, batched kernels advance the
// windows in flight on the other multiprocessors.
#include <immintrin.h>

#include <algorithm>
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
// At an answer that does not come: some 30 ns each.
constexpr std::uint64_t kLooksBetweenQueries = std::uint64_t{1} << 20;
constexpr std::uint64_t kLooksMax = std::uint64_t{1} << 29;

}  // namespace

struct StreamImpl {
  DeviceMemory memory;
  std::unique_ptr<DeviceMemory> states;  // that grow with the keys
  DeviceNetwork network;
  ResidentPlan plan;
  int device = 0;
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
  std::vector<std::uint64_t> advanced;  // by key, as the device has or will have it
  AdvanceCall step;  // holds what is on the device by key

  ~StreamImpl();
  Status open(const Network& description, const StreamLimits& limits);
  Status plan_advance(bool carried);
  Status allocate_states(std::uint32_t keys);
  Status reserve(std::uint32_t key_count);
  Status start();
  Status stop();
  Status post(std::uint32_t key, const float* frame);
  Status answer(float* outputs);
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
  TOCSIN_CUDA_RETURN_IF_NOT_OK(use_device(device));
  int major = 0;
  TOCSIN_CUDA_RETURN_IF_FAILED(
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major < 9)
    return failed(StatusCode::kUnsupported,
                  "windows in flight need clusters of blocks: compute capability 9.0 or later");
  TOCSIN_CUDA_RETURN_IF_NOT_OK(DeviceNetwork::load(description, memory, &network));
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaStreamCreateWithFlags(&resident, cudaStreamNonBlocking));
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaStreamCreateWithFlags(&background, cudaStreamNonBlocking));
  const std::size_t request_bytes = request_chunks(network.features) * sizeof(Chunk);
  const std::size_t answer_bytes = chunk_count(network.output_count()) * sizeof(Chunk);
  // Write-combined: the host's stores go out as whole lines and never wait for the GPU's reads.
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaHostAlloc(reinterpret_cast<void**>(&requests), request_bytes,
                                             cudaHostAllocMapped | cudaHostAllocWriteCombined));
  TOCSIN_CUDA_RETURN_IF_FAILED(
      cudaHostAlloc(reinterpret_cast<void**>(&answers), answer_bytes, cudaHostAllocMapped));
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaHostAlloc(reinterpret_cast<void**>(&lists),
                                             kListCount * kListKeys * sizeof(std::uint32_t),
                                             cudaHostAllocMapped));
  for (cudaEvent_t& event : list_done)
    TOCSIN_CUDA_RETURN_IF_FAILED(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(plan_resident(network, &plan));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(plan_advance(limits.carried));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(load_advance());
  return reserve(1);
}

Status StreamImpl::plan_advance(bool carried) {
  StreamState& state = step.state;
  state = plan.call.state;  // its layers
  state.windows = carried ? 1 : network.steps;
  state.carried = carried;
  step.score_count = static_cast<int>(network.scores.size());
  std::copy(network.scores.begin(), network.scores.end(), step.scores);
  if (!network.pools()) return {};
  step.work_width = network.widest_operator();
  return memory.take(advance_work_floats(kListKeys, state.windows, step.work_width), &step.work);
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
  StreamState& state = step.state;
  const auto rows = static_cast<std::size_t>(state.windows);
  TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(1, &state.advanced));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(1, &state.finished));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(network.layers[0].width(), &state.projection));
  for (int l = 0; l < state.layer_count; ++l) {
    StreamLayer& own = state.layers[l];
    const auto units = static_cast<std::size_t>(own.layer.units);
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows * units, &own.hidden[0]));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows * units, &own.hidden[1]));
    if (own.layer.cell == CellKind::kLstm)
      TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows * units, &own.cell));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(own.layer.width(), &own.due));
  }
  if (network.pools()) {
    const auto width = static_cast<std::size_t>(network.last_layer().units);
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows, &state.maximum));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows, &state.sum));
    TOCSIN_CUDA_RETURN_IF_NOT_OK(grow(rows * width, &state.context));
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
  plan.call.state = step.state;
  plan.call.requests = requests;
  plan.call.answers = answers;
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
  _mm_sfence();
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
  const std::uint64_t steps = advanced[key];
  const auto windows = static_cast<std::uint64_t>(step.state.windows);
  const auto due = step.state.carried ? 0 : static_cast<std::uint32_t>((steps + 1) % windows);
  put(0, key, static_cast<std::uint32_t>(steps), due);
  for (int c = 0; c < chunk_count(network.features); ++c) {
    std::uint32_t words[kChunkFloats] = {};
    const int count = std::min(kChunkFloats, network.features - c * kChunkFloats);
    std::memcpy(words, frame + c * kChunkFloats, count * sizeof(float));
    put(1 + c, words[0], words[1], words[2]);
  }
  _mm_sfence();
  return {};
}

Status StreamImpl::answer(float* outputs) {
  const int count = network.output_count();
  std::uint64_t looks = 0;
  for (int c = 0; c < chunk_count(count); ++c) {
    alignas(16) Chunk seen;
    for (;;) {
      const auto* chunk = reinterpret_cast<const __m128i*>(answers + c);
      asm volatile("" ::: "memory");
      _mm_store_si128(reinterpret_cast<__m128i*>(&seen), _mm_load_si128(chunk));
      if (seen.number == number) break;
      _mm_pause();
      if (++looks % kLooksBetweenQueries != 0) continue;
      // The kernel is still there unless it failed.
      if (const cudaError_t error = cudaStreamQuery(resident); error != cudaErrorNotReady)
        return failed(StatusCode::kDead, "the resident kernel has ended: %s",
                      cudaGetErrorString(error));
      if (looks >= kLooksMax)
        return failed(StatusCode::kDead, "the resident kernel does not answer");
    }
    if (outputs == nullptr) continue;
    for (int i = 0; i < kChunkFloats && c * kChunkFloats + i < count; ++i)
      std::memcpy(outputs + c * kChunkFloats + i, &seen.words[i], sizeof(float));
  }
  return {};
}

Status StreamImpl::advance(const std::uint32_t* keys, std::uint32_t count) {
  const ProfilerRange range("tocsin advance");
  for (std::uint32_t first = 0; first < count; first += kListKeys) {
    const std::uint32_t size = std::min(kListKeys, count - first);
    const std::uint64_t list = next_list++ % kListCount;
    TOCSIN_CUDA_RETURN_IF_FAILED(cudaEventSynchronize(list_done[list]));
    std::uint32_t* target = lists + list * kListKeys;
    std::memcpy(target, keys + first, size * sizeof(std::uint32_t));
    step.keys = target;
    step.key_count = static_cast<int>(size);
    TOCSIN_CUDA_RETURN_IF_NOT_OK(launch_advance(step, background));
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
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaMemsetAsync(stream->step.state.advanced + key, 0,
                                               sizeof(*stream->step.state.advanced),
                                               stream->background));
  return status_of(cudaStreamSynchronize(stream->background), "reset of a key");
}

Memory stream_memory(const StreamImpl* stream) {
  return {stream->memory.size_bytes() + stream->states->size_bytes(),
          stream->network.weight_bytes, stream->states->size_bytes() / stream->key_capacity};
}

void close_stream(StreamImpl* stream) { delete stream; }

}  // namespace tocsin::cuda
