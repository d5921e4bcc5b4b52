// Real files of all three kinds through the plug-in, from the file's first bytes to events; files
// that are cut off, changed or lie.
#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/ipc/api.h>
#include <arrow/util/compression.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ingest/arrow/arrow_input.h"
#include "ingest/byte_stream.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

using TablePtr = std::shared_ptr<arrow::Table>;

constexpr std::int64_t kStartTimeNs = 1'700'000'000'000'000'000;

std::string temporary_path(const std::string& name) {
  return testing::TempDir() + "/" + std::to_string(getpid()) + "_" + name;
}

template <typename Builder, typename Values>
std::shared_ptr<arrow::Array> array_of(Builder&& builder, const Values& values) {
  for (const auto& value : values) EXPECT_TRUE(builder.Append(value).ok());
  return *builder.Finish();
}

TablePtr table_of(const std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>>& named) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, array] : named) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(array);
  }
  return arrow::Table::Make(arrow::schema(std::move(fields)), std::move(arrays));
}

// How a file is written; batches or row groups of 100 rows.
constexpr std::int64_t kRowsPerPart = 100;

void write_parquet(const arrow::Table& table, const std::string& path) {
  const auto file = *arrow::io::FileOutputStream::Open(path);
  parquet::WriterProperties::Builder properties;
  properties.compression(parquet::Compression::ZSTD)->enable_page_checksum();
  parquet::ArrowWriterProperties::Builder arrow_properties;
  arrow_properties.store_schema();
  ASSERT_TRUE(parquet::arrow::WriteTable(table, arrow::default_memory_pool(), file, kRowsPerPart,
                                         properties.build(), arrow_properties.build())
                  .ok());
  ASSERT_TRUE(file->Close().ok());
}

void write_ipc(const arrow::Table& table, const std::string& path, bool as_stream) {
  const auto file = *arrow::io::FileOutputStream::Open(path);
  const auto writer = as_stream ? *arrow::ipc::MakeStreamWriter(file, table.schema())
                                : *arrow::ipc::MakeFileWriter(file, table.schema());
  ASSERT_TRUE(writer->WriteTable(table, kRowsPerPart).ok());
  ASSERT_TRUE(writer->Close().ok());
  ASSERT_TRUE(file->Close().ok());
}

struct Written {
  std::string kind;
  std::function<void(const arrow::Table&, const std::string&)> write;
};

std::vector<Written> all_kinds() {
  return {{"parquet", write_parquet},
          {"file", [](const auto& table, const auto& path) { write_ipc(table, path, false); }},
          {"stream", [](const auto& table, const auto& path) { write_ipc(table, path, true); }}};
}

struct ReadText {
  std::string text;
  std::string error;  // empty: the end was reached
};

