// The choice of the instruction set, made once.
#include "kernels/isa.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "base/assert.h"
#include "kernels/kernels.h"
#include "kernels/variants.h"

namespace tocsin {
namespace {

constexpr std::array<Isa, 6> kAllIsas = {Isa::kDefault, Isa::kAvx2,       Isa::kAvxVnni,
                                         Isa::kAvx512,  Isa::kAvx512Vnni, Isa::kAmx};

// CPUID (Intel SDM, volume 2): what __builtin_cpu_supports of our compilers does not know.
struct CpuidRegisters {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};

CpuidRegisters cpuid(unsigned leaf, unsigned subleaf) noexcept {
  CpuidRegisters found;
  // Leaves all zero where the CPU has no such leaf.
  __get_cpuid_count(leaf, subleaf, &found.eax, &found.ebx, &found.ecx, &found.edx);
  return found;
}

bool has_f16c() noexcept { return (cpuid(1, 0).ecx & (1U << 29U)) != 0; }

bool has_avx_vnni() noexcept { return (cpuid(7, 1).eax & (1U << 4U)) != 0; }

// Asks the system to let this process use the tile registers; once granted it stays so.
bool amx_permitted() noexcept {
  // Linux, arch/x86/include/uapi/asm/prctl.h: the tile registers are feature 18 of XSAVE.
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool has_amx_int8() noexcept {
  constexpr unsigned kTileAndInt8 = 3U << 24U;
  return (cpuid(7, 0).edx & kTileAndInt8) == kTileAndInt8 && amx_permitted();
}

struct IsaList {
  std::array<Isa, kAllIsas.size()> isas{};
  std::size_t count = 0;

  void add(Isa isa) noexcept { isas[count++] = isa; }
};

IsaList find_available() noexcept {
  IsaList list;
  list.add(Isa::kDefault);
  if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())) return list;
  list.add(Isa::kAvx2);
  if (has_avx_vnni()) list.add(Isa::kAvxVnni);
  if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")))
    return list;
  list.add(Isa::kAvx512);
  if (!__builtin_cpu_supports("avx512vnni")) return list;
  list.add(Isa::kAvx512Vnni);
  if (has_amx_int8()) list.add(Isa::kAmx);
  return list;
}

KernelTable with_low_precision(const KernelTable& table,
                               const LowPrecisionKernels& low_precision) noexcept {
  KernelTable complete = table;
  complete.low_precision = low_precision;
  return complete;
}

KernelTable with_int8(const KernelTable& table,
                      void (*dense_int8)(const Int8DenseCall& call) noexcept) noexcept {
  KernelTable changed = table;
  changed.low_precision.dense_int8 = dense_int8;
  return changed;
}

Isa select_isa() noexcept {
  const Result<Isa> requested = requested_isa();
  return requested.ok() ? requested.value() : available_isas().back();
}

Isa selected() noexcept {
  static const Isa isa = select_isa();
  return isa;
}

}  // namespace

std::string_view isa_name(Isa isa) noexcept {
  static constexpr std::array<std::string_view, kAllIsas.size()> kNames = {
      "default", "avx2", "avx_vnni", "avx512", "avx512_vnni", "amx"};
  return kNames[static_cast<std::size_t>(isa)];
}

std::span<const Isa> available_isas() noexcept {
  static const IsaList list = find_available();
  return std::span(list.isas).first(list.count);
}

Result<Isa> requested_isa() {
  const char* value = std::getenv("TOCSIN_ISA");
  if (value == nullptr || *value == '\0') return available_isas().back();
  const std::string_view name = value;
  for (const Isa isa : available_isas())
    if (isa_name(isa) == name) return isa;
  for (const Isa isa : kAllIsas) {
    if (isa_name(isa) == name) {
      return Error(ErrorCode::kUnavailable, "TOCSIN_ISA=" + std::string(name) +
                                                ": this machine lacks it; the widest it has is " +
                                                std::string(isa_name(available_isas().back())));
    }
  }
  return Error(ErrorCode::kInvalidArgument,
               "TOCSIN_ISA=" + std::string(name) +
                   ": expected default, avx2, avx_vnni, avx512, avx512_vnni or amx");
}

std::string_view selected_isa() noexcept { return isa_name(selected()); }

const KernelTable& kernels() noexcept {
  static const KernelTable& table = kernels_of(selected());
  return table;
}

const KernelTable& kernels_of(Isa isa) noexcept {
  TOCSIN_ASSERT(std::ranges::find(available_isas(), isa) != available_isas().end());
  // Copies of pointers: the tables of instruction sets that this machine lacks are harmless.
  static const KernelTable avx2 = with_low_precision(avx2_kernels(), avx2_low_precision());
  static const KernelTable avx512 = with_low_precision(avx512_kernels(), avx512_low_precision());
  static const std::array<KernelTable, kAllIsas.size()> tables = {
      with_low_precision(default_kernels(), default_low_precision()),
      avx2,
      with_int8(avx2, dense_int8_avx_vnni),
      avx512,
      with_int8(avx512, dense_int8_avx512_vnni),
      with_int8(avx512, dense_int8_amx)};
  return tables[static_cast<std::size_t>(isa)];
}

}  // namespace tocsin
