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

constexpr std::string_view kLevelFlowPaper =
    "Xu, Gould, Howison: Multi-Level Order-Flow Imbalance in a Limit Order Book, Market "
    "Microstructure and Liquidity 4(3-4), 2018";
constexpr std::string_view kSpreadPaper =
    "Huang, Stoll: Dealer Versus Auction Markets, J. Financial Economics 41(3), 1996";
constexpr std::string_view kHawkesPaper =
    "Bacry, Mastromatteo, Muzy: Hawkes Processes in Finance, Market Microstructure and Liquidity "
    "1(1), 2015";
constexpr std::string_view kLeadPaper =
    "Huth, Abergel: High Frequency Lead/Lag Relationships - Empirical Facts, J. Empirical Finance "
    "26, 2014";

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
    {"order_flow_level_2_100",
     "sum of e of the second levels over 100 updates / mean of their quantities", "ratio",
     kLevelFlowPaper},
    {"order_flow_level_3_100", "the same of the third levels", "ratio", kLevelFlowPaper},
    {"order_flow_level_4_100", "the same of the fourth levels", "ratio", kLevelFlowPaper},
    {"order_flow_level_5_100", "the same of the fifth levels", "ratio", kLevelFlowPaper},
    {"order_flow_levels_5_100",
     "sum of e of the best 5 levels over 100 updates / mean of their quantities", "ratio",
     kLevelFlowPaper},
    {"depth_slope_10",
     "mean of both sides of (w(1) / d(1) + sum of (w(i+1) / w(i) - 1) / d(i+1)) / levels, over the "
     "best 10; w(i) = ln of the steps up to level i, d(i) = abs(p(i) / p(i-1) - 1), p(0) the mid",
     "elasticity",
     "Naes, Skjeltorp: Order Book Characteristics and the Volume-Volatility Relation, J. Financial "
     "Markets 9(4), 2006"},
    {"vpin_50", "sum of abs(B - S) of the last 50 full buckets / sum of their volumes", "ratio",
     "Easley, Lopez de Prado, O'Hara: Flow Toxicity and Liquidity in a High-Frequency World, "
     "Review of Financial Studies 25(5), 2012"},
    {"roll_spread_100",
     "2 sqrt(-cov(d, d')), d the move from one trade's price to the next, of the last 100 d; 0 if "
     "cov is positive",
     "ticks",
     "Roll: A Simple Implicit Measure of the Effective Bid-Ask Spread in an Efficient Market, J. "
     "Finance 39(4), 1984"},
    {"trade_sign_autocorrelation_100", "correlation of s and s' over the last 100 trades", "ratio",
     "Lillo, Farmer: The Long Memory of the Efficient Market, Studies in Nonlinear Dynamics & "
     "Econometrics 8(3), 2004"},
    {"effective_spread_100",
     "mean of 2 s (p - m) of the last 100 trades, m the mid before the trade", "ticks",
     kSpreadPaper},
    {"realised_spread_100",
     "mean of 2 s (p - n) of the last 100 trades that are 1 s old, n the mid 1 s later", "ticks",
     kSpreadPaper},
    {"price_impact_100", "mean of 2 s (n - m) of the same trades", "ticks", kSpreadPaper},
    {"buy_intensity", "sum of e^-(age in s) of all buys of the last 16 s", "1/s", kHawkesPaper},
    {"sell_intensity", "sum of e^-(age in s) of all sells of the last 16 s", "1/s", kHawkesPaper},
    {"intensity_imbalance", "(buy_intensity - sell_intensity) / (buy_intensity + sell_intensity)",
     "ratio", kHawkesPaper},
    {"kyle_lambda_60s", "cov(r, B - S) / var(B - S) over 60 bars", "ticks/step",
     "Kyle: Continuous Auctions and Insider Trading, Econometrica 53(6), 1985"},
    {"amihud_60s",
     "mean of abs(r) / mid / (V * mid / 10^6) over those of 60 bars with trades, mid in currency",
     "1/million", "Amihud: Illiquidity and Stock Returns, J. Financial Markets 5(1), 2002"},
    {"realised_variance_60s", "RV = sum of r^2 over 60 bars", "ticks^2", kRealisedPaper},
    {"bipower_variation_60s", "BV = pi / 2 * sum of abs(r) abs(r') over 60 bars", "ticks^2",
     "Barndorff-Nielsen, Shephard: Power and Bipower Variation with Stochastic Volatility and "
     "Jumps, J. Financial Econometrics 2(1), 2004"},
    {"jump_statistic_60s",
     "(1 - BV / RV) / sqrt((pi^2 / 4 + pi - 5) / n * max(1, QP / BV^2)), QP = n (pi / 2)^2 * sum "
     "of the products of abs(r) of 4 bars in a row, over n = 60 bars",
     "deviations",
     "Barndorff-Nielsen, Shephard: Econometrics of Testing for Jumps in Financial Economics Using "
     "Bipower Variation, J. Financial Econometrics 4(1), 2006"},
    {"leader_move", "move of the leader's mid in this second and the one before", "ticks",
     kLeadPaper},
    {"leader_correlation_60s", "x(1)", "ratio", kLeadPaper},
    {"lead_lag_balance_60s",
     "(F - L) / (F + L), F the sum of x(1)^2 to x(5)^2, L that of x(-1)^2 to x(-5)^2; above 0 the "
     "leader leads",
     "ratio", kLeadPaper},
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
comes in last, by one function from the same integers, with + - * / and sqrt alone (`exp` and `ln`
are made of them). Caps: a
quantity 2^45 steps, a move of the mid in one update 2^23 half ticks, V of one update 2^23 steps
in `volume_anomaly`.

