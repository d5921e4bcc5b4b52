// Each section of package.yaml has one function. Variables start with a value that passes the rule,
// so that a key that is absent or of a wrong type is reported once, by the reader.
#include "models/package_yaml.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "config/yaml_reader.h"
#include "events/feature_frame.h"

namespace tocsin {
namespace {

using IntegerRange = YamlRange<std::int64_t>;
using NumberRange = YamlRange<double>;

constexpr std::string_view kSealStart = "seal: \"";
constexpr std::string_view kSealEnd = "\"\n";
constexpr std::size_t kHexDigits = 2 * sizeof(Digest);
constexpr std::size_t kNameLengthMax = 64;
constexpr std::int64_t kColumnsMax = 64;
constexpr std::int64_t kStepsMax = 4096;
constexpr std::size_t kLengthCountMax = 16;
constexpr double kToleranceMax = 0.1;
constexpr std::size_t kScaleCountMax = 4096;
constexpr std::int64_t kFreeDimension = -1;
constexpr auto kIntegerMax = std::numeric_limits<std::int64_t>::max();

bool is_lower_hex(std::string_view text) {
  return text.size() == kHexDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_package_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= kNameLengthMax && name.front() != '.' &&
         std::ranges::all_of(name, allowed);
}

class PackageYaml {
 public:
  explicit PackageYaml(YamlReader root) : root_(std::move(root)) {}

  Result<ModelPackage> read() {
    read_identity();
    read_features();
    read_window();
    read_tensors();
    read_normalisation();
    read_decision();
    read_history();
    if (root_.has("precision")) read_precision(root_.child("precision"));
    TOCSIN_RETURN_IF_ERROR(root_.finish());
    return std::move(package_);
  }

 private:
  static void check(YamlReader& reader, std::string_view key, bool holds,
                    const std::string& expected) {
    if (!holds) reader.fail(key, expected);
  }

  static Digest read_digest(YamlReader& reader, std::string_view key) {
    std::string text(kHexDigits, '0');
    reader.require(key, text);
    check(reader, key, is_lower_hex(text), "64 lower-case hexadecimal digits");
    const Result<Digest> digest = digest_from_hex(text);
    return digest.ok() ? *digest : Digest{};
  }

  static std::string read_text(YamlReader& reader, std::string_view key) {
    std::string text = "?";
    reader.require(key, text);
    check(reader, key, !text.empty(), "a text that is not empty");
    return text;
  }

  void read_identity() {
    std::int64_t format = 1;
    root_.require("format", format);
    check(root_, "format", format == 1, "1, the only format that this program knows");
    std::string name = "x";
    root_.require("name", name);
    check(root_, "name", is_package_name(name),
          "1 to 64 letters, digits, '_', '-' and '.', not beginning with '.'");
    package_.name = name;
    std::int64_t version = 1;
    root_.require("version", version, IntegerRange{1, kIntegerMax});
    package_.version = std::to_string(version);
    package_.description = read_text(root_, "description");
    package_.licence = read_text(root_, "licence");
    YamlReader checksums = root_.child("checksums");
    package_.model_sha256 = read_digest(checksums, "model");
    package_.samples_sha256 = read_digest(checksums, "samples");
    read_digest(root_, "seal");
  }

  void read_features() {
    YamlReader features = root_.child("features");
    package_.schema_hash = read_digest(features, "schema_hash");
    for (YamlReader& item : features.children("list")) {
      std::string name = "?" + std::to_string(package_.features.size());
      item.require("name", name);
      check(item, "name", std::ranges::find(package_.features, name) == package_.features.end(),
            "a feature that is not listed before");
      std::int64_t version = 1;
      item.require("version", version, IntegerRange{1, kIntegerMax});
      package_.features.push_back(std::move(name));
      package_.feature_versions.push_back(version);
    }
    const std::size_t count = package_.features.size();
    check(features, "list", count >= 1 && count <= kMaxFrameFeatures,
          "1 to " + std::to_string(kMaxFrameFeatures) + " features {name, version}");
  }

