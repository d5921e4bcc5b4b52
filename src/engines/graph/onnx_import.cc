// ONNX protobufs to typed graphs.
#include "engines/graph/onnx_import.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
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

// Texts are int64 here: each is its number, counted from 0 in the order in which the model names
// them first. So comparing and looking up work, and a classifier's label is its place in the list.
class TextNumbers {
 public:
  std::int64_t number_of(const std::string& text) {
    return numbers_.try_emplace(text, static_cast<std::int64_t>(numbers_.size())).first->second;
  }
  template <typename Texts>
  std::vector<std::int64_t> numbers_of(const Texts& texts) {
    std::vector<std::int64_t> numbers;
    for (const std::string& text : texts) numbers.push_back(number_of(text));
    return numbers;
  }

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
};

// What all graphs of one model share.
struct ModelContext {
  ModelContext(const ImportLimits& import_limits, const std::string& folder)
      : limits(import_limits), external{folder, import_limits.external_bytes_max} {}

  const ImportLimits& limits;
  ExternalData external;
  TextNumbers texts;
  std::int64_t opset = 0;      // of ai.onnx
  std::size_t node_count = 0;  // of all graphs so far
};

// Imports one graph. A name that the graph does not define is looked for in the graphs around it,
// where only what stands before the node of the subgraph is defined yet.
class GraphImporter {
 public:
  GraphImporter(ModelContext& model, GraphImporter* enclosing)
      : model_(model),
        enclosing_(enclosing),
        depth_(enclosing == nullptr ? 0 : enclosing->depth_ + 1) {}

  Result<Graph> import(const onnx::GraphProto& graph) {
    graph_.opset = model_.opset;
    TOCSIN_RETURN_IF_ERROR(check_size(graph));
    TOCSIN_RETURN_IF_ERROR(import_initializers(graph));
    TOCSIN_RETURN_IF_ERROR(import_inputs(graph));
    for (const onnx::NodeProto& node : graph.node()) TOCSIN_RETURN_IF_ERROR(import_node(node));
    TOCSIN_RETURN_IF_ERROR(import_outputs(graph));
    graph_.inputs.insert(graph_.inputs.end(), captured_inputs_.begin(), captured_inputs_.end());
    return std::move(graph_);
  }

 private:
  bool is_subgraph() const { return enclosing_ != nullptr; }

  Status check_size(const onnx::GraphProto& graph) {
    model_.node_count += static_cast<std::size_t>(graph.node_size());
    if (model_.node_count > model_.limits.node_count_max)
      return Error(ErrorCode::kResourceExhausted, "the model has " +
                                                      std::to_string(model_.node_count) +
                                                      " nodes, the limit (node_count_max) is " +
                                                      std::to_string(model_.limits.node_count_max));
    if (depth_ > model_.limits.subgraph_depth_max)
      return Error(ErrorCode::kResourceExhausted,
                   "subgraphs stand in each other " + std::to_string(depth_) +
                       " deep, the limit (subgraph_depth_max) is " +
                       std::to_string(model_.limits.subgraph_depth_max));
    if (graph.sparse_initializer_size() > 0)
      return Error(ErrorCode::kUnimplemented, "sparse initialisers are not supported");
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

  // The value of that name, captured from the graphs around this one if need be.
  std::optional<ValueIndex> find(const std::string& name) {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    if (enclosing_ == nullptr) return std::nullopt;
    const std::optional<ValueIndex> outside = enclosing_->find(name);
    if (!outside) return std::nullopt;
    const auto index = static_cast<ValueIndex>(graph_.value_names.size());
    values_.emplace(name, index);
    graph_.value_names.push_back(name);
    graph_.captured_values.push_back(*outside);
    captured_inputs_.push_back(index);
    return index;
  }

  Status import_initializers(const onnx::GraphProto& graph) {
    for (const onnx::TensorProto& proto : graph.initializer()) {
      const std::string what = "initialiser '" + proto.name() + "'";
      if (proto.name().empty()) return broken("an initialiser has no name");
      TOCSIN_ASSIGN_OR_RETURN(const ValueIndex value, define(proto.name()));
      Result<Tensor> tensor = import_any_tensor(proto);
      if (!tensor.ok()) return tensor.error().within(what);
      TOCSIN_RETURN_IF_ERROR(check_rank(tensor->shape(), what));
      const Status finite = check_finite(*tensor, NonFinite::kAllowMask);
      if (!finite.ok()) return Error(finite.error().code(), what + " " + finite.error().message());
      graph_.initializers.push_back({value, std::move(*tensor)});
    }
    return {};
  }

  Result<Tensor> import_any_tensor(const onnx::TensorProto& proto) {
    if (proto.data_type() != onnx::TensorProto::STRING)
      return import_tensor(proto, model_.external);
    const Shape shape(proto.dims().begin(), proto.dims().end());
    const std::vector<std::int64_t> numbers = model_.texts.numbers_of(proto.string_data());
    if (checked_element_count(shape) != numbers.size())
      return broken("dims " + shape_text(shape) + " do not fit its " +
                    std::to_string(numbers.size()) + " texts");
    return Tensor::of<std::int64_t>(shape, numbers);
  }

  Status check_rank(const Shape& shape, const std::string& what) const {
    if (shape.size() <= model_.limits.rank_max) return {};
    return Error(ErrorCode::kResourceExhausted, what + " has " + std::to_string(shape.size()) +
                                                    " dimensions, the limit (rank_max) is " +
                                                    std::to_string(model_.limits.rank_max));
  }

  // 16-bit floats are FP32 inside a model, and texts are numbers inside it and where they come out.
  Result<DataType> value_type(int onnx_type, bool is_model_input) const {
    if (onnx_type == onnx::TensorProto::STRING && !is_model_input) return DataType::kInt64;
    if (is_half_float(onnx_type) && is_subgraph()) return DataType::kFloat32;
    if (is_half_float(onnx_type))
      return Error(
          ErrorCode::kUnimplemented,
          "element type " +
              onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(onnx_type)) +
              " is supported inside a model only; export it with inputs and outputs of "
              "type FLOAT");
    return import_data_type(onnx_type);
  }

