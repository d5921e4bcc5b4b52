// The three tables are read a row ahead each; snapshots wait, security by security, for the trades
// that they count.
#include "ingest/sse_l2_decoder.h"

#include <algorithm>
#include <utility>

#include "base/decimal.h"
#include "ingest/china_fields.h"
#include "ingest/decoders.h"
#include "ingest/file_set.h"

namespace tocsin {
namespace {

constexpr std::string_view kOrderFile = "entrust.csv";
constexpr std::string_view kTradeFile = "trade.csv";
constexpr std::string_view kSnapshotFile = "snapshot.csv";
constexpr std::int64_t kTickNanos = 10'000'000;  // 0.01 yuan
constexpr std::size_t kWaitingAtStart = 64;
// The opening call auction is matched then; what comes before is the beginning of the day.
constexpr std::int64_t kOpeningMatchTimeNs = (9 * 60 + 25) * 60 * kNanosPerUnit;

}  // namespace

bool looks_like_sse_l2(const std::string& path) {
  const Result<FileSet> set = list_file_set(path);
  return set.ok() && !set->find(kOrderFile).empty() && !set->find(kTradeFile).empty();
}

Result<std::unique_ptr<Source>> open_sse_l2(const FileSourceOptions& options) {
  TOCSIN_ASSIGN_OR_RETURN(const FileSet set, list_file_set(options.path));
  SseL2Streams streams;
  for (auto [file, stream] :
       {std::pair{kOrderFile, &streams.orders}, std::pair{kTradeFile, &streams.trades},
        std::pair{kSnapshotFile, &streams.snapshots}}) {
    const std::string name = set.find(file);
    if (name.empty()) {
      if (file == kSnapshotFile) continue;
      return Error(ErrorCode::kNotFound, options.path + ": Shanghai level 2 needs one file " +
                                             std::string(file) + " in it");
    }
    TOCSIN_ASSIGN_OR_RETURN(*stream, open_file_of_set(set, name));
  }
  return SseL2Decoder::open(std::move(streams), options.symbols);
}

SseL2Decoder::SseL2Decoder(SseL2Streams streams, std::vector<std::string> symbols)
    : FileDecoder(std::move(streams.orders), std::move(symbols)),
      trades_stream_(std::move(streams.trades)),
      snapshots_stream_(std::move(streams.snapshots)),
      orders_(SseTickTable(*stream_, false)),
      trades_(SseTickTable(*trades_stream_, true)),
      snapshots_ended_(snapshots_stream_ == nullptr),
      waiting_(kWaitingAtStart) {
  if (snapshots_stream_ != nullptr) snapshots_.emplace(*snapshots_stream_);
  midnight_time_ns_ = shanghai_midnight_in_path(stream_->path()).value_or(0);
}

Result<std::unique_ptr<Source>> SseL2Decoder::open(SseL2Streams streams,
                                                   std::vector<std::string> symbols) {
  std::unique_ptr<SseL2Decoder> decoder(new SseL2Decoder(std::move(streams), std::move(symbols)));
  TOCSIN_RETURN_IF_ERROR(decoder->orders_.table.read_header());
  TOCSIN_RETURN_IF_ERROR(decoder->trades_.table.read_header());
  if (decoder->snapshots_) TOCSIN_RETURN_IF_ERROR(decoder->snapshots_->read_header());
  return std::unique_ptr<Source>(std::move(decoder));
}

std::uint64_t SseL2Decoder::bytes_read() const noexcept {
  return stream_->offset_bytes() + trades_stream_->offset_bytes() +
         (snapshots_stream_ != nullptr ? snapshots_stream_->offset_bytes() : 0);
}

SourceStatus SseL2Decoder::next(EventBatch& batch) noexcept {
  batch.clear();
  for (TickHead* head : {&orders_, &trades_}) {
    if (fetch_tick(*head) == Fetched::kEmptyRecord) return yield(batch);
  }
  TickHead* head = first_head();
  const std::int64_t until_ns = head != nullptr ? head->tick.time_ns + kSnapshotEarlyNs : INT64_MIN;
  if (fetch_snapshots(until_ns) == Fetched::kEmptyRecord) return yield(batch);
  // A table that broke off says nothing about what the others hold behind that place.
  if (!stream_->status().ok() || !trades_stream_->status().ok() ||
      (snapshots_ && !snapshots_stream_->status().ok())) {
    return end_of_tables();
  }
  if (!take_due_snapshot(head, batch)) {
    if (head == nullptr) return end_of_tables();
    take_tick(*head, batch);
  }
  return yield(batch);
}

SourceStatus SseL2Decoder::end_of_tables() {
  for (const ByteStream* stream : {trades_stream_.get(), snapshots_stream_.get()}) {
    if (stream != nullptr && !stream->status().ok()) {
      return fail(stream->status().error().code(), stream->status().error().message());
    }
  }
  return end_of_text();
}

SseL2Decoder::Fetched SseL2Decoder::faulty_record(const RowFault& fault, bool loses_update) {
  ++counters_.records;
  // Whose it was may not be known: any book may have lost an update.
  if (loses_update) ++losses_;
  count_row_fault(fault);
  return Fetched::kEmptyRecord;
}

SseL2Decoder::Fetched SseL2Decoder::fetch_tick(TickHead& head) {
  if (head.holds || head.ended) return Fetched::kReady;
  const HeaderTable::Row row = head.table.next();
  if (row == HeaderTable::Row::kEnd) {
    head.ended = true;
    return Fetched::kReady;
  }
  if (row == HeaderTable::Row::kMalformed) {
    return faulty_record({"expected as many columns as the header has", head.table.row()}, true);
  }
  head.security = security_of(head.table.security());
  if (head.security == nullptr) {
    return faulty_record({"more securities than can be", head.table.row()}, false);
  }
  if (!head.security->wanted) {
    ++counters_.records;
    ++counters_.filtered;
    return Fetched::kEmptyRecord;
  }
  const RowFault fault = head.table.parse(head.tick);
  if (fault.what != nullptr) return faulty_record(fault, true);
  from_day_start_ = from_day_start_ || head.tick.time_ns < kOpeningMatchTimeNs;
  head.holds = true;
  return Fetched::kReady;
}

SseL2Decoder::Fetched SseL2Decoder::fetch_snapshots(std::int64_t until_time_ns) {
  for (;;) {
    if (holds_snapshot_) {
      if (next_snapshot_.time_ns > until_time_ns) return Fetched::kReady;
      let_wait(*snapshot_security_);
    }
    if (snapshots_ended_) return Fetched::kReady;
    const HeaderTable::Row row = snapshots_->next();
    if (row == HeaderTable::Row::kEnd) {
      snapshots_ended_ = true;
      return Fetched::kReady;
    }
    if (row == HeaderTable::Row::kMalformed) {
      return faulty_record({"expected as many columns as the header has", snapshots_->row()},
                           false);
    }
    snapshot_security_ = security_of(snapshots_->security());
    if (snapshot_security_ == nullptr) {
      return faulty_record({"more securities than can be", snapshots_->row()}, false);
    }
    if (!snapshot_security_->wanted) {
      ++counters_.records;
      ++counters_.filtered;
      return Fetched::kEmptyRecord;
    }
    const RowFault fault = snapshots_->parse(next_snapshot_);
    if (fault.what != nullptr) return faulty_record(fault, false);
    from_day_start_ = from_day_start_ || next_snapshot_.time_ns < kOpeningMatchTimeNs;
    holds_snapshot_ = true;
  }
}

SseL2Decoder::TickHead* SseL2Decoder::first_head() noexcept {
  if (!orders_.holds || !trades_.holds) {
    return orders_.holds ? &orders_ : trades_.holds ? &trades_ : nullptr;
  }
  const SseTick& order = orders_.tick;
  const SseTick& trade = trades_.tick;
  // Numbers of two channels say nothing about each other.
  const bool order_first = order.channel == trade.channel ? order.biz_index <= trade.biz_index
                                                          : order.time_ns <= trade.time_ns;
  return order_first ? &orders_ : &trades_;
}

SseL2Decoder::Security* SseL2Decoder::security_of(std::string_view name) {
  const auto found = securities_.find(name);
  if (found != securities_.end()) return &found->second;
  if (securities_.size() >= kSecuritiesMax) return nullptr;
  Security& security = securities_[std::string(name)];
  security.wanted = wants(name);
  security.losses_seen = losses_;
  if (security.wanted) {
    security.instrument = add_instrument({std::string(name), kTickNanos, kNanosPerUnit});
  }
  return &security;
}

void SseL2Decoder::let_wait(Security& security) {
  if (waiting_end_ - waiting_begin_ == waiting_.size()) {
    std::vector<WaitingSnapshot> larger(2 * waiting_.size());
    for (std::uint64_t number = waiting_begin_; number != waiting_end_; ++number) {
      larger[number % larger.size()] = std::move(waiting(number));
    }
    waiting_ = std::move(larger);
  }
  const std::uint64_t number = waiting_end_++;
  WaitingSnapshot& place = waiting(number);
  std::swap(place.snapshot, next_snapshot_);
  place.security = &security;
  place.next_of_security = kNoSnapshot;
  place.done = false;
  if (security.first_waiting == kNoSnapshot) {
    security.first_waiting = number;
  } else {
    waiting(security.last_waiting).next_of_security = number;
  }
  security.last_waiting = number;
  holds_snapshot_ = false;
}

bool SseL2Decoder::is_due(const WaitingSnapshot& waiting, std::int64_t time_ns) noexcept {
  const SseSnapshot& snapshot = waiting.snapshot;
  const Security& security = *waiting.security;
  // A new phase holds from its time on, not before.
  const std::int64_t early_ns = snapshot.phase == security.phase ? kSnapshotEarlyNs : 0;
  if (time_ns < snapshot.time_ns - early_ns) return false;
  return !security.counts_trades || security.trade_count >= snapshot.trade_count;
}

bool SseL2Decoder::take_due_snapshot(const TickHead* head, EventBatch& batch) {
  while (waiting_begin_ != waiting_end_ && waiting(waiting_begin_).done) ++waiting_begin_;
  if (head == nullptr && waiting_begin_ == waiting_end_ && holds_snapshot_) {
    let_wait(*snapshot_security_);
  }
  if (waiting_begin_ == waiting_end_) return false;
  // The oldest of them all waits no longer than it may, however quiet its security is.
  WaitingSnapshot& oldest = waiting(waiting_begin_);
  if (head == nullptr || head->tick.time_ns >= oldest.snapshot.time_ns + kSnapshotLateNs) {
    take_snapshot(oldest, batch);
    return true;
  }
  const std::uint64_t own = head->security->first_waiting;
  if (own == kNoSnapshot || !is_due(waiting(own), head->tick.time_ns)) return false;
  take_snapshot(waiting(own), batch);
  return true;
}

void SseL2Decoder::take_snapshot(WaitingSnapshot& waiting, EventBatch& batch) {
  const SseSnapshot& snapshot = waiting.snapshot;
  Security& security = *waiting.security;
  ++counters_.records;
  ++snapshots_by_phase_[static_cast<std::size_t>(snapshot.phase)];
  // The oldest of all is the oldest of its security too.
  security.first_waiting = waiting.next_of_security;
  waiting.done = true;
  MarketEvent event;
  event.exchange_time_ns = midnight_time_ns_ + snapshot.time_ns;
  event.receive_time_ns = midnight_time_ns_ + snapshot.receive_time_ns;
  event.record = counters_.records;
  event.instrument = security.instrument;
  if (snapshot.phase != security.phase) {
    security.phase = snapshot.phase;
    event.kind = EventKind::kStatus;
    event.status = status_of(snapshot.phase);
    batch.push_back(event);
    event.status = TradingStatus::kUnknown;
  }
  // 1: what is shown stood before the next trade; 0: the number of trades says nothing.
  event.order_id = security.counts_trades ? 1 : 0;
  event.quality = check_trade_count(security, snapshot);
  append_expected(snapshot, event, batch);
}

QualityFlags SseL2Decoder::check_trade_count(Security& security,
                                             const SseSnapshot& snapshot) noexcept {
  if (!security.counts_trades) return {};
  if (snapshot.trade_count < security.trade_count) {
    ++counters_.out_of_order;
    return Quality::kOutOfOrder;
  }
  const bool complete = snapshot.trade_count == security.trade_count &&
                        snapshot.trade_quantity_nanos == security.trade_quantity_nanos;
  if (complete) return {};
  ++counters_.gaps;
  counters_.missing += snapshot.trade_count - security.trade_count;
  security.counts_trades = false;
  return Quality::kGap;
}

void SseL2Decoder::append_expected(const SseSnapshot& snapshot, MarketEvent event,
                                   EventBatch& batch) const {
  const std::size_t opening = batch.size();
  event.kind = EventKind::kExpectSnapshot;
  batch.push_back(event);
  event.kind = EventKind::kExpectLevel;
  event.quality.remove(Quality::kGap);  // told once
  for (const Side side : {Side::kBid, Side::kAsk}) {
    event.side = side;
    const auto& levels = side == Side::kBid ? snapshot.bids : snapshot.asks;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      event.level_index = static_cast<std::uint16_t>(i);
      event.price_nanos = levels[i].price_nanos;
      event.quantity_nanos = levels[i].quantity_nanos;
      event.order_id = levels[i].order_count;
      batch.push_back(event);
      if (levels[i].quantity_nanos == 0) break;  // the side ends here
    }
  }
  batch[opening].level_index = static_cast<std::uint16_t>(batch.size() - opening - 1);
}

