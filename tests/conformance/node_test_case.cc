// Cases from the archive's files, and the comparison of tensors.
#include "conformance/node_test_case.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "conformance/archive_files.h"
#include "engines/graph/onnx_tensor.h"

namespace tocsin {
namespace {

// The stored outputs are NumPy's in float32 or float64, rounded.
constexpr double kRelativeTolerance = 1e-5;
constexpr double kAbsoluteTolerance = 2e-6;

using Files = std::map<std::string, std::vector<std::byte>>;

bool parse(google::protobuf::MessageLite& message, const std::vector<std::byte>& content) {
  return message.ParseFromArray(content.data(), static_cast<int>(content.size()));
}

// input_0.pb, input_1.pb, ... in the folder.
Result<std::vector<onnx::TensorProto>> read_values(const Files& files, const std::string& prefix) {
  std::vector<onnx::TensorProto> values;
  for (int i = 0;; ++i) {
    const std::string path = prefix + std::to_string(i) + ".pb";
    const auto found = files.find(path);
    if (found == files.end()) return values;
    onnx::TensorProto proto;
    if (!parse(proto, found->second)) return Error(ErrorCode::kDataLoss, path + " is cut short");
    values.push_back(std::move(proto));
  }
}

bool has_only_tensors(const onnx::GraphProto& graph) {
  const auto is_tensor = [](const onnx::ValueInfoProto& value) {
    return value.type().has_tensor_type();
  };
  return std::ranges::all_of(graph.input(), is_tensor) &&
         std::ranges::all_of(graph.output(), is_tensor);
}

template <typename T>
std::optional<std::string> values_difference(const Tensor& actual, const Tensor& expected) {
  for (std::size_t i = 0; i < expected.element_count(); ++i) {
    const T a = actual.values<T>()[i];
    const T e = expected.values<T>()[i];
    bool agrees = a == e;
    if constexpr (std::is_floating_point_v<T>) {
      const auto distance = std::fabs(static_cast<double>(a) - static_cast<double>(e));
      agrees =
          agrees || (std::isnan(a) && std::isnan(e)) ||
          distance <= kAbsoluteTolerance + kRelativeTolerance * std::fabs(static_cast<double>(e));
    }
    if (!agrees)
      return "element " + std::to_string(i) + " is " + std::to_string(a) + ", expected " +
             std::to_string(e);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<NodeTestCase>> read_node_tests(const std::string& archive_path) {
  TOCSIN_ASSIGN_OR_RETURN(const Files files, read_archive_files(archive_path));
  std::vector<NodeTestCase> tests;
  for (const auto& [path, content] : files) {
    const std::size_t name_end = path.rfind("/model.onnx");
    if (name_end == std::string::npos) continue;
    NodeTestCase test;
    test.name = path.substr(0, name_end);
    if (!parse(test.model, content)) return Error(ErrorCode::kDataLoss, path + " is cut short");
    const auto& nodes = test.model.graph().node();
    test.operator_name = nodes.size() == 1 ? nodes[0].op_type() : "(several)";
    const std::string data = test.name + "/test_data_set_0/";
    test.has_other_values = !has_only_tensors(test.model.graph());
    if (!test.has_other_values) {
      TOCSIN_ASSIGN_OR_RETURN(test.inputs, read_values(files, data + "input_"));
      TOCSIN_ASSIGN_OR_RETURN(test.outputs, read_values(files, data + "output_"));
    }
    tests.push_back(std::move(test));
  }
  return tests;
}

onnx::ModelProto bound_model(const NodeTestCase& test, std::size_t constants_from) {
  onnx::ModelProto model = test.model;
  onnx::GraphProto& graph = *model.mutable_graph();
  for (std::size_t i = 0; i < test.inputs.size(); ++i) {
    onnx::ValueInfoProto& input = *graph.mutable_input(static_cast<int>(i));
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.clear_dim();
    for (const std::int64_t size : test.inputs[i].dims()) shape.add_dim()->set_dim_value(size);
    if (i < constants_from) continue;
    onnx::TensorProto& constant = *graph.add_initializer();
    constant = test.inputs[i];
    constant.set_name(input.name());
  }
  while (graph.input_size() > static_cast<int>(constants_from)) graph.mutable_input()->RemoveLast();
  return model;
}

Result<std::vector<Tensor>> read_tensors(const std::vector<onnx::TensorProto>& protos) {
  std::vector<Tensor> tensors;
  for (const onnx::TensorProto& proto : protos) {
    ExternalData none;
    TOCSIN_ASSIGN_OR_RETURN(Tensor tensor, import_tensor(proto, none));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::optional<std::string> difference(const Tensor& actual, const Tensor& expected) {
  switch (expected.type()) {
    case DataType::kFloat32:
      return values_difference<float>(actual, expected);
    case DataType::kFloat64:
      return values_difference<double>(actual, expected);
    case DataType::kInt64:
      return values_difference<std::int64_t>(actual, expected);
    case DataType::kInt32:
      return values_difference<std::int32_t>(actual, expected);
    case DataType::kBool:
      return values_difference<bool>(actual, expected);
    case DataType::kInt8:
      return values_difference<std::int8_t>(actual, expected);
    case DataType::kUint8:
      return values_difference<std::uint8_t>(actual, expected);
    case DataType::kInt16:
      return values_difference<std::int16_t>(actual, expected);
    case DataType::kUint16:
      return values_difference<std::uint16_t>(actual, expected);
    case DataType::kUint32:
      return values_difference<std::uint32_t>(actual, expected);
    case DataType::kUint64:
      return values_difference<std::uint64_t>(actual, expected);
    case DataType::kString:
      break;
  }
  return "a type that has no comparison";
}

}  // namespace tocsin
