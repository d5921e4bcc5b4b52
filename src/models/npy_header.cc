// A reader for the one shape of Python literal that NumPy writes; anything else is refused.
#include "models/npy_header.h"

#include <charconv>
#include <cstddef>

namespace tocsin {
namespace {

constexpr std::size_t kRankMax = 32;

class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  bool at_end() {
    skip_blanks();
    return position_ == text_.size();
  }

  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    return true;
  }

  bool take_string(std::string& value) {
    skip_blanks();
    const char quote = position_ < text_.size() ? text_[position_] : '\0';
    if (quote != '\'' && quote != '"') return false;
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) return false;
    value = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return true;
  }

  bool take_bool(bool& value) {
    value = take("True");
    return value || take("False");
  }

  // "(3, 60)", "(3,)" or "()"; a number alone in parentheses is no tuple.
  bool take_shape(std::vector<std::int64_t>& shape) {
    if (!take("(")) return false;
    while (!take(")")) {
      std::int64_t dimension = 0;
      if (shape.size() == kRankMax || !take_count(dimension)) return false;
      shape.push_back(dimension);
      if (take(",")) continue;
      return shape.size() > 1 && take(")");
    }
    return true;
  }

 private:
  void skip_blanks() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n'))
      ++position_;
  }

  bool take_count(std::int64_t& value) {
    skip_blanks();
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0 || *begin == '-') return false;
    position_ += static_cast<std::size_t>(end - begin);
    return true;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view text) {
  const Error malformed(ErrorCode::kDataLoss,
                        "expected a .npy header with descr, fortran_order and shape");
  LiteralReader reader(text);
  NpyHeader header;
  bool has_type = false;
  bool has_order = false;
  bool has_shape = false;
  if (!reader.take("{")) return malformed;
  while (!reader.take("}")) {
    std::string key;
    if (!reader.take_string(key) || !reader.take(":")) return malformed;
    bool* const known = key == "descr"           ? &has_type
                        : key == "fortran_order" ? &has_order
                        : key == "shape"         ? &has_shape
                                                 : nullptr;
    if (known == nullptr || *known) return malformed;
    *known = true;
    const bool read = known == &has_type    ? reader.take_string(header.type)
                      : known == &has_order ? reader.take_bool(header.fortran_order)
                                            : reader.take_shape(header.shape);
    if (!read) return malformed;
    if (reader.take(",")) continue;
    if (!reader.take("}")) return malformed;
    break;
  }
  if (!has_type || !has_order || !has_shape || !reader.at_end()) return malformed;
  return header;
}

}  // namespace tocsin