  // Inside a model types and shapes may be left out: they follow from the inputs.
  Result<TensorSpec> import_spec(const onnx::ValueInfoProto& info, const std::string& what,
                                 bool is_input) const {
    TensorSpec spec;
    spec.name = info.name();
    if (is_subgraph() && info.type().value_case() == onnx::TypeProto::VALUE_NOT_SET) return spec;
    if (!info.type().has_tensor_type())
      return Error(ErrorCode::kUnimplemented, what + " is not a tensor");
    const auto& proto = info.type().tensor_type();
    if (is_subgraph() && proto.elem_type() == onnx::TensorProto::UNDEFINED) return spec;
    Result<DataType> type = value_type(proto.elem_type(), is_input && !is_subgraph());
    if (!type.ok()) return type.error().within(what);
    spec.type = *type;
    if (!proto.has_shape() && !is_subgraph())
      return broken(what + " has no shape; onnx.shape_inference adds one");
    for (const auto& dimension : proto.shape().dim()) {
      if (dimension.has_dim_value() && dimension.dim_value() < 0)
        return broken(what + " has the dimension " + std::to_string(dimension.dim_value()));
      spec.shape.push_back(dimension.has_dim_value() ? dimension.dim_value() : kFreeDimension);
    }
    TOCSIN_RETURN_IF_ERROR(check_rank(spec.shape, what));
    return spec;
  }

  static std::vector<std::string> dimension_names(const onnx::ValueInfoProto& info) {
    std::vector<std::string> names;
    for (const auto& dimension : info.type().tensor_type().shape().dim())
      names.push_back(dimension.dim_param());
    return names;
  }

  Status import_inputs(const onnx::GraphProto& graph) {
    for (const onnx::ValueInfoProto& info : graph.input()) {
      // Before IR version 4 each initialiser is an input too.
      if (values_.contains(info.name()) && !input_names_.contains(info.name())) continue;
      const std::string what = "input '" + info.name() + "'";
      if (info.name().empty()) return broken("an input has no name");
      TOCSIN_ASSIGN_OR_RETURN(const ValueIndex value, define(info.name()));
      input_names_.insert(info.name());
      TOCSIN_ASSIGN_OR_RETURN(TensorSpec spec, import_spec(info, what, true));
      graph_.inputs.push_back(value);
      graph_.signature.inputs.push_back(std::move(spec));
      graph_.input_dimension_names.push_back(dimension_names(info));
    }
    return {};
  }

  Status import_outputs(const onnx::GraphProto& graph) {
    for (const onnx::ValueInfoProto& info : graph.output()) {
      const std::string what = "output '" + info.name() + "'";
      // A subgraph may hand on what it has from outside.
      const auto found = is_subgraph() ? find(info.name()) : own_value(info.name());
      if (!found) return broken(what + " is computed by no node");
      TensorSpec spec;
      if (const auto columns = zipped_columns(*found)) {
        spec = {info.name(), DataType::kFloat32, {kFreeDimension, *columns}};
      } else {
        TOCSIN_ASSIGN_OR_RETURN(spec, import_spec(info, what, false));
      }
      graph_.outputs.push_back(*found);
      graph_.signature.outputs.push_back(std::move(spec));
    }
    if (graph_.outputs.empty()) return broken("the model has no outputs");
    return {};
  }

