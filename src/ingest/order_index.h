// Which symbol an order is of, for feeds whose later messages name the order alone. Open addressing
// without tombstones; allocates only when it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tocsin {

class OrderIndex {
 public:
  struct Entry {
    std::uint64_t id = 0;  // 0: an empty place
    std::uint32_t symbol : 31 = 0;
    std::uint32_t is_ask : 1 = 0;
    std::uint32_t quantity = 0;  // what still rests of it
  };
  static_assert(sizeof(Entry) == 16);
  // What would go past this is refused.
  static constexpr std::size_t kOrdersMax = std::size_t{1} << 24;

  // Adds an order, or replaces the one of that id; false if the index is full or the id is 0.
  bool put(const Entry& entry);
  // Null if there is none; valid until the next put() or erase().
  Entry* find(std::uint64_t id) noexcept;
  void erase(std::uint64_t id) noexcept;
  void clear() noexcept;
  std::size_t size() const noexcept { return size_; }

 private:
  std::size_t place_of(std::uint64_t id) const noexcept;
  void grow();

  std::vector<Entry> places_;  // a power of two of them, at most half in use
  std::size_t size_ = 0;
};

}  // namespace tocsin
