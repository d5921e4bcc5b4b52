// ONNX protobufs to typed graphs.
#include "engines/graph/onnx_import.h"

#include <onnx/onnx_pb.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engines/graph/onnx_tensor.h"

namespace tocsin {
namespace {

Error broken(const std::string& what) { return Error(ErrorCode::kFailedPrecondition, what); }

std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

class Importer {
 public:
  Importer(const ImportLimits& limits, const std::string& folder)
      : limits_(limits), external_{folder, limits.external_bytes_max} {}

  Result<Graph> import(const onnx::ModelProto& model) {
    TOCSIN_RETURN_IF_ERROR(import_opset(model));
    if (!model.has_graph()) return broken("the model has no graph");
    const onnx::GraphProto& graph = model.graph();
    if (static_cast<std::size_t>(graph.node_size()) > limits_.node_count_max)
      return Error(ErrorCode::kResourceExhausted, "the model has " +
                                                      std::to_string(graph.node_size()) +
                                                      " nodes, the limit (node_count_max) is " +
                                                      std::to_string(limits_.node_count_max));
    if (graph.sparse_initializer_size() > 0)
      return Error(ErrorCode::kUnimplemented, "sparse initialisers are not supported");
    TOCSIN_RETURN_IF_ERROR(import_initializers(graph));
    TOCSIN_RETURN_IF_ERROR(import_inputs(graph));
    for (const onnx::NodeProto& node : graph.node()) TOCSIN_RETURN_IF_ERROR(import_node(node));
    TOCSIN_RETURN_IF_ERROR(import_outputs(graph));
    return std::move(graph_);
  }

 private:
  Status import_opset(const onnx::ModelProto& model) {
    for (const auto& opset : model.opset_import())
      if (normal_domain(opset.domain()).empty()) graph_.opset = opset.version();
    if (graph_.opset < 0) return broken("the version of the operator set ai.onnx is negative");
    return {};
  }

  static Error undefined(const std::string& node, const std::string& name) {
    return broken(node + " reads '" + name +
                  "', which no input, initialiser or earlier node defines: the graph has a cycle, "
                  "is out of order or incomplete");
  }

  // Gives the name a place; an error if something before it already has the name.
  Result<ValueIndex> define(const std::string& name) {
    const auto index = static_cast<ValueIndex>(graph_.value_names.size());
    if (!values_.emplace(name, index).second) return broken("'" + name + "' is defined twice");
    graph_.value_names.push_back(name);
    return index;
  }

  Status import_initializers(const onnx::GraphProto& graph) {
    for (const onnx::TensorProto& proto : graph.initializer()) {
      const std::string what = "initialiser '" + proto.name() + "'";
      if (proto.name().empty()) return broken("an initialiser has no name");
      TOCSIN_ASSIGN_OR_RETURN(const ValueIndex value, define(proto.name()));
      Result<Tensor> tensor = import_tensor(proto, external_);
      if (!tensor.ok()) return tensor.error().within(what);
      TOCSIN_RETURN_IF_ERROR(check_rank(tensor->shape(), what));
      const Status finite = check_finite(*tensor, NonFinite::kRefuseAll);
      if (!finite.ok()) return Error(finite.error().code(), what + " " + finite.error().message());
      graph_.initializers.push_back({value, std::move(*tensor)});
    }
    return {};
  }

  Status check_rank(const Shape& shape, const std::string& what) const {
    if (shape.size() <= limits_.rank_max) return {};
    return Error(ErrorCode::kResourceExhausted, what + " has " + std::to_string(shape.size()) +
                                                    " dimensions, the limit (rank_max) is " +
                                                    std::to_string(limits_.rank_max));
  }

  Result<TensorSpec> import_spec(const onnx::ValueInfoProto& info, const std::string& what) const {
    if (!info.type().has_tensor_type())
      return Error(ErrorCode::kUnimplemented, what + " is not a tensor");
    const auto& proto = info.type().tensor_type();
    TensorSpec spec;
    spec.name = info.name();
    Result<DataType> type = import_data_type(proto.elem_type());
    if (!type.ok()) return type.error().within(what);
    spec.type = *type;
    if (!proto.has_shape()) return broken(what + " has no shape; onnx.shape_inference adds one");
    for (const auto& dimension : proto.shape().dim()) {
      if (dimension.has_dim_value() && dimension.dim_value() < 0)
        return broken(what + " has the dimension " + std::to_string(dimension.dim_value()));
      spec.shape.push_back(dimension.has_dim_value() ? dimension.dim_value() : kFreeDimension);
    }
    TOCSIN_RETURN_IF_ERROR(check_rank(spec.shape, what));
    return spec;
  }

  Status import_inputs(const onnx::GraphProto& graph) {
    for (const onnx::ValueInfoProto& info : graph.input()) {
      // Before IR version 4 each initialiser is an input too.
      if (values_.contains(info.name()) && !input_names_.contains(info.name())) continue;
      const std::string what = "input '" + info.name() + "'";
      if (info.name().empty()) return broken("an input has no name");
      TOCSIN_ASSIGN_OR_RETURN(const ValueIndex value, define(info.name()));
      input_names_.insert(info.name());
      TOCSIN_ASSIGN_OR_RETURN(TensorSpec spec, import_spec(info, what));
      graph_.inputs.push_back(value);
      graph_.signature.inputs.push_back(std::move(spec));
    }
    return {};
  }

