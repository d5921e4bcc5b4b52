// Names of instruments, shared by the pipeline that learns them and the sinks' thread that prints
// them. No lock: a name is put in before a decision on it goes through the ring, and never changes.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "events/market_event.h"

namespace tocsin {

class SymbolTable {
 public:
  static constexpr std::size_t kSymbolsMax = std::size_t{1} << 20;

  // Pipeline's thread, once an instrument, before its first decision is pushed.
  void put(InstrumentId instrument, std::string_view symbol);
  // Either thread, after that. Valid as long as the table.
  std::string_view symbol(InstrumentId instrument) const noexcept;

 private:
  // Blocks never move, so that the table grows beside a reader.
  static constexpr std::size_t kBlockSize = 1024;
  using Block = std::array<std::string, kBlockSize>;
  std::array<std::unique_ptr<Block>, kSymbolsMax / kBlockSize> blocks_;
};

}  // namespace tocsin
