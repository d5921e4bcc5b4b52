// Rows of a record batch as lines of comma-separated text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/arrow/plugin/arrow_names.h"

namespace tocsin::columnar {

// The values of an array as text.
class ColumnText {
 public:
  virtual ~ColumnText() = default;
  // Nothing for a null.
  virtual void append(std::int64_t row, std::string& out) const = 0;
};

// TypeError, naming the column, if one holds what a cell cannot: lists, structures, maps, unions.
arrow::Status check_columns(const arrow::Schema& schema);

// The columns' names as a line.
std::string heading_of(const arrow::Schema& schema);

class RowText {
 public:
  // The batch must be valid (ValidateFull()): its offsets and indices are followed unchecked.
  static arrow::Result<RowText> make(std::shared_ptr<arrow::RecordBatch> batch);

  std::int64_t row_count() const noexcept;
  void append_line(std::int64_t row, std::string& out) const;

 private:
  explicit RowText(std::shared_ptr<arrow::RecordBatch> batch) : batch_(std::move(batch)) {}

  std::shared_ptr<arrow::RecordBatch> batch_;
  std::vector<std::unique_ptr<ColumnText>> columns_;
};

}  // namespace tocsin::columnar
