// A YAML text as a tree with line numbers, free of the parser's types.
// Both of two equal keys are kept, so that the reader can name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tocsin {

inline constexpr std::size_t kYamlSizeBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kYamlDepthMax = 32;
// Counted after aliases are expanded: what an alias bomb runs into.
inline constexpr std::size_t kYamlNodeCountMax = std::size_t{1} << 16;

struct YamlMember;

struct YamlValue {
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMapping };

  Kind kind = Kind::kNull;
  bool quoted = false;              // a scalar in quotes or a block: always a string
  int line = 0;                     // counted from 1
  std::string text;                 // of a scalar
  std::vector<YamlMember> members;  // of a sequence (keys empty) or a mapping
};

struct YamlMember {
  std::string key;
  int line = 0;  // of the key
  YamlValue value;
};

// The root of the single document in `text`; kNull if it is empty. Aliases are expanded. Refused
// with "NAME:LINE: expected …, found …": bad syntax, text that is not UTF-8, tags, keys that are
// not scalars, more than one document, and what exceeds a limit above.
Result<YamlValue> parse_yaml(std::string_view text, const std::string& name);

}  // namespace tocsin
