// The tables of the variants that this build has; only isa.cc reads them.
#pragma once

namespace tocsin {

struct KernelTable;

const KernelTable& default_kernels() noexcept;
const KernelTable& avx2_kernels() noexcept;
const KernelTable& avx512_kernels() noexcept;

}  // namespace tocsin
