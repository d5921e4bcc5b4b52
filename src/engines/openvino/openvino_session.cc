// Session over OpenVINO's C API: every status is checked, nothing throws.
#include "engines/openvino/openvino_session.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace tocsin {
namespace {

// Bindings made after load that stay; one more replaces the oldest.
constexpr std::size_t kLateBindingsMax = 16;

std::optional<DataType> data_type_of(OvElement element) {
  switch (element) {
    case OvElement::kBoolean:
      return DataType::kBool;
    case OvElement::kFloat32:
      return DataType::kFloat32;
    case OvElement::kFloat64:
      return DataType::kFloat64;
    case OvElement::kInt32:
      return DataType::kInt32;
    case OvElement::kInt64:
      return DataType::kInt64;
  }
  return std::nullopt;
}

OvElement element_of(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return OvElement::kFloat32;
    case DataType::kFloat64:
      return OvElement::kFloat64;
    case DataType::kInt32:
      return OvElement::kInt32;
    case DataType::kInt64:
      return OvElement::kInt64;
    default:  // kBool; all else is refused by misfit() before
      break;
  }
  return OvElement::kBoolean;
}

const char* precision_hint(Precision precision) {
  switch (precision) {
    case Precision::kBfloat16:
      return "bf16";
    case Precision::kFloat16:
      return "f16";
    case Precision::kFloat32:
    case Precision::kInt8:  // not among the engine's precisions
      break;
  }
  return "f32";
}

std::vector<TensorView> views_of(const std::vector<TensorSpec>& specs) {
  std::vector<TensorView> views;
  for (const TensorSpec& spec : specs) {
    std::size_t size_bytes = data_type_size_bytes(spec.type);
    for (const std::int64_t size : spec.shape) size_bytes *= static_cast<std::size_t>(size);
    views.push_back({spec.type, spec.shape, nullptr, size_bytes});
  }
  return views;
}

}  // namespace

// A compiled model and its one inference at a time.
struct OpenVinoSession::Request {
  Handle<ov_compiled_model> compiled;
  Handle<ov_infer_request> infer;
  std::vector<std::vector<std::int64_t>> input_shapes;  // empty: free
  const Binding* bound = nullptr;                       // whose tensors it holds
};

// Memory for one set of shapes, as the tensors of a request.
struct OpenVinoSession::Binding {
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

  Request* request = nullptr;
  // Inputs first, then outputs, in the signature's order.
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<std::byte*> memory;
  std::vector<AlignedBuffer> buffers;  // of those tensors that the shared memory is too small for
  std::vector<Handle<ov_tensor>> tensors;
};

OpenVinoSession::OpenVinoSession(std::shared_ptr<const OpenVinoLibrary> library)
    : library_(std::move(library)), model_(nullptr, library_->api().model_free) {}

// Requests go before the tensors they were given, and all of them before the library.
OpenVinoSession::~OpenVinoSession() {
  fixed_requests_.clear();
  free_request_.reset();
  bindings_.clear();
}

Result<std::unique_ptr<Session>> OpenVinoSession::load(
    std::shared_ptr<const OpenVinoLibrary> library, const std::string& onnx_path,
    const SessionOptions& options) {
  std::unique_ptr<OpenVinoSession> session(new OpenVinoSession(std::move(library)));
  session->options_ = options;
  session->onnx_path_ = onnx_path;
  Status status = check_counts(options);
  if (status.ok()) status = session->read_model(session->model_);
  if (status.ok()) status = session->read_signature();
  if (status.ok()) status = session->prepare();
  if (!status.ok()) return status.error().within("loading " + onnx_path);
  return std::unique_ptr<Session>(std::move(session));
}

Status OpenVinoSession::read_model(Handle<ov_model>& model) const {
  ov_model* raw = nullptr;
  TOCSIN_RETURN_IF_ERROR(library_->check(
      library_->api().core_read_model(library_->core(), onnx_path_.c_str(), nullptr, &raw)));
  model.reset(raw);
  return {};
}

