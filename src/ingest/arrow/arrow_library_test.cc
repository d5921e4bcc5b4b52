// What is said where there is no plug-in, or a wrong one; how a file's kind is told.
#include "ingest/arrow/arrow_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ingest/arrow/arrow_input.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

std::string refusal_of(const LibraryLocations& locations) {
  const auto opened = ArrowLibrary::open(locations);
  EXPECT_FALSE(opened.ok());
  if (opened.ok()) return {};
  EXPECT_EQ(opened.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(opened.error().message().find('\n'), std::string::npos) << "one line";
  return opened.error().message();
}

TEST(ArrowLibrary, SaysWhatIsMissingAndWhatToDo) {
  const std::string text = refusal_of({.folders = {"/nowhere"}, .system_path = false});
  EXPECT_THAT(text, HasSubstr("libtocsin_arrow.so, which is not beside the program"));
  EXPECT_THAT(text, HasSubstr("scripts/fetch-arrow"));
  EXPECT_THAT(text, HasSubstr("TOCSIN_ARROW"));
}

TEST(ArrowLibrary, NamesTheConfiguredPathThatIsNotThere) {
  EXPECT_THAT(refusal_of({.configured_path = "/nowhere/plugin.so"}),
              HasSubstr("TOCSIN_ARROW names /nowhere/plugin.so: no such file"));
}

TEST(ArrowLibrary, RefusesAnotherLibrary) {
  EXPECT_THAT(refusal_of({.configured_path = "/lib/x86_64-linux-gnu/libm.so.6"}),
              HasSubstr("no function tocsin_arrow_plugin"));
}

TEST(ColumnarInput, NeedsThePlugIn) {
  const auto opened = open_columnar_file("/nowhere", columnar::FileKind::kParquet,
                                         {.folders = {"/nowhere"}, .system_path = false});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::kUnavailable);
}

TEST(ColumnarInput, TellsKindsByTheirFirstBytes) {
  const std::string path = testing::TempDir() + "/" + std::to_string(getpid()) + "_magic";
  const auto kind_of = [&path](std::string_view bytes) {
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return columnar_kind_of(path);
  };
  using enum columnar::FileKind;
  EXPECT_EQ(kind_of("PAR1\x15"), kParquet);
  EXPECT_EQ(kind_of(std::string_view("ARROW1\0\0", 8)), kIpcFile);
  EXPECT_EQ(kind_of(std::string_view("\xFF\xFF\xFF\xFF\x10\x01\0\0", 8)), kIpcStream);
  EXPECT_EQ(kind_of(std::string_view("\xFF\xFF\xFF\xFF\0\0\0\0", 8)), std::nullopt);
  EXPECT_EQ(kind_of("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), std::nullopt);
  EXPECT_EQ(kind_of("\xFF\xFF\xFF\xFF"), std::nullopt);
  EXPECT_EQ(kind_of("time,price\n"), std::nullopt);
  EXPECT_EQ(kind_of(""), std::nullopt);
  std::filesystem::remove(path);
  EXPECT_EQ(columnar_kind_of(testing::TempDir()), std::nullopt);
}

}  // namespace
}  // namespace tocsin
