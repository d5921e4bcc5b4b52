// Telling formats apart, and what is said of files that are none of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "ingest/feed_bytes.h"
#include "ingest/packet_feed_bytes.h"
#include "ingest/source.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

const std::string kSamples = tocsin_source_path("data/samples/");
const std::string kBinance = kSamples + "binance_usdm_btcusdt/btcusdt_20240808.gz";
const std::string kLobster =
    kSamples + "lobster_aapl/AAPL_2012-06-21_34200000_57600000_message_10.slice.csv";
const std::string kLobsterBook =
    kSamples + "lobster_aapl/AAPL_2012-06-21_34200000_57600000_orderbook_10.slice.csv";

class FileSource : public testing::Test {
 protected:
  FileSource() : folder_(testing::TempDir() + "file_source_test_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~FileSource() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view content) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
    return path;
  }

  std::string folder_;
};

FileSourceOptions options_for(const std::string& path) {
  FileSourceOptions options;
  options.path = path;
  return options;
}

void expect_refused(const FileSourceOptions& options, ErrorCode code,
                    std::initializer_list<std::string_view> said) {
  const auto source = open_file_source(options);
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code(), code) << source.error().message();
  for (const std::string_view text : said) {
    EXPECT_NE(source.error().message().find(text), std::string::npos)
        << text << " in: " << source.error().message();
  }
}

TEST_F(FileSource, TellsTheBundledSamples) {
  for (const auto& [path, format] :
       {std::pair{kBinance, FeedFormat::kBinanceUsdm}, std::pair{kLobster, FeedFormat::kLobster}}) {
    const auto detected = detect_feed_format(path);
    ASSERT_TRUE(detected.ok()) << detected.error().message();
    EXPECT_EQ(*detected, format);
    auto source = open_file_source(options_for(path));
    ASSERT_TRUE(source.ok()) << source.error().message();
    EventBatch batch;
    EXPECT_EQ((*source)->next(batch), SourceStatus::kEvents);
  }
}

