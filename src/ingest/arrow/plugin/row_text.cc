// One small class a kind of value. Numbers have the shortest text that gives their bits back; times
// are whole nanoseconds, so that one unit fits all files.
#include "ingest/arrow/plugin/row_text.h"

#include <arrow/api.h>
#include <arrow/extension_type.h>
#include <arrow/util/float16.h>

#include <charconv>
#include <type_traits>
#include <utility>

namespace tocsin::columnar {
namespace {

using ColumnTextPtr = std::unique_ptr<ColumnText>;

template <typename Number>
void append_number(Number number, std::string& out) {
  char digits[64];
  const auto written = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, written.ptr);
}

// A cell ends where its row does: line feeds become blanks, since readers go by lines.
void append_text(std::string_view text, std::string& out) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  out += '"';
}

class NoText final : public ColumnText {
 public:
  void append(std::int64_t, std::string&) const override {}
};

// Nulls aside, which are the same for all.
template <typename Array>
class ValueText : public ColumnText {
 public:
  explicit ValueText(const arrow::Array& array) : array_(static_cast<const Array&>(array)) {}
  void append(std::int64_t row, std::string& out) const final {
    if (!array_.IsNull(row)) append_value(row, out);
  }

 protected:
  virtual void append_value(std::int64_t row, std::string& out) const = 0;
  const Array& array_;
};

template <typename Array>
class NumberText final : public ValueText<Array> {
  using ValueText<Array>::ValueText;
  void append_value(std::int64_t row, std::string& out) const override {
    const auto value = this->array_.Value(row);
    if constexpr (std::is_same_v<Array, arrow::HalfFloatArray>) {
      append_number(arrow::util::Float16::FromBits(value).ToFloat(), out);
    } else {
      append_number(value, out);
    }
  }
};

class BooleanText final : public ValueText<arrow::BooleanArray> {
  using ValueText::ValueText;
  void append_value(std::int64_t row, std::string& out) const override {
    out += array_.Value(row) ? "true" : "false";
  }
};

template <typename Array>
class DecimalText final : public ValueText<Array> {
  using ValueText<Array>::ValueText;
  void append_value(std::int64_t row, std::string& out) const override {
    out += this->array_.FormatValue(row);
  }
};

template <typename Array>
class StringText final : public ValueText<Array> {
  using ValueText<Array>::ValueText;
  void append_value(std::int64_t row, std::string& out) const override {
    append_text(this->array_.GetView(row), out);
  }
};

struct TimeStep {
  std::int64_t nanos;
  std::string_view name;
};

