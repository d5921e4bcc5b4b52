// The driver tells a GPU's place on the bus, the kernel what is near to it.
#include "runtime/doctor/gpu_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace tocsin {
namespace {

std::string link_of(const HostFiles& files, const std::string& folder) {
  const auto speed = files.line(folder + "current_link_speed");
  const auto width = files.line(folder + "current_link_width");
  return speed && width ? fmt::format("{} x{}", *speed, *width) : std::string();
}

HostFinding finding_of(std::size_t index, const GpuPlace& place, const CpuList& usable) {
  const GpuDevice& device = place.device;
  HostFinding finding{fmt::format("gpu{}", index), "", {}, true};
  finding.found =
      fmt::format("{}, compute capability {}, {:.0f} GiB, {} at {}", device.name,
                  device.capability(), static_cast<double>(device.memory_bytes) / 0x1p30,
                  device.mig_enabled ? "divided (MIG)" : "whole", device.pci_bus_id);
  if (!place.link.empty()) finding.found += ", " + place.link;
  if (place.node >= 0) finding.found += fmt::format(", NUMA node {}", place.node);
  if (place.cpus.empty()) return finding;
  finding.found += fmt::format(", near to CPUs {}", cpu_list_text(place.cpus));
  CpuList near;
  std::ranges::set_intersection(place.cpus, usable, std::back_inserter(near));
  if (near.empty()) {
    finding.ok = false;
    finding.advice = fmt::format(
        "this process may use none of them: start it with taskset -c {0}, or set runtime.cpu to "
        "one of {0}",
        cpu_list_text(place.cpus));
  }
  return finding;
}

}  // namespace

std::vector<GpuPlace> gpu_places(const HostFiles& files, const GpuFacts& facts) {
  std::vector<GpuPlace> places;
  for (const GpuDevice& device : facts.devices) {
    const std::string folder = "/sys/bus/pci/devices/" + device.pci_bus_id + "/";
    GpuPlace place{.device = device, .cpus = {}, .link = link_of(files, folder)};
    const std::string node = files.line(folder + "numa_node").value_or("");
    std::from_chars(node.data(), node.data() + node.size(), place.node);
    const Result<CpuList> cpus = parse_cpu_list(files.line(folder + "local_cpulist").value_or(""));
    if (cpus.ok()) place.cpus = *cpus;
    places.push_back(std::move(place));
  }
  return places;
}

std::vector<HostFinding> gpu_findings(const Result<GpuFacts>& facts,
                                      const std::vector<GpuPlace>& places, const CpuList& usable) {
  if (!facts.ok()) return {{"gpu", std::string(facts.error().message()), {}, true}};
  std::vector<HostFinding> findings;
  findings.reserve(places.size());
  for (const GpuPlace& place : places)
    findings.push_back(finding_of(findings.size(), place, usable));
  return findings;
}

}  // namespace tocsin
