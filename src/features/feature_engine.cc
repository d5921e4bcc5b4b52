// Ties the stages of one instrument's features: measure the update, roll the windows, form the
// values. Time is the exchange's and never runs backwards inside.
#include "features/feature_engine.h"

#include <algorithm>

#include "features/feature_inputs.h"
#include "features/feature_values.h"
#include "features/market_statistics.h"
#include "features/portable_math.h"
#include "features/rolling_windows.h"
#include "features/update_measurer.h"

namespace tocsin {
namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;

FeatureNeeds needs_of(const FeatureSchema& schema) noexcept {
  FeatureNeeds needs;
  for (const std::uint16_t index : schema.indices()) {
    needs.add(family_of(static_cast<Feature>(index)));
  }
  return needs;
}

// The windows that the families read.
std::array<bool, kWindowCount> windows_of(FeatureNeeds needs) noexcept {
  const bool book = needs.has(FeatureFamily::kBook);
  const bool flow = needs.has(FeatureFamily::kFlow);
  const bool all = needs.has(FeatureFamily::kVolatility) || needs.has(FeatureFamily::kActivity);
  return {all || flow, all || flow, all || book, all || flow, all};
}

}  // namespace

void form_features(const FeatureInputs& inputs, FeatureNeeds needs,
                   FeatureValues& values) noexcept {
  if (needs.has(FeatureFamily::kBook)) form_book_features(inputs, values);
  if (needs.has(FeatureFamily::kFlow)) form_flow_features(inputs, values);
  if (needs.has(FeatureFamily::kVolatility)) form_volatility_features(inputs, values);
  if (needs.has(FeatureFamily::kActivity)) form_activity_features(inputs, values);
  if (needs.has(FeatureFamily::kTime)) form_time_features(inputs, values);
  if (!needs.any_statistic()) return;
  const StatisticInputs& statistics = inputs.statistics;
  if (needs.has(FeatureFamily::kSlope)) form_slope_feature(inputs, values);
  if (statistics.level_flow != nullptr) form_level_flow_features(*statistics.level_flow, values);
  if (statistics.buckets != nullptr) form_bucket_feature(*statistics.buckets, values);
  if (statistics.trades != nullptr) form_trade_features(*statistics.trades, values);
  if (statistics.intensity != nullptr) form_intensity_features(*statistics.intensity, values);
  if (statistics.bars != nullptr) form_bar_features(*statistics.bars, values);
  if (statistics.leader != nullptr) form_leader_features(*statistics.leader, values);
}

struct FeatureEngine::State {
  State(const FeatureSchema& schema, const Instrument& traded, const FeatureEngineOptions& options)
      : feature_indices(schema.indices().begin(), schema.indices().end()),
        needs(needs_of(schema)),
        measurer(traded),
        windows({.updates_capacity = options.window_updates_capacity,
                 .updates_max = options.window_updates_max,
                 .kept = windows_of(needs)}) {
    if (needs.any_statistic()) statistics = std::make_unique<MarketStatistics>(needs, traded);
  }

  void advance_time() noexcept;
  void fill_frame(const OrderBook& book, FeatureFrame& frame) noexcept;

  std::vector<std::uint16_t> feature_indices;
  FeatureNeeds needs;
  UpdateMeasurer measurer;
  RollingWindows windows;
  RollingRange mid_range;
  FeatureInputs inputs;
  std::unique_ptr<MarketStatistics> statistics;  // null if no feature needs any
  FeatureCounters counters;

  // Of the update at hand.
  QualityFlags quality;
  std::uint64_t record = 0;
  InstrumentId instrument = 0;

  std::int64_t exchange_time_ns = 0;  // of the last event that was applied
  std::int64_t receive_time_ns = 0;
  std::int64_t now_ns = 0;  // exchange time made monotone, after the last update
  std::int64_t last_trade_time_ns = 0;
  bool has_trade = false;
};

void FeatureEngine::State::advance_time() noexcept {
  const bool is_first = counters.updates == 0;
  inputs.since_update_ns = is_first ? 0 : elapsed_ns(now_ns, exchange_time_ns);
  if (is_first || exchange_time_ns >= now_ns) {
    now_ns = exchange_time_ns;
  } else if (elapsed_ns(exchange_time_ns, now_ns) > kWindowDurationNs.back()) {
    now_ns = exchange_time_ns;  // before all that the windows of time hold: they start anew
    ++counters.time_restarts;
  }
}

