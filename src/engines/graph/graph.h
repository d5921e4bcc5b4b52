// A model as a typed graph: what the importer makes of an ONNX file, and what engines of our own
// read. Nodes stand in an order in which each reads only what stands before it.
#pragma once

#include <cstdint>
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

// An attribute whose content is of no use here: a subgraph, a sparse tensor, a type.
struct OpaqueAttribute {
  std::string kind;
};

struct Attribute {
  std::string name;
  std::variant<float, std::int64_t, std::string, std::vector<float>, std::vector<std::int64_t>,
               std::vector<std::string>, Tensor, OpaqueAttribute>
      value;
};

struct GraphNode {
  std::string name;  // may be empty
  std::string op_type;
  std::string domain;  // empty: ai.onnx
  std::vector<ValueIndex> inputs;
  std::vector<ValueIndex> outputs;
  std::vector<Attribute> attributes;

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
};

// "node '/fc/Gemm' (Gemm)", or by its number where it has no name.
std::string node_text(const GraphNode& node, std::size_t index);

}  // namespace tocsin
