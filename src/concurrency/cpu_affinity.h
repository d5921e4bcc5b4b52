// Which CPUs a thread may run on, and lists of CPUs as Linux writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tocsin {

// Numbers of logical CPUs, ascending, each once.
using CpuList = std::vector<int>;

// "0-3,8" (also with a newline behind it, as in /sys) -> 0 1 2 3 8; an empty text is an empty list.
// kInvalidArgument: not such a list, a range that runs backwards, or a number above 65,535.
Result<CpuList> parse_cpu_list(std::string_view text);
// The same the other way round; "none" for an empty list.
std::string cpu_list_text(const CpuList& cpus);

// That the calling thread may run on: its affinity mask, within what its control group allows.
CpuList usable_cpus();
// Binds the calling thread, and with it the threads that it starts from now on. kInvalidArgument: a
// CPU that is not there or that this process may not use; the message names those that it uses.
Status run_on_cpus(const CpuList& cpus);

}  // namespace tocsin
