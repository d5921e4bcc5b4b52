// A failed inference as it is kept: the input, the model and the error, so that it can be tried
// again. Nothing here is on the hot path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "events/feature_frame.h"

namespace tocsin {

struct FailureCapsule {
  std::string model_name;
  std::string model_version;
  Digest package_seal{};  // identifies the package: model file, normalisation and all
  Digest schema_hash{};
  std::string engine;
  std::string engine_version;
  InstrumentId instrument = 0;
  InputPosition first_position;  // of the window's oldest frame
  InputPosition last_position;   // of its newest
  std::size_t steps = 0;
  std::size_t feature_count = 0;
  std::vector<float> raw_window;  // [steps, feature_count], oldest frame first, not normalised
  std::string error;
};

// A capsule as JSON text: readable, and exact, since values are written as the hexadecimal digits
// of their bits, one string a frame. `window_hash` covers the values.
std::string format_failure_capsule(const FailureCapsule& capsule);
// The inverse; kDataLoss says what is wrong with the text.
Result<FailureCapsule> parse_failure_capsule(std::string_view text);
Result<FailureCapsule> read_failure_capsule(const std::string& path);

// <run folder>/failures/NNNN.capsule, numbered from 0001 on; a run that is taken up again goes on
// after the last. The folder is made at the first capsule.
class FailureCapsuleFolder {
 public:
  struct Options {
    std::size_t capsule_count_max = 100;  // files kept; further failures are only counted
  };

  explicit FailureCapsuleFolder(const std::string& run_folder)
      : FailureCapsuleFolder(run_folder, {}) {}
  FailureCapsuleFolder(const std::string& run_folder, const Options& options);

  // True: written, whole (a temporary file is renamed). False: the limit is reached. An error: the
  // folder or the file could not be written; the next capsule is tried again.
  Result<bool> write(const FailureCapsule& capsule);

  const std::string& path() const noexcept { return path_; }
  std::uint64_t written_count() const noexcept { return written_count_; }
  std::uint64_t passed_over_count() const noexcept { return passed_over_count_; }

 private:
  Status prepare();

  std::string path_;
  Options options_;
  bool prepared_ = false;
  std::size_t last_number_ = 0;
  std::size_t file_count_ = 0;
  std::uint64_t written_count_ = 0;
  std::uint64_t passed_over_count_ = 0;
};

}  // namespace tocsin
