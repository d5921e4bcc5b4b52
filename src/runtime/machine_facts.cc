// Asks the kernel: /proc/cpuinfo, uname(2), sched_getaffinity(2), cpufreq in /sys.
#include "runtime/machine_facts.h"

#include <sched.h>
#include <sys/utsname.h>

#include <fstream>

#include "kernels/isa.h"

namespace tocsin {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    return value == std::string::npos ? std::string() : line.substr(value);
  }
  return {};
}

}  // namespace

MachineFacts read_machine_facts() {
  MachineFacts facts;
  facts.cpu = cpu_model();
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0) facts.cpu_count = CPU_COUNT(&usable);
  facts.isa = selected_isa();
  utsname name{};
  if (::uname(&name) == 0) facts.kernel = std::string(name.sysname) + " " + name.release;
  std::ifstream governor("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::getline(governor, facts.governor);
  return facts;
}

}  // namespace tocsin
