// Which machine a figure was measured on.
#pragma once

#include <string>

namespace tocsin {

struct MachineFacts {
  std::string cpu;       // model name
  int cpu_count = 0;     // that this process may use
  std::string isa;       // that our kernels use
  std::string kernel;    // "Linux 6.1.0"
  std::string governor;  // of frequency; empty where the kernel does not tell
};

MachineFacts read_machine_facts();

}  // namespace tocsin
