// One model in ONNX Runtime: its signature, and runs through buffers that are bound once a shape.
// The first run of a new set of shapes takes memory; ONNX Runtime itself allocates a little in
// every run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"
#include "engines/onnxruntime/cuda_memory.h"
#include "engines/onnxruntime/execution_provider.h"
#include "engines/onnxruntime/onnxruntime_library.h"

struct OrtSession;
struct OrtTypeInfo;

namespace tocsin {

class OnnxRuntimeSession final : public Session {
 public:
  // `provider`: runs before ONNX Runtime's own CPU kernels; null: these alone.
  static Result<std::unique_ptr<Session>> load(std::shared_ptr<const OnnxRuntimeLibrary> library,
                                               const std::string& onnx_path,
                                               const SessionOptions& options,
                                               const ExecutionProvider* provider = nullptr);
  ~OnnxRuntimeSession() override;

  const ModelSignature& signature() const noexcept override { return signature_; }
  bool run(std::span<const TensorView> inputs,
           std::span<const TensorView> outputs) noexcept override;
  const Error& error() const noexcept override { return error_; }
  std::string_view remark() const noexcept override { return remark_; }

 private:
  struct Binding;

  OnnxRuntimeSession(std::shared_ptr<const OnnxRuntimeLibrary> library, bool captures_graph);
  Status prepare(const std::string& onnx_path, const SessionOptions& options,
                 const ExecutionProvider* provider);
  Status open(const std::string& onnx_path, const SessionOptions& options,
              const ExecutionProvider* provider);
  Status read_signature();
  Result<TensorSpec> read_tensor_spec(std::size_t index, bool is_input) const;
  Status read_tensor_type(const OrtTypeInfo& type, TensorSpec& spec) const;
  // Binds the shapes of window models ([batch, steps, ...]) ahead of the first run.
  Status bind_ahead(const SessionOptions& options);
  // ONNX Runtime copies an input into a provider's own memory when it is bound, not when it runs.
  Status bind_again(const Binding& binding) const;
  // The first run of a shape costs the provider milliseconds: runs what is bound once.
  Status run_ahead();
  Result<std::unique_ptr<Binding>> make_binding(std::span<const TensorView> inputs,
                                                std::span<const TensorView> outputs,
                                                bool uses_graph) const;
  Status bind(const TensorView& view, const char* name, bool is_input, Binding& binding) const;
  Status make_run_options(Binding& binding, bool uses_graph) const;
  // Runs what is bound, from the host's memory to the host's.
  Status run_bound(const Binding& binding) const;
  // The binding for these shapes; made if there is none. Null: see error_.
  Binding* binding_for(std::span<const TensorView> inputs, std::span<const TensorView> outputs);
  bool fail(Error error) noexcept;

  std::shared_ptr<const OnnxRuntimeLibrary> library_;
  ModelSignature signature_;
  OrtSession* session_ = nullptr;
  std::vector<std::unique_ptr<Binding>> bindings_;
  std::size_t next_replaced_ = 0;
  bool captures_graph_ = false;         // for the shapes that are bound at load
  bool inputs_are_copied_ = false;      // when they are bound, by ONNX Runtime
  std::shared_ptr<CudaMemory> device_;  // what tensors are bound to; null: the host's memory
  std::string remark_;
  Error error_{ErrorCode::kOk, ""};
};

}  // namespace tocsin
