// A model package on disk: the layout of Triton's model repository with package.yaml beside the
// model.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"

namespace tocsin {

// One float tensor of samples.npz: row-major.
struct SampleTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

// Validation inputs of one window length with FP32 outputs of the training framework.
struct ModelSamples {
  std::int64_t steps = 0;
  SampleTensor inputs;   // [n, steps, features], normalised as the model sees them
  SampleTensor outputs;  // [n, columns of the output]
};

// What the model predicts: the mid moves by more than `move_ticks` within the next
// `horizon_frames`.
struct BurstTarget {
  std::int64_t move_ticks = 0;
  std::int64_t horizon_frames = 0;
};

// A stretch of a named input that the model has seen in training or validation (by record number).
struct SeenStretch {
  std::string source;  // base name of the input file
  std::string part;    // "training", "validation"
  std::uint64_t first_record = 0;
  std::uint64_t last_record = 0;
};

struct EvaluationFigure {
  std::string name;  // "roc_auc", "pr_auc", "baseline_roc_auc", ...
  std::string data;  // what it was measured on
  double value = 0;
};

struct PackageTensor {
  std::string name;
  std::string type;                 // "float32"
  std::vector<std::int64_t> shape;  // -1: free
};

// How far a low-precision score may lie from the one in FP32, and how sure that is. Scores within
// `width` of a threshold are scored again in FP32 before the decision.
struct GuardBand {
  std::string kind = "quantile";
  float width = 0;
  // Of all inputs like the samples, at least the share `quantile` differs by no more than
  // worst_error, with this confidence; the width is worst_error with a margin.
  double quantile = 0;
  double confidence = 0;
  std::int64_t sample_count = 0;
  float worst_error = 0;  // largest difference among the samples
};

// The low precision that a package asks for, as `tocsin quantize` measured it.
struct PackagePrecision {
  std::string name;    // "int8", "bfloat16", "float16"
  std::string method;  // of the activation scales: "entropy", "max", "percentile"; "none" if unused
  bool weight_scale_per_output = true;
  std::int64_t calibration_samples = 0;
  // By the ONNX name of the value; see engines/engine.h, ActivationScales.
  std::map<std::string, float, std::less<>> activation_scales;
  GuardBand band;
};

struct ModelPackage {
  std::string name;
  std::string version;  // the numeric folder's name
  std::string folder;   // <repository>/<name>/<version>
  std::string onnx_path;
  std::string description;
  Digest model_sha256{};    // of model.onnx, checked
  Digest samples_sha256{};  // of samples.npz, checked
  Digest seal{};            // of package.yaml, and by its checksums of the whole package, checked
  std::vector<PackageTensor> inputs;
  std::vector<PackageTensor> outputs;
  std::size_t output_index = 0;  // column of the output that is P(event)
  std::vector<std::string> features;
  std::vector<std::int64_t> feature_versions;  // of the formulas, one a feature
  Digest schema_hash{};
  std::vector<float> normalisation_mean;    // one a feature
  std::vector<float> normalisation_scale;   // (value - mean) * scale
  float normalisation_clip = 0;             // result clamped to [-clip, clip]; 0: not
  std::int64_t steps = 0;                   // window length by default
  std::vector<std::int64_t> steps_allowed;  // all lengths it was checked for, rising
  bool carried = false;  // states go on from frame to frame; scores begin after `steps` frames
  BurstTarget target;
  float threshold = 0;
  float release_threshold = 0;
  double alert_rate = 0;        // alerts a frame at the threshold, on validation data
  float samples_tolerance = 0;  // largest absolute difference that an engine's outputs may show
  std::vector<SeenStretch> seen;
  std::vector<EvaluationFigure> evaluation;
  std::optional<PackagePrecision> precision;  // none: full precision
  std::string licence;
  std::vector<ModelSamples> samples;  // one a length of steps_allowed, in that order
};

// Reads and checks a package as docs/model-packages.md defines it: the folder, the seal and the
// checksums, every rule of package.yaml, the samples. The error (kNotFound, kFailedPrecondition,
// ...) says which check failed. `folder` is <repository>/<name>/<version>, or <repository>/<name>:
// then the highest numeric version (Triton: version_policy latest 1). What the graph computes is
// checked where an engine loads it.
Result<ModelPackage> load_model_package(const std::string& folder);

// All package folders <repository>/<name>/<version>, sorted; folders not numeric or starting with 0
// are passed over, as Triton does.
Result<std::vector<std::string>> find_model_packages(const std::string& repository);

}  // namespace tocsin
