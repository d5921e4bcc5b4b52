#include "sinks/symbol_table.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "concurrency/spsc_ring.h"

namespace tocsin {
namespace {

TEST(SymbolTable, KnowsWhatWasPut) {
  SymbolTable table;
  EXPECT_EQ(table.symbol(5), "");
  table.put(5, "AAPL");
  table.put(SymbolTable::kSymbolsMax - 1, "LAST");
  EXPECT_EQ(table.symbol(5), "AAPL");
  EXPECT_EQ(table.symbol(4), "");
  EXPECT_EQ(table.symbol(SymbolTable::kSymbolsMax - 1), "LAST");
}

// A thread sanitizer's run of this shows that the ring's hand-over is all the order there needs to
// be.
TEST(SymbolTable, GrowsBesideAReaderThatIsToldThroughARing) {
  SymbolTable table;
  SpscRing<InstrumentId> ring(64);
  constexpr InstrumentId kCount = 5000;
  std::thread writer([&] {
    for (InstrumentId instrument = 0; instrument < kCount; ++instrument) {
      table.put(instrument, "S" + std::to_string(instrument));
      while (!ring.try_push(instrument)) std::this_thread::yield();
    }
  });
  for (InstrumentId expected = 0; expected < kCount; ++expected) {
    InstrumentId instrument = 0;
    while (!ring.try_pop(instrument)) std::this_thread::yield();
    ASSERT_EQ(table.symbol(instrument), "S" + std::to_string(expected));
  }
  writer.join();
}

}  // namespace
}  // namespace tocsin
