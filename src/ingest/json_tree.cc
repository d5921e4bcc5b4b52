// Recursive descent over one text; children follow one another by index, so that growth moves none.
#include "ingest/json_tree.h"

#include "base/assert.h"

namespace tocsin {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      byte(0xE0 | code >> 12);
    } else {
      byte(0xF0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3F));
    }
    byte(0x80 | (code >> 6 & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

}  // namespace

bool JsonTree::parse(std::string_view text) noexcept {
  text_ = text;
  at_ = 0;
  nodes_.clear();
  nodes_.emplace_back();
  unescaped_.clear();
  if (unescaped_.capacity() < text.size()) unescaped_.reserve(2 * text.size());
  skip_space();
  if (!parse_value(0, 0)) return false;
  skip_space();
  return at_ == text_.size() || fail("expected the end of the text");
}

void JsonTree::assign_object(std::span<const std::string_view> names,
                             std::span<const std::string_view> values) {
  TOCSIN_ASSERT(names.size() == values.size());
  nodes_.clear();
  nodes_.resize(1 + names.size());
  nodes_[0].kind = JsonKind::kObject;
  nodes_[0].first = names.empty() ? 0 : 1;
  nodes_[0].count = static_cast<std::uint32_t>(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    JsonNode& node = nodes_[i + 1];
    node.kind = JsonKind::kString;
    node.next = i + 1 < names.size() ? static_cast<std::uint32_t>(i + 2) : 0;
    node.key = names[i];
    node.text = values[i];
  }
}

bool JsonTree::parse_value(std::uint32_t index, std::size_t depth) {
  const auto set = [this, index](JsonKind kind) {
    nodes_[index].kind = kind;
    return true;
  };
  std::string_view value;
  switch (peek()) {
    case '{':
    case '[':
      if (depth == kDepthMax) return fail("expected less nesting");
      return set(peek() == '{' ? JsonKind::kObject : JsonKind::kArray) &&
             parse_container(index, depth + 1);
    case '"':
      if (!parse_string(value)) return false;
      nodes_[index].text = value;
      return set(JsonKind::kString);
    case 't':
      return parse_word("true") && set(JsonKind::kTrue);
    case 'f':
      return parse_word("false") && set(JsonKind::kFalse);
    case 'n':
      return parse_word("null") && set(JsonKind::kNull);
    default:
      if (!parse_number(value)) return false;
      nodes_[index].text = value;
      return set(JsonKind::kNumber);
  }
}

bool JsonTree::parse_container(std::uint32_t index, std::size_t depth) {
  const bool is_object = nodes_[index].kind == JsonKind::kObject;
  const char end = is_object ? '}' : ']';
  ++at_;
  skip_space();
  if (peek() == end) return ++at_ != 0;
  for (std::uint32_t last = 0;;) {
    const auto child = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    (last == 0 ? nodes_[index].first : nodes_[last].next) = child;
    ++nodes_[index].count;
    last = child;
    if (is_object) {
      std::string_view key;
      if (peek() != '"') return fail("expected a key in quotes");
      if (!parse_string(key)) return false;
      nodes_[child].key = key;
      skip_space();
      if (peek() != ':') return fail("expected ':'");
      ++at_;
      skip_space();
    }
    if (!parse_value(child, depth)) return false;
    skip_space();
    if (peek() == end) return ++at_ != 0;
    if (peek() != ',') return fail(is_object ? "expected ',' or '}'" : "expected ',' or ']'");
    ++at_;
    skip_space();
  }
}

bool JsonTree::parse_string(std::string_view& value) {
  const std::size_t begin = ++at_;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      value = text_.substr(begin, at_++ - begin);
      return true;
    }
    if (c == '\\') return undo_escapes(begin, value);
    if (static_cast<unsigned char>(c) < 0x20) return fail("expected no control character");
  }
  return fail("expected a closing quote");
}

