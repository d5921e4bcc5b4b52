// Two engines in one process fight for its CPUs: each is measured alone and both at once, as they
// are and then as advised, each setting in a process of its own.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "concurrency/cpu_affinity.h"
#include "runtime/bench_model.h"
#include "runtime/doctor/host_files.h"
#include "runtime/engine_probe.h"
#include "telemetry/histogram.h"

namespace tocsin {

// How one of the two engines is run.
struct EngineShare {
  std::string engine;
  int threads = 1;
  CpuList cpus;  // that its threads are bound to
};
using EngineShares = std::array<EngineShare, 2>;

struct ContentionOptions {
  std::vector<std::string>
      engines;      // two; empty: the first two of contending_engines() that are found
  int threads = 2;  // of each engine, as they are
  std::int64_t batch = 32;
  std::int64_t turn_duration_ns = 300'000'000;  // of each engine alone, and of both together
  int round_count = 3;                          // of the three turns
  std::uint64_t seed = 1;                       // of the inputs
  MakeEngine make = make_engine;
};

struct ContentionLoad {
  EngineShare share;
  int pool_threads = 0;      // that the process had more once the engine was loaded and run
  Distribution alone_ns;     // of one run
  Distribution together_ns;  // while the other engine runs as well

  double slow_down() const noexcept;  // of the mean
};

struct ContentionSetting {
  std::array<ContentionLoad, 2> loads;

  double slow_down() const noexcept;               // of the engine that suffers more
  double windows_per_s(std::int64_t batch) const;  // of both together
};

struct ContentionReport {
  // A run may take this much longer while another engine runs: caches and memory are shared
  // whatever is set.
  static constexpr double kSlowDownMax = 1.2;

  std::string model;
  std::int64_t batch = 0;
  CpuList usable;
  ContentionSetting found;
  // The same with the advice followed; nothing where there is one CPU, which cannot be divided.
  std::optional<ContentionSetting> advised;
  std::vector<std::string> advice;  // empty where nothing is to be set

  bool ok() const noexcept { return found.slow_down() <= kSlowDownMax; }
  // Whether the engines hinder each other less as advised, and get no less done.
  bool proved() const noexcept;
};

// The engines with libraries of their own, and ours: those that are looked for without a choice.
std::vector<std::string> contending_engines();

// The CPUs divided between the two: cores and their siblings stay together, and no engine has more
// threads than CPUs. Nothing where there is one CPU only.
std::optional<EngineShares> divide_cpus(const EngineShares& shares, const CpuList& usable,
                                        const HostFiles& files);

// kUnavailable: fewer than two of the engines are here. Call it before this process has threads.
Result<ContentionReport> measure_contention(const BenchModel& model,
                                            const ContentionOptions& options,
                                            const HostFiles& files, const Clock& clock);

// One JSON object; keys are stable.
std::string contention_json(const ContentionReport& report);

}  // namespace tocsin
