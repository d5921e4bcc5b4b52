// What a message costs in the book, and in book and features together, one core: a synthetic
// order-by-order stream (CME's mix: adds, deletes, modifies, trades; a frame a message) and a
// price-by-price one. Both are checked against the naive twins before anything is timed.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "features/feature_engine.h"
#include "features/naive_feature_twin.h"
#include "features/naive_order_book.h"

namespace tocsin {
namespace {

constexpr std::int64_t kTick = 250'000'000;
constexpr std::int64_t kUnit = 1'000'000'000;
constexpr std::size_t kWarmUpEvents = 200'000;
constexpr std::size_t kTimedEvents = 400'000;
constexpr std::size_t kCheckedEvents = 60'000;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "features_bench: %s: the answer is wrong, nothing is timed\n", what);
  std::exit(1);
}

// Orders mostly near the best price, some hundreds of ticks away; about 6,000 rest at a time.
class OrderStream {
 public:
  MarketEvent next() {
    MarketEvent event;
    time_ns_ += static_cast<std::int64_t>(random_() % 400'000);
    event.exchange_time_ns = event.receive_time_ns = time_ns_;
    event.record = event.sequence = ++count_;
    event.end_of_update = true;
    if (count_ % 256 == 0) middle_ticks_ += static_cast<std::int64_t>(random_() % 5) - 2;
    const std::uint64_t dice = random_() % 100;
    if (resting_.size() < 6'000 || dice < 40) return add(event);
    const std::size_t chosen = random_() % resting_.size();
    event.order_id = resting_[chosen].order_id;
    event.side = resting_[chosen].side;
    event.price_nanos = resting_[chosen].price_nanos;
    if (dice < 58) {
      event.kind = EventKind::kModifyOrder;
      event.quantity_nanos = quantity();
      if (dice < 50) event.price_nanos = resting_[chosen].price_nanos = price(event.side);
      return event;
    }
    event.kind = dice < 95 ? EventKind::kDeleteOrder : EventKind::kExecuteOrder;
    event.quantity_nanos = 100 * kUnit;  // all of it
    resting_[chosen] = resting_.back();
    resting_.pop_back();
    return event;
  }

 private:
  struct Resting {
    std::uint64_t order_id;
    std::int64_t price_nanos;
    Side side;
  };

  MarketEvent add(MarketEvent event) {
    event.kind = EventKind::kAddOrder;
    event.order_id = 6'412'777'000'000 + count_;
    event.side = random_() % 2 == 0 ? Side::kBid : Side::kAsk;
    event.price_nanos = price(event.side);
    event.quantity_nanos = quantity();
    resting_.push_back({event.order_id, event.price_nanos, event.side});
    return event;
  }
  std::int64_t quantity() { return static_cast<std::int64_t>(1 + random_() % 20) * kUnit; }
  std::int64_t price(Side side) {
    std::uint64_t distance = 1 + random_() % 4;
    while (random_() % 3 != 0 && distance < 600) distance += random_() % 12;
    const auto ticks = static_cast<std::int64_t>(distance);
    return (side == Side::kBid ? middle_ticks_ - ticks : middle_ticks_ + ticks) * kTick;
  }

  std::mt19937_64 random_{20231225};
  std::vector<Resting> resting_;
  std::uint64_t count_ = 0;
  std::int64_t time_ns_ = 1'703'545'200'000'000'000;
  std::int64_t middle_ticks_ = 19'200;
};

// Levels set to a new size, one update in twelve levels, as depth diffs come.
class LevelStream {
 public:
  MarketEvent next() {
    MarketEvent event;
    ++count_;
    if (count_ % 12 == 1) time_ns_ += 50'000'000;
    if (count_ % 4'096 == 0) middle_ticks_ += static_cast<std::int64_t>(random_() % 9) - 4;
    event.kind = EventKind::kSetLevel;
    event.exchange_time_ns = event.receive_time_ns = time_ns_;
    event.record = event.sequence = count_;
    event.end_of_update = count_ % 12 == 0;
    event.side = random_() % 2 == 0 ? Side::kBid : Side::kAsk;
    std::uint64_t distance = 1 + random_() % 10;
    while (random_() % 4 != 0 && distance < 2'000) distance += random_() % 40;
    const auto ticks = static_cast<std::int64_t>(distance);
    event.price_nanos =
        (event.side == Side::kBid ? middle_ticks_ - ticks : middle_ticks_ + ticks) * kTick;
    event.quantity_nanos = static_cast<std::int64_t>(random_() % 40) * kUnit / 4;
    return event;
  }

 private:
  std::mt19937_64 random_{20240808};
  std::uint64_t count_ = 0;
  std::int64_t time_ns_ = 1'723'161'255'000'000'000;
  std::int64_t middle_ticks_ = 247'000;
};

template <typename Stream>
const std::vector<MarketEvent>& events_of() {
  static const std::vector<MarketEvent> events = [] {
    Stream stream;
    std::vector<MarketEvent> all(kWarmUpEvents + kTimedEvents);
    for (MarketEvent& event : all) event = stream.next();
    return all;
  }();
  return events;
}

const Instrument& instrument() {
  static const Instrument kInstrument{"SYNTHETIC", kTick, kUnit};
  return kInstrument;
}

template <typename Stream>
bool verify() {
  OrderBook book;
  testing::NaiveOrderBook naive_book({});
  FeatureEngine engine(FeatureSchema::whole_catalogue(), instrument());
  testing::NaiveFeatureTwin naive_features(instrument(), kWindowUpdatesMax);
  FeatureFrame frame;
  std::uint64_t compared = 0;
  for (std::size_t i = 0; i < kCheckedEvents; ++i) {
    const MarketEvent& event = events_of<Stream>()[i];
    const QualityFlags noticed = book.apply(event);
    check(noticed == naive_book.apply(event), "flags");
    engine.on_event(event, noticed);
    naive_features.on_event(event);
    if (!event.end_of_update) continue;
    for (const Side side : {Side::kBid, Side::kAsk}) {
      auto level = naive_book.levels(side).begin();
      for (const BookLevel& best : book.top(side)) {
        check(best == testing::NaiveOrderBook::view(side, *level++), "book");
      }
    }
    const bool framed = engine.complete_update(book, frame);
    naive_features.complete_update(book);
    if (!framed || naive_features.update_count() % 499 != 0) continue;
    const FeatureValues expected = naive_features.values();
    for (std::size_t f = 0; f < kFeatureCount; ++f) {
      check(std::bit_cast<std::uint32_t>(frame.values[f]) ==
                std::bit_cast<std::uint32_t>(expected.values[f]),
            "features");
    }
    ++compared;
  }
  check(compared > 5, "too few frames");
  return true;
}

template <typename Stream>
void run_book(benchmark::State& state) {
  static const bool kVerified = verify<Stream>();
  benchmark::DoNotOptimize(kVerified);
  const std::vector<MarketEvent>& events = events_of<Stream>();
  for (auto _ : state) {
    state.PauseTiming();
    OrderBook book({.order_capacity = 8'192, .level_capacity = 4'096});
    for (std::size_t i = 0; i < kWarmUpEvents; ++i) book.apply(events[i]);
    state.ResumeTiming();
    for (std::size_t i = kWarmUpEvents; i < events.size(); ++i) {
      benchmark::DoNotOptimize(book.apply(events[i]));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kTimedEvents));
}

template <typename Stream>
void run_book_and_features(benchmark::State& state, const FeatureSchema& schema) {
  static const bool kVerified = verify<Stream>();
  benchmark::DoNotOptimize(kVerified);
  const std::vector<MarketEvent>& events = events_of<Stream>();
  FeatureFrame frame;
  for (auto _ : state) {
    state.PauseTiming();
    OrderBook book({.order_capacity = 8'192, .level_capacity = 4'096});
    FeatureEngine engine(schema, instrument());
    const auto take_in = [&](const MarketEvent& event) {
      engine.on_event(event, book.apply(event));
      if (event.end_of_update) engine.complete_update(book, frame);
      benchmark::DoNotOptimize(frame);
    };
    for (std::size_t i = 0; i < kWarmUpEvents; ++i) take_in(events[i]);
    state.ResumeTiming();
    for (std::size_t i = kWarmUpEvents; i < events.size(); ++i) take_in(events[i]);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kTimedEvents));
}

template <typename Stream>
void run_standard_features(benchmark::State& state) {
  run_book_and_features<Stream>(state, FeatureSchema::standard());
}
template <typename Stream>
void run_all_features(benchmark::State& state) {
  run_book_and_features<Stream>(state, FeatureSchema::whole_catalogue());
}

BENCHMARK_TEMPLATE(run_book, OrderStream)->Name("book/orders")->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(run_standard_features, OrderStream)
    ->Name("book_and_features/orders")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(run_all_features, OrderStream)
    ->Name("book_and_all_features/orders")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(run_book, LevelStream)->Name("book/levels")->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(run_standard_features, LevelStream)
    ->Name("book_and_features/levels")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(run_all_features, LevelStream)
    ->Name("book_and_all_features/levels")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tocsin

BENCHMARK_MAIN();
