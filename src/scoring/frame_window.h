// The last T frames of one key, normalised and raw. The normalised rows are written twice, T rows
// apart, so that the window always lies in one piece and is never copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/digest.h"
#include "events/feature_frame.h"
#include "scoring/normaliser.h"

namespace tocsin {

struct FrameWindowShape {
  std::size_t steps = 0;
  std::size_t feature_count = 0;
};

// What a record says of a window [frames, feature_count] of raw values: the hash of its frames'
// hashes, oldest first, so that most of it is done before the newest frame comes. A hash is the
// first 8 bytes of BLAKE2s, read as a little-endian number; a frame's is over its 32-bit values.
std::uint64_t window_hash(std::span<const float> raw_values, std::size_t feature_count,
                          DigestBuilder& builder) noexcept;

class FrameWindow {
 public:
  // Takes all its memory: steps x (3 x feature_count floats, a position and two hashes).
  explicit FrameWindow(FrameWindowShape shape);

  // Takes in the newest frame; O(feature_count). A frame that follows a gap (Quality::kGap) empties
  // the window before: a window never spans missing events. Returns how many values the normaliser
  // replaced.
  std::size_t push(const FeatureFrame& frame, const Normaliser& normaliser) noexcept;
  // Forgets all frames.
  void reset() noexcept { frame_count_ = unhashed_count_ = 0; }

  std::size_t steps() const noexcept { return shape_.steps; }
  std::size_t feature_count() const noexcept { return shape_.feature_count; }
  // Frames held, at most steps().
  std::size_t frame_count() const noexcept { return frame_count_; }
  bool full() const noexcept { return frame_count_ == shape_.steps; }

  // [frame_count, feature_count], oldest frame first; valid until the next push().
  std::span<const float> normalised() const noexcept;
  // The raw values of the same frames are copied into `values`, which holds as many.
  void copy_raw(std::span<float> values) const noexcept;
  // Hashes the frames that came since the last call.
  void hash_frames(DigestBuilder& builder) noexcept;
  // window_hash() of the raw values.
  std::uint64_t raw_hash(DigestBuilder& builder) noexcept;
  // Where the oldest and the newest frame stood; the window is not empty.
  const InputPosition& first_position() const noexcept;
  const InputPosition& last_position() const noexcept;

 private:
  std::size_t first_row() const noexcept;  // of the ring, holds the oldest frame

  FrameWindowShape shape_;
  std::vector<float> normalised_;         // [2 x steps, feature_count]: row r again at r + steps
  std::vector<float> raw_;                // [steps, feature_count]
  std::vector<InputPosition> positions_;  // [steps]
  std::vector<std::uint64_t> hashes_;     // [2 x steps], of frames, like normalised_
  std::size_t next_row_ = 0;
  std::size_t frame_count_ = 0;
  std::size_t unhashed_count_ = 0;  // of the newest frames
};

}  // namespace tocsin
