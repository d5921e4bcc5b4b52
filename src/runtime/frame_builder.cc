// Two passes an update: all its events through the book, then all through the features, so that
// each stage is timed by two clock readings however many events the update has.
#include "runtime/frame_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/yaml_reader.h"
#include "telemetry/logger.h"

namespace tocsin {

FrameBuilder::FrameBuilder(const FeatureSchema& schema, const Source& source, const Clock& clock,
                           std::vector<LeaderPair> leaders)
    : schema_(schema), source_(source), clock_(clock), leaders_(std::move(leaders)) {}

// A pair is tied as soon as both of its instruments are there.
void FrameBuilder::add_key() noexcept {
  const auto instruments = source_.instruments();
  const std::size_t added = keys_.size();
  OrderBookOptions book;
  FeatureEngineOptions features;
  book.modify_priority = instruments[added].modify_priority;
  // Rings of what a busy second needs: a larger one is first met page by page, and grows if it
  // must.
  features.window_updates_capacity = 1'024;
  if (instruments.size() >= kManyInstruments) {
    book.order_capacity = 64;
    book.level_capacity = 16;
    features.window_updates_capacity = 512;
  }
  keys_.push_back(Key{OrderBook(book), BookOracle(instruments[added]),
                      FeatureEngine(schema_, instruments[added], features)});
  for (const LeaderPair& pair : leaders_) {
    const bool follows = pair.symbol == instruments[added].symbol;
    if (!follows && pair.leader != instruments[added].symbol) continue;
    const std::string& sought = follows ? pair.leader : pair.symbol;
    for (std::size_t other = 0; other < added; ++other) {
      if (instruments[other].symbol != sought) continue;
      const std::size_t follower = follows ? added : other;
      keys_[follower].features.follow(keys_[follows ? other : added].features);
    }
  }
}

FrameBuilder::Key& FrameBuilder::key_of(InstrumentId instrument) noexcept {
  while (keys_.size() <= instrument) add_key();
  return keys_[instrument];
}

void FrameBuilder::apply_to_book(const EventBatch& batch, std::size_t first,
                                 std::size_t last) noexcept {
  for (std::size_t i = first; i < last; ++i) {
    Key& key = key_of(batch[i].instrument);
    QualityFlags noticed = key.book.apply(batch[i]);
    key.oracle.on_event(batch[i], key.book);
    // The feed's own word may have made the book a wrong one.
    if (!key.book.trusted() && !noticed.has(Quality::kBookUntrusted)) [[unlikely]]
      wrong_books_.push_back(batch[i].instrument);
    noticed_[i - first] = noticed;
    if (noticed.any()) [[unlikely]] {
      counters_.crossed += noticed.has(Quality::kCrossedBook) ? 1 : 0;
      counters_.bad_quantity += noticed.has(Quality::kBadQuantity) ? 1 : 0;
      counters_.unknown_orders += noticed.has(Quality::kUnknownOrder) ? 1 : 0;
    }
  }
}

bool FrameBuilder::take_wrong_book(InstrumentId& instrument) noexcept {
  if (wrong_books_.empty()) return false;
  instrument = wrong_books_.back();
  wrong_books_.pop_back();
  return true;
}

bool FrameBuilder::next_frame(const EventBatch& batch, std::size_t& index, FeatureFrame& frame,
                              StageDurations& durations) noexcept {
  while (index < batch.size()) {
    const std::size_t first = index;
    while (index < batch.size() && !batch[index].end_of_update) ++index;
    const bool complete = index < batch.size();
    if (complete) ++index;
    if (noticed_.size() < index - first) noticed_.resize(2 * (index - first));

    const std::int64_t start_ns = clock_.monotonic_time_ns();
    apply_to_book(batch, first, index);
    const std::int64_t book_done_ns = clock_.monotonic_time_ns();
    for (std::size_t i = first; i < index; ++i)
      keys_[batch[i].instrument].features.on_event(batch[i], noticed_[i - first]);
    bool framed = false;
    if (complete) {
      Key& key = keys_[batch[index - 1].instrument];
      framed = key.features.complete_update(key.book, frame);
      ++counters_.updates;
      if (!key.book.trusted()) ++counters_.untrusted;
    }
    durations[Stage::kBook] += book_done_ns - start_ns;
    durations[Stage::kFeatures] += clock_.monotonic_time_ns() - book_done_ns;
    if (framed) return true;
  }
  return false;
}

FrameMemory FrameBuilder::memory() const noexcept {
  FrameMemory sum;
  for (const Key& key : keys_) {
    ++sum.instruments;
    sum.orders += key.book.order_count();
    sum.levels += key.book.level_count(Side::kBid) + key.book.level_count(Side::kAsk);
    sum.book_bytes += sizeof(Key) + key.book.memory_bytes();
    sum.feature_bytes += key.features.memory_bytes();
  }
  return sum;
}

OracleCounters FrameBuilder::oracle_counters() const noexcept {
  OracleCounters sum;
  for (const Key& key : keys_) {
    const OracleCounters& counters = key.oracle.counters();
    sum.rows_compared += counters.rows_compared;
    sum.rows_equal += counters.rows_equal;
    sum.levels_compared += counters.levels_compared;
    sum.levels_equal += counters.levels_equal;
    sum.levels_adopted += counters.levels_adopted;
    sum.top_compared += counters.top_compared;
    sum.top_equal += counters.top_equal;
    sum.checksums_compared += counters.checksums_compared;
    sum.checksums_equal += counters.checksums_equal;
    sum.snapshots += counters.snapshots;
  }
  return sum;
}

void warn_of_absent_leaders(std::span<const LeaderPair> leaders,
                            std::span<const Instrument> instruments) {
  std::vector<std::string_view> known;
  for (const Instrument& instrument : instruments) known.emplace_back(instrument.symbol);
  for (const LeaderPair& pair : leaders) {
    for (const std::string* symbol : {&pair.symbol, &pair.leader}) {
      if (std::find(known.begin(), known.end(), *symbol) != known.end()) continue;
      const std::string_view nearest = nearest_name(*symbol, known);
      log_warning(fmt::format(
          "leader pair {}:{}: the source has no instrument {}, so that features of leaders are "
          "0; {}",
          pair.symbol, pair.leader, *symbol,
          nearest.empty() ? "`tocsin inspect` lists a file's symbols"
                          : fmt::format("did you mean {}?", nearest)));
    }
  }
}

}  // namespace tocsin
