// The plug-in's one door.
#include <arrow/result.h>

#include <memory>
#include <span>

#include "ingest/arrow/arrow_plugin.h"
#include "ingest/arrow/plugin/errors.h"
#include "ingest/arrow/plugin/table_reader.h"
#include "ingest/arrow/plugin/table_writer.h"

namespace tocsin::columnar {

struct ReaderImpl : TableReader {};
struct WriterImpl : TableWriter {};

namespace {

Status open_reader(const char* path, FileKind kind, ReaderImpl** reader) noexcept {
  return guarded([&] {
    auto opened = std::make_unique<ReaderImpl>();
    ARROW_RETURN_NOT_OK(opened->open(path, kind));
    *reader = opened.release();
    return arrow::Status::OK();
  });
}

Status read(ReaderImpl* reader, char* out, std::size_t size, std::size_t* count) noexcept {
  return guarded([&] {
    ARROW_ASSIGN_OR_RAISE(*count, reader->read(out, size));
    return arrow::Status::OK();
  });
}

double progress(const ReaderImpl* reader) noexcept { return reader->progress(); }

void close_reader(ReaderImpl* reader) noexcept { delete reader; }

Status open_writer(const char* path, const Column* columns, std::size_t count,
                   WriterImpl** writer) noexcept {
  return guarded([&] {
    auto opened = std::make_unique<WriterImpl>();
    ARROW_RETURN_NOT_OK(opened->open(path, std::span(columns, count)));
    *writer = opened.release();
    return arrow::Status::OK();
  });
}

Status write_row(WriterImpl* writer, const Cell* cells) noexcept {
  return guarded([&] { return writer->write_row(cells); });
}

Status finish(WriterImpl* writer) noexcept {
  return guarded([&] { return writer->finish(); });
}

void close_writer(WriterImpl* writer) noexcept { delete writer; }

}  // namespace
}  // namespace tocsin::columnar

extern "C" __attribute__((visibility("default"))) const tocsin::columnar::Plugin*
tocsin_arrow_plugin() {
  namespace columnar = tocsin::columnar;
  static const columnar::Plugin kPlugin{
      .open_reader = columnar::open_reader,
      .read = columnar::read,
      .progress = columnar::progress,
      .close_reader = columnar::close_reader,
      .open_writer = columnar::open_writer,
      .write_row = columnar::write_row,
      .finish = columnar::finish,
      .close_writer = columnar::close_writer,
  };
  return &kPlugin;
}
