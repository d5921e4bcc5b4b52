// Shanghai level 2, from its three tables (entrust.csv, trade.csv, snapshot.csv; a folder or zip):
// orders and trades merged by BizIndex, a snapshot where the trades that it counts have been made.
// An order that trades on arrival shows only what is left of it: trades name orders never seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/file_decoder.h"
#include "ingest/sse_l2_rows.h"

namespace tocsin {

// True if `path` is a folder or a zip that holds entrust.csv and trade.csv.
bool looks_like_sse_l2(const std::string& path);

struct SseL2Streams {
  std::unique_ptr<ByteStream> orders;
  std::unique_ptr<ByteStream> trades;
  std::unique_ptr<ByteStream> snapshots;  // null: none; nothing then tells phases or checks books
};

class SseL2Decoder final : public FileDecoder {
 public:
  // The venue cuts a snapshot's time to the second, and its clocks differ by a little: the state
  // that it shows stood at some moment from kSnapshotEarlyNs before that time on.
  static constexpr std::int64_t kSnapshotEarlyNs = 200'000'000;
  // By then what a snapshot counts must have been made.
  static constexpr std::int64_t kSnapshotLateNs = 1'200'000'000;

  // The day comes from the path; without one, times count from midnight.
  static Result<std::unique_ptr<Source>> open(SseL2Streams streams,
                                              std::vector<std::string> symbols);

  SourceStatus next(EventBatch& batch) noexcept override;
  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override;

 private:
  static constexpr std::uint64_t kNoSnapshot = UINT64_MAX;
  static constexpr std::size_t kSecuritiesMax = 100'000;

  struct Security {
    InstrumentId instrument = 0;
    bool wanted = true;
    bool started = false;
    bool counts_trades = false;  // all of the day: snapshots are placed by what they count
    SsePhase phase = SsePhase::kOther;
    std::uint64_t last_biz_index = 0;
    std::uint64_t trade_count = 0;
    std::int64_t trade_quantity_nanos = 0;
    std::uint64_t losses_seen = 0;
    std::uint64_t first_waiting = kNoSnapshot;  // by the number that waiting() takes
    std::uint64_t last_waiting = kNoSnapshot;
  };
  struct TickHead {
    explicit TickHead(SseTickTable rows) : table(std::move(rows)) {}
    SseTickTable table;
    bool holds = false;
    bool ended = false;
    Security* security = nullptr;
    SseTick tick;
  };
  struct WaitingSnapshot {
    SseSnapshot snapshot;
    Security* security = nullptr;
    std::uint64_t next_of_security = kNoSnapshot;
    bool done = false;
  };
  enum class Fetched : std::uint8_t { kReady, kEmptyRecord };

  SseL2Decoder(SseL2Streams streams, std::vector<std::string> symbols);
  Status read_headers();
  std::uint64_t bytes_read() const noexcept override;

  // Reads a row ahead; kEmptyRecord: it was a record of no events.
  Fetched fetch_tick(TickHead& head);
  // Lets wait all snapshots up to a time, and reads the one behind them ahead.
  Fetched fetch_snapshots(std::int64_t until_time_ns);
  Fetched faulty_record(const RowFault& fault, bool loses_update);
  // The tick that comes first; null: there is none anymore.
  TickHead* first_head() noexcept;
  // Null past kSecuritiesMax.
  Security* security_of(std::string_view name);
  SourceStatus end_of_tables();

  // `head`: what would come next. True if a snapshot comes before it.
  bool take_due_snapshot(const TickHead* head, EventBatch& batch);
  static bool is_due(const WaitingSnapshot& waiting, std::int64_t time_ns) noexcept;
  void take_snapshot(WaitingSnapshot& waiting, EventBatch& batch);
  void append_expected(const SseSnapshot& snapshot, MarketEvent event, EventBatch& batch) const;
  QualityFlags check_trade_count(Security& security, const SseSnapshot& snapshot) noexcept;
  void take_tick(TickHead& head, EventBatch& batch);
  static void append_tick(const SseTick& tick, MarketEvent event, EventBatch& batch);
  QualityFlags check_biz_index(Security& security, const SseTick& tick) noexcept;
  QualityFlags take_losses(Security& security) const noexcept;
  WaitingSnapshot& waiting(std::uint64_t number) noexcept {
    return waiting_[number % waiting_.size()];
  }
  void let_wait(Security& security);

  std::unique_ptr<ByteStream> trades_stream_;
  std::unique_ptr<ByteStream> snapshots_stream_;
  TickHead orders_;
  TickHead trades_;
  std::optional<SseSnapshotTable> snapshots_;
  bool snapshots_ended_ = false;
  bool holds_snapshot_ = false;  // in next_snapshot_, not yet among those that wait
  Security* snapshot_security_ = nullptr;
  SseSnapshot next_snapshot_;
  std::vector<WaitingSnapshot> waiting_;  // a ring, by number; in the order of the table
  std::uint64_t waiting_begin_ = 0;
  std::uint64_t waiting_end_ = 0;
  std::map<std::string, Security, std::less<>> securities_;
  std::int64_t midnight_time_ns_ = 0;
  bool from_day_start_ = false;  // books begin empty, and trades can be counted
  std::uint64_t losses_ = 0;     // rows of orders or trades that could not be read
  std::array<std::uint64_t, kSseTickKindCount> ticks_by_kind_{};
  std::array<std::uint64_t, kSsePhaseCount> snapshots_by_phase_{};
};

}  // namespace tocsin