  void read_window() {
    YamlReader window = root_.child("window");
    std::vector<std::int64_t> allowed = {1};
    window.require("steps_allowed", allowed, IntegerRange{1, kStepsMax});
    const bool rises = std::ranges::adjacent_find(allowed, std::greater_equal<>()) == allowed.end();
    check(window, "steps_allowed", rises && !allowed.empty() && allowed.size() <= kLengthCountMax,
          "1 to " + std::to_string(kLengthCountMax) + " rising window lengths");
    std::int64_t steps = allowed.empty() ? 1 : allowed.front();
    window.require("steps", steps, IntegerRange{1, kStepsMax});
    check(window, "steps", allowed.empty() || std::ranges::find(allowed, steps) != allowed.end(),
          "one of steps_allowed");
    window.read("carried", package_.carried);
    package_.steps = steps;
    package_.steps_allowed = std::move(allowed);
  }

  PackageTensor read_tensor(std::string_view key, const std::vector<std::int64_t>& valid_shape) {
    PackageTensor tensor{"?", "float32", valid_shape};
    std::vector<YamlReader> items = root_.children(key);
    check(root_, key, items.size() == 1, "a list of exactly one {name, type, shape}");
    if (items.size() != 1) return tensor;
    YamlReader& item = items.front();
    tensor.name = read_text(item, "name");
    item.require("type", tensor.type);
    check(item, "type", tensor.type == "float32", "float32");
    item.require("shape", tensor.shape, IntegerRange{kFreeDimension, kIntegerMax});
    const bool rank_fits = tensor.shape.size() == valid_shape.size();
    check(item, "shape", rank_fits, std::to_string(valid_shape.size()) + " dimensions");
    if (!rank_fits) tensor.shape = valid_shape;
    check(item, "shape", tensor.shape[0] == kFreeDimension || tensor.shape[0] == 1,
          "-1 or 1 as its first dimension, the batch");
    return tensor;
  }

  void read_tensors() {
    const auto feature_count = static_cast<std::int64_t>(package_.features.size());
    PackageTensor input = read_tensor("inputs", {kFreeDimension, kFreeDimension, feature_count});
    check(root_, "inputs", input.shape[2] == feature_count,
          "a last dimension of " + std::to_string(feature_count) + ", the number of features");
    check(root_, "inputs",
          input.shape[1] == kFreeDimension || package_.steps_allowed == std::vector{input.shape[1]},
          "a second dimension of -1, or the only length of window.steps_allowed");
    PackageTensor output = read_tensor("outputs", {input.shape[0], 1});
    check(root_, "outputs", output.shape[0] == input.shape[0], "the input's first dimension");
    const std::int64_t columns = output.shape[1];
    check(root_, "outputs", columns >= 1 && columns <= kColumnsMax,
          "a last dimension from 1 to " + std::to_string(kColumnsMax));
    std::int64_t index = 0;
    root_.require("output_index", index, IntegerRange{0, std::max(columns, std::int64_t{1}) - 1});
    package_.output_index = static_cast<std::size_t>(index);
    package_.inputs = {std::move(input)};
    package_.outputs = {std::move(output)};
  }

  // One number a feature. What is not a finite float is refused, `min` excluded.
  std::vector<float> read_feature_numbers(YamlReader& reader, std::string_view key, float min) {
    std::vector<double> numbers(package_.features.size(), 1.0);
    reader.require(key, numbers);
    check(reader, key, numbers.size() == package_.features.size(),
          std::to_string(package_.features.size()) + " numbers, one a feature");
    std::vector<float> floats;
    floats.reserve(numbers.size());
    for (const double number : numbers) floats.push_back(static_cast<float>(number));
    const bool fit = std::ranges::all_of(
        floats, [min](float value) { return std::isfinite(value) && value > min; });
    check(reader, key, fit,
          min < 0 ? "numbers that fit 32-bit floats" : "numbers above 0 that fit 32-bit floats");
    return floats;
  }

