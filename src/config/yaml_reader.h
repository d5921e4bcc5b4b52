// YAML, strictly read: an unknown key, a wrong type or a value out of range is an error that names
// file, line, key, what was expected and the nearest known key. All errors of a file are gathered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tocsin {

class YamlSession;
struct YamlMember;
struct YamlNode;

template <typename T>
struct YamlRange {
  T min = std::numeric_limits<T>::lowest();
  T max = std::numeric_limits<T>::max();
};

// A mapping being read. Asking for a key makes it known; finish() refuses the keys nobody asked
// for. read() leaves `value` (the default) as it is where the key is absent or wrong; require()
// makes an absent key an error. Types are strict: a number, true, false or null is a string only in
// quotes, an integer has no fraction and no leading zero, a double is finite.
// A default outside its own range (NaN, -1, an index past the names) means "not set": effective()
// prints it as a comment.
class YamlReader {
 public:
  // Refused at once: a file that cannot be read (kNotFound, kPermissionDenied), and what is not a
  // mapping in valid YAML within the limits of yaml_document.h (kInvalidArgument). An empty file is
  // no mapping; "{}" is one.
  static Result<YamlReader> from_file(const std::string& path);
  static Result<YamlReader> from_text(std::string_view text, const std::string& name);

  // Whether the file has `key`; it is known from then on.
  bool has(std::string_view key) const;

  void read(std::string_view key, bool& value);
  void read(std::string_view key, std::int64_t& value, YamlRange<std::int64_t> range = {});
  void read(std::string_view key, double& value, YamlRange<double> range = {});
  void read(std::string_view key, std::string& value);
  void read(std::string_view key, std::vector<std::string>& value);
  void read(std::string_view key, std::vector<std::int64_t>& value,
            YamlRange<std::int64_t> range = {});
  void read(std::string_view key, std::vector<double>& value, YamlRange<double> range = {});
  // One of `names`; `index` is set to its place.
  void read_choice(std::string_view key, std::size_t& index,
                   std::span<const std::string_view> names);
  template <typename T, typename... Range>
  void require(std::string_view key, T& value, Range... range) {
    require_key(key);
    read(key, value, range...);
  }

  // The mapping under `key`; an empty one if the key is absent. Children share the errors and the
  // effective configuration of their root and may outlive it.
  YamlReader child(std::string_view key);
  // The mappings in the sequence under `key`; none if the key is absent.
  std::vector<YamlReader> children(std::string_view key);

  // Adds an error at `key` for what only the caller can judge: "expected …, found …".
  void fail(std::string_view key, const std::string& expected);

  // After everything was read: all errors of the file, one a line in the order of the file's lines,
  // or OK. "FILE:LINE: key 'source.path': expected …, found …; nearest known key is 'x'".
  Status finish();
  // The values in effect as YAML, in the order they were read, defaults marked "# default".
  std::string effective() const;

 private:
  YamlReader(std::shared_ptr<YamlSession> session, std::size_t node_number);
  YamlNode& node() const;
  void require_key(std::string_view key);
  std::vector<std::size_t> add_items(const YamlMember& member, const std::string& path);

  std::shared_ptr<YamlSession> session_;  // shared by all readers of a file
  std::size_t node_number_;
};

// The entry of `known` nearest to `word` by edit distance, or empty if none is near.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> known);

}  // namespace tocsin
