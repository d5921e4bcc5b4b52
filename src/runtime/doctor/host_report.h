// `tocsin doctor host`: what this host is, what to set on it, and whether it will do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/doctor/clock_check.h"
#include "runtime/doctor/gpu_findings.h"
#include "runtime/doctor/host_findings.h"
#include "runtime/doctor/jitter_check.h"

namespace tocsin {

struct HostReportOptions {
  ClockCheckOptions clock;
  std::int64_t jitter_duration_ns = 2'000'000'000;
  int cpu = -1;  // of the jitter loop; -1: the last that this process may use
};

struct HostReport {
  std::vector<HostFinding> findings;
  std::vector<NumaNode> nodes;
  std::vector<GpuPlace> gpus;
  CpuList usable;
  ClockCheck clock;
  JitterCheck jitter;

  bool ok() const noexcept;  // all findings are
};

// kInvalidArgument: a CPU that this process may not use.
Result<HostReport> examine_host(const HostFiles& files, const HostReportOptions& options,
                                SystemClock& clock);

// One JSON object; keys are stable.
std::string host_report_json(const HostReport& report);

}  // namespace tocsin
