// Batches to text.
#include "ingest/arrow/plugin/table_reader.h"

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tocsin::columnar {
namespace {

constexpr std::size_t kTextBytes = std::size_t{128} << 10;

arrow::Result<std::unique_ptr<BatchInput>> open_input(const std::string& path, FileKind kind) {
  switch (kind) {
    case FileKind::kParquet:
      return open_parquet(path);
    case FileKind::kIpcFile:
      return open_ipc_file(path);
    case FileKind::kIpcStream:
      break;
  }
  return open_ipc_stream(path);
}

}  // namespace

arrow::Status TableReader::open(const std::string& path, FileKind kind) {
  ARROW_ASSIGN_OR_RAISE(input_, open_input(path, kind));
  ARROW_RETURN_NOT_OK(check_columns(*input_->schema()));
  text_ = heading_of(*input_->schema());
  return arrow::Status::OK();
}

arrow::Status TableReader::fill() {
  text_.clear();
  taken_ = 0;
  while (!rows_.has_value() || row_ == rows_->row_count()) {
    rows_.reset();  // before the next one, so that only one is in memory
    row_ = 0;
    ARROW_ASSIGN_OR_RAISE(auto batch, input_->next());
    if (batch == nullptr) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(batch->ValidateFull());
    ARROW_ASSIGN_OR_RAISE(rows_, RowText::make(std::move(batch)));
  }
  while (row_ < rows_->row_count() && text_.size() < kTextBytes) rows_->append_line(row_++, text_);
  return arrow::Status::OK();
}

arrow::Result<std::size_t> TableReader::read(char* out, std::size_t size) {
  if (taken_ == text_.size()) ARROW_RETURN_NOT_OK(fill());
  const std::size_t count = std::min(size, text_.size() - taken_);
  std::memcpy(out, text_.data() + taken_, count);
  taken_ += count;
  return count;
}

}  // namespace tocsin::columnar
