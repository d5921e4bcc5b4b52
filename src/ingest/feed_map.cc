// Reads the YAML and judges it whole: what a kind of message needs must be told.
#include "ingest/feed_map.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/decimal.h"
#include "config/yaml_reader.h"

namespace tocsin {
namespace {

constexpr std::array<std::string_view, kMappedKindCount> kKindNames = {"snapshot", "diff", "trade",
                                                                       "ticker"};
constexpr std::size_t kStepsMax = 16;

std::variant<std::string, std::int64_t> step_of(std::string_view text) {
  std::int64_t index = 0;
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, index);
  if (error == std::errc{} && after == end) return index;
  return std::string(text);
}

// "data.bids", "/time", "0": false if it is none.
bool parse_path(std::string_view text, bool is_csv, FieldPath& path) {
  path = {};
  path.text = text;
  if (is_csv) {
    if (text.empty()) return false;
    path.steps.emplace_back(std::string(text));
    return true;
  }
  if (text.starts_with('/')) {
    path.from_root = true;
    text.remove_prefix(1);
  }
  for (;;) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    if (dot == 0 || path.steps.size() == kStepsMax) return false;
    path.steps.push_back(step_of(text.substr(0, dot)));
    if (dot == text.size()) return true;
    text.remove_prefix(dot + 1);
  }
}

// "e=depthUpdate", "channel=order_book_*", "data.bids", "!lastUpdateId".
bool parse_condition(std::string_view text, bool is_csv, FieldCondition& condition) {
  condition = {};
  if (text.starts_with('!')) {
    condition.kind = FieldCondition::Kind::kIsAbsent;
    return parse_path(text.substr(1), is_csv, condition.path);
  }
  const std::size_t mark = text.find('=');
  if (mark == std::string_view::npos) {
    condition.kind = FieldCondition::Kind::kIsThere;
    return parse_path(text, is_csv, condition.path);
  }
  std::string_view value = text.substr(mark + 1);
  if (value.ends_with('*')) {
    condition.kind = FieldCondition::Kind::kStartsWith;
    value.remove_suffix(1);
  }
  condition.value = value;
  return parse_path(text.substr(0, mark), is_csv, condition.path);
}

class MapReader {
 public:
  MapReader(YamlReader reader, FeedMap& map) : reader_(std::move(reader)), map_(map) {}

  Status read() {
    static constexpr std::array<std::string_view, 2> kFormats = {"json_lines", "csv"};
    reader_.require("name", map_.name);
    std::size_t format = 0;
    reader_.read_choice("format", format, kFormats);
    if (!reader_.has("format")) reader_.fail("format", "json_lines or csv");
    map_.is_csv = format == 1;
    read_csv();
    read_shared(reader_, shared_);
    reader_.read("symbol_upper", map_.symbol_upper);
    reader_.read("symbol_is", map_.symbol_is);
    read_join();
    read_grid("price_tick", map_.price_tick_nanos);
    read_grid("quantity_step", map_.quantity_step_nanos);
    reader_.read("trade_ids_dense", map_.trade_ids_dense);
    reader_.read("starts_empty", map_.starts_empty);
    std::vector<YamlReader> messages = reader_.children("messages");
    if (messages.empty()) reader_.fail("messages", "a list of at least one message");
    for (YamlReader& message : messages) read_message(message);
    return reader_.finish();
  }

 private:
  void read_csv() {
    if (!map_.is_csv) return;
    std::string delimiter = ",";
    reader_.read("delimiter", delimiter);
    if (delimiter.size() != 1 || delimiter == "\"")
      reader_.fail("delimiter", "one character that is no quote");
    if (!delimiter.empty()) map_.delimiter = delimiter.front();
    reader_.read("header", map_.has_header);
  }

  // What messages may say for themselves; `map` says it for those that do not.
  static void read_shared(YamlReader& reader, MessageMap& message) {
    static constexpr std::array<std::string_view, 5> kUnits = {"s", "ms", "us", "ns", "iso"};
    auto unit = static_cast<std::size_t>(message.time_unit);
    reader.read_choice("time_unit", unit, kUnits);
    message.time_unit = static_cast<TimeUnit>(unit);
    reader.read("symbol_after", message.symbol_after);
    reader.read("symbol_before", message.symbol_before);
    reader.read("bid_words", message.bid_words);
    reader.read("ask_words", message.ask_words);
  }

  void read_join() {
    static constexpr std::array<std::string_view, 5> kRules = {"none", "previous", "first",
                                                               "consecutive", "increasing"};
    std::size_t rule = 0;
    reader_.read_choice("join", rule, kRules);
    map_.join = static_cast<JoinRule>(rule);
  }

  void read_grid(std::string_view key, std::int64_t& nanos) {
    std::string text;
    reader_.read(key, text);
    if (text.empty()) return;
    if (parse_decimal_nanos(text, nanos) != DecimalStatus::kOk || nanos <= 0)
      reader_.fail(key, "a decimal number above zero, in quotes");
  }

  void read_path(YamlReader& message, std::string_view key, FieldPath& path) {
    std::string text;
    message.read(key, text);
    if (!message.has(key) || text.empty()) return;
    if (!parse_path(text, map_.is_csv, path))
      message.fail(key, "a path like data.bids, /time or 0, in quotes where it is a number");
  }

