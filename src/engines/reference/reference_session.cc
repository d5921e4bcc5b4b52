// Checks of what comes in, choice of the plan, and the copy of what goes out.
#include "engines/reference/reference_session.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "engines/reference/attention_fusion.h"

namespace tocsin {
namespace {

bool same_shape(std::span<const std::int64_t> a, std::span<const std::int64_t> b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool is_aligned(const void* data, DataType type) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % data_type_size_bytes(type) == 0;
}

std::string view_text(const TensorView& view) {
  return std::string(data_type_name(view.type)) + shape_text(view.shape);
}

}  // namespace

Result<std::unique_ptr<ReferenceSession>> ReferenceSession::load(Graph graph,
                                                                 const SessionOptions& options,
                                                                 const ReferenceLimits& limits) {
  try {
    TOCSIN_ASSIGN_OR_RETURN(
        PreparedGraph prepared,
        PreparedGraph::prepare(std::move(graph), limits, QuantisationOptions::of(options)));
    std::unique_ptr<ReferenceSession> session(new ReferenceSession(
        std::make_shared<PreparedGraph>(std::move(prepared)), options, limits));
    TOCSIN_RETURN_IF_ERROR(session->fuse());
    TOCSIN_RETURN_IF_ERROR(session->plan_batches());
    return session;
  } catch (const std::exception& exception) {
    return Error(ErrorCode::kResourceExhausted,
                 std::string("loading the model: ") + exception.what());
  }
}

Result<std::unique_ptr<ReferenceSession>> ReferenceSession::again(
    const SessionOptions& options) const {
  try {
    std::unique_ptr<ReferenceSession> session(new ReferenceSession(prepared_, options, limits_));
    TOCSIN_RETURN_IF_ERROR(session->plan_batches());
    return session;
  } catch (const std::exception& exception) {
    return Error(ErrorCode::kResourceExhausted,
                 std::string("loading the model: ") + exception.what());
  }
}

Result<std::vector<ValueFacts>> ReferenceSession::infer(std::int64_t batch) const {
  return Plan::infer(*prepared_, shapes_for_batch(batch), limits_);
}

Status ReferenceSession::fuse() {
  TOCSIN_ASSIGN_OR_RETURN(const std::vector<ValueFacts> facts, infer(1));
  std::optional<Graph> fused = fuse_attention(prepared_->graph(), facts);
  if (!fused) return {};
  TOCSIN_ASSIGN_OR_RETURN(*prepared_, PreparedGraph::prepare(std::move(*fused), limits_,
                                                             QuantisationOptions::of(options_)));
  return {};
}

bool ReferenceSession::is_batch(std::size_t input, std::size_t dimension) const {
  if (dimension == 0) return true;
  const auto& names = prepared_->graph().input_dimension_names;
  const auto name_of = [&names](std::size_t i, std::size_t d) {
    return i < names.size() && d < names[i].size() ? names[i][d] : std::string();
  };
  const std::string name = name_of(input, dimension);
  if (name.empty()) return false;
  for (std::size_t i = 0; i < signature().inputs.size(); ++i)
    if (name_of(i, 0) == name) return true;
  return false;
}

std::vector<Shape> ReferenceSession::shapes_for_batch(std::int64_t batch) const {
  std::vector<Shape> shapes;
  for (std::size_t input = 0; input < signature().inputs.size(); ++input) {
    Shape shape = signature().inputs[input].shape;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == kFreeDimension) shape[i] = is_batch(input, i) ? batch : options_.steps;
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Status ReferenceSession::plan_batches() {
  if (options_.batch_max < 1)
    return Error(ErrorCode::kInvalidArgument,
                 "batch_max is " + std::to_string(options_.batch_max) + ", expected 1 or more");
  bool batch_is_free = false;
  for (std::size_t input = 0; input < signature().inputs.size(); ++input) {
    const TensorSpec& spec = signature().inputs[input];
    for (std::size_t i = 0; i < spec.shape.size(); ++i) {
      if (spec.shape[i] != kFreeDimension) continue;
      batch_is_free = batch_is_free || i == 0;
      if (!is_batch(input, i) && options_.steps < 1)
        return Error(ErrorCode::kInvalidArgument,
                     "input '" + spec.name + "' leaves dimension " + std::to_string(i) +
                         " open, so the session needs its length (steps)");
    }
  }
  if (!batch_is_free && options_.batch_max > 1)
    return Error(ErrorCode::kInvalidArgument, "the model's batch is fixed, a batch_max of " +
                                                  std::to_string(options_.batch_max) +
                                                  " is not possible");
  input_pointers_.resize(signature().inputs.size());
  // The largest first: it shows whether the model fits, and the working memory is taken once.
  TOCSIN_ASSIGN_OR_RETURN(Plan * largest, add_plan(shapes_for_batch(options_.batch_max)));
  TOCSIN_RETURN_IF_ERROR(check_signature(*largest));
  const auto plan_count_max = static_cast<std::int64_t>(limits_.plan_count_max);
  for (std::int64_t batch = 1; batch < std::min(options_.batch_max, plan_count_max); ++batch)
    TOCSIN_RETURN_IF_ERROR(add_plan(shapes_for_batch(batch)));
  return {};
}

Status ReferenceSession::check_signature(const Plan& plan) const {
  for (std::size_t i = 0; i < signature().outputs.size(); ++i) {
    const TensorSpec& spec = signature().outputs[i];
    const PlannedOutput& output = plan.outputs()[i];
    bool agrees = spec.type == output.type && spec.shape.size() == output.shape.size();
    for (std::size_t d = 0; agrees && d < spec.shape.size(); ++d)
      agrees = spec.shape[d] == kFreeDimension || spec.shape[d] == output.shape[d];
    if (!agrees)
      return invalid("output '" + spec.name + "' is declared " +
                     std::string(data_type_name(spec.type)) + shape_text(spec.shape) +
                     ", but comes out as " + std::string(data_type_name(output.type)) +
                     shape_text(output.shape));
  }
  return {};
}

Result<Plan*> ReferenceSession::add_plan(const std::vector<Shape>& shapes) {
  TOCSIN_ASSIGN_OR_RETURN(Plan plan, Plan::build(*prepared_, shapes, limits_));
  if (plan.arena_bytes() > arena_.size_bytes())
    arena_ = Tensor(DataType::kBool, {static_cast<std::int64_t>(plan.arena_bytes())});
  // The plan that was used longest ago is the first one.
  if (plans_.size() >= limits_.plan_count_max) plans_.erase(plans_.begin());
  plans_.push_back(std::make_unique<Plan>(std::move(plan)));
  return plans_.back().get();
}

bool ReferenceSession::matches(const Plan& plan,
                               std::span<const TensorView> inputs) const noexcept {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!same_shape(plan.input_shapes()[i], inputs[i].shape)) return false;
  return true;
}

Plan* ReferenceSession::find_plan(std::span<const TensorView> inputs) noexcept {
  for (std::size_t i = plans_.size(); i > 0; --i) {
    if (!matches(*plans_[i - 1], inputs)) continue;
    std::rotate(plans_.begin() + static_cast<std::ptrdiff_t>(i) - 1,
                plans_.begin() + static_cast<std::ptrdiff_t>(i), plans_.end());
    return plans_.back().get();
  }
  return nullptr;
}

Status ReferenceSession::check_input(std::size_t index, const TensorView& view) const {
  const TensorSpec& spec = signature().inputs[index];
  const auto wrong = [&spec, &view](const std::string& why) {
    return Error(ErrorCode::kInvalidArgument,
                 "input '" + spec.name + "' is " + view_text(view) + ": " + why);
  };
  if (view.type != spec.type || view.shape.size() != spec.shape.size())
    return wrong("the model wants " + std::string(data_type_name(spec.type)) +
                 shape_text(spec.shape));
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    const std::int64_t size = view.shape[i];
    if (spec.shape[i] != kFreeDimension) {
      if (size != spec.shape[i]) return wrong("the model wants " + shape_text(spec.shape));
    } else if (is_batch(index, i)) {
      if (size < 1 || size > options_.batch_max)
        return wrong("the session takes batches of 1 to " + std::to_string(options_.batch_max));
    } else if (size != options_.steps) {
      return wrong("the session is bound to " + std::to_string(options_.steps) + " steps");
    }
  }
  const std::size_t bytes = *checked_element_count(view.shape) * data_type_size_bytes(view.type);
  if (view.size_bytes != bytes) return wrong("it needs " + std::to_string(bytes) + " bytes");
  if (bytes > 0 && (view.data == nullptr || !is_aligned(view.data, view.type)))
    return wrong("its data is missing or misaligned");
  return {};
}

