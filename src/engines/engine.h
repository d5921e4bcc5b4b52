// The seam between scoring and whatever computes: an Engine loads a model, a Session runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/decision.h"

namespace tocsin {

enum class DataType : std::uint8_t { kFloat32, kInt64, kInt32, kBool, kFloat64, kString };
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
std::string_view precision_name(Precision precision) noexcept;

struct SessionOptions {
  int thread_count = 1;
  // Shapes the session is bound to: window models are run as [batch, steps, features].
  std::int64_t batch_max = 1;
  std::int64_t steps = 0;  // value of the free time axis; 0: the model has none
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
};

struct EngineInfo {
  std::string name;
  bool found = false;
  std::string version;  // of the library; the program's own for built-in engines
  std::string path;     // of the library; "built in" for our own
  std::string reason;   // why it is missing; empty if found
  std::vector<Precision> precisions;
  DeterminismClass determinism = DeterminismClass::kExact;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual EngineInfo info() const = 0;
  // Loads the ONNX model at `onnx_path`. An operator the engine lacks is named with its node.
  virtual Result<std::unique_ptr<Session>> load(const std::string& onnx_path,
                                                const SessionOptions& options) = 0;
};

// The explicit list of engines, in order of preference; each is made whether or not its library is
// found.
std::vector<std::unique_ptr<Engine>> make_engines();
// The engine of that name, or an error that lists the names and, if it is missing here, why.
Result<std::unique_ptr<Engine>> make_engine(std::string_view name);

}  // namespace tocsin
