// Session over ONNX Runtime's C API: every status is checked, nothing throws.
#include "engines/onnxruntime/onnxruntime_session.h"

#include <onnxruntime_c_api.h>
#include <onnxruntime_run_options_config_keys.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "engines/tensor_check.h"

namespace tocsin {
namespace {

// Sets of shapes that stay bound; one more replaces the oldest. Each holds its inputs and outputs.
constexpr std::size_t kBindingsMax = 16;

template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

std::optional<DataType> data_type_of(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return DataType::kFloat32;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return DataType::kFloat64;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return DataType::kInt64;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      return DataType::kInt32;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
      return DataType::kBool;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING:
      return DataType::kString;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      return DataType::kInt8;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      return DataType::kUint8;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
      return DataType::kInt16;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16:
      return DataType::kUint16;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32:
      return DataType::kUint32;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
      return DataType::kUint64;
    default:
      return std::nullopt;
  }
}

ONNXTensorElementDataType element_type_of(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    case DataType::kFloat64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
    case DataType::kInt64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    case DataType::kInt32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
    case DataType::kBool:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;
    case DataType::kString:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
    case DataType::kInt8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8;
    case DataType::kUint8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
    case DataType::kInt16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16;
    case DataType::kUint16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16;
    case DataType::kUint32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32;
    case DataType::kUint64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64;
  }
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

}  // namespace

// Buffers for one set of shapes, bound to the session's inputs and outputs.
struct OnnxRuntimeSession::Binding {
  Binding(OrtIoBinding* io_binding, void (*release)(OrtIoBinding*)) : io(io_binding, release) {}

  bool matches(std::span<const TensorView> inputs, std::span<const TensorView> outputs) const {
    std::size_t tensor = 0;
    for (const std::span<const TensorView> views : {inputs, outputs}) {
      for (const TensorView& view : views) {
        if (!std::ranges::equal(view.shape, shapes[tensor])) return false;
        ++tensor;
      }
    }
    return true;
  }

  // Inputs first, then outputs, in the signature's order. The handle of the binding goes before
  // the values it refers to, and these before their memory.
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<AlignedBuffer> buffers;                        // of the host, or else
  std::vector<std::unique_ptr<CudaMemory::Tensor>> tensors;  // of both sides
  std::vector<void*> host;                                   // where the host has each
  std::vector<Handle<OrtValue>> values;
  Handle<OrtRunOptions> run_options{nullptr, nullptr};
  Handle<OrtIoBinding> io;
};

OnnxRuntimeSession::OnnxRuntimeSession(std::shared_ptr<const OnnxRuntimeLibrary> library,
                                       bool captures_graph)
    : library_(std::move(library)), captures_graph_(captures_graph) {}

OnnxRuntimeSession::~OnnxRuntimeSession() {
  bindings_.clear();
  if (session_ != nullptr) library_->api().ReleaseSession(session_);
}

Result<std::unique_ptr<Session>> OnnxRuntimeSession::load(
    std::shared_ptr<const OnnxRuntimeLibrary> library, const std::string& onnx_path,
    const SessionOptions& options, const ExecutionProvider* provider) {
  const auto attempt = [&](bool captures_graph) -> Result<std::unique_ptr<OnnxRuntimeSession>> {
    std::unique_ptr<OnnxRuntimeSession> session(new OnnxRuntimeSession(library, captures_graph));
    TOCSIN_RETURN_IF_ERROR(session->prepare(onnx_path, options, provider));
    return session;
  };
  std::string remark;
  if (provider != nullptr && provider->memory() != nullptr) {
    // A graph can be captured of models whose nodes all run on the device.
    Result<std::unique_ptr<OnnxRuntimeSession>> session = attempt(true);
    if (session.ok()) return std::unique_ptr<Session>(std::move(*session));
    remark = "without a CUDA graph: " + std::string(session.error().message());
  }
  Result<std::unique_ptr<OnnxRuntimeSession>> session = attempt(false);
  if (!session.ok()) return session.error().within("loading " + onnx_path);
  (*session)->remark_ = std::move(remark);
  return std::unique_ptr<Session>(std::move(*session));
}