Status OpenVinoSession::read_signature() {
  const OpenVinoApi& api = library_->api();
  for (const bool is_input : {true, false}) {
    std::size_t count = 0;
    TOCSIN_RETURN_IF_ERROR(library_->check(is_input
                                               ? api.model_inputs_size(model_.get(), &count)
                                               : api.model_outputs_size(model_.get(), &count)));
    for (std::size_t i = 0; i < count; ++i) {
      TOCSIN_ASSIGN_OR_RETURN(TensorSpec spec, read_tensor_spec(i, is_input));
      (is_input ? signature_.inputs : signature_.outputs).push_back(std::move(spec));
    }
  }
  return {};
}

Result<TensorSpec> OpenVinoSession::read_tensor_spec(std::size_t index, bool is_input) const {
  const OpenVinoApi& api = library_->api();
  ov_output_const_port* raw_port = nullptr;
  TOCSIN_RETURN_IF_ERROR(
      library_->check(is_input ? api.model_input_by_index(model_.get(), index, &raw_port)
                               : api.model_output_by_index(model_.get(), index, &raw_port)));
  const Handle<ov_output_const_port> port(raw_port, api.port_free);
  char* name = nullptr;
  TOCSIN_RETURN_IF_ERROR(library_->check(api.port_any_name(raw_port, &name)));
  TensorSpec spec;
  spec.name = name;
  api.free_text(name);
  OvElement element{};
  TOCSIN_RETURN_IF_ERROR(library_->check(api.port_element_type(raw_port, &element)));
  const std::string where = (is_input ? "input '" : "output '") + spec.name + "'";
  const std::optional<DataType> type = data_type_of(element);
  if (!type.has_value()) {
    return Error(ErrorCode::kUnimplemented, where + ": element type " +
                                                std::to_string(static_cast<int>(element)) +
                                                " of ov_element_type_e is not supported");
  }
  spec.type = *type;
  OvPartialShape shape{};
  TOCSIN_RETURN_IF_ERROR(library_->check(api.port_partial_shape(raw_port, &shape)));
  const bool has_rank = shape.rank.min == shape.rank.max;
  for (std::int64_t i = 0; has_rank && i < shape.rank.max; ++i) {
    const OvDimension& dimension = shape.dims[i];
    spec.shape.push_back(dimension.min == dimension.max ? dimension.max : kFreeDimension);
  }
  api.partial_shape_free(&shape);
  if (!has_rank) return Error(ErrorCode::kUnimplemented, where + ": the number of axes is free");
  return spec;
}

Status OpenVinoSession::prepare() {
  const std::int64_t last = options_.batch_max;
  const auto is_known = [&](std::int64_t batch) {
    return std::ranges::none_of(window_specs(signature_.inputs, batch, options_.steps), is_open) &&
           std::ranges::none_of(window_specs(signature_.outputs, batch, options_.steps), is_open);
  };
  // Other models are bound at their first run, when all shapes are known.
  if (!is_known(last)) return {};
  TOCSIN_RETURN_IF_ERROR(prepare_batch(last, true));
  const auto is_free = [](const TensorSpec& spec) {
    return !spec.shape.empty() && spec.shape[0] == kFreeDimension;
  };
  if (options_.batch_varies && last > 1 && std::ranges::any_of(signature_.inputs, is_free)) {
    TOCSIN_RETURN_IF_ERROR(prepare_batch(1, true));
    // The largest first: the others use its memory.
    for (std::int64_t batch = last - 1; batch > 1; --batch)
      TOCSIN_RETURN_IF_ERROR(prepare_batch(batch, false));
  }
  early_binding_count_ = bindings_.size();
  return {};
}

Status OpenVinoSession::prepare_batch(std::int64_t batch, bool fixed) {
  const auto inputs = window_specs(signature_.inputs, batch, options_.steps);
  const auto outputs = window_specs(signature_.outputs, batch, options_.steps);
  if (fixed) {
    std::vector<std::vector<std::int64_t>> shapes;
    shapes.reserve(inputs.size());
    for (const TensorSpec& spec : inputs) shapes.push_back(spec.shape);
    TOCSIN_ASSIGN_OR_RETURN(auto request, compile(std::move(shapes)));
    fixed_requests_.push_back(std::move(request));
  }
  TOCSIN_ASSIGN_OR_RETURN(auto binding, bind(views_of(inputs), views_of(outputs)));
  bindings_.push_back(std::move(binding));
  return infer(*bindings_.back());
}

