// Formats by name, and CSV.
#include "runtime/frame_writer.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <iterator>

#include "sinks/file_io.h"

namespace tocsin {
namespace {

constexpr std::array<std::string_view, 3> kFormatNames = {"csv", "npz", "parquet"};

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class CsvFrameWriter final : public FrameWriter {
 public:
  CsvFrameWriter(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  Status write_heading(const FeatureSchema& schema) {
    line_ = "symbol,record,exchange_time_ns,quality,mid_price_nanos_x2,price_tick_nanos";
    for (std::size_t i = 0; i < schema.size(); ++i)
      fmt::format_to(std::back_inserter(line_), ",{}", schema.name(i));
    return put_line();
  }

  Status write(const FeatureFrame& frame, const Instrument& instrument) override {
    line_.clear();
    auto out = std::back_inserter(line_);
    fmt::format_to(out, "{},{},{},{},{},{}", instrument.symbol, frame.position.record,
                   frame.exchange_time_ns, frame.quality.bits(), frame.mid_price_nanos_x2,
                   instrument.price_tick_nanos);
    for (std::size_t i = 0; i < frame.feature_count; ++i)
      fmt::format_to(out, ",{:.9g}", frame.values[i]);
    return put_line();
  }

  Status finish() override {
    return std::fflush(file_.get()) == 0 ? Status() : file_error(path_, "be written", errno);
  }

 private:
  Status put_line() {
    line_ += '\n';
    const bool written = std::fwrite(line_.data(), 1, line_.size(), file_.get()) == line_.size();
    return written ? Status() : file_error(path_, "be written", errno);
  }

  std::string path_;
  std::unique_ptr<std::FILE, FileCloser> file_;
  std::string line_;
};

}  // namespace

std::string_view frame_file_format_name(FrameFileFormat format) noexcept {
  return kFormatNames[static_cast<std::size_t>(format)];
}

FrameFileFormat frame_file_format_of(std::string_view path) noexcept {
  for (std::size_t i = 0; i < kFormatNames.size(); ++i) {
    const std::string_view name = kFormatNames[i];
    if (path.size() > name.size() && path.ends_with(name) &&
        path[path.size() - name.size() - 1] == '.')
      return static_cast<FrameFileFormat>(i);
  }
  return FrameFileFormat::kCsv;
}

Result<std::unique_ptr<FrameWriter>> open_csv_writer(const std::string& path,
                                                     const FeatureSchema& schema) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return file_error(path, "be written", errno);
  auto writer = std::make_unique<CsvFrameWriter>(path, file);
  TOCSIN_RETURN_IF_ERROR(writer->write_heading(schema));
  return std::unique_ptr<FrameWriter>(std::move(writer));
}

Result<std::unique_ptr<FrameWriter>> open_frame_writer(const FrameFile& file,
                                                       const FeatureSchema& schema) {
  if (file.format == FrameFileFormat::kNpz) return open_npz_writer(file.path, schema);
  if (file.format == FrameFileFormat::kParquet) return open_parquet_writer(file.path, schema);
  return open_csv_writer(file.path, schema);
}

}  // namespace tocsin
