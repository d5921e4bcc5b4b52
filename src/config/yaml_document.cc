// yaml-cpp's events built into our own tree. Its Node is not used: that one drops the first of two
// equal keys, shares aliased nodes and throws on access.
#include "config/yaml_document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

#include "config/yaml_scalar.h"

namespace tocsin {
namespace {

// Thrown through the parser by TreeBuilder and caught in parse_yaml().
struct Refusal {
  int line = 0;
  std::string text;
};

int line_of(const YAML::Mark& mark) { return std::max(mark.line, 0) + 1; }

// Length of the UTF-8 sequence at the start of `text`; 0 if it is malformed, overlong, a surrogate
// or past U+10FFFF (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0U;
  };
  const auto continues = [&byte](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80U) return 1;
  if (lead >= 0xC2U && lead <= 0xDFU) return continues(1) ? 2 : 0;
  if (lead >= 0xE0U && lead <= 0xEFU) {
    if (lead == 0xE0U && byte(1) < 0xA0U) return 0;
    if (lead == 0xEDU && byte(1) > 0x9FU) return 0;
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0U && lead <= 0xF4U) {
    if (lead == 0xF0U && byte(1) < 0x90U) return 0;
    if (lead == 0xF4U && byte(1) > 0x8FU) return 0;
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  YamlValue take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++document_count_ > 1)
      throw Refusal{line_of(mark), "expected one document, found a second"};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlValue value;
    value.line = line_of(mark);
    add_leaf(std::move(value), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const int line = line_of(mark);
    if (expects_key()) throw Refusal{line, "expected a key, found an alias"};
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) {
      throw Refusal{line, "expected an alias of a finished value, found one inside its own value"};
    }
    if (open_.size() + found->second.height > kYamlDepthMax) refuse_depth(line);
    charge(found->second.node_count, line);
    add_finished(found->second.value, 0, found->second.node_count, found->second.height);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_tag(tag, mark);
    // yaml-cpp 0.7 unescapes \N and \_ to Latin-1.
    if (!is_utf8(text)) {
      throw Refusal{line_of(mark), "expected escapes of UTF-8 text, found \\N or \\_"};
    }
    YamlValue value;
    value.kind = YamlValue::Kind::kScalar;
    value.quoted = tag == "!";
    value.line = line_of(mark);
    value.text = text;
    add_leaf(std::move(value), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlValue::Kind::kSequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlValue::Kind::kMapping, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlValue value;
    YAML::anchor_t anchor = 0;
    std::size_t node_count = 1;
    std::size_t height = 1;  // levels of collections, this one included
    bool key_read = false;   // in a mapping: the last member waits for its value
  };
  struct Anchored {
    YamlValue value;
    std::size_t node_count = 0;
    std::size_t height = 0;
  };

  static void refuse_tag(const std::string& tag, const YAML::Mark& mark) {
    // yaml-cpp's tag of a plain scalar or an untagged collection is "?", of a quoted scalar "!".
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw Refusal{line_of(mark), "expected a value without a tag, found the tag " + printable(tag)};
  }

  [[noreturn]] static void refuse_depth(int line) {
    throw Refusal{line, "expected at most " + std::to_string(kYamlDepthMax) +
                            " levels of nesting, found more"};
  }

  void charge(std::size_t node_count, int line) {
    if (node_count > kYamlNodeCountMax - node_count_) {
      throw Refusal{line, "expected at most " + std::to_string(kYamlNodeCountMax) +
                              " values with aliases expanded, found more"};
    }
    node_count_ += node_count;
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().value.kind == YamlValue::Kind::kMapping &&
           !open_.back().key_read;
  }

