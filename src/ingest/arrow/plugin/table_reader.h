// Parquet and Arrow IPC as one stream of text, a batch of rows at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ingest/arrow/arrow_plugin.h"
#include "ingest/arrow/plugin/arrow_names.h"
#include "ingest/arrow/plugin/row_text.h"

namespace tocsin::columnar {

// A table's batches in order.
class BatchInput {
 public:
  virtual ~BatchInput() = default;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  // Null at the end.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> next() = 0;
  virtual double progress() const = 0;
};

arrow::Result<std::unique_ptr<BatchInput>> open_parquet(const std::string& path);
arrow::Result<std::unique_ptr<BatchInput>> open_ipc_file(const std::string& path);
arrow::Result<std::unique_ptr<BatchInput>> open_ipc_stream(const std::string& path);

class TableReader {
 public:
  arrow::Status open(const std::string& path, FileKind kind);
  arrow::Result<std::size_t> read(char* out, std::size_t size);
  double progress() const { return input_->progress(); }

 private:
  // More text, at least a line, or none at the end.
  arrow::Status fill();

  std::unique_ptr<BatchInput> input_;
  std::optional<RowText> rows_;
  std::int64_t row_ = 0;
  std::string text_;
  std::size_t taken_ = 0;  // of the text
};

}  // namespace tocsin::columnar