Windows: the newest update is in each. A window of 1 s or 10 s holds the updates younger than
that, by exchange time; time that runs backwards stands still, and by more than 10 s starts these
windows anew. They hold at most 65,536 updates (`FeatureEngineOptions::window_updates_max`); past
it the oldest leave early and `FeatureCounters::windows_truncated` counts them. Before a window
has filled, it is as long as the stream. A ratio whose denominator is zero is 0. Level changes of
a snapshot are no arrivals or cancels; where a feed reports trades apart from its book, what they
take off the book counts among the cancels.

Features from `order_flow_level_2_100` on keep a state of their own, of integers too, which is held
and kept up only where a schema names them. They write:

- `e` of the i-th levels as of the best ones, levels compared by rank.
- A trade is an update with trades: its price `p` is that of its last, its sign `s` that of its
  net volume. Trades without a price (0) are left out where one is needed, those of sign 0 or from
  before the first mid where spreads are. At most 1,024 trades wait for their second to pass; what
  comes while as many wait has no realised spread.
- A bucket holds 50 times the mean volume of the last 500 trades, as of when it begins. In an
  update bought volume fills it first, then sold, then what has no side; what is too much goes to
  the next.
- A bar is a second of exchange time, empty ones included; `r`, `B`, `S`, `V` are sums over it,
  capped at 2^23 half ticks and 2^40 steps. Windows hold the last complete bars, before 60 as many
  as there are. Time that runs backwards by more than 10 s starts bars and intensities anew.
- Ages of trades are exact to 2^-32 of their weight. `exp` and `ln` are written out
  (`src/features/portable_math.h`), so that all machines give the same bits.
- `x(i)` is the correlation over 60 bars of `r` with the leader's `r` of `i` bars earlier (`i`
  below 0: later), as far as the leader's events had come by then. Leaders are configured
  (`features.leaders`); without one these are 0.

```yaml
features:
  leaders:
    - {symbol: AAPL, leader: QQQ}
```

Nothing is estimated from prices that the feed says itself, the aggressor's side above all: where a
feed names none, volume is traded without a side.

A schema is an ordered choice of names; its hash (BLAKE2s) covers names and versions, and a model
that was trained on another is refused.

| feature | formula | unit | version | source |
|---|---|---|---|---|
)";

}  // namespace

std::span<const FeatureDescription> feature_catalogue() noexcept { return kCatalogue; }

std::string_view feature_group(std::size_t index) noexcept {
  switch (family_of(static_cast<Feature>(index))) {
    case FeatureFamily::kBook:
      return "book";
    case FeatureFamily::kFlow:
      return "order flow";
    case FeatureFamily::kVolatility:
      return "moves of the mid";
    case FeatureFamily::kActivity:
      return "activity";
    case FeatureFamily::kTime:
      return "time";
    case FeatureFamily::kLevelFlow:
    case FeatureFamily::kSlope:
      return "below the best level";
    case FeatureFamily::kBuckets:
    case FeatureFamily::kTrades:
    case FeatureFamily::kIntensity:
      return "trades";
    case FeatureFamily::kBars:
      return "bars of a second";
    case FeatureFamily::kLeader:
      return "leader";
  }
  return "";
}

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
