// Tables, statements and transactions of the history database.
#include "sinks/sqlite_sink.h"

#include <sqlite3.h>

#include <bit>
#include <filesystem>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "events/quality.h"
#include "sinks/alert_text.h"
#include "sinks/file_io.h"

namespace tocsin {
namespace {

constexpr int kLayoutVersion = 1;
constexpr int kBusyTimeoutMs = 5000;

constexpr const char* kLayout = R"(
CREATE TABLE runs (
  run INTEGER PRIMARY KEY,
  started_unix_ns INTEGER NOT NULL,
  resumed_count INTEGER NOT NULL DEFAULT 0,
  ended_unix_ns INTEGER,
  end_reason TEXT,
  config TEXT NOT NULL,
  model TEXT NOT NULL,
  model_sha256 TEXT NOT NULL,
  source TEXT NOT NULL,
  source_path TEXT NOT NULL,
  engine TEXT NOT NULL,
  isa TEXT NOT NULL,
  tocsin TEXT NOT NULL
);
CREATE TABLE alerts (
  id TEXT PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs(run),
  time TEXT NOT NULL,
  exchange_time_ns INTEGER NOT NULL,
  receive_time_ns INTEGER NOT NULL,
  symbol TEXT NOT NULL,
  source TEXT NOT NULL,
  partition INTEGER NOT NULL,
  record INTEGER NOT NULL,
  rule TEXT NOT NULL,
  model TEXT NOT NULL,
  engine TEXT NOT NULL,
  determinism TEXT NOT NULL,
  score REAL,
  score_bits INTEGER NOT NULL,
  threshold REAL NOT NULL,
  mid_price TEXT NOT NULL,
  held_back INTEGER NOT NULL,
  quality TEXT NOT NULL
);
CREATE INDEX alerts_by_time ON alerts(exchange_time_ns);
)";

constexpr const char* kInsertAlert =
    "INSERT OR IGNORE INTO alerts (id, run, time, exchange_time_ns, receive_time_ns, symbol, "
    "source, "
    "partition, record, rule, model, engine, determinism, score, score_bits, threshold, mid_price, "
    "held_back, quality) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr const char* kSelectAlert = "SELECT 1 FROM alerts WHERE id = ?";
constexpr const char* kSelectOpenRun =
    "SELECT run FROM runs WHERE config = ? AND model = ? AND source = ? AND "
    "(end_reason IS NULL OR end_reason <> 'complete') ORDER BY run DESC LIMIT 1";
constexpr const char* kInsertRun =
    "INSERT INTO runs (started_unix_ns, config, model, model_sha256, source, source_path, engine, "
    "isa, "
    "tocsin) VALUES (?,?,?,?,?,?,?,?,?)";
constexpr const char* kResumeRun =
    "UPDATE runs SET resumed_count = resumed_count + 1, ended_unix_ns = NULL, end_reason = NULL "
    "WHERE run = ?";
constexpr const char* kEndRun = "UPDATE runs SET ended_unix_ns = ?, end_reason = ? WHERE run = ?";

ErrorCode code_of(int sqlite_code) noexcept {
  switch (sqlite_code & 0xFF) {
    case SQLITE_FULL:
      return ErrorCode::kResourceExhausted;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return ErrorCode::kPermissionDenied;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kDataLoss;
    default:
      return ErrorCode::kUnavailable;
  }
}

struct CloseDatabase {
  void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// Binds values from the first parameter on. Texts must outlive the next step.
class Binding {
 public:
  explicit Binding(sqlite3_stmt* statement) : statement_(statement) {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  Binding& text(std::string_view value) {
    sqlite3_bind_text64(statement_, ++index_, value.data(), value.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
    return *this;
  }
  Binding& integer(std::int64_t value) {
    sqlite3_bind_int64(statement_, ++index_, value);
    return *this;
  }
  // A NaN becomes NULL.
  Binding& real(double value) {
    sqlite3_bind_double(statement_, ++index_, value);
    return *this;
  }

 private:
  sqlite3_stmt* statement_;
  int index_ = 0;
};

}  // namespace

struct SqliteSink::State {
  std::string path;
  Database database;
  Statement insert_alert;
  Statement select_alert;
  std::int64_t run = 0;
  std::vector<Alert> pending;
  std::unordered_set<std::uint64_t> pending_ids;

