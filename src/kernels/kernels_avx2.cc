// AVX2 and FMA: 16 registers hold 4 rows by 16 outputs, or one row by 64.
#include <cstddef>

namespace tocsin {
namespace {

constexpr int kRowTile = 4;
constexpr int kColumnTile = 16;
constexpr int kSingleRowColumns = 64;

}  // namespace
}  // namespace tocsin

#include "kernels/variant.inc"

const KernelTable& avx2_kernels() noexcept { return kTable; }

}  // namespace tocsin
