// B+ tree of price keys. Nodes keep at least kFillMin entries, so the number of nodes, and with it
// the memory, is bounded by the number of keys whatever their history.
#include "features/price_index.h"

#include <algorithm>

#include "base/assert.h"

namespace tocsin {

PriceIndex::PriceIndex() {
  root_ = take_node();
  first_leaf_ = last_leaf_ = root_;
}

std::uint32_t PriceIndex::take_node() {
  const std::uint32_t id = nodes_.take();
  Node& node = nodes_[id];
  node.count = 0;
  node.previous = node.next = kNoSlot;
  return id;
}

void PriceIndex::reserve(std::size_t key_count) {
  // Each height holds at most 1 / kFillMin of the nodes below it, plus the root's; one node more is
  // in hand while another splits.
  std::size_t node_count = 2;
  for (std::size_t width = key_count; width > 1; width /= kFillMin) {
    node_count += width / kFillMin + 1;
  }
  nodes_.reserve(node_count);
}

// Entries from the end first: most of what happens, happens near the best price.
std::uint32_t PriceIndex::child_position(const Node& node, std::int64_t key) noexcept {
  std::uint32_t high = node.count - 1;
  if (high == 0 || node.keys[high] <= key) return high;
  std::uint32_t low = 0;  // keys[low] <= key, or low is 0; keys[high] > key
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    if (node.keys[middle] <= key) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

std::uint32_t PriceIndex::leaf_position(const Node& leaf, std::int64_t key) noexcept {
  std::uint32_t high = leaf.count;  // all from `high` on are >= key
  for (int near_the_top = 4; near_the_top > 0; --near_the_top) {
    if (high == 0 || leaf.keys[high - 1] < key) return high;
    --high;
  }
  std::uint32_t low = 0;  // all below `low` are < key
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (leaf.keys[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::uint32_t PriceIndex::leaf_of(std::int64_t key) const noexcept {
  const Node& top = nodes_[last_leaf_];
  if (height_ == 1 || key >= top.keys[0]) return last_leaf_;
  std::uint32_t id = root_;
  for (std::uint32_t depth = 1; depth < height_; ++depth) {
    const Node& node = nodes_[id];
    id = node.refs[child_position(node, key)];
  }
  return id;
}

std::uint32_t PriceIndex::descend(std::int64_t key, Path& path) const noexcept {
  std::uint32_t id = root_;
  for (std::uint32_t depth = 0; depth + 1 < height_; ++depth) {
    const Node& node = nodes_[id];
    const std::uint32_t position = child_position(node, key);
    path[depth] = {id, position};
    id = node.refs[position];
  }
  path[height_ - 1] = {id, leaf_position(nodes_[id], key)};
  return id;
}

std::uint32_t PriceIndex::find(std::int64_t key) const noexcept {
  const Node& leaf = nodes_[leaf_of(key)];
  const std::uint32_t position = leaf_position(leaf, key);
  return position < leaf.count && leaf.keys[position] == key ? leaf.refs[position] : kNoSlot;
}

void PriceIndex::insert_entry(Node& node, std::uint32_t position, std::int64_t key,
                              std::uint32_t ref) noexcept {
  std::copy_backward(node.keys.begin() + position, node.keys.begin() + node.count,
                     node.keys.begin() + node.count + 1);
  std::copy_backward(node.refs.begin() + position, node.refs.begin() + node.count,
                     node.refs.begin() + node.count + 1);
  node.keys[position] = key;
  node.refs[position] = ref;
  ++node.count;
}

void PriceIndex::erase_entry(Node& node, std::uint32_t position) noexcept {
  std::copy(node.keys.begin() + position + 1, node.keys.begin() + node.count,
            node.keys.begin() + position);
  std::copy(node.refs.begin() + position + 1, node.refs.begin() + node.count,
            node.refs.begin() + position);
  --node.count;
}

void PriceIndex::insert(std::int64_t key, std::uint32_t level) {
  ++size_;
  Node& leaf = nodes_[leaf_of(key)];
  if (leaf.count < kFanOut) {
    insert_entry(leaf, leaf_position(leaf, key), key, level);
    return;
  }
  Path path;
  descend(key, path);
  insert_at(path, height_ - 1, key, level);
}

// Moves the upper half of a full node into a new one to its right and returns that.
std::uint32_t PriceIndex::split(std::uint32_t node_id) {
  const std::uint32_t right_id = take_node();
  Node& left = nodes_[node_id];
  Node& right = nodes_[right_id];
  constexpr std::uint32_t kHalf = kFanOut / 2;
  std::copy(left.keys.begin() + kHalf, left.keys.end(), right.keys.begin());
  std::copy(left.refs.begin() + kHalf, left.refs.end(), right.refs.begin());
  left.count = kHalf;
  right.count = kFanOut - kHalf;
  right.previous = node_id;
  right.next = left.next;
  if (left.next != kNoSlot) nodes_[left.next].previous = right_id;
  left.next = right_id;
  if (node_id == last_leaf_) last_leaf_ = right_id;
  return right_id;
}

void PriceIndex::insert_at(Path& path, std::uint32_t depth, std::int64_t key, std::uint32_t ref) {
  for (;;) {
    const auto [node_id, position] = path[depth];
    Node& node = nodes_[node_id];
    if (node.count < kFanOut) {
      insert_entry(node, position, key, ref);
      return;
    }
    const std::uint32_t right_id = split(node_id);
    Node& right = nodes_[right_id];
    if (position > node.count) {
      insert_entry(right, position - node.count, key, ref);
    } else {
      insert_entry(node, position, key, ref);
    }
    key = right.keys[0];
    ref = right_id;
    if (depth == 0) break;
    --depth;
    ++path[depth].position;
  }
  const std::uint32_t new_root = take_node();
  Node& root = nodes_[new_root];
  insert_entry(root, 0, nodes_[root_].keys[0], root_);
  insert_entry(root, 1, key, ref);
  root_ = new_root;
  ++height_;
  TOCSIN_ASSERT(height_ <= kHeightMax);
}

void PriceIndex::erase(std::int64_t key) noexcept {
  --size_;
  const std::uint32_t leaf_id = leaf_of(key);
  Node& leaf = nodes_[leaf_id];
  const std::uint32_t position = leaf_position(leaf, key);
  TOCSIN_ASSERT(position < leaf.count && leaf.keys[position] == key);
  if (leaf.count > kFillMin || height_ == 1) {
    erase_entry(leaf, position);
    return;
  }
  Path path;
  descend(key, path);
  erase_entry(leaf, position);
  for (std::uint32_t depth = height_ - 1; depth > 0 && mend(path, depth);) --depth;
  if (height_ > 1 && nodes_[root_].count == 1) {
    const std::uint32_t old_root = root_;
    root_ = nodes_[old_root].refs[0];
    nodes_.give_back(old_root);
    --height_;
  }
}

bool PriceIndex::mend(const Path& path, std::uint32_t depth) noexcept {
  if (nodes_[path[depth].node].count >= kFillMin) return false;
  Node& parent = nodes_[path[depth - 1].node];
  const std::uint32_t position = path[depth - 1].position;
  const std::uint32_t right_position = position > 0 ? position : 1;
  const std::uint32_t left_id = parent.refs[right_position - 1];
  const std::uint32_t right_id = parent.refs[right_position];
  Node& left = nodes_[left_id];
  Node& right = nodes_[right_id];
  if (left.count + right.count <= kMergedFillMax) {
    merge(left_id, right_id);
    erase_entry(parent, right_position);
    return true;
  }
  balance(left, right);
  parent.keys[right_position] = right.keys[0];
  return false;
}

void PriceIndex::merge(std::uint32_t left_id, std::uint32_t right_id) noexcept {
  Node& left = nodes_[left_id];
  const Node& right = nodes_[right_id];
  std::copy_n(right.keys.begin(), right.count, left.keys.begin() + left.count);
  std::copy_n(right.refs.begin(), right.count, left.refs.begin() + left.count);
  left.count += right.count;
  left.next = right.next;
  if (right.next != kNoSlot) nodes_[right.next].previous = left_id;
  if (right_id == last_leaf_) last_leaf_ = left_id;
  nodes_.give_back(right_id);
}

void PriceIndex::balance(Node& left, Node& right) noexcept {
  const std::uint32_t left_target = (left.count + right.count) / 2;
  if (left.count > left_target) {
    const std::uint32_t moved = left.count - left_target;
    std::copy_backward(right.keys.begin(), right.keys.begin() + right.count,
                       right.keys.begin() + right.count + moved);
    std::copy_backward(right.refs.begin(), right.refs.begin() + right.count,
                       right.refs.begin() + right.count + moved);
    std::copy_n(left.keys.begin() + left_target, moved, right.keys.begin());
    std::copy_n(left.refs.begin() + left_target, moved, right.refs.begin());
    right.count += moved;
  } else {
    const std::uint32_t moved = left_target - left.count;
    std::copy_n(right.keys.begin(), moved, left.keys.begin() + left.count);
    std::copy_n(right.refs.begin(), moved, left.refs.begin() + left.count);
    std::copy(right.keys.begin() + moved, right.keys.begin() + right.count, right.keys.begin());
    std::copy(right.refs.begin() + moved, right.refs.begin() + right.count, right.refs.begin());
    right.count -= moved;
  }
  left.count = left_target;
}

void PriceIndex::clear() noexcept {
  // Height by height: the leftmost node of each, then its neighbours to the right.
  std::uint32_t leftmost = root_;
  for (std::uint32_t depth = 0; depth < height_; ++depth) {
    std::uint32_t id = leftmost;
    leftmost = nodes_[id].refs[0];
    while (id != kNoSlot) {
      const std::uint32_t next = nodes_[id].next;
      nodes_.give_back(id);
      id = next;
    }
  }
  root_ = take_node();
  first_leaf_ = last_leaf_ = root_;
  height_ = 1;
  size_ = 0;
}

std::uint32_t PriceIndex::level_at_rank(std::size_t rank) const noexcept {
  std::uint32_t id = last_leaf_;
  while (rank >= nodes_[id].count) {
    rank -= nodes_[id].count;
    id = nodes_[id].previous;
  }
  const Node& leaf = nodes_[id];
  return leaf.refs[leaf.count - 1 - rank];
}

std::uint32_t PriceIndex::worst() const noexcept { return nodes_[first_leaf_].refs[0]; }

bool PriceIndex::node_consistent(std::uint32_t id, std::uint32_t height, std::int64_t least,
                                 std::size_t& key_count) const noexcept {
  const Node& node = nodes_[id];
  if (id != root_ && node.count < kFillMin) return false;
  if (node.count > kFanOut) return false;
  // The first key of an inner node is never read: smaller ones may have gone to its first child.
  for (std::uint32_t i = height == 1 ? 1 : 2; i < node.count; ++i) {
    if (node.keys[i - 1] >= node.keys[i]) return false;
  }
  if (height == 1) {
    key_count += node.count;
    return node.count == 0 || node.keys[0] >= least;
  }
  if (node.count < 2 || node.keys[1] <= least) return false;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    const std::int64_t child_least = i == 0 ? least : node.keys[i];
    if (!node_consistent(node.refs[i], height - 1, child_least, key_count)) return false;
    const bool linked = i == 0 || nodes_[node.refs[i]].previous == node.refs[i - 1];
    if (!linked) return false;
  }
  return true;
}

bool PriceIndex::consistent() const noexcept {
  std::size_t key_count = 0;
  if (!node_consistent(root_, height_, INT64_MIN, key_count) || key_count != size_) return false;
  std::size_t walked = 0;
  std::int64_t above = INT64_MAX;
  for (std::uint32_t id = last_leaf_; id != kNoSlot; id = nodes_[id].previous) {
    for (std::uint32_t i = nodes_[id].count; i-- > 0; ++walked) {
      if (walked > 0 && nodes_[id].keys[i] >= above) return false;
      above = nodes_[id].keys[i];
    }
    if (nodes_[id].previous == kNoSlot && id != first_leaf_) return false;
  }
  return walked == size_;
}

}  // namespace tocsin
