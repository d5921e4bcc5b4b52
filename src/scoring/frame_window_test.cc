#include "scoring/frame_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <deque>
#include <random>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

Normaliser identity(std::size_t feature_count) {
  return Normaliser({.mean = std::vector<float>(feature_count, 0.0F),
                     .scale = std::vector<float>(feature_count, 1.0F),
                     .clip = 0});
}

FeatureFrame frame_of(std::span<const float> values, std::uint64_t record) {
  FeatureFrame frame;
  frame.feature_count = static_cast<std::uint16_t>(values.size());
  std::ranges::copy(values, frame.values.begin());
  frame.position.record = record;
  return frame;
}

// The window as anybody would write it: a queue of frames.
struct NaiveWindow {
  std::size_t steps;
  std::deque<FeatureFrame> frames;

  void push(const FeatureFrame& frame) {
    if (frame.quality.has(Quality::kGap)) frames.clear();
    frames.push_back(frame);
    if (frames.size() > steps) frames.pop_front();
  }
  std::vector<float> values() const {
    std::vector<float> all;
    for (const FeatureFrame& frame : frames)
      all.insert(all.end(), frame.values.begin(), frame.values.begin() + frame.feature_count);
    return all;
  }
};

TEST(FrameWindow, EqualsAQueueOfFramesForAnyOrderOfEvents) {
  constexpr std::uint64_t kSeed = 20261130;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> normal;
  DigestBuilder builder(DigestKind::kBlake2s256);
  for (const FrameWindowShape shape : {FrameWindowShape{1, 1}, {2, 3}, {7, 5}, {60, 64}}) {
    const Normaliser doubled({.mean = std::vector<float>(shape.feature_count, 0.0F),
                              .scale = std::vector<float>(shape.feature_count, 2.0F),
                              .clip = 0});
    FrameWindow window(shape);
    NaiveWindow naive{shape.steps, {}};
    for (std::uint64_t record = 1; record <= 500; ++record) {
      std::vector<float> values(shape.feature_count);
      for (float& value : values) value = normal(random);
      FeatureFrame frame = frame_of(values, record);
      if (random() % 50 == 0) frame.quality |= Quality::kGap;
      if (random() % 97 == 0) {
        window.reset();
        naive.frames.clear();
      }
      ASSERT_EQ(window.push(frame, doubled), 0U);
      naive.push(frame);

      ASSERT_EQ(window.frame_count(), naive.frames.size());
      ASSERT_EQ(window.full(), naive.frames.size() == shape.steps);
      ASSERT_EQ(window.first_position(), naive.frames.front().position);
      ASSERT_EQ(window.last_position(), naive.frames.back().position);
      const std::vector<float> expected = naive.values();
      ASSERT_EQ(window.normalised().size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(window.normalised()[i], 2 * expected[i]) << "record " << record << " at " << i;
      std::vector<float> raw(expected.size());
      window.copy_raw(raw);
      ASSERT_EQ(raw, expected);
      if (random() % 3 == 0) window.hash_frames(builder);
      if (random() % 5 != 0) continue;
      ASSERT_EQ(window.raw_hash(builder), window_hash(expected, shape.feature_count, builder));
    }
  }
}

std::uint64_t first_8_bytes(const Digest& digest) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i-- > 0;) number = number << 8 | digest[i];
  return number;
}

TEST(FrameWindow, HashIsBlake2sOfTheHashesOfTheRawBytesOfFrames) {
  FrameWindow window({.steps = 2, .feature_count = 1});
  const Normaliser normaliser = identity(1);
  for (const float value : {3.0F, 1.0F, -2.5F}) window.push(frame_of({&value, 1}, 1), normaliser);
  // 1.0F and -2.5F in little-endian bytes.
  std::string hashes;
  for (const std::string& frame :
       {std::string("\x00\x00\x80\x3f", 4), std::string("\x00\x00\x20\xc0", 4)}) {
    const Digest digest = digest_of(DigestKind::kBlake2s256, frame);
    hashes.append(digest.begin(), digest.begin() + 8);
  }
  DigestBuilder builder(DigestKind::kBlake2s256);
  EXPECT_EQ(window.raw_hash(builder), first_8_bytes(digest_of(DigestKind::kBlake2s256, hashes)));
}

TEST(FrameWindow, RawValuesKeepTheirNanBits) {
  FrameWindow window({.steps = 1, .feature_count = 2});
  const std::array values = {std::nanf("0x55"), 4.0F};
  EXPECT_EQ(window.push(frame_of(values, 1), identity(2)), 1U);
  EXPECT_EQ(window.normalised()[0], 0.0F);
  std::array<float, 2> raw{};
  window.copy_raw(raw);
  for (std::size_t i = 0; i < raw.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(raw[i]), std::bit_cast<std::uint32_t>(values[i]));
}

TEST(FrameWindow, PushAndHashAllocateNothing) {
  FrameWindow window({.steps = 60, .feature_count = 32});
  const Normaliser normaliser = identity(32);
  DigestBuilder builder(DigestKind::kBlake2s256);
  const FeatureFrame frame = frame_of(std::vector<float>(32, 1.5F), 9);
  window.push(frame, normaliser);
  window.raw_hash(builder);
  const std::uint64_t before = allocation_count();
  std::uint64_t sum = 0;
  for (int i = 0; i < 1000; ++i) {
    window.push(frame, normaliser);
    sum += window.raw_hash(builder) + window.normalised().size();
  }
  EXPECT_EQ(allocation_count(), before);
  EXPECT_NE(sum, 0U);
}

}  // namespace
}  // namespace tocsin
