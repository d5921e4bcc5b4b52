// Every diff takes the same path, whether it is new or was held: the checks are made once, there.
#include "ingest/book_join.h"

#include <algorithm>
#include <utility>

namespace tocsin {
namespace {

MarketEvent level_event(const MarketEvent& first, const FeedLevel& level) noexcept {
  MarketEvent event = first;
  event.kind = EventKind::kSetLevel;
  event.side = level.side;
  event.price_nanos = level.price_nanos;
  event.quantity_nanos = level.quantity_nanos;
  return event;
}

}  // namespace

BookJoinFinding BookJoin::on_diff(const UpdateIds& ids, std::span<const FeedLevel> levels,
                                  const MarketEvent& first, EventBatch& batch) {
  MarketEvent event = first;
  event.sequence = ids.last;
  scratch_.clear();
  for (const FeedLevel& level : levels) scratch_.push_back(level_event(event, level));
  if (!scratch_.empty()) scratch_.back().end_of_update = true;
  BookJoinFinding finding;
  if (phase_ == Phase::kNoSnapshot) {
    hold({.ids = ids}, scratch_, finding);
  } else {
    take({.ids = ids}, scratch_, finding, batch);
  }
  return finding;
}

BookJoinFinding BookJoin::on_snapshot(std::uint64_t last_update_id,
                                      std::span<const FeedLevel> levels, const MarketEvent& first,
                                      EventBatch& batch) {
  BookJoinFinding finding;
  const bool whole = phase_ == Phase::kJoined || phase_ == Phase::kJoining;
  if (whole && last_update_id < last_update_id_) {
    finding.ignored_count = 1;  // the book is past it, and whole
    return finding;
  }
  MarketEvent event = first;
  event.sequence = last_update_id;
  event.quality |= Quality::kSnapshot;
  event.kind = EventKind::kClear;
  batch.push_back(event);
  for (const FeedLevel& level : levels) batch.push_back(level_event(event, level));
  batch.back().end_of_update = true;

  phase_ = Phase::kJoining;
  last_update_id_ = last_update_id;
  owed_quality_ = {};
  std::swap(held_, replayed_);
  held_.clear();
  for (const HeldDiff& diff : replayed_.diffs) {
    const std::size_t begin = batch.size();
    take(diff, std::span(replayed_.events).subspan(diff.event_begin, diff.event_count), finding,
         batch);
    for (std::size_t i = begin; i < batch.size(); ++i) {
      batch[i].record = first.record;
      batch[i].instrument = first.instrument;
    }
  }
  replayed_.clear();
  return finding;
}

void BookJoin::take(HeldDiff diff, std::span<const MarketEvent> events, BookJoinFinding& finding,
                    EventBatch& batch) {
  // What the snapshot holds already: "drop any event where u is < lastUpdateId".
  if (phase_ == Phase::kJoining && diff.ids.last < last_update_id_) {
    if (!diff.yielded) ++finding.ignored_count;
    return;
  }
  const QualityFlags found = judge(diff, finding);
  const bool applies = !found.has(Quality::kDuplicate) && !found.has(Quality::kOutOfOrder);
  const QualityFlags quality = found | owed_quality_;
  owed_quality_ = events.empty() ? quality : QualityFlags{};
  for (const MarketEvent& event : events) {
    batch.push_back(event);
    batch.back().quality |= quality;
    // What is not applied completes no update: its flags go into the next one's frame.
    if (!applies) batch.back().end_of_update = false;
  }
  if (!applies) return;
  last_update_id_ = diff.ids.last;
  diff.yielded = true;
  if (phase_ == Phase::kBroken) hold(diff, events, finding);
}

// What is wrong with the diff, if anything; sets the phase that follows.
QualityFlags BookJoin::judge(const HeldDiff& diff, BookJoinFinding& finding) noexcept {
  if (phase_ == Phase::kJoining) {
    // Binance asks for U <= lastUpdateId <= u. Ids between pu and U belong to other symbols, so
    // that pu <= lastUpdateId leaves nothing out either (a recording may begin right there).
    if (std::min(diff.ids.first, diff.ids.previous) <= last_update_id_) {
      phase_ = Phase::kJoined;
      return {};
    }
  } else if (diff.ids.previous == last_update_id_) {
    return {};
  } else if (diff.ids.last == last_update_id_) {
    ++finding.duplicate_count;
    return Quality::kDuplicate;
  } else if (diff.ids.last < last_update_id_) {
    ++finding.out_of_order_count;
    return Quality::kOutOfOrder;
  }
  phase_ = Phase::kBroken;
  held_.clear();  // what came before the gap cannot be joined with a later snapshot
  ++finding.gap_count;
  return Quality::kGap;
}

void BookJoin::hold(HeldDiff diff, std::span<const MarketEvent> events, BookJoinFinding& finding) {
  if (held_.diffs.size() + held_.events.size() + events.size() >= kHeldMax) {
    finding.ignored_count += held_count();
    held_.clear();
  }
  diff.event_begin = held_.events.size();
  diff.event_count = events.size();
  held_.diffs.push_back(diff);
  held_.events.insert(held_.events.end(), events.begin(), events.end());
}

std::uint64_t BookJoin::restart() noexcept {
  const std::uint64_t lost_count = held_count();
  held_.clear();
  phase_ = Phase::kNoSnapshot;
  owed_quality_ = {};
  return lost_count;
}

std::uint64_t BookJoin::held_count() const noexcept {
  return static_cast<std::uint64_t>(std::count_if(
      held_.diffs.begin(), held_.diffs.end(), [](const HeldDiff& diff) { return !diff.yielded; }));
}

}  // namespace tocsin
