// Kills a run at every place there is and starts it again: ledger, JSON lines and history must come
// out as those of a run that nobody disturbed.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "sinks/jsonl_sink.h"
#include "sinks/sample_ledger.h"
#include "sinks/sink_thread.h"
#include "sinks/sqlite_sink.h"

namespace tocsin {
namespace {

constexpr std::uint64_t kSegmentBytes = 8192;

// All that one process of a run has open.
class RunProcess {
 public:
  static Result<std::unique_ptr<RunProcess>> open(const std::string& folder, const Clock& clock) {
    const LedgerRunStart run = sample_run();
    TOCSIN_ASSIGN_OR_RETURN(auto ledger,
                            LedgerWriter::open({folder + "/ledger", kSegmentBytes}, run));
    TOCSIN_ASSIGN_OR_RETURN(JsonlSink jsonl, JsonlSink::open(folder + "/alerts.jsonl"));
    TOCSIN_ASSIGN_OR_RETURN(SqliteSink sqlite, SqliteSink::open(folder + "/history.db"));
    TOCSIN_RETURN_IF_ERROR(sqlite.begin_run(run, ledger->opening().resumed));
    return std::unique_ptr<RunProcess>(
        new RunProcess(run, std::move(ledger), std::move(jsonl), std::move(sqlite), clock));
  }

  SpscRing<DecisionRecord>& ring() { return ring_; }
  SinkThread& thread() { return thread_; }
  LedgerWriter& ledger() { return *ledger_; }

  Status finish() {
    TOCSIN_RETURN_IF_ERROR(thread_.stop());
    TOCSIN_RETURN_IF_ERROR(ledger_->finish(sample_run_end()));
    return sqlite_.end_run(sample_run_end());
  }

 private:
  RunProcess(const LedgerRunStart& run, std::unique_ptr<LedgerWriter> ledger, JsonlSink jsonl,
             SqliteSink sqlite, const Clock& clock)
      : run_(run),
        ledger_(std::move(ledger)),
        jsonl_(std::move(jsonl)),
        sqlite_(std::move(sqlite)),
        thread_({ring_, symbols_, clock, *ledger_, run_, {&jsonl_, &sqlite_}},
                {.flush_record_count = 16, .flush_interval_ns = 2'000'000, .outbox = {}}) {
    symbols_.put(0, kSampleSymbol);
  }

  LedgerRunStart run_;
  std::unique_ptr<LedgerWriter> ledger_;
  JsonlSink jsonl_;
  SqliteSink sqlite_;
  SymbolTable symbols_;
  SpscRing<DecisionRecord> ring_{256};
  SinkThread thread_;
};

// What a run leaves that must not depend on how often it was killed.
struct Outcome {
  std::vector<std::vector<std::byte>> decisions;
  std::string jsonl;
  std::vector<std::string> history;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::vector<std::string> history_of(const std::string& path) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr), SQLITE_OK);
  std::vector<std::string> rows;
  const auto add = [](void* context, int count, char** values, char**) {
    std::string row;
    for (int i = 0; i < count; ++i)
      row += std::string(values[i] == nullptr ? "NULL" : values[i]) + "|";
    static_cast<std::vector<std::string>*>(context)->push_back(row);
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(database, "SELECT * FROM alerts ORDER BY rowid", add, &rows, nullptr),
            SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "SELECT run, config FROM runs", add, &rows, nullptr), SQLITE_OK);
  sqlite3_close(database);
  return rows;
}

Outcome outcome_of(const std::string& folder) {
  FolderLedgerStore store(folder + "/ledger");
  const auto report = verify_ledger(store);
  EXPECT_TRUE(report.ok() && report->ok());
  EXPECT_EQ(report->torn_bytes, 0U);
  return {repeatable_decisions(store), read_text(folder + "/alerts.jsonl"),
          history_of(folder + "/history.db")};
}

Status run_undisturbed(const std::string& folder, const std::vector<DecisionRecord>& decisions) {
  const ManualClock clock;
  TOCSIN_ASSIGN_OR_RETURN(const auto process, RunProcess::open(folder, clock));
  for (const DecisionRecord& decision : decisions) {
    while (!process->ring().try_push(decision)) process->thread().duty_cycle();
  }
  return process->finish();
}

