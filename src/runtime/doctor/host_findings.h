// What a host's files say about how steadily it will run, and what to set.
#pragma once

#include <string>
#include <vector>

#include "concurrency/cpu_affinity.h"
#include "runtime/doctor/host_files.h"

namespace tocsin {

struct HostFinding {
  std::string name;    // stable: "governor", "huge_pages"
  std::string found;   // what is there, in words
  std::string advice;  // what to set; empty: nothing
  bool ok = true;      // false: as it is, figures of latency are not to be trusted, or the worse
};

struct NumaNode {
  int number = 0;
  CpuList cpus;
  std::vector<int> distances;  // to each node, ascending by number; 10 is the node itself
};

// Empty where the kernel tells of no nodes.
std::vector<NumaNode> numa_nodes(const HostFiles& files);

// Of the CPUs that this process may use. Everything is read, nothing measured.
std::vector<HostFinding> host_findings(const HostFiles& files, const CpuList& usable);

}  // namespace tocsin
