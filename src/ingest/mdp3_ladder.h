// One side of a book by price levels, as CME numbers them: which price stands at which level. It
// turns actions on levels into what now rests at prices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tocsin {

class MdpLadder {
 public:
  static constexpr std::size_t kDepthMax = 32;
  static constexpr std::int64_t kNoPrice = INT64_MIN;  // a level that is empty or not known

  void set_depth(std::size_t depth) noexcept { depth_ = depth; }
  std::size_t depth() const noexcept { return depth_; }
  void clear() noexcept { prices_.fill(kNoPrice); }

  // Levels count from 0 and lie below depth(). What falls off the end, or stood at the level
  // before, is returned; kNoPrice: nothing that is known.
  std::int64_t insert(std::size_t level, std::int64_t price_nanos) noexcept {
    const std::int64_t fallen = prices_[depth_ - 1];
    for (std::size_t i = depth_ - 1; i > level; --i) prices_[i] = prices_[i - 1];
    prices_[level] = price_nanos;
    return fallen;
  }
  std::int64_t replace(std::size_t level, std::int64_t price_nanos) noexcept {
    const std::int64_t before = prices_[level];
    prices_[level] = price_nanos;
    return before;
  }
  std::int64_t remove(std::size_t level) noexcept {
    const std::int64_t removed = prices_[level];
    for (std::size_t i = level; i + 1 < depth_; ++i) prices_[i] = prices_[i + 1];
    prices_[depth_ - 1] = kNoPrice;
    return removed;
  }

 private:
  std::size_t depth_ = 10;
  std::array<std::int64_t, kDepthMax> prices_ = [] {
    std::array<std::int64_t, kDepthMax> none{};
    none.fill(kNoPrice);
    return none;
  }();
};

}  // namespace tocsin
