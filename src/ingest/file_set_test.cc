#include "ingest/file_set.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tocsin {
namespace {

class FileSetTest : public ::testing::Test {
 protected:
  FileSetTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("tocsin_file_set_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_ / "day");
  }
  ~FileSetTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // A zip of files that hold their own names, each on a line.
  std::string write_zip(const std::vector<std::string>& names) const {
    const std::string zip = path("files.zip");
    struct archive* writer = archive_write_new();
    archive_write_set_format_zip(writer);
    EXPECT_EQ(archive_write_open_filename(writer, zip.c_str()), ARCHIVE_OK);
    for (const std::string& name : names) {
      const std::string content = name + "\n";
      struct archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, name.c_str());
      archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_perm(entry, 0644);
      EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
      EXPECT_EQ(archive_write_data(writer, content.data(), content.size()),
                static_cast<la_ssize_t>(content.size()));
      archive_entry_free(entry);
    }
    EXPECT_EQ(archive_write_free(writer), ARCHIVE_OK);
    return zip;
  }

  std::filesystem::path folder_;
};

std::string first_line(const FileSet& set, const std::string& name) {
  auto stream = open_file_of_set(set, name);
  std::string_view line;
  return stream.ok() && (*stream)->next_line(line) ? std::string(line) : "";
}

TEST_F(FileSetTest, AZipAndAFolderReadAlike) {
  const auto zip = list_file_set(write_zip({"day/b.csv", "day/a.csv"}));
  ASSERT_TRUE(zip.ok()) << zip.error().message();
  EXPECT_EQ(zip->names, (std::vector<std::string>{"day/a.csv", "day/b.csv"}));
  EXPECT_EQ(zip->find("b.csv"), "day/b.csv");
  EXPECT_EQ(zip->find("c.csv"), "");
  EXPECT_EQ(first_line(*zip, "day/b.csv"), "day/b.csv");
  EXPECT_EQ(first_line(*zip, "day/a.csv"), "day/a.csv");

  std::ofstream(path("day/a.csv")) << "day/a.csv\n";
  const auto folder = list_file_set(folder_.string());
  ASSERT_TRUE(folder.ok()) << folder.error().message();
  EXPECT_EQ(folder->find("a.csv"), "day/a.csv");
  EXPECT_EQ(first_line(*folder, "day/a.csv"), "day/a.csv");
}

TEST_F(FileSetTest, OneFileInAZipIsReadAsThatFile) {
  auto stream = open_byte_stream(write_zip({"tick.csv"}));
  ASSERT_TRUE(stream.ok()) << stream.error().message();
  std::string_view line;
  ASSERT_TRUE((*stream)->next_line(line));
  EXPECT_EQ(line, "tick.csv");
}

TEST_F(FileSetTest, SeveralFilesInAZipAreNoStream) {
  const auto stream = open_byte_stream(write_zip({"a.csv", "b.csv"}));
  ASSERT_FALSE(stream.ok());
  EXPECT_EQ(stream.error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(FileSetTest, ATruncatedZipIsAnErrorWithItsName) {
  const std::string zip = write_zip({"a.csv", "b.csv"});
  std::filesystem::resize_file(zip, 20);
  const auto set = list_file_set(zip);
  ASSERT_FALSE(set.ok());
  EXPECT_NE(set.error().message().find(zip), std::string::npos);
}

}  // namespace
}  // namespace tocsin
