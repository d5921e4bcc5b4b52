// Reads, then measures: the clock first, as it sleeps, then the jitter.
#include "runtime/doctor/host_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "runtime/distribution_fields.h"
#include "runtime/locked_memory.h"

namespace tocsin {
namespace {

// Locked on trial: more than the limit that many systems set for a login, 8 MiB, and about what a
// run with a model of its usual size takes.
constexpr std::size_t kTrialBytes = std::size_t{64} << 20;
// The clock's own promise is 50 parts in a million (base/clock.cc); spread has two readings in it.
constexpr double kClockPpmMax = 100;
// Of time lost to the system, and in one piece: an event in a thousand, or one alert, would see it.
constexpr double kLostShareMax = 0.001;
constexpr std::int64_t kGapNsMax = 1'000'000;

HostFinding find_locked_memory() {
  HostFinding finding{"locked_memory", "", {}, true};
  const Status tried = try_locking(kTrialBytes);
  finding.ok = tried.ok();
  finding.found = fmt::format("limit {}; locking {} MiB {}", locked_memory_limit(),
                              kTrialBytes >> 20, finding.ok ? "works" : "fails");
  if (!finding.ok) finding.advice = tried.error().message();
  return finding;
}

HostFinding find_clock(const ClockCheck& check) {
  HostFinding finding{"tsc", "", {}, true};
  finding.found = fmt::format(
      "{}; {:.6f} GHz, spread {:.1f} ppm over {} spans; the program's clock drifts by {:+.1f} ppm",
      check.invariant ? "invariant" : "not invariant", check.median_frequency_hz() / 1e9,
      check.spread_ppm, check.frequency_hz.size(), check.drift_ppm);
  if (!check.invariant) {
    finding.ok = false;
    finding.advice =
        "times are read by system call or vDSO; a virtual machine may hide the "
        "counter (expose invtsc)";
  } else if (check.spread_ppm > kClockPpmMax || std::abs(check.drift_ppm) > kClockPpmMax) {
    finding.ok = false;
    finding.advice =
        "the counter and the system's clock part: look at chronyc tracking, and "
        "repeat on a quiet machine";
  }
  return finding;
}

HostFinding find_jitter(const JitterCheck& check) {
  HostFinding finding{"jitter", "", {}, true};
  std::uint64_t long_gaps = 0;
  for (const JitterBand& band : check.bands)
    if (band.lower_ns >= 10 * JitterCheck::kLostNs) long_gaps += band.count;
  finding.found = fmt::format(
      "on CPU {}: {:.3f}% of the time lost, longest gap {:.1f} us, {:.0f} gaps/s of 10 us or more",
      check.cpu, 100 * check.lost_share, static_cast<double>(check.gap_ns.max) / 1000,
      static_cast<double>(long_gaps) * 1e9 /
          static_cast<double>(std::max<std::int64_t>(1, check.elapsed_ns)));
  finding.ok = check.lost_share <= kLostShareMax && check.gap_ns.max <= kGapNsMax;
  if (!finding.ok)
    finding.advice =
        "give the pipeline a CPU that nothing else runs on (isolcpus, runtime.cpu), "
        "move interrupts away from it (/proc/irq/*/smp_affinity), and look for other "
        "load, on a virtual machine the neighbours' too";
  return finding;
}

using nlohmann::json;

json clock_json(const ClockCheck& check) {
  return {{"invariant", check.invariant},
          {"frequency_hz", check.median_frequency_hz()},
          {"frequencies_hz", check.frequency_hz},
          {"spread_ppm", check.spread_ppm},
          {"drift_ppm", check.drift_ppm}};
}

json jitter_json(const JitterCheck& check) {
  json bands = json::array();
  for (const JitterBand& band : check.bands)
    bands.push_back({{"lower_ns", band.lower_ns},
                     {"upper_ns", &band == &check.bands.back() ? json() : json(band.upper_ns)},
                     {"count", band.count},
                     {"total_ns", band.total_ns}});
  return {{"cpu", check.cpu},
          {"elapsed_ns", check.elapsed_ns},
          {"lost_share", check.lost_share},
          {"bands", bands}};
}

}  // namespace

bool HostReport::ok() const noexcept {
  return std::ranges::all_of(findings, [](const HostFinding& finding) { return finding.ok; });
}

Result<HostReport> examine_host(const HostFiles& files, const HostReportOptions& options,
                                SystemClock& clock) {
  HostReport report;
  report.usable = usable_cpus();
  if (report.usable.empty())
    return Error(ErrorCode::kUnavailable, "the kernel does not tell which CPUs may be used");
  report.nodes = numa_nodes(files);
  report.findings = host_findings(files, report.usable);
  const Result<GpuFacts> gpus = read_gpu_facts();
  if (gpus.ok()) report.gpus = gpu_places(files, *gpus);
  std::ranges::move(gpu_findings(gpus, report.gpus, report.usable),
                    std::back_inserter(report.findings));
  report.findings.push_back(find_locked_memory());
  report.clock = check_clock(clock, options.clock);
  report.findings.push_back(find_clock(report.clock));
  TOCSIN_ASSIGN_OR_RETURN(report.jitter,
                          check_jitter({.cpu = options.cpu < 0 ? report.usable.back() : options.cpu,
                                        .duration_ns = options.jitter_duration_ns},
                                       clock));
  report.findings.push_back(find_jitter(report.jitter));
  return report;
}

std::string host_report_json(const HostReport& report) {
  json findings = json::array();
  for (const HostFinding& finding : report.findings)
    findings.push_back({{"name", finding.name},
                        {"found", finding.found},
                        {"advice", finding.advice},
                        {"ok", finding.ok}});
  json nodes = json::array();
  for (const NumaNode& node : report.nodes)
    nodes.push_back({{"node", node.number}, {"cpus", node.cpus}, {"distances", node.distances}});
  json gpus = json::array();
  for (const GpuPlace& place : report.gpus)
    gpus.push_back({{"name", place.device.name},
                    {"uuid", place.device.uuid},
                    {"pci_bus_id", place.device.pci_bus_id},
                    {"node", place.node < 0 ? json() : json(place.node)},
                    {"cpus", place.cpus},
                    {"link", place.link}});
  const json root = {{"ok", report.ok()},
                     {"findings", findings},
                     {"cpus", report.usable},
                     {"numa_nodes", nodes},
                     {"gpus", gpus},
                     {"tsc", clock_json(report.clock)},
                     {"jitter_ns", distribution_fields(report.jitter.gap_ns)},
                     {"jitter", jitter_json(report.jitter)}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tocsin