QualityFlags SseL2Decoder::check_biz_index(Security& security, const SseTick& tick) noexcept {
  if (tick.biz_index > security.last_biz_index) {
    security.last_biz_index = tick.biz_index;
    return {};
  }
  const bool repeated = tick.biz_index == security.last_biz_index;
  ++(repeated ? counters_.duplicates : counters_.out_of_order);
  return repeated ? Quality::kDuplicate : Quality::kOutOfOrder;
}

QualityFlags SseL2Decoder::take_losses(Security& security) const noexcept {
  const bool lost = security.losses_seen != losses_;
  security.losses_seen = losses_;
  return lost ? QualityFlags(Quality::kGap) : QualityFlags();
}

void SseL2Decoder::take_tick(TickHead& head, EventBatch& batch) {
  const SseTick& tick = head.tick;
  Security& security = *head.security;
  head.holds = false;
  ++counters_.records;
  ++ticks_by_kind_[static_cast<std::size_t>(tick.kind)];
  MarketEvent event;
  event.exchange_time_ns = midnight_time_ns_ + tick.time_ns;
  event.receive_time_ns = midnight_time_ns_ + tick.receive_time_ns;
  event.record = counters_.records;
  event.sequence = tick.biz_index;
  event.instrument = security.instrument;
  if (!security.started) {
    security.started = true;
    security.counts_trades = from_day_start_;
    if (from_day_start_) {
      event.kind = EventKind::kClear;
      event.quality = Quality::kSnapshot;
      batch.push_back(event);
    }
  }
  event.quality = check_time(event.exchange_time_ns) | check_biz_index(security, tick);
  const bool late =
      event.quality.has(Quality::kDuplicate) || event.quality.has(Quality::kOutOfOrder);
  if (!late) event.quality |= take_losses(security);
  const std::size_t first = batch.size();
  append_tick(tick, event, batch);
  if (late) return;
  batch.back().end_of_update = true;
  for (std::size_t i = first + 1; i < batch.size(); ++i) batch[i].quality = {};
  if (tick.kind == SseTickKind::kAdd || tick.kind == SseTickKind::kDelete) return;
  ++security.trade_count;
  if (__builtin_add_overflow(security.trade_quantity_nanos, tick.quantity_nanos,
                             &security.trade_quantity_nanos)) {
    security.counts_trades = false;
  }
}