  // A list of maps from ZipMap stands for the matrix that it is made of, a column for each label.
  std::optional<std::int64_t> zipped_columns(ValueIndex value) const {
    for (const GraphNode& node : graph_.nodes) {
      if (node.domain != "ai.onnx.ml" || node.op_type != "ZipMap") continue;
      if (std::ranges::find(node.outputs, value) == node.outputs.end()) continue;
      for (const Attribute& attribute : node.attributes) {
        if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute.value))
          return static_cast<std::int64_t>(ints->size());
      }
    }
    return std::nullopt;
  }

  std::optional<ValueIndex> own_value(const std::string& name) const {
    const auto found = values_.find(name);
    return found != values_.end() ? std::optional(found->second) : std::nullopt;
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
      const std::optional<ValueIndex> found = find(name);
      if (!name.empty() && !found) return undefined(what, name);
      node.inputs.push_back(name.empty() ? kNoValue : *found);
    }
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      Result<Attribute> imported = has_texts(node, attribute)
                                       ? Result<Attribute>(text_attribute(attribute))
                                       : import_attribute(attribute);
      if (!imported.ok())
        return imported.error().within(what + ", attribute '" + attribute.name() + "'");
      TOCSIN_RETURN_IF_ERROR(check_attribute(*imported, node, what));
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

  // Attributes of ai.onnx.ml that hold labels; others of type STRING choose what a node does.
  static bool has_texts(const GraphNode& node, const onnx::AttributeProto& attribute) {
    return node.domain == "ai.onnx.ml" &&
           (attribute.name().ends_with("_strings") || attribute.name() == "default_string");
  }

  Attribute text_attribute(const onnx::AttributeProto& proto) {
    if (proto.type() == onnx::AttributeProto::STRING)
      return {proto.name(), model_.texts.number_of(proto.s())};
    return {proto.name(), model_.texts.numbers_of(proto.strings())};
  }

  // Refuses NaN in constants, and notes what a subgraph reads of this graph.
  static Status check_attribute(const Attribute& attribute, GraphNode& node,
                                const std::string& what) {
    if (const Tensor* tensor = std::get_if<Tensor>(&attribute.value);
        tensor != nullptr && node.domain.empty()) {
      const Status finite = check_finite(*tensor, NonFinite::kAllowInfinity);
      if (!finite.ok()) return Error(finite.error().code(), what + " " + finite.error().message());
    }
    if (const auto* subgraph = std::get_if<std::shared_ptr<const Graph>>(&attribute.value)) {
      for (const ValueIndex value : (*subgraph)->captured_values)
        if (std::ranges::find(node.captured, value) == node.captured.end())
          node.captured.push_back(value);
    }
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
        TOCSIN_ASSIGN_OR_RETURN(Tensor tensor, import_any_tensor(proto.t()));
        TOCSIN_RETURN_IF_ERROR(check_rank(tensor.shape(), "the tensor"));
        attribute.value = std::move(tensor);
        break;
      }
      case onnx::AttributeProto::GRAPH: {
        TOCSIN_ASSIGN_OR_RETURN(Graph subgraph, GraphImporter(model_, this).import(proto.g()));
        attribute.value = std::make_shared<const Graph>(std::move(subgraph));
        break;
      }
      default:
        attribute.value = OpaqueAttribute{onnx::AttributeProto_AttributeType_Name(proto.type())};
        break;
    }
    return attribute;
  }

  ModelContext& model_;
  GraphImporter* enclosing_;
  std::size_t depth_;
  Graph graph_;
  std::vector<ValueIndex> captured_inputs_;
  std::unordered_map<std::string, ValueIndex> values_;
  std::unordered_set<std::string> input_names_;
};

Result<Graph> import_model(const onnx::ModelProto& model, const ImportLimits& limits,
                           const std::string& folder) {
  ModelContext context(limits, folder);
  for (const auto& opset : model.opset_import())
    if (normal_domain(opset.domain()).empty()) context.opset = opset.version();
  if (context.opset < 0) return broken("the version of the operator set ai.onnx is negative");
  if (!model.has_graph()) return broken("the model has no graph");
  return GraphImporter(context, nullptr).import(model.graph());
}

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
    return import_model(model, limits, folder);
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
