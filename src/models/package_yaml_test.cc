#include "models/package_yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/data_path.h"
#include "support/test_package.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

class PackageYamlTest : public testing::Test {
 protected:
  // What parsing says after one replacement in a good file.
  std::string message_after(std::string_view from, std::string_view to) const {
    return message_of(replaced(yaml_, from, to));
  }
  static std::string message_of(const std::string& yaml) {
    const auto package = parse_package_yaml(yaml, "package.yaml");
    return package.ok() ? std::string("read") : package.error().message();
  }

  const TestPackage files_;
  const std::string yaml_ = sealed(files_.yaml());
};

TEST_F(PackageYamlTest, ReadsEveryKey) {
  const auto package = parse_package_yaml(yaml_, "package.yaml");
  ASSERT_TRUE(package.ok()) << package.error().message();
  EXPECT_EQ(package->name, "test_model");
  EXPECT_EQ(package->version, "3");
  EXPECT_EQ(package->description, "a small model for tests");
  EXPECT_EQ(package->licence, "MIT");
  ASSERT_EQ(package->inputs.size(), 1U);
  EXPECT_EQ(package->inputs[0].name, "x");
  EXPECT_EQ(package->inputs[0].type, "float32");
  EXPECT_EQ(package->inputs[0].shape, (std::vector<std::int64_t>{-1, -1, 3}));
  EXPECT_EQ(package->outputs[0].shape, (std::vector<std::int64_t>{-1, 1}));
  EXPECT_EQ(package->features, (std::vector<std::string>{"alpha", "beta", "gamma"}));
  EXPECT_EQ(package->feature_versions, (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(to_hex(package->schema_hash), std::string(64, 'a'));
  EXPECT_EQ(package->normalisation_mean, (std::vector<float>{0.5F, -1.0F, 2.0F}));
  EXPECT_EQ(package->normalisation_scale, (std::vector<float>{2.0F, 1.0F, 0.25F}));
  EXPECT_EQ(package->normalisation_clip, 8.0F);
  EXPECT_EQ(package->steps, 60);
  EXPECT_EQ(package->steps_allowed, (std::vector<std::int64_t>{30, 60, 120}));
  EXPECT_EQ(package->target.move_ticks, 20);
  EXPECT_EQ(package->target.horizon_frames, 100);
  EXPECT_EQ(package->threshold, 0.75F);
  EXPECT_EQ(package->release_threshold, 0.5F);
  EXPECT_EQ(package->alert_rate, 0.001);
  EXPECT_EQ(package->samples_tolerance, 1e-5F);
  ASSERT_EQ(package->seen.size(), 1U);
  EXPECT_EQ(package->seen[0].source, "day.gz");
  EXPECT_EQ(package->seen[0].last_record, 1000U);
  ASSERT_EQ(package->evaluation.size(), 1U);
  EXPECT_EQ(package->evaluation[0].value, 0.75);
}

// One fault a line: what is replaced, by what, and what the message must say.
TEST_F(PackageYamlTest, RefusesEachBrokenRuleByName) {
  const struct {
    const char* from;
    const char* to;
    const char* message;
  } kFaults[] = {
      {"format: 1", "format: 2", "the only format"},
      {"name: test_model", "name: ../test", "not beginning with '.'"},
      {"name: test_model", "name: .test", "not beginning with '.'"},
      {"version: 3", "version: 0", "version"},
      {"licence: MIT", "licence: \"\"", "not empty"},
      {"licence: MIT", "license: MIT", "licence"},
      {"type: float32, shape: [-1, -1, 3]", "type: float16, shape: [-1, -1, 3]", "float32"},
      {"[-1, -1, 3]", "[-1, 3]", "3 dimensions"},
      {"[-1, -1, 3]", "[-1, -1, 4]", "number of features"},
      {"[-1, -1, 3]", "[2, -1, 3]", "the batch"},
      {"[-1, -1, 3]", "[-1, 60, 3]", "only length"},
      {"shape: [-1, 1]", "shape: [1, 1]", "input's first dimension"},
      {"shape: [-1, 1]", "shape: [-1, 0]", "last dimension from 1"},
      {"shape: [-1, 1]", "shape: [-1, -1]", "last dimension from 1"},
      {"output_index: 0", "output_index: 1", "output_index"},
      {"schema_hash: \"a", "schema_hash: \"A", "64 lower-case hexadecimal"},
      {"name: beta", "name: alpha", "not listed before"},
      {"name: beta, version: 1", "name: beta, version: 0", "version"},
      {"name: beta, version: 1", "name: beta", "version"},
      {"mean: [0.5, -1.0, 2.0]", "mean: [0.5, -1.0]", "3 numbers"},
      {"mean: [0.5, -1.0, 2.0]", "mean: [0.5, -1.0, .nan]", "finite"},
      {"mean: [0.5, -1.0, 2.0]", "mean: [0.5, -1.0, .inf]", "finite"},
      {"mean: [0.5, -1.0, 2.0]", "mean: [0.5, -1.0, 1.0e39]", "fit 32-bit"},
      {"scale: [2.0, 1.0, 0.25]", "scale: [2.0, 0.0, 0.25]", "above 0"},
      {"scale: [2.0, 1.0, 0.25]", "scale: [2.0, 1.0e-60, 0.25]", "above 0"},
      {"scale: [2.0, 1.0, 0.25]", "scale: [2.0, -1.0, 0.25]", "above 0"},
      {"clip: 8.0", "clip: -1.0", "clip"},
      {"  steps: 60", "  steps: 50", "one of steps_allowed"},
      {"[30, 60, 120]", "[30, 60, 60, 120]", "rising"},
      {"[30, 60, 120]", "[]", "rising window lengths"},
      {"[30, 60, 120]", "[0, 60]", "from 1 to 4096"},
      {"[30, 60, 120]", "[60, 5000]", "from 1 to 4096"},
      {"move_ticks: 20", "move_ticks: 0", "move_ticks"},
      {"horizon_frames: 100", "horizon_frames: 1.5", "horizon_frames"},
      {"  threshold: 0.75", "  threshold: 1.0", "below 1"},
      {"  threshold: 0.75", "  threshold: 0.99999999999", "below 1"},
      {"  threshold: 0.75", "  threshold: 0.25", "not above threshold"},
      {"release_threshold: 0.5", "release_threshold: 0.0", "above 0"},
      {"alert_rate: 0.001", "alert_rate: 2.0", "alert_rate"},
      {"tolerance: 1.0e-5", "tolerance: 0.0", "above 0"},
      {"tolerance: 1.0e-5", "tolerance: 0.5", "from 0.0 to 0.1"},
      {"part: training", "part: testing", "training or validation"},
      {"source: day.gz", "source: a/day.gz", "base name"},
      {"first_record: 1,", "first_record: 1001,", "at or after first_record"},
      {"value: 0.75", "value: .nan", "finite"},
      {"output_index: 0", "output_index: 0\nsurprise: 1", "surprise"},
      {"seal: \"", "seal: \"x", "64 lower-case hexadecimal"},
  };
  for (const auto& fault : kFaults) {
    const std::string message = message_after(fault.from, fault.to);
    EXPECT_THAT(message, HasSubstr(fault.message)) << fault.from << " -> " << fault.to;
    EXPECT_THAT(message, HasSubstr("package.yaml:")) << fault.from << " -> " << fault.to;
  }
}

TEST_F(PackageYamlTest, MissingSectionsAreNamed) {
  const std::string message = message_of("format: 1\n");
  for (const char* key :
       {"name", "version", "description", "licence", "checksums.model", "features.schema_hash",
        "features.list", "window.steps", "inputs", "outputs", "normalisation.mean",
        "target.move_ticks", "decision.threshold", "samples.tolerance", "seal"})
    EXPECT_THAT(message, HasSubstr(std::string("'") + key + "'"));
}

TEST_F(PackageYamlTest, StatesAreCarriedOnlyWhereItSaysSo) {
  EXPECT_FALSE(parse_package_yaml(yaml_, "package.yaml")->carried);
  const auto package = parse_package_yaml(
      replaced(yaml_, "  steps: 60", "  steps: 60\n  carried: true"), "package.yaml");
  ASSERT_TRUE(package.ok()) << package.error().message();
  EXPECT_TRUE(package->carried);
  EXPECT_THAT(message_after("  steps: 60", "  steps: 60\n  carried: often"), HasSubstr("carried"));
}

TEST_F(PackageYamlTest, SeenAndEvaluationMayBeLeftOut) {
  std::string shorter = yaml_.substr(0, yaml_.find("seen:"));
  EXPECT_EQ(message_of(sealed(shorter)), "read");
}

TEST_F(PackageYamlTest, FixedTimeAxisGoesWithItsOneLength) {
  const TestPackage fixed(calm_gru_parts());
  EXPECT_EQ(message_of(sealed(fixed.yaml())), "read");
}

TEST(PackageSeal, CoversEveryByte) {
  const std::string text = sealed("format: 1\n# a comment\n");
  ASSERT_TRUE(check_seal(text).ok());
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const unsigned bit : {1U, 0x20U, 0x80U}) {
      std::string changed = text;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ bit);
      EXPECT_FALSE(check_seal(changed).ok()) << "byte " << i << " bit " << bit;
    }
  }
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(check_seal(text.substr(0, size)).ok()) << "cut to " << size;
  EXPECT_FALSE(check_seal(text + "\n").ok());
  EXPECT_FALSE(check_seal(text + "# more\n").ok());
}

TEST(PackageSeal, IsWhatTheDocumentedCommandMakes) {
  // printf 'format: 1\n' | sha256sum
  EXPECT_EQ(
      sealed("format: 1\n"),
      "format: 1\nseal: \"1f7b96350b268e336c5e28904d72911aee7f7e1db0f53f263667af74f3ebc23f\"\n");
}

TEST(PackageDocument, ItsExampleIsRead) {
  const std::string page = read_test_file(tocsin_source_path("docs/model-packages.md"));
  const std::string_view fence = "```yaml\n";
  const std::size_t begin = page.find(fence);
  ASSERT_NE(begin, std::string::npos);
  const std::string example =
      page.substr(begin + fence.size(), page.find("```\n", begin + 3) - begin - fence.size());
  const auto package = parse_package_yaml(example, "docs/model-packages.md");
  ASSERT_TRUE(package.ok()) << package.error().message();
  EXPECT_EQ(package->name, "btcusdt_burst_lstm");
  EXPECT_EQ(package->seen.size(), 2U);
}

}  // namespace
}  // namespace tocsin
