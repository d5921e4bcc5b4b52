// Sums are made anew when a bar ends: sixty bars a second cost nothing an update.
#include "features/second_bars.h"

#include <algorithm>
#include <cstdlib>

#include "features/portable_math.h"

namespace tocsin {
namespace {

// Of values that are not negative; their order does not matter.
void add_capped(std::int64_t& sum, std::int64_t value) noexcept {
  sum = std::min(sum + value, std::int64_t{1} << 62);
}

}  // namespace

double bar_illiquidity(const SecondBar& bar, const BarScale& scale) noexcept {
  if (bar.volume == 0 || bar.mid_half_ticks <= 0) return 0.0;
  const auto mid_half_ticks = static_cast<double>(bar.mid_half_ticks);
  const double mid = mid_half_ticks * static_cast<double>(scale.price_tick_nanos) / 2e9;
  const double quantity =
      static_cast<double>(bar.volume) * (static_cast<double>(scale.quantity_step_nanos) / 1e9);
  const double relative_move = static_cast<double>(std::abs(bar.move)) / mid_half_ticks;
  return relative_move / (mid * quantity / 1e6);
}

void SecondBars::start(std::int64_t number) noexcept {
  started_ = true;
  bars_ = {};
  running_ = {};
  first_ = number_ = number;
  sums_ = {};
  leader_sums_ = {};
}

void SecondBars::advance(std::int64_t number) noexcept {
  const auto capped = [](std::int64_t volume) { return std::min(volume, kBarVolumeMax); };
  bar(number_) = {
      .move = std::clamp(running_.move, -kMoveMax, kMoveMax),
      .signed_volume = std::clamp(running_.bought - running_.sold, -kBarVolumeMax, kBarVolumeMax),
      .volume = capped(capped(running_.bought) + capped(running_.sold) + capped(running_.unsided)),
      .mid_half_ticks = running_.mid_half_ticks};
  const std::int64_t first_empty = std::max(number_ + 1, number - kKept + 1);
  for (std::int64_t empty = first_empty; empty <= number; ++empty) bar(empty) = {};
  number_ = number;
  running_ = {};
}

void SecondBars::sum_bars() noexcept {
  sums_ = {};
  const std::int64_t begin = std::max(first_, number_ - static_cast<std::int64_t>(kBarWindow));
  sums_.bar_count = number_ - begin;
  // The absolute moves of the three bars before, within the window.
  WideInteger before[3] = {0, 0, 0};
  for (std::int64_t n = begin; n < number_; ++n) {
    const SecondBar& one = bar(n);
    const WideInteger move = one.move;
    const WideInteger size = std::abs(one.move);
    sums_.move += one.move;
    sums_.signed_volume += one.signed_volume;
    sums_.move_square += move * move;
    sums_.signed_square += WideInteger{one.signed_volume} * one.signed_volume;
    sums_.move_signed += move * one.signed_volume;
    sums_.bipower += size * before[0];
    sums_.quadpower += size * before[0] * before[1] * before[2];
    before[2] = before[1];
    before[1] = before[0];
    before[0] = size;
    if (one.volume > 0) {
      sums_.illiquidity += bar_illiquidity(one, scale_);
      ++sums_.traded_bars;
    }
  }
}

void SecondBars::sum_leader(const SecondBars& leader) noexcept {
  leader_sums_.leading = {};
  leader_sums_.lagging = {};
  const std::int64_t begin = std::max(first_, number_ - static_cast<std::int64_t>(kBarWindow));
  leader_sums_.bar_count = number_ - begin;
  const auto add = [](CrossSums& sums, std::int64_t own, std::int64_t other) {
    sums.own += own;
    sums.other += other;
    sums.own_square += own * own;
    sums.other_square += other * other;
    sums.product += own * other;
  };
  for (std::int64_t n = begin; n < number_; ++n) {
    for (std::size_t i = 0; i < kLeadLags; ++i) {
      const std::int64_t shifted = n - static_cast<std::int64_t>(i) - 1;
      add(leader_sums_.leading[i], move_of(n), leader.move_of(shifted));
      add(leader_sums_.lagging[i], move_of(shifted), leader.move_of(n));
    }
  }
}

std::int64_t SecondBars::move_of(std::int64_t bar_number) const noexcept {
  if (!started_ || bar_number < first_ || bar_number > number_) return 0;
  if (bar_number == number_) return std::clamp(running_.move, -kMoveMax, kMoveMax);
  return bar_number > number_ - kKept ? bar(bar_number).move : 0;
}

void SecondBars::on_update(const StatisticsUpdate& update, const FeatureInputs& inputs,
                           const SecondBars* leader) noexcept {
  const std::int64_t number = floor_quotient(update.now_ns, kBarNs);
  if (!started_ || update.time_restarted) {
    start(number);
  } else if (number != number_) {
    advance(number);
    sum_bars();
    if (leader != nullptr) sum_leader(*leader);
  }
  running_.move += inputs.update[Summand::kMove];
  running_.mid_half_ticks = update.mid_half_ticks;
  if (inputs.update[Summand::kTrades] > 0) {
    add_capped(running_.bought, inputs.trades.bought_steps);
    add_capped(running_.sold, inputs.trades.sold_steps);
    add_capped(running_.unsided, inputs.trades.unsided_steps);
  }
  if (leader != nullptr)
    leader_sums_.recent_move = leader->move_of(number) + leader->move_of(number - 1);
}

}  // namespace tocsin