// From the first escape on; what stands before it from `begin` is taken over.
bool JsonTree::undo_escapes(std::size_t begin, std::string_view& value) {
  const std::size_t start = unescaped_.size();
  unescaped_ += text_.substr(begin, at_ - begin);
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == '"') {
      value = std::string_view(unescaped_).substr(start);
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) return fail("expected no control character");
    if (c != '\\') {
      unescaped_ += c;
    } else if (!undo_escape()) {
      return false;
    }
  }
  return fail("expected a closing quote");
}

bool JsonTree::undo_escape() {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char letter = peek();
  if (letter == 'u') return undo_unicode();
  const std::size_t which = kLetters.find(letter);
  if (which == std::string_view::npos) return fail("expected an escape that JSON knows");
  unescaped_ += kMeanings[which];
  ++at_;
  return true;
}

// A lone half of a surrogate pair becomes the replacement character.
bool JsonTree::undo_unicode() {
  const auto unit = [this](std::uint32_t& code) {
    if (at_ + 5 > text_.size() || text_[at_] != 'u') return false;
    code = 0;
    for (std::size_t i = 1; i <= 4; ++i) {
      const int digit = hex_value(text_[at_ + i]);
      if (digit < 0) return false;
      code = code << 4 | static_cast<std::uint32_t>(digit);
    }
    at_ += 5;
    return true;
  };
  constexpr std::uint32_t kReplacement = 0xFFFD;
  std::uint32_t code = 0;
  if (!unit(code)) return fail("expected four hexadecimal digits");
  if (code >= 0xD800 && code < 0xDC00 && peek() == '\\') {
    ++at_;
    std::uint32_t low = 0;
    if (peek() != 'u') {
      append_utf8(kReplacement, unescaped_);
      return undo_escape();
    }
    if (!unit(low)) return fail("expected four hexadecimal digits");
    const bool is_pair = low >= 0xDC00 && low < 0xE000;
    code = is_pair ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : kReplacement;
  } else if (code >= 0xD800 && code < 0xE000) {
    code = kReplacement;
  }
  append_utf8(code, unescaped_);
  return true;
}

bool JsonTree::parse_number(std::string_view& value) noexcept {
  const std::size_t begin = at_;
  if (peek() == '-') ++at_;
  const std::size_t integer = at_;
  const std::size_t digits = skip_digits();
  if (digits == 0) return fail("expected a value");
  if (digits > 1 && text_[integer] == '0') return fail("expected a number without leading zeros");
  if (peek() == '.') {
    ++at_;
    if (skip_digits() == 0) return fail("expected a digit behind the point");
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (skip_digits() == 0) return fail("expected a digit of the exponent");
  }
  value = text_.substr(begin, at_ - begin);
  return true;
}

bool JsonTree::parse_word(std::string_view word) noexcept {
  if (!text_.substr(at_).starts_with(word)) return fail("expected a value");
  at_ += word.size();
  return true;
}

std::size_t JsonTree::skip_digits() noexcept {
  const std::size_t begin = at_;
  while (is_digit(peek())) ++at_;
  return at_ - begin;
}

void JsonTree::skip_space() noexcept {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return;
    ++at_;
  }
}

const JsonNode* JsonTree::find(const JsonNode& object, std::string_view key) const noexcept {
  if (!object.is_object()) return nullptr;
  const JsonNode* found = nullptr;
  for (std::uint32_t index = object.first; index != 0; index = nodes_[index].next) {
    if (nodes_[index].key == key) found = &nodes_[index];
  }
  return found;
}

const JsonNode* JsonTree::item(const JsonNode& array, std::int64_t index) const noexcept {
  if (!array.is_array()) return nullptr;
  if (index < 0) index += array.count;
  if (index < 0 || index >= array.count) return nullptr;
  std::uint32_t at = array.first;
  for (; index > 0; --index) at = nodes_[at].next;
  return &nodes_[at];
}

}  // namespace tocsin
