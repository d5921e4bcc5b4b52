// Look-ups and texts of the typed graph.
#include "engines/graph/graph.h"

#include <algorithm>

#include "base/printable_text.h"

namespace tocsin {

const Attribute* GraphNode::find_attribute(std::string_view attribute_name) const noexcept {
  for (const Attribute& attribute : attributes)
    if (attribute.name == attribute_name) return &attribute;
  return nullptr;
}

std::string node_text(const GraphNode& node, std::size_t index) {
  const std::string domain = node.domain.empty() ? "" : node.domain + ".";
  const std::string name =
      node.name.empty() ? "#" + std::to_string(index + 1) : "'" + node.name + "'";
  return printable_text("node " + name + " (" + domain + node.op_type + ")");
}

std::vector<bool> nodes_before(const Graph& graph, const std::vector<ValueIndex>& outputs,
                               const std::vector<ValueIndex>& given) {
  std::vector<bool> wanted(graph.value_names.size());
  const auto want = [&wanted](const std::vector<ValueIndex>& values) {
    for (const ValueIndex value : values)
      if (value != kNoValue) wanted[static_cast<std::size_t>(value)] = true;
  };
  want(outputs);
  std::vector<bool> found(graph.nodes.size());
  for (std::size_t i = graph.nodes.size(); i > 0; --i) {
    const GraphNode& node = graph.nodes[i - 1];
    found[i - 1] = std::ranges::any_of(node.outputs, [&](ValueIndex output) {
      return output != kNoValue && wanted[static_cast<std::size_t>(output)] &&
             std::ranges::find(given, output) == given.end();
    });
    if (!found[i - 1]) continue;
    want(node.inputs);
    want(node.captured);
  }
  return found;
}

}  // namespace tocsin
