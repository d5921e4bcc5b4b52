// One model in OpenVINO: compiled for fixed shapes where these are known, which is fastest, and
// once with free shapes for all others. The first run of a new shape costs OpenVINO milliseconds,
// so that the batches a session is loaded for are run once at load.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"
#include "engines/openvino/openvino_library.h"
#include "engines/tensor_check.h"

namespace tocsin {

class OpenVinoSession final : public Session {
 public:
  static Result<std::unique_ptr<Session>> load(std::shared_ptr<const OpenVinoLibrary> library,
                                               const std::string& onnx_path,
                                               const SessionOptions& options);
  ~OpenVinoSession() override;

  const ModelSignature& signature() const noexcept override { return signature_; }
  bool run(std::span<const TensorView> inputs,
           std::span<const TensorView> outputs) noexcept override;
  const Error& error() const noexcept override { return error_; }

 private:
  struct Request;
  struct Binding;

  template <typename T>
  using Handle = std::unique_ptr<T, void (*)(T*)>;
  struct Buffer {
    AlignedBuffer memory;
    std::size_t size_bytes = 0;
  };

  explicit OpenVinoSession(std::shared_ptr<const OpenVinoLibrary> library);
  Status read_model(Handle<ov_model>& model) const;
  Status read_signature();
  Result<TensorSpec> read_tensor_spec(std::size_t index, bool is_input) const;
  // Compiles for and runs the shapes of window models ([batch, steps, ...]) ahead of the first run.
  Status prepare();
  // `fixed`: compiled for this batch alone.
  Status prepare_batch(std::int64_t batch, bool fixed);
  // No shapes: with the model's own, free ones.
  Result<std::unique_ptr<Request>> compile(
      std::vector<std::vector<std::int64_t>> input_shapes) const;
  Result<Request*> request_for(std::span<const TensorView> inputs);
  Result<std::unique_ptr<Binding>> bind(std::span<const TensorView> inputs,
                                        std::span<const TensorView> outputs);
  // The binding for these shapes; made if there is none. Null: see error_.
  Binding* binding_for(std::span<const TensorView> inputs, std::span<const TensorView> outputs);
  Status infer(Binding& binding);
  Status check_sizes(const Binding& binding, std::span<const TensorView> outputs) const;
  bool fail(Error error) noexcept;

  std::shared_ptr<const OpenVinoLibrary> library_;
  Handle<ov_model> model_;  // with the free shapes of the file
  ModelSignature signature_;
  SessionOptions options_;
  std::string onnx_path_;
  std::vector<std::unique_ptr<Request>> fixed_requests_;
  std::unique_ptr<Request> free_request_;  // null until a shape without a fixed request comes
  // One run at a time: all bindings use this memory, which the first of them sizes.
  std::vector<Buffer> shared_buffers_;
  std::vector<std::unique_ptr<Binding>> bindings_;
  std::size_t early_binding_count_ = 0;  // made at load: they are never replaced
  std::size_t next_replaced_ = 0;
  Error error_{ErrorCode::kOk, ""};
};

}  // namespace tocsin
