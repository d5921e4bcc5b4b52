// ONNX tensors to ours: raw, typed and external data, each checked against the dimensions.
#include "engines/graph/onnx_tensor.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "kernels/half_float.h"

namespace tocsin {
namespace {

using onnx::TensorProto;

Error broken(const std::string& what) { return Error(ErrorCode::kFailedPrecondition, what); }

Error size_mismatch(const std::string& field, std::size_t found, const Tensor& tensor) {
  return broken("dims " + shape_text(tensor.shape()) + " need " +
                std::to_string(tensor.element_count()) + " " +
                std::string(data_type_name(tensor.type())) + " values, but " + field + " holds " +
                std::to_string(found));
}

template <typename T, typename Field>
Status copy_typed(const Field& field, const char* name, Tensor& tensor) {
  const auto count = static_cast<std::size_t>(field.size());
  if (count != tensor.element_count()) return size_mismatch(name, count, tensor);
  const std::span<T> values = tensor.mutable_values<T>();
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(field.Get(static_cast<int>(i)));
  return {};
}

// How many bytes a value takes in raw and external data.
std::size_t stored_size_bytes(const TensorProto& proto, DataType type) {
  return is_half_float(proto.data_type()) ? sizeof(std::uint16_t) : data_type_size_bytes(type);
}

// FP16 and BF16 become FP32, which holds all of their values.
float widened(const TensorProto& proto, std::uint16_t bits) {
  return proto.data_type() == TensorProto::FLOAT16 ? from_float16(bits) : from_bfloat16(bits);
}

Status copy_bytes(const TensorProto& proto, std::span<const char> bytes, Tensor& tensor) {
  const std::size_t needed = tensor.element_count() * stored_size_bytes(proto, tensor.type());
  if (bytes.size() != needed)
    return broken("dims " + shape_text(tensor.shape()) + " need " + std::to_string(needed) +
                  " bytes, but there are " + std::to_string(bytes.size()));
  if (is_half_float(proto.data_type())) {
    const std::span<float> values = tensor.mutable_values<float>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * sizeof(bits), sizeof(bits));
      values[i] = widened(proto, bits);
    }
  } else if (tensor.type() == DataType::kBool) {
    // Any byte but 0 and 1 would be no bool at all.
    const std::span<bool> values = tensor.mutable_values<bool>();
    std::transform(bytes.begin(), bytes.end(), values.begin(), [](char byte) { return byte != 0; });
  } else if (!bytes.empty()) {
    std::memcpy(tensor.mutable_data(), bytes.data(), bytes.size());
  }
  return {};
}

Result<std::size_t> parse_size(const std::string& key, const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return broken("external " + key + " '" + text + "' is not a number");
  return value;
}

// The file inside the folder, symbolic links resolved; an error if it leads out of it.
Result<std::filesystem::path> external_path(const ExternalData& external,
                                            const std::string& location) {
  if (external.folder.empty())
    return broken("its data is external ('" + location + "'), which is not allowed here");
  std::error_code error;
  const auto root = std::filesystem::weakly_canonical(external.folder, error);
  if (error) return broken("external folder '" + external.folder + "': " + error.message());
  const std::filesystem::path relative(location);
  const auto path = std::filesystem::weakly_canonical(root / relative, error);
  const bool inside =
      !error && !relative.empty() && !relative.is_absolute() &&
      std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
  if (!inside) return broken("external data '" + location + "' is outside the model's folder");
  if (!std::filesystem::is_regular_file(path, error))
    return broken("external data '" + location + "' is not a file in the model's folder");
  return path;
}

// The bytes of a tensor of that shape and size, whose data is in a file of its own.
Result<std::vector<char>> read_external(const TensorProto& proto, const ExternalData& external,
                                        const Shape& shape, std::size_t size_bytes) {
  std::string location;
  std::size_t offset = 0;
  std::size_t length = size_bytes;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") {
      TOCSIN_ASSIGN_OR_RETURN(offset, parse_size(entry.key(), entry.value()));
    }
    if (entry.key() == "length") {
      TOCSIN_ASSIGN_OR_RETURN(length, parse_size(entry.key(), entry.value()));
    }
  }
  if (length != size_bytes)
    return broken("dims " + shape_text(shape) + " need " + std::to_string(size_bytes) +
                  " bytes, but external length is " + std::to_string(length));
  TOCSIN_ASSIGN_OR_RETURN(const std::filesystem::path path, external_path(external, location));
  std::error_code error;
  const std::uintmax_t file_bytes = std::filesystem::file_size(path, error);
  if (error || offset > file_bytes || length > file_bytes - offset)
    return broken("external data '" + location + "' is too short: " + std::to_string(file_bytes) +
                  " bytes, needed " + std::to_string(length) + " from " + std::to_string(offset));
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(length);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(length));
  if (!file) return broken("external data '" + location + "' cannot be read");
  return bytes;
}

Status copy_halves(const TensorProto& proto, Tensor& tensor) {
  const std::span<float> values = tensor.mutable_values<float>();
  const auto count = static_cast<std::size_t>(proto.int32_data_size());
  if (count != values.size()) return size_mismatch("int32_data", count, tensor);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = widened(proto, static_cast<std::uint16_t>(proto.int32_data(static_cast<int>(i))));
  return {};
}