  void open(YamlValue::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_tag(tag, mark);
    const int line = line_of(mark);
    if (expects_key()) {
      throw Refusal{line, kind == YamlValue::Kind::kMapping ? "expected a key, found a mapping"
                                                            : "expected a key, found a sequence"};
    }
    if (open_.size() == kYamlDepthMax) refuse_depth(line);
    charge(1, line);
    Open opened;
    opened.value.kind = kind;
    opened.value.line = line;
    opened.anchor = anchor;
    open_.push_back(std::move(opened));
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    add_finished(std::move(closed.value), closed.anchor, closed.node_count, closed.height);
  }

  void add_leaf(YamlValue leaf, YAML::anchor_t anchor) {
    charge(1, leaf.line);
    if (expects_key()) {
      if (leaf.kind == YamlValue::Kind::kNull) {
        throw Refusal{leaf.line, "expected a key, found nothing"};
      }
      remember(leaf, anchor, 1, 0);
      Open& mapping = open_.back();
      mapping.value.members.push_back(YamlMember{std::move(leaf.text), leaf.line, YamlValue{}});
      mapping.key_read = true;
      return;
    }
    add_finished(std::move(leaf), anchor, 1, 0);
  }

  void remember(const YamlValue& value, YAML::anchor_t anchor, std::size_t node_count,
                std::size_t height) {
    if (anchor == 0) return;
    charge(node_count, value.line);  // The copy that aliases are made from takes memory too.
    anchored_[anchor] = Anchored{value, node_count, height};
  }

  void add_finished(YamlValue value, YAML::anchor_t anchor, std::size_t node_count,
                    std::size_t height) {
    remember(value, anchor, node_count, height);
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    parent.node_count += node_count;
    parent.height = std::max(parent.height, height + 1);
    if (parent.value.kind == YamlValue::Kind::kMapping) {
      parent.value.members.back().value = std::move(value);
      parent.key_read = false;
    } else {
      const int line = value.line;
      parent.value.members.push_back(YamlMember{{}, line, std::move(value)});
    }
  }

  YamlValue root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchored_;
  std::size_t node_count_ = 0;
  int document_count_ = 0;
};

// yaml-cpp passes bad bytes on, and would guess UTF-16 from zero bytes: both are refused before.
void refuse_unreadable_text(std::string_view text) {
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_control =
        (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    const std::size_t length = is_control ? 0 : utf8_length(text.substr(i));
    if (length == 0) {
      throw Refusal{line, "expected UTF-8 text without control characters, found the byte " +
                              std::to_string(static_cast<unsigned>(byte))};
    }
    if (byte == '\n') ++line;
    i += length;
  }
}

}  // namespace

Result<YamlValue> parse_yaml(std::string_view text, const std::string& name) {
  const auto refuse = [&name](int line, const std::string& problem) {
    return Error(ErrorCode::kInvalidArgument,
                 printable(name, name.size()) + ":" + std::to_string(line) + ": " + problem);
  };
  if (text.size() > kYamlSizeBytesMax) {
    return refuse(1, "expected at most " + std::to_string(kYamlSizeBytesMax) + " bytes, found " +
                         std::to_string(text.size()));
  }
  // yaml-cpp takes the end of the file for a closing quote; an end-of-document mark it does not.
  std::string marked(text);
  if (!marked.ends_with('\n')) marked += '\n';
  const auto line_count = static_cast<int>(std::count(marked.begin(), marked.end(), '\n'));
  marked += "...\n";
  try {
    refuse_unreadable_text(text);
    std::istringstream stream{marked};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take_root();
  } catch (const Refusal& refusal) {
    return refuse(refusal.line, refusal.text);
  } catch (const YAML::Exception& error) {
    if (line_of(error.mark) > line_count) {
      return refuse(line_count, "expected valid YAML, found the end inside a value: " + error.msg);
    }
    return refuse(line_of(error.mark), "expected valid YAML, found a mistake at column " +
                                           std::to_string(std::max(error.mark.column, 0) + 1) +
                                           ": " + printable(error.msg));
  } catch (const std::exception& error) {
    return refuse(1, std::string("expected a readable text, found: ") + printable(error.what()));
  }
}

}  // namespace tocsin
