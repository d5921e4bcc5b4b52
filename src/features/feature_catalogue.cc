// Every feature with its exact formula. Raise a feature's version when its formula changes.
#include "features/feature_catalogue.h"

#include <array>

#include "features/feature_engine.h"
#include "features/feature_values.h"

namespace tocsin {
namespace {

constexpr std::string_view kCommon = "common practice";
constexpr std::string_view kOrderFlowPaper =
    "Cont, Kukanov, Stoikov: The Price Impact of Order Book Events, J. Financial Econometrics "
    "12(1), 2014";
constexpr std::string_view kRealisedPaper =
    "Andersen, Bollerslev, Diebold, Labys: Modeling and Forecasting Realized Volatility, "
    "Econometrica "
    "71(2), 2003";

constexpr std::array<FeatureDescription, kFeatureCount> kCatalogue = {{
    {"mid", "(b + a) / 2", "ticks", kCommon},
    {"spread", "a - b", "ticks", kCommon},
    {"micro_price_offset", "(a qb + b qa) / (qb + qa) - mid = spread * depth_imbalance_1 / 2",
     "ticks", "weighted mid: Stoikov: The Micro-Price, Quantitative Finance 18(12), 2018"},
    {"depth_imbalance_1", "(qb - qa) / (qb + qa)", "ratio",
     "Gould, Bonart: Queue Imbalance as a One-Tick-Ahead Price Predictor, 2016"},
    {"depth_imbalance_5", "the same of the sums of the best 5 levels", "ratio", kCommon},
    {"depth_imbalance_10", "the same of the sums of the best 10 levels", "ratio", kCommon},
    {"depth_distance_10",
     "((b - bid of level 10) + (ask of level 10 - a)) / 2, or of the last level", "ticks", kCommon},
    {"best_size_share_10", "(qb + qa) / quantity of the best 10 levels of both sides", "ratio",
     kCommon},
    {"top_depth_ratio_500",
     "quantity of the best 10 levels of both sides / its mean over 500 updates", "ratio", kCommon},
    {"order_flow_1", "e of this update / D over 100 updates", "ratio", kOrderFlowPaper},
    {"order_flow_20", "sum of e over 20 updates / D over them", "ratio", kOrderFlowPaper},
    {"order_flow_100", "sum of e over 100 updates / D over them", "ratio", kOrderFlowPaper},
    {"order_flow_1s", "sum of e over 1 s / D over it", "ratio", kOrderFlowPaper},
    {"bid_queue_change",
     "(qb - qb') / max(qb, qb') at the same price; 1 if the bid rose, -1 if it fell", "ratio",
     kCommon},
    {"ask_queue_change",
     "(qa - qa') / max(qa, qa') at the same price; 1 if the ask fell, -1 if it rose", "ratio",
     kCommon},
    {"queue_refill_100", "(R - C - T) / (R + C + T) over 100 updates", "ratio", kCommon},
    {"queue_trade_share_100", "T / (C + T) over 100 updates", "ratio", kCommon},
    {"mid_move_1", "r, the move of the mid by this update", "ticks", kCommon},
    {"mid_move_20", "sum of r over 20 updates", "ticks", kCommon},
    {"mid_move_100", "sum of r over 100 updates", "ticks", kCommon},
    {"mid_move_1s", "sum of r over 1 s", "ticks", kCommon},
    {"mid_range_100", "greatest less least mid of 100 updates", "ticks",
     "Parkinson: The Extreme Value Method for Estimating the Variance of the Rate of Return, J. "
     "Business "
     "53(1), 1980"},
    {"realised_volatility_20", "sqrt(sum of r^2 over 20 updates)", "ticks", kRealisedPaper},
    {"realised_volatility_500", "sqrt(sum of r^2 over 500 updates)", "ticks", kRealisedPaper},
    {"realised_volatility_10s", "sqrt(sum of r^2 over 10 s)", "ticks", kRealisedPaper},
    {"volatility_burst", "sqrt(mean of r^2 over 20 updates / mean of r^2 over 500 updates)",
     "ratio", kCommon},
    {"volatility_burst_1s", "sqrt(10 * sum of r^2 over 1 s / sum of r^2 over 10 s)", "ratio",
     kCommon},
    {"trade_sign",
     "1 if more was bought than sold by aggressors in the last update with trades, -1 if less, "
     "else 0",
     "sign", kCommon},
    {"trade_imbalance_100", "(B - S) / (B + S) over 100 updates", "ratio", kCommon},
    {"signed_volume_1s", "sum of B - S over 1 s / D over it", "ratio", kCommon},
    {"volume_anomaly",
     "(V over 20 updates - 20 m) / (s sqrt(20)), m and s the mean and deviation of V an update "
     "over 500",
     "deviations", kCommon},
    {"trade_rate_1s", "trades in 1 s", "1/s", kCommon},
    {"arrival_rate_1s", "orders added (or levels raised) in 1 s", "1/s", kCommon},
    {"cancel_rate_1s", "orders reduced or deleted (or levels lowered) in 1 s", "1/s", kCommon},
    {"cancel_share_10s", "cancels / (cancels + arrivals) over 10 s", "ratio", kCommon},
    {"update_rate_burst", "10 * updates in 1 s / updates in 10 s", "ratio", kCommon},
    {"time_since_trade", "lg(1 + us since the last update with trades)", "lg us", kCommon},
    {"time_since_update", "lg(1 + us since the update before)", "lg us", kCommon},
    {"time_of_day_sin", "sin(2 pi * day fraction)", "ratio", kCommon},
    {"time_of_day_cos", "cos(2 pi * day fraction)", "ratio", kCommon},
}};

constexpr std::string_view kPreamble = R"(# Features

One frame an update of the book (an update ends where an event says `end_of_update`; a trade alone
is one too). This file is the catalogue of `src/features/feature_catalogue.cc`; a test compares
the two.

Symbols: `b`, `a` best bid and ask; `qb`, `qa` the quantities there; a prime marks the update
before. `e` is the order flow of an update,
`[b >= b'] qb - [b <= b'] qb' - [a <= a'] qa + [a >= a'] qa'`.
`D` is the mean over a window's updates of `qb + qa`, twice the mean depth, so that the sum of `e`
over `D` is the move of the mid in ticks that the paper's equation predicts. `R` is what joined
the best levels (a better price counts with all of its quantity), `C` and `T` what left them, by
cancels and by trades: of what a side's best level lost, as much as was traded against that side
since the book last changed is `T`. `B`, `S`, `V` are volumes bought and sold by aggressors, and
all traded. `r` is the move of the mid by one update. `lg` equals log2 at powers of two and is
linear in between.

Exactness: every sum over a window is kept in 64-bit integers (quantities in the instrument's
steps, moves in half ticks) and equals a recomputation from the whole history bit for bit, for as
long as the stream runs: a summand lies within 2^47 and a window holds at most 2^16 updates, so a
sum lies within 2^63, and nothing is ever accumulated but what is in the window. Floating point
comes in last, by one function from the same integers, with + - * / and sqrt alone. Caps: a
quantity 2^45 steps, a move of the mid in one update 2^23 half ticks, V of one update 2^23 steps
in `volume_anomaly`.

Windows: the newest update is in each. A window of 1 s or 10 s holds the updates younger than
that, by exchange time; time that runs backwards stands still, and by more than 10 s starts these
windows anew. They hold at most 65,536 updates (`FeatureEngineOptions::window_updates_max`); past
it the oldest leave early and `FeatureCounters::windows_truncated` counts them. Before a window
has filled, it is as long as the stream. A ratio whose denominator is zero is 0. Level changes of
a snapshot are no arrivals or cancels; where a feed reports trades apart from its book, what they
take off the book counts among the cancels.

A schema is an ordered choice of names; its hash (BLAKE2s) covers names and versions, and a model
that was trained on another is refused.

| feature | formula | unit | version | source |
|---|---|---|---|---|
)";

}  // namespace

std::span<const FeatureDescription> feature_catalogue() noexcept { return kCatalogue; }

std::string feature_catalogue_markdown() {
  std::string text(kPreamble);
  for (const FeatureDescription& feature : kCatalogue) {
    text += "| `";
    text += feature.name;
    text += "` | ";
    text += feature.formula;
    text += " | ";
    text += feature.unit;
    text += " | ";
    text += std::to_string(feature.version);
    text += " | ";
    text += feature.source;
    text += " |\n";
  }
  return text;
}

}  // namespace tocsin
