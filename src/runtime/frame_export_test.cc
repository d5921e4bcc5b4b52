// Exported frames are those of a run, bit for bit: feeds of three kinds, every feature, CSV,
// npz and Parquet.
#include "runtime/frame_export.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "decision/alert_id.h"
#include "decision/decision_policy.h"
#include "engines/engine.h"
#include "features/feature_values.h"
#include "ingest/arrow/arrow_library.h"
#include "ingest/byte_stream.h"
#include "ingest/csv_row.h"
#include "models/npy_header.h"
#include "runtime/pipeline.h"
#include "scoring/failure_capsule.h"
#include "scoring/window_scorer.h"
#include "sinks/file_size_limit.h"
#include "support/catalogue_package.h"
#include "support/data_path.h"
#include "telemetry/log_capture.h"

namespace tocsin {
namespace {

FileSourceOptions from_file(const std::string& path) {
  FileSourceOptions options;
  options.path = path;
  return options;
}

FileSourceOptions binance_sample() {
  return from_file(tocsin_source_path("data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz"));
}

FileSourceOptions lobster_sample() {
  return from_file(tocsin_source_path(
      "data/samples/lobster_aapl/AAPL_2012-06-21_34200000_57600000_message_10.slice.csv"));
}

// Tests run side by side, each in a process of its own.
std::string temporary_path(const std::string& name) {
  return testing::TempDir() + "/" + std::to_string(getpid()) + "_" + name;
}

struct Exported {
  std::vector<std::string> names;
  // By record, and the number of the frame within it.
  std::map<std::pair<std::uint64_t, std::size_t>, std::vector<std::uint32_t>> bits;
};

Exported export_as_csv(const FileSourceOptions& source) {
  const std::string path = temporary_path("frame_export_test.csv");
  const Result<FrameExportReport> report = export_frames(
      {.source = source, .output = {path, FrameFileFormat::kCsv}}, SystemClock(), [](auto) {});
  EXPECT_TRUE(report.ok() && report->end.ok());
  Exported exported;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::istringstream heading(line);
  for (std::string name; std::getline(heading, name, ',');) exported.names.push_back(name);
  exported.names.erase(exported.names.begin(), exported.names.begin() + 6);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    std::vector<std::uint32_t> bits;
    for (std::size_t i = 6; i < cells.size(); ++i) {
      float value = 0.0F;
      std::from_chars(cells[i].data(), cells[i].data() + cells[i].size(), value);
      bits.push_back(std::bit_cast<std::uint32_t>(value));
    }
    const std::uint64_t record = std::stoull(cells[1]);
    std::size_t within = 0;
    while (exported.bits.count({record, within}) != 0) ++within;
    exported.bits[{record, within}] = std::move(bits);
  }
  std::filesystem::remove(path);
  return exported;
}

// A run with a model of three features: every decision's frame.
class OnlineRun {
 public:
  OnlineRun(const FileSourceOptions& source, const std::vector<std::string>& features)
      : files_(package_of(features)), policy_(*DecisionPolicy::create({.threshold = 0.9F})) {
    const auto engine = make_engine("native");
    auto model = load_model(load_test_package(files_), **engine, {});
    EXPECT_TRUE(model.ok()) << model.error().message();
    scorer_ = std::make_unique<WindowScorer>(std::move(*model));
    Result<std::unique_ptr<Source>> opened = open_file_source(source);
    EXPECT_TRUE(opened.ok());
    source_ = std::move(*opened);
  }

  std::vector<FeatureFrame> frames(std::uint64_t records_max) {
    Pipeline pipeline({.source = *source_,
                       .scorer = *scorer_,
                       .policy = policy_,
                       .ids = ids_,
                       .failures = failures_,
                       .decisions = decisions_,
                       .symbols = symbols_,
                       .clock = clock_},
                      {.source_name = "s", .sample_every = 1});
    std::vector<FeatureFrame> frames;
    DecisionRecord record;
    const std::atomic<bool> give_up{false};
    while (pipeline.step(give_up) == Pipeline::Step::kWorked &&
           source_->counters().records < records_max) {
      while (decisions_.try_pop(record)) frames.push_back(record.frame);
    }
    while (decisions_.try_pop(record)) frames.push_back(record.frame);
    return frames;
  }

