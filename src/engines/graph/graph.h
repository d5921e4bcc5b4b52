// A model as a typed graph: what the importer makes of an ONNX file, and what engines of our own
// read. Nodes stand in an order in which each reads only what stands before it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engines/engine.h"
#include "engines/graph/tensor.h"

namespace tocsin {

// A place in Graph::value_names; kNoValue for an optional input or output that is left out.
using ValueIndex = std::int32_t;
inline constexpr ValueIndex kNoValue = -1;

struct Graph;

// An attribute whose content is of no use here: a list of subgraphs, a sparse tensor, a type.
struct OpaqueAttribute {
  std::string kind;
};

struct Attribute {
  std::string name;
  std::variant<float, std::int64_t, std::string, std::vector<float>, std::vector<std::int64_t>,
               std::vector<std::string>, Tensor, OpaqueAttribute, std::shared_ptr<const Graph>>
      value;
};

struct GraphNode {
  std::string name;  // may be empty
  std::string op_type;
  std::string domain;  // empty: ai.onnx
  std::vector<ValueIndex> inputs;
  std::vector<ValueIndex> outputs;
  std::vector<Attribute> attributes;
  // What the node's subgraphs read of the graph that the node stands in, each value once.
  std::vector<ValueIndex> captured{};

  // Null if the node has no attribute of that name.
  const Attribute* find_attribute(std::string_view attribute_name) const noexcept;
};

struct Initializer {
  ValueIndex value = kNoValue;
  Tensor tensor;
};

struct Graph {
  std::int64_t opset = 0;  // of ai.onnx
  std::vector<std::string> value_names;
  std::vector<Initializer> initializers;
  std::vector<GraphNode> nodes;
  ModelSignature signature;
  std::vector<ValueIndex> inputs;   // in the signature's order, without initialisers
  std::vector<ValueIndex> outputs;  // in the signature's order
  // For each input of the signature the names of its dimensions; empty for those without a name.
  std::vector<std::vector<std::string>> input_dimension_names{};
  // Of a subgraph: the values of the enclosing graph that it reads. They are its last inputs, in
  // this order, and stand in no signature. The signature of a subgraph may lack types and shapes.
  std::vector<ValueIndex> captured_values{};
};

// By node: whether `outputs` depend on it, leaving out those that only lead to `given`.
std::vector<bool> nodes_before(const Graph& graph, const std::vector<ValueIndex>& outputs,
                               const std::vector<ValueIndex>& given);

// "node '/fc/Gemm' (Gemm)", or by its number where it has no name.
std::string node_text(const GraphNode& node, std::size_t index);

}  // namespace tocsin
