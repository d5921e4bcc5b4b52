// Puts graphs together node by node. For tests and benchmarks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engines/graph/graph.h"

namespace tocsin {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::int64_t opset = 17) { graph_.opset = opset; }

  ValueIndex input(const std::string& name, Shape shape, DataType type = DataType::kFloat32) {
    const ValueIndex value = add_value(name);
    graph_.inputs.push_back(value);
    graph_.signature.inputs.push_back({name, type, std::move(shape)});
    return value;
  }
  ValueIndex weight(const std::string& name, Tensor tensor) {
    const ValueIndex value = add_value(name);
    graph_.initializers.push_back({value, std::move(tensor)});
    return value;
  }
  ValueIndex floats(const std::string& name, Shape shape, const std::vector<float>& values) {
    return weight(name, Tensor::of<float>(std::move(shape), values));
  }
  ValueIndex ints(const std::string& name, const std::vector<std::int64_t>& values) {
    return weight(name,
                  Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
  }
  // A node with one output.
  ValueIndex node(const std::string& op_type, std::vector<ValueIndex> inputs,
                  std::vector<Attribute> attributes = {}) {
    return nodes(op_type, std::move(inputs), std::move(attributes), 1)[0];
  }
  std::vector<ValueIndex> nodes(const std::string& op_type, std::vector<ValueIndex> inputs,
                                std::vector<Attribute> attributes, std::size_t output_count) {
    GraphNode node;
    node.name = op_type + "_" + std::to_string(graph_.nodes.size());
    node.op_type = op_type;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    for (std::size_t i = 0; i < output_count; ++i)
      node.outputs.push_back(add_value(node.name + "_" + std::to_string(i)));
    graph_.nodes.push_back(node);
    return node.outputs;
  }
  void output(ValueIndex value, Shape shape, DataType type = DataType::kFloat32) {
    graph_.outputs.push_back(value);
    graph_.signature.outputs.push_back(
        {graph_.value_names[static_cast<std::size_t>(value)], type, std::move(shape)});
  }
  Graph finish() { return std::move(graph_); }

 private:
  ValueIndex add_value(const std::string& name) {
    graph_.value_names.push_back(name);
    return static_cast<ValueIndex>(graph_.value_names.size() - 1);
  }

  Graph graph_;
};

}  // namespace tocsin