Status copy_values(const TensorProto& proto, Tensor& tensor) {
  if (proto.has_raw_data())
    return copy_bytes(proto, {proto.raw_data().data(), proto.raw_data().size()}, tensor);
  if (is_half_float(proto.data_type())) return copy_halves(proto, tensor);
  switch (tensor.type()) {
    case DataType::kFloat32:
      return copy_typed<float>(proto.float_data(), "float_data", tensor);
    case DataType::kFloat64:
      return copy_typed<double>(proto.double_data(), "double_data", tensor);
    case DataType::kInt64:
      return copy_typed<std::int64_t>(proto.int64_data(), "int64_data", tensor);
    case DataType::kInt32:
      return copy_typed<std::int32_t>(proto.int32_data(), "int32_data", tensor);
    case DataType::kInt8:
      return copy_typed<std::int8_t>(proto.int32_data(), "int32_data", tensor);
    case DataType::kUint8:
      return copy_typed<std::uint8_t>(proto.int32_data(), "int32_data", tensor);
    case DataType::kInt16:
      return copy_typed<std::int16_t>(proto.int32_data(), "int32_data", tensor);
    case DataType::kUint16:
      return copy_typed<std::uint16_t>(proto.int32_data(), "int32_data", tensor);
    case DataType::kUint32:
      return copy_typed<std::uint32_t>(proto.uint64_data(), "uint64_data", tensor);
    case DataType::kUint64:
      return copy_typed<std::uint64_t>(proto.uint64_data(), "uint64_data", tensor);
    default:
      return copy_typed<bool>(proto.int32_data(), "int32_data", tensor);
  }
}

template <typename T>
bool is_mask(std::span<const T> values) {
  return std::ranges::all_of(
      values, [](T value) { return value == 0 || (std::isinf(value) && value < 0); });
}

template <typename T>
Status check_finite_values(std::span<const T> values, NonFinite rule) {
  if (rule == NonFinite::kAllowMask && is_mask(values)) return {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    if (std::isinf(values[i]) && rule == NonFinite::kAllowInfinity) continue;
    return broken(std::string(std::isnan(values[i]) ? "has NaN" : "has an infinity") +
                  " at element " + std::to_string(i));
  }
  return {};
}

}  // namespace

Result<DataType> import_data_type(int onnx_type) {
  switch (onnx_type) {
    case TensorProto::FLOAT:
      return DataType::kFloat32;
    case TensorProto::DOUBLE:
      return DataType::kFloat64;
    case TensorProto::INT64:
      return DataType::kInt64;
    case TensorProto::INT32:
      return DataType::kInt32;
    case TensorProto::BOOL:
      return DataType::kBool;
    case TensorProto::INT8:
      return DataType::kInt8;
    case TensorProto::UINT8:
      return DataType::kUint8;
    case TensorProto::INT16:
      return DataType::kInt16;
    case TensorProto::UINT16:
      return DataType::kUint16;
    case TensorProto::UINT32:
      return DataType::kUint32;
    case TensorProto::UINT64:
      return DataType::kUint64;
    default:
      break;
  }
  const std::string name =
      onnx::TensorProto_DataType_IsValid(onnx_type)
          ? onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(onnx_type))
          : std::to_string(onnx_type);
  return Error(ErrorCode::kUnimplemented,
               "element type " + name +
                   " is not supported (FLOAT, DOUBLE, BOOL and the integers of 8 to 64 bits are)");
}

bool is_half_float(int onnx_type) noexcept {
  return onnx_type == TensorProto::FLOAT16 || onnx_type == TensorProto::BFLOAT16;
}

Result<Tensor> import_tensor(const TensorProto& proto, ExternalData& external) {
  DataType type = DataType::kFloat32;
  if (!is_half_float(proto.data_type())) {
    TOCSIN_ASSIGN_OR_RETURN(type, import_data_type(proto.data_type()));
  }
  Shape shape(proto.dims().begin(), proto.dims().end());
  const std::optional<std::size_t> count = checked_element_count(shape);
  if (!count) return broken("dims " + shape_text(shape) + " are negative or too large");
  if (proto.has_segment()) return broken("its data is stored in segments, which is not supported");
  // Dims are checked against the data there is before memory is taken for them.
  if (proto.data_location() == TensorProto::EXTERNAL) {
    const std::size_t size_bytes = *count * stored_size_bytes(proto, type);
    if (size_bytes > external.bytes_left)
      return Error(ErrorCode::kResourceExhausted,
                   "external data is over the limit (external_bytes_max)");
    TOCSIN_ASSIGN_OR_RETURN(const std::vector<char> bytes,
                            read_external(proto, external, shape, size_bytes));
    external.bytes_left -= size_bytes;
    Tensor tensor(type, std::move(shape));
    TOCSIN_RETURN_IF_ERROR(copy_bytes(proto, bytes, tensor));
    return tensor;
  }
  if (*count > proto.ByteSizeLong())
    return broken("dims " + shape_text(shape) + " need more data than the tensor has");
  Tensor tensor(type, std::move(shape));
  TOCSIN_RETURN_IF_ERROR(copy_values(proto, tensor));
  return tensor;
}

Status check_finite(const Tensor& tensor, NonFinite rule) {
  if (tensor.type() == DataType::kFloat32) return check_finite_values(tensor.values<float>(), rule);
  if (tensor.type() == DataType::kFloat64)
    return check_finite_values(tensor.values<double>(), rule);
  return {};
}

}  // namespace tocsin
