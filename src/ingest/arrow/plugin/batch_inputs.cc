// The three kinds of file. Nothing is mapped into memory: a file that shrinks would kill the
// process.
#include <arrow/io/file.h>
#include <arrow/ipc/api.h>
#include <arrow/memory_pool.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>

#include <algorithm>
#include <utility>

#include "ingest/arrow/plugin/table_reader.h"

namespace tocsin::columnar {
namespace {

constexpr std::int64_t kRowsPerBatch = 16'384;
// Of each column's pages: a row group's columns are read as streams, not as a whole.
constexpr std::int64_t kColumnBufferBytes = std::int64_t{256} << 10;

constexpr std::int64_t kIpcFileStart = 8;  // behind the magic word and its padding

// What is unpacked and decoded at a time, of all files that are open: a file that asks for more is
// refused.
constexpr std::int64_t kMemoryBytesMax = std::int64_t{2} << 30;

// Never destroyed: Arrow reads a file's footer by a thread of its own, which may let go of the
// reader, and so of its memory, after everybody else.
arrow::MemoryPool* read_pool() {
  static auto* const kPool =
      new arrow::CappedMemoryPool(arrow::system_memory_pool(), kMemoryBytesMax);
  return kPool;
}

double share(std::int64_t done, std::int64_t all) {
  return all <= 0 ? 0.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
}

class ParquetInput final : public BatchInput {
 public:
  ParquetInput(std::unique_ptr<parquet::arrow::FileReader> reader,
               std::shared_ptr<arrow::Schema> schema)
      : reader_(std::move(reader)),
        schema_(std::move(schema)),
        row_count_(reader_->parquet_reader()->metadata()->num_rows()) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  // A batch is of one row group, so that a broken one takes nothing of the one before with it.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> next() override {
    for (;;) {
      if (group_ == nullptr) {
        if (next_group_ == reader_->num_row_groups()) return nullptr;
        ARROW_ASSIGN_OR_RAISE(group_, reader_->GetRecordBatchReader({next_group_}));
        ++next_group_;
      }
      ARROW_ASSIGN_OR_RAISE(auto batch, group_->Next());
      if (batch != nullptr) {
        rows_read_ += batch->num_rows();
        return batch;
      }
      group_.reset();
    }
  }

  double progress() const override { return share(rows_read_, row_count_); }

 private:
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::shared_ptr<arrow::Schema> schema_;
  std::unique_ptr<arrow::RecordBatchReader> group_;
  int next_group_ = 0;
  std::int64_t row_count_;
  std::int64_t rows_read_ = 0;
};

class IpcFileInput final : public BatchInput {
 public:
  explicit IpcFileInput(std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader)
      : reader_(std::move(reader)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return reader_->schema(); }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> next() override {
    if (next_batch_ == reader_->num_record_batches()) return nullptr;
    return reader_->ReadRecordBatch(next_batch_++);
  }
  double progress() const override { return share(next_batch_, reader_->num_record_batches()); }

 private:
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader_;
  int next_batch_ = 0;
};

class IpcStreamInput final : public BatchInput {
 public:
  IpcStreamInput(std::shared_ptr<arrow::io::ReadableFile> file,
                 std::shared_ptr<arrow::ipc::RecordBatchStreamReader> reader,
                 std::int64_t size_bytes, arrow::Status end)
      : file_(std::move(file)),
        reader_(std::move(reader)),
        size_bytes_(size_bytes),
        end_(std::move(end)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return reader_->schema(); }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> next() override {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader_->Next());
    if (batch == nullptr) ARROW_RETURN_NOT_OK(end_);
    return batch;
  }
  double progress() const override { return share(file_->Tell().ValueOr(0), size_bytes_); }

 private:
  std::shared_ptr<arrow::io::ReadableFile> file_;
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> reader_;
  std::int64_t size_bytes_;
  arrow::Status end_;  // what is told where the stream ends
};

// Buffers of a lying file may stand at any address: they are copied to where their type wants them.
arrow::ipc::IpcReadOptions ipc_options() {
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = read_pool();
  options.use_threads = false;
  options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
  return options;
}

// What begins at `start` of the file, and ends with `end`.
arrow::Result<std::unique_ptr<BatchInput>> open_ipc_stream_at(
    std::int64_t start, std::shared_ptr<arrow::io::ReadableFile> file, arrow::Status end) {
  ARROW_ASSIGN_OR_RAISE(const std::int64_t size_bytes, file->GetSize());
  ARROW_RETURN_NOT_OK(file->Seek(start));
  ARROW_ASSIGN_OR_RAISE(auto reader,
                        arrow::ipc::RecordBatchStreamReader::Open(file, ipc_options()));
  return std::make_unique<IpcStreamInput>(std::move(file), std::move(reader), size_bytes,
                                          std::move(end));
}

}  // namespace

arrow::Result<std::unique_ptr<BatchInput>> open_parquet(const std::string& path) {
  arrow::MemoryPool* const pool = read_pool();
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path, pool));
  parquet::ReaderProperties properties(pool);
  properties.enable_buffered_stream();
  properties.set_buffer_size(kColumnBufferBytes);
  properties.set_page_checksum_verification(true);
  parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
  arrow_properties.set_batch_size(kRowsPerBatch);
  arrow_properties.set_pre_buffer(false);
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(file), properties));
  ARROW_ASSIGN_OR_RAISE(auto reader,
                        builder.memory_pool(pool)->properties(arrow_properties)->Build());
  std::shared_ptr<arrow::Schema> schema;
  ARROW_RETURN_NOT_OK(reader->GetSchema(&schema));
  return std::make_unique<ParquetInput>(std::move(reader), std::move(schema));
}

arrow::Result<std::unique_ptr<BatchInput>> open_ipc_file(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path, read_pool()));
  auto reader = arrow::ipc::RecordBatchFileReader::Open(file, ipc_options());
  if (reader.ok()) return std::make_unique<IpcFileInput>(*std::move(reader));
  // Without its footer most files are still a stream behind a magic word: what is whole of it is
  // kept, and the footer's fault is told behind it.
  auto stream = open_ipc_stream_at(kIpcFileStart, std::move(file), reader.status());
  return stream.ok() ? std::move(stream) : reader.status();
}

arrow::Result<std::unique_ptr<BatchInput>> open_ipc_stream(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path, read_pool()));
  return open_ipc_stream_at(0, std::move(file), arrow::Status::OK());
}

}  // namespace tocsin::columnar