Result<std::unique_ptr<OpenVinoSession::Request>> OpenVinoSession::compile(
    std::vector<std::vector<std::int64_t>> input_shapes) const {
  const OpenVinoApi& api = library_->api();
  // A model is changed by its new shapes: the one with the free shapes stays as it was read.
  Handle<ov_model> fixed(nullptr, api.model_free);
  if (!input_shapes.empty()) {
    TOCSIN_RETURN_IF_ERROR(read_model(fixed));
    std::vector<std::size_t> indexes;
    std::vector<OvPartialShape> shapes(input_shapes.size());
    Status status;
    for (std::size_t i = 0; status.ok() && i < input_shapes.size(); ++i) {
      indexes.push_back(i);
      status = library_->check(api.partial_shape_static(
          static_cast<std::int64_t>(input_shapes[i].size()), input_shapes[i].data(), &shapes[i]));
    }
    if (status.ok())
      status = library_->check(
          api.model_reshape(fixed.get(), indexes.data(), shapes.data(), shapes.size()));
    for (OvPartialShape& shape : shapes) api.partial_shape_free(&shape);
    if (!status.ok()) return status.error();
  }
  const std::string threads = std::to_string(options_.thread_count);
  constexpr std::size_t kTextCount = 10;
  ov_compiled_model* compiled = nullptr;
  // OpenVINO would pin the calling thread too: where threads run is the program's affair. The
  // default precision of a machine with AMX is BF16, so that it is always named.
  TOCSIN_RETURN_IF_ERROR(library_->check(api.core_compile_model(
      library_->core(), fixed != nullptr ? fixed.get() : model_.get(), "CPU", kTextCount, &compiled,
      "INFERENCE_NUM_THREADS", threads.c_str(), "INFERENCE_PRECISION_HINT",
      precision_hint(options_.precision), "PERFORMANCE_HINT", "LATENCY", "NUM_STREAMS", "1",
      "ENABLE_CPU_PINNING", "NO")));
  Handle<ov_compiled_model> owned(compiled, api.compiled_model_free);
  ov_infer_request* infer = nullptr;
  TOCSIN_RETURN_IF_ERROR(library_->check(api.compiled_model_request(compiled, &infer)));
  return std::make_unique<Request>(Request{std::move(owned),
                                           Handle<ov_infer_request>(infer, api.request_free),
                                           std::move(input_shapes)});
}

Result<OpenVinoSession::Request*> OpenVinoSession::request_for(std::span<const TensorView> inputs) {
  for (const auto& request : fixed_requests_) {
    bool fits = true;
    for (std::size_t i = 0; fits && i < inputs.size(); ++i)
      fits = std::ranges::equal(inputs[i].shape, request->input_shapes[i]);
    if (fits) return request.get();
  }
  if (free_request_ == nullptr) {
    TOCSIN_ASSIGN_OR_RETURN(free_request_, compile({}));
  }
  return free_request_.get();
}

Result<std::unique_ptr<OpenVinoSession::Binding>> OpenVinoSession::bind(
    std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  auto binding = std::make_unique<Binding>();
  TOCSIN_ASSIGN_OR_RETURN(binding->request, request_for(inputs));
  for (const std::span<const TensorView> views : {inputs, outputs}) {
    for (const TensorView& view : views) {
      const std::size_t index = binding->shapes.size();
      auto& shape = binding->shapes.emplace_back(view.shape.begin(), view.shape.end());
      if (shared_buffers_.size() == index) shared_buffers_.emplace_back();
      Buffer& shared = shared_buffers_[index];
      std::byte* memory = shared.memory.get();
      if (shared.memory == nullptr) {
        shared = {make_aligned_buffer(view.size_bytes), view.size_bytes};
        memory = shared.memory.get();
      } else if (shared.size_bytes < view.size_bytes) {
        memory = binding->buffers.emplace_back(make_aligned_buffer(view.size_bytes)).get();
      }
      binding->memory.push_back(memory);
      ov_tensor* tensor = nullptr;
      TOCSIN_RETURN_IF_ERROR(library_->check(library_->api().tensor_on_memory(
          element_of(view.type), {static_cast<std::int64_t>(shape.size()), shape.data()}, memory,
          &tensor)));
      binding->tensors.emplace_back(tensor, library_->api().tensor_free);
    }
  }
  return binding;
}

