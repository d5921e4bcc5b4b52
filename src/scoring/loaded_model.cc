// The checks between a package on disk and a model that scores.
#include "scoring/loaded_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "scoring/window_batch.h"

namespace tocsin {
namespace {

Error refused(const std::string& reason) { return Error(ErrorCode::kFailedPrecondition, reason); }

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t dimension : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  return text + "]";
}

Status check_options(const ModelPackage& package, LoadOptions& options) {
  if (options.steps == 0) options.steps = package.steps;
  const std::vector<std::int64_t>& allowed = package.steps_allowed;
  if (std::ranges::find(allowed, options.steps) == allowed.end()) {
    return Error(ErrorCode::kInvalidArgument, "windows of " + std::to_string(options.steps) +
                                                  " steps: the package was checked for " +
                                                  shape_text(allowed));
  }
  if (options.batch_max < 1 || options.thread_count < 1) {
    return Error(ErrorCode::kInvalidArgument,
                 "expected batch_max and thread_count of 1 or more, found " +
                     std::to_string(options.batch_max) + " and " +
                     std::to_string(options.thread_count));
  }
  if (package.inputs.front().shape.front() == 1 && options.batch_max > 1) {
    return Error(ErrorCode::kInvalidArgument, "batches of " + std::to_string(options.batch_max) +
                                                  ": the graph takes one window at a time");
  }
  return {};
}

// The package may fix a dimension that the graph leaves open, never the other way round.
bool fits(std::span<const std::int64_t> declared, std::span<const std::int64_t> found) {
  return std::ranges::equal(declared, found, [](std::int64_t wanted, std::int64_t dimension) {
    return dimension == wanted || (dimension == kFreeDimension && wanted > 0);
  });
}

Status check_tensors(std::span<const PackageTensor> declared, std::span<const TensorSpec> found,
                     const std::string& what) {
  if (declared.size() != found.size()) {
    return refused("the package declares " + std::to_string(declared.size()) + " " + what +
                   "s, the graph has " + std::to_string(found.size()));
  }
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const PackageTensor& wanted = declared[i];
    const TensorSpec& tensor = found[i];
    if (wanted.name == tensor.name && wanted.type == data_type_name(tensor.type) &&
        fits(wanted.shape, tensor.shape))
      continue;
    return refused("the package declares " + what + " '" + wanted.name + "' " + wanted.type + " " +
                   shape_text(wanted.shape) + ", the graph has '" + tensor.name + "' " +
                   std::string(data_type_name(tensor.type)) + " " + shape_text(tensor.shape));
  }
  return {};
}

std::string first_difference(const ModelPackage& package, const FeatureSchema& schema) {
  for (std::size_t i = 0; i < package.features.size(); ++i) {
    const FeatureDescription& here = feature_catalogue()[schema.indices()[i]];
    if (here.version == package.feature_versions[i]) continue;
    return "the first that differs is feature " + std::to_string(i) + ", '" + package.features[i] +
           "': version " + std::to_string(package.feature_versions[i]) + " in the package, " +
           std::to_string(here.version) + " here";
  }
  return "names and versions agree: the package's hash was made from another list";
}

// Runs the samples through a session and keeps the worst error.
class SampleCheck {
 public:
  SampleCheck(const LoadedModel& model, Session& session, const ModelSamples& samples)
      : model_(model),
        session_(session),
        samples_(samples),
        tolerance_(model.package.samples_tolerance),
        columns_(model.output_columns()),
        outputs_(static_cast<std::size_t>(model.options.batch_max) * columns_) {}

  // The guard band is of P(event) alone: other columns decide nothing.
  void allow(const GuardBand& band) noexcept {
    tolerance_ += band.width;
    only_column_ = model_.package.output_index;
  }

  Status run() {
    const auto count = static_cast<std::size_t>(samples_.inputs.shape.front());
    const auto batch_max = static_cast<std::size_t>(model_.options.batch_max);
    for (std::size_t first = 0; first < count; first += batch_max)
      TOCSIN_RETURN_IF_ERROR(run_batch(first, std::min(batch_max, count - first)));
    return {};
  }
  float worst_error() const { return worst_error_; }

