#include "decision/alert_id.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/allocation_counter.h"

namespace tocsin {
namespace {

AlertOrigin sample_origin() { return {"btcusdt.jsonl.zst", "burst", "btcusdt_burst_lstm", "1"}; }

// The expected values were computed with Python's hashlib.blake2s from the documented encoding.
TEST(AlertIdHasher, EqualsTheDocumentedEncoding) {
  AlertIdHasher hasher(sample_origin());
  EXPECT_EQ(hasher.id_of({.record = 4711}, "BTCUSDT").value, 0x60dac4e0c191fd1aU);

  AlertIdHasher empty(AlertOrigin{});
  EXPECT_EQ(empty.id_of({}, "").value, 0x7564da63c6f1cd8dU);

  AlertIdHasher extreme({"Z\u00fcrich.csv", "r", "m", "12"});
  EXPECT_EQ(extreme.id_of({.record = UINT64_MAX, .partition = UINT32_MAX}, "A").value,
            0xcc676ffd869c3650U);
}

TEST(AlertIdHasher, DoesNotDependOnTheCallsBefore) {
  AlertIdHasher hasher(sample_origin());
  const AlertId first = hasher.id_of({.record = 1}, "BTCUSDT");
  EXPECT_FALSE(hasher.id_of({.record = 2}, "ETHUSDT") == first);
  EXPECT_EQ(hasher.id_of({.record = 1}, "BTCUSDT"), first);
}

TEST(AlertIdHasher, ChangesWithEveryPart) {
  std::vector<AlertId> ids;
  const InputPosition position{.record = 7, .partition = 3};
  ids.push_back(AlertIdHasher(sample_origin()).id_of(position, "BTCUSDT"));
  ids.push_back(AlertIdHasher(sample_origin()).id_of({.record = 8, .partition = 3}, "BTCUSDT"));
  ids.push_back(AlertIdHasher(sample_origin()).id_of({.record = 7, .partition = 4}, "BTCUSDT"));
  ids.push_back(AlertIdHasher(sample_origin()).id_of(position, "BTCUSD"));
  for (std::string AlertOrigin::*part : {&AlertOrigin::source, &AlertOrigin::rule,
                                         &AlertOrigin::model, &AlertOrigin::model_version}) {
    AlertOrigin origin = sample_origin();
    origin.*part += "x";
    ids.push_back(AlertIdHasher(origin).id_of(position, "BTCUSDT"));
  }
  std::set<std::uint64_t> distinct;
  for (const AlertId id : ids) distinct.insert(id.value);
  EXPECT_EQ(distinct.size(), ids.size());
}

TEST(AlertIdHasher, KeepsNeighbouringTextsApart) {
  const InputPosition position{.record = 1};
  EXPECT_FALSE(AlertIdHasher({"s", "ab", "c", "1"}).id_of(position, "X") ==
               AlertIdHasher({"s", "a", "bc", "1"}).id_of(position, "X"));
  EXPECT_FALSE(AlertIdHasher({"s", "r", "m1", "2"}).id_of(position, "X") ==
               AlertIdHasher({"s", "r", "m", "12"}).id_of(position, "X"));
  EXPECT_FALSE(AlertIdHasher({"s", "r", "m", "1"}).id_of(position, "Xr") ==
               AlertIdHasher({"s", "rr", "m", "1"}).id_of(position, "X"));
}

TEST(AlertIdHasher, AllocatesNothingAfterConstruction) {
  AlertIdHasher hasher(sample_origin());
  const std::string symbol(AlertIdHasher::kSymbolReserveBytes, 'S');
  const std::uint64_t before = allocation_count();
  for (std::uint64_t record = 1; record <= 100; ++record) hasher.id_of({.record = record}, symbol);
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace tocsin
