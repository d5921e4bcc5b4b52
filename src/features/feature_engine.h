// Turns the events of one instrument into feature frames: one frame an update of the book.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "events/feature_frame.h"
#include "events/instrument.h"
#include "events/market_event.h"
#include "features/order_book.h"

namespace tocsin {

// One entry of the catalogue: what `tocsin features list` prints and the docs are checked against.
struct FeatureDescription {
  std::string_view name;     // "depth_imbalance_5"
  std::string_view formula;  // in words or symbols, exact
  std::string_view unit;     // "ticks", "ratio", "1/s", ...
  std::string_view source;   // paper, book or "common practice"
  int version = 1;           // raised when the formula changes: the schema hash changes with it
};
std::span<const FeatureDescription> feature_catalogue() noexcept;
// The heading a feature stands under: "book", "order flow", ...; `index` into the catalogue.
std::string_view feature_group(std::size_t index) noexcept;

// The ordered list of features of a frame. Two schemas with the same hash mean the same numbers.
class FeatureSchema {
 public:
  // An unknown name is an error that names the nearest known one.
  static Result<FeatureSchema> from_names(std::span<const std::string> names);
  static FeatureSchema whole_catalogue();
  // The features that need nothing but the book and the windows of updates and time: all that come
  // before those with a state of their own.
  static FeatureSchema standard();

  std::size_t size() const noexcept { return indices_.size(); }
  std::string_view name(std::size_t index) const noexcept;
  // Indices into feature_catalogue().
  std::span<const std::uint16_t> indices() const noexcept { return indices_; }
  // BLAKE2s over "tocsin-features" and each name with its version, a line each.
  const Digest& hash() const noexcept { return hash_; }

 private:
  std::vector<std::uint16_t> indices_;
  Digest hash_{};
};

struct FeatureEngineOptions {
  // Updates a window of time holds before the first growth; what is never used costs no memory.
  std::size_t window_updates_capacity = std::size_t{1} << 12;
  // And at most, from 500 to 65,536: past it the oldest leave early, and are counted.
  std::size_t window_updates_max = std::size_t{1} << 16;
};

struct FeatureCounters {
  std::uint64_t updates = 0;            // complete_update() calls
  std::uint64_t frames = 0;             // of them, with both sides of the book there
  std::uint64_t windows_truncated = 0;  // updates that left a window of time early: it was full
  std::uint64_t time_restarts = 0;      // exchange time fell by more than the longest window
};

class FeatureEngine {
 public:
  FeatureEngine(const FeatureSchema& schema, const Instrument& instrument,
                const FeatureEngineOptions& options = {});
  ~FeatureEngine();
  FeatureEngine(FeatureEngine&&) noexcept;
  FeatureEngine& operator=(FeatureEngine&&) noexcept;

  // Takes in one event after the book has applied it (`noticed` is what apply() returned).
  void on_event(const MarketEvent& event, QualityFlags noticed) noexcept;
  // After an event with end_of_update, before the book applies another: fills the frame from the
  // book and the rolling state. False while no frame can be made (a side of the book is empty); the
  // rolling state is kept up all the same. Allocates only where a window of time holds more updates
  // than its capacity and than ever before. Values past the schema's are zero.
  bool complete_update(const OrderBook& book, FeatureFrame& frame) noexcept;
  // Another instrument's engine of the same schema, whose moves the features of leaders compare
  // with this one's; it may be moved, and must outlive this one. None: they are 0.
  void follow(const FeatureEngine& leader) noexcept;
  const FeatureCounters& counters() const noexcept;
  // What the engine holds, the object itself not counted.
  std::size_t memory_bytes() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tocsin
