// Message layouts from a FIX SBE 1.0 schema (XML): where the fields of blocks and repeating groups
// stand. Only what decoding by field name needs: no validation of values, no var-data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tocsin {

// An integer, a decimal with a constant exponent, or text, at a fixed place in a block.
struct SbeField {
  std::string name;
  std::uint16_t offset = 0;
  std::uint16_t size_bytes = 0;  // 0: a constant, which is not on the wire
  bool is_integer = false;       // of 1, 2, 4 or 8 bytes; else text, or a composite's bytes
  bool is_signed = false;
  std::int8_t exponent = 0;  // the value is the integer times ten to this
  bool has_null = false;
  std::int64_t null_value = 0;  // as read

  // False if the block is too short for the field (an older version's) or holds its null value.
  bool read(std::span<const std::byte> block, std::int64_t& value) const noexcept;
  // Empty if the block is too short; without trailing zeros and blanks.
  std::string_view text(std::span<const std::byte> block) const noexcept;
};

struct SbeGroup {
  std::string name;
  std::vector<SbeField> fields;
  SbeField block_length;  // places in the group's header
  SbeField entry_count;
  std::uint16_t header_bytes = 0;
};

struct SbeMessage {
  std::uint16_t id = 0;
  std::string name;
  std::vector<SbeField> fields;
  std::vector<SbeGroup> groups;
};

class SbeSchema {
 public:
  static constexpr std::size_t kTextBytesMax = std::size_t{8} << 20;

  // Errors name what is wrong and the line: XML that is not well-formed, unknown types, big-endian
  // schemas, groups within groups.
  static Result<SbeSchema> parse(std::string_view xml);
  static Result<SbeSchema> read_file(const std::string& path);

  const std::map<std::uint16_t, SbeMessage>& messages() const noexcept { return messages_; }

 private:
  std::map<std::uint16_t, SbeMessage> messages_;
};

}  // namespace tocsin
