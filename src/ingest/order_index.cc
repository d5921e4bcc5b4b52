// Linear probing; an erased place is closed by moving up what stands behind it.
#include "ingest/order_index.h"

#include <algorithm>
#include <utility>

namespace tocsin {
namespace {

constexpr std::size_t kPlacesMin = 1024;

}  // namespace

// Fibonacci hashing: the ids of a day differ in few bits.
std::size_t OrderIndex::place_of(std::uint64_t id) const noexcept {
  const std::uint64_t mixed = (id ^ id >> 32U) * 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>(mixed >> 20U) & (places_.size() - 1);
}

bool OrderIndex::put(const Entry& entry) {
  if (entry.id == 0) return false;
  if (Entry* known = find(entry.id)) {
    *known = entry;
    return true;
  }
  if (size_ == kOrdersMax) return false;
  if (2 * (size_ + 1) > places_.size()) grow();
  std::size_t place = place_of(entry.id);
  while (places_[place].id != 0) place = (place + 1) & (places_.size() - 1);
  places_[place] = entry;
  ++size_;
  return true;
}

OrderIndex::Entry* OrderIndex::find(std::uint64_t id) noexcept {
  if (places_.empty() || id == 0) return nullptr;
  for (std::size_t place = place_of(id); places_[place].id != 0;
       place = (place + 1) & (places_.size() - 1)) {
    if (places_[place].id == id) return &places_[place];
  }
  return nullptr;
}

void OrderIndex::erase(std::uint64_t id) noexcept {
  const Entry* found = find(id);
  if (found == nullptr) return;
  const std::size_t mask = places_.size() - 1;
  auto hole = static_cast<std::size_t>(found - places_.data());
  for (std::size_t place = (hole + 1) & mask; places_[place].id != 0; place = (place + 1) & mask) {
    // An entry may move up to its own place, not past it.
    const std::size_t wanted = place_of(places_[place].id);
    if (((place - wanted) & mask) < ((place - hole) & mask)) continue;
    places_[hole] = places_[place];
    hole = place;
  }
  places_[hole] = Entry{};
  --size_;
}

void OrderIndex::clear() noexcept {
  std::fill(places_.begin(), places_.end(), Entry{});
  size_ = 0;
}

void OrderIndex::grow() {
  std::vector<Entry> old(std::max(kPlacesMin, 2 * places_.size()));
  std::swap(old, places_);
  for (const Entry& entry : old) {
    if (entry.id == 0) continue;
    std::size_t place = place_of(entry.id);
    while (places_[place].id != 0) place = (place + 1) & (places_.size() - 1);
    places_[place] = entry;
  }
}

}  // namespace tocsin