 private:
  Status run_batch(std::size_t first, std::size_t count) {
    const std::size_t window_floats = model_.steps() * model_.feature_count();
    // A private copy: TensorView is for inputs and outputs alike and not const.
    const auto begin =
        samples_.inputs.values.begin() + static_cast<std::ptrdiff_t>(first * window_floats);
    std::vector<float> inputs(begin, begin + static_cast<std::ptrdiff_t>(count * window_floats));
    const auto batch = static_cast<std::int64_t>(count);
    const std::array input_shape = {batch, model_.options.steps,
                                    static_cast<std::int64_t>(model_.feature_count())};
    const std::array output_shape = {batch, static_cast<std::int64_t>(columns_)};
    const TensorView input{DataType::kFloat32, input_shape, inputs.data(),
                           inputs.size() * sizeof(float)};
    const TensorView output{DataType::kFloat32, output_shape, outputs_.data(),
                            count * columns_ * sizeof(float)};
    if (!session_.run(std::span(&input, 1), std::span(&output, 1)))
      return session_.error().within("sample " + std::to_string(first));
    for (std::size_t i = 0; i < count * columns_; ++i)
      if (!only_column_ || *only_column_ == i % columns_)
        TOCSIN_RETURN_IF_ERROR(compare(first + i / columns_, i % columns_, outputs_[i]));
    return {};
  }

  Status compare(std::size_t sample, std::size_t column, float found) {
    const std::string place = "sample " + std::to_string(sample);
    if (std::isnan(found)) return refused(place + ": output is NaN");
    const float expected = samples_.outputs.values[sample * columns_ + column];
    const float error = std::abs(found - expected);
    // Written so that an infinite output is refused too.
    if (!(error <= tolerance_)) {
      return refused(fmt::format("{}: output {} is {}, expected {}: off by {}, the tolerance is {}",
                                 place, column, found, expected, error, tolerance_));
    }
    worst_error_ = std::max(worst_error_, error);
    return {};
  }

  const LoadedModel& model_;
  Session& session_;
  const ModelSamples& samples_;
  float tolerance_;
  std::optional<std::size_t> only_column_;
  std::size_t columns_;
  std::vector<float> outputs_;
  float worst_error_ = 0;
};

// A stream gives the bits of its engine's session: here on the first sample, frame by frame.
Status check_stream(const LoadedModel& model, Session& session, WindowStream& stream,
                    const ModelSamples& samples) {
  const std::size_t width = model.feature_count();
  const std::size_t window_floats = model.steps() * width;
  std::vector<float> window(
      samples.inputs.values.begin(),
      samples.inputs.values.begin() + static_cast<std::ptrdiff_t>(window_floats));
  std::vector<float> whole(model.output_columns());
  std::vector<float> ahead(model.output_columns());
  const std::array input_shape = {std::int64_t{1}, model.options.steps,
                                  static_cast<std::int64_t>(width)};
  const std::array output_shape = {std::int64_t{1}, static_cast<std::int64_t>(whole.size())};
  const TensorView input{DataType::kFloat32, input_shape, window.data(),
                         window.size() * sizeof(float)};
  const TensorView output{DataType::kFloat32, output_shape, whole.data(),
                          whole.size() * sizeof(float)};
  if (!session.run(std::span(&input, 1), std::span(&output, 1)))
    return session.error().within("sample 0");
  constexpr std::uint32_t kKey = 0;
  TOCSIN_RETURN_IF_ERROR(stream.add_key(kKey));
  bool scored = false;
  for (std::size_t first = 0; first < window_floats; first += width) {
    stream.push(kKey, std::span(window).subspan(first, width));
    scored = stream.score(kKey, ahead);
    while (stream.work_ahead()) {
    }
  }
  stream.reset(kKey);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (scored && std::bit_cast<std::uint32_t>(whole[i]) == std::bit_cast<std::uint32_t>(ahead[i]))
      continue;
    return refused(fmt::format("sample 0: output {} is {} when worked ahead, {} as a whole window",
                               i, ahead[i], whole[i]));
  }
  return {};
}

// How the package wants its products computed, or in FP32.
Result<SessionOptions> session_options(const LoadedModel& model) {
  const std::optional<PackagePrecision>& wanted = model.package.precision;
  const bool is_low = wanted.has_value() && !model.options.full_precision;
  TOCSIN_ASSIGN_OR_RETURN(SessionOptions options, session_options_of(is_low ? &*wanted : nullptr));
  options.thread_count = model.options.thread_count;
  options.batch_max = model.options.batch_max;
  options.steps = model.options.steps;
  return options;
}

