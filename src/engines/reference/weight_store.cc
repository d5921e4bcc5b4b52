// Packed weights by where they come from.
#include "engines/reference/weight_store.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/digest.h"

namespace tocsin {
namespace {

// What a packed matrix depends on, hashed row by row in the order in which it lies.
Digest content_of(const MatrixView& matrix, const DenseWeightsOptions& options) {
  DigestBuilder builder(DigestKind::kBlake2s256);
  const std::array<std::uint64_t, 5> sizes = {
      matrix.output_count, matrix.input_count, std::uint64_t{matrix.input_stride == 1},
      static_cast<std::uint64_t>(options.precision), std::uint64_t{options.scale_per_output}};
  builder.update(std::as_bytes(std::span(sizes)));
  builder.update(std::as_bytes(std::span(&options.input_scale, 1)));
  const bool by_output = matrix.input_stride == 1;
  const std::size_t rows = by_output ? matrix.output_count : matrix.input_count;
  const std::size_t row_stride = by_output ? matrix.output_stride : matrix.input_stride;
  const std::size_t width = by_output ? matrix.input_count : matrix.output_count;
  const std::size_t stride = by_output ? matrix.input_stride : matrix.output_stride;
  for (std::size_t row = 0; row < rows; ++row) {
    const float* values = matrix.data + row * row_stride;
    if (stride == 1) {
      builder.update(std::as_bytes(std::span(values, width)));
    } else {
      for (std::size_t i = 0; i < width; ++i)
        builder.update(std::as_bytes(std::span(values + i * stride, 1)));
    }
  }
  return builder.finish();
}

// Sessions are loaded by any thread.
class ProcessWeights {
 public:
  SharedWeights find(const Digest& content) {
    const std::lock_guard lock(mutex_);
    const auto found = packed_.find(content);
    return found == packed_.end() ? nullptr : found->second.lock();
  }

  // The weights to use: those that another thread put there meanwhile, if it was faster.
  SharedWeights put(const Digest& content, SharedWeights weights) {
    const std::lock_guard lock(mutex_);
    std::erase_if(packed_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<const DenseWeights>& place = packed_[content];
    if (SharedWeights other = place.lock(); other != nullptr) return other;
    place = weights;
    return weights;
  }

 private:
  std::mutex mutex_;
  std::map<Digest, std::weak_ptr<const DenseWeights>> packed_;
};

ProcessWeights& process_weights() {
  static ProcessWeights weights;
  return weights;
}

}  // namespace

Result<SharedWeights> WeightStore::pack(const MatrixView& matrix,
                                        const DenseWeightsOptions& options,
                                        bool lives_with_session) {
  const Key key{matrix.data,         matrix.output_count, matrix.input_count, matrix.output_stride,
                matrix.input_stride, options.precision,   options.input_scale};
  if (lives_with_session) {
    const auto found = packed_.find(key);
    if (found != packed_.end()) return found->second;
    const Digest content = content_of(matrix, options);
    SharedWeights packed = process_weights().find(content);
    if (packed == nullptr) {
      TOCSIN_ASSIGN_OR_RETURN(DenseWeights weights, DenseWeights::pack(matrix, options));
      packed =
          process_weights().put(content, std::make_shared<const DenseWeights>(std::move(weights)));
    }
    packed_[key] = packed;
    return packed;
  }
  TOCSIN_ASSIGN_OR_RETURN(DenseWeights weights, DenseWeights::pack(matrix, options));
  return std::make_shared<const DenseWeights>(std::move(weights));
}

std::size_t WeightStore::size_bytes() const noexcept {
  std::size_t sum = 0;
  for (const auto& entry : packed_) sum += entry.second->size_bytes();
  return sum;
}

}  // namespace tocsin
