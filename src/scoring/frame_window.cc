// A ring of rows. The mirrored copy costs one more row to write and saves moving T rows a frame.
#include "scoring/frame_window.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"

namespace tocsin {
namespace {

static_assert(std::endian::native == std::endian::little, "hashes are over little-endian values");

template <typename T>
std::uint64_t hash_of(std::span<const T> values, DigestBuilder& builder) noexcept {
  builder.update(std::as_bytes(values));
  const Digest digest = builder.finish();
  std::uint64_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof(hash));
  return hash;
}

}  // namespace

std::uint64_t window_hash(std::span<const float> raw_values, std::size_t feature_count,
                          DigestBuilder& builder) noexcept {
  std::vector<std::uint64_t> hashes;
  for (std::size_t at = 0; at < raw_values.size(); at += feature_count)
    hashes.push_back(hash_of(raw_values.subspan(at, feature_count), builder));
  return hash_of(std::span<const std::uint64_t>(hashes), builder);
}

FrameWindow::FrameWindow(FrameWindowShape shape)
    : shape_(shape),
      normalised_(2 * shape.steps * shape.feature_count),
      raw_(shape.steps * shape.feature_count),
      positions_(shape.steps),
      hashes_(2 * shape.steps) {
  TOCSIN_ASSERT(shape.steps > 0 && shape.feature_count > 0);
  TOCSIN_ASSERT(shape.feature_count <= kMaxFrameFeatures);
}

std::size_t FrameWindow::push(const FeatureFrame& frame, const Normaliser& normaliser) noexcept {
  TOCSIN_ASSERT(frame.feature_count == shape_.feature_count);
  if (frame.quality.has(Quality::kGap)) reset();
  const std::size_t width = shape_.feature_count;
  const std::span<const float> raw = std::span(frame.values).first(width);
  const std::span<float> row = std::span(normalised_).subspan(next_row_ * width, width);
  const std::span<float> mirror =
      std::span(normalised_).subspan((next_row_ + shape_.steps) * width, width);
  const std::size_t replaced_count = normaliser.apply(raw, row);
  std::ranges::copy(row, mirror.begin());
  std::ranges::copy(raw, std::span(raw_).subspan(next_row_ * width, width).begin());
  positions_[next_row_] = frame.position;
  next_row_ = next_row_ + 1 == shape_.steps ? 0 : next_row_ + 1;
  frame_count_ = std::min(frame_count_ + 1, shape_.steps);
  unhashed_count_ = std::min(unhashed_count_ + 1, frame_count_);
  return replaced_count;
}

std::size_t FrameWindow::first_row() const noexcept {
  return (next_row_ + shape_.steps - frame_count_) % shape_.steps;
}

std::span<const float> FrameWindow::normalised() const noexcept {
  return std::span(normalised_)
      .subspan(first_row() * shape_.feature_count, frame_count_ * shape_.feature_count);
}

void FrameWindow::copy_raw(std::span<float> values) const noexcept {
  TOCSIN_ASSERT(values.size() == frame_count_ * shape_.feature_count);
  const std::size_t first = first_row();
  const std::size_t older_count = std::min(frame_count_, shape_.steps - first);
  const std::size_t width = shape_.feature_count;
  const std::span<const float> all(raw_);
  const auto end =
      std::ranges::copy(all.subspan(first * width, older_count * width), values.begin()).out;
  std::ranges::copy(all.first((frame_count_ - older_count) * width), end);
}

void FrameWindow::hash_frames(DigestBuilder& builder) noexcept {
  for (; unhashed_count_ > 0; --unhashed_count_) {
    const std::size_t row = (next_row_ + shape_.steps - unhashed_count_) % shape_.steps;
    const std::size_t width = shape_.feature_count;
    const std::span<const float> raw = std::span(raw_).subspan(row * width, width);
    hashes_[row] = hashes_[row + shape_.steps] = hash_of(raw, builder);
  }
}

std::uint64_t FrameWindow::raw_hash(DigestBuilder& builder) noexcept {
  hash_frames(builder);
  return hash_of(std::span<const std::uint64_t>(hashes_).subspan(first_row(), frame_count_),
                 builder);
}

const InputPosition& FrameWindow::first_position() const noexcept {
  TOCSIN_ASSERT(frame_count_ > 0);
  return positions_[first_row()];
}

const InputPosition& FrameWindow::last_position() const noexcept {
  TOCSIN_ASSERT(frame_count_ > 0);
  return positions_[(next_row_ + shape_.steps - 1) % shape_.steps];
}

}  // namespace tocsin