// The engine's sessions: in the package's precision, and in FP32 beside a lower one.
Status open_sessions(LoadedModel& model, Engine& engine, const SessionOptions& options,
                     const ModelSamples& samples) {
  TOCSIN_ASSIGN_OR_RETURN(model.session, engine.load(model.package.onnx_path, options));
  const ModelSignature& signature = model.session->signature();
  TOCSIN_RETURN_IF_ERROR(check_tensors(model.package.inputs, signature.inputs, "input"));
  TOCSIN_RETURN_IF_ERROR(check_tensors(model.package.outputs, signature.outputs, "output"));
  SampleCheck check(model, *model.session, samples);
  model.precision = options.precision;
  if (options.precision != Precision::kFloat32) check.allow(model.package.precision->band);
  if (const Status status = check.run(); !status.ok())
    return options.precision == Precision::kFloat32
               ? status
               : status.error().within(precision_name(options.precision));
  model.sample_count = static_cast<std::size_t>(samples.inputs.shape.front());
  model.worst_sample_error = check.worst_error();
  if (options.precision == Precision::kFloat32) return {};
  SessionOptions full = options;
  full.precision = Precision::kFloat32;
  full.activation_scales = nullptr;
  TOCSIN_ASSIGN_OR_RETURN(model.full_session, engine.load(model.package.onnx_path, full));
  TOCSIN_RETURN_IF_ERROR(SampleCheck(model, *model.full_session, samples).run());
  if (!model.options.full_ahead) return {};
  Result<std::unique_ptr<WindowStream>> stream = engine.load_stream(model.package.onnx_path, full);
  if (!stream.ok()) return stream.error().within("float32 windows cannot be worked ahead");
  model.full_stream = std::move(*stream);
  return check_stream(model, *model.full_session, *model.full_stream, samples);
}

Status open_and_check(LoadedModel& model, Engine& engine) {
  TOCSIN_ASSIGN_OR_RETURN(const SessionOptions options, session_options(model));
  const auto samples =
      std::ranges::find(model.package.samples, model.options.steps, &ModelSamples::steps);
  if (samples == model.package.samples.end())
    return refused("no samples of " + std::to_string(model.options.steps) + " steps");
  TOCSIN_RETURN_IF_ERROR(open_sessions(model, engine, options, *samples));
  if (!model.options.ahead && !model.package.carried) return {};
  SessionOptions stream_options = options;
  stream_options.carried = model.package.carried;
  Result<std::unique_ptr<WindowStream>> stream =
      engine.load_stream(model.package.onnx_path, stream_options);
  if (stream.ok()) {
    model.stream = std::move(*stream);
    return check_stream(model, *model.session, *model.stream, *samples);
  }
  if (stream.error().code() != ErrorCode::kUnimplemented) return stream.error();
  if (model.package.carried)
    return refused("window.carried: states cannot be carried: " + stream.error().message());
  model.whole_reason = stream.error().message();
  return {};
}

}  // namespace

Result<FeatureSchema> check_feature_schema(const ModelPackage& package) {
  Result<FeatureSchema> schema = FeatureSchema::from_names(package.features);
  if (!schema.ok()) {
    return refused("feature schema " + to_hex(package.schema_hash) +
                   " is not this program's: " + schema.error().message());
  }
  if (schema->hash() != package.schema_hash) {
    return refused("the package wants feature schema " + to_hex(package.schema_hash) +
                   ", this program's is " + to_hex(schema->hash()) + "; " +
                   first_difference(package, *schema));
  }
  return schema;
}

Result<LoadedModel> load_model(ModelPackage package, Engine& engine, const LoadOptions& options) {
  EngineInfo info = engine.info();
  const std::string context =
      "model " + package.name + "/" + package.version + " on engine '" + info.name + "'";
  LoadOptions in_effect = options;
  if (const Status status = check_options(package, in_effect); !status.ok())
    return status.error().within(context);
  Result<FeatureSchema> schema = check_feature_schema(package);
  if (!schema.ok()) return schema.error().within(context);
  Normaliser normaliser({.mean = package.normalisation_mean,
                         .scale = package.normalisation_scale,
                         .clip = package.normalisation_clip});
  LoadedModel model{.package = std::move(package),
                    .schema = std::move(*schema),
                    .normaliser = std::move(normaliser),
                    .session = nullptr,
                    .engine = std::move(info),
                    .options = in_effect};
  if (const Status status = open_and_check(model, engine); !status.ok())
    return status.error().within(context);
  return model;
}

}  // namespace tocsin
