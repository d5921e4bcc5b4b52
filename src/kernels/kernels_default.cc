// What every x86-64 has: fused multiply-adds are calls of libm's fma, so sums stay out of registers
// anyway.
#include <cstddef>

namespace tocsin {
namespace {

constexpr int kRowTile = 1;
constexpr int kColumnTile = 16;
constexpr int kSingleRowColumns = 16;

}  // namespace
}  // namespace tocsin

#include "kernels/variant.inc"

const KernelTable& default_kernels() noexcept { return kTable; }

}  // namespace tocsin
