// Fields are known by CME's names. What a template is for follows from its name without the number.
#include "ingest/mdp3_layout.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "ingest/mdp3_built_in_schema.h"

namespace tocsin {
namespace {

struct NamedKind {
  std::string_view name;
  MdpKind kind;
};
constexpr std::array kKinds = {
    NamedKind{"MDIncrementalRefreshBook", MdpKind::kBook},
    NamedKind{"MDIncrementalRefreshBookLongQty", MdpKind::kBook},
    NamedKind{"MDIncrementalRefreshOrderBook", MdpKind::kOrderBook},
    NamedKind{"MDIncrementalRefreshTrade", MdpKind::kTrades},
    NamedKind{"MDIncrementalRefreshTradeSummary", MdpKind::kTrades},
    NamedKind{"MDIncrementalRefreshTradeSummaryLongQty", MdpKind::kTrades},
    NamedKind{"MDIncrementalRefreshVolume", MdpKind::kStatistics},
    NamedKind{"MDIncrementalRefreshVolumeLongQty", MdpKind::kStatistics},
    NamedKind{"MDIncrementalRefreshDailyStatistics", MdpKind::kStatistics},
    NamedKind{"MDIncrementalRefreshLimitsBanding", MdpKind::kStatistics},
    NamedKind{"MDIncrementalRefreshSessionStatistics", MdpKind::kStatistics},
    NamedKind{"MDIncrementalRefreshSessionStatisticsLongQty", MdpKind::kStatistics},
    NamedKind{"SnapshotFullRefresh", MdpKind::kSnapshot},
    NamedKind{"SnapshotFullRefreshLongQty", MdpKind::kSnapshot},
    NamedKind{"SnapshotFullRefreshOrderBook", MdpKind::kOrderSnapshot},
    NamedKind{"SecurityStatus", MdpKind::kStatus},
    NamedKind{"MDInstrumentDefinitionFuture", MdpKind::kDefinition},
    NamedKind{"MDInstrumentDefinitionOption", MdpKind::kDefinition},
    NamedKind{"MDInstrumentDefinitionSpread", MdpKind::kDefinition},
    NamedKind{"MDInstrumentDefinitionFixedIncome", MdpKind::kDefinition},
    NamedKind{"MDInstrumentDefinitionRepo", MdpKind::kDefinition},
    NamedKind{"MDInstrumentDefinitionFX", MdpKind::kDefinition},
    NamedKind{"ChannelReset", MdpKind::kReset},
    NamedKind{"AdminHeartbeat", MdpKind::kHeartbeat},
};

MdpKind kind_of(std::string_view name) noexcept {
  const std::size_t last = name.find_last_not_of("0123456789");
  name = name.substr(0, last == std::string_view::npos ? 0 : last + 1);
  const auto* found = std::find_if(kKinds.begin(), kKinds.end(),
                                   [name](const NamedKind& kind) { return kind.name == name; });
  return found == kKinds.end() ? MdpKind::kOther : found->kind;
}

// Integers where integers are read: a field of another type counts as absent.
SbeField number(const std::vector<SbeField>& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [name](const SbeField& field) { return field.name == name; });
  return found == fields.end() || !found->is_integer ? SbeField{} : *found;
}

SbeField text(const std::vector<SbeField>& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [name](const SbeField& field) { return field.name == name; });
  return found == fields.end() ? SbeField{} : *found;
}

std::size_t group_index(const std::vector<SbeGroup>& groups, std::string_view name) {
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [name](const SbeGroup& group) { return group.name == name; });
  return static_cast<std::size_t>(found - groups.begin());
}