 private:
  static TestPackageParts package_of(const std::vector<std::string>& features) {
    TestPackageParts parts;
    parts.features = features;
    for (std::size_t i = 0; i < features.size(); ++i) {
      const auto catalogue = feature_catalogue();
      const auto found = std::find_if(catalogue.begin(), catalogue.end(),
                                      [&](const auto& one) { return one.name == features[i]; });
      parts.feature_versions[i] = found->version;
    }
    parts.schema_hash = to_hex(FeatureSchema::from_names(features)->hash());
    return parts;
  }

  TestPackage files_;
  DecisionPolicy policy_;
  std::unique_ptr<WindowScorer> scorer_;
  std::unique_ptr<Source> source_;
  SystemClock clock_;
  AlertIdHasher ids_{{.source = "s", .rule = "burst", .model = "m", .model_version = "1"}};
  FailureCapsuleFolder failures_{temporary_path("frame_export_test")};
  SpscRing<DecisionRecord> decisions_{4096};
  SymbolTable symbols_;
};

void expect_export_equals_run(const FileSourceOptions& source, std::uint64_t records_max) {
  const Exported exported = export_as_csv(source);
  ASSERT_EQ(exported.names.size(), kFeatureCount);
  constexpr std::size_t kWidth = 3;
  static_assert(kFeatureCount % kWidth == 0);
  for (std::size_t first = 0; first < kFeatureCount; first += kWidth) {
    const std::vector<std::string> features(
        exported.names.begin() + static_cast<std::ptrdiff_t>(first),
        exported.names.begin() + static_cast<std::ptrdiff_t>(first + kWidth));
    std::uint64_t last_record = 0;
    std::size_t within = 0;
    std::size_t compared = 0;
    for (const FeatureFrame& frame : OnlineRun(source, features).frames(records_max)) {
      within = frame.position.record == last_record ? within + 1 : 0;
      last_record = frame.position.record;
      if (compared == 0) within = 0;
      const auto found = exported.bits.find({last_record, within});
      ASSERT_NE(found, exported.bits.end()) << last_record;
      for (std::size_t i = 0; i < kWidth; ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(frame.values[i]), found->second[first + i])
            << features[i] << " at record " << last_record;
      ++compared;
    }
    EXPECT_GT(compared, 500U);
  }
}

TEST(FrameExport, EqualsARunOfBinance) { expect_export_equals_run(binance_sample(), 4'000); }

TEST(FrameExport, EqualsARunOfLobster) { expect_export_equals_run(lobster_sample(), 4'000); }

TEST(FrameExport, EqualsARunOfDatabento) {
  const std::string path = tocsin_data_path("dbn/nautilus_esh4-glbx-mdp3-20231225.mbo.dbn.zst");
  if (path.empty()) GTEST_SKIP() << "the Databento file is not here";
  expect_export_equals_run(from_file(path), 14'000);  // a snapshot of 11,217 orders first
}

using Members = std::map<std::string, std::string>;

Members unzipped(const std::string& path) {
  Members members;
  archive* zip = archive_read_new();
  archive_read_support_format_zip(zip);
  EXPECT_EQ(archive_read_open_filename(zip, path.c_str(), 1 << 16), ARCHIVE_OK);
  archive_entry* entry = nullptr;
  while (archive_read_next_header(zip, &entry) == ARCHIVE_OK) {
    std::string& bytes = members[archive_entry_pathname(entry)];
    char chunk[4096];
    for (la_ssize_t n = 0; (n = archive_read_data(zip, chunk, sizeof chunk)) > 0;)
      bytes.append(chunk, static_cast<std::size_t>(n));
  }
  archive_read_free(zip);
  return members;
}

// The array of a member, whose header must be what is expected.
std::string array_of(const Members& members, const std::string& name, const NpyHeader& expected) {
  const auto found = members.find(name + ".npy");
  if (found == members.end()) {
    ADD_FAILURE() << "no member " << name;
    return {};
  }
  const std::string& bytes = found->second;
  const std::size_t length =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + length) % 64, 0U);
  const Result<NpyHeader> header = parse_npy_header(bytes.substr(10, length));
  EXPECT_TRUE(header.ok());
  EXPECT_EQ(header->type, expected.type) << name;
  EXPECT_EQ(header->shape, expected.shape) << name;
  return bytes.substr(10 + length);
}

TEST(FrameExport, NpzHoldsTheSameFramesAsCsv) {
  const FileSourceOptions source = lobster_sample();
  const Exported csv = export_as_csv(source);
  const std::string path = temporary_path("frame_export_test.npz");
  const Result<FrameExportReport> report = export_frames(
      {.source = source, .output = {path, FrameFileFormat::kNpz}}, SystemClock(), [](auto) {});
  ASSERT_TRUE(report.ok()) << report.error().message();
  const auto n = static_cast<std::int64_t>(report->frames);
  const auto width = static_cast<std::int64_t>(kFeatureCount);
  ASSERT_EQ(report->frames, csv.bits.size());
  const Members members = unzipped(path);
  std::filesystem::remove(path);
  EXPECT_EQ(members.size(), 10U);
  const std::string values = array_of(members, "values", {"<f4", false, {n, width}});
  const std::string records = array_of(members, "record", {"<u8", false, {n}});
  const std::string instruments = array_of(members, "instrument", {"<u4", false, {n}});
  array_of(members, "exchange_time_ns", {"<i8", false, {n}});
  array_of(members, "receive_time_ns", {"<i8", false, {n}});
  array_of(members, "mid_price_nanos_x2", {"<i8", false, {n}});
  array_of(members, "price_tick_nanos", {"<i8", false, {n}});
  array_of(members, "quality", {"<u2", false, {n}});
  EXPECT_EQ(array_of(members, "symbols", {"<U4", false, {1}}),
            std::string("A\0\0\0A\0\0\0P\0\0\0L\0\0\0", 16));
  array_of(members, "feature_names", {"<U30", false, {width}});
  std::size_t row = 0;
  for (const auto& [place, bits] : csv.bits) {
    std::uint64_t record = 0;
    std::memcpy(&record, records.data() + 8 * row, 8);
    ASSERT_EQ(record, place.first);
    ASSERT_EQ(std::memcmp(values.data() + 4 * kFeatureCount * row, bits.data(), 4 * kFeatureCount),
              0);
    ++row;
  }
  EXPECT_EQ(instruments, std::string(4 * row, '\0'));
}

std::vector<std::string> cells_of(std::string_view line) {
  CsvRow row;
  EXPECT_TRUE(row.split(line, ','));
  return {row.cells().begin(), row.cells().end()};
}

bool has_arrow() { return ArrowLibrary::open(ArrowLibrary::vendor().plugin_locations()).ok(); }

// Read back by the reader of feeds, as text that gives the bits of floats back.
TEST(FrameExport, ParquetHoldsTheSameFramesAsCsv) {
  if (!has_arrow()) GTEST_SKIP() << "this build has no plug-in libtocsin_arrow.so";
  const FileSourceOptions source = lobster_sample();
  const Exported csv = export_as_csv(source);
  const std::string path = temporary_path("frame_export_test.parquet");
  const Result<FrameExportReport> report = export_frames(
      {.source = source, .output = {path, frame_file_format_of(path)}}, SystemClock(), [](auto) {});
  ASSERT_TRUE(report.ok()) << report.error().message();
  const auto stream = open_byte_stream(path);
  ASSERT_TRUE(stream.ok()) << stream.error().message();
  std::filesystem::remove(path);
  std::string_view line;
  ASSERT_TRUE((*stream)->next_line(line));
  std::vector<std::string> names{
      "symbol",           "record", "exchange_time_ns", "receive_time_ns", "mid_price_nanos_x2",
      "price_tick_nanos", "quality"};
  const std::size_t fixed = names.size();
  names.insert(names.end(), csv.names.begin(), csv.names.end());
  EXPECT_EQ(cells_of(line), names);
  auto expected = csv.bits.begin();
  while ((*stream)->next_line(line)) {
    ASSERT_NE(expected, csv.bits.end());
    const std::vector<std::string> cells = cells_of(line);
    ASSERT_EQ(cells.size(), names.size());
    ASSERT_EQ(cells[0], "AAPL");
    ASSERT_EQ(cells[1], std::to_string(expected->first.first));
    for (std::size_t i = fixed; i < cells.size(); ++i) {
      float value = 0.0F;
      std::from_chars(cells[i].data(), cells[i].data() + cells[i].size(), value);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(value), expected->second[i - fixed]) << names[i];
    }
    ++expected;
  }
  EXPECT_TRUE((*stream)->status().ok());
  EXPECT_EQ(expected, csv.bits.end());
}

std::vector<FrameFileFormat> formats_here() {
  std::vector<FrameFileFormat> formats{FrameFileFormat::kCsv, FrameFileFormat::kNpz};
  if (has_arrow()) formats.push_back(FrameFileFormat::kParquet);
  return formats;
}

TEST(FrameExport, WritesTheFeaturesThatAreAskedForInTheirOrder) {
  const std::string path = temporary_path("frame_export_chosen.csv");
  const FileSourceOptions source = lobster_sample();
  const Result<FrameExportReport> report =
      export_frames({.source = source,
                     .output = {path, frame_file_format_of(path)},
                     .features = {"vpin_50", "mid"}},
                    SystemClock(), [](auto) {});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->features, 2U);
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  EXPECT_TRUE(line.ends_with(",price_tick_nanos,vpin_50,mid")) << line;
  std::filesystem::remove(path);
  EXPECT_EQ(frame_file_format_of("a.npz"), FrameFileFormat::kNpz);
  EXPECT_EQ(frame_file_format_of("a.parquet"), FrameFileFormat::kParquet);
  EXPECT_EQ(frame_file_format_of("npz"), FrameFileFormat::kCsv);
}

TEST(FrameExport, WarnsOfLeadersThatTheFileDoesNotHave) {
  const std::string path = temporary_path("frame_export_leaders.csv");
  const LogCapture log;
  const auto exported = [&](const LeaderPair& pair) {
    EXPECT_TRUE(export_frames({.source = lobster_sample(),
                               .output = {path, FrameFileFormat::kCsv},
                               .features = {"leader_move"},
                               .leaders = {pair}},
                              SystemClock(), [](auto) {})
                    .ok());
    std::filesystem::remove(path);
    return log.lines();
  };
  EXPECT_TRUE(exported({"AAPL", "AAPL"}).empty());
  const std::vector<std::string> lines = exported({"AAPL", "AAPLE"});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("no instrument AAPLE"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("did you mean AAPL?"), std::string::npos) << lines[0];
}

TEST(FrameExport, AFullDiskLeavesNoFile) {
  const FileSourceOptions source = binance_sample();
  for (const FrameFileFormat format : formats_here()) {
    const std::string path = temporary_path("full");
    const FileSizeLimit full(5'000);
    const Result<FrameExportReport> report =
        export_frames({.source = source, .output = {path, format}}, SystemClock(), [](auto) {});
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code(), ErrorCode::kResourceExhausted);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST(FrameExport, SaysWhichFileCannotBeWritten) {
  const FileSourceOptions source = binance_sample();
  for (const FrameFileFormat format : formats_here()) {
    const Result<FrameExportReport> report = export_frames(
        {.source = source, .output = {"/nowhere/frames", format}}, SystemClock(), [](auto) {});
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.error().message().find("/nowhere/frames"), std::string::npos);
  }
}

}  // namespace
}  // namespace tocsin