Status OnnxRuntimeSession::prepare(const std::string& onnx_path, const SessionOptions& options,
                                   const ExecutionProvider* provider) {
  TOCSIN_RETURN_IF_ERROR(open(onnx_path, options, provider));
  TOCSIN_RETURN_IF_ERROR(read_signature());
  TOCSIN_RETURN_IF_ERROR(bind_ahead(options));
  return provider != nullptr ? run_ahead() : Status();
}

Status OnnxRuntimeSession::open(const std::string& onnx_path, const SessionOptions& options,
                                const ExecutionProvider* provider) {
  TOCSIN_RETURN_IF_ERROR(check_counts(options));
  const OrtApi& api = library_->api();
  OrtSessionOptions* raw = nullptr;
  TOCSIN_RETURN_IF_ERROR(library_->check(api.CreateSessionOptions(&raw)));
  const Handle<OrtSessionOptions> settings(raw, api.ReleaseSessionOptions);
  TOCSIN_RETURN_IF_ERROR(library_->check(api.SetIntraOpNumThreads(raw, options.thread_count)));
  TOCSIN_RETURN_IF_ERROR(library_->check(api.SetInterOpNumThreads(raw, 1)));
  TOCSIN_RETURN_IF_ERROR(library_->check(api.SetSessionExecutionMode(raw, ORT_SEQUENTIAL)));
  TOCSIN_RETURN_IF_ERROR(
      library_->check(api.SetSessionGraphOptimizationLevel(raw, ORT_ENABLE_ALL)));
  if (provider != nullptr) {
    device_ = provider->memory();
    inputs_are_copied_ = device_ == nullptr;
    TOCSIN_RETURN_IF_ERROR(provider->append_to(
        *raw, {.thread_count = options.thread_count, .captures_graph = captures_graph_}));
  }
  return library_->check(
      api.CreateSession(library_->environment(), onnx_path.c_str(), raw, &session_));
}

Status OnnxRuntimeSession::read_signature() {
  const OrtApi& api = library_->api();
  for (const bool is_input : {true, false}) {
    std::size_t count = 0;
    TOCSIN_RETURN_IF_ERROR(library_->check(is_input ? api.SessionGetInputCount(session_, &count)
                                                    : api.SessionGetOutputCount(session_, &count)));
    for (std::size_t i = 0; i < count; ++i) {
      TOCSIN_ASSIGN_OR_RETURN(TensorSpec spec, read_tensor_spec(i, is_input));
      (is_input ? signature_.inputs : signature_.outputs).push_back(std::move(spec));
    }
  }
  return {};
}

Result<TensorSpec> OnnxRuntimeSession::read_tensor_spec(std::size_t index, bool is_input) const {
  const OrtApi& api = library_->api();
  OrtAllocator* allocator = nullptr;
  TOCSIN_RETURN_IF_ERROR(library_->check(api.GetAllocatorWithDefaultOptions(&allocator)));
  char* name = nullptr;
  TOCSIN_RETURN_IF_ERROR(
      library_->check(is_input ? api.SessionGetInputName(session_, index, allocator, &name)
                               : api.SessionGetOutputName(session_, index, allocator, &name)));
  TensorSpec spec;
  spec.name = name;
  TOCSIN_RETURN_IF_ERROR(library_->check(api.AllocatorFree(allocator, name)));

  OrtTypeInfo* raw_type = nullptr;
  TOCSIN_RETURN_IF_ERROR(
      library_->check(is_input ? api.SessionGetInputTypeInfo(session_, index, &raw_type)
                               : api.SessionGetOutputTypeInfo(session_, index, &raw_type)));
  const Handle<OrtTypeInfo> type(raw_type, api.ReleaseTypeInfo);
  if (const Status status = read_tensor_type(*type, spec); !status.ok()) {
    return status.error().within((is_input ? "input '" : "output '") + spec.name + "'");
  }
  return spec;
}

Status OnnxRuntimeSession::read_tensor_type(const OrtTypeInfo& type, TensorSpec& spec) const {
  const OrtApi& api = library_->api();
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;  // owned by `type`
  TOCSIN_RETURN_IF_ERROR(library_->check(api.CastTypeInfoToTensorInfo(&type, &tensor)));
  if (tensor == nullptr)
    return Error(ErrorCode::kUnimplemented, "expected a tensor, found a sequence, map or optional");
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  TOCSIN_RETURN_IF_ERROR(library_->check(api.GetTensorElementType(tensor, &element)));
  const std::optional<DataType> data_type = data_type_of(element);
  if (!data_type.has_value()) {
    return Error(ErrorCode::kUnimplemented, "element type " +
                                                std::to_string(static_cast<int>(element)) +
                                                " of ONNXTensorElementDataType is not supported");
  }
  spec.type = *data_type;
  std::size_t rank = 0;
  TOCSIN_RETURN_IF_ERROR(library_->check(api.GetDimensionsCount(tensor, &rank)));
  spec.shape.resize(rank);
  return library_->check(api.GetDimensions(tensor, spec.shape.data(), rank));
}

