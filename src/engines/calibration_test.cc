// What calibration finds in known distributions and in a small model.
#include "engines/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <vector>

#include "engines/graph/shape_model.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kSeed = 41;

ActivationHistogram histogram_of(const std::vector<float>& values) {
  float max = 0;
  for (const float value : values) max = std::max(max, std::abs(value));
  ActivationHistogram histogram(max);
  histogram.add(values);
  return histogram;
}

std::vector<float> normal_values(std::size_t count) {
  std::mt19937_64 random(kSeed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

TEST(ActivationHistogram, CutsOffWhereItsMethodSays) {
  std::vector<float> values = normal_values(100'000);
  values.push_back(-40.0F);  // one that stands alone
  const ActivationHistogram histogram = histogram_of(values);
  EXPECT_EQ(histogram.cut_off(CalibrationMethod::kMax), 40.0);
  // 99.99 % of |x| of a normal lie below 3.89.
  EXPECT_NEAR(histogram.cut_off(CalibrationMethod::kPercentile), 3.89, 0.3);
  const double entropy = histogram.cut_off(CalibrationMethod::kEntropy);
  EXPECT_GT(entropy, 2.5);
  EXPECT_LT(entropy, 8.0);
}

TEST(ActivationHistogram, ByEntropyKeepsAlmostAllOfAnEvenDistribution) {
  std::vector<float> values;
  for (int i = 1; i <= 100'000; ++i) values.push_back(static_cast<float>(i) * 1e-5F);
  EXPECT_GT(histogram_of(values).cut_off(CalibrationMethod::kEntropy), 0.95);
}

TEST(ActivationHistogram, LeavesZerosOut) {
  std::vector<float> values = normal_values(10'000);
  const double without = histogram_of(values).cut_off(CalibrationMethod::kEntropy);
  values.insert(values.end(), 1'000'000, 0.0F);
  EXPECT_EQ(histogram_of(values).cut_off(CalibrationMethod::kEntropy), without);
}

class CalibrateTest : public testing::Test {
 protected:
  CalibrateTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "tocsin-calibrate-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
    const Status written = write_shape_model(kShape, kSeed, onnx_path());
    if (!written.ok()) throw std::runtime_error(written.error().message());
  }
  ~CalibrateTest() override { std::filesystem::remove_all(folder_); }

  std::string onnx_path() const { return (folder_ / "model.onnx").string(); }
  static std::vector<float> windows(std::size_t count) {
    return normal_values(count * static_cast<std::size_t>(kShape.steps * kShape.features));
  }
  Result<ActivationScales> scales(std::size_t count, CalibrationMethod method) const {
    return calibrate(onnx_path(), windows(count),
                     {.method = method, .steps = kShape.steps, .feature_count = kShape.features});
  }

  static constexpr ModelShape kShape{.steps = 5, .features = 6, .layers = 2, .units = 8};

 private:
  std::filesystem::path folder_;
};

TEST_F(CalibrateTest, FindsAScaleForEachValueThatEntersAProduct) {
  constexpr std::size_t kCount = 1'003;  // not a multiple of the batch
  const auto found = scales(kCount, CalibrationMethod::kMax);
  ASSERT_TRUE(found.ok()) << found.error().message();
  for (const auto& [name, assumed] : shape_model_scales(kShape)) {
    // The rows between the last two layers are the only ones that enter a product.
    if (name == "layer1.rows") continue;
    EXPECT_TRUE(found->contains(name)) << name;
  }
  float largest = 0;
  for (const float value : windows(kCount)) largest = std::max(largest, std::abs(value));
  EXPECT_EQ(found->at("x.by_time"), largest / 127.0F);
  // States of an LSTM lie within one, and what enters the next layer is what left the one before.
  EXPECT_LT(found->at("layer0.y"), 1.0F / 127.0F);
  EXPECT_EQ(found->at("layer0.y"), found->at("layer0.rows"));
}

TEST_F(CalibrateTest, EntropyCutsOffNoMoreThanTheLargestValue) {
  const auto max = scales(1'000, CalibrationMethod::kMax);
  const auto entropy = scales(1'000, CalibrationMethod::kEntropy);
  ASSERT_TRUE(max.ok() && entropy.ok());
  for (const auto& [name, scale] : *entropy) {
    EXPECT_LE(scale, max->at(name)) << name;
    EXPECT_GT(scale, 0.2F * max->at(name)) << name;
  }
  // Inputs are kept whole: a window's extremes are what an event is known by.
  EXPECT_EQ(entropy->at("x.by_time"), max->at("x.by_time"));
  EXPECT_LT(entropy->at("layer0.y"), max->at("layer0.y"));
  EXPECT_EQ(*entropy, *scales(1'000, CalibrationMethod::kEntropy));
}

TEST_F(CalibrateTest, RefusesFewerThanAThousandWindowsWithTheNumber) {
  const auto found = scales(999, CalibrationMethod::kMax);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message(), HasSubstr("at least 1000 sample windows, found 999"));
}

TEST_F(CalibrateTest, TellsHowFarItIs) {
  double last = 0;
  CalibrationOptions options{.steps = kShape.steps, .feature_count = kShape.features};
  options.on_progress = [&last](double share) {
    EXPECT_GE(share, last);
    last = share;
  };
  ASSERT_TRUE(calibrate(onnx_path(), windows(1'000), options).ok());
  EXPECT_EQ(last, 1.0);
}

}  // namespace
}  // namespace tocsin
