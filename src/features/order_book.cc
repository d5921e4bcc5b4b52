// Order book: events to levels and queues. Hot: one hash probe and two slots an order event, no
// allocation once as deep before.
#include "features/order_book.h"

#include <algorithm>

#include "features/book_side.h"
#include "features/order_table.h"

namespace tocsin {
namespace {

struct Order {
  std::uint64_t id = 0;
  std::int64_t quantity_nanos = 0;
  std::uint32_t level = kNoSlot;  // of its side
  std::uint32_t previous = kNoSlot;
  std::uint32_t next = kNoSlot;  // also of the pool's free orders
  Side side = Side::kNone;
};
static_assert(sizeof(Order) == 32);

enum class Removal : std::uint8_t { kCancel, kExecution, kForgotten };

void add_saturating(std::int64_t& sum, std::int64_t value) noexcept {
  if (__builtin_add_overflow(sum, value, &sum)) sum = INT64_MAX;
}

bool is_side(Side side) noexcept { return side == Side::kBid || side == Side::kAsk; }

bool is_in_range(std::int64_t price_nanos) noexcept {
  return price_nanos >= -OrderBook::kPriceNanosMax && price_nanos <= OrderBook::kPriceNanosMax;
}

// Whether an event's sequence is one of the book's own series.
bool counts_updates(EventKind kind) noexcept {
  return kind != EventKind::kTrade && kind != EventKind::kStatus &&
         kind != EventKind::kExpectLevel && kind != EventKind::kExpectTop &&
         kind != EventKind::kExpectChecksum && kind != EventKind::kExpectSnapshot;
}

constexpr std::uint8_t kBothSides = 3;
constexpr std::uint8_t bit_of(Side side) noexcept { return side == Side::kBid ? 1 : 2; }
}  // namespace

struct OrderBook::State {
  explicit State(const OrderBookOptions& book_options)
      : options(book_options),
        bid(Side::kBid, book_options.level_capacity),
        ask(Side::kAsk, book_options.level_capacity),
        table(book_options.order_capacity) {
    orders.reserve(book_options.order_capacity);
  }

  BookSide& side(Side which) noexcept { return which == Side::kAsk ? ask : bid; }
  SideChanges& changes_of(Side which) noexcept {
    return which == Side::kAsk ? changes.ask : changes.bid;
  }

  QualityFlags apply_kind(const MarketEvent& event) noexcept;
  QualityFlags add(const MarketEvent& event, Side side) noexcept;
  QualityFlags add_event(const MarketEvent& event) noexcept;
  QualityFlags modify(const MarketEvent& event) noexcept;
  QualityFlags take(const MarketEvent& event, Removal removal) noexcept;
  QualityFlags take_anonymous(const MarketEvent& event, Removal removal) noexcept;
  QualityFlags remove(const MarketEvent& event) noexcept;
  QualityFlags set_level(const MarketEvent& event) noexcept;
  void trim(Side side, std::size_t level_count) noexcept;
  void clear(Side side) noexcept;
  void heal_on_snapshot(const MarketEvent& event) noexcept;
  QualityFlags finish_update(const MarketEvent& event, bool applied) noexcept;

  void push_back(std::uint32_t order_id, std::uint32_t level_id) noexcept;
  void unlink(std::uint32_t order_slot) noexcept;
  // Removes an order that rests with nothing left, and its level if that is empty.
  void drop_order(std::uint32_t order_slot) noexcept;
  // Forgets the orders of a level without touching the level.
  void forget_queue(const BookSide::Level& level) noexcept;
  void note_removed(Side side, std::int64_t quantity_nanos, Removal removal) noexcept;
  void note_added(const MarketEvent& event, Side side, std::int64_t quantity_nanos) noexcept;
  QualityFlags bad_quantity() noexcept {
    ++counters.bad_quantities;
    return Quality::kBadQuantity;
  }
  QualityFlags unknown_order() noexcept {
    ++counters.unknown_orders;
    return Quality::kUnknownOrder;
  }
  void distrust() noexcept {
    complete = false;
    sides_cleared = 0;
  }
  QualityFlags refuse() noexcept {
    ++counters.refused;
    distrust();
    return {};
  }
  bool trusted() const noexcept { return complete && !crossed; }

