// Rows to Parquet: a row group as soon as its rows are there, so that memory does not grow with the
// file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ingest/arrow/arrow_plugin.h"
#include "ingest/arrow/plugin/arrow_names.h"

namespace tocsin::columnar {

class TableWriter {
 public:
  TableWriter();
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  arrow::Status open(const std::string& path, std::span<const Column> columns);
  // A cell a column.
  arrow::Status write_row(const Cell* cells);
  arrow::Status finish();

 private:
  arrow::Status write_group();

  std::vector<ColumnType> types_;
  std::vector<std::unique_ptr<arrow::ArrayBuilder>> builders_;
  std::int64_t row_count_ = 0;  // in the builders
  std::shared_ptr<arrow::io::FileOutputStream> file_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

}  // namespace tocsin::columnar
