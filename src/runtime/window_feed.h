// The windows of a feed or a file as a model sees them, for calibration and audits.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "events/feature_frame.h"
#include "events/instrument.h"
#include "models/model_package.h"
#include "runtime/run_config.h"
#include "telemetry/progress_bar.h"

namespace tocsin {

// Called for each frame; `window` is [steps, features], normalised, or empty while it is not full.
using OnFeedFrame = std::function<void(const FeatureFrame& frame, const Instrument& instrument,
                                       std::span<const float> window)>;
using OnProgress = std::function<void(const Progress& progress)>;

// Runs a source from its beginning to its end through book, features and normaliser; windows have
// the package's default length. An error of the source, or that its features are not this
// program's.
Status visit_windows(const SourceConfig& source, const ModelPackage& package, Clock& clock,
                     const OnFeedFrame& on_frame, const OnProgress& on_progress);

struct SampleWindows {
  std::vector<float> values;  // [count, steps, features]
  std::size_t count = 0;
  std::string origin;  // the file's name
};

// Evenly spaced windows of a source; all there are, if there are fewer. Reads the source twice.
Result<SampleWindows> sample_windows(const SourceConfig& source, const ModelPackage& package,
                                     std::size_t count, Clock& clock,
                                     const OnProgress& on_progress);

// The first `count` windows of "inputs_<steps>" in an .npz file, normalised as in a package's
// samples.npz; `steps` is the package's default. kDataLoss: no such array, or of another shape.
Result<SampleWindows> read_sample_windows(const std::string& path, const ModelPackage& package,
                                          std::size_t count);

}  // namespace tocsin
