// Recordings: the same events, frames and alerts as the original, from the start and from the
// middle; and every damage found, with all before it kept.
#include "runtime/recorder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "features/book_oracle.h"
#include "features/order_book.h"
#include "ingest/segment_source.h"
#include "runtime/book_events.h"
#include "runtime/frame_builder.h"
#include "runtime/run.h"
#include "sinks/file_size_limit.h"
#include "support/data_path.h"
#include "support/two_books_source.h"

namespace tocsin {
namespace {

const std::string kBinanceSample = "data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz";
const std::string kLobsterSample =
    "data/samples/lobster_aapl/AAPL_2012-06-21_34200000_57600000_message_10.slice.csv";

struct Played {
  std::vector<MarketEvent> events;
  std::vector<float> frame_values;
  std::vector<MarketEvent> last_books;  // as events, of record 0
  SourceCounters counters;
  std::vector<std::pair<std::string, std::uint64_t>> by_type;
  std::vector<std::string> symbols;
  std::string error;
};

Played play(Source& source, bool with_frames) {
  Played played;
  SystemClock clock;
  FrameBuilder builder(FeatureSchema::whole_catalogue(), source, clock);
  EventBatch batch;
  FeatureFrame frame;
  SourceStatus status = SourceStatus::kEvents;
  while ((status = source.next(batch)) == SourceStatus::kEvents) {
    played.events.insert(played.events.end(), batch.begin(), batch.end());
    StageDurations durations;
    for (std::size_t i = 0; with_frames && builder.next_frame(batch, i, frame, durations);)
      played.frame_values.insert(played.frame_values.end(), std::begin(frame.values),
                                 std::end(frame.values));
  }
  if (status == SourceStatus::kError) played.error = source.error().message();
  for (InstrumentId i = 0; i < builder.instrument_count(); ++i) {
    MarketEvent shared;
    shared.instrument = i;
    append_book_events(builder.book(i), shared, played.last_books);
  }
  played.counters = source.counters();
  played.by_type = source.counts_by_type();
  for (const Instrument& instrument : source.instruments())
    played.symbols.push_back(instrument.symbol);
  return played;
}

// All that an event says: its reserved bytes say nothing, and no decoder sets them.
bool same_bits(const std::vector<MarketEvent>& a, const std::vector<MarketEvent>& b) {
  constexpr std::size_t kSaidBytes = offsetof(MarketEvent, reserved);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const MarketEvent& x, const MarketEvent& y) {
                      return std::memcmp(&x, &y, kSaidBytes) == 0;
                    });
}

