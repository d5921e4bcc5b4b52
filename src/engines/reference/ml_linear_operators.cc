// Scaler, Normalizer, LinearClassifier, LinearRegressor and ZipMap of ai.onnx.ml: what skl2onnx
// makes of a pipeline with a linear model. ZipMap hands its probabilities on as a matrix.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engines/dense_weights.h"
#include "engines/reference/ml_transform.h"
#include "engines/reference/plan_functions.h"
#include "kernels/kernels.h"

namespace tocsin {
namespace {

struct RowsAndFeatures {
  std::size_t rows = 0, features = 0;
};

// A vector counts as one row.
Result<RowsAndFeatures> rows_and_features(const NodeContext& context) {
  TOCSIN_RETURN_IF_ERROR(context.require_float(0));
  const Shape& shape = context.input(0).shape;
  if (shape.empty() || shape.size() > 2)
    return invalid("its input must be a matrix, found " + shape_text(shape));
  return RowsAndFeatures{shape.size() == 2 ? static_cast<std::size_t>(shape[0]) : 1,
                         static_cast<std::size_t>(shape.back())};
}

PlannedNode float_output(Shape shape) {
  PlannedNode planned;
  planned.outputs.push_back({DataType::kFloat32, std::move(shape), {}, {}});
  return planned;
}

Result<std::vector<float>> one_for_each(const NodeContext& context, const std::string& name,
                                        std::size_t features) {
  std::vector<float> values = context.floats_attribute(name);
  if (values.size() == 1) values.assign(features, values[0]);
  if (values.size() != features)
    return invalid(name + " has " + std::to_string(values.size()) + " values for " +
                   std::to_string(features) + " features");
  return values;
}

enum class Norm : std::uint8_t { kMax, kL1, kL2 };

// What the row is divided by.
float norm_of(Norm norm, const float* x, std::size_t count) noexcept {
  if (norm == Norm::kMax) return *std::max_element(x, x + count);
  float sum = 0;
  for (std::size_t first = 0; first < count; first += kSumBlock) {
    float block = 0;
    for (std::size_t i = first; i < std::min(first + kSumBlock, count); ++i)
      block += norm == Norm::kL1 ? std::fabs(x[i]) : x[i] * x[i];
    sum += block;
  }
  return norm == Norm::kL1 ? sum : std::sqrt(sum);
}

// The scores X W^T + b of a linear model, [rows, outputs].
struct LinearModel {
  RowsAndFeatures size;
  std::size_t output_count = 0;
  Tensor packed;
  std::vector<float> intercepts;  // one an output, or none

  void run(const float* x, float* scores) const noexcept {
    DenseCall call;
    call.weights = {packed.values<float>().data(), output_count, size.features};
    call.x = x;
    call.x_stride = size.features;
    call.row_count = size.rows;
    call.bias = intercepts.empty() ? nullptr : intercepts.data();
    call.y = scores;
    call.y_stride = output_count;
    kernels().dense(call);
  }
};

Result<LinearModel> read_linear_model(const NodeContext& context, std::size_t output_count) {
  LinearModel model;
  TOCSIN_ASSIGN_OR_RETURN(model.size, rows_and_features(context));
  model.output_count = output_count;
  model.intercepts = context.floats_attribute("intercepts");
  const std::vector<float> coefficients = context.floats_attribute("coefficients");
  const std::size_t features = model.size.features;
  if (features == 0 || coefficients.size() % features != 0 ||
      coefficients.size() / features != output_count)
    return unsupported("it has " + std::to_string(coefficients.size()) + " coefficients for " +
                       std::to_string(output_count) + " outputs of " + std::to_string(features) +
                       " features");
  if (!model.intercepts.empty() && model.intercepts.size() != output_count)
    return invalid("it has " + std::to_string(model.intercepts.size()) + " intercepts for " +
                   std::to_string(output_count) + " outputs");
  model.packed = Tensor(DataType::kFloat32,
                        {static_cast<std::int64_t>(packed_float_count(output_count, features))});
  pack_matrix({coefficients.data(), output_count, features, features, 1},
              model.packed.mutable_values<float>().data());
  return model;
}

}  // namespace

Result<PlannedNode> plan_scaler(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const RowsAndFeatures size, rows_and_features(context));
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<float> offset,
                          one_for_each(context, "offset", size.features));
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<float> scale,
                          one_for_each(context, "scale", size.features));
  PlannedNode planned = float_output(context.input(0).shape);
  planned.kernel = [size, offset, scale](const Buffers& buffers) {
    for (std::size_t row = 0; row < size.rows; ++row) {
      const float* x = buffers.input<float>(0) + row * size.features;
      float* y = buffers.output<float>(0) + row * size.features;
      for (std::size_t i = 0; i < size.features; ++i) y[i] = (x[i] - offset[i]) * scale[i];
    }
  };
  return planned;
}

