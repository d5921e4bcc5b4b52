// ONNX tensors to ours. The protobuf type is only declared here: its header stays in .cc files.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "engines/graph/tensor.h"

namespace onnx {
class TensorProto;
}

namespace tocsin {

// Where a model's external tensors may be, and how many bytes of them may still be read.
struct ExternalData {
  std::string folder;  // empty: none are allowed
  std::size_t bytes_left = 0;
};

// The error says what is wrong with the tensor; the caller says which one it is. Tensors of 16-bit
// floats become float32.
Result<Tensor> import_tensor(const onnx::TensorProto& proto, ExternalData& external);

// FLOAT16 or BFLOAT16.
bool is_half_float(int onnx_type) noexcept;

// ONNX's number of an element type to ours; an error for 16-bit floats, which have none.
Result<DataType> import_data_type(int onnx_type);

// kAllowMask: -infinity, where all else is 0 (what is added to scores that must not be attended).
enum class NonFinite { kAllowMask, kAllowInfinity };
// "has NaN at element 5"
Status check_finite(const Tensor& tensor, NonFinite rule);

}  // namespace tocsin