// A process that is gone at once: nothing is flushed, what was in its memory is lost.
TEST(Restart, StoppedAfterAnyDecisionTheRunEndsTheSame) {
  const auto decisions = random_decisions(21, 60);
  TemporaryFolder reference;
  ASSERT_TRUE(run_undisturbed(reference.path("."), decisions).ok());
  const Outcome expected = outcome_of(reference.path("."));
  ASSERT_EQ(expected.decisions.size(), decisions.size());
  ASSERT_GT(expected.history.size(), 10U);
  for (std::size_t stop = 0; stop <= decisions.size(); ++stop) {
    SCOPED_TRACE("stopped after " + std::to_string(stop));
    TemporaryFolder folder;
    {
      const ManualClock clock;
      auto process = RunProcess::open(folder.path("."), clock);
      ASSERT_TRUE(process.ok());
      for (std::size_t i = 0; i < stop; ++i) {
        ASSERT_TRUE((*process)->ring().try_push(decisions[i]));
        (*process)->thread().duty_cycle();
      }
    }
    ASSERT_TRUE(run_undisturbed(folder.path("."), decisions).ok());
    ASSERT_TRUE(outcome_of(folder.path(".")) == expected);
  }
}

// The child of a fork: a whole run with its thread. Tells the parent of each decision by a byte.
[[noreturn]] void run_child(const std::string& folder, const std::vector<DecisionRecord>& decisions,
                            int progress) {
  const SystemClock clock;
  auto process = RunProcess::open(folder, clock);
  if (!process.ok()) {
    std::fprintf(stderr, "%s\n", process.error().message().c_str());
    ::_exit(3);
  }
  (*process)->thread().start();
  for (const DecisionRecord& decision : decisions) {
    while (!(*process)->ring().try_push(decision)) {
      if ((*process)->thread().failed()) break;
      std::this_thread::yield();
    }
    const char byte = 'p';
    if (::write(progress, &byte, 1) != 1) ::_exit(4);
  }
  const Status status = (*process)->finish();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().message().c_str());
  ::_exit(status.ok() ? 0 : 5);
}

enum class ChildEnd { kKilled, kComplete, kFailed };

// Kills the child with -9 after it has told of `kill_after` decisions; lets it run if that never
// comes.
ChildEnd run_and_kill(const std::string& folder, const std::vector<DecisionRecord>& decisions,
                      std::uint64_t kill_after) {
  int progress[2];
  TOCSIN_ASSERT(::pipe(progress) == 0);
  const pid_t child = ::fork();
  TOCSIN_ASSERT(child >= 0);
  if (child == 0) {
    ::close(progress[0]);
    run_child(folder, decisions, progress[1]);
  }
  ::close(progress[1]);
  std::uint64_t told = 0;
  char byte = 0;
  while (told < kill_after && ::read(progress[0], &byte, 1) == 1) ++told;
  if (told >= kill_after) ::kill(child, SIGKILL);
  while (::read(progress[0], &byte, 1) == 1) continue;
  ::close(progress[0]);
  int status = 0;
  TOCSIN_ASSERT(::waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) return ChildEnd::kKilled;
  return WEXITSTATUS(status) == 0 ? ChildEnd::kComplete : ChildEnd::kFailed;
}

// What a killed run has left reads up to its last complete record. A ledger may not be there yet.
bool is_readable(const std::string& ledger_folder, bool& is_complete) {
  FolderLedgerStore store(ledger_folder);
  is_complete = false;
  const auto report = verify_ledger(store, {}, [&](const LedgerEntry& entry) {
    is_complete = entry.kind == LedgerRecordKind::kRunEnd;
  });
  if (!report.ok() || report->ok()) return true;
  ADD_FAILURE() << format_ledger_fault(*report->fault);
  return false;
}

TEST(Restart, KilledWithMinusNineAgainAndAgainTheRunEndsTheSame) {
  const auto decisions = random_decisions(22, 4000);
  TemporaryFolder reference;
  ASSERT_TRUE(run_undisturbed(reference.path("."), decisions).ok());
  const Outcome expected = outcome_of(reference.path("."));
  int kill_count = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    TemporaryFolder folder;
    ChildEnd end = ChildEnd::kKilled;
    bool is_complete = false;
    for (int attempt = 0; end == ChildEnd::kKilled; ++attempt) {
      // From before anything is open to shortly before the end; at last it may finish.
      const std::uint64_t kill_after =
          attempt < 12 ? random() % decisions.size() : decisions.size() + 1;
      end = run_and_kill(folder.path("."), decisions, kill_after);
      ASSERT_NE(end, ChildEnd::kFailed);
      kill_count += end == ChildEnd::kKilled ? 1 : 0;
      if (end != ChildEnd::kKilled) continue;
      if (!is_readable(folder.path("ledger"), is_complete)) return;
      if (is_complete) break;  // killed between its last record and its end
    }
    ASSERT_TRUE(outcome_of(folder.path(".")) == expected);
  }
  std::printf("%d kills\n", kill_count);
  EXPECT_GE(kill_count, 20);
}

}  // namespace
}  // namespace tocsin
