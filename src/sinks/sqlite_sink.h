// The history of alerts and runs in an SQLite database. Alerts go in at flush(), in one
// transaction: the database holds all of a flush or nothing of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sinks/ledger_format.h"
#include "sinks/sink.h"

namespace tocsin {

class SqliteSink final : public Sink {
 public:
  // Alerts waiting for flush() at most; take() flushes by itself before there are more.
  static constexpr std::size_t kPendingMax = 4096;

  // Opens or creates the database (the folder too) and its tables, in WAL mode. kFailedPrecondition
  // if it is of another layout, kDataLoss if it is no database.
  static Result<SqliteSink> open(const std::string& path);
  ~SqliteSink() override;
  SqliteSink(SqliteSink&&) noexcept;
  SqliteSink& operator=(SqliteSink&&) noexcept;

  // Notes a run; a `resumed` one goes on in the row of the last run with the same configuration,
  // model and source that was not completed. Call before take(): alerts refer to it.
  Status begin_run(const LedgerRunStart& run, bool resumed);
  Status end_run(const LedgerRunEnd& end);

  std::string_view name() const noexcept override { return "sqlite"; }
  Result<bool> take(const Alert& alert) override;
  // After an error everything is still pending and tried again by the next flush().
  Status flush() override;
  // Of the write-ahead log: sqlite itself syncs only where it moves it into the database.
  Status sync() override;

 private:
  struct State;
  explicit SqliteSink(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tocsin
