// The one list of file formats: what each is told by, and who decodes it. A new format is one row
// here and one enumerator.
#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "ingest/arrow/arrow_input.h"
#include "ingest/binance_decoder.h"
#include "ingest/capture_formats.h"
#include "ingest/dbn_metadata.h"
#include "ingest/decoders.h"
#include "ingest/feed_map.h"
#include "ingest/itch_feed_decoder.h"
#include "ingest/kraken_decoder.h"
#include "ingest/lobster_decoder.h"
#include "ingest/packet_stream.h"
#include "ingest/segment_source.h"
#include "ingest/source.h"
#include "ingest/sse_l2_decoder.h"
#include "ingest/szse_snapshot_decoder.h"

namespace tocsin {
namespace {

struct FileFormat {
  FeedFormat format;
  std::string_view name;
  std::string_view looked_for;  // in words, for a file that none of them fits
  bool (*looks_like)(std::span<const std::byte> head) noexcept;
  Result<std::unique_ptr<Source>> (*make)(std::unique_ptr<ByteStream> stream,
                                          const FileSourceOptions& options);
};

template <FeedFormat kFormat>
bool is_capture_of(std::span<const std::byte> head) noexcept {
  return capture_format_of(head) == kFormat;
}

// Any text may be such lines: only a map tells.
bool is_never_told(std::span<const std::byte>) noexcept { return false; }

bool is_mapped(const FileSourceOptions& options) noexcept {
  return !options.map_path.empty() || options.format == FeedFormat::kJsonLines ||
         options.format == FeedFormat::kCsv;
}

// A feed of several files, told by its folder or zip.
struct FolderFormat {
  FeedFormat format;
  std::string_view name;
  std::string_view looked_for;
  bool (*looks_like)(const std::string& path);
  Result<std::unique_ptr<Source>> (*open)(const FileSourceOptions& options);
};

constexpr std::array kFolderFormats = {
    FolderFormat{FeedFormat::kSseL2, "sse_l2", "entrust.csv and trade.csv", looks_like_sse_l2,
                 open_sse_l2},
    FolderFormat{FeedFormat::kRecording, "recording", "segments of Tocsin's own (000001.tseg)",
                 looks_like_recording, open_recording},
};

// In the order in which they are tried; no file fits two of them.
constexpr std::array kFileFormats = {
    FileFormat{FeedFormat::kBinanceUsdm, "binance_usdm",
               "lines of a local time in nanoseconds, a space and a JSON object",
               looks_like_binance, make_binance_decoder},
    FileFormat{FeedFormat::kLobster, "lobster",
               "rows of time,type,order id,size,price,direction (a LOBSTER message file)",
               looks_like_lobster, make_lobster_decoder},
    FileFormat{FeedFormat::kItch50, "itch50",
               "ITCH 5.0 messages, each behind its length or behind 0x0000", looks_like_itch50,
               make_itch_decoder},
    FileFormat{FeedFormat::kMoldUdp64, "moldudp64",
               "a pcap or pcapng capture of ITCH 5.0 in MoldUDP64",
               is_capture_of<FeedFormat::kMoldUdp64>, make_moldudp64_decoder},
    FileFormat{FeedFormat::kDbn, "dbn", "'DBN' and a version", looks_like_dbn, make_dbn_decoder},
    FileFormat{FeedFormat::kIex, "iex", "a capture of IEX DEEP or TOPS over IEX-TP",
               is_capture_of<FeedFormat::kIex>, make_iex_decoder},
    FileFormat{FeedFormat::kPitch, "pitch", "a capture of Cboe PITCH in sequenced units",
               is_capture_of<FeedFormat::kPitch>, make_pitch_decoder},
    FileFormat{FeedFormat::kMdp3, "mdp3", "a capture of CME MDP 3.0",
               is_capture_of<FeedFormat::kMdp3>, make_mdp3_decoder},
    FileFormat{FeedFormat::kKraken, "kraken",
               "a connection line of Kraken, or lines of a local time and a message of its book or "
               "trade channel",
               looks_like_kraken, make_kraken_decoder},
    FileFormat{FeedFormat::kJsonLines, "json_lines", "a map, for lines of JSON", is_never_told,
               make_mapped_decoder},
    FileFormat{FeedFormat::kCsv, "csv", "a map, for rows of cells", is_never_told,
               make_mapped_decoder},
    FileFormat{FeedFormat::kSzseSnapshot, "szse_snapshot",
               "a header MDDate,MDTime,SecurityID,… (Shenzhen's 10-level snapshots)",
               looks_like_szse_snapshot, make_szse_snapshot_decoder},
};

// Enough for the longest first line that is looked at, and for some packets of a capture.
constexpr std::size_t kHeadBytes = std::size_t{64} << 10;

const FileFormat* row_of(FeedFormat format) noexcept {
  const auto* row = std::find_if(kFileFormats.begin(), kFileFormats.end(),
                                 [format](const FileFormat& f) { return f.format == format; });
  return row == kFileFormats.end() ? nullptr : row;
}

const FolderFormat* folder_row_of(FeedFormat format) noexcept {
  const auto* row = std::find_if(kFolderFormats.begin(), kFolderFormats.end(),
                                 [format](const FolderFormat& f) { return f.format == format; });
  return row == kFolderFormats.end() ? nullptr : row;
}

// Null also for a zip of one file, which is read as that file.
const FolderFormat* folder_row_that_fits(const std::string& path) {
  const auto* row = std::find_if(kFolderFormats.begin(), kFolderFormats.end(),
                                 [&path](const FolderFormat& f) { return f.looks_like(path); });
  return row == kFolderFormats.end() ? nullptr : row;
}

Error other_format(const std::string& path, FeedFormat asked, std::string_view found) {
  return Error(ErrorCode::kInvalidArgument,
               path + ": format " + std::string(feed_format_name(asked)) +
                   " was asked for, but this is " + std::string(found));
}

Error unknown_folder(const std::string& path) {
  std::string message = path + ": a folder of no known feed. Looked for:";
  for (const FolderFormat& format : kFolderFormats) {
    message += &format == kFolderFormats.begin() ? " " : "; ";
    message += format.looked_for;
    message += " (";
    message += format.name;
    message += ")";
  }
  return Error(ErrorCode::kInvalidArgument, std::move(message));
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

const FileFormat* row_that_fits(std::span<const std::byte> head) noexcept {
  const auto* row = std::find_if(kFileFormats.begin(), kFileFormats.end(),
                                 [head](const FileFormat& f) { return f.looks_like(head); });
  return row == kFileFormats.end() ? nullptr : row;
}

std::string hex_of_first_bytes(std::span<const std::byte> head) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kShownMax = 8;
  std::string text;
  for (const std::byte byte : head.first(std::min(head.size(), kShownMax))) {
    if (!text.empty()) text += ' ';
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

Error unknown_format(const std::string& path, std::span<const std::byte> head) {
  std::string message = path;
  if (looks_like_lobster_orderbook(head)) {
    message += ": a LOBSTER book file, which is read together with its message file: name that one";
    return Error(ErrorCode::kInvalidArgument, std::move(message));
  }
  if (const auto kind = columnar_kind_of(path); kind.has_value()) {
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    message += ": ";
    message += columnar_kind_name(*kind);
    message += " with the columns ";
    message += text.substr(0, std::min(text.find('\n'), text.size()));
    message += ", which are read by a map: name one (source.map, or --map); config/maps has one";
    return Error(ErrorCode::kInvalidArgument, std::move(message));
  }
  message += looks_like_capture(head)
                 ? ": a capture, but its first packets are of no known protocol; it begins with "
                   "the bytes "
                 : ": no known format; it begins with the bytes ";
  message += hex_of_first_bytes(head);
  message += " (after decompression). Looked for:";
  for (const FileFormat& format : kFileFormats) {
    message += &format == kFileFormats.begin() ? " " : "; ";
    message += format.looked_for;
    message += " (";
    message += format.name;
    message += ")";
  }
  return Error(ErrorCode::kDataLoss, std::move(message));
}

// The first bytes, not consumed; empty content and a stream broken from the start are errors.
Result<std::span<const std::byte>> head_of(ByteStream& stream) {
  const std::span<const std::byte> head = stream.peek(kHeadBytes);
  if (!head.empty()) return head;
  if (!stream.status().ok()) return stream.status().error();
  return Error(ErrorCode::kDataLoss, stream.path() + ": is empty");
}

}  // namespace

std::string_view feed_format_name(FeedFormat format) noexcept {
  const FileFormat* file = row_of(format);
  if (file != nullptr) return file->name;
  const FolderFormat* folder = folder_row_of(format);
  TOCSIN_ASSERT(folder != nullptr);
  return folder->name;
}

std::span<const std::string_view> feed_format_names() noexcept {
  static constexpr auto kNames = [] {
    std::array<std::string_view, kFileFormats.size() + kFolderFormats.size()> names;
    for (const FileFormat& row : kFileFormats)
      names[static_cast<std::size_t>(row.format)] = row.name;
    for (const FolderFormat& row : kFolderFormats)
      names[static_cast<std::size_t>(row.format)] = row.name;
    return names;
  }();
  return kNames;
}

Result<FeedFormat> feed_format_from_name(std::string_view name) {
  std::string known;
  for (const FileFormat& format : kFileFormats) {
    if (format.name == name) return format.format;
    known += known.empty() ? "" : ", ";
    known += format.name;
  }
  for (const FolderFormat& format : kFolderFormats) {
    if (format.name == name) return format.format;
    known += ", ";
    known += format.name;
  }
  return Error(ErrorCode::kInvalidArgument,
               "no feed format \"" + std::string(name) + "\"; known: " + known);
}

Result<FeedFormat> detect_feed_format(const std::string& path) {
  const FolderFormat* folder = folder_row_that_fits(path);
  if (folder != nullptr) return folder->format;
  if (is_folder(path)) return unknown_folder(path);
  TOCSIN_ASSIGN_OR_RETURN(const auto stream, open_byte_stream(path));
  TOCSIN_ASSIGN_OR_RETURN(const auto head, head_of(*stream));
  const FileFormat* row = row_that_fits(head);
  if (row == nullptr) return unknown_format(path, head);
  return row->format;
}

Result<FeedFormat> feed_format_of(const FileSourceOptions& options) {
  if (options.format.has_value()) return *options.format;
  if (options.map_path.empty()) return detect_feed_format(options.path);
  TOCSIN_ASSIGN_OR_RETURN(const FeedMap map, read_feed_map(options.map_path));
  return map.is_csv ? FeedFormat::kCsv : FeedFormat::kJsonLines;
}

Result<std::unique_ptr<Source>> make_line_decoder(std::unique_ptr<ByteStream> stream,
                                                  const FileSourceOptions& options) {
  const FeedFormat format = options.format.value_or(FeedFormat::kJsonLines);
  if (format != FeedFormat::kBinanceUsdm && format != FeedFormat::kKraken && !is_mapped(options)) {
    return Error(ErrorCode::kInvalidArgument,
                 "format " + std::string(feed_format_name(format)) +
                     ": expected one whose messages are lines of text: binance_usdm, kraken or "
                     "json_lines");
  }
  return row_of(format)->make(std::move(stream), options);
}

Result<std::unique_ptr<Source>> open_file_source(const FileSourceOptions& options) {
  const FolderFormat* folder = folder_row_that_fits(options.path);
  if (folder == nullptr && options.format.has_value()) folder = folder_row_of(*options.format);
  const bool is_recording = folder != nullptr && folder->format == FeedFormat::kRecording;
  if (options.from_time_ns.has_value() && !is_recording) {
    return Error(ErrorCode::kInvalidArgument,
                 options.path +
                     ": only a recording can be begun from a time (--from, "
                     "source.from_time_ns): make one with tocsin record");
  }
  if (folder != nullptr) {
    if (options.format.value_or(folder->format) == folder->format) return folder->open(options);
    return other_format(options.path, *options.format, folder->name);
  }
  if (is_folder(options.path)) return unknown_folder(options.path);
  TOCSIN_ASSIGN_OR_RETURN(auto stream, open_byte_stream(options.path));
  if (is_mapped(options)) return make_mapped_decoder(std::move(stream), options);
  TOCSIN_ASSIGN_OR_RETURN(const auto head, head_of(*stream));
  const FileFormat* fitting = row_that_fits(head);
  if (!options.format.has_value()) {
    if (fitting == nullptr) return unknown_format(options.path, head);
    return fitting->make(std::move(stream), options);
  }
  // A file that fits no format may still be what the user says it is: its head may be damaged. A
  // capture may hold several protocols.
  const FileFormat* asked = row_of(*options.format);
  TOCSIN_ASSERT(asked != nullptr);
  const bool both_captures =
      fitting != nullptr && is_capture_format(fitting->format) && is_capture_format(asked->format);
  if (fitting != nullptr && fitting != asked && !both_captures) {
    return other_format(options.path, *options.format, fitting->name);
  }
  return asked->make(std::move(stream), options);
}

}  // namespace tocsin
