// Where the GPUs stand in the host: which CPUs and which memory are near to each.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engines/cuda/cuda_library.h"
#include "runtime/doctor/host_findings.h"

namespace tocsin {

// By the place on the PCI bus.
struct GpuPlace {
  GpuDevice device;
  int node = -1;     // NUMA node; -1: not told, or there is only one
  CpuList cpus;      // near to it; empty: not told
  std::string link;  // "32.0 GT/s PCIe x16"; empty: not told
};
std::vector<GpuPlace> gpu_places(const HostFiles& files, const GpuFacts& facts);

// One finding a GPU, or one that says why there is none, which is no fault.
std::vector<HostFinding> gpu_findings(const Result<GpuFacts>& facts,
                                      const std::vector<GpuPlace>& places, const CpuList& usable);

}  // namespace tocsin
