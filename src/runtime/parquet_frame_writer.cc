// Parquet by the Arrow plug-in (ingest/arrow/), which holds the rows until a row group is full.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ingest/arrow/arrow_library.h"
#include "runtime/frame_writer.h"
#include "sinks/file_io.h"

namespace tocsin {
namespace {

using columnar::Cell;
using columnar::Column;
using columnar::ColumnType;

constexpr Column kFrameColumns[] = {
    {"symbol", ColumnType::kText},
    {"record", ColumnType::kUint64},
    {"exchange_time_ns", ColumnType::kInt64},
    {"receive_time_ns", ColumnType::kInt64},
    {"mid_price_nanos_x2", ColumnType::kInt64},
    {"price_tick_nanos", ColumnType::kInt64},
    {"quality", ColumnType::kUint16},
};

class ParquetFrameWriter final : public FrameWriter {
 public:
  ParquetFrameWriter(std::string path, const columnar::Plugin& plugin)
      : path_(std::move(path)), plugin_(plugin) {}
  ~ParquetFrameWriter() override {
    if (writer_ != nullptr) plugin_.close_writer(writer_);
  }
  ParquetFrameWriter(const ParquetFrameWriter&) = delete;
  ParquetFrameWriter& operator=(const ParquetFrameWriter&) = delete;

  Status open(const FeatureSchema& schema) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < schema.size(); ++i) names.emplace_back(schema.name(i));
    std::vector<Column> columns(std::begin(kFrameColumns), std::end(kFrameColumns));
    for (const std::string& name : names) columns.push_back({name.c_str(), ColumnType::kFloat32});
    return check(plugin_.open_writer(path_.c_str(), columns.data(), columns.size(), &writer_));
  }

  Status write(const FeatureFrame& frame, const Instrument& instrument) override {
    cells_ = {{.text = {instrument.symbol.data(), instrument.symbol.size()}},
              {.uint64 = frame.position.record},
              {.int64 = frame.exchange_time_ns},
              {.int64 = frame.receive_time_ns},
              {.int64 = frame.mid_price_nanos_x2},
              {.int64 = instrument.price_tick_nanos},
              {.uint16 = frame.quality.bits()}};
    for (std::size_t i = 0; i < frame.feature_count; ++i)
      cells_.push_back({.float32 = frame.values[i]});
    return check(plugin_.write_row(writer_, cells_.data()));
  }

  Status finish() override { return check(plugin_.finish(writer_)); }

 private:
  Status check(const columnar::Status& status) const {
    if (status.error_number != 0) return file_error(path_, "be written", status.error_number);
    const Status checked = ArrowLibrary::check(status);
    return checked.ok() ? checked : checked.error().within(path_);
  }

  std::string path_;
  const columnar::Plugin& plugin_;
  columnar::WriterImpl* writer_ = nullptr;
  std::vector<Cell> cells_;
};

}  // namespace

Result<std::unique_ptr<FrameWriter>> open_parquet_writer(const std::string& path,
                                                         const FeatureSchema& schema) {
  const auto library = ArrowLibrary::open(ArrowLibrary::vendor().plugin_locations());
  if (!library.ok()) return library.error().within(path);
  auto writer = std::make_unique<ParquetFrameWriter>(path, library->plugin());
  TOCSIN_RETURN_IF_ERROR(writer->open(schema));
  return std::unique_ptr<FrameWriter>(std::move(writer));
}

}  // namespace tocsin