  void read_normalisation() {
    YamlReader normalisation = root_.child("normalisation");
    package_.normalisation_mean =
        read_feature_numbers(normalisation, "mean", std::numeric_limits<float>::lowest());
    package_.normalisation_scale = read_feature_numbers(normalisation, "scale", 0.0F);
    double clip = 0;
    normalisation.require("clip", clip, NumberRange{0, std::numeric_limits<float>::max()});
    package_.normalisation_clip = static_cast<float>(clip);
  }

  void read_decision() {
    YamlReader target = root_.child("target");
    target.require("move_ticks", package_.target.move_ticks, IntegerRange{1, kIntegerMax});
    target.require("horizon_frames", package_.target.horizon_frames, IntegerRange{1, kIntegerMax});

    YamlReader decision = root_.child("decision");
    package_.threshold = read_threshold(decision, "threshold");
    package_.release_threshold = read_threshold(decision, "release_threshold");
    check(decision, "release_threshold",
          package_.release_threshold <= package_.threshold || !decision.has("threshold"),
          "a number that is not above threshold");
    decision.require("alert_rate", package_.alert_rate, NumberRange{0, 1});

    YamlReader samples = root_.child("samples");
    double tolerance = kToleranceMax;
    samples.require("tolerance", tolerance, NumberRange{0, kToleranceMax});
    package_.samples_tolerance = static_cast<float>(tolerance);
    check(samples, "tolerance", package_.samples_tolerance > 0, "a number above 0");
  }

  static float read_threshold(YamlReader& reader, std::string_view key) {
    double number = 0.5;
    reader.require(key, number);
    const auto threshold = static_cast<float>(number);
    check(reader, key, threshold > 0 && threshold < 1, "a number above 0 and below 1");
    return threshold;
  }

  void read_history() {
    for (YamlReader& item : root_.children("seen")) {
      SeenStretch stretch;
      stretch.source = read_text(item, "source");
      check(item, "source", stretch.source.find('/') == std::string::npos,
            "the base name of a file, without folders");
      stretch.part = "training";
      item.require("part", stretch.part);
      check(item, "part", stretch.part == "training" || stretch.part == "validation",
            "training or validation");
      std::int64_t first = 1;
      std::int64_t last = kIntegerMax;
      item.require("first_record", first, IntegerRange{1, kIntegerMax});
      item.require("last_record", last, IntegerRange{1, kIntegerMax});
      check(item, "last_record", last >= first, "a record at or after first_record");
      stretch.first_record = static_cast<std::uint64_t>(first);
      stretch.last_record = static_cast<std::uint64_t>(last);
      package_.seen.push_back(std::move(stretch));
    }
    for (YamlReader& item : root_.children("evaluation")) {
      EvaluationFigure figure;
      figure.name = read_text(item, "name");
      figure.data = read_text(item, "data");
      item.require("value", figure.value);
      package_.evaluation.push_back(std::move(figure));
    }
  }

  static float read_positive(YamlReader& reader, std::string_view key, double max) {
    double number = max;
    reader.require(key, number);
    const auto value = static_cast<float>(number);
    check(reader, key, value > 0 && number <= max, "a number above 0 that fits");
    return value;
  }

  static std::string read_name(YamlReader& reader, std::string_view key,
                               std::span<const std::string_view> names) {
    std::string given(names.front());
    reader.require(key, given);
    const auto found = std::ranges::find(names, given);
    std::string expected;
    for (const std::string_view name : names)
      expected += (expected.empty() ? "" : ", ") + std::string(name);
    check(reader, key, found != names.end(), "one of " + expected);
    return found == names.end() ? std::string(names.front()) : given;
  }

