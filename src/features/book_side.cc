// Levels of one side. The copy of the best ten costs one comparison where a deeper level changes.
#include "features/book_side.h"

#include <algorithm>

namespace tocsin {

BookSide::BookSide(Side side, std::size_t level_capacity) : key_mask_(side == Side::kAsk ? -1 : 0) {
  levels_.reserve(level_capacity);
  index_.reserve(levels_.capacity());
}

std::uint32_t BookSide::find(std::int64_t price_nanos) const noexcept {
  return index_.find(key_of(price_nanos));
}

std::size_t BookSide::top_position(std::int64_t price_nanos) const noexcept {
  std::size_t position = 0;
  while (top_[position].price_nanos != price_nanos) ++position;
  return position;
}

std::uint32_t BookSide::create(std::int64_t price_nanos) {
  const std::size_t capacity_before = levels_.capacity();
  const std::uint32_t id = levels_.take();
  if (levels_.capacity() != capacity_before) index_.reserve(levels_.capacity());
  Level& level = levels_[id];
  level = Level{};
  level.price_nanos = price_nanos;
  const std::int64_t key = key_of(price_nanos);
  index_.insert(key, id);

  std::size_t position = top_count_;
  while (position > 0 && key > key_of(top_[position - 1].price_nanos)) --position;
  if (position < OrderBook::kTopLevels) {
    if (top_count_ < OrderBook::kTopLevels) ++top_count_;
    std::copy_backward(top_.begin() + static_cast<std::ptrdiff_t>(position),
                       top_.begin() + static_cast<std::ptrdiff_t>(top_count_) - 1,
                       top_.begin() + static_cast<std::ptrdiff_t>(top_count_));
    top_[position] = view(level);
  }
  return id;
}

void BookSide::refresh(std::uint32_t level_id) noexcept {
  const Level& level = levels_[level_id];
  if (level.quantity_nanos == 0) {
    remove(level_id);
  } else if (within_top(key_of(level.price_nanos))) {
    top_[top_position(level.price_nanos)] = view(level);
  }
}

void BookSide::remove(std::uint32_t level_id) noexcept {
  const std::int64_t price_nanos = levels_[level_id].price_nanos;
  const std::int64_t key = key_of(price_nanos);
  const bool was_in_top = within_top(key);
  index_.erase(key);
  levels_.give_back(level_id);
  if (!was_in_top) return;
  const auto position = static_cast<std::ptrdiff_t>(top_position(price_nanos));
  std::copy(top_.begin() + position + 1, top_.begin() + static_cast<std::ptrdiff_t>(top_count_),
            top_.begin() + position);
  --top_count_;
  if (index_.size() > top_count_) {
    top_[top_count_] = view(levels_[index_.level_at_rank(top_count_)]);
    ++top_count_;
  }
}

void BookSide::clear() noexcept {
  index_.for_each([this](std::uint32_t level) { levels_.give_back(level); });
  index_.clear();
  top_count_ = 0;
}

}  // namespace tocsin
