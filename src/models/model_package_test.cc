#include "models/model_package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "support/test_package.h"

namespace tocsin {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::string load_error(const fs::path& folder) {
  const auto package = load_model_package(folder.string());
  return package.ok() ? std::string("loaded") : package.error().message();
}

TEST(ModelPackage, LoadsWithSamplesOfEveryLength) {
  const TestPackage files;
  const auto package = load_model_package(files.folder().string());
  ASSERT_TRUE(package.ok()) << package.error().message();
  EXPECT_EQ(package->folder, files.folder().string());
  EXPECT_EQ(package->onnx_path, (files.folder() / "model.onnx").string());
  EXPECT_EQ(package->model_sha256, *sha256_of_file(package->onnx_path));
  ASSERT_EQ(package->samples.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const ModelSamples& samples = package->samples[i];
    EXPECT_EQ(samples.steps, package->steps_allowed[i]);
    EXPECT_THAT(samples.inputs.shape, ElementsAre(3, samples.steps, 3));
    EXPECT_THAT(samples.outputs.shape, ElementsAre(3, 1));
    EXPECT_EQ(samples.inputs.values.size(), static_cast<std::size_t>(9 * samples.steps));
  }
}

TEST(ModelPackage, TakesTheHighestVersionAndTrailingSlashes) {
  const TestPackage files;
  const fs::path model = files.repository() / "test_model";
  for (const char* folder : {"02", "0", "notes", "10x"}) fs::create_directory(model / folder);
  EXPECT_EQ(load_error(model), "loaded");
  EXPECT_EQ(load_error(model.string() + "/"), "loaded");
  EXPECT_EQ(load_error(files.folder().string() + "//"), "loaded");
  fs::create_directory(model / "10");
  EXPECT_THAT(load_error(model), HasSubstr("test_model/10/package.yaml: No such file"));
}

TEST(ModelPackage, FindsAllVersionsInOrder) {
  const TestPackage files;
  for (const char* folder :
       {"test_model/20", "test_model/100", "test_model/01", "other/1", "empty"})
    fs::create_directories(files.repository() / folder);
  write_test_file(files.repository() / "README.md", "notes");
  write_test_file(files.repository() / "test_model/config.pbtxt", "name: \"test_model\"");
  const auto folders = find_model_packages(files.repository().string());
  ASSERT_TRUE(folders.ok()) << folders.error().message();
  const std::string root = files.repository().string();
  EXPECT_THAT(*folders, ElementsAre(root + "/other/1", root + "/test_model/3",
                                    root + "/test_model/20", root + "/test_model/100"));
  EXPECT_EQ(find_model_packages(root + "/nowhere").error().code(), ErrorCode::kNotFound);
}

// Bytes all over the three files (PackageSeal.CoversEveryByte leaves none out in package.yaml).
TEST(ModelPackage, OneChangedByteInAnyFileIsRefused) {
  const TestPackage files;
  for (const auto& [name, stride] :
       {std::pair{"package.yaml", 7U}, {"samples.npz", 61U}, {"model.onnx", 31U}}) {
    const fs::path path = files.folder() / name;
    const std::string whole = read_test_file(path);
    for (std::size_t i = 0; i < whole.size(); i += stride) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      write_test_file(path, changed);
      ASSERT_NE(load_error(files.folder()), "loaded") << name << " byte " << i;
    }
    write_test_file(path, whole);
    ASSERT_EQ(load_error(files.folder()), "loaded");
  }
}

TEST(ModelPackage, TheReasonNamesTheFileAndBothChecksums) {
  const TestPackage files;
  const std::string whole = read_test_file(files.folder() / "model.onnx");
  write_test_file(files.folder() / "model.onnx", whole + "x");
  const std::string message = load_error(files.folder());
  EXPECT_THAT(message, HasSubstr("model package " + files.folder().string()));
  EXPECT_THAT(message, HasSubstr("model.onnx: its SHA-256 is " +
                                 to_hex(digest_of(DigestKind::kSha256, whole + "x"))));
  EXPECT_THAT(message, HasSubstr("says " + to_hex(digest_of(DigestKind::kSha256, whole))));
  EXPECT_EQ(load_model_package(files.folder().string()).error().code(),
            ErrorCode::kFailedPrecondition);
}

