// Picks the instance of a template for an element type that is known only when a node is planned.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "engines/reference/operator.h"

namespace tocsin {

inline Error unsupported_type(DataType type) {
  return unsupported("element type " + std::string(data_type_name(type)) + " is not supported");
}

// function.operator()<T>() for the number type; it returns a Result<PlannedNode>.
template <typename Function>
Result<PlannedNode> with_number_type(DataType type, Function&& function) {
  switch (type) {
    case DataType::kFloat32:
      return function.template operator()<float>();
    case DataType::kFloat64:
      return function.template operator()<double>();
    case DataType::kInt64:
      return function.template operator()<std::int64_t>();
    case DataType::kInt32:
      return function.template operator()<std::int32_t>();
    case DataType::kInt8:
      return function.template operator()<std::int8_t>();
    case DataType::kUint8:
      return function.template operator()<std::uint8_t>();
    case DataType::kInt16:
      return function.template operator()<std::int16_t>();
    case DataType::kUint16:
      return function.template operator()<std::uint16_t>();
    case DataType::kUint32:
      return function.template operator()<std::uint32_t>();
    case DataType::kUint64:
      return function.template operator()<std::uint64_t>();
    default:
      return unsupported_type(type);
  }
}

// function.operator()<T>() for the two types an index may have.
template <typename Function>
Result<PlannedNode> with_index_type(DataType type, Function&& function) {
  if (type == DataType::kInt64) return function.template operator()<std::int64_t>();
  if (type == DataType::kInt32) return function.template operator()<std::int32_t>();
  return invalid("its indices must be int64 or int32, not " + std::string(data_type_name(type)));
}

// function.operator()<Unit>() with an unsigned integer as large as the type, for operators that
// only move values.
template <typename Function>
auto with_unit_of(DataType type, Function&& function) {
  switch (data_type_size_bytes(type)) {
    case 8:
      return function.template operator()<std::uint64_t>();
    case 4:
      return function.template operator()<std::uint32_t>();
    case 2:
      return function.template operator()<std::uint16_t>();
    default:
      return function.template operator()<std::uint8_t>();
  }
}

}  // namespace tocsin
