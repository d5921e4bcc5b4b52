// Blocks of names, made when their first one comes.
#include "sinks/symbol_table.h"

#include "base/assert.h"

namespace tocsin {

void SymbolTable::put(InstrumentId instrument, std::string_view symbol) {
  TOCSIN_ASSERT(instrument < kSymbolsMax);
  std::unique_ptr<Block>& block = blocks_[instrument / kBlockSize];
  if (!block) block = std::make_unique<Block>();
  (*block)[instrument % kBlockSize] = symbol;
}

std::string_view SymbolTable::symbol(InstrumentId instrument) const noexcept {
  TOCSIN_ASSERT(instrument < kSymbolsMax);
  const std::unique_ptr<Block>& block = blocks_[instrument / kBlockSize];
  return block ? std::string_view((*block)[instrument % kBlockSize]) : std::string_view();
}

}  // namespace tocsin