ReadText read_text(const std::string& path) {
  const auto stream = open_byte_stream(path);
  if (!stream.ok()) return {"", stream.error().message()};
  ReadText read;
  for (std::string_view line; (*stream)->next_line(line);) read.text.append(line).append("\n");
  if (!(*stream)->status().ok()) read.error = (*stream)->status().error().message();
  return read;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Trades and levels of two instruments as an archive may hold them: `time` in nanoseconds, prices
// as doubles, sizes as decimals, words as a dictionary and as long text.
struct Market {
  TablePtr table;
  std::string csv = "time,symbol,kind,side,price,size\n";
};

Market market_of(std::int64_t row_count) {
  arrow::TimestampBuilder times(arrow::timestamp(arrow::TimeUnit::NANO, "UTC"),
                                arrow::default_memory_pool());
  arrow::StringDictionary32Builder symbols;
  arrow::LargeStringBuilder kinds;
  arrow::StringBuilder sides;
  arrow::DoubleBuilder prices;
  arrow::Decimal128Builder sizes(arrow::decimal128(18, 3));
  Market market;
  for (std::int64_t i = 0; i < row_count; ++i) {
    const std::int64_t time_ns = kStartTimeNs + i * 1'500;
    const std::string symbol = i % 3 == 0 ? "AA" : "BB";
    const std::string kind = i % 5 == 0 ? "trade" : "level";
    const std::string side = i % 2 == 0 ? "buy" : "sell";
    const std::int64_t cents = 10'000 + (i % 2 == 0 ? -1 : 1) * (1 + i % 7);
    const std::int64_t thousandths = 1'000 + i % 13;
    EXPECT_TRUE(times.Append(time_ns).ok() && symbols.Append(symbol).ok() &&
                kinds.Append(kind).ok() && sides.Append(side).ok() &&
                prices.Append(static_cast<double>(cents) / 100).ok() &&
                sizes.Append(arrow::Decimal128(thousandths)).ok());
    const std::string hundredths = std::to_string(100 + cents % 100);
    market.csv += std::to_string(time_ns) + "," + symbol + "," + kind + "," + side + "," +
                  std::to_string(cents / 100) + "." + hundredths.substr(1) + ",1." +
                  std::to_string(thousandths).substr(1) + "\n";
  }
  market.table = table_of({{"time", *times.Finish()},
                           {"symbol", *symbols.Finish()},
                           {"kind", *kinds.Finish()},
                           {"side", *sides.Finish()},
                           {"price", *prices.Finish()},
                           {"size", *sizes.Finish()}});
  return market;
}

constexpr std::string_view kMarketMap = R"(
name: table
format: csv
header: true
time_unit: ns
starts_empty: true
price_tick: "0.01"
quantity_step: "0.001"
messages:
  - kind: diff
    when: ["kind=level"]
    symbol: symbol
    time: time
    side: side
    price: price
    quantity: size
  - kind: trade
    when: ["kind=trade"]
    symbol: symbol
    time: time
    side: side
    price: price
    quantity: size
)";

DrainedSource drain_market(const std::string& path, const std::string& map_path) {
  FileSourceOptions options;
  options.path = path;
  options.map_path = map_path;
  return drain_made(open_file_source(options));
}

bool is_equal(const MarketEvent& a, const MarketEvent& b) {
  return a.exchange_time_ns == b.exchange_time_ns && a.record == b.record &&
         a.price_nanos == b.price_nanos && a.quantity_nanos == b.quantity_nanos &&
         a.instrument == b.instrument && a.kind == b.kind && a.side == b.side &&
         a.quality == b.quality && a.end_of_update == b.end_of_update;
}

