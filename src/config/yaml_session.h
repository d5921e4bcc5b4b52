// What the readers of one file share: its document, which keys were asked for, the values in effect
// and every error so far. The document never changes, so pointers into it stay good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/yaml_document.h"
#include "config/yaml_types.h"

namespace tocsin {

// Past it errors are counted, not printed.
inline constexpr std::size_t kYamlErrorCountMax = 1000;

struct YamlProblem {
  int line = 0;
  std::string text;
};

// What a key of a mapping was asked for, and what came of it.
struct YamlSetting {
  enum class Kind : std::uint8_t {
    kNamed,     // only whether it is there
    kValue,     // `text` is in effect
    kUnset,     // the default lies outside what may be written: it means "not set"
    kChild,     // nodes[0]
    kChildren,  // nodes
  };
  std::string key;
  Kind kind = Kind::kNamed;
  bool is_default = false;
  std::string text;
  std::vector<std::size_t> nodes;  // numbers of YamlSession::node()
};

// A mapping being read.
struct YamlNode {
  std::string path;                    // printable; empty at the root
  const YamlValue* mapping = nullptr;  // null: absent, or not a mapping (then `broken`)
  int line = 1;
  bool broken = false;  // reported already: what it lacks is not
  std::vector<YamlSetting> settings;

  std::string path_of(std::string_view key) const;
  const YamlMember* find(std::string_view key) const;
  // The setting of `key`, new if it was never asked for.
  YamlSetting& setting(std::string_view key);
};

class YamlSession {
 public:
  // `document` is a mapping; it becomes node 0.
  YamlSession(YamlValue document, std::string name);

  // Good until the session ends.
  YamlNode& node(std::size_t number) { return nodes_[number]; }

  void report(int line, const std::string& path, const std::string& what);

  // A node over `value`, which should be a mapping; `path` is printable.
  std::size_t add_mapping(const YamlValue& value, std::string path, int line);
  // A node for a mapping under `parent` that the file lacks.
  std::size_t add_absent(const YamlNode& parent, std::string_view key);

  template <typename Type>
  void read(YamlNode& node, std::string_view key, typename Type::Value& value, const Type& type);
  template <typename Type>
  void read_list(YamlNode& node, std::string_view key, std::vector<typename Type::Value>& values,
                 const Type& type);

  Status finish() const;
  std::string effective(const YamlNode& node) const;

 private:
  template <typename Type>
  static std::optional<typename Type::Value> parse(const YamlValue& value, const Type& type) {
    if (value.kind != YamlValue::Kind::kScalar) return std::nullopt;
    auto parsed = type.parse(value);
    if (parsed && !type.in_range(*parsed)) return std::nullopt;
    return parsed;
  }
  template <typename Type>
  void report_type(int line, const std::string& path, const YamlValue& found, const Type& type) {
    report(line, path,
           "expected " + type.expected() + ", found " + found_text(found) + type.hint(found));
  }
  template <typename Type>
  void read_items(const std::string& path, const YamlValue& sequence,
                  std::vector<typename Type::Value>& values, const Type& type);

  void find_duplicates(const YamlValue& value, const std::string& path);
  static void find_unknown(const YamlNode& node, std::vector<YamlProblem>& problems);
  bool append_effective(const YamlNode& node, std::size_t indent, std::string& text) const;
  void append_nodes(const YamlSetting& setting, std::size_t indent, std::string& text) const;

  YamlValue document_;
  std::string name_;
  std::vector<YamlProblem> problems_;
  std::deque<YamlNode> nodes_;
};

template <typename Type>
void YamlSession::read(YamlNode& node, std::string_view key, typename Type::Value& value,
                       const Type& type) {
  const YamlMember* member = node.find(key);
  if (member != nullptr) {
    if (auto parsed = parse(member->value, type)) {
      value = *std::move(parsed);
    } else {
      report_type(member->line, node.path_of(key), member->value, type);
    }
  }
  YamlSetting& setting = node.setting(key);
  const bool is_set = type.in_range(value);
  setting.is_default = member == nullptr;
  setting.kind = is_set ? YamlSetting::Kind::kValue : YamlSetting::Kind::kUnset;
  setting.text = is_set ? type.text(value) : std::string();
}

template <typename Type>
void YamlSession::read_list(YamlNode& node, std::string_view key,
                            std::vector<typename Type::Value>& values, const Type& type) {
  const YamlMember* member = node.find(key);
  if (member != nullptr) {
    if (member->value.kind == YamlValue::Kind::kSequence) {
      read_items(node.path_of(key), member->value, values, type);
    } else {
      report(member->line, node.path_of(key),
             "expected a sequence, found " + found_text(member->value));
    }
  }
  YamlSetting& setting = node.setting(key);
  setting.is_default = member == nullptr;
  setting.kind = YamlSetting::Kind::kValue;
  setting.text = "[";
  for (const typename Type::Value& item : values) {
    if (!type.in_range(item)) {
      setting.kind = YamlSetting::Kind::kUnset;
      break;
    }
    if (setting.text.size() > 1) setting.text += ", ";
    setting.text += type.text(item);
  }
  setting.text += "]";
}

template <typename Type>
void YamlSession::read_items(const std::string& path, const YamlValue& sequence,
                             std::vector<typename Type::Value>& values, const Type& type) {
  std::vector<typename Type::Value> items;
  items.reserve(sequence.members.size());
  for (std::size_t i = 0; i < sequence.members.size(); ++i) {
    const YamlMember& item = sequence.members[i];
    if (auto parsed = parse(item.value, type)) {
      items.push_back(*std::move(parsed));
    } else {
      report_type(item.line, path + "[" + std::to_string(i) + "]", item.value, type);
    }
  }
  if (items.size() == sequence.members.size()) values = std::move(items);
}

}  // namespace tocsin
