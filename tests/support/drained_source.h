// Everything that a source yields until it ends, for tests to look at.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ingest/source.h"

namespace tocsin {

struct DrainedSource {
  std::vector<MarketEvent> events;
  SourceCounters counters;
  std::vector<Instrument> instruments;
  std::map<std::string, std::uint64_t> by_type;
  std::vector<InputFault> faults;
  std::string error;  // empty: the source came to its end
  ErrorCode code = ErrorCode::kOk;

  std::vector<EventKind> kinds() const {
    std::vector<EventKind> all;
    for (const MarketEvent& event : events) all.push_back(event.kind);
    return all;
  }
  std::uint64_t count(EventKind kind) const {
    std::uint64_t count = 0;
    for (const MarketEvent& event : events) count += event.kind == kind ? 1 : 0;
    return count;
  }
};

// Also checks what holds for every source: each event carries its record, and all are counted.
inline DrainedSource drain(Source& source) {
  DrainedSource drained;
  EventBatch batch;
  std::uint64_t records = 0;
  for (;;) {
    const SourceStatus status = source.next(batch);
    if (status == SourceStatus::kError) {
      drained.error = source.error().message();
      drained.code = source.error().code();
    }
    if (status != SourceStatus::kEvents) break;
    EXPECT_GT(source.counters().records, records);
    records = source.counters().records;
    for (const MarketEvent& event : batch) {
      EXPECT_EQ(event.record, records);
      EXPECT_LT(event.instrument, source.instruments().size());
      drained.events.push_back(event);
    }
  }
  drained.counters = source.counters();
  drained.instruments.assign(source.instruments().begin(), source.instruments().end());
  for (const auto& [name, count] : source.counts_by_type()) drained.by_type[name] = count;
  drained.faults.assign(source.faults().begin(), source.faults().end());
  EXPECT_EQ(drained.counters.events, drained.events.size());
  return drained;
}

// The same of a source that may have been refused when it was made.
inline DrainedSource drain_made(const Result<std::unique_ptr<Source>>& made) {
  if (made.ok()) return drain(*made.value());
  DrainedSource refused;
  refused.error = made.error().message();
  refused.code = made.error().code();
  return refused;
}

}  // namespace tocsin
