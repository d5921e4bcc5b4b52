// The choice of the instruction set, made once.
#include "kernels/isa.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "base/assert.h"
#include "kernels/kernels.h"
#include "kernels/variants.h"

namespace tocsin {
namespace {

constexpr std::array<Isa, 3> kAllIsas = {Isa::kDefault, Isa::kAvx2, Isa::kAvx512};

// Each instruction set implies the one before it.
std::size_t count_available() noexcept {
  if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) return 1;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? 3 : 2;
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
  static constexpr std::array<std::string_view, 3> kNames = {"default", "avx2", "avx512"};
  return kNames[static_cast<std::size_t>(isa)];
}

std::span<const Isa> available_isas() noexcept {
  static const std::size_t count = count_available();
  return std::span(kAllIsas).first(count);
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
               "TOCSIN_ISA=" + std::string(name) + ": expected default, avx2 or avx512");
}

std::string_view selected_isa() noexcept { return isa_name(selected()); }

const KernelTable& kernels() noexcept {
  static const KernelTable& table = kernels_of(selected());
  return table;
}

const KernelTable& kernels_of(Isa isa) noexcept {
  TOCSIN_ASSERT(static_cast<std::size_t>(isa) < available_isas().size());
  switch (isa) {
    case Isa::kAvx512:
      return avx512_kernels();
    case Isa::kAvx2:
      return avx2_kernels();
    case Isa::kDefault:
      break;
  }
  return default_kernels();
}

}  // namespace tocsin
