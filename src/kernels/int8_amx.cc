// INT8 products by AMX tiles: 16 rows by up to 64 outputs at a time; fewer rows go to AVX-512 VNNI.
// A process must ask the system for the tile registers first (isa.cc).
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/variants.h"

namespace tocsin {
namespace {

constexpr std::size_t kTileRows = 16;
// From here on a tile of rows, some of them computed twice, is faster than VNNI for the rest.
constexpr std::size_t kLeftoverRowsMin = 4;

// The operand of LDTILECFG (Intel SDM, "TILECFG"): all tiles are 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

constexpr TileConfig kTileConfig;

struct PanelPlace {
  const std::int8_t* weights = nullptr;
  std::size_t first_output = 0;
  std::size_t width = 0;  // padded: 16, 32, 48 or 64
};

// The sums of 16 rows by place.width outputs. Tiles 0 to 3 are the sums, 4 the inputs, 5 and 6 the
// weights. Inputs past the last k are zero, whatever weights they meet.
inline void tile_sums(const Int8DenseCall& call, const PanelPlace& place, std::size_t row,
                      std::int32_t* sums) noexcept {
  const std::uint8_t* q = call.q + row * call.q_stride;
  const std::int8_t* w = place.weights;
  const auto q_stride = static_cast<long>(call.q_stride);
  const auto w_stride = static_cast<long>(place.width * kInt8GroupInputs);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::size_t k = 0; k < call.weights.input_count; k += kInt8RowBytes) {
    _tile_loadd(4, q + k, q_stride);
    _tile_loadd(5, w, w_stride);
    _tile_dpbusd(0, 4, 5);
    if (place.width > 16) {
      _tile_loadd(6, w + 64, w_stride);
      _tile_dpbusd(1, 4, 6);
    }
    if (place.width > 32) {
      _tile_loadd(5, w + 128, w_stride);
      _tile_dpbusd(2, 4, 5);
    }
    if (place.width > 48) {
      _tile_loadd(6, w + 192, w_stride);
      _tile_dpbusd(3, 4, 6);
    }
    w += kTileRows * place.width * kInt8GroupInputs;
  }
  constexpr long kSumStride = kPanelOutputs * sizeof(std::int32_t);
  _tile_stored(0, sums, kSumStride);
  if (place.width > 16) _tile_stored(1, sums + 16, kSumStride);
  if (place.width > 32) _tile_stored(2, sums + 32, kSumStride);
  if (place.width > 48) _tile_stored(3, sums + 48, kSumStride);
}

inline void store_rows(const Int8DenseCall& call, const PanelPlace& place, std::size_t row,
                       const std::int32_t* sums) noexcept {
  for (std::size_t n = 0; n < place.width; n += kLaneOutputs) {
    const std::size_t output = place.first_output + n;
    const std::size_t left = call.weights.output_count - output;
    const auto lanes = static_cast<__mmask16>(left >= 16 ? 0xffffU : (1U << left) - 1U);
    const __m512 scale = _mm512_maskz_loadu_ps(lanes, call.output_scale + output);
    const __m512i correction = _mm512_loadu_si512(call.weights.offset_correction + output);
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const __m512i sum =
          _mm512_add_epi32(_mm512_load_si512(sums + r * kPanelOutputs + n), correction);
      const __m512 bias =
          call.bias == nullptr
              ? _mm512_setzero_ps()
              : _mm512_maskz_loadu_ps(lanes, call.bias + (row + r) * call.bias_stride + output);
      _mm512_mask_storeu_ps(call.y + (row + r) * call.y_stride + output, lanes,
                            _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), scale, bias));
    }
  }
}

inline void tile_panels(const Int8DenseCall& call, std::size_t tiled_rows) noexcept {
  alignas(64) std::int32_t sums[kTileRows * kPanelOutputs];
  const std::size_t groups = (call.weights.input_count + kInt8GroupInputs - 1) / kInt8GroupInputs;
  const std::size_t padded =
      (call.weights.output_count + kLaneOutputs - 1) / kLaneOutputs * kLaneOutputs;
  PanelPlace place;
  for (; place.first_output < padded; place.first_output += kPanelOutputs) {
    const std::size_t left = padded - place.first_output;
    place.width = left < kPanelOutputs ? left : kPanelOutputs;
    place.weights = call.weights.data + place.first_output * groups * kInt8GroupInputs;
    for (std::size_t row = 0; row < tiled_rows;) {
      tile_sums(call, place, row, sums);
      store_rows(call, place, row, sums);
      const std::size_t next = row + kTileRows;
      // The last tile may overlap the one before: the same values are written again.
      row = next < tiled_rows && next + kTileRows > tiled_rows ? tiled_rows - kTileRows : next;
    }
  }
}

}  // namespace

void dense_int8_amx(const Int8DenseCall& call) noexcept {
  const std::size_t leftover = call.row_count % kTileRows;
  const std::size_t tiled = call.row_count < kTileRows
                                ? 0
                                : call.row_count - (leftover < kLeftoverRowsMin ? leftover : 0);
  if (tiled > 0) {
    _tile_loadconfig(&kTileConfig);
    tile_panels(call, tiled);
    _tile_release();
  }
  if (tiled == call.row_count) return;
  Int8DenseCall rest = call;
  rest.row_count = call.row_count - tiled;
  rest.q += tiled * call.q_stride;
  rest.y += tiled * call.y_stride;
  if (rest.bias != nullptr) rest.bias += tiled * call.bias_stride;
  dense_int8_avx512_vnni(rest);
}

}  // namespace tocsin
