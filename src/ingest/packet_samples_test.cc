// Every file of the public collection of one-message captures (Open Markets Initiative, no licence,
// not part of the repository) against docs/packet_samples.md: what it decodes as, or why not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ingest/packet_stream.h"
#include "ingest/source.h"
#include "ingest/wire_reader.h"
#include "support/data_path.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

constexpr const char* kFolder = "open-markets";
constexpr const char* kTable = "docs/packet_samples.md";

// Nothing but packets and connections, which say nothing about the feed.
bool is_packet_count(const std::string& type) {
  return type == "UDP packet" || type == "TCP packet" || type == "IP fragment" ||
         type == "packet of another protocol";
}

std::string decoded_as(const DrainedSource& decoded, Source& source, FeedFormat format) {
  std::string types;
  for (const auto& [type, count] : source.counts_by_type()) {
    if (is_packet_count(type)) continue;
    types += (types.empty() ? "" : "; ") + type + " " + std::to_string(count);
  }
  std::string row = std::string(feed_format_name(format)) + " | " + types;
  if (decoded.counters.gaps > 0) row += "; gaps " + std::to_string(decoded.counters.gaps);
  if (decoded.counters.malformed > 0)
    row += "; malformed " + std::to_string(decoded.counters.malformed);
  return row + " | " + std::to_string(decoded.events.size());
}

// Why a capture is of no known protocol, as far as its first packet tells.
std::string reason_of(const std::string& path) {
  const auto stream = open_byte_stream(path);
  if (!stream.ok()) return "cannot be opened";
  const auto packets = PacketStream::open(*stream.value());
  if (!packets.ok()) return "its link type is not read";
  Packet packet;
  if (packets.value()->next(packet) != PacketStatus::kPacket) return "holds no whole packet";
  if (packet.kind == PacketKind::kTcp) return "TCP, whose streams are not put together";
  if (packet.kind != PacketKind::kUdp) return "no UDP packet";
  WireReader payload(packet.payload);
  const std::string_view session = payload.text(10);
  const bool is_session = payload.ok() && std::all_of(session.begin(), session.end(), [](char c) {
                            return c == ' ' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
                          });
  if (is_session && packet.payload.size() >= 20)
    return "MoldUDP64 of another feed than NASDAQ ITCH 5.0";
  return "a protocol that is not read";
}

std::string row_of(const std::string& folder, const std::string& file) {
  FileSourceOptions options;
  options.path = folder + "/" + file;
  options.by_order = file.find("MdIncrementalRefreshOrderBook") != std::string::npos;
  const auto format = detect_feed_format(options.path);
  const std::string head = "| " + file + " | ";
  if (!format.ok()) return head + "no | " + reason_of(options.path) + " | |";
  const auto source = open_file_source(options);
  if (!source.ok()) return head + "no | " + source.error().message() + " | |";
  const DrainedSource decoded = drain(*source.value());
  EXPECT_EQ(decoded.error, "") << file;
  return head + decoded_as(decoded, *source.value(), *format) + " |";
}

std::vector<std::string> rows_of_table() {
  std::ifstream table(tocsin_source_path(kTable));
  std::vector<std::string> rows;
  for (std::string line; std::getline(table, line);) {
    if (line.find(".pcap | ") != std::string::npos) rows.push_back(line);
  }
  return rows;
}

// With TOCSIN_PACKET_TABLE=FILE the rows are also written there, to be put into the document.
TEST(PacketSamples, DecodeAsTheTableInTheDocumentationSays) {
  const std::vector<std::string> expected = rows_of_table();
  EXPECT_GT(expected.size(), 300U);
  const std::string folder = tocsin_data_path(kFolder);
  if (folder.empty()) GTEST_SKIP() << "no " << kFolder << " in TOCSIN_DATA";
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".pcap")
      files.push_back(std::filesystem::relative(entry.path(), folder).string());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> rows;
  rows.reserve(files.size());
  for (const std::string& file : files) rows.push_back(row_of(folder, file));
  if (const char* path = std::getenv("TOCSIN_PACKET_TABLE"); path != nullptr) {
    std::ofstream out(path);
    for (const std::string& row : rows) out << row << '\n';
  }
  EXPECT_EQ(rows, expected);
}

// CME's own packets of a morning on both lines of a channel, from within the session.
TEST(PacketSamples, JoinTheTwoLinesOfAChannelAndFindNoGap) {
  const std::string path =
      tocsin_data_path(std::string(kFolder) + "/Cme/Mdp3.Sbe.v1.6/Cme.Mdp3.Sbe.v6.1.pcap");
  if (path.empty()) GTEST_SKIP() << "no " << kFolder << " in TOCSIN_DATA";
  FileSourceOptions options;
  options.path = path;
  const auto source = open_file_source(options);
  ASSERT_TRUE(source.ok()) << source.error().message();
  const DrainedSource decoded = drain(*source.value());
  EXPECT_EQ(decoded.error, "");
  EXPECT_EQ(decoded.by_type.at("UDP packet"), 10'000U);
  EXPECT_EQ(decoded.by_type.at("packet seen before"), 5'000U);
  // A second decoder counts both lines: 19138, 614, 388, 388 and 18 messages.
  EXPECT_EQ(decoded.by_type.at("MDIncrementalRefreshBook32"), 9'569U);
  EXPECT_EQ(decoded.by_type.at("MDIncrementalRefreshSessionStatistics35"), 307U);
  EXPECT_EQ(decoded.by_type.at("MDIncrementalRefreshTradeSummary42"), 194U);
  EXPECT_EQ(decoded.by_type.at("MDIncrementalRefreshVolume37"), 194U);
  EXPECT_EQ(decoded.by_type.at("AdminHeartbeat12"), 9U);
  EXPECT_EQ(decoded.counters.gaps + decoded.counters.missing, 0U);
  EXPECT_EQ(decoded.counters.malformed + decoded.counters.bad_quantity, 0U);
  std::uint64_t flagged = 0;
  for (const MarketEvent& event : decoded.events) flagged += event.quality.any() ? 1 : 0;
  EXPECT_EQ(flagged, 0U) << "report numbers have no hole";
}

}  // namespace
}  // namespace tocsin
