// The sequence check against examples and against a naive twin that remembers every number.
#include "ingest/gap_detector.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tocsin {
namespace {

TEST(GapDetector, TakesTheFirstNumberAsTheStart) {
  GapDetector detector;
  EXPECT_FALSE(detector.started());
  EXPECT_FALSE(detector.check(1000).quality.any());
  EXPECT_TRUE(detector.started());
  EXPECT_EQ(detector.expected(), 1001U);
}

TEST(GapDetector, ReportsOneGapForThreeMissingMessages) {
  GapDetector detector;
  (void)detector.check(5);
  const SequenceFinding finding = detector.check(9);
  EXPECT_EQ(finding.quality, QualityFlags(Quality::kGap));
  EXPECT_EQ(finding.missing_count, 3U);
  EXPECT_FALSE(detector.check(10).quality.any());
}

TEST(GapDetector, TellsLateFromRepeated) {
  GapDetector detector;
  (void)detector.check(5);
  (void)detector.check(9);
  EXPECT_EQ(detector.check(7).quality, QualityFlags(Quality::kOutOfOrder));
  EXPECT_EQ(detector.check(7).quality, QualityFlags(Quality::kDuplicate));
  EXPECT_EQ(detector.check(6).quality, QualityFlags(Quality::kOutOfOrder));
  EXPECT_EQ(detector.check(8).quality, QualityFlags(Quality::kOutOfOrder));
  EXPECT_EQ(detector.check(9).quality, QualityFlags(Quality::kDuplicate));
  EXPECT_EQ(detector.check(4).quality, QualityFlags(Quality::kDuplicate));
  EXPECT_EQ(detector.expected(), 10U);
}

TEST(GapDetector, TakesAPacketOfSeveralNumbersAsOne) {
  GapDetector detector;
  (void)detector.check_range(1, 10);
  EXPECT_FALSE(detector.check_range(11, 5).quality.any());
  EXPECT_EQ(detector.check_range(20, 5).missing_count, 4U);
  EXPECT_EQ(detector.check_range(16, 4).quality, QualityFlags(Quality::kOutOfOrder));
  EXPECT_EQ(detector.check_range(16, 4).quality, QualityFlags(Quality::kDuplicate));
}

TEST(GapDetector, TakesAHeartbeatAsTheNextNumber) {
  GapDetector detector;
  (void)detector.check_range(1, 10);
  EXPECT_FALSE(detector.check_range(11, 0).quality.any());
  EXPECT_EQ(detector.check_range(14, 0).missing_count, 3U);
  EXPECT_FALSE(detector.check_range(14, 0).quality.any());
  EXPECT_FALSE(detector.check_range(3, 0).quality.any()) << "an old heartbeat repeats nothing";
  EXPECT_FALSE(detector.check(14).quality.any());
}

TEST(GapDetector, SurvivesTheLargestNumbers) {
  GapDetector detector;
  (void)detector.check_range(UINT64_MAX - 1, UINT64_MAX);
  EXPECT_EQ(detector.expected(), UINT64_MAX);
  EXPECT_EQ(detector.check(0).quality, QualityFlags(Quality::kDuplicate));
}

TEST(GapDetector, ForgetsEverythingOnRestart) {
  GapDetector detector;
  (void)detector.check(100);
  detector.restart();
  EXPECT_FALSE(detector.check(1).quality.any());
}

TEST(GapDetector, AgreesWithATwinThatRemembersEverything) {
  constexpr std::uint64_t kSeed = 20261130;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 200; ++round) {
    GapDetector detector;
    std::set<std::uint64_t> seen;
    std::uint64_t expected = 100;
    (void)detector.check(expected++);
    seen.insert(100);
    // Few enough out-of-turn numbers that no hole is forgotten.
    for (int step = 0; step < 30; ++step) {
      const std::uint64_t number =
          random() % 3 == 0 ? 100 + random() % (expected - 100) : expected + random() % 4;
      const SequenceFinding finding = detector.check(number);
      QualityFlags wanted;
      if (number > expected) wanted = Quality::kGap;
      if (number < expected)
        wanted = seen.count(number) > 0 ? Quality::kDuplicate : Quality::kOutOfOrder;
      ASSERT_EQ(finding.quality, wanted) << "number " << number << " round " << round;
      ASSERT_EQ(finding.missing_count, number > expected ? number - expected : 0);
      seen.insert(number);
      expected = std::max(expected, number + 1);
    }
  }
}

}  // namespace
}  // namespace tocsin
