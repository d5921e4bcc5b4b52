// Finding what nobody asked for, and writing down what is in effect.
#include "config/yaml_session.h"

#include <algorithm>

#include "config/yaml_reader.h"
#include "config/yaml_scalar.h"

namespace tocsin {

std::string YamlNode::path_of(std::string_view key) const {
  return path.empty() ? printable(key) : path + "." + printable(key);
}

const YamlMember* YamlNode::find(std::string_view key) const {
  if (mapping == nullptr) return nullptr;
  for (const YamlMember& member : mapping->members) {
    if (member.key == key) return &member;
  }
  return nullptr;
}

YamlSetting& YamlNode::setting(std::string_view key) {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [key](const YamlSetting& s) { return s.key == key; });
  if (found != settings.end()) return *found;
  YamlSetting& added = settings.emplace_back();
  added.key = key;
  return added;
}

YamlSession::YamlSession(YamlValue document, std::string name)
    : document_(std::move(document)), name_(std::move(name)) {
  find_duplicates(document_, {});
  add_mapping(document_, {}, document_.line);
}

void YamlSession::report(int line, const std::string& path, const std::string& what) {
  problems_.push_back(YamlProblem{line, "key '" + path + "': " + what});
}

std::size_t YamlSession::add_mapping(const YamlValue& value, std::string path, int line) {
  YamlNode& node = nodes_.emplace_back();
  node.path = std::move(path);
  node.line = line;
  if (value.kind == YamlValue::Kind::kMapping) {
    node.mapping = &value;
  } else {
    node.broken = true;
    report(line, node.path, "expected a mapping, found " + found_text(value));
  }
  return nodes_.size() - 1;
}

std::size_t YamlSession::add_absent(const YamlNode& parent, std::string_view key) {
  YamlNode& node = nodes_.emplace_back();
  node.path = parent.path_of(key);
  node.line = parent.line;
  node.broken = parent.broken;
  return nodes_.size() - 1;
}

// Walks the whole document, so that a second value is never silently dropped.
void YamlSession::find_duplicates(const YamlValue& value, const std::string& path) {
  std::vector<const YamlMember*> sorted;
  for (std::size_t i = 0; i < value.members.size(); ++i) {
    const YamlMember& member = value.members[i];
    std::string member_path = path;
    if (value.kind == YamlValue::Kind::kSequence) {
      member_path += "[" + std::to_string(i) + "]";
    } else {
      member_path += (path.empty() ? "" : ".") + printable(member.key);
      sorted.push_back(&member);
    }
    find_duplicates(member.value, member_path);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const YamlMember* a, const YamlMember* b) { return a->key < b->key; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const YamlMember& first = *sorted[i - 1];
    const YamlMember& second = *sorted[i];
    if (first.key != second.key) continue;
    report(second.line, (path.empty() ? "" : path + ".") + printable(second.key),
           "expected one value, found another one on line " + std::to_string(first.line));
  }
}

void YamlSession::find_unknown(const YamlNode& node, std::vector<YamlProblem>& problems) {
  if (node.mapping == nullptr) return;
  std::vector<std::string_view> known;
  std::string listing;
  for (const YamlSetting& setting : node.settings) {
    known.push_back(setting.key);
    listing += (listing.empty() ? "'" : ", '") + printable(setting.key) + "'";
  }
  for (const YamlMember& member : node.mapping->members) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    const std::string_view nearest = nearest_name(member.key, known);
    std::string hint = "no key is known here";
    if (!nearest.empty()) {
      hint = "nearest known key is '" + node.path_of(nearest) + "'";
    } else if (!known.empty()) {
      hint = "known keys here are " + listing;
    }
    problems.push_back(YamlProblem{member.line, "key '" + node.path_of(member.key) +
                                                    "': expected a known key, found '" +
                                                    printable(member.key) + "'; " + hint});
  }
}

Status YamlSession::finish() const {
  std::vector<YamlProblem> problems = problems_;
  for (const YamlNode& node : nodes_) find_unknown(node, problems);
  if (problems.empty()) return {};
  std::stable_sort(problems.begin(), problems.end(),
                   [](const YamlProblem& a, const YamlProblem& b) { return a.line < b.line; });
  const std::string file = printable(name_, name_.size());
  std::string text;
  const std::size_t shown_count = std::min(problems.size(), kYamlErrorCountMax);
  for (std::size_t i = 0; i < shown_count; ++i) {
    if (i > 0) text += '\n';
    text += file + ":" + std::to_string(problems[i].line) + ": " + problems[i].text;
  }
  if (shown_count < problems.size()) {
    text += "\n" + file + ": and " + std::to_string(problems.size() - shown_count) + " more errors";
  }
  return Error(ErrorCode::kInvalidArgument, text);
}

std::string YamlSession::effective(const YamlNode& node) const {
  std::string text;
  if (!append_effective(node, 0, text)) text += "{}\n";
  return text;
}

// Tells whether a line was written that is more than a comment.
bool YamlSession::append_effective(const YamlNode& node, std::size_t indent,
                                   std::string& text) const {
  bool has_values = false;
  for (const YamlSetting& setting : node.settings) {
    if (setting.kind == YamlSetting::Kind::kNamed) continue;
    const std::string key = yaml_text(std::string_view(setting.key));
    text.append(indent, ' ');
    if (setting.kind == YamlSetting::Kind::kUnset) {
      text += "# " + key + " is not set\n";
      continue;
    }
    has_values = true;
    text += key + ":";
    if (setting.kind == YamlSetting::Kind::kValue) {
      text += " " + setting.text + (setting.is_default ? "  # default\n" : "\n");
    } else if (setting.nodes.empty()) {
      text += setting.is_default ? " []  # default\n" : " []\n";
    } else {
      append_nodes(setting, indent, text);
    }
  }
  return has_values;
}

void YamlSession::append_nodes(const YamlSetting& setting, std::size_t indent,
                               std::string& text) const {
  const bool is_sequence = setting.kind == YamlSetting::Kind::kChildren;
  if (is_sequence) text += "\n";
  for (const std::size_t number : setting.nodes) {
    std::string inner;
    const bool has_values = append_effective(nodes_[number], indent + (is_sequence ? 4 : 2), inner);
    // The dash has a line of its own: the first line under it may be a comment.
    if (is_sequence) text += std::string(indent + 2, ' ') + "-";
    text += has_values ? "\n" : " {}\n";
    text += inner;
  }
}

}  // namespace tocsin