TEST(ModelPackage, MissingFilesAreNamed) {
  for (const char* name : {"package.yaml", "model.onnx", "samples.npz"}) {
    const TestPackage files;
    fs::remove(files.folder() / name);
    const auto package = load_model_package(files.folder().string());
    ASSERT_FALSE(package.ok());
    EXPECT_THAT(package.error().message(), HasSubstr(name));
    EXPECT_EQ(package.error().code(), ErrorCode::kNotFound) << package.error().message();
  }
  EXPECT_THAT(load_error("/no/such/folder/1"), HasSubstr("/no/such/folder/1"));
}

TEST(ModelPackage, FileThatNoChecksumCoversIsRefused) {
  const TestPackage files;
  write_test_file(files.folder() / "weights.bin", "0123");
  EXPECT_THAT(load_error(files.folder()), HasSubstr("'weights.bin', which no checksum covers"));
}

TEST(ModelPackage, FolderMustSayWhatTheFileSays) {
  const TestPackage files;
  const fs::path elsewhere = files.repository() / "renamed";
  fs::create_directory(elsewhere);
  fs::rename(files.folder(), elsewhere / "3");
  EXPECT_THAT(load_error(elsewhere / "3"), HasSubstr("the folder above is named 'renamed'"));
  fs::rename(elsewhere / "3", elsewhere / "4");
  EXPECT_THAT(load_error(elsewhere / "4"), HasSubstr("says version 3, the folder is named '4'"));
}

// Faults of samples.npz: the archive of one fixture under the declarations of another.
TEST(ModelPackage, SamplesThatDoNotFitAreRefused) {
  TestPackage files;
  const std::string yaml = files.yaml();
  const auto error_after = [&](std::string_view from, std::string_view to) {
    files.write_yaml(replaced(yaml, from, to));
    return load_error(files.folder());
  };
  EXPECT_THAT(error_after("[30, 60, 120]", "[30, 60, 90]"),
              HasSubstr("samples.npz: expected an array 'inputs_90', found none"));
  EXPECT_THAT(error_after("[30, 60, 120]", "[30, 60]"), HasSubstr("too many"));
  EXPECT_THAT(error_after("shape: [-1, 1]", "shape: [-1, 2]"),
              HasSubstr("array 'outputs_30': expected shape [-1, 2]"));

  const TestPackage other(calm_gru_parts());
  write_test_file(files.folder() / "samples.npz", read_test_file(other.folder() / "samples.npz"));
  files.write_yaml(files.yaml());
  EXPECT_THAT(load_error(files.folder()), HasSubstr("'inputs_30', found none"));
}

TEST(ModelPackage, SamplesWithBadValuesAreRefused) {
  for (const auto& [fixture, message] :
       {std::pair{"bad_samples_nan", "array 'inputs_30': sample 2 is not finite"},
        {"bad_samples_infinite", "array 'outputs_30': sample 1 is not finite"},
        {"bad_samples_range", "array 'outputs_30': sample 0 is no probability"},
        {"bad_samples_count", "array 'outputs_30': expected 3 samples"}}) {
    TestPackageParts parts;
    parts.samples_fixture = fixture;
    parts.steps = "30";
    parts.steps_allowed = "[30]";
    const TestPackage files(parts);
    EXPECT_THAT(load_error(files.folder()), HasSubstr(message));
  }
}

TEST(ModelPackage, FolderInPlaceOfAFileIsRefused) {
  const TestPackage files;
  fs::remove(files.folder() / "samples.npz");
  fs::create_directory(files.folder() / "samples.npz");
  EXPECT_THAT(load_error(files.folder()), HasSubstr("samples.npz"));
  EXPECT_NE(load_error(files.folder()), "loaded");
}

TEST(ModelPackage, PipeInPlaceOfAFileIsRefusedAndNotWaitedFor) {
  for (const char* name : {"package.yaml", "model.onnx", "samples.npz"}) {
    const TestPackage files;
    fs::remove(files.folder() / name);
    ASSERT_EQ(::mkfifo((files.folder() / name).c_str(), 0600), 0);
    EXPECT_THAT(load_error(files.folder()), HasSubstr(std::string(name) + ": is no regular file"));
  }
}

}  // namespace
}  // namespace tocsin