  void read_message(YamlReader& reader) {
    MessageMap message = shared_;
    read_shared(reader, message);
    auto kind = static_cast<std::size_t>(message.kind);
    reader.read_choice("kind", kind, kKindNames);
    if (!reader.has("kind")) reader.fail("kind", "snapshot, diff, trade or ticker");
    message.kind = static_cast<MappedKind>(kind);
    std::vector<std::string> when;
    reader.read("when", when);
    for (const std::string& text : when) {
      FieldCondition& condition = message.when.emplace_back();
      if (!parse_condition(text, map_.is_csv, condition))
        reader.fail("when", "conditions like e=trade, channel=book_*, data or !id");
    }
    read_path(reader, "each", message.each);
    read_path(reader, "symbol", message.symbol);
    read_path(reader, "time", message.time);
    switch (message.kind) {
      case MappedKind::kSnapshot:
      case MappedKind::kDiff:
        read_book(reader, message);
        break;
      case MappedKind::kTrade:
        read_trade(reader, message);
        break;
      case MappedKind::kTicker:
        read_ticker(reader, message);
        break;
    }
    map_.messages.push_back(std::move(message));
  }

  void read_book(YamlReader& reader, MessageMap& message) {
    read_path(reader, "bids", message.bids);
    read_path(reader, "asks", message.asks);
    read_path(reader, "levels", message.levels);
    read_path(reader, "level", message.level);
    read_path(reader, "side", message.side);
    read_path(reader, "price", message.price);
    read_path(reader, "quantity", message.quantity);
    read_path(reader, "first", message.first);
    read_path(reader, "last", message.last);
    read_path(reader, "previous", message.previous);
    const bool has_lists = message.bids.is_told() && message.asks.is_told();
    const bool is_level = message.side.is_told() && message.price.is_told();
    if (!has_lists && !is_level)
      reader.fail("kind", "bids and asks, or side, price and quantity, to be told");
    const bool is_diff = message.kind == MappedKind::kDiff;
    if (map_.join != JoinRule::kNone) require_path(reader, "last", message.last);
    if (is_diff && map_.join == JoinRule::kFirst) require_path(reader, "first", message.first);
    if (is_diff && map_.join == JoinRule::kPrevious)
      require_path(reader, "previous", message.previous);
    if (is_level) return require_path(reader, "quantity", message.quantity);
    // Pairs, unless the map says otherwise.
    if (!message.price.is_told()) parse_path("0", map_.is_csv, message.price);
    if (!message.quantity.is_told()) parse_path("1", map_.is_csv, message.quantity);
  }

  void read_trade(YamlReader& reader, MessageMap& message) {
    read_path(reader, "price", message.price);
    read_path(reader, "quantity", message.quantity);
    read_path(reader, "side", message.side);
    reader.read("side_is_maker", message.side_is_maker);
    read_path(reader, "trade_id", message.trade_id);
    require_path(reader, "price", message.price);
    require_path(reader, "quantity", message.quantity);
  }

  void read_ticker(YamlReader& reader, MessageMap& message) {
    read_path(reader, "bid_price", message.bid_price);
    read_path(reader, "bid_quantity", message.bid_quantity);
    read_path(reader, "ask_price", message.ask_price);
    read_path(reader, "ask_quantity", message.ask_quantity);
    read_path(reader, "last", message.last);
    for (const auto& [key, path] :
         {std::pair{"bid_price", &message.bid_price},
          std::pair{"bid_quantity", &message.bid_quantity},
          std::pair{"ask_price", &message.ask_price},
          std::pair{"ask_quantity", &message.ask_quantity}, std::pair{"last", &message.last}})
      require_path(reader, key, *path);
  }

  void require_path(YamlReader& reader, std::string_view key, const FieldPath& path) {
    if (!path.is_told()) reader.fail(key, "a path: this kind of message needs it");
  }

  YamlReader reader_;
  FeedMap& map_;
  MessageMap shared_;
};

Result<FeedMap> read_from(YamlReader reader) {
  FeedMap map;
  TOCSIN_RETURN_IF_ERROR(MapReader(std::move(reader), map).read());
  return map;
}

}  // namespace

std::string_view mapped_kind_name(MappedKind kind) noexcept {
  return kKindNames[static_cast<std::size_t>(kind)];
}

bool FeedMap::has_book() const noexcept {
  return std::any_of(messages.begin(), messages.end(), [](const MessageMap& message) {
    return message.kind == MappedKind::kSnapshot || message.kind == MappedKind::kDiff;
  });
}

bool FeedMap::has_snapshot() const noexcept {
  return std::any_of(messages.begin(), messages.end(), [](const MessageMap& message) {
    return message.kind == MappedKind::kSnapshot;
  });
}

Result<FeedMap> read_feed_map(const std::string& path) {
  TOCSIN_ASSIGN_OR_RETURN(YamlReader reader, YamlReader::from_file(path));
  return read_from(std::move(reader));
}

Result<FeedMap> parse_feed_map(std::string_view text, const std::string& name) {
  TOCSIN_ASSIGN_OR_RETURN(YamlReader reader, YamlReader::from_text(text, name));
  return read_from(std::move(reader));
}

}  // namespace tocsin