TimeStep step_of(arrow::TimeUnit::type unit) noexcept {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return {1'000'000'000, "s"};
    case arrow::TimeUnit::MILLI:
      return {1'000'000, "ms"};
    case arrow::TimeUnit::MICRO:
      return {1'000, "us"};
    default:
      return {1, "ns"};
  }
}

// A time past what 64 bits of nanoseconds hold keeps its unit behind it: no reader takes it for a
// number.
template <typename Array>
class TimeText final : public ValueText<Array> {
 public:
  TimeText(const arrow::Array& array, TimeStep step) : ValueText<Array>(array), step_(step) {}

 private:
  void append_value(std::int64_t row, std::string& out) const override {
    const std::int64_t value = this->array_.Value(row);
    std::int64_t nanos = 0;
    if (!__builtin_mul_overflow(value, step_.nanos, &nanos)) return append_number(nanos, out);
    append_number(value, out);
    out += step_.name;
  }

  TimeStep step_;
};

ColumnTextPtr make_column_text(const arrow::Array& array);

class DictionaryText final : public ValueText<arrow::DictionaryArray> {
 public:
  DictionaryText(const arrow::Array& array, ColumnTextPtr values)
      : ValueText(array), values_(std::move(values)) {}

  static ColumnTextPtr make(const arrow::Array& array) {
    const auto& dictionary = static_cast<const arrow::DictionaryArray&>(array);
    ColumnTextPtr values = make_column_text(*dictionary.dictionary());
    if (values == nullptr) return nullptr;
    return std::make_unique<DictionaryText>(array, std::move(values));
  }

 private:
  void append_value(std::int64_t row, std::string& out) const override {
    values_->append(array_.GetValueIndex(row), out);
  }

  ColumnTextPtr values_;
};

template <typename Text>
ColumnTextPtr make(const arrow::Array& array) {
  return std::make_unique<Text>(array);
}

template <typename Array>
ColumnTextPtr make_time(const arrow::Array& array, TimeStep step) {
  return std::make_unique<TimeText<Array>>(array, step);
}

// Times and dates; null for any other type.
ColumnTextPtr make_time_text(const arrow::Array& array) {
  const arrow::DataType& type = *array.type();
  switch (type.id()) {
    case arrow::Type::TIMESTAMP:
      return make_time<arrow::TimestampArray>(
          array, step_of(static_cast<const arrow::TimestampType&>(type).unit()));
    case arrow::Type::TIME32:
      return make_time<arrow::Time32Array>(
          array, step_of(static_cast<const arrow::Time32Type&>(type).unit()));
    case arrow::Type::TIME64:
      return make_time<arrow::Time64Array>(
          array, step_of(static_cast<const arrow::Time64Type&>(type).unit()));
    case arrow::Type::DURATION:
      return make_time<arrow::DurationArray>(
          array, step_of(static_cast<const arrow::DurationType&>(type).unit()));
    case arrow::Type::DATE32:
      return make_time<arrow::Date32Array>(array, {86'400'000'000'000, "d"});
    case arrow::Type::DATE64:
      return make_time<arrow::Date64Array>(array, {1'000'000, "ms"});
    default:
      return nullptr;
  }
}

ColumnTextPtr make_number_text(const arrow::Array& array) {
  switch (array.type_id()) {
    case arrow::Type::INT8:
      return make<NumberText<arrow::Int8Array>>(array);
    case arrow::Type::INT16:
      return make<NumberText<arrow::Int16Array>>(array);
    case arrow::Type::INT32:
      return make<NumberText<arrow::Int32Array>>(array);
    case arrow::Type::INT64:
      return make<NumberText<arrow::Int64Array>>(array);
    case arrow::Type::UINT8:
      return make<NumberText<arrow::UInt8Array>>(array);
    case arrow::Type::UINT16:
      return make<NumberText<arrow::UInt16Array>>(array);
    case arrow::Type::UINT32:
      return make<NumberText<arrow::UInt32Array>>(array);
    case arrow::Type::UINT64:
      return make<NumberText<arrow::UInt64Array>>(array);
    case arrow::Type::HALF_FLOAT:
      return make<NumberText<arrow::HalfFloatArray>>(array);
    case arrow::Type::FLOAT:
      return make<NumberText<arrow::FloatArray>>(array);
    case arrow::Type::DOUBLE:
      return make<NumberText<arrow::DoubleArray>>(array);
    case arrow::Type::DECIMAL32:
      return make<DecimalText<arrow::Decimal32Array>>(array);
    case arrow::Type::DECIMAL64:
      return make<DecimalText<arrow::Decimal64Array>>(array);
    case arrow::Type::DECIMAL128:
      return make<DecimalText<arrow::Decimal128Array>>(array);
    case arrow::Type::DECIMAL256:
      return make<DecimalText<arrow::Decimal256Array>>(array);
    default:
      return nullptr;
  }
}

// Null for a type that a cell cannot hold. The array must outlive the text.
ColumnTextPtr make_column_text(const arrow::Array& array) {
  switch (array.type_id()) {
    case arrow::Type::NA:
      return std::make_unique<NoText>();
    case arrow::Type::BOOL:
      return make<BooleanText>(array);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return make<StringText<arrow::BinaryArray>>(array);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return make<StringText<arrow::LargeBinaryArray>>(array);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return make<StringText<arrow::BinaryViewArray>>(array);
    case arrow::Type::FIXED_SIZE_BINARY:
      return make<StringText<arrow::FixedSizeBinaryArray>>(array);
    case arrow::Type::DICTIONARY:
      return DictionaryText::make(array);
    case arrow::Type::EXTENSION:
      return make_column_text(*static_cast<const arrow::ExtensionArray&>(array).storage());
    default:
      break;
  }
  ColumnTextPtr number = make_number_text(array);
  return number != nullptr ? std::move(number) : make_time_text(array);
}

arrow::Status refusal(const arrow::Field& field) {
  return arrow::Status::TypeError("column ", field.name(), ": is ", field.type()->ToString(),
                                  "; expected numbers, text, times or booleans, which a cell of a "
                                  "row holds");
}

}  // namespace

arrow::Status check_columns(const arrow::Schema& schema) {
  if (schema.num_fields() == 0) return arrow::Status::Invalid("a table without columns");
  for (const auto& field : schema.fields()) {
    const auto none = arrow::MakeEmptyArray(field->type());
    if (!none.ok() || make_column_text(**none) == nullptr) return refusal(*field);
  }
  return arrow::Status::OK();
}

std::string heading_of(const arrow::Schema& schema) {
  std::string line;
  for (const auto& field : schema.fields()) {
    if (field != schema.fields().front()) line += ',';
    append_text(field->name(), line);
  }
  line += '\n';
  return line;
}

arrow::Result<RowText> RowText::make(std::shared_ptr<arrow::RecordBatch> batch) {
  RowText text(std::move(batch));
  for (int i = 0; i < text.batch_->num_columns(); ++i) {
    text.columns_.push_back(make_column_text(*text.batch_->column(i)));
    if (text.columns_.back() == nullptr) return refusal(*text.batch_->schema()->field(i));
  }
  return text;
}

std::int64_t RowText::row_count() const noexcept { return batch_->num_rows(); }

void RowText::append_line(std::int64_t row, std::string& out) const {
  for (const auto& column : columns_) {
    if (&column != &columns_.front()) out += ',';
    column->append(row, out);
  }
  out += '\n';
}

}  // namespace tocsin::columnar
