// An engine's pool is started by the thread that loads it, and inherits its CPUs.
#include "runtime/doctor/contention_turns.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace tocsin {
namespace {

int thread_count(const HostFiles& files) {
  return static_cast<int>(files.numbered("/proc/self/task", "").size());
}

// A thread that does one task after another; the caller waits where it wants to.
class Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  ~Worker() {
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start(std::function<void()> task) {
    {
      const std::scoped_lock lock(mutex_);
      task_ = std::move(task);
    }
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return task_ == nullptr; });
  }
  void run(std::function<void()> task) {
    start(std::move(task));
    wait();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ended_ || task_ != nullptr; });
      if (ended_) return;
      lock.unlock();
      task_();
      lock.lock();
      task_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses the others
};

// One engine with its model; everything but the constructor is called on its worker.
class Load {
 public:
  Load(const BenchModel& model, const EngineShare& share, const ContentionOptions& options)
      : model_(model), share_(share), options_(options) {}

  Status open() {
    TOCSIN_RETURN_IF_ERROR(run_on_cpus(share_.cpus));
    TOCSIN_ASSIGN_OR_RETURN(engine_, options_.make(share_.engine));
    TOCSIN_ASSIGN_OR_RETURN(
        session_, engine_->load(model_.onnx_path, {.activation_scales = model_.activation_scales,
                                                   .thread_count = share_.threads,
                                                   .batch_max = options_.batch,
                                                   .steps = model_.steps,
                                                   .batch_varies = false}));
    TOCSIN_ASSIGN_OR_RETURN(
        tensors_, BatchTensors::make(session_->signature(), options_.batch, model_.steps));
    tensors_.fill_inputs(options_.seed);
    if (!session_->run(tensors_.inputs(), tensors_.outputs())) return session_->error();
    return {};
  }

  // Runs until the time is over, once at least.
  Status take_turn(std::int64_t duration_ns, const Clock& clock, LatencyHistogram& histogram) {
    std::int64_t before_ns = clock.monotonic_time_ns();
    const std::int64_t end_ns = before_ns + duration_ns;
    do {
      if (!session_->run(tensors_.inputs(), tensors_.outputs())) return session_->error();
      const std::int64_t after_ns = clock.monotonic_time_ns();
      histogram.record(after_ns - before_ns);
      before_ns = after_ns;
    } while (before_ns < end_ns);
    return {};
  }

 private:
  const BenchModel& model_;
  const EngineShare& share_;
  const ContentionOptions& options_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Session> session_;
  BatchTensors tensors_;
};

struct Contender {
  explicit Contender(Load loaded) : load(std::move(loaded)) {}

  Load load;
  Status status;
  int pool_threads = 0;
  LatencyHistogram alone;
  LatencyHistogram together;
  Worker worker;  // last: its tasks use the others
};

}  // namespace

Result<std::array<ContentionTimes, 2>> take_contention_turns(const BenchModel& model,
                                                             const EngineShares& shares,
                                                             const ContentionOptions& options,
                                                             const Clock& clock) {
  const HostFiles files;
  std::array<Contender, 2> contenders{Contender(Load(model, shares[0], options)),
                                      Contender(Load(model, shares[1], options))};
  const auto check = [&]() -> Status {
    for (std::size_t i = 0; i < 2; ++i)
      if (!contenders[i].status.ok())
        return contenders[i].status.error().within("engine '" + shares[i].engine + "'");
    return {};
  };
  for (Contender& contender : contenders) {
    const int before = thread_count(files);
    contender.worker.run([&] { contender.status = contender.load.open(); });
    contender.pool_threads = thread_count(files) - before;
    TOCSIN_RETURN_IF_ERROR(check());
  }
  const auto start = [&](Contender& contender, LatencyHistogram& histogram) {
    contender.worker.start([&] {
      contender.status = contender.load.take_turn(options.turn_duration_ns, clock, histogram);
    });
  };
  for (int round = 0; round < options.round_count; ++round) {
    for (Contender& contender : contenders) {
      start(contender, contender.alone);
      contender.worker.wait();
    }
    for (Contender& contender : contenders) start(contender, contender.together);
    for (Contender& contender : contenders) contender.worker.wait();
    TOCSIN_RETURN_IF_ERROR(check());
  }
  std::array<ContentionTimes, 2> times;
  for (std::size_t i = 0; i < 2; ++i)
    times[i] = {contenders[i].pool_threads, contenders[i].alone.distribution(),
                contenders[i].together.distribution()};
  return times;
}

}  // namespace tocsin