void bind_block(const std::vector<SbeField>& fields, MdpTemplate& bound) {
  bound.transact_time = number(fields, "TransactTime");
  bound.match_event = number(fields, "MatchEventIndicator");
  bound.security_id = number(fields, "SecurityID");
  bound.report_number = number(fields, "RptSeq");
  bound.last_sequence = number(fields, "LastMsgSeqNumProcessed");
  bound.chunk_count = number(fields, "NoChunks");
  bound.chunk = number(fields, "CurrentChunk");
  bound.trading_status = number(
      fields, bound.kind == MdpKind::kStatus ? "SecurityTradingStatus" : "MDSecurityTradingStatus");
  bound.security_group = text(fields, "SecurityGroup");
  bound.symbol = text(fields, "Symbol");
  bound.tick = number(fields, "MinPriceIncrement");
}

void bind_entry(const std::vector<SbeField>& fields, MdpTemplate& bound) {
  bound.price = number(fields, "MDEntryPx");
  bound.quantity = number(fields, "MDEntrySize");
  bound.entry_security_id = number(fields, "SecurityID");
  bound.entry_report_number = number(fields, "RptSeq");
  bound.level = number(fields, "MDPriceLevel");
  bound.action = number(fields, "MDUpdateAction");
  bound.entry_type = number(fields, "MDEntryType");
  bound.order_id = number(fields, "OrderID");
  bound.display_quantity = number(fields, "MDDisplayQty");
  bound.aggressor_side = number(fields, "AggressorSide");
}

void bind_groups(MdpTemplate& bound) {
  bound.entries_index = group_index(bound.groups, "NoMDEntries");
  bound.orders_index = group_index(bound.groups, "NoOrderIDEntries");
  bound.feed_types_index = group_index(bound.groups, "NoMDFeedTypes");
  if (bound.entries_index < bound.groups.size()) {
    bind_entry(bound.groups[bound.entries_index].fields, bound);
  }
  if (bound.orders_index < bound.groups.size()) {
    const auto& fields = bound.groups[bound.orders_index].fields;
    bound.order_order_id = number(fields, "OrderID");
    bound.order_quantity = number(fields, "MDDisplayQty");
    bound.order_reference = number(fields, "ReferenceID");
    bound.order_action = number(fields, "OrderUpdateAction");
  }
  if (bound.feed_types_index < bound.groups.size()) {
    const auto& fields = bound.groups[bound.feed_types_index].fields;
    bound.feed_type = text(fields, "MDFeedType");
    bound.market_depth = number(fields, "MarketDepth");
  }
}

}  // namespace

Result<MdpLayout> MdpLayout::from_schema(const SbeSchema& schema) {
  MdpLayout layout;
  bool changes_books = false;
  for (const auto& [id, message] : schema.messages()) {
    MdpTemplate bound;
    bound.name = message.name;
    bound.kind = kind_of(message.name);
    bound.groups = message.groups;
    bind_block(message.fields, bound);
    bind_groups(bound);
    changes_books |= bound.kind == MdpKind::kBook || bound.kind == MdpKind::kOrderBook;
    if (layout.index_by_id_.size() <= id) layout.index_by_id_.resize(std::size_t{id} + 1);
    layout.templates_.push_back(std::move(bound));
    layout.index_by_id_[id] = static_cast<std::uint16_t>(layout.templates_.size());
  }
  if (!changes_books) {
    return Error(ErrorCode::kInvalidArgument,
                 "a schema without MDIncrementalRefreshBook or …OrderBook is not one of MDP 3.0");
  }
  return layout;
}

const MdpLayout& MdpLayout::built_in() {
  static const MdpLayout kLayout = [] {
    auto schema = SbeSchema::parse(mdp3_built_in_schema());
    TOCSIN_ASSERT(schema.ok());
    auto layout = from_schema(schema.value());
    TOCSIN_ASSERT(layout.ok());
    return std::move(layout).value();
  }();
  return kLayout;
}

const MdpTemplate* MdpLayout::find(std::uint16_t id) const noexcept {
  if (id >= index_by_id_.size() || index_by_id_[id] == 0) return nullptr;
  return &templates_[index_by_id_[id] - 1U];
}

}  // namespace tocsin