Status OnnxRuntimeSession::bind_ahead(const SessionOptions& options) {
  const auto views_of = [](const std::vector<TensorSpec>& specs) {
    std::vector<TensorView> views;
    views.reserve(specs.size());
    for (const TensorSpec& spec : specs) views.push_back({spec.type, spec.shape, nullptr, 0});
    return views;
  };
  for (const std::int64_t batch : {std::int64_t{1}, options.batch_max}) {
    const std::vector<TensorSpec> inputs = window_specs(signature_.inputs, batch, options.steps);
    const std::vector<TensorSpec> outputs = window_specs(signature_.outputs, batch, options.steps);
    // Other models are bound at their first run, when all shapes are known.
    if (std::ranges::any_of(inputs, is_open) || std::ranges::any_of(outputs, is_open)) return {};
    const auto input_views = views_of(inputs);
    const auto output_views = views_of(outputs);
    const auto is_bound = [&](const auto& b) { return b->matches(input_views, output_views); };
    if (std::ranges::any_of(bindings_, is_bound)) continue;
    TOCSIN_ASSIGN_OR_RETURN(auto binding, make_binding(input_views, output_views, captures_graph_));
    bindings_.push_back(std::move(binding));
  }
  return {};
}

Status OnnxRuntimeSession::bind_again(const Binding& binding) const {
  for (std::size_t i = 0; i < signature_.inputs.size(); ++i)
    TOCSIN_RETURN_IF_ERROR(library_->check(library_->api().BindInput(
        binding.io.get(), signature_.inputs[i].name.c_str(), binding.values[i].get())));
  return {};
}

Status OnnxRuntimeSession::run_ahead() {
  for (const auto& binding : bindings_) TOCSIN_RETURN_IF_ERROR(run_bound(*binding));
  return {};
}

// A graph replays what it saw, with its addresses: each binding has its own, by number.
Status OnnxRuntimeSession::make_run_options(Binding& binding, bool uses_graph) const {
  const OrtApi& api = library_->api();
  OrtRunOptions* raw = nullptr;
  TOCSIN_RETURN_IF_ERROR(library_->check(api.CreateRunOptions(&raw)));
  binding.run_options = {raw, api.ReleaseRunOptions};
  if (device_ == nullptr) return {};
  // The copies behind the run stand in the same stream, and are waited for.
  TOCSIN_RETURN_IF_ERROR(library_->check(
      api.AddRunConfigEntry(raw, kOrtRunOptionsConfigDisableSynchronizeExecutionProviders, "1")));
  const std::string graph = uses_graph ? std::to_string(bindings_.size() + 1) : "-1";
  return library_->check(
      api.AddRunConfigEntry(raw, kOrtRunOptionsConfigCudaGraphAnnotation, graph.c_str()));
}

Status OnnxRuntimeSession::bind(const TensorView& view, const char* name, bool is_input,
                                Binding& binding) const {
  const OrtApi& api = library_->api();
  std::size_t size_bytes = data_type_size_bytes(view.type);
  for (const std::int64_t dimension : view.shape) size_bytes *= static_cast<std::size_t>(dimension);
  binding.shapes.emplace_back(view.shape.begin(), view.shape.end());
  void* bound = nullptr;
  if (device_ != nullptr) {
    TOCSIN_ASSIGN_OR_RETURN(auto tensor, CudaMemory::make_tensor(device_, size_bytes));
    binding.host.push_back(tensor->host());
    bound = tensor->device();
    binding.tensors.push_back(std::move(tensor));
  } else {
    binding.buffers.push_back(make_aligned_buffer(size_bytes));
    bound = binding.buffers.back().get();
    binding.host.push_back(bound);
  }
  OrtMemoryInfo* raw_memory = nullptr;
  TOCSIN_RETURN_IF_ERROR(library_->check(
      device_ != nullptr
          ? api.CreateMemoryInfo("Cuda", OrtDeviceAllocator, 0, OrtMemTypeDefault, &raw_memory)
          : api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &raw_memory)));
  const Handle<OrtMemoryInfo> memory(raw_memory, api.ReleaseMemoryInfo);
  OrtValue* value = nullptr;
  TOCSIN_RETURN_IF_ERROR(library_->check(
      api.CreateTensorWithDataAsOrtValue(memory.get(), bound, size_bytes, view.shape.data(),
                                         view.shape.size(), element_type_of(view.type), &value)));
  binding.values.emplace_back(value, api.ReleaseValue);
  return library_->check(is_input ? api.BindInput(binding.io.get(), name, value)
                                  : api.BindOutput(binding.io.get(), name, value));
}

