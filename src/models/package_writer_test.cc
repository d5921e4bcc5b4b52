// New versions of a package: what they say, that they load, and that nothing half-written stays.
#include "models/package_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/package_yaml.h"
#include "support/test_package.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

PackagePrecision int8_precision() {
  PackagePrecision precision;
  precision.name = "int8";
  precision.method = "entropy";
  precision.calibration_samples = 5'000;
  precision.activation_scales = {{"x", 0.1F}, {"a \"b\"\\\n", 1.0F / 3.0F}, {"/lstm/Y: 0", 7e-9F}};
  precision.band = {.width = 0.02F,
                    .quantile = 0.999,
                    .confidence = 0.99,
                    .sample_count = 5'200,
                    .worst_error = 0.01F};
  return precision;
}

class PackageWriterTest : public testing::Test {
 protected:
  ModelPackage load(const std::string& version) const {
    auto package = load_model_package((files_.folder().parent_path() / version).string());
    if (!package.ok()) throw std::runtime_error(package.error().message());
    return std::move(*package);
  }
  PackagePlace place(const std::string& version) const {
    auto place = free_package_place((files_.folder().parent_path() / version).string());
    if (!place.ok()) throw std::runtime_error(place.error().message());
    return std::move(*place);
  }

  const TestPackage files_;
};

TEST_F(PackageWriterTest, AWrittenVersionLoadsAndSaysWhatItWasGiven) {
  const PackagePrecision precision = int8_precision();
  ASSERT_FALSE(load("3").precision.has_value());
  const Status written = write_package_version(load("3"), place("4"), precision);
  ASSERT_TRUE(written.ok()) << written.error().message();
  const ModelPackage package = load("4");
  ASSERT_TRUE(package.precision.has_value());
  EXPECT_EQ(package.precision->name, "int8");
  EXPECT_EQ(package.precision->method, "entropy");
  EXPECT_TRUE(package.precision->weight_scale_per_output);
  EXPECT_EQ(package.precision->calibration_samples, 5'000);
  EXPECT_EQ(package.precision->activation_scales, precision.activation_scales);
  EXPECT_EQ(package.precision->band.width, 0.02F);
  EXPECT_EQ(package.precision->band.worst_error, 0.01F);
  EXPECT_EQ(package.precision->band.quantile, 0.999);
  EXPECT_EQ(package.precision->band.confidence, 0.99);
  EXPECT_EQ(package.precision->band.sample_count, 5'200);
  EXPECT_EQ(package.model_sha256, load("3").model_sha256);
  EXPECT_NE(package.seal, load("3").seal);
}

TEST_F(PackageWriterTest, APackageThatHasAPrecisionIsNotGivenAnother) {
  ASSERT_TRUE(write_package_version(load("3"), place("4"), int8_precision()).ok());
  EXPECT_FALSE(write_package_version(load("4"), place("5"), int8_precision()).ok());
  EXPECT_FALSE(std::filesystem::exists(files_.folder().parent_path() / "5"));
}

TEST_F(PackageWriterTest, TakesOnlyAFreeFolderNamedByAVersion) {
  const auto message = [this](const std::string& name) {
    const auto place = free_package_place((files_.folder().parent_path() / name).string());
    return place.ok() ? std::string("free") : place.error().message();
  };
  EXPECT_EQ(message("12/"), "free");
  EXPECT_THAT(message("3"), HasSubstr("exists already"));
  EXPECT_THAT(message("int8"), HasSubstr("the version a whole number"));
  EXPECT_THAT(message("04"), HasSubstr("the version a whole number"));
}

TEST_F(PackageWriterTest, PrecisionBlocksAreReadStrictly) {
  const auto yaml =
      package_yaml_with_precision(sealed(files_.yaml()), place("4"), int8_precision());
  ASSERT_TRUE(yaml.ok()) << yaml.error().message();
  const auto message_after = [&yaml](std::string_view from, std::string_view to) {
    const auto package = parse_package_yaml(sealed(replaced(*yaml, from, to)), "package.yaml");
    return package.ok() ? std::string("read") : package.error().message();
  };
  EXPECT_EQ(message_after("kind: quantile", "kind: \"quantile\""), "read");
  EXPECT_THAT(message_after("name: int8", "name: int4"), HasSubstr("one of int8, bfloat16"));
  EXPECT_THAT(message_after("name: int8", "name: float16"), HasSubstr("without scales"));
  EXPECT_THAT(message_after("method: entropy", "method: none"), HasSubstr("entropy, max"));
  EXPECT_THAT(message_after("weights: per-channel", "weights: each"), HasSubstr("per-tensor"));
  EXPECT_THAT(message_after("  steps: 60", "  steps: 60\n  carried: true"),
              HasSubstr("no guard band is known"));
  EXPECT_THAT(message_after("kind: quantile", "kind: guess"), HasSubstr("one of quantile"));
  EXPECT_THAT(message_after("width: 0.0", "width: 1.0"), HasSubstr("width"));
  EXPECT_THAT(message_after("worst_error: 0.0", "worst_error: 0.9"), HasSubstr("not above width"));
  EXPECT_THAT(message_after("{value: \"x\"", "{value: \"/lstm/Y: 0\""), HasSubstr("value"));
}

}  // namespace
}  // namespace tocsin
