// One feature frame: what the model sees of one key after one update of its book.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "events/market_event.h"
#include "events/quality.h"

namespace tocsin {

inline constexpr std::size_t kMaxFrameFeatures = 64;

// The place of an event in its source, for ids and for finding it again.
struct InputPosition {
  std::uint64_t record = 0;     // 1-based number of the record in the source
  std::uint32_t partition = 0;  // 0 for files
  std::uint32_t reserved = 0;
  friend bool operator==(const InputPosition&, const InputPosition&) = default;
};
static_assert(std::is_trivially_copyable_v<InputPosition> && sizeof(InputPosition) == 16);

// `values[0 .. feature_count)` are in the order of the schema, not normalised.
struct FeatureFrame {
  std::int64_t exchange_time_ns = 0;
  std::int64_t receive_time_ns = 0;
  InputPosition position;
  std::uint64_t frame_number = 0;       // 1-based count of frames of this key
  std::int64_t mid_price_nanos_x2 = 0;  // best bid + best ask; 0 while a side is empty
  InstrumentId instrument = 0;
  QualityFlags quality;  // of all events of the update and of the book after it
  std::uint16_t feature_count = 0;
  std::array<float, kMaxFrameFeatures> values{};
};
static_assert(std::is_trivially_copyable_v<FeatureFrame>);
static_assert(sizeof(FeatureFrame) == 56 + 4 * kMaxFrameFeatures && alignof(FeatureFrame) == 8);

}  // namespace tocsin
