// The book against the feed's own word. Rows are compared as they come, between the events that
// changed the book and the trim that ends the update; tops wait in a ring for the book to catch up.
#include "features/book_oracle.h"

#include <zlib.h>

#include <array>
#include <charconv>
#include <vector>

#include "base/assert.h"

namespace tocsin {
namespace {

struct BestLevel {
  std::int64_t price_nanos = 0;
  std::int64_t quantity_nanos = 0;
  friend bool operator==(const BestLevel&, const BestLevel&) = default;
};

struct ExpectedTop {
  std::uint64_t update_id = 0;
  BestLevel bid;
  BestLevel ask;
  bool has_bid = false;
  bool has_ask = false;
};

// How deep one side can be known.
struct KnownDepth {
  std::int64_t deepest_price_nanos = 0;
  bool any = false;
  bool whole_side = false;
  bool anything() const noexcept { return any || whole_side; }
};

// Appends `nanos` written with `decimals` digits behind the point, without the point and leading
// zeros.
char* append_digits(char* out, char* end, std::int64_t nanos, int decimals) noexcept {
  for (; decimals < 9; ++decimals) nanos /= 10;
  if (nanos == 0) return out;
  out = std::to_chars(out, end, nanos).ptr;
  for (; decimals > 9; --decimals) *out++ = '0';
  return out;
}

bool knows_decimals(const Instrument& instrument) noexcept {
  return instrument.price_decimals >= 0 && instrument.quantity_decimals >= 0;
}

constexpr std::size_t index_of(Side side) noexcept { return side == Side::kAsk ? 1 : 0; }

bool reaches(const KnownDepth& depth, Side side, std::int64_t price_nanos) noexcept {
  if (depth.whole_side) return true;
  if (!depth.any) return false;
  return side == Side::kAsk ? price_nanos <= depth.deepest_price_nanos
                            : price_nanos >= depth.deepest_price_nanos;
}

BestLevel best_of(const OrderBook& book, Side side) noexcept {
  const auto top = book.top(side);
  return top.empty() ? BestLevel{} : BestLevel{top[0].price_nanos, top[0].quantity_nanos};
}

}  // namespace

std::uint32_t book_checksum(const OrderBook& book, const Instrument& instrument) noexcept {
  TOCSIN_ASSERT(knows_decimals(instrument));
  constexpr std::size_t kNumberSizeMax = 20 + 118;  // of 64 bits, and INT8_MAX decimals
  std::array<char, 2 * OrderBook::kTopLevels * 2 * kNumberSizeMax> text;
  char* const end = text.data() + text.size();
  char* out = text.data();
  for (const Side side : {Side::kAsk, Side::kBid}) {
    for (const BookLevel& level : book.top(side)) {
      out = append_digits(out, end, level.price_nanos, instrument.price_decimals);
      out = append_digits(out, end, level.quantity_nanos, instrument.quantity_decimals);
    }
  }
  const auto size = static_cast<uInt>(out - text.data());
  return static_cast<std::uint32_t>(
      ::crc32(::crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(text.data()), size));
}

struct BookOracle::State {
  void start_row(const MarketEvent& event, OrderBook& book) noexcept;
  void on_expected_level(const MarketEvent& event, OrderBook& book) noexcept;
  void on_expected_top(const MarketEvent& event, const OrderBook& book) noexcept;
  void adopt(const MarketEvent& event, OrderBook& book) noexcept;
  void finish_row() noexcept;
  void on_expected_checksum(const MarketEvent& event, OrderBook& book) noexcept;
  void compare_top(const ExpectedTop& expected, const OrderBook& book) noexcept;
  void compare_waiting_tops(const OrderBook& book) noexcept;

  Instrument instrument;
  OracleCounters counters;
  SnapshotOracle snapshots{counters.snapshots};

  std::array<KnownDepth, 2> known;      // from the row before
  std::array<KnownDepth, 2> row_depth;  // from the row being read
  bool in_row = false;
  bool row_adopted = false;
  bool row_equal = false;

