#include "sinks/sqlite_sink.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <vector>

#include "sinks/file_size_limit.h"
#include "sinks/sample_ledger.h"

namespace tocsin {
namespace {

std::vector<Alert> sample_alerts(std::uint64_t count) {
  std::vector<Alert> alerts;
  for (const DecisionRecord& decision : random_decisions(1, count)) {
    Alert alert;
    alert.decision = decision;
    alert.symbol = "BTCUSDT";
    alert.source = "sample.csv";
    alert.rule = "burst";
    alert.model = "lstm/1";
    alert.engine = "reference";
    alerts.push_back(alert);
  }
  return alerts;
}

// The rows of a query, as text, columns parted by '|'; opened anew, as another program would.
std::vector<std::string> rows_of(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr), SQLITE_OK);
  std::vector<std::string> rows;
  const auto add = [](void* context, int count, char** values, char**) {
    std::string row;
    for (int i = 0; i < count; ++i)
      row += std::string(i == 0 ? "" : "|") + (values[i] == nullptr ? "NULL" : values[i]);
    static_cast<std::vector<std::string>*>(context)->push_back(row);
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), add, &rows, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
  return rows;
}

TEST(SqliteSink, HoldsAlertsAfterAFlush) {
  TemporaryFolder folder;
  const std::string path = folder.path("out/history.db");
  auto alerts = sample_alerts(3);
  alerts[0].decision.id.value = 0x1a2b3c4d5e6f7081U;
  alerts[0].decision.score = 0.95F;
  alerts[0].decision.frame.mid_price_nanos_x2 = 123'600'500'000'000;
  alerts[0].decision.frame.quality = Quality::kGap;
  auto sink = SqliteSink::open(path);
  ASSERT_TRUE(sink.ok()) << sink.error().message();
  ASSERT_TRUE(sink->begin_run(sample_run(), false).ok());
  for (const Alert& alert : alerts) EXPECT_TRUE(*sink->take(alert));
  EXPECT_EQ(rows_of(path, "SELECT count(*) FROM alerts"), std::vector<std::string>{"0"});
  ASSERT_TRUE(sink->flush().ok());
  EXPECT_EQ(rows_of(path, "SELECT count(*) FROM alerts"), std::vector<std::string>{"3"});
  EXPECT_EQ(
      rows_of(path,
              "SELECT id, run, symbol, source, partition, record, rule, model, engine, "
              "determinism, score, score_bits, threshold, mid_price, quality FROM alerts "
              "WHERE id = 'tocsin:1a2b3c4d5e6f7081'"),
      std::vector<std::string>{"tocsin:1a2b3c4d5e6f7081|1|BTCUSDT|sample.csv|0|1|burst|lstm/1|"
                               "reference|exact|0.95|1064514355|0.9|61800.25|gap"});
  EXPECT_EQ(rows_of(path, "PRAGMA journal_mode"), std::vector<std::string>{"wal"});
}

TEST(SqliteSink, TakesAnAlertOnceAlsoAfterReopening) {
  TemporaryFolder folder;
  const std::string path = folder.path("history.db");
  const auto alerts = sample_alerts(3);
  {
    auto sink = SqliteSink::open(path);
    ASSERT_TRUE(sink->begin_run(sample_run(), false).ok());
    EXPECT_TRUE(*sink->take(alerts[0]));
    EXPECT_FALSE(*sink->take(alerts[0]));  // still pending
    ASSERT_TRUE(sink->flush().ok());
    EXPECT_FALSE(*sink->take(alerts[0]));
    EXPECT_TRUE(*sink->take(alerts[1]));  // never flushed: lost, and given again by a restart
  }
  auto sink = SqliteSink::open(path);
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE(sink->begin_run(sample_run(), true).ok());
  EXPECT_FALSE(*sink->take(alerts[0]));
  EXPECT_TRUE(*sink->take(alerts[1]));
  ASSERT_TRUE(sink->flush().ok());
  EXPECT_EQ(rows_of(path, "SELECT count(*) FROM alerts"), std::vector<std::string>{"2"});
}

TEST(SqliteSink, TwoWritersOfOneAlertLeaveOneRow) {
  TemporaryFolder folder;
  const std::string path = folder.path("history.db");
  const auto alerts = sample_alerts(2);
  auto first = SqliteSink::open(path);
  auto second = SqliteSink::open(path);
  ASSERT_TRUE(first->begin_run(sample_run(), false).ok());
  ASSERT_TRUE(second->begin_run(sample_run(), false).ok());
  EXPECT_TRUE(*first->take(alerts[0]));
  EXPECT_TRUE(*second->take(alerts[0]));  // neither has flushed
  EXPECT_TRUE(*second->take(alerts[1]));
  EXPECT_TRUE(first->flush().ok());
  EXPECT_TRUE(second->flush().ok());
  EXPECT_EQ(rows_of(path, "SELECT run FROM alerts ORDER BY rowid"),
            (std::vector<std::string>{"1", "2"}));
}

