// A session of a model with one float input and one float output, fed from vectors. For tests and
// benchmarks, like the formula that their inputs follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engines/engine.h"
#include "engines/graph/tensor.h"

namespace tocsin {

// x[i] = ((i * 7919) mod 2003 - 1001) / 500: what tests/conformance/make_fixtures.py feeds too.
inline std::vector<float> formula_input(std::size_t count) {
  std::vector<float> x(count);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = static_cast<float>(static_cast<std::int64_t>((i * 7919) % 2003) - 1001) / 500.0F;
  return x;
}

class FloatModel {
 public:
  FloatModel(std::unique_ptr<Session> session, std::int64_t steps)
      : session_(std::move(session)),
        input_shape_(session_->signature().inputs[0].shape),
        output_shape_(session_->signature().outputs[0].shape) {
    for (std::size_t i = 1; i < input_shape_.size(); ++i)
      if (input_shape_[i] == kFreeDimension) input_shape_[i] = steps;
    batch_is_free_ = input_shape_[0] == kFreeDimension;
    set_batch(1);
  }

  Session& session() noexcept { return *session_; }
  // Values of one row.
  std::size_t input_width() const { return row_width(input_shape_); }
  std::size_t output_width() const { return row_width(output_shape_); }

  void set_batch(std::int64_t batch) noexcept {
    if (!batch_is_free_) return;
    input_shape_[0] = batch;
    output_shape_[0] = batch;
  }

  // One run of the batch that was set; the sizes must fit. Does not allocate.
  bool run(std::vector<float>& input, std::vector<float>& output) noexcept {
    const TensorView in{DataType::kFloat32, input_shape_, input.data(),
                        input.size() * sizeof(float)};
    const TensorView out{DataType::kFloat32, output_shape_, output.data(),
                         output.size() * sizeof(float)};
    return session_->run({&in, 1}, {&out, 1});
  }

 private:
  static std::size_t row_width(const Shape& shape) {
    return *checked_element_count(shape) / static_cast<std::size_t>(shape[0]);
  }

  std::unique_ptr<Session> session_;
  Shape input_shape_, output_shape_;
  bool batch_is_free_ = false;
};

}  // namespace tocsin