void SseL2Decoder::append_tick(const SseTick& tick, MarketEvent event, EventBatch& batch) {
  const auto append = [&](EventKind kind, Side side, std::uint64_t order_id) {
    event.kind = kind;
    event.side = side;
    event.order_id = order_id;
    event.price_nanos = tick.price_nanos;
    event.quantity_nanos = tick.quantity_nanos;
    batch.push_back(event);
  };
  switch (tick.kind) {
    case SseTickKind::kAdd:
      return append(EventKind::kAddOrder, tick.side, tick.buy_order_no | tick.sell_order_no);
    case SseTickKind::kDelete:
      return append(EventKind::kDeleteOrder, tick.side, tick.buy_order_no | tick.sell_order_no);
    case SseTickKind::kBuyTrade:
      return append(EventKind::kExecuteOrder, Side::kAsk, tick.sell_order_no);
    case SseTickKind::kSellTrade:
      return append(EventKind::kExecuteOrder, Side::kBid, tick.buy_order_no);
    case SseTickKind::kAuctionTrade:
      // Nobody came to meet the other: two orders shrink, and the print has no aggressor.
      append(EventKind::kReduceOrder, Side::kBid, tick.buy_order_no);
      append(EventKind::kReduceOrder, Side::kAsk, tick.sell_order_no);
      return append(EventKind::kTrade, Side::kNone, 0);
  }
}

std::vector<std::pair<std::string, std::uint64_t>> SseL2Decoder::counts_by_type() const {
  static constexpr std::array<std::string_view, kSseTickKindCount> kTickNames = {
      "order_add", "order_delete", "trade_buy", "trade_sell", "trade_auction"};
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = 0; i < ticks_by_kind_.size(); ++i) {
    if (ticks_by_kind_[i] > 0) counts.emplace_back(kTickNames[i], ticks_by_kind_[i]);
  }
  for (std::size_t i = 0; i < snapshots_by_phase_.size(); ++i) {
    if (snapshots_by_phase_[i] == 0) continue;
    std::string name = "snapshot_";
    name += sse_phase_name(static_cast<SsePhase>(i));
    counts.emplace_back(std::move(name), snapshots_by_phase_[i]);
  }
  return counts;
}

}  // namespace tocsin
