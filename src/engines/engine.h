// The seam between scoring and whatever computes: an Engine loads a model, a Session runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/decision.h"

namespace tocsin {

enum class DataType : std::uint8_t {
  kFloat32,
  kInt64,
  kInt32,
  kBool,
  kFloat64,
  kString,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kUint32,
  kUint64,
};
std::string_view data_type_name(DataType type) noexcept;
std::size_t data_type_size_bytes(DataType type) noexcept;

inline constexpr std::int64_t kFreeDimension = -1;

// Name, type and shape of a model's input or output; kFreeDimension where the model leaves it open.
struct TensorSpec {
  std::string name;
  DataType type = DataType::kFloat32;
  std::vector<std::int64_t> shape;
};

struct ModelSignature {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};

// A tensor that somebody else owns; row-major, dense. `data` lives as long as the call it is passed
// to.
struct TensorView {
  DataType type = DataType::kFloat32;
  std::span<const std::int64_t> shape;
  void* data = nullptr;
  std::size_t size_bytes = 0;
};

enum class Precision : std::uint8_t { kFloat32, kBfloat16, kFloat16, kInt8 };
std::string_view precision_name(Precision precision) noexcept;  // "float32", "int8", ...
std::optional<Precision> precision_of(std::string_view name) noexcept;

// What low precision needs to know of a model's activations: for the ONNX name of each value that
// enters a quantised product, the real value of one integer step (symmetric, zero point 0). `tocsin
// quantize` measures it.
using ActivationScales = std::map<std::string, float, std::less<>>;

struct SessionOptions {
  Precision precision = Precision::kFloat32;  // one of EngineInfo::precisions
  // For Precision::kInt8; null: the engine has no calibration and refuses it.
  std::shared_ptr<const ActivationScales> activation_scales{};
  bool weight_scale_per_output = true;  // kInt8: otherwise one scale for each weight matrix
  int thread_count = 1;
  // Shapes the session is bound to: window models are run as [batch, steps, features].
  std::int64_t batch_max = 1;
  std::int64_t steps = 0;  // value of the free time axis; 0: the model has none
  // For streams: states are carried from frame to frame without an end, and scores begin once
  // `steps` frames were seen.
  bool carried = false;
  // Whether batches below batch_max are run too: an engine that prepares for each shape does so at
  // load. False: batch_max alone.
  bool batch_varies = true;
};

// A loaded model, bound to one thread. Memory is taken in Engine::load().
class Session {
 public:
  virtual ~Session() = default;
  virtual const ModelSignature& signature() const noexcept = 0;
  // Runs the model on inputs in the signature's order and writes outputs in the signature's order;
  // each output's size_bytes must be what its shape needs. False: failed, see error().
  virtual bool run(std::span<const TensorView> inputs,
                   std::span<const TensorView> outputs) noexcept = 0;
  // Why the last run() failed.
  virtual const Error& error() const noexcept = 0;
  // What one should know of how it runs ("without a CUDA graph: ..."); empty: nothing.
  virtual std::string_view remark() const noexcept { return {}; }
  // Of the weights as they are kept for products; 0: the engine does not say.
  virtual std::size_t weight_bytes() const noexcept { return 0; }
};

// A loaded model that works ahead on the sliding windows of many keys: what does not need a
// window's newest frame is computed before that frame arrives. Bound to one thread. Its outputs
// have the bits of a Session of the same engine and options that is run on the whole window.
class WindowStream {
 public:
  virtual ~WindowStream() = default;
  // Takes the memory for a key, if it has none yet; keys are small numbers.
  virtual Status add_key(std::uint32_t key) = 0;
  // Takes in the key's newest frame [features]. Where frames come faster than work_ahead() follows,
  // push() and score() do its work: for less than a whole window costs.
  virtual void push(std::uint32_t key, std::span<const float> frame) noexcept = 0;
  // The model's output for the window that ends with the key's newest frame; work that is still
  // waiting for that key is done first. False: fewer than `steps` frames since the start or a
  // reset; the window has to be run whole.
  virtual bool score(std::uint32_t key, std::span<float> output) noexcept = 0;
  // Advances the windows in flight of the key that has waited longest, by one frame. False: none
  // waits.
  virtual bool work_ahead() noexcept = 0;
  // Forgets the frames of a key.
  virtual void reset(std::uint32_t key) noexcept = 0;

  // How often push() or score() did work_ahead()'s work.
  virtual std::uint64_t caught_up_count() const noexcept { return 0; }
  virtual std::size_t bytes_per_key() const noexcept = 0;
  // Of a whole window's multiply-adds, the share that is left for score().
  virtual double last_step_share() const noexcept = 0;
};

struct EngineInfo {
  std::string name;
  bool found = false;
  std::string version;  // of the library; the program's own for built-in engines
  std::string path;     // of the library; "built in" for our own
  std::string reason;   // why it is missing; empty if found
  std::vector<Precision> precisions;
  DeterminismClass determinism = DeterminismClass::kExact;
  int thread_count_max = 0;  // threads that a session makes use of; 0: no limit of its own
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual EngineInfo info() const = 0;
  // Loads the ONNX model at `onnx_path`. An operator the engine lacks is named with its node.
  virtual Result<std::unique_ptr<Session>> load(const std::string& onnx_path,
                                                const SessionOptions& options) = 0;
  // The same for sliding windows. kUnimplemented, with the reason, where the engine or the graph
  // allows nothing to be computed ahead.
  virtual Result<std::unique_ptr<WindowStream>> load_stream(const std::string& onnx_path,
                                                            const SessionOptions& options);
};

// An error that names the precisions the engine has, unless that of `options` is among them.
Status check_precision(const EngineInfo& info, const SessionOptions& options);

// The names of the explicit list of engines, in order of preference.
std::vector<std::string_view> engine_names();
// All of them; each is made whether or not its library is found.
std::vector<std::unique_ptr<Engine>> make_engines();
// The engine of that name, or an error that lists the names and, if it is missing here, why.
Result<std::unique_ptr<Engine>> make_engine(std::string_view name);

}  // namespace tocsin
