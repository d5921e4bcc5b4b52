// One JSON text as a tree of views: numbers keep their digits as written, which a checksum over
// them needs and a double would lose. Its buffers are reused; every text is validated whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tocsin {

enum class JsonKind : std::uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

struct JsonNode {
  JsonKind kind = JsonKind::kNull;
  std::uint32_t next = 0;   // the sibling behind it; 0: none (the root is nobody's sibling)
  std::uint32_t first = 0;  // the first of an array or object; 0: empty
  std::uint32_t count = 0;  // of an array or object
  std::string_view key;     // of an object's member, without quotes, escapes undone
  std::string_view text;    // of a number as written; of a string without quotes, escapes undone

  bool is_array() const noexcept { return kind == JsonKind::kArray; }
  bool is_object() const noexcept { return kind == JsonKind::kObject; }
  bool is_string() const noexcept { return kind == JsonKind::kString; }
  bool is_number() const noexcept { return kind == JsonKind::kNumber; }
};

class JsonTree {
 public:
  static constexpr std::size_t kDepthMax = 64;

  // False if `text` is not one JSON value (RFC 8259) within kDepthMax; then fault() says what was
  // expected and fault_offset() where. `text` must outlive the use of the nodes.
  bool parse(std::string_view text) noexcept;

  // A flat object of texts instead: a row of a table by the names of its columns, which are as
  // many. Both must outlive the use of the nodes.
  void assign_object(std::span<const std::string_view> names,
                     std::span<const std::string_view> values);

  // All valid until the next parse().
  const JsonNode& root() const noexcept { return nodes_.front(); }
  const JsonNode& at(std::uint32_t index) const noexcept { return nodes_[index]; }
  // The member of an object, or null; the last one where a key is repeated.
  const JsonNode* find(const JsonNode& object, std::string_view key) const noexcept;
  // The element of an array, counted from the end if negative (-1 is the last), or null.
  const JsonNode* item(const JsonNode& array, std::int64_t index) const noexcept;

  std::string_view fault() const noexcept { return fault_; }
  std::size_t fault_offset() const noexcept { return at_; }

 private:
  bool parse_value(std::uint32_t index, std::size_t depth);
  bool parse_container(std::uint32_t index, std::size_t depth);
  bool parse_string(std::string_view& value);
  bool undo_escapes(std::size_t begin, std::string_view& value);
  bool undo_escape();
  bool undo_unicode();
  bool parse_number(std::string_view& value) noexcept;
  bool parse_word(std::string_view word) noexcept;
  std::size_t skip_digits() noexcept;
  void skip_space() noexcept;
  char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool fail(std::string_view expected) noexcept {
    fault_ = expected;
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<JsonNode> nodes_ = std::vector<JsonNode>(1);
  std::string unescaped_;  // strings with escapes; never grows while a text is parsed
  std::string_view fault_;
};

}  // namespace tocsin
