// Chooses the engines, divides the CPUs, and compares the two settings.
#include "runtime/doctor/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/assert.h"
#include "runtime/child_process.h"
#include "runtime/distribution_fields.h"
#include "runtime/doctor/contention_turns.h"

namespace tocsin {
namespace {

// Of the engines' work together; less than this is the noise of two measurements.
constexpr double kLossAllowed = 0.1;

// Bound to all CPUs, with as many threads as were asked for or the engine makes use of.
Result<EngineShares> choose_engines(const ContentionOptions& options, const CpuList& usable) {
  const bool chosen = !options.engines.empty();
  if (chosen && options.engines.size() != 2)
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("two engines can fight, {} are named", options.engines.size()));
  EngineShares shares;
  std::size_t count = 0;
  std::string missing;
  for (const std::string& name : chosen ? options.engines : contending_engines()) {
    if (count == shares.size()) break;
    // In a process of its own: a library that is opened here would be in all that follow.
    const Result<EngineSummary> summary = summarise_engine(name, options.make);
    if (summary.ok()) {
      const int most = summary->thread_count_max;
      shares[count++] = {name, most > 0 ? std::min(most, options.threads) : options.threads,
                         usable};
    } else if (chosen) {
      return summary.error();
    } else {
      missing += "\n  " + summary.error().message();
    }
  }
  if (count < shares.size())
    return Error(ErrorCode::kUnavailable, "fewer than two engines are here:" + missing);
  return shares;
}

Result<ContentionSetting> measure_setting(const BenchModel& model, const EngineShares& shares,
                                          const ContentionOptions& options, const Clock& clock) {
  using Times = std::array<ContentionTimes, 2>;
  TOCSIN_ASSIGN_OR_RETURN(
      const std::string bytes,
      ask_child({.subject = "one of the engines"}, [&]() -> Result<std::string> {
        TOCSIN_ASSIGN_OR_RETURN(const Times times,
                                take_contention_turns(model, shares, options, clock));
        return bytes_of(times);
      }));
  Times times;
  TOCSIN_ASSERT(bytes.size() == sizeof times);
  std::memcpy(&times, bytes.data(), sizeof times);
  ContentionSetting setting;
  for (std::size_t i = 0; i < 2; ++i)
    setting.loads[i] = {shares[i], times[i].pool_threads, times[i].alone_ns, times[i].together_ns};
  return setting;
}

std::vector<std::string> advise(const ContentionReport& report) {
  std::vector<std::string> advice;
  if (report.ok()) return advice;
  if (!report.advised) {
    advice.push_back("give the process a second CPU, or let one engine do all the work");
    return advice;
  }
  const auto& found = report.found.loads;
  const auto& advised = report.advised->loads;
  std::string threads;
  std::string cpus;
  for (std::size_t i = 0; i < 2; ++i) {
    const EngineShare& share = advised[i].share;
    if (share.threads != found[i].share.threads)
      threads +=
          fmt::format("{}{} to {}", threads.empty() ? "" : ", ", share.engine, share.threads);
    cpus += fmt::format("{}{} on {}", cpus.empty() ? "" : ", ", share.engine,
                        cpu_list_text(share.cpus));
  }
  if (!threads.empty()) advice.push_back("set the engines' threads: " + threads);
  advice.push_back("give each engine CPUs of its own: " + cpus +
                   " (load each in a thread that is bound to them, which its pool inherits, or run "
                   "two processes under taskset -c)");
  return advice;
}

using nlohmann::json;

json setting_json(const ContentionSetting& setting, std::int64_t batch) {
  json engines = json::array();
  for (const ContentionLoad& load : setting.loads)
    engines.push_back({{"engine", load.share.engine},
                       {"threads", load.share.threads},
                       {"pool_threads", load.pool_threads},
                       {"cpus", load.share.cpus},
                       {"alone_ns", distribution_fields(load.alone_ns)},
                       {"together_ns", distribution_fields(load.together_ns)},
                       {"slow_down", load.slow_down()}});
  return {{"engines", engines},
          {"slow_down", setting.slow_down()},
          {"windows_per_s", setting.windows_per_s(batch)}};
}

}  // namespace

double ContentionLoad::slow_down() const noexcept {
  return static_cast<double>(together_ns.mean) /
         static_cast<double>(std::max<std::int64_t>(1, alone_ns.mean));
}

double ContentionSetting::slow_down() const noexcept {
  return std::max(loads[0].slow_down(), loads[1].slow_down());
}

double ContentionSetting::windows_per_s(std::int64_t batch) const {
  double sum = 0;
  for (const ContentionLoad& load : loads)
    sum += static_cast<double>(batch) * 1e9 /
           static_cast<double>(std::max<std::int64_t>(1, load.together_ns.mean));
  return sum;
}

bool ContentionReport::proved() const noexcept {
  return advised && advised->slow_down() < found.slow_down() &&
         advised->windows_per_s(batch) >= (1 - kLossAllowed) * found.windows_per_s(batch);
}

std::vector<std::string> contending_engines() { return {"onnxruntime", "openvino", "native"}; }

std::optional<EngineShares> divide_cpus(const EngineShares& shares, const CpuList& usable,
                                        const HostFiles& files) {
  if (usable.size() < 2) return std::nullopt;
  // By core, so that two threads of one core do not serve two engines.
  std::vector<std::pair<int, int>> by_core;
  for (const int cpu : usable) {
    const Result<CpuList> siblings = parse_cpu_list(
        files.line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu))
            .value_or(""));
    by_core.emplace_back(siblings.ok() && !siblings->empty() ? siblings->front() : cpu, cpu);
  }
  std::ranges::sort(by_core);
  EngineShares divided = shares;
  for (EngineShare& share : divided) share.cpus.clear();
  const std::size_t half = by_core.size() / 2;
  for (std::size_t i = 0; i < by_core.size(); ++i)
    divided[i < half ? 0 : 1].cpus.push_back(by_core[i].second);
  for (EngineShare& share : divided) {
    std::ranges::sort(share.cpus);
    share.threads = std::min(share.threads, static_cast<int>(share.cpus.size()));
  }
  return divided;
}

Result<ContentionReport> measure_contention(const BenchModel& model,
                                            const ContentionOptions& options,
                                            const HostFiles& files, const Clock& clock) {
  ContentionReport report;
  report.model = model.name;
  report.batch = options.batch;
  report.usable = usable_cpus();
  if (report.usable.empty())
    return Error(ErrorCode::kUnavailable, "the kernel does not tell which CPUs may be used");
  TOCSIN_ASSIGN_OR_RETURN(const EngineShares shares, choose_engines(options, report.usable));
  TOCSIN_ASSIGN_OR_RETURN(report.found, measure_setting(model, shares, options, clock));
  if (const auto divided = divide_cpus(shares, report.usable, files)) {
    TOCSIN_ASSIGN_OR_RETURN(report.advised, measure_setting(model, *divided, options, clock));
  }
  report.advice = advise(report);
  return report;
}

std::string contention_json(const ContentionReport& report) {
  const json root = {
      {"ok", report.ok()},
      {"model", report.model},
      {"batch", report.batch},
      {"cpus", report.usable},
      {"found", setting_json(report.found, report.batch)},
      {"advice", report.advice},
      {"advised", report.advised ? setting_json(*report.advised, report.batch) : json()},
      {"proved", report.proved()}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tocsin
