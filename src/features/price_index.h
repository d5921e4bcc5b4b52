// The sorted keys of one side of a book, each with the number of its level: a B+ tree whose
// greatest key is the best price, so that what happens near the top moves few bytes. O(log n) worst
// case.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "features/chunked_pool.h"

namespace tocsin {

class PriceIndex {
 public:
  PriceIndex();

  // The level of `key`, or kNoSlot.
  std::uint32_t find(std::int64_t key) const noexcept;
  // `key` must not be there yet.
  void insert(std::int64_t key, std::uint32_t level);
  // `key` must be there.
  void erase(std::int64_t key) noexcept;
  void clear() noexcept;

  std::size_t size() const noexcept { return size_; }
  // Levels by rank from the greatest key (rank 0); `rank` must be below size(). O(rank).
  std::uint32_t level_at_rank(std::size_t rank) const noexcept;
  // The level of the least key; size() must not be zero.
  std::uint32_t worst() const noexcept;
  // Calls visit(level) from the greatest key to the least; `visit` must not change the index.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t id = last_leaf_; id != kNoSlot; id = nodes_[id].previous) {
      const Node& leaf = nodes_[id];
      for (std::uint32_t i = leaf.count; i-- > 0;) visit(leaf.refs[i]);
    }
  }

  // Makes room for `key_count` keys in any arrangement: no allocation up to that many.
  void reserve(std::size_t key_count);
  std::size_t memory_bytes() const noexcept { return nodes_.memory_bytes(); }
  // Checks order, fill and links of the whole tree; for tests.
  bool consistent() const noexcept;

 private:
  static constexpr std::uint32_t kFanOut = 32;
  // Below this a node other than the root is merged with a neighbour or takes over some of its
  // keys.
  static constexpr std::uint32_t kFillMin = 10;
  // A merged node keeps some room, so that one insertion does not split it again.
  static constexpr std::uint32_t kMergedFillMax = 26;
  // kFillMin^9 exceeds the 2^32 level numbers there are.
  static constexpr std::uint32_t kHeightMax = 10;

  struct alignas(64) Node {
    std::array<std::int64_t, kFanOut>
        keys;  // of an inner node: no key of child i > 0 is below keys[i]
    std::array<std::uint32_t, kFanOut> refs;  // levels (leaf) or children (inner node)
    std::uint32_t previous = kNoSlot;         // neighbour of the same height, towards lesser keys
    std::uint32_t next = kNoSlot;
    std::uint32_t count = 0;
  };
  struct Step {
    std::uint32_t node;
    std::uint32_t position;
  };
  using Path = std::array<Step, kHeightMax>;

  static std::uint32_t child_position(const Node& node, std::int64_t key) noexcept;
  static std::uint32_t leaf_position(const Node& leaf, std::int64_t key) noexcept;
  static void insert_entry(Node& node, std::uint32_t position, std::int64_t key,
                           std::uint32_t ref) noexcept;
  static void erase_entry(Node& node, std::uint32_t position) noexcept;
  // The leaf that holds `key` or would; fills the path down to it.
  std::uint32_t descend(std::int64_t key, Path& path) const noexcept;
  std::uint32_t leaf_of(std::int64_t key) const noexcept;
  std::uint32_t take_node();
  std::uint32_t split(std::uint32_t node_id);
  void insert_at(Path& path, std::uint32_t depth, std::int64_t key, std::uint32_t ref);
  // Restores the fill of path[depth]; false if nothing above it changed.
  bool mend(const Path& path, std::uint32_t depth) noexcept;
  void merge(std::uint32_t left_id, std::uint32_t right_id) noexcept;
  static void balance(Node& left, Node& right) noexcept;
  bool node_consistent(std::uint32_t id, std::uint32_t height, std::int64_t least,
                       std::size_t& key_count) const noexcept;

  ChunkedPool<Node, 3> nodes_;
  std::size_t size_ = 0;
  std::uint32_t root_ = kNoSlot;
  std::uint32_t last_leaf_ = kNoSlot;
  std::uint32_t first_leaf_ = kNoSlot;
  std::uint32_t height_ = 1;  // 1: the root is a leaf
};

}  // namespace tocsin