OpenVinoSession::Binding* OpenVinoSession::binding_for(std::span<const TensorView> inputs,
                                                       std::span<const TensorView> outputs) {
  for (const auto& binding : bindings_)
    if (binding->matches(inputs, outputs)) return binding.get();
  Result<std::unique_ptr<Binding>> made = bind(inputs, outputs);
  if (!made.ok()) {
    fail(made.error());
    return nullptr;
  }
  if (bindings_.size() < early_binding_count_ + kLateBindingsMax) {
    bindings_.push_back(std::move(*made));
    return bindings_.back().get();
  }
  std::unique_ptr<Binding>& replaced = bindings_[early_binding_count_ + next_replaced_];
  next_replaced_ = (next_replaced_ + 1) % kLateBindingsMax;
  if (replaced->request->bound == replaced.get()) replaced->request->bound = nullptr;
  replaced = std::move(*made);
  return replaced.get();
}

Status OpenVinoSession::infer(Binding& binding) {
  const OpenVinoApi& api = library_->api();
  Request& request = *binding.request;
  const std::size_t input_count = signature_.inputs.size();
  if (request.bound != &binding) {
    request.bound = nullptr;
    for (std::size_t i = 0; i < binding.tensors.size(); ++i) {
      const ov_tensor* tensor = binding.tensors[i].get();
      TOCSIN_RETURN_IF_ERROR(library_->check(
          i < input_count ? api.request_set_input(request.infer.get(), i, tensor)
                          : api.request_set_output(request.infer.get(), i - input_count, tensor)));
    }
    request.bound = &binding;
  }
  return library_->check(api.request_infer(request.infer.get()));
}

// An output's shape is the model's own to decide: OpenVINO makes the tensor smaller where it was
// bound too large.
Status OpenVinoSession::check_sizes(const Binding& binding,
                                    std::span<const TensorView> outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::size_t size_bytes = 0;
    TOCSIN_RETURN_IF_ERROR(library_->check(library_->api().tensor_byte_size(
        binding.tensors[signature_.inputs.size() + i].get(), &size_bytes)));
    if (size_bytes != outputs[i].size_bytes)
      return Error(ErrorCode::kInvalidArgument,
                   "output '" + signature_.outputs[i].name + "': the model gives " +
                       std::to_string(size_bytes) + " bytes, room is for " +
                       std::to_string(outputs[i].size_bytes));
  }
  return {};
}

bool OpenVinoSession::run(std::span<const TensorView> inputs,
                          std::span<const TensorView> outputs) noexcept {
  if (auto error = misfit(inputs, signature_.inputs, "input"); error.has_value())
    return fail(std::move(*error));
  if (auto error = misfit(outputs, signature_.outputs, "output"); error.has_value())
    return fail(std::move(*error));
  Binding* binding = binding_for(inputs, outputs);
  if (binding == nullptr) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    std::memcpy(binding->memory[i], inputs[i].data, inputs[i].size_bytes);
  Status status = infer(*binding);
  if (status.ok()) status = check_sizes(*binding, outputs);
  if (!status.ok()) [[unlikely]]
    return fail(status.error());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    std::memcpy(outputs[i].data, binding->memory[inputs.size() + i], outputs[i].size_bytes);
  return true;
}

bool OpenVinoSession::fail(Error error) noexcept {
  error_ = std::move(error);
  return false;
}

}  // namespace tocsin