  Error error(std::string_view action) const {
    return Error(code_of(sqlite3_extended_errcode(database.get())),
                 path + ": cannot " + std::string(action) + ": " + sqlite3_errmsg(database.get()));
  }
  Status execute(const char* sql, std::string_view action) const {
    if (sqlite3_exec(database.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return error(action);
  }
  Result<Statement> prepare(const char* sql) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database.get(), sql, -1, &statement, nullptr) != SQLITE_OK)
      return error("prepare a statement");
    return Statement(statement);
  }
  // True if the statement gave a row.
  Result<bool> step(sqlite3_stmt* statement, std::string_view action) const {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_ROW || code == SQLITE_DONE) return code == SQLITE_ROW;
    const Error failure = error(action);
    sqlite3_reset(statement);
    return failure;
  }

  Result<std::int64_t> first_integer(const char* sql) const {
    TOCSIN_ASSIGN_OR_RETURN(const Statement statement, prepare(sql));
    TOCSIN_ASSIGN_OR_RETURN(const bool has_row, step(statement.get(), "be read"));
    return has_row ? sqlite3_column_int64(statement.get(), 0) : 0;
  }

  Status lay_out();
  Status insert(const Alert& alert);
};

SqliteSink::SqliteSink(std::unique_ptr<State> state) : state_(std::move(state)) {}
SqliteSink::~SqliteSink() = default;
SqliteSink::SqliteSink(SqliteSink&&) noexcept = default;
SqliteSink& SqliteSink::operator=(SqliteSink&&) noexcept = default;

Result<SqliteSink> SqliteSink::open(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) TOCSIN_RETURN_IF_ERROR(create_folders(folder.string()));
  auto state = std::make_unique<State>();
  state->path = path;
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  state->database.reset(database);
  if (code != SQLITE_OK) return state->error("be opened");
  sqlite3_busy_timeout(database, kBusyTimeoutMs);
  TOCSIN_RETURN_IF_ERROR(state->execute("PRAGMA journal_mode = WAL", "be switched to WAL"));
  TOCSIN_RETURN_IF_ERROR(state->execute("PRAGMA synchronous = NORMAL", "be set up"));
  TOCSIN_RETURN_IF_ERROR(state->lay_out());
  TOCSIN_ASSIGN_OR_RETURN(state->insert_alert, state->prepare(kInsertAlert));
  TOCSIN_ASSIGN_OR_RETURN(state->select_alert, state->prepare(kSelectAlert));
  return SqliteSink(std::move(state));
}