  Status import_outputs(const onnx::GraphProto& graph) {
    for (const onnx::ValueInfoProto& info : graph.output()) {
      const std::string what = "output '" + info.name() + "'";
      const auto found = values_.find(info.name());
      if (found == values_.end()) return broken(what + " is computed by no node");
      TOCSIN_ASSIGN_OR_RETURN(TensorSpec spec, import_spec(info, what));
      graph_.outputs.push_back(found->second);
      graph_.signature.outputs.push_back(std::move(spec));
    }
    if (graph_.outputs.empty()) return broken("the model has no outputs");
    return {};
  }

  Status import_node(const onnx::NodeProto& proto) {
    GraphNode node;
    node.name = proto.name();
    node.op_type = proto.op_type();
    node.domain = normal_domain(proto.domain());
    const std::string what = node_text(node, graph_.nodes.size());
    if (node.op_type.empty()) return broken(what + " has no operator");
    if (node.domain.empty() && graph_.opset == 0)
      return broken(what + " is of the operator set ai.onnx, of which the model names no version");
    for (const std::string& name : proto.input()) {
      const auto found = values_.find(name);
      if (!name.empty() && found == values_.end()) return undefined(what, name);
      node.inputs.push_back(name.empty() ? kNoValue : found->second);
    }
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      Result<Attribute> imported = import_attribute(attribute);
      if (!imported.ok())
        return imported.error().within(what + ", attribute '" + attribute.name() + "'");
      const Tensor* tensor = std::get_if<Tensor>(&imported->value);
      if (tensor != nullptr && node.domain.empty()) {
        const Status finite = check_finite(*tensor, NonFinite::kAllowInfinity);
        if (!finite.ok())
          return Error(finite.error().code(), what + " " + finite.error().message());
      }
      node.attributes.push_back(std::move(*imported));
    }
    for (const std::string& name : proto.output()) {
      ValueIndex value = kNoValue;
      if (!name.empty()) {
        Result<ValueIndex> defined = define(name);
        if (!defined.ok()) return defined.error().within(what);
        value = *defined;
      }
      node.outputs.push_back(value);
    }
    graph_.nodes.push_back(std::move(node));
    return {};
  }

  Result<Attribute> import_attribute(const onnx::AttributeProto& proto) {
    Attribute attribute{proto.name(), OpaqueAttribute{}};
    switch (proto.type()) {
      case onnx::AttributeProto::FLOAT:
        attribute.value = proto.f();
        break;
      case onnx::AttributeProto::INT:
        attribute.value = std::int64_t{proto.i()};
        break;
      case onnx::AttributeProto::STRING:
        attribute.value = proto.s();
        break;
      case onnx::AttributeProto::FLOATS:
        attribute.value = std::vector<float>(proto.floats().begin(), proto.floats().end());
        break;
      case onnx::AttributeProto::INTS:
        attribute.value = std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
        break;
      case onnx::AttributeProto::STRINGS:
        attribute.value = std::vector<std::string>(proto.strings().begin(), proto.strings().end());
        break;
      case onnx::AttributeProto::TENSOR: {
        TOCSIN_ASSIGN_OR_RETURN(Tensor tensor, import_tensor(proto.t(), external_));
        TOCSIN_RETURN_IF_ERROR(check_rank(tensor.shape(), "the tensor"));
        attribute.value = std::move(tensor);
        break;
      }
      default:
        attribute.value = OpaqueAttribute{onnx::AttributeProto_AttributeType_Name(proto.type())};
        break;
    }
    return attribute;
  }

  const ImportLimits& limits_;
  ExternalData external_;
  Graph graph_;
  std::unordered_map<std::string, ValueIndex> values_;
  std::unordered_set<std::string> input_names_;
};

}  // namespace

Result<Graph> import_onnx(std::span<const std::byte> bytes, const std::string& folder,
                          const ImportLimits& limits) {
  if (bytes.size() > limits.file_bytes_max ||
      bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return Error(ErrorCode::kResourceExhausted, "the model has " + std::to_string(bytes.size()) +
                                                    " bytes, the limit (file_bytes_max) is " +
                                                    std::to_string(limits.file_bytes_max));
  try {
    onnx::ModelProto model;
    if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      return Error(ErrorCode::kDataLoss, "not an ONNX model, or cut short");
    return Importer(limits, folder).import(model);
  } catch (const std::exception& exception) {
    return Error(ErrorCode::kInternal, std::string("importing the model: ") + exception.what());
  }
}

Result<Graph> import_onnx_file(const std::string& path, const ImportLimits& limits) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return Error(ErrorCode::kNotFound, path + ": there is no such model file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > limits.file_bytes_max)
    return Error(ErrorCode::kResourceExhausted, path + ": the model has " + std::to_string(size) +
                                                    " bytes, the limit (file_bytes_max) is " +
                                                    std::to_string(limits.file_bytes_max));
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!file) return Error(ErrorCode::kDataLoss, path + ": cannot be read");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Result<Graph> graph = import_onnx(bytes, folder.empty() ? "." : folder, limits);
  if (!graph.ok()) return graph.error().within(path);
  return graph;
}

}  // namespace tocsin
