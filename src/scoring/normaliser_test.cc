#include "scoring/normaliser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace tocsin {
namespace {

using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Normaliser, CentresThenScales) {
  const Normaliser normaliser({.mean = {1, -2, 0}, .scale = {2, 0.5F, 1}, .clip = 0});
  std::array<float, 3> out{};
  EXPECT_EQ(normaliser.apply(std::array{4.0F, 0.0F, -7.0F}, out), 0U);
  EXPECT_THAT(out, ElementsAre(6.0F, 1.0F, -7.0F));
}

TEST(Normaliser, ClipsBothSides) {
  const Normaliser normaliser({.mean = {0, 0, 0}, .scale = {1, 1, 1e30F}, .clip = 8});
  std::array<float, 3> out{};
  EXPECT_EQ(normaliser.apply(std::array{9.0F, -100.0F, 1e30F}, out), 0U);
  EXPECT_THAT(out, ElementsAre(8.0F, -8.0F, 8.0F));
}

TEST(Normaliser, WhatIsNoNumberBecomesTheMeanAndIsCounted) {
  const Normaliser clipped({.mean = {5, 5, 5}, .scale = {1, 1, 1}, .clip = 8});
  std::array<float, 3> out{};
  EXPECT_EQ(clipped.apply(std::array{kNan, kInfinity, -kInfinity}, out), 3U);
  EXPECT_THAT(out, ElementsAre(0.0F, 0.0F, 0.0F));
  const Normaliser open({.mean = {0, 0, 0}, .scale = {1e30F, 1, 1}, .clip = 0});
  EXPECT_EQ(open.apply(std::array{1e30F, 1.0F, 2.0F}, out), 1U);
  EXPECT_THAT(out, ElementsAre(0.0F, 1.0F, 2.0F));
}

// The definition, one operation at a time through volatile, so that nothing is fused or widened.
TEST(Normaliser, BitsAreThoseOfTheDefinition) {
  constexpr std::uint64_t kSeed = 42;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> normal(0, 100);
  NormalisationParameters parameters{.mean = {}, .scale = {}, .clip = 50};
  for (int i = 0; i < 64; ++i) {
    parameters.mean.push_back(normal(random));
    parameters.scale.push_back(std::abs(normal(random)) + 0.001F);
  }
  const Normaliser normaliser(parameters);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> raw(64), out(64);
    for (float& value : raw) value = normal(random);
    ASSERT_EQ(normaliser.apply(raw, out), 0U);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const volatile float centred = raw[i] - parameters.mean[i];
      const volatile float scaled = centred * parameters.scale[i];
      const float expected = std::fmin(std::fmax(scaled, -50.0F), 50.0F);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]), std::bit_cast<std::uint32_t>(expected));
    }
  }
}

}  // namespace
}  // namespace tocsin
