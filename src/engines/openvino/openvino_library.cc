// dlopen() and dlsym() of OpenVINO's C API, and its messages in one line.
#include "engines/openvino/openvino_library.h"

#include <dlfcn.h>

#include <algorithm>

namespace tocsin {
namespace {

struct Symbol {
  const char* name;
  void** pointer;
};

template <typename Function>
Symbol symbol(const char* name, Function*& pointer) {
  return {name, reinterpret_cast<void**>(&pointer)};
}

ErrorCode error_code_of(OvStatus status, std::string_view message) {
  constexpr OvStatus kNotImplemented = -2;
  constexpr OvStatus kParameterMismatch = -4;
  constexpr OvStatus kNotFound = -5;
  if (status == kNotImplemented || message.find("not support") != std::string_view::npos)
    return ErrorCode::kUnimplemented;
  if (status == kParameterMismatch) return ErrorCode::kInvalidArgument;
  return status == kNotFound ? ErrorCode::kNotFound : ErrorCode::kInternal;
}

// The library's messages are traces of several lines, each "Exception from src/…:42:" or "Check '…'
// failed at src/…:42:" or what happened: only that is for the user.
std::string essence(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const std::size_t end = std::min(message.find('\n'), message.size());
    std::string_view line = message.substr(0, end);
    message.remove_prefix(std::min(end + 1, message.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty() || line.starts_with("Exception from ")) continue;
    if (!text.empty()) text += ' ';
    text += line;
  }
  return text;
}

}  // namespace

const VendorLibrary& OpenVinoLibrary::vendor() {
  static const VendorLibrary kVendor{.variable = "TOCSIN_OPENVINO",
                                     .folder = "openvino",
                                     .file = "libopenvino_c.so.2641",
                                     .system_names = {"libopenvino_c.so.2641", "libopenvino_c.so"}};
  return kVendor;
}

Result<std::shared_ptr<const OpenVinoLibrary>> OpenVinoLibrary::open(
    const LibraryLocations& locations) {
  TOCSIN_ASSIGN_OR_RETURN(void* const handle, vendor().open(locations));
  std::shared_ptr<OpenVinoLibrary> library(new OpenVinoLibrary());
  TOCSIN_RETURN_IF_ERROR(library->resolve(handle));
  library->path_ = mapped_path(reinterpret_cast<const void*>(library->api_.core_create));
  if (const Status status = library->start(); !status.ok())
    return Error(ErrorCode::kUnavailable,
                 "starting OpenVINO of " + library->path_ + ": " + status.error().message());
  return std::shared_ptr<const OpenVinoLibrary>(std::move(library));
}

Status OpenVinoLibrary::resolve(void* handle) {
  const Symbol symbols[] = {
      symbol("ov_get_openvino_version", api_.get_openvino_version),
      symbol("ov_version_free", api_.version_free),
      symbol("ov_get_error_info", api_.get_error_info),
      symbol("ov_get_last_err_msg", api_.get_last_err_msg),
      symbol("ov_free", api_.free_text),
      symbol("ov_core_create", api_.core_create),
      symbol("ov_core_free", api_.core_free),
      symbol("ov_core_get_property", api_.core_get_property),
      symbol("ov_core_read_model", api_.core_read_model),
      symbol("ov_core_compile_model", api_.core_compile_model),
      symbol("ov_model_free", api_.model_free),
      symbol("ov_model_inputs_size", api_.model_inputs_size),
      symbol("ov_model_outputs_size", api_.model_outputs_size),
      symbol("ov_model_const_input_by_index", api_.model_input_by_index),
      symbol("ov_model_const_output_by_index", api_.model_output_by_index),
      symbol("ov_model_reshape_by_port_indexes", api_.model_reshape),
      symbol("ov_port_get_any_name", api_.port_any_name),
      symbol("ov_port_get_partial_shape", api_.port_partial_shape),
      symbol("ov_port_get_element_type", api_.port_element_type),
      symbol("ov_output_const_port_free", api_.port_free),
      symbol("ov_partial_shape_create_static", api_.partial_shape_static),
      symbol("ov_partial_shape_free", api_.partial_shape_free),
      symbol("ov_compiled_model_create_infer_request", api_.compiled_model_request),
      symbol("ov_compiled_model_free", api_.compiled_model_free),
      symbol("ov_infer_request_set_input_tensor_by_index", api_.request_set_input),
      symbol("ov_infer_request_set_output_tensor_by_index", api_.request_set_output),
      symbol("ov_infer_request_infer", api_.request_infer),
      symbol("ov_infer_request_free", api_.request_free),
      symbol("ov_tensor_create_from_host_ptr", api_.tensor_on_memory),
      symbol("ov_tensor_get_byte_size", api_.tensor_byte_size),
      symbol("ov_tensor_free", api_.tensor_free),
  };
  for (const Symbol& entry : symbols) {
    *entry.pointer = dlsym(handle, entry.name);
    if (*entry.pointer == nullptr)
      return Error(ErrorCode::kUnavailable, "the library opened as OpenVINO has no function " +
                                                std::string(entry.name) + vendor().what_to_do());
  }
  return {};
}

Status OpenVinoLibrary::start() {
  OvVersion version{};
  TOCSIN_RETURN_IF_ERROR(check(api_.get_openvino_version(&version)));
  // "2026.4.1-22982-5f0b1c2a9de-releases/2026/4"
  version_ = version.build_number;
  version_ = version_.substr(0, version_.find('-'));
  api_.version_free(&version);
  TOCSIN_RETURN_IF_ERROR(check(api_.core_create(&core_)));
  char* raw = nullptr;
  // Opens the CPU plug-in, so that a machine without it is told now.
  TOCSIN_RETURN_IF_ERROR(
      check(api_.core_get_property(core_, "CPU", "OPTIMIZATION_CAPABILITIES", &raw)));
  const std::string capabilities = raw;
  api_.free_text(raw);
  precisions_ = {Precision::kFloat32};
  if (capabilities.find("BF16") != std::string::npos) precisions_.push_back(Precision::kBfloat16);
  if (capabilities.find("FP16") != std::string::npos) precisions_.push_back(Precision::kFloat16);
  return {};
}

OpenVinoLibrary::~OpenVinoLibrary() {
  if (core_ != nullptr) api_.core_free(core_);
}

Status OpenVinoLibrary::check(OvStatus status) const {
  if (status == 0) return {};
  const char* raw = api_.get_last_err_msg();
  std::string message = raw != nullptr ? essence(raw) : "";
  if (raw != nullptr) api_.free_text(raw);
  if (message.empty()) message = api_.get_error_info(status);
  return Error(error_code_of(status, message), message);
}

}  // namespace tocsin