FeatureEngine::FeatureEngine(const FeatureSchema& schema, const Instrument& instrument,
                             const FeatureEngineOptions& options)
    : state_(std::make_unique<State>(schema, instrument, options)) {}
FeatureEngine::~FeatureEngine() = default;
FeatureEngine::FeatureEngine(FeatureEngine&&) noexcept = default;
FeatureEngine& FeatureEngine::operator=(FeatureEngine&&) noexcept = default;

void FeatureEngine::on_event(const MarketEvent& event, QualityFlags noticed) noexcept {
  State& state = *state_;
  state.quality |= event.quality | noticed;
  state.record = event.record;
  state.instrument = event.instrument;
  const bool late =
      event.quality.has(Quality::kDuplicate) || event.quality.has(Quality::kOutOfOrder);
  if (late) return;
  state.exchange_time_ns = event.exchange_time_ns;
  state.receive_time_ns = event.receive_time_ns;
  if (event.kind == EventKind::kTrade) state.measurer.on_trade(event);
}

bool FeatureEngine::complete_update(const OrderBook& book, FeatureFrame& frame) noexcept {
  State& state = *state_;
  FeatureInputs& inputs = state.inputs;
  const std::uint64_t restarts_before = state.counters.time_restarts;
  state.advance_time();
  StatisticsUpdate update;
  if (state.statistics) {
    update.now_ns = state.now_ns;
    update.time_restarted = state.counters.time_restarts != restarts_before;
    update.had_mid = state.measurer.has_mid();
    update.mid_before_half_ticks = state.measurer.mid_half_ticks();
  }
  state.measurer.measure(book, inputs);
  inputs.update.time_ns = state.now_ns;
  if (inputs.update[Summand::kTrades] > 0) {
    state.has_trade = true;
    state.last_trade_time_ns = state.now_ns;
  }
  state.windows.push(inputs.update);
  if (state.measurer.has_mid()) state.mid_range.push(state.measurer.mid_half_ticks());
  if (state.statistics) {
    update.mid_half_ticks = state.measurer.mid_half_ticks();
    state.statistics->on_update(update, book, inputs);
  }
  ++state.counters.updates;
  state.counters.windows_truncated = state.windows.truncated_count();
  const bool whole = inputs.best.bid.quantity_nanos > 0 && inputs.best.ask.quantity_nanos > 0;
  if (whole) state.fill_frame(book, frame);
  state.quality = {};
  return whole;
}

void FeatureEngine::State::fill_frame(const OrderBook& book, FeatureFrame& frame) noexcept {
  inputs.windows = &windows.windows();
  inputs.mid_range_half_ticks = mid_range.range();
  inputs.since_trade_ns = has_trade ? elapsed_ns(last_trade_time_ns, now_ns) : 0;
  inputs.time_of_day_ns = now_ns % kDayNs + (now_ns % kDayNs < 0 ? kDayNs : 0);
  FeatureValues formed;
  form_features(inputs, needs, formed);

  const TradingStatus status = book.status();
  if (!book.trusted()) quality |= Quality::kBookUntrusted;
  if (status == TradingStatus::kHalted || status == TradingStatus::kAuction ||
      status == TradingStatus::kClosed) {
    quality |= Quality::kNotTrading;
  }
  frame.exchange_time_ns = exchange_time_ns;
  frame.receive_time_ns = receive_time_ns;
  frame.position = {.record = record};
  frame.frame_number = ++counters.frames;
  frame.mid_price_nanos_x2 = inputs.best.bid.price_nanos + inputs.best.ask.price_nanos;
  frame.instrument = instrument;
  frame.quality = quality;
  frame.feature_count = static_cast<std::uint16_t>(feature_indices.size());
  for (std::size_t i = 0; i < feature_indices.size(); ++i) {
    frame.values[i] = formed.values[feature_indices[i]];
  }
  std::fill(frame.values.begin() + static_cast<std::ptrdiff_t>(feature_indices.size()),
            frame.values.end(), 0.0F);
}

void FeatureEngine::follow(const FeatureEngine& leader) noexcept {
  if (state_->statistics && leader.state_->statistics)
    state_->statistics->follow(*leader.state_->statistics);
}

const FeatureCounters& FeatureEngine::counters() const noexcept { return state_->counters; }

std::size_t FeatureEngine::memory_bytes() const noexcept {
  return sizeof(State) + state_->feature_indices.capacity() * sizeof(std::uint16_t) +
         state_->windows.memory_bytes() +
         (state_->statistics ? state_->statistics->memory_bytes() : 0);
}

}  // namespace tocsin
