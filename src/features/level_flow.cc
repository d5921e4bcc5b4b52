// Levels are compared by rank with those of the update before; quantities are divided only where
// they changed.
#include "features/level_flow.h"

#include <algorithm>

#include "features/feature_inputs.h"

namespace tocsin {

void LevelFlow::take_side(Side side, std::span<const BookLevel> top, Window::Row& row) noexcept {
  const std::int64_t sign = side == Side::kBid ? 1 : -1;
  Levels& levels = levels_[side == Side::kBid ? 0 : 1];
  for (std::size_t i = 0; i < kFlowLevels; ++i) {
    Level& level = levels[i];
    const Level before = level;
    const BookLevel now = i < top.size() ? top[i] : BookLevel{};
    if (now.quantity_nanos != before.quantity_nanos) {
      level.quantity_nanos = now.quantity_nanos;
      level.steps = std::min(now.quantity_nanos / quantity_step_nanos_, kQuantityStepsMax);
    }
    level.price_nanos = now.price_nanos;
    row[kFlowLevels + i] += level.steps;
    // A level that is missing counts as worse than any price.
    const bool had = before.quantity_nanos > 0;
    const bool has = now.quantity_nanos > 0;
    const std::int64_t improved_nanos = sign * now.price_nanos - sign * before.price_nanos;
    const bool not_worse = has && (!had || improved_nanos >= 0);
    const bool not_better = had && (!has || improved_nanos <= 0);
    row[i] += sign * ((not_worse ? level.steps : 0) - (not_better ? before.steps : 0));
  }
}

void LevelFlow::on_update(const OrderBook& book) noexcept {
  Window::Row row{};
  take_side(Side::kBid, book.top(Side::kBid), row);
  take_side(Side::kAsk, book.top(Side::kAsk), row);
  window_.push(row);
  for (std::size_t i = 0; i < kFlowLevels; ++i) {
    sums_.flow[i] = window_.sum(i);
    sums_.depth[i] = window_.sum(kFlowLevels + i);
  }
  sums_.update_count = window_.count();
}

}  // namespace tocsin
