// sched_getaffinity(2), with masks as large as the kernel's.
#include "concurrency/cpu_affinity.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

namespace tocsin {
namespace {

// The kernel's own limit is 8,192 on x86-64 (CONFIG_NR_CPUS).
constexpr int kCpusMax = 65'536;

struct FreeMask {
  void operator()(cpu_set_t* mask) const noexcept { CPU_FREE(mask); }
};
using Mask = std::unique_ptr<cpu_set_t, FreeMask>;

Mask empty_mask() {
  Mask mask(CPU_ALLOC(kCpusMax));
  if (mask != nullptr) CPU_ZERO_S(CPU_ALLOC_SIZE(kCpusMax), mask.get());
  return mask;
}

Error not_a_list(std::string_view text) {
  return Error(ErrorCode::kInvalidArgument,
               "expected CPUs like 0-3,8, found '" + std::string(text) + "'");
}

bool read_number(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 &&
         number < kCpusMax;
}

}  // namespace

Result<CpuList> parse_cpu_list(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  CpuList cpus;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view range = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t dash = range.find('-');
    int first = 0;
    if (!read_number(range.substr(0, dash), first)) return not_a_list(text);
    int last = first;
    if (dash != std::string_view::npos && !read_number(range.substr(dash + 1), last))
      return not_a_list(text);
    if (last < first) return not_a_list(text);
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  if (text.ends_with(',')) return not_a_list(text);
  std::ranges::sort(cpus);
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string cpu_list_text(const CpuList& cpus) {
  if (cpus.empty()) return "none";
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last > first) text += '-' + std::to_string(cpus[last]);
    first = last + 1;
  }
  return text;
}

CpuList usable_cpus() {
  CpuList cpus;
  const Mask mask = empty_mask();
  constexpr std::size_t kSize = CPU_ALLOC_SIZE(kCpusMax);
  if (mask == nullptr || ::sched_getaffinity(0, kSize, mask.get()) != 0) return cpus;
  for (int cpu = 0; cpu < kCpusMax; ++cpu)
    if (CPU_ISSET_S(static_cast<std::size_t>(cpu), kSize, mask.get())) cpus.push_back(cpu);
  return cpus;
}

Status run_on_cpus(const CpuList& cpus) {
  const Mask mask = empty_mask();
  constexpr std::size_t kSize = CPU_ALLOC_SIZE(kCpusMax);
  if (mask == nullptr) return Error(ErrorCode::kResourceExhausted, "no memory for a CPU mask");
  const CpuList usable = usable_cpus();
  for (const int cpu : cpus) {
    if (!std::ranges::binary_search(usable, cpu))
      return Error(ErrorCode::kInvalidArgument,
                   "CPU " + std::to_string(cpu) +
                       " is not one that this process may use: " + cpu_list_text(usable));
    CPU_SET_S(static_cast<std::size_t>(cpu), kSize, mask.get());
  }
  if (cpus.empty()) return Error(ErrorCode::kInvalidArgument, "a thread needs a CPU to run on");
  if (::sched_setaffinity(0, kSize, mask.get()) == 0) return {};
  return Error(ErrorCode::kPermissionDenied,
               "binding a thread to the CPUs " + cpu_list_text(cpus) + ": " + std::strerror(errno));
}

}  // namespace tocsin
