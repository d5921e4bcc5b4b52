// How a venue's messages, or a file's columns, become events: a map read from YAML, so that a
// further venue needs no code. docs/feeds.md, "Maps", is its reference.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace tocsin {

// Where a value stands in a message: members by key, elements by number from 0 (-1: the last). From
// the element that `each` names, or, after a leading '/', from the message's own root. Empty: not
// told. In CSV the only step is a column's name.
struct FieldPath {
  std::vector<std::variant<std::string, std::int64_t>> steps;
  bool from_root = false;
  std::string text;  // as the map writes it
  bool is_told() const noexcept { return !steps.empty(); }
};

struct FieldCondition {
  enum class Kind : std::uint8_t { kEquals, kStartsWith, kIsThere, kIsAbsent };
  FieldPath path;
  Kind kind = Kind::kEquals;
  std::string value;
};

enum class MappedKind : std::uint8_t { kSnapshot, kDiff, kTrade, kTicker };
inline constexpr std::size_t kMappedKindCount = 4;
std::string_view mapped_kind_name(MappedKind kind) noexcept;

// What a diff's number must be.
enum class JoinRule : std::uint8_t {
  kNone,         // no numbers: diffs follow the snapshot on the same connection
  kPrevious,     // `previous` is the last number of the diff before (Binance futures, OKX)
  kFirst,        // `first` is one more than that (Binance spot)
  kConsecutive,  // `last` is one more than that
  kIncreasing,   // `last` is more than that: a gap cannot be told
};

enum class TimeUnit : std::uint8_t { kSeconds, kMillis, kMicros, kNanos, kIso };

struct MessageMap {
  MappedKind kind = MappedKind::kDiff;
  std::vector<FieldCondition> when;  // all of them; none: every message
  FieldPath each;                    // a list whose elements are the messages; else the root is one
  FieldPath symbol;
  // The symbol is what stands between these in its field.
  std::string symbol_after;
  std::string symbol_before;
  FieldPath time;
  TimeUnit time_unit = TimeUnit::kMillis;
  // Snapshot, diff: `bids` and `asks`, or `levels` of both sides, or the message is one level.
  FieldPath bids;
  FieldPath asks;
  FieldPath levels;
  FieldPath level;  // of a message that is one level: its rank, if levels are told by rank
  FieldPath side;   // of a level of `levels`, of a message that is one level, of a trade
  std::vector<std::string> bid_words = {"buy", "bid"};
  std::vector<std::string> ask_words = {"sell", "ask"};
  bool side_is_maker = false;  // of a trade: the side of who waited, not of who came
  FieldPath price;             // of a level, relative to it; of a trade
  FieldPath quantity;          // the same
  FieldPath bid_price;
  FieldPath bid_quantity;
  FieldPath ask_price;
  FieldPath ask_quantity;
  FieldPath first;
  FieldPath last;
  FieldPath previous;
  FieldPath trade_id;
};

struct FeedMap {
  std::string name;
  bool is_csv = false;
  char delimiter = ',';
  bool has_header = true;  // CSV: columns are named by the first line; else 1, 2, 3...
  std::vector<MessageMap> messages;
  JoinRule join = JoinRule::kNone;
  bool trade_ids_dense = false;
  bool symbol_upper = false;
  bool starts_empty = false;  // without snapshots: the book is empty at the start of the file
  std::string symbol_is;      // for messages without one; empty: the only one known
  // 0: from the first snapshot; a feed without one takes 0.01 and 1.
  std::int64_t price_tick_nanos = 0;
  std::int64_t quantity_step_nanos = 0;

  bool has_book() const noexcept;      // a snapshot or diff is mapped
  bool has_snapshot() const noexcept;  // a snapshot is mapped
};

// All errors of the file, each with its line and key.
Result<FeedMap> read_feed_map(const std::string& path);
Result<FeedMap> parse_feed_map(std::string_view text, const std::string& name);

}  // namespace tocsin
