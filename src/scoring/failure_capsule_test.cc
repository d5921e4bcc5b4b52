#include "scoring/failure_capsule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include "support/test_package.h"

namespace tocsin {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

FailureCapsule sample_capsule() {
  FailureCapsule capsule;
  capsule.model_name = "burst";
  capsule.model_version = "7";
  capsule.package_seal = digest_of(DigestKind::kSha256, "package");
  capsule.schema_hash = digest_of(DigestKind::kSha256, "schema");
  capsule.engine = "onnxruntime";
  capsule.engine_version = "1.32.0";
  capsule.instrument = 12;
  capsule.first_position = {.record = 1000, .partition = 3};
  capsule.last_position = {.record = UINT64_MAX, .partition = 3};
  capsule.steps = 3;
  capsule.feature_count = 2;
  capsule.raw_window = {1.5F,
                        -0.0F,
                        std::nanf("0x7"),
                        std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::denorm_min(),
                        3.4e38F};
  capsule.error = "a \"quoted\" reason\nin two lines";
  return capsule;
}

void expect_equal(const FailureCapsule& a, const FailureCapsule& b) {
  EXPECT_EQ(a.model_name, b.model_name);
  EXPECT_EQ(a.model_version, b.model_version);
  EXPECT_EQ(a.package_seal, b.package_seal);
  EXPECT_EQ(a.schema_hash, b.schema_hash);
  EXPECT_EQ(a.engine, b.engine);
  EXPECT_EQ(a.engine_version, b.engine_version);
  EXPECT_EQ(a.instrument, b.instrument);
  EXPECT_EQ(a.first_position, b.first_position);
  EXPECT_EQ(a.last_position, b.last_position);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.feature_count, b.feature_count);
  EXPECT_EQ(a.error, b.error);
  ASSERT_EQ(a.raw_window.size(), b.raw_window.size());
  for (std::size_t i = 0; i < a.raw_window.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(a.raw_window[i]),
              std::bit_cast<std::uint32_t>(b.raw_window[i]));
  }
}

std::string parse_error(const std::string& text) {
  const auto capsule = parse_failure_capsule(text);
  return capsule.ok() ? std::string("read") : capsule.error().message();
}

class FailureCapsuleFolderTest : public testing::Test {
 protected:
  FailureCapsuleFolderTest() {
    std::string pattern = (fs::temp_directory_path() / "tocsin-failures-XXXXXX").string();
    run_folder_ = mkdtemp(pattern.data());
  }
  ~FailureCapsuleFolderTest() override {
    std::error_code error;
    fs::remove_all(run_folder_, error);
  }

  fs::path run_folder_;
};

TEST(FailureCapsule, ComesBackBitForBit) {
  const FailureCapsule capsule = sample_capsule();
  const auto read = parse_failure_capsule(format_failure_capsule(capsule));
  ASSERT_TRUE(read.ok()) << read.error().message();
  expect_equal(*read, capsule);
}

TEST(FailureCapsule, MessageThatIsNotUtf8IsKeptReadable) {
  FailureCapsule capsule = sample_capsule();
  capsule.error = "bad \xff byte";
  const auto read = parse_failure_capsule(format_failure_capsule(capsule));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_THAT(read->error, HasSubstr("bad "));
}

TEST(FailureCapsule, EveryChangedDigitOfTheWindowIsFound) {
  const std::string text = format_failure_capsule(sample_capsule());
  const std::size_t begin = text.find("\"window_hash\"");
  ASSERT_NE(begin, std::string::npos);
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (std::string_view("0123456789abcdef").find(text[i]) == std::string_view::npos) continue;
    std::string changed = text;
    changed[i] = text[i] == '5' ? '6' : '5';
    EXPECT_NE(parse_error(changed), "read") << "at " << i;
  }
}

TEST(FailureCapsule, SaysWhatIsWrongWithAText) {
  const std::string text = format_failure_capsule(sample_capsule());
  EXPECT_THAT(parse_error(""), HasSubstr("not a JSON object"));
  EXPECT_THAT(parse_error("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(parse_error(replaced(text, "tocsin-failure-1", "tocsin-failure-2")),
              HasSubstr("expected format"));
  EXPECT_THAT(parse_error(replaced(text, "\"steps\": 3", "\"steps\": 4")),
              HasSubstr("expected 4 frames, found 3"));
  EXPECT_THAT(parse_error(replaced(text, "\"steps\": 3", "\"steps\": 5000")),
              HasSubstr("'steps' is missing"));
  EXPECT_THAT(parse_error(replaced(text, "\"features\": 2", "\"features\": 1")),
              HasSubstr("frame 0 is not 1 values"));
  EXPECT_THAT(parse_error(replaced(text, "\"engine\":", "\"motor\":")),
              HasSubstr("'engine' is missing"));
  EXPECT_THAT(parse_error(replaced(text, "\"instrument\": 12", "\"instrument\": -1")),
              HasSubstr("'instrument'"));
  for (std::size_t size = 0; size + 2 < text.size(); size += 7)
    EXPECT_NE(parse_error(text.substr(0, size)), "read") << "cut to " << size;
}

TEST_F(FailureCapsuleFolderTest, NumbersFilesAndGoesOnAfterARestart) {
  const FailureCapsule capsule = sample_capsule();
  FailureCapsuleFolder folder(run_folder_.string());
  EXPECT_FALSE(fs::exists(run_folder_ / "failures"));
  for (int i = 0; i < 2; ++i) {
    const auto written = folder.write(capsule);
    ASSERT_TRUE(written.ok()) << written.error().message();
    EXPECT_TRUE(*written);
  }
  FailureCapsuleFolder restarted(run_folder_.string());
  ASSERT_TRUE(restarted.write(capsule).ok());
  for (const char* name : {"0001.capsule", "0002.capsule", "0003.capsule"}) {
    const auto read = read_failure_capsule((run_folder_ / "failures" / name).string());
    ASSERT_TRUE(read.ok()) << read.error().message();
    expect_equal(*read, capsule);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 3);
}

TEST_F(FailureCapsuleFolderTest, KeepsToItsLimitOverRestarts) {
  for (int run = 0; run < 2; ++run) {
    FailureCapsuleFolder folder(run_folder_.string(), {.capsule_count_max = 2});
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(folder.write(sample_capsule()).ok());
    EXPECT_EQ(folder.written_count(), run == 0 ? 2U : 0U);
    EXPECT_EQ(folder.passed_over_count(), run == 0 ? 3U : 5U);
  }
  const fs::path failures = run_folder_ / "failures";
  EXPECT_EQ(std::distance(fs::directory_iterator(failures), fs::directory_iterator()), 2);
}

TEST_F(FailureCapsuleFolderTest, FolderThatCannotBeMadeIsAnError) {
  write_test_file(run_folder_ / "failures", "a file is in the way");
  FailureCapsuleFolder folder(run_folder_.string());
  const auto written = folder.write(sample_capsule());
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message(), HasSubstr("failures"));
  fs::remove(run_folder_ / "failures");
  EXPECT_TRUE(folder.write(sample_capsule()).ok());
}

TEST_F(FailureCapsuleFolderTest, MissingFileIsNamed) {
  const auto read = read_failure_capsule((run_folder_ / "0001.capsule").string());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(read.error().message(), HasSubstr("0001.capsule"));
}

}  // namespace
}  // namespace tocsin
