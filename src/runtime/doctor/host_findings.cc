// One function a finding. A file that is not there is said, and is no fault: virtual machines and
// containers hide many of them.
#include "runtime/doctor/host_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "kernels/isa.h"

namespace tocsin {
namespace {

constexpr std::string_view kCpuFolder = "/sys/devices/system/cpu";
constexpr std::string_view kNodeFolder = "/sys/devices/system/node";

std::string cpu_file(int cpu, std::string_view name) {
  return fmt::format("{}/cpu{}/{}", kCpuFolder, cpu, name);
}

std::optional<std::int64_t> number_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc() && end != text->data() ? std::optional(number) : std::nullopt;
}

// A list of CPUs in a file; empty where it is missing or is none.
CpuList list_in(const HostFiles& files, std::string_view path) {
  const std::optional<std::string> text = files.line(path);
  if (!text) return {};
  const Result<CpuList> cpus = parse_cpu_list(*text);
  return cpus.ok() ? *cpus : CpuList();
}

CpuList common(const CpuList& a, const CpuList& b) {
  CpuList both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

HostFinding find_cpu(const HostFiles& files) {
  constexpr std::string_view kInfo = "/proc/cpuinfo";
  HostFinding finding{"cpu", files.field(kInfo, "model name").value_or("not told"), {}, true};
  std::istringstream flags(files.field(kInfo, "flags").value_or(""));
  const std::set<std::string> has{std::istream_iterator<std::string>(flags), {}};
  std::vector<std::string_view> shown;
  for (const std::string_view flag :
       {"avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512dq", "avx512vl",
        "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"})
    if (has.contains(std::string(flag))) shown.push_back(flag);
  finding.found +=
      fmt::format("; {}", shown.empty() ? "no AVX2" : fmt::format("{}", fmt::join(shown, " ")));
  if (has.contains("hypervisor")) finding.found += "; a virtual machine";
  return finding;
}

HostFinding find_isa() {
  HostFinding finding{"isa", std::string(selected_isa()), {}, true};
  const std::string_view widest = isa_name(available_isas().back());
  if (const Result<Isa> requested = requested_isa(); !requested.ok()) {
    finding.advice = requested.error().message();
    finding.ok = false;
  } else if (selected_isa() != widest) {
    finding.found += ", as TOCSIN_ISA says";
    finding.advice = fmt::format("unset TOCSIN_ISA: {} is there", widest);
    finding.ok = false;
  }
  return finding;
}

HostFinding find_cpus(const HostFiles& files, const CpuList& usable) {
  const CpuList online = list_in(files, "/sys/devices/system/cpu/online");
  HostFinding finding{
      "cpus",
      fmt::format("may use {} of {} online: {}", usable.size(),
                  online.empty() ? "an unknown number" : std::to_string(online.size()),
                  cpu_list_text(usable)),
      {},
      true};
  if (usable.size() < 2) {
    finding.ok = false;
    finding.advice = "give it two CPUs: the pipeline and the outputs are threads of their own";
  }
  return finding;
}

HostFinding find_smt(const HostFiles& files, const CpuList& usable) {
  HostFinding finding{"smt", "each CPU is a core of its own", {}, true};
  std::set<std::string> shared;
  bool told = false;
  for (const int cpu : usable) {
    const std::string path = cpu_file(cpu, "topology/thread_siblings_list");
    told = told || files.line(path).has_value();
    const CpuList siblings = common(list_in(files, path), usable);
    if (siblings.size() > 1) shared.insert(cpu_list_text(siblings));
  }
  if (!told) finding.found = "not told";
  if (shared.empty()) return finding;
  finding.found = fmt::format("CPUs that share a core: {}", fmt::join(shared, "; "));
  finding.advice =
      "leave the sibling of runtime.cpu idle (isolate it, or give the process one CPU of each "
      "core)";
  return finding;
}

HostFinding find_numa(const HostFiles& files, const CpuList& usable) {
  HostFinding finding{"numa", "not told", {}, true};
  const std::vector<NumaNode> nodes = numa_nodes(files);
  if (nodes.empty()) return finding;
  std::vector<std::string> rows;
  std::vector<int> used;
  for (const NumaNode& node : nodes) {
    rows.push_back(fmt::format("node {}: CPUs {}, distances {}", node.number,
                               cpu_list_text(node.cpus), fmt::join(node.distances, " ")));
    if (!common(node.cpus, usable).empty()) used.push_back(node.number);
  }
  finding.found = fmt::format("{}", fmt::join(rows, "; "));
  if (used.size() > 1)
    finding.advice = fmt::format(
        "keep a process on one node, memory too: numactl --cpunodebind={0} --membind={0}", used[0]);
  return finding;
}

HostFinding find_governor(const HostFiles& files, const CpuList& usable) {
  HostFinding finding{"governor", "", {}, true};
  std::set<std::string> governors;
  std::int64_t low_khz = 0;
  std::int64_t high_khz = 0;
  for (const int cpu : usable) {
    if (const auto governor = files.line(cpu_file(cpu, "cpufreq/scaling_governor")))
      governors.insert(*governor);
    const auto khz = number_of(files.line(cpu_file(cpu, "cpufreq/scaling_cur_freq")));
    if (!khz) continue;
    low_khz = low_khz == 0 ? *khz : std::min(low_khz, *khz);
    high_khz = std::max(high_khz, *khz);
  }
  finding.found = governors.empty() ? "not told" : fmt::format("{}", fmt::join(governors, ", "));
  if (high_khz > 0) {
    finding.found += fmt::format("; {} to {} MHz now", low_khz / 1000, high_khz / 1000);
  } else if (const auto mhz = files.field("/proc/cpuinfo", "cpu MHz")) {
    finding.found += fmt::format("; {} MHz by /proc/cpuinfo", *mhz);
  }
  if (governors.empty() || governors == std::set<std::string>{"performance"}) return finding;
  finding.ok = false;
  finding.advice = "cpupower frequency-set --governor performance";
  return finding;
}

HostFinding find_isolation(const HostFiles& files, const CpuList& usable) {
  const CpuList isolated = list_in(files, "/sys/devices/system/cpu/isolated");
  const CpuList tickless = list_in(files, "/sys/devices/system/cpu/nohz_full");
  HostFinding finding{
      "isolation",
      fmt::format("isolcpus {}, nohz_full {}", cpu_list_text(isolated), cpu_list_text(tickless)),
      {},
      true};
  if (!isolated.empty() && isolated == common(isolated, tickless)) {
    finding.advice = fmt::format("set runtime.cpu to one of {}", cpu_list_text(isolated));
  } else if (usable.size() > 2) {
    finding.advice = fmt::format(
        "for the steadiest latency boot with isolcpus={0} nohz_full={0} and set runtime.cpu: {0}",
        usable.back());
  }
  return finding;
}

HostFinding find_huge_pages(const HostFiles& files) {
  HostFinding finding{"huge_pages", "", {}, true};
  std::string mode = "not told";
  if (const auto line = files.line("/sys/kernel/mm/transparent_hugepage/enabled")) {
    const std::size_t open = line->find('[');
    const std::size_t close = line->find(']', open == std::string::npos ? 0 : open);
    if (open != std::string::npos && close != std::string::npos)
      mode = line->substr(open + 1, close - open - 1);
  }
  const auto total = files.field("/proc/meminfo", "HugePages_Total");
  const auto free = files.field("/proc/meminfo", "HugePages_Free");
  const auto size = files.field("/proc/meminfo", "Hugepagesize");
  finding.found = fmt::format(
      "transparent: {}; reserved: {}", mode,
      total ? fmt::format("{} of {}, {} free", *total, size.value_or("?"), free.value_or("?"))
            : "not told");
  if (mode == "always")
    finding.advice =
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled: pages are then joined only "
        "where a program asks, not in the middle of its work";
  return finding;
}

// The files of the control group that this process is in, for the named controller of version 1.
std::string group_folder(const HostFiles& files, std::string_view controller) {
  std::istringstream lines(files.text("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names == ",," ? controller.empty()
                      : !controller.empty() &&
                            names.find(fmt::format(",{},", controller)) != std::string::npos)
      return line.substr(second + 1);
  }
  return "/";
}

// CPUs' worth of time a second that a control group allows; 0: no limit. The limits of the parents
// hold as well: the least counts.
double group_quota_cpus(const HostFiles& files) {
  double least = 0;
  const auto limit = [&least](std::optional<std::int64_t> quota,
                              std::optional<std::int64_t> period) {
    if (!quota || !period || *quota <= 0 || *period <= 0) return;
    const double cpus = static_cast<double>(*quota) / static_cast<double>(*period);
    least = least == 0 ? cpus : std::min(least, cpus);
  };
  for (const bool unified : {true, false}) {
    std::string group = group_folder(files, unified ? "" : "cpu");
    for (;;) {
      if (group == "/") group.clear();
      if (unified) {
        const auto line = files.line("/sys/fs/cgroup" + group + "/cpu.max");
        const std::size_t space = line ? line->find(' ') : std::string::npos;
        if (space != std::string::npos) limit(number_of(line), number_of(line->substr(space + 1)));
      } else {
        const std::string folder = "/sys/fs/cgroup/cpu" + group;
        limit(number_of(files.line(folder + "/cpu.cfs_quota_us")),
              number_of(files.line(folder + "/cpu.cfs_period_us")));
      }
      if (group.empty()) break;
      group.resize(group.rfind('/'));
    }
  }
  return least;
}

HostFinding find_quota(const HostFiles& files, const CpuList& usable) {
  HostFinding finding{"cpu_quota", "no limit", {}, true};
  const double quota_cpus = group_quota_cpus(files);
  if (quota_cpus == 0) return finding;
  finding.found = fmt::format("{:.2f} CPUs' time", quota_cpus);
  if (quota_cpus >= static_cast<double>(usable.size())) return finding;
  finding.ok = false;
  finding.advice = fmt::format(
      "remove the quota (Kubernetes: no CPU limit, or whole CPUs with the static policy): threads "
      "on "
      "{} CPUs are stopped for the rest of a period, mostly 100 ms, when {:.2f} CPUs' time is used",
      usable.size(), quota_cpus);
  return finding;
}

HostFinding find_swap(const HostFiles& files) {
  HostFinding finding{"swap", "none", {}, true};
  const std::int64_t total_kb = number_of(files.field("/proc/meminfo", "SwapTotal")).value_or(0);
  const std::int64_t free_kb = number_of(files.field("/proc/meminfo", "SwapFree")).value_or(0);
  if (total_kb == 0) return finding;
  finding.found =
      fmt::format("{} MiB, {} MiB in use", total_kb / 1024, (total_kb - free_kb) / 1024);
  finding.ok = total_kb == free_kb;
  finding.advice = "swapoff -a, or set runtime.lock_memory: true";
  return finding;
}

HostFinding find_clock_source(const HostFiles& files) {
  HostFinding finding{"clock_source", "not told", {}, true};
  const auto source =
      files.line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source) return finding;
  finding.found = *source;
  // Those that the kernel's vDSO reads without a system call.
  static constexpr std::array<std::string_view, 3> kFast = {"tsc", "kvm-clock",
                                                            "hyperv_clocksource_tsc_page"};
  if (std::ranges::find(kFast, *source) != kFast.end()) return finding;
  finding.ok = false;
  finding.advice = "boot with clocksource=tsc: each reading of this clock is a system call";
  return finding;
}

}  // namespace

std::vector<NumaNode> numa_nodes(const HostFiles& files) {
  std::vector<NumaNode> nodes;
  for (const int number : files.numbered(kNodeFolder, "node")) {
    const std::string folder = fmt::format("{}/node{}/", kNodeFolder, number);
    NumaNode node{number, list_in(files, folder + "cpulist"), {}};
    std::istringstream distances(files.line(folder + "distance").value_or(""));
    for (int distance = 0; distances >> distance;) node.distances.push_back(distance);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<HostFinding> host_findings(const HostFiles& files, const CpuList& usable) {
  return {find_cpu(files),
          find_isa(),
          find_cpus(files, usable),
          find_smt(files, usable),
          find_numa(files, usable),
          find_governor(files, usable),
          find_isolation(files, usable),
          find_huge_pages(files),
          find_quota(files, usable),
          find_swap(files),
          find_clock_source(files)};
}

}  // namespace tocsin