Result<PlannedNode> plan_normalizer(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const RowsAndFeatures size, rows_and_features(context));
  const std::string name = context.string_attribute("norm", "MAX");
  if (name != "MAX" && name != "L1" && name != "L2")
    return invalid("norm '" + name + "' is unknown");
  if (size.features == 0) return invalid("its input has no features");
  const Norm norm = name == "MAX" ? Norm::kMax : name == "L1" ? Norm::kL1 : Norm::kL2;
  PlannedNode planned = float_output(context.input(0).shape);
  planned.kernel = [size, norm](const Buffers& buffers) {
    for (std::size_t row = 0; row < size.rows; ++row) {
      const float* x = buffers.input<float>(0) + row * size.features;
      float* y = buffers.output<float>(0) + row * size.features;
      const float divisor = norm_of(norm, x, size.features);
      for (std::size_t i = 0; i < size.features; ++i)
        y[i] = divisor == 0.0F ? x[i] : x[i] / divisor;
    }
  };
  return planned;
}

Result<PlannedNode> plan_linear_regressor(const NodeContext& context) {
  const std::int64_t targets = context.int_attribute("targets", 1);
  if (targets < 1 || targets > 1'000'000) return invalid("targets is out of range");
  TOCSIN_ASSIGN_OR_RETURN(const LinearModel model,
                          read_linear_model(context, static_cast<std::size_t>(targets)));
  TOCSIN_ASSIGN_OR_RETURN(const ScoreTransform transform, read_score_transform(context));
  PlannedNode planned = float_output({static_cast<std::int64_t>(model.size.rows), targets});
  planned.kernel = [model, transform](const Buffers& buffers) {
    auto* scores = buffers.output<float>(0);
    model.run(buffers.input<float>(0), scores);
    for (std::size_t row = 0; row < model.size.rows; ++row)
      transform_scores(transform, scores + row * model.output_count, model.output_count);
  };
  return planned;
}

Result<PlannedNode> plan_linear_classifier(const NodeContext& context) {
  context.ignore_attribute("multi_class");  // how it was trained
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> labels, read_class_labels(context));
  if (labels.size() < 2) return unsupported("fewer than two classes are not supported");
  TOCSIN_ASSIGN_OR_RETURN(const LinearModel model, read_linear_model(context, labels.size()));
  TOCSIN_ASSIGN_OR_RETURN(const ScoreTransform transform, read_score_transform(context));
  const auto rows = static_cast<std::int64_t>(model.size.rows);
  const Shape scores_shape{rows, static_cast<std::int64_t>(labels.size())};
  if (!checked_element_count(scores_shape)) return invalid("its scores are too large");
  PlannedNode planned;
  planned.outputs.push_back({DataType::kInt64, {rows}, {}, {}});
  planned.outputs.push_back({DataType::kFloat32, scores_shape, {}, {}});
  planned.scratch_bytes = *checked_element_count(scores_shape) * sizeof(float);
  planned.kernel = [model, labels, transform](const Buffers& buffers) {
    auto* scores = reinterpret_cast<float*>(buffers.scratch);
    const std::size_t classes = labels.size();
    model.run(buffers.input<float>(0), scores);
    for (std::size_t row = 0; row < model.size.rows; ++row, scores += classes) {
      const auto best =
          static_cast<std::size_t>(std::max_element(scores, scores + classes) - scores);
      if (buffers.outputs[0] != nullptr) buffers.output<std::int64_t>(0)[row] = labels[best];
      if (buffers.outputs.size() < 2 || buffers.outputs[1] == nullptr) continue;
      transform_scores(transform, scores, classes);
      std::copy_n(scores, classes, buffers.output<float>(1) + row * classes);
    }
  };
  return planned;
}

Result<PlannedNode> plan_zip_map(const NodeContext& context) {
  TOCSIN_ASSIGN_OR_RETURN(const RowsAndFeatures size, rows_and_features(context));
  const std::size_t labels = context.ints_attribute("classlabels_int64s").size() +
                             context.ints_attribute("classlabels_strings").size();
  if (labels != size.features)
    return invalid("it has " + std::to_string(labels) + " labels for " +
                   std::to_string(size.features) + " columns");
  PlannedNode planned = float_output(context.input(0).shape);
  planned.outputs[0].alias_of_input = 0;
  return planned;
}

}  // namespace tocsin
