// The slice of OpenVINO's C API that is used here, as pointers that are filled in at run time.
// Names and layouts are those of its headers (openvino/c/*.h, 2026.4); the functions stand in every
// release since 2023.0.
#pragma once

#include <cstddef>
#include <cstdint>

// The library's own types, opaque here.
struct ov_core;
struct ov_model;
struct ov_compiled_model;
struct ov_infer_request;
struct ov_tensor;
struct ov_output_const_port;

namespace tocsin {

// ov_status_e: 0 is success, everything else negative.
using OvStatus = int;

// ov_element_type_e; its other values have no DataType.
enum class OvElement : int { kBoolean = 1, kFloat32 = 4, kFloat64 = 5, kInt32 = 9, kInt64 = 10 };

struct OvVersion {
  const char* build_number;
  const char* description;
};

struct OvShape {
  std::int64_t rank;
  std::int64_t* dims;
};

struct OvDimension {
  std::int64_t min;
  std::int64_t max;  // -1: without bound
};

struct OvPartialShape {
  OvDimension rank;
  OvDimension* dims;
};

struct OpenVinoApi {
  OvStatus (*get_openvino_version)(OvVersion*) = nullptr;
  void (*version_free)(OvVersion*) = nullptr;
  const char* (*get_error_info)(OvStatus) = nullptr;
  const char* (*get_last_err_msg)() = nullptr;  // of this thread, to be freed with free_text
  void (*free_text)(const char*) = nullptr;     // ov_free

  OvStatus (*core_create)(ov_core**) = nullptr;
  void (*core_free)(ov_core*) = nullptr;
  OvStatus (*core_get_property)(const ov_core*, const char* device, const char* key,
                                char** value) = nullptr;
  OvStatus (*core_read_model)(const ov_core*, const char* path, const char* weights_path,
                              ov_model**) = nullptr;
  // Followed by pairs of texts, key and value; the count is that of the texts.
  OvStatus (*core_compile_model)(const ov_core*, const ov_model*, const char* device,
                                 std::size_t text_count, ov_compiled_model**, ...) = nullptr;

  void (*model_free)(ov_model*) = nullptr;
  OvStatus (*model_inputs_size)(const ov_model*, std::size_t*) = nullptr;
  OvStatus (*model_outputs_size)(const ov_model*, std::size_t*) = nullptr;
  OvStatus (*model_input_by_index)(const ov_model*, std::size_t, ov_output_const_port**) = nullptr;
  OvStatus (*model_output_by_index)(const ov_model*, std::size_t, ov_output_const_port**) = nullptr;
  OvStatus (*model_reshape)(const ov_model*, const std::size_t* port_indexes,
                            const OvPartialShape* shapes, std::size_t count) = nullptr;

  OvStatus (*port_any_name)(const ov_output_const_port*, char**) = nullptr;
  OvStatus (*port_partial_shape)(const ov_output_const_port*, OvPartialShape*) = nullptr;
  OvStatus (*port_element_type)(const ov_output_const_port*, OvElement*) = nullptr;
  void (*port_free)(ov_output_const_port*) = nullptr;
  OvStatus (*partial_shape_static)(std::int64_t rank, const std::int64_t* dims,
                                   OvPartialShape*) = nullptr;
  void (*partial_shape_free)(OvPartialShape*) = nullptr;

  OvStatus (*compiled_model_request)(const ov_compiled_model*, ov_infer_request**) = nullptr;
  void (*compiled_model_free)(ov_compiled_model*) = nullptr;
  OvStatus (*request_set_input)(ov_infer_request*, std::size_t, const ov_tensor*) = nullptr;
  OvStatus (*request_set_output)(ov_infer_request*, std::size_t, const ov_tensor*) = nullptr;
  OvStatus (*request_infer)(ov_infer_request*) = nullptr;
  void (*request_free)(ov_infer_request*) = nullptr;

  OvStatus (*tensor_on_memory)(OvElement, OvShape, void*, ov_tensor**) = nullptr;
  OvStatus (*tensor_byte_size)(const ov_tensor*, std::size_t*) = nullptr;
  void (*tensor_free)(ov_tensor*) = nullptr;
};

}  // namespace tocsin
