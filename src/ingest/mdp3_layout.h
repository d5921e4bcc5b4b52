// Where the fields that decoding reads stand in each template of CME's MDP 3.0: bound by name from
// an SBE schema, the user's or the one built in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/sbe_schema.h"

namespace tocsin {

enum class MdpKind : std::uint8_t {
  kOther,       // counted by name
  kBook,        // price levels, and orders in a second group
  kOrderBook,   // orders alone
  kTrades,      // trade summaries
  kStatistics,  // volumes, limits, settlements: of them the report number alone is read
  kSnapshot,    // of price levels
  kOrderSnapshot,
  kStatus,
  kDefinition,
  kReset,
  kHeartbeat,
};

// An absent field has no bytes; reading it finds nothing.
struct MdpTemplate {
  MdpKind kind = MdpKind::kOther;
  std::string name;
  // The message's block.
  SbeField transact_time;
  SbeField match_event;
  SbeField security_id;
  SbeField report_number;
  SbeField last_sequence;
  SbeField chunk_count;
  SbeField chunk;
  SbeField trading_status;
  SbeField security_group;
  SbeField symbol;
  SbeField tick;
  // Its groups in their order on the wire, and which of them hold entries, orders, feed types;
  // groups.size(): none does.
  std::vector<SbeGroup> groups;
  std::size_t entries_index = 0;
  std::size_t orders_index = 0;
  std::size_t feed_types_index = 0;
  // An entry.
  SbeField price;
  SbeField quantity;
  SbeField entry_security_id;
  SbeField entry_report_number;
  SbeField level;
  SbeField action;
  SbeField entry_type;
  SbeField order_id;
  SbeField display_quantity;
  SbeField aggressor_side;
  // An order of an entry.
  SbeField order_order_id;
  SbeField order_quantity;
  SbeField order_reference;
  SbeField order_action;
  // A feed type.
  SbeField feed_type;
  SbeField market_depth;
};

class MdpLayout {
 public:
  // The templates of versions 5 to 13 that carry books, trades, statuses and definitions.
  static const MdpLayout& built_in();
  // An error if the schema has no template that changes a book.
  static Result<MdpLayout> from_schema(const SbeSchema& schema);

  // Null for an id that the schema does not have.
  const MdpTemplate* find(std::uint16_t id) const noexcept;
  const std::vector<MdpTemplate>& templates() const noexcept { return templates_; }

 private:
  std::vector<MdpTemplate> templates_;
  std::vector<std::uint16_t> index_by_id_;  // plus one; 0: none
};

}  // namespace tocsin
