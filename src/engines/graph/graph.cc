// Look-ups and texts of the typed graph.
#include "engines/graph/graph.h"

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
  return "node " + name + " (" + domain + node.op_type + ")";
}

}  // namespace tocsin
