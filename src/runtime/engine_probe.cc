// Each question is answered by a process of its own.
#include "runtime/engine_probe.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "engines/cuda/cuda_library.h"
#include "runtime/child_process.h"
#include "runtime/resident_memory.h"

namespace tocsin {
namespace {

struct SummaryAnswer {
  std::uint32_t precisions = 0;
  DeterminismClass determinism = DeterminismClass::kExact;
  int thread_count_max = 0;
  std::array<char, 64> version{};
};

template <typename Answer>
Result<Answer> ask(const std::atomic<bool>* stop, const std::function<Result<Answer>()>& question) {
  const ChildProcessOptions options{.subject = "the engine", .stop = stop};
  TOCSIN_ASSIGN_OR_RETURN(const std::string bytes, ask_child(options, [&]() -> Result<std::string> {
                            TOCSIN_ASSIGN_OR_RETURN(const Answer answer, question());
                            return bytes_of(answer);
                          }));
  Answer answer;
  TOCSIN_ASSERT(bytes.size() == sizeof answer);
  std::memcpy(&answer, bytes.data(), sizeof answer);
  return answer;
}

// Zero without a GPU.
std::int64_t device_bytes_in_use() {
  const Result<GpuFacts> gpus = read_gpu_facts();
  std::uint64_t bytes = 0;
  if (gpus.ok())
    for (const GpuDevice& device : gpus->devices) bytes += device.memory_used_bytes;
  return static_cast<std::int64_t>(bytes);
}

Result<EngineProbe> measure(const EngineProbeOptions& options, const MakeEngine& make,
                            const Clock& clock) {
  const std::int64_t device_before_bytes = device_bytes_in_use();
  const std::int64_t before_bytes = resident_bytes();
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, make(options.engine));
  const std::int64_t start_ns = clock.monotonic_time_ns();
  TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                          engine->load(options.model->onnx_path, options.session));
  const std::int64_t loaded_ns = clock.monotonic_time_ns();
  TOCSIN_ASSIGN_OR_RETURN(
      BatchTensors tensors,
      BatchTensors::make(session->signature(), options.session.batch_max, options.model->steps));
  tensors.fill_inputs(options.seed);
  const std::int64_t run_ns = clock.monotonic_time_ns();
  if (!session->run(tensors.inputs(), tensors.outputs())) return session->error();
  EngineProbe probe;
  probe.cold_start_ns = loaded_ns - start_ns + clock.monotonic_time_ns() - run_ns;
  probe.rss_bytes = resident_bytes() - before_bytes;
  probe.device_bytes = device_bytes_in_use() - device_before_bytes;
  return probe;
}

}  // namespace

Result<EngineProbe> probe_engine(const EngineProbeOptions& options, const MakeEngine& make,
                                 const Clock& clock) {
  return ask<EngineProbe>(options.stop, [&] { return measure(options, make, clock); });
}

Result<EngineSummary> summarise_engine(std::string_view name, const MakeEngine& make) {
  TOCSIN_ASSIGN_OR_RETURN(
      const SummaryAnswer answer, ask<SummaryAnswer>(nullptr, [&]() -> Result<SummaryAnswer> {
        TOCSIN_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, make(name));
        const EngineInfo info = engine->info();
        SummaryAnswer found;
        for (const Precision precision : info.precisions)
          found.precisions |= 1U << static_cast<unsigned>(precision);
        found.determinism = info.determinism;
        found.thread_count_max = info.thread_count_max;
        std::copy_n(info.version.begin(), std::min(info.version.size(), found.version.size() - 1),
                    found.version.begin());
        return found;
      }));
  return EngineSummary{answer.version.data(), answer.precisions, answer.determinism,
                       answer.thread_count_max};
}

}  // namespace tocsin