  ExpectedTop partial_top;
  std::vector<ExpectedTop> waiting_tops = std::vector<ExpectedTop>(kPendingTopsMax);  // a ring
  std::size_t first_waiting = 0;
  std::size_t waiting_count = 0;
};

void BookOracle::State::adopt(const MarketEvent& event, OrderBook& book) noexcept {
  MarketEvent level = event;
  level.kind = EventKind::kSetLevel;
  level.quality = Quality::kSnapshot;
  level.end_of_update = false;
  book.apply(level);
  ++counters.levels_adopted;
}

void BookOracle::State::start_row(const MarketEvent& event, OrderBook& book) noexcept {
  in_row = true;
  row_equal = true;
  row_depth = {};
  if (!book.trusted()) {
    MarketEvent snapshot = event;
    snapshot.kind = EventKind::kClear;
    snapshot.side = Side::kNone;
    snapshot.quality = Quality::kSnapshot;
    snapshot.end_of_update = false;
    book.apply(snapshot);
    known = {};
  }
  row_adopted = !known[0].anything() && !known[1].anything();
}

void BookOracle::State::on_expected_level(const MarketEvent& event, OrderBook& book) noexcept {
  const Side side = event.side;
  if (!in_row) start_row(event, book);
  KnownDepth& depth = row_depth[index_of(side)];
  if (event.quantity_nanos == 0) {
    depth.whole_side = true;
    if (book.level_count(side) > event.level_index) row_equal = false;
    return;
  }
  depth.any = true;
  depth.deepest_price_nanos = event.price_nanos;
  if (!reaches(known[index_of(side)], side, event.price_nanos)) {
    adopt(event, book);
  } else {
    const bool equal =
        book.level_at(side, event.price_nanos).quantity_nanos == event.quantity_nanos;
    ++counters.levels_compared;
    if (equal) ++counters.levels_equal;
    row_equal = row_equal && equal;
  }
  if (book.level(side, event.level_index).price_nanos != event.price_nanos) row_equal = false;
}

void BookOracle::State::finish_row() noexcept {
  in_row = false;
  known = row_depth;
  if (row_adopted) {
    ++counters.rows_adopted;
    return;
  }
  ++counters.rows_compared;
  if (row_equal) ++counters.rows_equal;
}

void BookOracle::State::on_expected_checksum(const MarketEvent& event, OrderBook& book) noexcept {
  if (!book.trusted() || !knows_decimals(instrument)) return;
  ++counters.checksums_compared;
  if (book_checksum(book, instrument) == event.order_id) {
    ++counters.checksums_equal;
  } else {
    book.mark_wrong();
  }
}

void BookOracle::State::compare_top(const ExpectedTop& expected, const OrderBook& book) noexcept {
  if (!book.trusted()) return;
  ++counters.top_compared;
  if (best_of(book, Side::kBid) == expected.bid && best_of(book, Side::kAsk) == expected.ask) {
    ++counters.top_equal;
  }
}

void BookOracle::State::on_expected_top(const MarketEvent& event, const OrderBook& book) noexcept {
  const bool is_bid = event.side == Side::kBid;
  const bool starts_anew = partial_top.update_id != event.sequence ||
                           (is_bid ? partial_top.has_bid : partial_top.has_ask);
  if (starts_anew) {
    partial_top = {};
    partial_top.update_id = event.sequence;
  }
  (is_bid ? partial_top.bid : partial_top.ask) = {event.price_nanos, event.quantity_nanos};
  (is_bid ? partial_top.has_bid : partial_top.has_ask) = true;
  if (!partial_top.has_bid || !partial_top.has_ask) return;
  const ExpectedTop complete = partial_top;
  partial_top = {};
  if (complete.update_id == book.update_id()) {
    compare_top(complete, book);
  } else if (complete.update_id > book.update_id()) {
    if (waiting_count == kPendingTopsMax) {
      first_waiting = (first_waiting + 1) % kPendingTopsMax;
      --waiting_count;
      ++counters.top_evicted;
    }
    waiting_tops[(first_waiting + waiting_count) % kPendingTopsMax] = complete;
    ++waiting_count;
  }
}

void BookOracle::State::compare_waiting_tops(const OrderBook& book) noexcept {
  while (waiting_count > 0 && waiting_tops[first_waiting].update_id <= book.update_id()) {
    const ExpectedTop& expected = waiting_tops[first_waiting];
    if (expected.update_id == book.update_id()) compare_top(expected, book);
    first_waiting = (first_waiting + 1) % kPendingTopsMax;
    --waiting_count;
  }
}

BookOracle::BookOracle(const Instrument& instrument) : state_(std::make_unique<State>()) {
  state_->instrument = instrument;
}
BookOracle::~BookOracle() = default;
BookOracle::BookOracle(BookOracle&&) noexcept = default;
BookOracle& BookOracle::operator=(BookOracle&&) noexcept = default;

void BookOracle::on_event(const MarketEvent& event, OrderBook& book) noexcept {
  State& state = *state_;
  if (state.snapshots.on_event(event, book)) return;
  const bool late =
      event.quality.has(Quality::kDuplicate) || event.quality.has(Quality::kOutOfOrder);
  const bool has_side = event.side != Side::kNone;
  if (event.kind == EventKind::kExpectLevel && has_side && !late) {
    state.on_expected_level(event, book);
  } else if (event.kind == EventKind::kClear && !late) {
    if (event.side != Side::kAsk) state.known[index_of(Side::kBid)] = {};
    if (event.side != Side::kBid) state.known[index_of(Side::kAsk)] = {};
  } else if (event.kind == EventKind::kExpectTop && has_side && !late) {
    state.on_expected_top(event, book);
  } else if (event.kind == EventKind::kExpectChecksum && !late) {
    state.on_expected_checksum(event, book);
  }
  if (event.end_of_update) {
    if (state.in_row) state.finish_row();
    state.compare_waiting_tops(book);
  }
}

const OracleCounters& BookOracle::counters() const noexcept { return state_->counters; }

}  // namespace tocsin
