#include "sinks/file_io.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace tocsin {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  const Result<std::vector<std::byte>> bytes = read_whole_file(path.string(), 1 << 20);
  if (!bytes.ok()) return bytes.error().message();
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

TEST(ReadWholeFile, RefusesMoreThanItIsAllowed) {
  const fs::path path = fs::path(testing::TempDir()) / "read_whole_file_test";
  ASSERT_TRUE(replace_file(path.string(), "four").ok());
  EXPECT_EQ(read_whole_file(path.string(), 4)->size(), 4U);
  EXPECT_EQ(read_whole_file(path.string(), 3).error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(read_whole_file("/dev/zero", 1 << 20).error().message(),
            "/dev/zero: larger than 1048576 bytes");
  fs::remove(path);
}

class ReplaceFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  fs::path folder_;
};

TEST_F(ReplaceFile, HoldsTheNewContentAndLeavesNothingElse) {
  const fs::path path = folder_ / "x";
  ASSERT_TRUE(replace_file(path.string(), "old").ok());
  ASSERT_TRUE(replace_file(path.string(), "new").ok());
  EXPECT_EQ(content_of(path), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(ReplaceFile, KeepsASymbolicLinkALink) {
  const fs::path link = folder_ / "link";
  ASSERT_TRUE(replace_file((folder_ / "target").string(), "old").ok());
  fs::create_symlink("target", link);
  ASSERT_TRUE(replace_file(link.string(), "new").ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content_of(folder_ / "target"), "new");
}

TEST_F(ReplaceFile, WritesToADeviceAndLeavesItADevice) {
  const Status full = replace_file("/dev/full", "x");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_TRUE(replace_file("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(ReplaceFile, NamesAFolderThatIsNotThere) {
  const Status status = replace_file((folder_ / "no" / "x").string(), "x");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message().find("no"), std::string::npos);
}

}  // namespace
}  // namespace tocsin