Result<std::unique_ptr<OnnxRuntimeSession::Binding>> OnnxRuntimeSession::make_binding(
    std::span<const TensorView> inputs, std::span<const TensorView> outputs,
    bool uses_graph) const {
  const OrtApi& api = library_->api();
  OrtIoBinding* raw_binding = nullptr;
  TOCSIN_RETURN_IF_ERROR(library_->check(api.CreateIoBinding(session_, &raw_binding)));
  auto binding = std::make_unique<Binding>(raw_binding, api.ReleaseIoBinding);
  TOCSIN_RETURN_IF_ERROR(make_run_options(*binding, uses_graph));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    TOCSIN_RETURN_IF_ERROR(bind(inputs[i], signature_.inputs[i].name.c_str(), true, *binding));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    TOCSIN_RETURN_IF_ERROR(bind(outputs[i], signature_.outputs[i].name.c_str(), false, *binding));
  return binding;
}

Status OnnxRuntimeSession::run_bound(const Binding& binding) const {
  if (device_ != nullptr) {
    TOCSIN_RETURN_IF_ERROR(device_->enter());
    for (std::size_t i = 0; i < signature_.inputs.size(); ++i)
      TOCSIN_RETURN_IF_ERROR(binding.tensors[i]->copy_to_device());
  } else if (inputs_are_copied_) {
    TOCSIN_RETURN_IF_ERROR(bind_again(binding));
  }
  OrtStatus* raw =
      library_->api().RunWithBinding(session_, binding.run_options.get(), binding.io.get());
  if (raw != nullptr) [[unlikely]]
    return library_->check(raw);
  if (device_ == nullptr) return {};
  for (std::size_t i = signature_.inputs.size(); i < binding.tensors.size(); ++i)
    TOCSIN_RETURN_IF_ERROR(binding.tensors[i]->copy_to_host());
  return device_->wait();
}

OnnxRuntimeSession::Binding* OnnxRuntimeSession::binding_for(std::span<const TensorView> inputs,
                                                             std::span<const TensorView> outputs) {
  for (const auto& binding : bindings_)
    if (binding->matches(inputs, outputs)) return binding.get();
  Result<std::unique_ptr<Binding>> made = make_binding(inputs, outputs, false);
  if (!made.ok()) {
    fail(made.error());
    return nullptr;
  }
  if (bindings_.size() < kBindingsMax) {
    bindings_.push_back(std::move(*made));
    return bindings_.back().get();
  }
  std::unique_ptr<Binding>& replaced = bindings_[next_replaced_];
  next_replaced_ = (next_replaced_ + 1) % kBindingsMax;
  replaced = std::move(*made);
  return replaced.get();
}

bool OnnxRuntimeSession::run(std::span<const TensorView> inputs,
                             std::span<const TensorView> outputs) noexcept {
  if (auto error = misfit(inputs, signature_.inputs, "input"); error.has_value())
    return fail(std::move(*error));
  if (auto error = misfit(outputs, signature_.outputs, "output"); error.has_value())
    return fail(std::move(*error));
  Binding* binding = binding_for(inputs, outputs);
  if (binding == nullptr) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    std::memcpy(binding->host[i], inputs[i].data, inputs[i].size_bytes);
  if (Status status = run_bound(*binding); !status.ok()) [[unlikely]]
    return fail(status.error());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    std::memcpy(outputs[i].data, binding->host[inputs.size() + i], outputs[i].size_bytes);
  return true;
}

bool OnnxRuntimeSession::fail(Error error) noexcept {
  error_ = std::move(error);
  return false;
}

}  // namespace tocsin