bool same_counters(const SourceCounters& a, const SourceCounters& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

std::vector<char> content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_content(const std::string& path, std::span<const char> content) {
  std::ofstream(path, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

class RecorderTest : public testing::Test {
 protected:
  RecorderTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("tocsin_recorder_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
  }
  ~RecorderTest() override { std::filesystem::remove_all(folder_); }

  SegmentWriterOptions options() const {
    SegmentWriterOptions options;
    options.folder = (folder_ / "recording").string();
    options.source_name = "original";
    options.format = "test";
    return options;
  }
  std::string segment(std::uint32_t index) const {
    return options().folder + "/" + recording_file_name(index);
  }
  void record(Source& source, std::uint64_t segment_bytes = UINT64_MAX,
              std::size_t block_events = 1'000) {
    SegmentWriterOptions small = options();
    small.segment_bytes_max = segment_bytes;
    small.block_events_max = block_events;
    const auto report = record_source(source, small, clock_, {});
    ASSERT_TRUE(report.ok()) << report.error().message();
    segments_ = report->written.segments;
  }
  static std::unique_ptr<Source> opened(const std::string& path,
                                        std::optional<std::int64_t> from_time_ns = {},
                                        std::vector<std::string> symbols = {}) {
    FileSourceOptions options;
    options.path = path;
    options.from_time_ns = from_time_ns;
    options.symbols = std::move(symbols);
    auto source = open_file_source(options);
    EXPECT_TRUE(source.ok()) << source.error().message();
    return source.ok() ? std::move(*source) : nullptr;
  }
  Played replay(std::optional<std::int64_t> from_time_ns = {},
                std::vector<std::string> symbols = {}) const {
    const auto source = opened(options().folder, from_time_ns, std::move(symbols));
    return source != nullptr ? play(*source, true) : Played{};
  }
  // Records a file in small segments, and compares all that its replay says.
  void expect_same_replay(const std::string& path, std::uint64_t segment_bytes) {
    const Played original = play(*opened(path), true);
    const auto source = opened(path);
    record(*source, segment_bytes);
    EXPECT_GT(segments_, 2U);
    const Played again = replay();
    EXPECT_EQ(again.error, "");
    EXPECT_TRUE(same_bits(again.events, original.events));
    EXPECT_TRUE(same_counters(again.counters, original.counters));
    EXPECT_EQ(again.by_type, original.by_type);
    EXPECT_EQ(again.symbols, original.symbols);
    ASSERT_EQ(again.frame_values.size(), original.frame_values.size());
    EXPECT_EQ(std::memcmp(again.frame_values.data(), original.frame_values.data(),
                          again.frame_values.size() * sizeof(float)),
              0);
    EXPECT_TRUE(same_bits(again.last_books, original.last_books));
    expect_same_end_from_the_middle(original);
    std::filesystem::remove_all(folder_);
  }
  void expect_same_end_from_the_middle(const Played& original) const {
    const std::int64_t middle_ns = original.events[original.events.size() / 2].exchange_time_ns;
    const Played second_half = replay(middle_ns);
    EXPECT_EQ(second_half.error, "");
    const std::size_t first_live = first_live_event(second_half.events);
    ASSERT_LT(first_live, second_half.events.size());
    EXPECT_LE(second_half.events[first_live].exchange_time_ns, middle_ns);
    const std::vector<MarketEvent> live(
        second_half.events.begin() + static_cast<std::ptrdiff_t>(first_live),
        second_half.events.end());
    ASSERT_LT(live.size(), original.events.size());
    EXPECT_TRUE(same_bits(
        live,
        std::vector<MarketEvent>(original.events.end() - static_cast<std::ptrdiff_t>(live.size()),
                                 original.events.end())));
    EXPECT_TRUE(same_bits(second_half.last_books, original.last_books));
  }
  // Behind the record that the books are.
  static std::size_t first_live_event(const std::vector<MarketEvent>& events) {
    std::size_t at = 0;
    while (at < events.size() && events[at].record == events[0].record) ++at;
    return at;
  }

  SystemClock clock_;
  std::filesystem::path folder_;
  std::uint64_t segments_ = 0;
};

TEST_F(RecorderTest, ReplaysTheBundledSamplesBitForBit) {
  expect_same_replay(tocsin_source_path(kBinanceSample), 1'000'000);
  expect_same_replay(tocsin_source_path(kLobsterSample), 20'000);
}

TEST_F(RecorderTest, ReplaysOneFileOfEachOtherFeedBitForBit) {
  for (const auto& [file, segment_bytes] : std::vector<std::pair<std::string, std::uint64_t>>{
           {"dbn/nautilus_esh4-glbx-mdp3-20231225.mbo.dbn.zst", 200'000},
           {"itch/itch50_ritch_simulated.gz", 30'000},
           {"iex/iex_DEEP10_first15000pkts.pcap.gz", 200'000},
           {"cn_l2/ddb_600519_20230201_entrust_snapshot_trade.zip", 200'000},
           {"cn_l2/ddb_SZ_tick10_20220601.zip", 200'000}}) {
    const std::string path = tocsin_data_path(file);
    if (path.empty()) GTEST_SKIP() << file << " is not at TOCSIN_DATA";
    SCOPED_TRACE(file);
    expect_same_replay(path, segment_bytes);
  }
}

TEST_F(RecorderTest, ARunOverTheRecordingGivesTheSameAlerts) {
  const auto source = opened(tocsin_source_path(kLobsterSample));
  SegmentWriterOptions named = options();
  named.source_name = std::filesystem::path(kLobsterSample).filename().string();
  const auto report = record_source(*source, named, clock_, {});
  ASSERT_TRUE(report.ok()) << report.error().message();
  auto config = read_run_config(tocsin_source_path("config/aapl.yaml"));
  ASSERT_TRUE(config.ok()) << config.error().message();
  config->source.file.format.reset();  // it is told from what stands there
  std::vector<RunSummary> summaries;
  for (const std::string& path : {tocsin_source_path(kLobsterSample), named.folder}) {
    config->source.file.path = path;
    config->output.folder = (folder_ / std::to_string(summaries.size())).string();
    Result<RunSummary> summary = run(*config, {}, clock_);
    ASSERT_TRUE(summary.ok()) << summary.error().message();
    summaries.push_back(std::move(*summary));
  }
  EXPECT_GT(summaries[0].alerts, 0U);
  EXPECT_EQ(summaries[1].alerts, summaries[0].alerts);
  EXPECT_EQ(summaries[1].frames, summaries[0].frames);
  EXPECT_EQ(summaries[1].windows_scored, summaries[0].windows_scored);
  ASSERT_EQ(summaries[1].alert_lines.size(), summaries[0].alert_lines.size());
  for (std::size_t i = 0; i < summaries[0].alert_lines.size(); ++i) {
    EXPECT_EQ(summaries[1].alert_lines[i].id, summaries[0].alert_lines[i].id);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(summaries[1].alert_lines[i].score),
              std::bit_cast<std::uint32_t>(summaries[0].alert_lines[i].score));
  }
}

TEST_F(RecorderTest, KeepsQueuesInTheirOrder) {
  TwoBooksSource source(2'000);
  record(source, 1, 500);  // a segment a block
  EXPECT_EQ(segments_, 4U);
  const Played from_last = replay(std::int64_t{1'600'000});
  std::vector<std::uint64_t> ids;
  for (const MarketEvent& event : from_last.events) {
    if (event.record == 1'500 && event.kind == EventKind::kAddOrder && event.instrument == 0 &&
        event.side == Side::kBid) {
      ids.push_back(event.order_id);
    }
  }
  ASSERT_EQ(ids.size(), 375U);
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], 4 * (i + 1));
}

TEST_F(RecorderTest, KeepsWhatIsKnownOfAnInstrument) {
  TwoBooksSource source(20);
  record(source);
  const auto replayed = opened(options().folder);
  EventBatch batch;
  while (replayed->next(batch) == SourceStatus::kEvents) {
  }
  const auto instruments = replayed->instruments();
  ASSERT_EQ(instruments.size(), 2U);
  EXPECT_EQ(instruments[0].modify_priority, ModifyPriority::kLostByPriceOrIncrease);
  const Instrument& odd = instruments[1];
  EXPECT_EQ(odd.symbol, "ODD");
  EXPECT_EQ(odd.price_tick_nanos, 1'000);
  EXPECT_EQ(odd.quantity_step_nanos, 2'000);
  EXPECT_EQ(odd.price_decimals, 3);
  EXPECT_EQ(odd.quantity_decimals, 4);
  EXPECT_EQ(odd.modify_priority, ModifyPriority::kLostUnlessDecreased);
}

TEST_F(RecorderTest, TellsTheErrorThatItsSourceEndedWith) {
  for (const std::uint64_t segment_bytes : {UINT64_MAX, std::uint64_t{1}}) {
    TwoBooksSource source(2'000, {.failure = "cut off at byte 4711"});
    record(source, segment_bytes, 500);
    for (const Played& played : {replay(), replay(std::int64_t{1'600'000})}) {
      EXPECT_EQ(played.error,
                "the recording is whole, but its source ended with an error: cut off at byte 4711");
      EXPECT_EQ(played.counters.records, 2'000U);
    }
    EXPECT_EQ(replay().events.size(), 2'000U);
    // Of the end alone: what is damaged before it is told first.
    std::vector<char> cut = content_of(segment(1));
    cut.pop_back();
    write_content(segment(1), cut);
    EXPECT_EQ(replay().error.find("its source ended"), std::string::npos);
    std::filesystem::remove_all(folder_);
  }
}

TEST_F(RecorderTest, RefusesToBeginOutsideItsTimes) {
  TwoBooksSource source(2'000);  // from 1,000 ns to 2,000,000 ns
  record(source, 1, 500);
  const auto refusal = [this](std::int64_t from_time_ns) {
    FileSourceOptions from;
    from.path = options().folder;
    from.from_time_ns = from_time_ns;
    const auto opened = open_file_source(from);
    return opened.ok() ? std::string() : opened.error().message();
  };
  EXPECT_NE(refusal(999).find("before the first event"), std::string::npos) << refusal(999);
  EXPECT_EQ(refusal(1'000), "");
  EXPECT_EQ(refusal(2'000'000), "");
  EXPECT_NE(refusal(2'000'001).find("after the last event"), std::string::npos);
}

TEST_F(RecorderTest, AFullDiskKeepsWholeBlocksAndLeavesNoEmptyFiles) {
  const auto record_within = [this](std::uint64_t bytes) {
    TwoBooksSource source(20'000);
    SegmentWriterOptions small = options();
    small.block_events_max = 100;
    const FileSizeLimit full(bytes);
    return record_source(source, small, clock_, {});
  };
  const auto report = record_within(20'000);
  ASSERT_TRUE(report.ok());
  ASSERT_FALSE(report->end.ok());
  EXPECT_EQ(report->end.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_NE(record_json(*report).find("000001.tseg: cannot be written"), std::string::npos);
  EXPECT_GT(report->written.events, 0U);
  EXPECT_EQ(replay().events.size(), report->written.events);
  EXPECT_NE(replay().error, "");
  std::filesystem::remove_all(folder_);
  EXPECT_FALSE(record_within(10).ok());        // no header
  EXPECT_FALSE(record_within(200)->end.ok());  // a header, but no block
  EXPECT_FALSE(std::filesystem::exists(options().folder));
  // A folder that was there stays.
  std::filesystem::create_directories(options().folder);
  EXPECT_FALSE(record_within(10).ok());
  EXPECT_TRUE(std::filesystem::is_empty(options().folder));
}

// Blocks of both instruments, and blocks of one alone.
TEST_F(RecorderTest, GivesOnlyTheSymbolsAskedFor) {
  for (const std::uint64_t run : {1U, 150U}) {
    TwoBooksSource source(2'000, {.run_records = run});
    record(source, 20'000, 50);
    const Played all = replay();
    ASSERT_EQ(all.events.size(), 2'000U);
    for (const InstrumentId id : {0U, 1U}) {
      const Played one = replay({}, {all.symbols[id]});
      EXPECT_EQ(one.error, "");
      std::vector<MarketEvent> wanted = all.events;
      std::erase_if(wanted, [id](const MarketEvent& event) { return event.instrument != id; });
      EXPECT_TRUE(same_bits(one.events, wanted));
      EXPECT_EQ(one.counters.events, wanted.size());
      EXPECT_EQ(one.counters.filtered, 2'000U - wanted.size());
      EXPECT_EQ(one.counters.records, 2'000U);
      EXPECT_EQ(one.symbols, all.symbols);
      EXPECT_EQ(one.by_type, all.by_type);
    }
    std::filesystem::remove_all(folder_);
  }
}

TEST_F(RecorderTest, RefusesAFolderThatHoldsARecording) {
  TwoBooksSource source(10);
  record(source);
  const auto again = record_source(source, options(), clock_, {});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code(), ErrorCode::kAlreadyExists);
}

TEST_F(RecorderTest, FindsEveryFlippedByteAndKeepsWhatStandsBefore) {
  TwoBooksSource source(400);
  record(source, UINT64_MAX, 100);
  const Played original = replay();
  ASSERT_EQ(original.events.size(), 400U);
  const std::vector<char> whole = content_of(segment(1));
  std::size_t kept_most = 0;
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::vector<char> changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write_content(segment(1), changed);
    FileSourceOptions damaged;
    damaged.path = options().folder;
    auto opened = open_file_source(damaged);
    std::string error = opened.ok() ? "" : opened.error().message();
    std::vector<MarketEvent> kept;
    if (opened.ok()) {
      Played played = play(**opened, false);
      error = played.error;
      kept = std::move(played.events);
    }
    ASSERT_NE(error.find("000001.tseg"), std::string::npos) << "byte " << at;
    ASSERT_LE(kept.size(), original.events.size());
    kept_most = std::max(kept_most, kept.size());
    ASSERT_EQ(kept.size() % 100, 0U);
    ASSERT_TRUE(
        same_bits(kept, {original.events.begin(),
                         original.events.begin() + static_cast<std::ptrdiff_t>(kept.size())}));
  }
  EXPECT_EQ(kept_most, 400U);
}

TEST_F(RecorderTest, TellsWhereARecordingIsCutOff) {
  TwoBooksSource source(400);
  record(source, UINT64_MAX, 100);
  const std::vector<char> whole = content_of(segment(1));
  for (std::size_t size = whole.size() - 1; size > 200; size -= 97) {
    write_content(segment(1), std::span(whole).first(size));
    const Played played = replay();
    EXPECT_EQ(played.events.size() % 100, 0U);
    EXPECT_NE(played.error.find("000001.tseg, block "), std::string::npos) << played.error;
  }
}

TEST_F(RecorderTest, TellsThatTheLastSegmentIsMissing) {
  TwoBooksSource source(2'000);
  record(source, 1, 500);
  ASSERT_EQ(segments_, 4U);
  std::filesystem::remove(segment(4));
  FileSourceOptions cut;
  cut.path = options().folder;
  auto opened = open_file_source(cut);
  ASSERT_TRUE(opened.ok());
  const Played played = play(**opened, false);
  EXPECT_NE(played.error.find("goes on in a segment that is missing"), std::string::npos);
  EXPECT_EQ(played.events.size(), 1'500U);
}

TEST_F(RecorderTest, TellsAMissingAndASwappedSegment) {
  TwoBooksSource source(400);
  record(source, 1, 100);
  ASSERT_EQ(segments_, 4U);
  std::filesystem::rename(segment(3), segment(9));
  const Played out_of_place = replay();
  EXPECT_EQ(out_of_place.events.size(), 200U);
  EXPECT_NE(out_of_place.error.find("is segment 4 where segment 3 should follow"),
            std::string::npos)
      << out_of_place.error;
  std::filesystem::rename(segment(9), segment(3));
  EXPECT_EQ(replay().error, "");
  // The second segment of another recording.
  const std::vector<char> mine = content_of(segment(2));
  std::filesystem::remove_all(folder_);
  TwoBooksSource other(500);
  record(other, 1, 250);
  write_content(segment(2), mine);
  EXPECT_NE(replay().error, "");
}

TEST_F(RecorderTest, AKilledRecordingLosesTheOpenBlockAlone) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    TwoBooksSource source(10'000, {.dies_at = 7'777});
    SegmentWriterOptions small = options();
    small.block_events_max = 1'000;
    (void)record_source(source, small, clock_, {});
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const Played kept = replay();
  EXPECT_GE(kept.events.size(), 7'000U);
  EXPECT_NE(kept.error.find("the recording was cut short"), std::string::npos) << kept.error;
}

}  // namespace
}  // namespace tocsin