Status ReferenceSession::check_outputs(const Plan& plan,
                                       std::span<const TensorView> outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const PlannedOutput& planned = plan.outputs()[i];
    const std::size_t bytes =
        *checked_element_count(planned.shape) * data_type_size_bytes(planned.type);
    const TensorView& view = outputs[i];
    const bool fits = view.type == planned.type && same_shape(view.shape, planned.shape) &&
                      view.size_bytes == bytes &&
                      (bytes == 0 || (view.data != nullptr && is_aligned(view.data, view.type)));
    if (!fits)
      return Error(ErrorCode::kInvalidArgument,
                   "output '" + signature().outputs[i].name + "' is " + view_text(view) + " of " +
                       std::to_string(view.size_bytes) + " bytes, expected " +
                       std::string(data_type_name(planned.type)) + shape_text(planned.shape) +
                       " of " + std::to_string(bytes));
  }
  return {};
}

Status ReferenceSession::run_checked(std::span<const TensorView> inputs,
                                     std::span<const TensorView> outputs) {
  if (inputs.size() != signature().inputs.size() || outputs.size() != signature().outputs.size())
    return Error(ErrorCode::kInvalidArgument,
                 "the model has " + std::to_string(signature().inputs.size()) + " inputs and " +
                     std::to_string(signature().outputs.size()) + " outputs, given are " +
                     std::to_string(inputs.size()) + " and " + std::to_string(outputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    TOCSIN_RETURN_IF_ERROR(check_input(i, inputs[i]));
    input_pointers_[i] = inputs[i].data;
  }
  Plan* plan = find_plan(inputs);
  if (plan == nullptr) {
    std::vector<Shape> shapes;
    for (const TensorView& input : inputs)
      shapes.emplace_back(input.shape.begin(), input.shape.end());
    TOCSIN_ASSIGN_OR_RETURN(plan, add_plan(shapes));
  }
  TOCSIN_RETURN_IF_ERROR(check_outputs(*plan, outputs));
  auto* arena = static_cast<std::byte*>(arena_.mutable_data());
  if (const char* failure = plan->run(input_pointers_, arena); failure != nullptr)
    return node_error(prepared_->graph(), plan->failed_node(), invalid(failure));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const void* data = plan->output_data(i, input_pointers_, arena);
    if (outputs[i].type == DataType::kFloat32)
      copy_with_quiet_nans(
          static_cast<const float*>(data),
          {static_cast<float*>(outputs[i].data), outputs[i].size_bytes / sizeof(float)});
    else if (outputs[i].size_bytes > 0)
      std::memcpy(outputs[i].data, data, outputs[i].size_bytes);
  }
  return {};
}

bool ReferenceSession::run(std::span<const TensorView> inputs,
                           std::span<const TensorView> outputs) noexcept {
  try {
    const Status status = run_checked(inputs, outputs);
    if (status.ok()) return true;
    error_ = status.error();
  } catch (const std::exception& exception) {
    error_ = Error(ErrorCode::kResourceExhausted, exception.what());
  }
  return false;
}

}  // namespace tocsin
