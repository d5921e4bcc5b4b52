// Node by node, as PyTorch exports such a model.
#include "engines/graph/shape_model.h"

#include <onnx/onnx_pb.h>

#include <array>
#include <cmath>
#include <fstream>
#include <random>
#include <utility>
#include <vector>

namespace tocsin {
namespace {

constexpr std::array<std::pair<std::string_view, ModelShape>, 3> kShapes = {{
    {"S2x100", {50, 100, 2, 100}},
    {"S3x200", {100, 250, 3, 200}},
    {"S4x1000", {100, 500, 4, 1000}},
}};

class ShapeModelWriter {
 public:
  ShapeModelWriter(const ModelShape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(17);
    graph_ = model_.mutable_graph();
    graph_->set_name("stack");
  }

  onnx::ModelProto write() {
    add_value(*graph_->add_input(), "x", {-1, -1, shape_.features});
    add_node("Transpose", {"x"}, "x.by_time");
    add_ints(*graph_->mutable_node(0)->add_attribute(), "perm", {1, 0, 2});
    add_tensor("direction_axis", {1});
    std::string rows = "x.by_time";
    for (std::int64_t layer = 0; layer < shape_.layers; ++layer) rows = add_layer(layer, rows);
    add_tensor("last", {});
    onnx::NodeProto& last = add_node("Gather", {rows, "last"}, "h.last");
    add_int(*last.add_attribute(), "axis", 0);
    add_weights("head.w", {shape_.units, 1});
    add_weights("head.b", {1});
    add_node("Gemm", {"h.last", "head.w", "head.b"}, "logit");
    add_node("Sigmoid", {"logit"}, "y");
    add_value(*graph_->add_output(), "y", {-1, 1});
    return std::move(model_);
  }

 private:
  std::string add_layer(std::int64_t layer, const std::string& rows) {
    const std::string name = "layer" + std::to_string(layer);
    const std::int64_t inputs = layer == 0 ? shape_.features : shape_.units;
    add_weights(name + ".w", {1, 4 * shape_.units, inputs});
    add_weights(name + ".r", {1, 4 * shape_.units, shape_.units});
    add_weights(name + ".b", {1, 8 * shape_.units});
    onnx::NodeProto& node =
        add_node("LSTM", {rows, name + ".w", name + ".r", name + ".b"}, name + ".y");
    add_int(*node.add_attribute(), "hidden_size", shape_.units);
    add_node("Squeeze", {name + ".y", "direction_axis"}, name + ".rows");
    return name + ".rows";
  }

  onnx::NodeProto& add_node(const std::string& op_type, const std::vector<std::string>& inputs,
                            const std::string& output) {
    onnx::NodeProto& node = *graph_->add_node();
    node.set_op_type(op_type);
    node.set_name(output);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
  }

  static void add_int(onnx::AttributeProto& attribute, const std::string& name,
                      std::int64_t value) {
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  static void add_ints(onnx::AttributeProto& attribute, const std::string& name,
                       const std::vector<std::int64_t>& values) {
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) attribute.add_ints(value);
  }

  // The integer tensors are [1] with the value 1, and a scalar -1.
  void add_tensor(const std::string& name, const std::vector<std::int64_t>& shape) {
    onnx::TensorProto& tensor = *graph_->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT64);
    for (const std::int64_t size : shape) tensor.add_dims(size);
    tensor.add_int64_data(shape.empty() ? -1 : 1);
  }

  void add_weights(const std::string& name, const std::vector<std::int64_t>& shape) {
    onnx::TensorProto& tensor = *graph_->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
      tensor.add_dims(size);
      count *= size;
    }
    const double bound = 1.0 / std::sqrt(static_cast<double>(shape_.units));
    std::uniform_real_distribution<double> uniform(-bound, bound);
    for (std::int64_t i = 0; i < count; ++i)
      tensor.add_float_data(static_cast<float>(uniform(random_)));
  }

  static void add_value(onnx::ValueInfoProto& value, const std::string& name,
                        const std::vector<std::int64_t>& shape) {
    value.set_name(name);
    auto& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (const std::int64_t size : shape) {
      auto& dimension = *type.mutable_shape()->add_dim();
      if (size >= 0) dimension.set_dim_value(size);
    }
  }

  const ModelShape& shape_;
  std::mt19937_64 random_;
  onnx::ModelProto model_;
  onnx::GraphProto* graph_ = nullptr;
};

}  // namespace

Result<ModelShape> model_shape_of(std::string_view name) {
  std::string names;
  for (const auto& [known, shape] : kShapes) {
    if (known == name) return shape;
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  return Error(ErrorCode::kInvalidArgument,
               "no shape is named '" + std::string(name) + "'; the shapes are " + names);
}

Status write_shape_model(const ModelShape& shape, std::uint64_t seed, const std::string& path) {
  const onnx::ModelProto model = ShapeModelWriter(shape, seed).write();
  std::ofstream file(path, std::ios::binary);
  if (!model.SerializeToOstream(&file) || !file.flush())
    return Error(ErrorCode::kUnavailable, path + ": could not be written");
  return {};
}

ActivationScales shape_model_scales(const ModelShape& shape) {
  ActivationScales scales = {{"x.by_time", 4.5F / 127.0F}, {"h.last", 1.0F / 127.0F}};
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const std::string name = "layer" + std::to_string(layer);
    scales[name + ".y"] = 1.0F / 127.0F;
    scales[name + ".rows"] = 1.0F / 127.0F;
  }
  return scales;
}

}  // namespace tocsin