  void read_precision(YamlReader reader) {
    static constexpr std::array<std::string_view, 3> kPrecisions = {"int8", "bfloat16", "float16"};
    static constexpr std::array<std::string_view, 4> kMethods = {"entropy", "max", "percentile",
                                                                 "none"};
    static constexpr std::array<std::string_view, 2> kWeights = {"per-channel", "per-tensor"};
    PackagePrecision precision;
    precision.name = read_name(reader, "name", kPrecisions);
    precision.method = read_name(reader, "method", kMethods);
    precision.weight_scale_per_output = read_name(reader, "weights", kWeights) == kWeights[0];
    reader.require("calibration_samples", precision.calibration_samples,
                   IntegerRange{0, kIntegerMax});
    for (YamlReader& item : reader.children("activation_scales")) {
      const std::string value = read_text(item, "value");
      const float scale = read_positive(item, "scale", std::numeric_limits<float>::max());
      check(item, "value", precision.activation_scales.emplace(value, scale).second,
            "a value that is not listed before");
    }
    check(root_, "precision", !package_.carried,
          "none with window.carried: no guard band is known for states that are carried");
    const bool is_int8 = precision.name == kPrecisions[0];
    check(reader, "method", (precision.method != "none") == is_int8,
          is_int8 ? "entropy, max or percentile" : "none, for a precision without scales");
    const std::size_t count = precision.activation_scales.size();
    check(reader, "activation_scales", is_int8 ? count >= 1 && count <= kScaleCountMax : count == 0,
          is_int8 ? "1 to " + std::to_string(kScaleCountMax) + " of {value, scale}" : "none");
    precision.band = read_band(reader.child("band"));
    package_.precision = std::move(precision);
  }

  static GuardBand read_band(YamlReader reader) {
    static constexpr std::array<std::string_view, 1> kKinds = {"quantile"};
    GuardBand band;
    band.kind = read_name(reader, "kind", kKinds);
    band.width = read_positive(reader, "width", 1.0);
    reader.require("quantile", band.quantile, NumberRange{0, 1});
    reader.require("confidence", band.confidence, NumberRange{0, 1});
    reader.require("samples", band.sample_count, IntegerRange{1, kIntegerMax});
    double worst = 0;
    reader.require("worst_error", worst, NumberRange{0, 1});
    band.worst_error = static_cast<float>(worst);
    check(reader, "worst_error", band.worst_error <= band.width, "a number not above width");
    return band;
  }

  YamlReader root_;
  ModelPackage package_;
};

}  // namespace

Result<Digest> check_seal(std::string_view text) {
  const Error unsealed(ErrorCode::kFailedPrecondition,
                       "expected a last line 'seal: \"<64 lower-case hexadecimal digits>\"'");
  constexpr std::size_t kLineBytes = kSealStart.size() + kHexDigits + kSealEnd.size();
  if (text.size() < kLineBytes) return unsealed;
  const std::string_view sealed = text.substr(0, text.size() - kLineBytes);
  const std::string_view line = text.substr(sealed.size());
  const std::string_view digits = line.substr(kSealStart.size(), kHexDigits);
  const bool starts_line = sealed.empty() || sealed.back() == '\n';
  if (!starts_line || !line.starts_with(kSealStart) || !line.ends_with(kSealEnd) ||
      !is_lower_hex(digits))
    return unsealed;
  const Digest digest = digest_of(DigestKind::kSha256, sealed);
  if (to_hex(digest) != digits) {
    return Error(ErrorCode::kFailedPrecondition,
                 "the seal does not fit: the file was changed after it was sealed (seal " +
                     std::string(digits) + ", content " + to_hex(digest) + ")");
  }
  return digest;
}

Result<ModelPackage> parse_package_yaml(std::string_view text, const std::string& name) {
  TOCSIN_ASSIGN_OR_RETURN(YamlReader root, YamlReader::from_text(text, name));
  return PackageYaml(std::move(root)).read();
}

}  // namespace tocsin