Status SqliteSink::State::lay_out() {
  TOCSIN_RETURN_IF_ERROR(execute("BEGIN IMMEDIATE", "be written"));
  auto version = first_integer("PRAGMA user_version");
  auto tables = first_integer("SELECT count(*) FROM sqlite_master");
  Status status = !version.ok()  ? Status(version.error())
                  : !tables.ok() ? Status(tables.error())
                                 : Status();
  if (status.ok() && *version == 0 && *tables == 0) {
    const std::string sql = kLayout + ("PRAGMA user_version = " + std::to_string(kLayoutVersion));
    status = execute(sql.c_str(), "be laid out");
  } else if (status.ok() && *version != kLayoutVersion) {
    status = Error(ErrorCode::kFailedPrecondition,
                   path + ": the database's layout has version " + std::to_string(*version) +
                       "; expected " + std::to_string(kLayoutVersion) + ", or an empty database");
  }
  if (status.ok()) status = execute("COMMIT", "be laid out");
  if (!status.ok() && sqlite3_get_autocommit(database.get()) == 0)
    sqlite3_exec(database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}

Status SqliteSink::begin_run(const LedgerRunStart& run, bool resumed) {
  const std::string model = run.model_name + "/" + run.model_version;
  if (resumed) {
    TOCSIN_ASSIGN_OR_RETURN(const Statement select, state_->prepare(kSelectOpenRun));
    Binding(select.get()).text(run.config).text(model).text(run.source_name);
    TOCSIN_ASSIGN_OR_RETURN(const bool found, state_->step(select.get(), "read its runs"));
    if (found) {
      state_->run = sqlite3_column_int64(select.get(), 0);
      sqlite3_reset(select.get());
      TOCSIN_ASSIGN_OR_RETURN(const Statement resume, state_->prepare(kResumeRun));
      Binding(resume.get()).integer(state_->run);
      TOCSIN_RETURN_IF_ERROR(state_->step(resume.get(), "note the run"));
      return {};
    }
  }
  TOCSIN_ASSIGN_OR_RETURN(const Statement insert, state_->prepare(kInsertRun));
  Binding(insert.get())
      .integer(run.unix_time_ns)
      .text(run.config)
      .text(model)
      .text(to_hex(run.model_sha256))
      .text(run.source_name)
      .text(run.source_path)
      .text(run.engine)
      .text(run.isa)
      .text(run.tocsin_version + " " + run.tocsin_commit);
  TOCSIN_RETURN_IF_ERROR(state_->step(insert.get(), "note the run"));
  state_->run = sqlite3_last_insert_rowid(state_->database.get());
  return {};
}

Status SqliteSink::end_run(const LedgerRunEnd& end) {
  TOCSIN_ASSIGN_OR_RETURN(const Statement update, state_->prepare(kEndRun));
  Binding(update.get())
      .integer(end.unix_time_ns)
      .text(run_end_reason_name(end.reason))
      .integer(state_->run);
  TOCSIN_RETURN_IF_ERROR(state_->step(update.get(), "note the run's end"));
  return sync();
}

Status SqliteSink::sync() {
  std::error_code ignored;
  const std::string log = state_->path + "-wal";
  if (!std::filesystem::exists(log, ignored)) return {};
  TOCSIN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(log));
  return file.sync();
}

Result<bool> SqliteSink::take(const Alert& alert) {
  if (state_->pending_ids.contains(alert.decision.id.value)) return false;
  Binding(state_->select_alert.get()).text(format_alert_id(alert.decision.id));
  TOCSIN_ASSIGN_OR_RETURN(const bool held,
                          state_->step(state_->select_alert.get(), "look up an alert"));
  sqlite3_reset(state_->select_alert.get());
  if (held) return false;
  if (state_->pending.size() >= kPendingMax) TOCSIN_RETURN_IF_ERROR(flush());
  state_->pending.push_back(alert);
  state_->pending_ids.insert(alert.decision.id.value);
  return true;
}

Status SqliteSink::State::insert(const Alert& alert) {
  const DecisionRecord& decision = alert.decision;
  const FeatureFrame& frame = decision.frame;
  Binding(insert_alert.get())
      .text(format_alert_id(decision.id))
      .integer(run)
      .text(format_time(frame.exchange_time_ns))
      .integer(frame.exchange_time_ns)
      .integer(frame.receive_time_ns)
      .text(alert.symbol)
      .text(alert.source)
      .integer(frame.position.partition)
      .integer(static_cast<std::int64_t>(frame.position.record))
      .text(alert.rule)
      .text(alert.model)
      .text(alert.engine)
      .text(determinism_name(decision.determinism))
      .real(shortest_double(decision.score))
      .integer(std::bit_cast<std::uint32_t>(decision.score))
      .real(shortest_double(decision.threshold))
      .text(format_mid_price(frame.mid_price_nanos_x2))
      .integer(static_cast<std::int64_t>(decision.suppressed_count))
      .text(quality_names(frame.quality));
  TOCSIN_RETURN_IF_ERROR(step(insert_alert.get(), "write an alert"));
  sqlite3_reset(insert_alert.get());
  return {};
}

Status SqliteSink::flush() {
  if (state_->pending.empty()) return {};
  TOCSIN_RETURN_IF_ERROR(state_->execute("BEGIN IMMEDIATE", "be written"));
  Status status;
  for (const Alert& alert : state_->pending) {
    status = state_->insert(alert);
    if (!status.ok()) break;
  }
  if (status.ok()) status = state_->execute("COMMIT", "be written");
  if (status.ok()) {
    state_->pending.clear();
    state_->pending_ids.clear();
  } else if (sqlite3_get_autocommit(state_->database.get()) == 0) {
    sqlite3_exec(state_->database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return status;
}

}  // namespace tocsin
