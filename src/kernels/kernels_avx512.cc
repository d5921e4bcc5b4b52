// AVX-512: 32 registers hold 4 rows by 64 outputs.
#include <cstddef>

namespace tocsin {
namespace {

constexpr int kRowTile = 4;
constexpr int kColumnTile = 64;
constexpr int kSingleRowColumns = 64;

}  // namespace
}  // namespace tocsin

#include "kernels/variant.inc"

const KernelTable& avx512_kernels() noexcept { return kTable; }

}  // namespace tocsin
