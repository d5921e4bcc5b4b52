// The tables and kernels of the variants that this build has; only isa.cc and variants read them.
#pragma once

namespace tocsin {

struct KernelTable;
struct LowPrecisionKernels;
struct Int8DenseCall;

// Without their low-precision part.
const KernelTable& default_kernels() noexcept;
const KernelTable& avx2_kernels() noexcept;
const KernelTable& avx512_kernels() noexcept;

const LowPrecisionKernels& default_low_precision() noexcept;
const LowPrecisionKernels& avx2_low_precision() noexcept;
const LowPrecisionKernels& avx512_low_precision() noexcept;

void dense_int8_avx_vnni(const Int8DenseCall& call) noexcept;
void dense_int8_avx512_vnni(const Int8DenseCall& call) noexcept;
void dense_int8_amx(const Int8DenseCall& call) noexcept;

}  // namespace tocsin
