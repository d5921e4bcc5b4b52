// What the program and its CUDA plug-in (libtocsin_cuda.so) agree on: plain types and one table of
// functions. The plug-in links the CUDA runtime, so that the program needs none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tocsin::cuda {

// Rises with every change of this file.
inline constexpr std::uint32_t kPluginVersion = 1;
inline constexpr char kPluginSymbol[] = "tocsin_cuda_plugin";

enum class StatusCode : std::uint8_t {
  kOk,
  kNoDevice,     // no GPU, or a driver that is missing or too old
  kUnsupported,  // this GPU or this network cannot be run
  kOutOfMemory,
  kDead,  // an error that stays (a fault in a kernel, a lost device): nothing works any more
};
struct Status {
  StatusCode code = StatusCode::kOk;
  char message[384] = {};

  bool ok() const { return code == StatusCode::kOk; }
};

enum class WeightType : std::uint8_t { kFloat32, kBfloat16, kFloat16, kInt8 };

// Sums of more products of bytes do not fit the 24 bits in which they are exact.
inline constexpr std::uint32_t kInt8InputsMax = 1'040;

// y = bias + W x. All pointers of a network are read by load() alone.
struct Matrix {
  WeightType type = WeightType::kFloat32;  // how the weights are kept
  const float* weights = nullptr;          // [outputs, inputs], not yet rounded; kInt8: integers
  std::uint32_t outputs = 0;
  std::uint32_t inputs = 0;
  const float* output_scale = nullptr;  // kInt8: [outputs]
  float inverse_scale = 0;              // kInt8: of the inputs
};

// Cells as kernels/kernels.h defines them; gates in ONNX's order.
enum class CellKind : std::uint8_t { kLstm, kGru };
struct Layer {
  CellKind cell = CellKind::kLstm;
  std::uint32_t units = 0;
  float clip = 0;  // infinity: none
  Matrix input;
  Matrix recurrent;
  const float* bias = nullptr;            // of the input's product
  const float* recurrent_bias = nullptr;  // null: none
};

// One operator on a row: a product, then a vector added, then a function.
enum class Activation : std::uint8_t { kNone, kTanh, kSigmoid, kRelu, kSoftmax };
struct RowOperator {
  Matrix product;                // outputs of 0: none
  const float* bias = nullptr;   // where the sums start; null: +0
  const float* added = nullptr;  // to the finished sums; null: none
  Activation activation = Activation::kNone;
};

// Recurrent layers over frames, perhaps attention pooling over the last one's states, and a head
// on the pooled or the last state.
struct Network {
  std::uint32_t steps = 0;
  std::uint32_t features = 0;
  const Layer* layers = nullptr;
  std::uint32_t layer_count = 0;
  const RowOperator* scores = nullptr;     // from a state to its score
  std::uint32_t score_operator_count = 0;  // 0: no pooling
  const RowOperator* head = nullptr;
  std::uint32_t head_operator_count = 0;
};

struct SessionImpl;
struct StreamImpl;

struct SessionLimits {
  int device = 0;
  std::uint32_t batch_max = 1;
};
struct StreamLimits {
  int device = 0;
  bool carried = false;  // one window that never ends
};
struct Memory {
  std::uint64_t device_bytes = 0;
  std::uint64_t weight_bytes = 0;
  std::uint64_t bytes_per_key = 0;  // of a stream
};

struct Plugin {
  std::uint32_t version = kPluginVersion;
  int runtime_version = 0;  // of CUDA: 13000 is 13.0

  // Whole windows [batch, steps, features] to [batch, outputs].
  Status (*open_session)(const Network* network, const SessionLimits* limits,
                         SessionImpl** session) = nullptr;
  Status (*run)(SessionImpl* session, const float* windows, std::uint32_t batch,
                float* outputs) = nullptr;
  Memory (*session_memory)(const SessionImpl* session) = nullptr;
  void (*close_session)(SessionImpl* session) = nullptr;

  // Sliding windows of many keys, worked ahead. A posted frame is answered by answer(), before
  // which advance() must not take in the key; the next frame of a key needs advance() first.
  Status (*open_stream)(const Network* network, const StreamLimits* limits,
                        StreamImpl** stream) = nullptr;
  Status (*reserve_keys)(StreamImpl* stream, std::uint32_t key_count) = nullptr;
  Status (*post)(StreamImpl* stream, std::uint32_t key, const float* frame) = nullptr;
  Status (*answer)(StreamImpl* stream, float* outputs) = nullptr;
  Status (*advance)(StreamImpl* stream, const std::uint32_t* keys, std::uint32_t count) = nullptr;
  Status (*reset_key)(StreamImpl* stream, std::uint32_t key) = nullptr;
  Memory (*stream_memory)(const StreamImpl* stream) = nullptr;
  void (*close_stream)(StreamImpl* stream) = nullptr;
};

}  // namespace tocsin::cuda