TEST_F(FileSource, TellsBinaryFeeds) {
  const auto text = [](const Bytes& bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  Bytes itch;
  append_itch(itch, itch_add({.id = 1}));
  Bytes dbn = dbn_header();
  const Bytes record = dbn_mbo({});
  dbn.insert(dbn.end(), record.begin(), record.end());
  const std::vector<CapturedFrame> frames = {{1'000, mold_frame({}, {itch_add({.id = 1})})}};
  const std::vector<std::pair<std::string, FeedFormat>> cases = {
      {write("a.itch", text(itch)), FeedFormat::kItch50},
      {write("a.pcap", text(pcap_file(frames))), FeedFormat::kMoldUdp64},
      {write("a.pcapng", text(pcapng_file(frames))), FeedFormat::kMoldUdp64},
      {write("a.dbn", text(dbn)), FeedFormat::kDbn},
      {write("iex.pcap",
             text(pcap_file({{1'000, udp_frame(iex_packet({}, {iex_level({}, {})}))}}))),
       FeedFormat::kIex},
      {write("pitch.pcap", text(pcap_file({{1'000, udp_frame(pitch_packet(
                                                       {.sequence = 5}, {pitch_add_long({})}))}}))),
       FeedFormat::kPitch}};
  for (const auto& [path, format] : cases) {
    const auto detected = detect_feed_format(path);
    ASSERT_TRUE(detected.ok()) << detected.error().message();
    EXPECT_EQ(*detected, format);
    const auto source = open_file_source(options_for(path));
    ASSERT_TRUE(source.ok()) << source.error().message();
    EventBatch batch;
    EXPECT_EQ((*source)->next(batch), SourceStatus::kEvents);
    EXPECT_EQ(batch.size(), 1U);
  }
  const Bytes other = pcap_file({{1'000, udp_frame(Bytes(40))}});
  expect_refused(options_for(write("other.pcap", text(other))), ErrorCode::kDataLoss,
                 {"a capture", "MoldUDP64", "IEX-TP"});
  expect_refused(options_for(write("a.dbn.frag", text(record))), ErrorCode::kUnimplemented,
                 {"a.dbn.frag", "without the header"});
}

TEST_F(FileSource, NamesEveryFormatBothWays) {
  for (const FeedFormat format :
       {FeedFormat::kBinanceUsdm, FeedFormat::kLobster, FeedFormat::kItch50, FeedFormat::kMoldUdp64,
        FeedFormat::kDbn, FeedFormat::kIex, FeedFormat::kPitch, FeedFormat::kMdp3}) {
    const auto again = feed_format_from_name(feed_format_name(format));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, format);
  }
  const auto unknown = feed_format_from_name("lobsters");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message().find("lobster"), std::string::npos);
}

TEST_F(FileSource, SaysThatAFileIsEmptyOrMissingOrAFolder) {
  expect_refused(options_for(write("empty", "")), ErrorCode::kDataLoss, {"empty", "is empty"});
  expect_refused(options_for(folder_ + "/absent"), ErrorCode::kNotFound, {folder_ + "/absent"});
  expect_refused(options_for(folder_), ErrorCode::kInvalidArgument, {folder_});
}

TEST_F(FileSource, SaysWhatWasLookedForInGarbage) {
  std::mt19937_64 random(17);
  std::string garbage(100'000, '\0');
  for (char& c : garbage) c = static_cast<char>(random());
  garbage[0] = '\x07';
  const std::string path = write("garbage.bin", garbage);
  expect_refused(options_for(path), ErrorCode::kDataLoss,
                 {path, "07 ", "JSON object", "LOBSTER message file", "lobster"});
  expect_refused(options_for(write("text", "Dear reader,\nthis is no feed.\n")),
                 ErrorCode::kDataLoss, {"44 65 61 72"});
}

TEST_F(FileSource, RefusesAnotherFormatThanTheOneAskedFor) {
  FileSourceOptions options = options_for(kLobster);
  options.format = FeedFormat::kBinanceUsdm;
  expect_refused(options, ErrorCode::kInvalidArgument, {"binance_usdm", "lobster"});
}

TEST_F(FileSource, ReadsADamagedHeadWhereTheFormatIsAskedFor) {
  FileSourceOptions options = options_for(write(
      "damaged", "#!?\n5 {\"lastUpdateId\":7,\"T\":1,\"s\":\"X\",\"bids\":[],\"asks\":[]}\n"));
  expect_refused(options, ErrorCode::kDataLoss, {"no known format"});
  options.format = FeedFormat::kBinanceUsdm;
  auto source = open_file_source(options);
  ASSERT_TRUE(source.ok()) << source.error().message();
  EventBatch batch;
  EXPECT_EQ((*source)->next(batch), SourceStatus::kEvents);
  EXPECT_EQ((*source)->counters().malformed, 1U);
  EXPECT_EQ((*source)->next(batch), SourceStatus::kEvents);
  EXPECT_EQ(batch.size(), 1U);
  EXPECT_EQ((*source)->next(batch), SourceStatus::kEnd);
}

TEST_F(FileSource, PointsFromALobsterBookFileToItsMessageFile) {
  expect_refused(options_for(kLobsterBook), ErrorCode::kInvalidArgument, {"message file"});
}

TEST_F(FileSource, NamesTheLobsterBookFileThatIsMissing) {
  expect_refused(options_for(write("A_message_1.csv", "34200.1,1,1,1,1000000,1\n")),
                 ErrorCode::kNotFound, {"A_orderbook_1.csv", "A_message_1.csv"});
  expect_refused(options_for(write("rows.csv", "34200.1,1,1,1,1000000,1\n")),
                 ErrorCode::kInvalidArgument, {"rows.csv"});
}

TEST_F(FileSource, TakesTheLobsterBookFileThatIsNamed) {
  FileSourceOptions options = options_for(write("rows.csv", "34200.1,1,1,1,1000000,1\n"));
  options.orderbook_path = write("levels.csv", "1001000,20,1000000,1\n");
  auto source = open_file_source(options);
  ASSERT_TRUE(source.ok()) << source.error().message();
  EventBatch batch;
  EXPECT_EQ((*source)->next(batch), SourceStatus::kEvents);
  EXPECT_EQ(batch.size(), 5U);
  EXPECT_EQ((*source)->next(batch), SourceStatus::kEnd);
  EXPECT_DOUBLE_EQ((*source)->progress(), 1.0);
}

TEST_F(FileSource, SaysThatAGzipFileBreaksOffInItsHeader) {
  expect_refused(options_for(write("cut.gz", std::string("\x1F\x8B\x08\x00\x00", 5))),
                 ErrorCode::kDataLoss, {"cut.gz", "truncated"});
}

}  // namespace
}  // namespace tocsin