TEST(SqliteSink, ARunIsOneRowHoweverOftenItIsResumed) {
  TemporaryFolder folder;
  const std::string path = folder.path("history.db");
  auto sink = SqliteSink::open(path);
  LedgerRunEnd end = sample_run_end();
  end.reason = RunEndReason::kInterrupted;
  ASSERT_TRUE(sink->begin_run(sample_run(), false).ok());
  ASSERT_TRUE(sink->end_run(end).ok());
  EXPECT_EQ(rows_of(path, "SELECT end_reason FROM runs"), std::vector<std::string>{"interrupted"});
  ASSERT_TRUE(sink->begin_run(sample_run(), true).ok());
  EXPECT_EQ(rows_of(path, "SELECT end_reason, resumed_count FROM runs"),
            std::vector<std::string>{"NULL|1"});
  ASSERT_TRUE(sink->end_run(sample_run_end()).ok());
  ASSERT_TRUE(sink->begin_run(sample_run(), true).ok());  // that one was complete: a new row
  LedgerRunStart other = sample_run();
  other.config += "x: 1\n";
  ASSERT_TRUE(sink->begin_run(other, true).ok());
  EXPECT_EQ(rows_of(path, "SELECT run, end_reason, resumed_count, model, source, config FROM runs"),
            (std::vector<std::string>{"1|complete|1|lstm/1|sample.csv|" + sample_run().config,
                                      "2|NULL|0|lstm/1|sample.csv|" + sample_run().config,
                                      "3|NULL|0|lstm/1|sample.csv|" + other.config}));
}

TEST(SqliteSink, FlushesByItselfBeforeTooManyWait) {
  TemporaryFolder folder;
  const std::string path = folder.path("history.db");
  auto sink = SqliteSink::open(path);
  ASSERT_TRUE(sink->begin_run(sample_run(), false).ok());
  for (const Alert& alert : sample_alerts(SqliteSink::kPendingMax + 1))
    ASSERT_TRUE(*sink->take(alert));
  EXPECT_EQ(rows_of(path, "SELECT count(*) FROM alerts"),
            std::vector<std::string>{std::to_string(SqliteSink::kPendingMax)});
}

TEST(SqliteSink, AFullDiskLosesNothingThatWasTaken) {
  TemporaryFolder folder;
  const std::string path = folder.path("history.db");
  auto sink = SqliteSink::open(path);
  ASSERT_TRUE(sink->begin_run(sample_run(), false).ok());
  const auto alerts = sample_alerts(1000);
  for (const Alert& alert : alerts) ASSERT_TRUE(*sink->take(alert));
  {
    const FileSizeLimit full(100'000);
    for (int attempt = 0; attempt < 2; ++attempt) {
      const Status status = sink->flush();
      ASSERT_FALSE(status.ok());
      EXPECT_NE(status.error().message().find(path), std::string::npos) << status.error().message();
    }
  }
  EXPECT_EQ(rows_of(path, "SELECT count(*) FROM alerts"), std::vector<std::string>{"0"});
  EXPECT_FALSE(*sink->take(alerts[5]));  // still pending
  ASSERT_TRUE(sink->flush().ok());
  EXPECT_EQ(rows_of(path, "SELECT count(*) FROM alerts"), std::vector<std::string>{"1000"});
  EXPECT_EQ(rows_of(path, "PRAGMA integrity_check"), std::vector<std::string>{"ok"});
}

TEST(SqliteSink, RefusesWhatIsNoHistoryOfOurs) {
  TemporaryFolder folder;
  write_text(folder.path("text.db"), std::string(4096, 'x'));
  const auto text = SqliteSink::open(folder.path("text.db"));
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code(), ErrorCode::kDataLoss);
  EXPECT_EQ(read_text(folder.path("text.db")), std::string(4096, 'x'));

  { ASSERT_TRUE(SqliteSink::open(folder.path("newer.db")).ok()); }
  rows_of(folder.path("newer.db"), "PRAGMA user_version = 99");
  const auto newer = SqliteSink::open(folder.path("newer.db"));
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_NE(newer.error().message().find("99"), std::string::npos);

  write_text(folder.path("file"), "x");
  EXPECT_FALSE(SqliteSink::open(folder.path("file/history.db")).ok());
}

}  // namespace
}  // namespace tocsin
