// The functions of the canonical order (kernels/math.inc) for the device: the same text, so the
// same bits. Compiled without contraction and with IEEE division.
#pragma once

#include <array>

namespace tocsin::cuda {

#define TOCSIN_MATH __device__ inline
#define TOCSIN_MATH_TABLE __device__ constexpr
#include "kernels/math.inc"
#undef TOCSIN_MATH
#undef TOCSIN_MATH_TABLE

}  // namespace tocsin::cuda