TEST(TableReader, MakesTheEventsOfTheSameRowsAsCsv) {
  const Market market = market_of(40'000);
  const std::string map_path = temporary_path("market.yaml");
  const std::string csv_path = temporary_path("market.csv");
  put_bytes(map_path, kMarketMap);
  put_bytes(csv_path, market.csv);
  const DrainedSource expected = drain_market(csv_path, map_path);
  ASSERT_EQ(expected.error, "");
  ASSERT_EQ(expected.counters.malformed, 0U);
  ASSERT_GE(expected.events.size(), 40'000U);
  for (const Written& written : all_kinds()) {
    const std::string path = temporary_path("market." + written.kind);
    written.write(*market.table, path);
    const DrainedSource drained = drain_market(path, map_path);
    EXPECT_EQ(drained.error, "") << written.kind;
    EXPECT_EQ(drained.by_type, expected.by_type) << written.kind;
    EXPECT_EQ(drained.counters.records, expected.counters.records) << written.kind;
    ASSERT_EQ(drained.events.size(), expected.events.size()) << written.kind;
    std::size_t different = 0;
    for (std::size_t i = 0; i < drained.events.size(); ++i)
      different += is_equal(drained.events[i], expected.events[i]) ? 0 : 1;
    EXPECT_EQ(different, 0U) << written.kind;
    std::filesystem::remove(path);
  }
  std::filesystem::remove(map_path);
  std::filesystem::remove(csv_path);
}

TEST(TableReader, KnowsHowFarItIs) {
  const Market market = market_of(20'000);
  for (const Written& written : all_kinds()) {
    const std::string path = temporary_path("progress." + written.kind);
    written.write(*market.table, path);
    const auto stream = open_byte_stream(path);
    ASSERT_TRUE(stream.ok()) << stream.error().message();
    double last = 0.0;
    std::size_t steps = 0;
    for (std::string_view line; (*stream)->next_line(line);) {
      const double now = (*stream)->progress();
      ASSERT_GE(now, last) << written.kind;
      ASSERT_LE(now, 1.0) << written.kind;
      steps += now > last ? 1 : 0;
      last = now;
    }
    EXPECT_GT(steps, 3U) << written.kind;
    EXPECT_DOUBLE_EQ((*stream)->progress(), 1.0) << written.kind;
    std::filesystem::remove(path);
  }
}

// The text of a table, which must be the same in all kinds of file.
std::string text_of(const TablePtr& table) {
  std::string text;
  for (const Written& written : all_kinds()) {
    const std::string path = temporary_path("text." + written.kind);
    written.write(*table, path);
    const ReadText read = read_text(path);
    EXPECT_EQ(read.error, "") << written.kind;
    EXPECT_TRUE(text.empty() || text == read.text) << written.kind << ": " << read.text;
    text = read.text;
    std::filesystem::remove(path);
  }
  return text;
}

template <typename Builder, typename Value>
std::string text_of_values(Builder&& builder, const std::vector<Value>& values) {
  for (const Value& value : values) EXPECT_TRUE(builder.Append(value).ok());
  EXPECT_TRUE(builder.AppendNull().ok());
  // With a column behind it, so that a null's line is not empty.
  const auto array = *builder.Finish();
  arrow::Int8Builder ends;
  for (std::int64_t i = 0; i < array->length(); ++i) EXPECT_TRUE(ends.Append(1).ok());
  std::string text = text_of(table_of({{"v", array}, {"e", *ends.Finish()}}));
  EXPECT_TRUE(text.starts_with("v,e\n")) << text;
  EXPECT_TRUE(text.ends_with("\n,1\n")) << text;
  text.erase(text.size() - 3);
  return text.substr(4);
}

TEST(TableReader, WritesNumbersInFull) {
  EXPECT_EQ(text_of_values(arrow::Int64Builder(),
                           std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), 7}),
            "-9223372036854775808,1\n7,1\n");
  EXPECT_EQ(text_of_values(arrow::UInt64Builder(),
                           std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max()}),
            "18446744073709551615,1\n");
  EXPECT_EQ(text_of_values(arrow::Int8Builder(), std::vector<std::int8_t>{-128}), "-128,1\n");
  EXPECT_EQ(text_of_values(arrow::UInt16Builder(), std::vector<std::uint16_t>{65'535}),
            "65535,1\n");
  EXPECT_EQ(text_of_values(arrow::BooleanBuilder(), std::vector<bool>{true, false}),
            "true,1\nfalse,1\n");
}

TEST(TableReader, WritesFloatsSoThatTheirBitsComeBack) {
  EXPECT_EQ(text_of_values(arrow::DoubleBuilder(),
                           std::vector<double>{61'800.2, 0.1 + 0.2, 1e-8, 1e22, -0.5}),
            "61800.2,1\n0.30000000000000004,1\n1e-08,1\n1e+22,1\n-0.5,1\n");
  EXPECT_EQ(text_of_values(arrow::FloatBuilder(), std::vector<float>{0.1F, 16'777'216.0F}),
            "0.1,1\n16777216,1\n");
}

TEST(TableReader, WritesDecimalsWithTheirPlaces) {
  EXPECT_EQ(text_of_values(arrow::Decimal128Builder(arrow::decimal128(20, 4)),
                           std::vector{arrow::Decimal128(1'234'500), arrow::Decimal128(-1)}),
            "123.4500,1\n-0.0001,1\n");
}

TEST(TableReader, WritesTimesAsNanoseconds) {
  auto* const pool = arrow::default_memory_pool();
  const std::vector<std::int64_t> one{1'700'000'000};
  using arrow::TimestampBuilder;
  EXPECT_EQ(text_of_values(TimestampBuilder(arrow::timestamp(arrow::TimeUnit::MICRO), pool), one),
            "1700000000000,1\n");
  EXPECT_EQ(
      text_of_values(
          TimestampBuilder(arrow::timestamp(arrow::TimeUnit::NANO, "Asia/Shanghai"), pool), one),
      "1700000000,1\n");
  EXPECT_EQ(text_of_values(arrow::Date32Builder(), std::vector<std::int32_t>{19'389}),
            "1675209600000000000,1\n");
  EXPECT_EQ(text_of_values(arrow::Time64Builder(arrow::time64(arrow::TimeUnit::MICRO), pool),
                           std::vector<std::int64_t>{5}),
            "5000,1\n");
  // The year 9999 does not fit: no reader of numbers may take it for one.
  EXPECT_EQ(text_of_values(TimestampBuilder(arrow::timestamp(arrow::TimeUnit::MILLI), pool),
                           std::vector<std::int64_t>{253'402'300'799'999}),
            "253402300799999ms,1\n");
}

TEST(TableReader, QuotesText) {
  const std::vector<std::string> texts{"plain", "a,b", "say \"so\"", "two\r\nlines", ""};
  const std::string expected = "plain,1\n\"a,b\",1\n\"say \"\"so\"\"\",1\n\"two  lines\",1\n,1\n";
  EXPECT_EQ(text_of_values(arrow::StringBuilder(), texts), expected);
  EXPECT_EQ(text_of_values(arrow::LargeStringBuilder(), texts), expected);
  EXPECT_EQ(text_of_values(arrow::BinaryBuilder(), texts), expected);
  EXPECT_EQ(text_of_values(arrow::StringViewBuilder(), texts), expected);
  EXPECT_EQ(text_of_values(arrow::StringDictionary32Builder(), texts), expected);
}

TEST(TableReader, RefusesNestedColumnsByName) {
  arrow::ListBuilder lists(arrow::default_memory_pool(), std::make_shared<arrow::Int64Builder>());
  ASSERT_TRUE(lists.Append().ok());
  arrow::Int64Builder numbers;
  const auto table =
      table_of({{"n", array_of(numbers, std::vector<int>{1})}, {"bids", *lists.Finish()}});
  for (const Written& written : all_kinds()) {
    const std::string path = temporary_path("nested." + written.kind);
    written.write(*table, path);
    const auto opened = open_byte_stream(path);
    ASSERT_FALSE(opened.ok()) << written.kind;
    EXPECT_EQ(opened.error().code(), ErrorCode::kUnimplemented);
    EXPECT_NE(opened.error().message().find("column bids: is list"), std::string::npos)
        << opened.error().message();
    EXPECT_NE(opened.error().message().find(path), std::string::npos);
    std::filesystem::remove(path);
  }
}

TEST(TableReader, SaysThatATableWithoutMapNeedsOne) {
  const std::string path = temporary_path("unmapped");
  write_parquet(*market_of(3).table, path);
  const DrainedSource refused = drain_market(path, "");
  EXPECT_NE(refused.error.find("a Parquet file with the columns time,symbol,kind,side,price,size"),
            std::string::npos)
      << refused.error;
  EXPECT_NE(refused.error.find("--map"), std::string::npos) << refused.error;
  std::filesystem::remove(path);
}

// Where the data of Parquet ends and its footer begins.
std::size_t data_end_of(std::string_view parquet) {
  std::uint32_t footer_size = 0;
  std::memcpy(&footer_size, parquet.data() + parquet.size() - 8, sizeof footer_size);
  return parquet.size() - 8 - footer_size;
}

TEST(TableReader, KeepsTheRowGroupsBeforeABrokenOne) {
  constexpr std::int64_t kGroups = 4;
  const std::string path = temporary_path("broken");
  write_parquet(*market_of(kGroups * kRowsPerPart).table, path);
  const std::string whole = read_text(path).text;
  const std::string bytes = bytes_of(path);
  std::set<std::int64_t> kept;
  for (std::size_t at = 4; at < data_end_of(bytes); at += 31) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(~changed[at]);
    put_bytes(path, changed);
    const ReadText read = read_text(path);
    if (read.error.empty()) continue;  // a statistic in a page's head, which nothing reads
    ASSERT_NE(read.error.find(path), std::string::npos) << read.error;
    ASSERT_TRUE(whole.starts_with(read.text)) << at;
    kept.insert(std::count(read.text.begin(), read.text.end(), '\n') - 1);
  }
  EXPECT_EQ(kept, (std::set<std::int64_t>{0, kRowsPerPart, 2 * kRowsPerPart, 3 * kRowsPerPart}));
  std::filesystem::remove(path);
}

TEST(TableReader, TellsEveryTruncation) {
  const Market market = market_of(3 * kRowsPerPart);
  for (const Written& written : all_kinds()) {
    const std::string path = temporary_path("cut." + written.kind);
    written.write(*market.table, path);
    const std::string bytes = bytes_of(path);
    const std::string all = read_text(path).text;
    std::size_t kept = 0;
    // Of a stream the last eight bytes mark its end: it may go without them.
    for (std::size_t size = 8; size + 8 < bytes.size(); size += 97) {
      put_bytes(path, std::string_view(bytes).substr(0, size));
      const ReadText read = read_text(path);
      ASSERT_NE(read.error, "") << written.kind << " at " << size;
      ASSERT_NE(read.error.find(path), std::string::npos) << read.error;
      ASSERT_TRUE(all.starts_with(read.text)) << written.kind << " at " << size;
      kept = std::max(kept, read.text.size());
    }
    // Parquet alone needs its end to be read at all.
    EXPECT_TRUE(written.kind == "parquet" ? kept == 0 : kept > all.size() / 2) << kept;
    std::filesystem::remove(path);
  }
}

// Some writers put no stream in front of the footer: it alone says where a file's batches are.
TEST(TableReader, ReadsAnIpcFileByItsFooter) {
  const Market market = market_of(3 * kRowsPerPart);
  const std::string path = temporary_path("footer");
  write_ipc(*market.table, path, false);
  const std::string whole = read_text(path).text;
  std::string bytes = bytes_of(path);
  bytes.replace(8, 8, 8, '\x11');  // the head of the stream's first message
  put_bytes(path, bytes);
  const ReadText read = read_text(path);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.text, whole);
  std::filesystem::remove(path);
}

// A packed buffer begins with its unpacked size, which is taken on trust by nobody.
TEST(TableReader, RefusesABufferThatSaysItUnpacksToATerabyte) {
  const std::string path = temporary_path("bomb");
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.codec = *arrow::util::Codec::Create(arrow::Compression::ZSTD);
  const auto file = *arrow::io::FileOutputStream::Open(path);
  const TablePtr table = market_of(kRowsPerPart).table;
  const auto writer = *arrow::ipc::MakeStreamWriter(file, table->schema(), options);
  ASSERT_TRUE(writer->WriteTable(*table).ok() && writer->Close().ok() && file->Close().ok());
  std::string bytes = bytes_of(path);
  const std::size_t frame = bytes.find("\x28\xB5\x2F\xFD");  // zstd's magic number
  ASSERT_NE(frame, std::string::npos);
  const std::int64_t terabyte = std::int64_t{1} << 40;
  std::memcpy(bytes.data() + frame - sizeof terabyte, &terabyte, sizeof terabyte);
  put_bytes(path, bytes);
  const auto stream = open_byte_stream(path);
  std::string_view line;
  if (stream.ok()) {
    while ((*stream)->next_line(line)) continue;
  }
  const Status status = stream.ok() ? (*stream)->status() : Status(stream.error());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::kResourceExhausted) << status.error().message();
  std::filesystem::remove(path);
}

// With every seventh byte changed in turn the file is read or refused; nothing else happens.
TEST(TableReader, SurvivesAnyChangedByte) {
  const Market market = market_of(kRowsPerPart);
  for (const Written& written : all_kinds()) {
    const std::string path = temporary_path("changed." + written.kind);
    written.write(*market.table, path);
    const std::string bytes = bytes_of(path);
    std::size_t refused = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 7) {
      for (const int mask : {0x01, 0x80, 0xFF}) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ mask);
        put_bytes(path, changed);
        const ReadText read = read_text(path);
        refused += read.error.empty() ? 0 : 1;
        ASSERT_LT(read.text.size(), 100 * market.csv.size()) << written.kind << " at " << at;
      }
    }
    EXPECT_GT(refused, 10U) << written.kind;
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace tocsin