  OrderBookOptions options;
  BookSide bid;
  BookSide ask;
  ChunkedPool<Order, 8> orders;
  OrderTable table;
  BookChanges changes;
  OrderBookCounters counters;
  std::uint64_t update_id = 0;
  std::uint64_t deleted_record = 0;  // record of the last event that deleted a known order
  Side deleted_side = Side::kNone;
  TradingStatus status = TradingStatus::kUnknown;
  std::uint8_t sides_cleared = 0;   // since the book was last distrusted; bit 0 bid, bit 1 ask
  std::uint8_t sides_restated = 0;  // cleared in this update: what follows restates the side
  bool complete = false;
  bool crossed = false;
  bool update_ended = false;
};

void OrderBook::State::push_back(std::uint32_t order_slot, std::uint32_t level_id) noexcept {
  Order& order = orders[order_slot];
  BookSide::Level& level = side(order.side)[level_id];
  order.level = level_id;
  order.previous = level.queue_tail;
  order.next = kNoSlot;
  if (level.queue_tail != kNoSlot) {
    orders[level.queue_tail].next = order_slot;
  } else {
    level.queue_head = order_slot;
  }
  level.queue_tail = order_slot;
  ++level.order_count;
  level.quantity_nanos += order.quantity_nanos;
}

void OrderBook::State::unlink(std::uint32_t order_slot) noexcept {
  const Order& order = orders[order_slot];
  BookSide::Level& level = side(order.side)[order.level];
  if (order.previous != kNoSlot) {
    orders[order.previous].next = order.next;
  } else {
    level.queue_head = order.next;
  }
  if (order.next != kNoSlot) {
    orders[order.next].previous = order.previous;
  } else {
    level.queue_tail = order.previous;
  }
  --level.order_count;
  level.quantity_nanos -= order.quantity_nanos;
}

void OrderBook::State::drop_order(std::uint32_t order_slot) noexcept {
  const Order& order = orders[order_slot];
  unlink(order_slot);
  table.erase(order.id);
  side(order.side).refresh(order.level);
  orders.give_back(order_slot);
}

void OrderBook::State::forget_queue(const BookSide::Level& level) noexcept {
  for (std::uint32_t slot = level.queue_head; slot != kNoSlot;) {
    const std::uint32_t next = orders[slot].next;
    table.erase(orders[slot].id);
    orders.give_back(slot);
    slot = next;
  }
}

void OrderBook::State::note_removed(Side which, std::int64_t quantity_nanos,
                                    Removal removal) noexcept {
  SideChanges& side_changes = changes_of(which);
  if (removal == Removal::kExecution) {
    add_saturating(side_changes.executed_nanos, quantity_nanos);
    ++side_changes.executions;
  } else if (removal == Removal::kCancel) {
    add_saturating(side_changes.cancelled_nanos, quantity_nanos);
    ++side_changes.cancels;
  }
}

void OrderBook::State::note_added(const MarketEvent& event, Side which,
                                  std::int64_t quantity_nanos) noexcept {
  if (event.quality.has(Quality::kSnapshot) || (sides_restated & bit_of(which)) != 0) return;
  SideChanges& side_changes = changes_of(which);
  add_saturating(side_changes.added_nanos, quantity_nanos);
  ++side_changes.additions;
}

QualityFlags OrderBook::State::add_event(const MarketEvent& event) noexcept {
  if (is_side(event.side)) return add(event, event.side);
  const bool replaces = deleted_side != Side::kNone && deleted_record == event.record;
  return replaces ? add(event, deleted_side) : unknown_order();
}

QualityFlags OrderBook::State::add(const MarketEvent& event, Side which) noexcept {
  if (event.quantity_nanos <= 0 || !is_in_range(event.price_nanos)) return bad_quantity();
  if (event.order_id == 0) return unknown_order();
  if (table.find(event.order_id) != kNoSlot) {
    ++counters.duplicate_orders;
    return Quality::kDuplicate;
  }
  BookSide& book_side = side(which);
  std::uint32_t level_id = book_side.find(event.price_nanos);
  if (level_id == kNoSlot && book_side.size() >= options.level_limit) return refuse();
  if (level_id != kNoSlot && book_side[level_id].quantity_nanos > INT64_MAX - event.quantity_nanos)
    return bad_quantity();
  if (table.size() >= options.order_limit) return refuse();
  heal_on_snapshot(event);
  if (level_id == kNoSlot) level_id = book_side.create(event.price_nanos);
  const std::uint32_t slot = orders.take();
  Order& order = orders[slot];
  order.id = event.order_id;
  order.quantity_nanos = event.quantity_nanos;
  order.side = which;
  table.insert(event.order_id, slot);
  push_back(slot, level_id);
  book_side.refresh(level_id);
  note_added(event, which, event.quantity_nanos);
  return {};
}

QualityFlags OrderBook::State::modify(const MarketEvent& event) noexcept {
  const std::uint32_t slot = table.find(event.order_id);
  if (slot == kNoSlot) return is_side(event.side) ? add(event, event.side) : unknown_order();
  if (event.quantity_nanos <= 0 || !is_in_range(event.price_nanos)) return bad_quantity();
  Order& order = orders[slot];
  const Side which = order.side;
  BookSide& book_side = side(which);
  const std::uint32_t level_id = order.level;
  const std::int64_t before_nanos = order.quantity_nanos;
  const bool moves = book_side[level_id].price_nanos != event.price_nanos ||
                     (is_side(event.side) && event.side != which);
  if (moves) {
    drop_order(slot);
    note_removed(which, before_nanos, Removal::kCancel);
    return add(event, is_side(event.side) ? event.side : which);
  }
  const std::int64_t grown_nanos = event.quantity_nanos - before_nanos;
  BookSide::Level& level = book_side[level_id];
  if (grown_nanos > 0 && level.quantity_nanos > INT64_MAX - grown_nanos) return bad_quantity();
  const bool lost_unchanged = options.modify_priority == ModifyPriority::kLostUnlessDecreased;
  if (grown_nanos > 0 || (grown_nanos == 0 && lost_unchanged)) {
    unlink(slot);
    order.quantity_nanos = event.quantity_nanos;
    push_back(slot, level_id);
  } else {
    order.quantity_nanos = event.quantity_nanos;
    level.quantity_nanos += grown_nanos;
  }
  if (grown_nanos > 0) note_added(event, which, grown_nanos);
  if (grown_nanos < 0) note_removed(which, -grown_nanos, Removal::kCancel);
  book_side.refresh(level_id);
  return {};
}

QualityFlags OrderBook::State::take(const MarketEvent& event, Removal removal) noexcept {
  if (event.quantity_nanos <= 0) return bad_quantity();
  const std::uint32_t slot = table.find(event.order_id);
  if (slot == kNoSlot) return take_anonymous(event, removal);
  Order& order = orders[slot];
  const Side which = order.side;
  const std::int64_t rested_nanos = order.quantity_nanos;
  const std::int64_t own_price_nanos = side(which)[order.level].price_nanos;
  if (removal == Removal::kExecution)
    changes.executed_price_nanos = event.price_nanos != 0 ? event.price_nanos : own_price_nanos;
  if (event.quantity_nanos >= rested_nanos) {
    drop_order(slot);
    note_removed(which, rested_nanos, removal);
    return event.quantity_nanos > rested_nanos ? bad_quantity() : QualityFlags{};
  }
  BookSide& book_side = side(which);
  order.quantity_nanos -= event.quantity_nanos;
  book_side[order.level].quantity_nanos -= event.quantity_nanos;
  book_side.refresh(order.level);
  note_removed(which, event.quantity_nanos, removal);
  return {};
}

QualityFlags OrderBook::State::take_anonymous(const MarketEvent& event, Removal removal) noexcept {
  if (!is_side(event.side)) return unknown_order();
  BookSide& book_side = side(event.side);
  const std::uint32_t level_id = book_side.find(event.price_nanos);
  if (level_id == kNoSlot || book_side[level_id].anonymous_nanos == 0) return unknown_order();
  BookSide::Level& level = book_side[level_id];
  if (level.anonymous_nanos < event.quantity_nanos) return bad_quantity();
  level.anonymous_nanos -= event.quantity_nanos;
  level.quantity_nanos -= event.quantity_nanos;
  book_side.refresh(level_id);
  if (removal == Removal::kExecution) changes.executed_price_nanos = event.price_nanos;
  note_removed(event.side, event.quantity_nanos, removal);
  return {};
}

QualityFlags OrderBook::State::remove(const MarketEvent& event) noexcept {
  const std::uint32_t slot = table.find(event.order_id);
  if (slot == kNoSlot) {
    return event.quantity_nanos > 0 ? take_anonymous(event, Removal::kCancel) : unknown_order();
  }
  const Order order = orders[slot];
  drop_order(slot);
  note_removed(order.side, order.quantity_nanos, Removal::kCancel);
  deleted_record = event.record;
  deleted_side = order.side;
  return {};
}

QualityFlags OrderBook::State::set_level(const MarketEvent& event) noexcept {
  if (event.quantity_nanos < 0 || !is_side(event.side) || !is_in_range(event.price_nanos)) {
    return bad_quantity();
  }
  BookSide& book_side = side(event.side);
  std::uint32_t level_id = book_side.find(event.price_nanos);
  if (level_id == kNoSlot) {
    if (event.quantity_nanos == 0) return {};
    if (book_side.size() >= options.level_limit) return refuse();
    heal_on_snapshot(event);
    level_id = book_side.create(event.price_nanos);
  }
  QualityFlags noticed;
  BookSide::Level& level = book_side[level_id];
  const std::int64_t queued_nanos = level.quantity_nanos - level.anonymous_nanos;
  const std::int64_t grown_nanos = event.quantity_nanos - level.quantity_nanos;
  if (event.quantity_nanos < queued_nanos) {
    noticed = bad_quantity();
    forget_queue(level);
    level.queue_head = level.queue_tail = kNoSlot;
    level.order_count = 0;
    level.anonymous_nanos = event.quantity_nanos;
  } else {
    level.anonymous_nanos = event.quantity_nanos - queued_nanos;
  }
  level.quantity_nanos = event.quantity_nanos;
  book_side.refresh(level_id);
  if (grown_nanos > 0) note_added(event, event.side, grown_nanos);
  if (grown_nanos < 0 && !event.quality.has(Quality::kSnapshot))
    note_removed(event.side, -grown_nanos, Removal::kCancel);
  return noticed;
}

void OrderBook::State::trim(Side which, std::size_t level_count) noexcept {
  BookSide& book_side = side(which);
  while (book_side.size() > level_count) {
    const std::uint32_t level_id = book_side.worst();
    BookSide::Level& level = book_side[level_id];
    forget_queue(level);
    level.quantity_nanos = 0;
    book_side.refresh(level_id);
  }
}

void OrderBook::State::clear(Side which) noexcept {
  BookSide& book_side = side(which);
  book_side.for_each([&](std::uint32_t level_id) { forget_queue(book_side[level_id]); });
  book_side.clear();
  sides_restated = static_cast<std::uint8_t>(sides_restated | bit_of(which));
  sides_cleared = static_cast<std::uint8_t>(sides_cleared | bit_of(which));
  if (sides_cleared == kBothSides) {
    complete = true;
    crossed = false;
  }
}

// The first event of a snapshot that meets an empty book says as much as a clear would.
void OrderBook::State::heal_on_snapshot(const MarketEvent& event) noexcept {
  if (complete || !event.quality.has(Quality::kSnapshot)) return;
  if (bid.size() == 0 && ask.size() == 0) complete = true;
}

QualityFlags OrderBook::State::apply_kind(const MarketEvent& event) noexcept {
  switch (event.kind) {
    case EventKind::kAddOrder:
      return add_event(event);
    case EventKind::kModifyOrder:
      return modify(event);
    case EventKind::kReduceOrder:
      return take(event, Removal::kCancel);
    case EventKind::kDeleteOrder:
      return remove(event);
    case EventKind::kExecuteOrder:
      return take(event, Removal::kExecution);
    case EventKind::kSetLevel:
      return set_level(event);
    case EventKind::kClear:
      if (event.side != Side::kAsk) clear(Side::kBid);
      if (event.side != Side::kBid) clear(Side::kAsk);
      return {};
    case EventKind::kTrimDepth:
      trim(Side::kBid, event.level_index);
      trim(Side::kAsk, event.level_index);
      return {};
    case EventKind::kStatus:
      status = event.status;
      return {};
    default:
      return {};  // trades and what the feed expects change no book
  }
}

QualityFlags OrderBook::State::finish_update(const MarketEvent& event, bool applied) noexcept {
  update_ended = true;
  if (applied && counts_updates(event.kind)) update_id = event.sequence;
  const bool may_cross = status == TradingStatus::kHalted || status == TradingStatus::kAuction ||
                         status == TradingStatus::kClosed;
  crossed = !may_cross && bid.size() != 0 && ask.size() != 0 &&
            bid.top()[0].price_nanos >= ask.top()[0].price_nanos;
  if (!crossed) return {};
  ++counters.crossed_updates;
  if (status == TradingStatus::kTrading) distrust();
  return Quality::kCrossedBook;
}

OrderBook::OrderBook(const OrderBookOptions& options) : state_(std::make_unique<State>(options)) {}
OrderBook::~OrderBook() = default;
OrderBook::OrderBook(OrderBook&&) noexcept = default;
OrderBook& OrderBook::operator=(OrderBook&&) noexcept = default;

QualityFlags OrderBook::apply(const MarketEvent& event) noexcept {
  State& state = *state_;
  if (state.update_ended) {
    state.update_ended = false;
    state.sides_restated = 0;
    state.changes = {};
  }
  if (event.quality.has(Quality::kGap)) {
    ++state.counters.gaps;
    state.distrust();
  }
  const bool applied =
      !event.quality.has(Quality::kDuplicate) && !event.quality.has(Quality::kOutOfOrder);
  QualityFlags noticed;
  if (applied)
    noticed = state.apply_kind(event);
  else
    ++state.counters.skipped;
  if (event.end_of_update) noticed |= state.finish_update(event, applied);
  if (!state.trusted()) noticed |= Quality::kBookUntrusted;
  return noticed;
}

std::span<const BookLevel> OrderBook::top(Side side) const noexcept {
  return state_->side(side).top();
}

BookLevel OrderBook::level(Side side, std::size_t rank) const noexcept {
  const BookSide& book_side = state_->side(side);
  if (rank < book_side.top().size()) return book_side.top()[rank];
  if (rank >= book_side.size()) return {};
  return BookSide::view(book_side[book_side.at_rank(rank)]);
}

BookLevel OrderBook::level_at(Side side, std::int64_t price_nanos) const noexcept {
  const BookSide& book_side = state_->side(side);
  const std::uint32_t level_id = book_side.find(price_nanos);
  if (level_id == kNoSlot) return {.price_nanos = price_nanos};
  return BookSide::view(book_side[level_id]);
}

void OrderBook::copy_levels(Side side, std::vector<BookLevel>& levels) const {
  const BookSide& from = state_->side(side);
  levels.clear();
  from.for_each([&](std::uint32_t level_id) { levels.push_back(BookSide::view(from[level_id])); });
}

std::size_t OrderBook::level_count(Side side) const noexcept { return state_->side(side).size(); }
std::size_t OrderBook::order_count() const noexcept { return state_->table.size(); }
void OrderBook::append_queue(Side side, std::size_t rank, std::vector<QueuedOrder>& orders) const {
  const BookSide& book_side = state_->side(side);
  const std::uint32_t first = book_side[book_side.at_rank(rank)].queue_head;
  for (std::uint32_t at = first; at != kNoSlot; at = state_->orders[at].next)
    orders.push_back({state_->orders[at].id, state_->orders[at].quantity_nanos});
}

bool OrderBook::queue_position(std::uint64_t order_id, QueuePosition& position) const noexcept {
  const std::uint32_t slot = state_->table.find(order_id);
  if (slot == kNoSlot) return false;
  const Order& order = state_->orders[slot];
  position = {};
  position.ahead_nanos = state_->side(order.side)[order.level].anonymous_nanos;
  for (std::uint32_t at = order.previous; at != kNoSlot; at = state_->orders[at].previous)
    position.ahead_nanos += state_->orders[at].quantity_nanos;
  for (std::uint32_t at = order.next; at != kNoSlot; at = state_->orders[at].next)
    position.behind_nanos += state_->orders[at].quantity_nanos;
  return true;
}
bool OrderBook::trusted() const noexcept { return state_->trusted(); }
void OrderBook::mark_complete() noexcept {
  state_->complete = true;
  state_->crossed = false;
}
TradingStatus OrderBook::status() const noexcept { return state_->status; }
std::uint64_t OrderBook::update_id() const noexcept { return state_->update_id; }
void OrderBook::mark_wrong() noexcept { state_->distrust(); }
const BookChanges& OrderBook::changes() const noexcept { return state_->changes; }
const OrderBookCounters& OrderBook::counters() const noexcept { return state_->counters; }
std::size_t OrderBook::memory_bytes() const noexcept {
  return sizeof(State) + state_->bid.memory_bytes() + state_->ask.memory_bytes() +
         state_->orders.memory_bytes() + state_->table.memory_bytes();
}

}  // namespace tocsin
