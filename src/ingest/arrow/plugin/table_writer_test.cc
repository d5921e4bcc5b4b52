// What the plug-in writes is read by Arrow itself: types, values, row groups, and errors of the
// disk.
#include <arrow/api.h>
#include <arrow/io/file.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>

#include "ingest/arrow/arrow_library.h"

namespace tocsin {
namespace {

using columnar::Cell;
using columnar::Column;
using columnar::ColumnType;

constexpr Column kColumns[] = {{"symbol", ColumnType::kText},
                               {"record", ColumnType::kUint64},
                               {"time_ns", ColumnType::kInt64},
                               {"quality", ColumnType::kUint16},
                               {"mid", ColumnType::kFloat32}};

const columnar::Plugin& plugin() {
  static const auto library = ArrowLibrary::open(ArrowLibrary::vendor().plugin_locations());
  EXPECT_TRUE(library.ok()) << library.error().message();
  return library->plugin();
}

columnar::Status write_row(columnar::WriterImpl* writer, std::int64_t row) {
  const std::string symbol = row % 2 == 0 ? "AAPL" : "a, \"b\"";
  const Cell cells[] = {{.text = {symbol.data(), symbol.size()}},
                        {.uint64 = std::uint64_t{1} << 63 | static_cast<std::uint64_t>(row)},
                        {.int64 = -row},
                        {.uint16 = 65'535},
                        {.float32 = 0.1F * static_cast<float>(row)}};
  return plugin().write_row(writer, cells);
}

TEST(TableWriter, WritesRowGroupsOfBoundedSizeThatArrowReadsBack) {
  constexpr std::int64_t kRows = 150'000;
  const std::string path = testing::TempDir() + "/" + std::to_string(getpid()) + "_rows.parquet";
  columnar::WriterImpl* writer = nullptr;
  ASSERT_TRUE(plugin().open_writer(path.c_str(), kColumns, std::size(kColumns), &writer).ok());
  for (std::int64_t row = 0; row < kRows; ++row) ASSERT_TRUE(write_row(writer, row).ok());
  ASSERT_TRUE(plugin().finish(writer).ok());
  plugin().close_writer(writer);

  parquet::arrow::FileReaderBuilder builder;
  ASSERT_TRUE(builder.OpenFile(path).ok());
  const auto reader = *builder.Build();
  std::filesystem::remove(path);
  ASSERT_EQ(reader->num_row_groups(), 3);
  for (int group = 0; group < 3; ++group)
    EXPECT_LE(reader->parquet_reader()->metadata()->RowGroup(group)->num_rows(), 65'536);
  const auto table = *(*reader->ReadTable())->CombineChunks();
  ASSERT_EQ(table->num_rows(), kRows);
  EXPECT_EQ(table->schema()->ToString(),
            "symbol: dictionary<values=string, indices=int32, ordered=0> not null\n"
            "record: uint64 not null\ntime_ns: int64 not null\nquality: uint16 not null\n"
            "mid: float not null");
  std::int64_t row = 0;
  std::size_t different = 0;
  for (const auto& chunk : table->column(0)->chunks()) {
    const auto& symbols = static_cast<const arrow::DictionaryArray&>(*chunk);
    const auto& words = static_cast<const arrow::StringArray&>(*symbols.dictionary());
    for (std::int64_t i = 0; i < chunk->length(); ++i, ++row)
      different +=
          words.GetView(symbols.GetValueIndex(i)) == (row % 2 == 0 ? "AAPL" : "a, \"b\"") ? 0 : 1;
  }
  const auto& records = static_cast<const arrow::UInt64Array&>(*table->column(1)->chunk(0));
  const auto& times = static_cast<const arrow::Int64Array&>(*table->column(2)->chunk(0));
  const auto& mids = static_cast<const arrow::FloatArray&>(*table->column(4)->chunk(0));
  for (std::int64_t i = 0; i < kRows; ++i) {
    const bool equal =
        records.Value(i) == (std::uint64_t{1} << 63 | static_cast<std::uint64_t>(i)) &&
        times.Value(i) == -i && mids.Value(i) == 0.1F * static_cast<float>(i);
    different += equal ? 0 : 1;
  }
  EXPECT_EQ(row, kRows);
  EXPECT_EQ(different, 0U);
}

TEST(TableWriter, TellsWhyAFileCannotBeWritten) {
  columnar::WriterImpl* writer = nullptr;
  const columnar::Status refused =
      plugin().open_writer("/nowhere/a.parquet", kColumns, std::size(kColumns), &writer);
  EXPECT_EQ(refused.code, columnar::StatusCode::kInputOutput);
  EXPECT_EQ(refused.error_number, ENOENT);
  const columnar::Status full =
      plugin().open_writer("/dev/full", kColumns, std::size(kColumns), &writer);
  EXPECT_EQ(full.code, columnar::StatusCode::kInputOutput);
  EXPECT_EQ(full.error_number, ENOSPC) << full.message;
}

}  // namespace
}  // namespace tocsin
