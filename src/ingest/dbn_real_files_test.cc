// DBN as it is: the fixtures of Databento's own tests, and two days of CME's orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "ingest/dbn_metadata.h"
#include "ingest/decoders.h"
#include "support/data_path.h"
#include "support/drained_source.h"

namespace tocsin {
namespace {

DrainedSource decode_file(const std::string& path) {
  auto stream = open_byte_stream(path);
  EXPECT_TRUE(stream.ok());
  return drain_made(make_dbn_decoder(std::move(stream).value(), {}));
}

// Every fixture of Databento's own tests, all versions and schemas.
TEST(DbnRealFiles, OpensAndEndsEveryOfficialFixture) {
  const std::string folder = tocsin_data_path("dbn");
  if (folder.empty()) GTEST_SKIP() << "no dbn in TOCSIN_DATA";
  std::uint64_t read_count = 0;
  std::uint64_t refused_count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    if (!name.starts_with("test_data.") && !name.starts_with("multi-frame.")) continue;
    const DrainedSource decoded = decode_file(entry.path().string());
    if (name.find(".frag") != std::string::npos || name.ends_with(".dbz")) {
      EXPECT_EQ(decoded.code, ErrorCode::kUnimplemented);
      EXPECT_NE(decoded.error.find(name.ends_with(".dbz") ? "a legacy DBZ file" : "(a fragment)"),
                std::string::npos)
          << decoded.error;
      ++refused_count;
      continue;
    }
    EXPECT_EQ(decoded.error, "");
    EXPECT_EQ(decoded.counters.malformed, 0U);
    const bool has_events =
        name.find(".mbo.") != std::string::npos || name.find(".mbp-") != std::string::npos ||
        name.find(".tbbo.") != std::string::npos || name.find(".trades.") != std::string::npos;
    if (name.find("cmbp") == std::string::npos && has_events) {
      EXPECT_EQ(decoded.counters.records, 2U);
      EXPECT_EQ(decoded.counters.ignored, 0U);
      ASSERT_GE(decoded.events.size(), 2U);
      EXPECT_TRUE(decoded.events.back().end_of_update);
      EXPECT_EQ(decoded.instruments.at(0).symbol, "ESH1");
      EXPECT_EQ(decoded.events[0].instrument, 0U);
      EXPECT_EQ(dbn_date_of(decoded.events[0].receive_time_ns), 20201228U);
    } else {
      EXPECT_EQ(decoded.counters.ignored, decoded.counters.records);
      EXPECT_TRUE(decoded.events.empty());
    }
    ++read_count;
  }
  EXPECT_EQ(read_count + refused_count, 81U);
}

// The simplest book that can be: what is true of CME's real days must come out of our events.
class CountedBook {
 public:
  void apply(const MarketEvent& event) {
    switch (event.kind) {
      case EventKind::kClear:
        orders_.clear();
        break;
      case EventKind::kAddOrder:
        EXPECT_TRUE(orders_.emplace(event.order_id, event).second);
        break;
      case EventKind::kModifyOrder:
        EXPECT_EQ(orders_.count(event.order_id), 1U);
        orders_[event.order_id] = event;
        break;
      case EventKind::kReduceOrder: {
        const auto found = orders_.find(event.order_id);
        ASSERT_NE(found, orders_.end());
        EXPECT_EQ(found->second.price_nanos, event.price_nanos);
        found->second.quantity_nanos -= event.quantity_nanos;
        EXPECT_GE(found->second.quantity_nanos, 0);
        if (found->second.quantity_nanos == 0) orders_.erase(found);
        break;
      }
      default:
        EXPECT_TRUE(event.kind == EventKind::kTrade || event.kind == EventKind::kEndOfUpdate);
    }
  }
  bool is_crossed() const {
    std::int64_t bid = INT64_MIN;
    std::int64_t ask = INT64_MAX;
    for (const auto& [id, order] : orders_) {
      if (order.side == Side::kBid) bid = std::max(bid, order.price_nanos);
      if (order.side == Side::kAsk) ask = std::min(ask, order.price_nanos);
    }
    return bid >= ask;
  }
  std::size_t size() const { return orders_.size(); }

 private:
  std::map<std::uint64_t, MarketEvent> orders_;
};

struct RealDay {
  std::string_view name;
  std::map<std::string, std::uint64_t> by_type;
  std::uint64_t updates;
  std::size_t orders_left;
};

TEST(DbnRealFiles, RebuildsRealDaysOfOrders) {
  const std::vector<RealDay> days = {{"20231224", {{"mbo add", 8'725}}, 1, 8'725},
                                     {"20231225",
                                      {{"mbo add", 29'216},
                                       {"mbo modify", 12'233},
                                       {"mbo cancel", 17'999},
                                       {"mbo trade", 2'973},
                                       {"mbo fill", 6'371}},
                                      47'022,
                                      11'217}};
  for (const RealDay& day : days) {
    const std::string path =
        tocsin_data_path("dbn/nautilus_esh4-glbx-mdp3-" + std::string(day.name) + ".mbo.dbn.zst");
    if (path.empty()) GTEST_SKIP() << "no dbn/nautilus_esh4-* in TOCSIN_DATA";
    SCOPED_TRACE(day.name);
    const DrainedSource decoded = decode_file(path);
    EXPECT_EQ(decoded.error, "");
    EXPECT_EQ(decoded.by_type, day.by_type);
    EXPECT_EQ(decoded.counters.malformed + decoded.counters.out_of_order +
                  decoded.counters.time_backwards + decoded.counters.bad_quantity,
              0U);
    EXPECT_EQ(decoded.instruments.at(0).symbol, "ESH4");
    EXPECT_EQ(decoded.events.at(0).kind, EventKind::kClear);
    CountedBook book;
    std::uint64_t updates = 0;
    std::uint64_t crossed = 0;
    bool has_opened = false;  // before the first trade orders gather and may cross
    for (const MarketEvent& event : decoded.events) {
      book.apply(event);
      has_opened = has_opened || event.kind == EventKind::kTrade;
      if (!event.end_of_update) continue;
      // Looking at every order is slow: every hundredth update is enough to find a wrong rule.
      if (++updates % 100 == 0 && has_opened && book.is_crossed()) ++crossed;
    }
    EXPECT_EQ(updates, day.updates);
    EXPECT_EQ(crossed, 0U);
    EXPECT_FALSE(book.is_crossed());
    EXPECT_EQ(book.size(), day.orders_left);
    EXPECT_TRUE(decoded.events.back().end_of_update) << "every event of the venue is ended";
  }
}

}  // namespace
}  // namespace tocsin
