// Weights laid out for the dense kernel: panels of 64 outputs, k-major inside, zero-padded to 16.
// The layout is the same for every instruction set, so a packed matrix can be shared and stored.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace tocsin {

inline constexpr std::size_t kPanelOutputs = 64;
inline constexpr std::size_t kLaneOutputs = 16;
inline constexpr std::size_t kPackedAlignmentBytes = 64;

// Memory for packed weights.
template <typename T>
struct PackedAllocator {
  using value_type = T;
  PackedAllocator() = default;
  template <typename U>
  explicit PackedAllocator(const PackedAllocator<U>& /*other*/) noexcept {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(
        ::operator new(count * sizeof(T), std::align_val_t(kPackedAlignmentBytes)));
  }
  void deallocate(T* data, std::size_t /*count*/) noexcept {
    ::operator delete(data, std::align_val_t(kPackedAlignmentBytes));
  }
  friend bool operator==(const PackedAllocator& /*a*/, const PackedAllocator& /*b*/) noexcept {
    return true;
  }
};

// A packed matrix that somebody else owns: `data` holds packed_float_count() floats, aligned to
// kPackedAlignmentBytes.
struct PackedMatrixView {
  const float* data = nullptr;
  std::size_t output_count = 0;
  std::size_t input_count = 0;
};

// A dense matrix as it comes: element (output n, input k) is data[n * output_stride + k *
// input_stride].
struct MatrixView {
  const float* data = nullptr;
  std::size_t output_count = 0;
  std::size_t input_count = 0;
  std::size_t output_stride = 0;
  std::size_t input_stride = 0;
};

std::size_t packed_float_count(std::size_t output_count, std::size_t input_count) noexcept;

// Packs into `packed`, which holds packed_float_count() floats.
PackedMatrixView pack_matrix(const MatrixView& matrix, float* packed) noexcept;

// A packed matrix with its memory.
class PackedMatrix {
 public:
  explicit PackedMatrix(const MatrixView& matrix);
  PackedMatrixView view() const noexcept { return view_; }

 private:
  struct AlignedDelete {
    void operator()(float* data) const noexcept;
  };
  std::unique_ptr<float, AlignedDelete> data_;
  PackedMatrixView view_;
};

}  // namespace tocsin
