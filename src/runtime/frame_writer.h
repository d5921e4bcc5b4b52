// Where exported frames go: a file in one of several formats, written as the frames come.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "events/feature_frame.h"
#include "events/instrument.h"
#include "features/feature_engine.h"

namespace tocsin {

enum class FrameFileFormat : std::uint8_t { kCsv, kNpz, kParquet };
std::string_view frame_file_format_name(FrameFileFormat format) noexcept;
// The format that a file's name ends in; CSV if that is none of them.
FrameFileFormat frame_file_format_of(std::string_view path) noexcept;

class FrameWriter {
 public:
  virtual ~FrameWriter() = default;
  virtual Status write(const FeatureFrame& frame, const Instrument& instrument) = 0;
  // To be called once, after the last frame; without it the file is not complete.
  virtual Status finish() = 0;
};

struct FrameFile {
  std::string path;
  FrameFileFormat format = FrameFileFormat::kCsv;
};
Result<std::unique_ptr<FrameWriter>> open_frame_writer(const FrameFile& file,
                                                       const FeatureSchema& schema);

// A comma-separated line a frame under a heading: symbol, record, exchange_time_ns, quality (bits),
// mid_price_nanos_x2, price_tick_nanos and the features. Nine significant digits give a float's
// bits back.
Result<std::unique_ptr<FrameWriter>> open_csv_writer(const std::string& path,
                                                     const FeatureSchema& schema);

// NumPy's archive of arrays, n frames of F features: `values` float32 [n, F]; `feature_names`,
// `symbols` (text); `instrument` uint32 (into symbols), `record` uint64, `exchange_time_ns`,
// `receive_time_ns`, `mid_price_nanos_x2`, `price_tick_nanos` int64, `quality` uint16 (bits), each
// [n]. Columns wait in unnamed files beside it, so that memory does not grow with n.
Result<std::unique_ptr<FrameWriter>> open_npz_writer(const std::string& path,
                                                     const FeatureSchema& schema);

// A row a frame under the names that the archive of arrays has, the types the same: `symbol`
// (text, a dictionary), `record`, times, prices, `quality`, then a float32 column a feature. zstd;
// row groups of bounded size, written as they fill. kUnavailable: there is no Arrow plug-in.
Result<std::unique_ptr<FrameWriter>> open_parquet_writer(const std::string& path,
                                                         const FeatureSchema& schema);

}  // namespace tocsin
