// Text as a dictionary (few symbols in many rows), zstd, a checksum a page, and Arrow's own schema
// beside Parquet's, which gives the types back as they were.
#include "ingest/arrow/plugin/table_writer.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <string_view>
#include <utility>

namespace tocsin::columnar {
namespace {

constexpr std::int64_t kRowsPerGroup = 65'536;

std::shared_ptr<arrow::DataType> type_of(ColumnType type) {
  switch (type) {
    case ColumnType::kText:
      return arrow::dictionary(arrow::int32(), arrow::utf8());
    case ColumnType::kInt64:
      return arrow::int64();
    case ColumnType::kUint64:
      return arrow::uint64();
    case ColumnType::kUint16:
      return arrow::uint16();
    case ColumnType::kFloat32:
      break;
  }
  return arrow::float32();
}

arrow::Status append(ColumnType type, const Cell& cell, arrow::ArrayBuilder& builder) {
  switch (type) {
    case ColumnType::kText:
      return static_cast<arrow::StringDictionary32Builder&>(builder).Append(
          std::string_view(cell.text.data, cell.text.size));
    case ColumnType::kInt64:
      return static_cast<arrow::Int64Builder&>(builder).Append(cell.int64);
    case ColumnType::kUint64:
      return static_cast<arrow::UInt64Builder&>(builder).Append(cell.uint64);
    case ColumnType::kUint16:
      return static_cast<arrow::UInt16Builder&>(builder).Append(cell.uint16);
    case ColumnType::kFloat32:
      break;
  }
  return static_cast<arrow::FloatBuilder&>(builder).Append(cell.float32);
}

arrow::Result<std::unique_ptr<arrow::ArrayBuilder>> make_builder(ColumnType type) {
  // The general way picks a builder whose indices grow from eight bits.
  if (type == ColumnType::kText) return std::make_unique<arrow::StringDictionary32Builder>();
  return arrow::MakeBuilder(type_of(type));
}

}  // namespace

TableWriter::TableWriter() = default;
TableWriter::~TableWriter() = default;

arrow::Status TableWriter::open(const std::string& path, std::span<const Column> columns) {
  arrow::FieldVector fields;
  for (const Column& column : columns) {
    types_.push_back(column.type);
    fields.push_back(arrow::field(column.name, type_of(column.type), /*nullable=*/false));
    ARROW_ASSIGN_OR_RAISE(auto builder, make_builder(column.type));
    builders_.push_back(std::move(builder));
  }
  ARROW_ASSIGN_OR_RAISE(file_, arrow::io::FileOutputStream::Open(path));
  parquet::WriterProperties::Builder properties;
  properties.compression(parquet::Compression::ZSTD)->enable_page_checksum();
  parquet::ArrowWriterProperties::Builder arrow_properties;
  arrow_properties.store_schema();
  ARROW_ASSIGN_OR_RAISE(writer_, parquet::arrow::FileWriter::Open(
                                     *arrow::schema(std::move(fields)), arrow::system_memory_pool(),
                                     file_, properties.build(), arrow_properties.build()));
  return arrow::Status::OK();
}

arrow::Status TableWriter::write_row(const Cell* cells) {
  for (std::size_t i = 0; i < types_.size(); ++i)
    ARROW_RETURN_NOT_OK(append(types_[i], cells[i], *builders_[i]));
  return ++row_count_ == kRowsPerGroup ? write_group() : arrow::Status::OK();
}

arrow::Status TableWriter::write_group() {
  row_count_ = 0;
  ARROW_RETURN_NOT_OK(writer_->NewRowGroup());
  for (const auto& builder : builders_) {
    ARROW_ASSIGN_OR_RAISE(const auto array, builder->Finish());
    ARROW_RETURN_NOT_OK(writer_->WriteColumnChunk(*array));
  }
  return arrow::Status::OK();
}

arrow::Status TableWriter::finish() {
  if (row_count_ > 0) ARROW_RETURN_NOT_OK(write_group());
  ARROW_RETURN_NOT_OK(writer_->Close());
  return file_->Close();
}

}  // namespace tocsin::columnar
