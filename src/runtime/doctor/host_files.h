// What the kernel tells in files under /proc and /sys; tests lay out a tree of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tocsin {

class HostFiles {
 public:
  explicit HostFiles(std::string root = "") : root_(std::move(root)) {}

  // All of a file, at most 4 MiB; nothing where it cannot be read.
  std::optional<std::string> text(std::string_view path) const;
  // Its first line, without the end of line.
  std::optional<std::string> line(std::string_view path) const;
  // The value behind "key:" in a file of such lines, as in /proc/cpuinfo; the first one.
  std::optional<std::string> field(std::string_view path, std::string_view key) const;
  // The numbers of entries like node0, node1 in a folder, ascending.
  std::vector<int> numbered(std::string_view folder, std::string_view prefix) const;

 private:
  std::string root_;
};

}  // namespace tocsin
