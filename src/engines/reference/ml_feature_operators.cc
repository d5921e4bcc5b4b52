// ArrayFeatureExtractor, Binarizer, Imputer and LabelEncoder of ai.onnx.ml: columns and labels as
// skl2onnx moves them. Texts are numbers here (see TextNumbers in the importer).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engines/reference/element_types.h"
#include "engines/reference/place_walk.h"
#include "engines/reference/plan_functions.h"

namespace tocsin {
namespace {

// The values of an attribute given as a list or as a tensor.
template <typename T>
std::vector<T> list_of(const NodeContext& context, const std::string& role) {
  if (const Tensor* tensor = context.tensor_attribute(role + "_tensor");
      tensor != nullptr && tensor->type() == data_type_of<T>()) {
    const std::span<const T> values = tensor->values<T>();
    return {values.begin(), values.end()};
  }
  if constexpr (std::is_same_v<T, float>) {
    return context.floats_attribute(role + "_floats");
  } else {
    std::vector<T> numbers = context.ints_attribute(role + "_int64s");
    return numbers.empty() ? context.ints_attribute(role + "_strings") : numbers;
  }
}

// Floats where a list or tensor of floats is there, else integers, which texts are too.
bool has_floats(const NodeContext& context, const std::string& role) {
  if (const Tensor* tensor = context.tensor_attribute(role + "_tensor"); tensor != nullptr)
    return tensor->type() == DataType::kFloat32;
  return context.has_attribute(role + "_floats");
}

template <typename T>
T default_of(const NodeContext& context) {
  if (const Tensor* tensor = context.tensor_attribute("default_tensor");
      tensor != nullptr && tensor->type() == data_type_of<T>() && tensor->element_count() == 1)
    return tensor->values<T>()[0];
  context.ignore_attribute("default_string");
  context.ignore_attribute("default_int64");
  context.ignore_attribute("default_float");
  if constexpr (std::is_same_v<T, float>) {
    return context.float_attribute("default_float", -0.0F);
  } else {
    // Of texts the importer has made a number; without one the default is no text of the model.
    const bool are_texts = context.has_attribute("values_strings");
    return context.int_attribute(are_texts ? "default_string" : "default_int64", -1);
  }
}

// NaN is a key like any other, and stands last.
template <typename Key>
bool is_before(Key a, Key b) noexcept {
  if constexpr (std::is_floating_point_v<Key>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a < b;
}

template <typename Key, typename Value>
Result<PlannedNode> plan_label_map(const NodeContext& context) {
  const std::vector<Key> keys = list_of<Key>(context, "keys");
  const std::vector<Value> values = list_of<Value>(context, "values");
  const Value otherwise = default_of<Value>(context);
  if (keys.size() != values.size())
    return invalid("it has " + std::to_string(keys.size()) + " keys and " +
                   std::to_string(values.size()) + " values");
  if (context.input(0).type != data_type_of<Key>())
    return invalid("its keys do not have the type of its input");
  std::vector<std::pair<Key, Value>> entries;
  for (std::size_t i = 0; i < keys.size(); ++i) entries.emplace_back(keys[i], values[i]);
  const auto before = [](const auto& a, const auto& b) { return is_before(a.first, b.first); };
  std::stable_sort(entries.begin(), entries.end(), before);
  PlannedNode planned;
  planned.outputs.push_back({data_type_of<Value>(), context.input(0).shape, {}, {}});
  planned.kernel = [entries = std::move(entries), otherwise, before,
                    count = context.input(0).element_count()](const Buffers& buffers) {
    const Key* x = buffers.input<Key>(0);
    Value* y = buffers.output<Value>(0);
    for (std::size_t i = 0; i < count; ++i) {
      const std::pair<Key, Value> wanted{x[i], otherwise};
      const auto found = std::lower_bound(entries.begin(), entries.end(), wanted, before);
      y[i] = found != entries.end() && !before(wanted, *found) ? found->second : otherwise;
    }
  };
  return planned;
}

}  // namespace

Result<PlannedNode> plan_label_encoder(const NodeContext& context) {
  if (context.has_attribute("classes_strings"))
    return unsupported("the form of version 1 of ai.onnx.ml is not supported");
  const bool from_floats = has_floats(context, "keys");
  const bool to_floats = has_floats(context, "values");
  if (from_floats)
    return to_floats ? plan_label_map<float, float>(context)
                     : plan_label_map<float, std::int64_t>(context);
  return to_floats ? plan_label_map<std::int64_t, float>(context)
                   : plan_label_map<std::int64_t, std::int64_t>(context);
}

// The columns of the last axis that the indices name; a vector counts as one row.
Result<PlannedNode> plan_array_feature_extractor(const NodeContext& context) {
  const Operand& x = context.input(0);
  const Operand& indices = context.input(1);
  if (x.rank() == 0) return invalid("its input must not be a scalar");
  if (indices.type != DataType::kInt64) return invalid("its indices must be int64");
  const std::size_t count = indices.element_count();
  Shape shape = x.rank() == 1 ? Shape{1, 1} : x.shape;
  shape.back() = static_cast<std::int64_t>(count);
  const std::int64_t columns = x.shape.back();
  const std::size_t rows = element_count_of(x.shape, 0, x.rank() - 1);
  PlannedNode planned;
  planned.outputs.push_back({x.type, std::move(shape), {}, {}});
  planned.kernel = [rows, columns, count,
                    unit = data_type_size_bytes(x.type)](const Buffers& buffers) {
    const auto* index = buffers.input<std::int64_t>(1);
    auto* y = buffers.output<std::byte>(0);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::byte* values =
          buffers.input<std::byte>(0) + row * static_cast<std::size_t>(columns) * unit;
      for (std::size_t i = 0; i < count; ++i, y += unit) {
        if (index[i] < 0 || index[i] >= columns) {
          *buffers.failure = "an index is out of range";
          return;
        }
        std::memcpy(y, values + static_cast<std::size_t>(index[i]) * unit, unit);
      }
    }
  };
  return planned;
}

Result<PlannedNode> plan_binarizer(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const float threshold = context.float_attribute("threshold", 0.0F);
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, context.input(0).shape, {}, {}});
  planned.kernel = [threshold, count = context.input(0).element_count()](const Buffers& buffers) {
    const float* x = buffers.input<float>(0);
    float* y = buffers.output<float>(0);
    for (std::size_t i = 0; i < count; ++i) y[i] = x[i] > threshold ? 1.0F : 0.0F;
  };
  return planned;
}

// One replacement for all columns, or one for each.
Result<PlannedNode> plan_imputer(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const Operand& x = context.input(0);
  if (x.rank() == 0) return invalid("its input must not be a scalar");
  const std::vector<float> values = context.floats_attribute("imputed_value_floats");
  const float replaced = context.float_attribute("replaced_value_float", 0.0F);
  const auto columns = static_cast<std::size_t>(x.shape.back());
  if (values.empty() || (values.size() != 1 && values.size() != columns))
    return invalid("it has " + std::to_string(values.size()) + " replacements for " +
                   std::to_string(columns) + " columns");
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, x.shape, {}, {}});
  planned.kernel = [values, replaced, columns, count = x.element_count()](const Buffers& buffers) {
    const float* from = buffers.input<float>(0);
    float* y = buffers.output<float>(0);
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_missing = std::isnan(replaced) ? std::isnan(from[i]) : from[i] == replaced;
      y[i] = is_missing ? values[values.size() == 1 ? 0 : i % columns] : from[i];
    }
  };
  return planned;
}

}  // namespace tocsin
