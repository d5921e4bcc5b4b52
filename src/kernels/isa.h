// Which instruction set the kernels run on: the best this machine has, or the one TOCSIN_ISA names.
// The choice is made once; it changes speed and never a bit of a result.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace tocsin {

enum class Isa : std::uint8_t {
  kDefault,  // what every x86-64 has; fused multiply-adds are calls of libm's fma: the same bits,
             // slowly
  kAvx2,     // AVX2, FMA and F16C
  kAvxVnni,  // and AVX-VNNI for INT8
  kAvx512,   // AVX-512 F, BW, DQ, VL
  kAvx512Vnni,  // and AVX-512 VNNI for INT8
  kAmx,         // and AMX tiles for INT8
};

// "default", "avx2", "avx_vnni", "avx512", "avx512_vnni", "amx".
std::string_view isa_name(Isa isa) noexcept;

// The instruction sets that this machine and this build have, narrowest first; valid for ever.
std::span<const Isa> available_isas() noexcept;

// What TOCSIN_ISA asks for: an error if it names no instruction set or one that is not available.
// Unset or empty: the widest available.
Result<Isa> requested_isa();

// The name of the instruction set that kernels() uses, for logs and --version. Where
// requested_isa() is an error it is the widest available: programs check requested_isa() at their
// start.
std::string_view selected_isa() noexcept;

}  // namespace tocsin
