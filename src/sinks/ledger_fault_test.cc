// Damages a small ledger in every way there is and asks for the place: nothing may go unseen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sinks/ledger_diagnosis.h"
#include "sinks/ledger_reader.h"
#include "sinks/sample_ledger.h"

namespace tocsin {
namespace {

using Bytes = std::vector<std::byte>;

struct Place {
  std::uint32_t segment;
  std::uint64_t record;
  std::size_t begin;
  std::size_t end;
};

class LedgerFaults : public testing::Test {
 protected:
  LedgerFaults() : ledger_(intact()) {
    const auto visit = [this](const LedgerEntry& entry) {
      const auto begin = static_cast<std::size_t>(entry.byte);
      places_.push_back({entry.segment, entry.number, begin,
                         begin + kRecordOverheadBytes + entry.payload.size()});
    };
    const auto report = verify_ledger(ledger_, {}, visit);
    EXPECT_TRUE(report.ok() && report->ok());
    EXPECT_GE(ledger_.segment_bytes.size(), 4U);
    head_ = report->head;
  }

  // Written once; each test damages its own copy.
  static const MemoryLedgerStore& intact() {
    static const MemoryLedgerStore ledger = [] {
      TemporaryFolder folder;
      EXPECT_TRUE(write_ledger(folder.path("ledger"), random_decisions(1, 14), 1200).ok());
      return load_ledger(folder.path("ledger"));
    }();
    return ledger;
  }

  LedgerFault fault_of(MemoryLedgerStore& store) {
    const auto report = verify_ledger(store);
    EXPECT_TRUE(report.ok());
    if (report->ok()) {
      ADD_FAILURE() << "not detected";
      return {99, 0, 0, LedgerFaultKind::kChanged, "not detected"};
    }
    return *report->fault;
  }

  void expect_fault(MemoryLedgerStore& store, const Place& place, LedgerFaultKind kind) {
    const LedgerFault fault = fault_of(store);
    EXPECT_EQ(fault.segment, place.segment) << format_ledger_fault(fault);
    EXPECT_EQ(fault.record, place.record) << format_ledger_fault(fault);
    EXPECT_EQ(fault.byte, place.begin) << format_ledger_fault(fault);
    EXPECT_EQ(ledger_fault_kind_name(fault.kind), ledger_fault_kind_name(kind))
        << format_ledger_fault(fault);
  }

  Bytes record_bytes(const Place& place) {
    const Bytes& segment = ledger_.segment_bytes.at(place.segment);
    return Bytes(segment.begin() + static_cast<std::ptrdiff_t>(place.begin),
                 segment.begin() + static_cast<std::ptrdiff_t>(place.end));
  }
  bool is_last(const Place& place) const { return place.record == places_.back().record; }
  bool ends_segment(const Place& place) const {
    return place.end == ledger_.segment_bytes.at(place.segment).size();
  }

  MemoryLedgerStore ledger_;
  std::vector<Place> places_;
  Digest head_{};
};

TEST_F(LedgerFaults, EveryByteChangedIsFoundAtItsRecord) {
  const std::uint64_t seed = 7;
  std::mt19937_64 random(seed);
  for (const auto& [index, original] : ledger_.segment_bytes) {
    for (std::size_t byte = 0; byte < original.size(); ++byte) {
      Place place{index, 0, 0, 0};
      for (const Place& candidate : places_) {
        if (candidate.segment != index) continue;
        if (place.record == 0) place.record = candidate.record;  // the header: the first record's
        if (byte >= candidate.begin) place = candidate;
      }
      const std::byte flipped = original[byte] ^ std::byte{1} << (byte % 8);
      const std::byte drawn = original[byte] ^ static_cast<std::byte>(1 + random() % 255);
      for (const std::byte value : {flipped, drawn}) {
        MemoryLedgerStore damaged = ledger_;
        damaged.segment_bytes[index][byte] = value;
        SCOPED_TRACE("seed " + std::to_string(seed) + ", segment " + std::to_string(index) +
                     ", byte " + std::to_string(byte));
        expect_fault(damaged, place, LedgerFaultKind::kChanged);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(LedgerFaults, EveryByteOfHeadChangedIsFound) {
  const std::string original = *ledger_.head_text;
  for (std::size_t byte = 0; byte < original.size(); ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      MemoryLedgerStore damaged = ledger_;
      (*damaged.head_text)[byte] = static_cast<char>(original[byte] ^ (1 << bit));
      SCOPED_TRACE("byte " + std::to_string(byte));
      expect_fault(damaged, {0, 0, 0, 0}, LedgerFaultKind::kChanged);
    }
  }
  for (std::size_t size = 0; size < original.size(); ++size) {
    MemoryLedgerStore damaged = ledger_;
    damaged.head_text->resize(size);
    expect_fault(damaged, {0, 0, 0, 0}, LedgerFaultKind::kChanged);
  }
  MemoryLedgerStore damaged = ledger_;
  *damaged.head_text += "\n";
  expect_fault(damaged, {0, 0, 0, 0}, LedgerFaultKind::kChanged);
  damaged.head_text.reset();
  expect_fault(damaged, {0, 0, 0, 0}, LedgerFaultKind::kMissing);
}

TEST_F(LedgerFaults, EveryRecordTakenOutIsMissing) {
  for (const Place& place : places_) {
    SCOPED_TRACE("record " + std::to_string(place.record));
    MemoryLedgerStore damaged = ledger_;
    Bytes& segment = damaged.segment_bytes[place.segment];
    segment.erase(segment.begin() + static_cast<std::ptrdiff_t>(place.begin),
                  segment.begin() + static_cast<std::ptrdiff_t>(place.end));
    expect_fault(damaged, place,
                 is_last(place) ? LedgerFaultKind::kTruncated : LedgerFaultKind::kMissing);
  }
}

TEST_F(LedgerFaults, EveryRecordDoubledIsAdded) {
  for (const Place& place : places_) {
    SCOPED_TRACE("record " + std::to_string(place.record));
    MemoryLedgerStore damaged = ledger_;
    Bytes& segment = damaged.segment_bytes[place.segment];
    const Bytes copy = record_bytes(place);
    segment.insert(segment.begin() + static_cast<std::ptrdiff_t>(place.end), copy.begin(),
                   copy.end());
    expect_fault(damaged, {place.segment, place.record + 1, place.end, 0}, LedgerFaultKind::kAdded);
  }
}

TEST_F(LedgerFaults, BytesBetweenRecordsAreAdded) {
  const std::uint64_t seed = 11;
  std::mt19937_64 random(seed);
  for (const Place& place : places_) {
    for (const std::size_t count : {1U, 7U, 16U, 48U, 200U}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", before record " +
                   std::to_string(place.record));
      Bytes noise(count);
      for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
      MemoryLedgerStore damaged = ledger_;
      Bytes& segment = damaged.segment_bytes[place.segment];
      segment.insert(segment.begin() + static_cast<std::ptrdiff_t>(place.begin), noise.begin(),
                     noise.end());
      expect_fault(damaged, place, LedgerFaultKind::kAdded);
    }
  }
}

TEST_F(LedgerFaults, EveryAdjacentPairSwappedIsFound) {
  for (std::size_t i = 0; i + 1 < places_.size(); ++i) {
    SCOPED_TRACE("record " + std::to_string(places_[i].record));
    const Bytes first = record_bytes(places_[i]);
    const Bytes second = record_bytes(places_[i + 1]);
    MemoryLedgerStore damaged = ledger_;
    // From behind, so that the places before stay right.
    for (const auto& [place, bytes] :
         {std::pair(places_[i + 1], first), std::pair(places_[i], second)}) {
      Bytes& segment = damaged.segment_bytes[place.segment];
      const auto at = segment.begin() + static_cast<std::ptrdiff_t>(place.begin);
      segment.insert(segment.erase(at, at + static_cast<std::ptrdiff_t>(place.end - place.begin)),
                     bytes.begin(), bytes.end());
    }
    expect_fault(damaged, places_[i], LedgerFaultKind::kSwapped);
  }
}

TEST_F(LedgerFaults, RecordsSwappedOverADistanceAreFound) {
  for (std::size_t i = 0; i + 2 < places_.size(); ++i) {
    if (places_[i].segment != places_[i + 2].segment) continue;
    const Bytes first = record_bytes(places_[i]);
    const Bytes middle = record_bytes(places_[i + 1]);
    const Bytes last = record_bytes(places_[i + 2]);
    MemoryLedgerStore damaged = ledger_;
    Bytes& segment = damaged.segment_bytes[places_[i].segment];
    const auto at = segment.begin() + static_cast<std::ptrdiff_t>(places_[i].begin);
    auto next =
        segment.erase(at, at + static_cast<std::ptrdiff_t>(places_[i + 2].end - places_[i].begin));
    for (const Bytes* bytes : {&last, &middle, &first})
      next = segment.insert(next, bytes->begin(), bytes->end()) +
             static_cast<std::ptrdiff_t>(bytes->size());
    expect_fault(damaged, places_[i], LedgerFaultKind::kSwapped);
  }
}

TEST_F(LedgerFaults, EverySegmentCutAtEveryLengthIsFound) {
  for (const auto& [index, original] : ledger_.segment_bytes) {
    const bool last_segment = index == places_.back().segment;
    for (std::size_t size = 0; size < original.size(); ++size) {
      SCOPED_TRACE("segment " + std::to_string(index) + " cut to " + std::to_string(size));
      Place place{index, 0, size, 0};
      bool at_boundary = size == kSegmentHeaderBytes;
      for (const Place& candidate : places_) {
        if (candidate.segment != index) continue;
        if (place.record == 0) place.record = candidate.record;
        if (size >= candidate.begin) place = candidate;
        at_boundary = at_boundary || size == candidate.end;
        if (size == candidate.end) place = {index, candidate.record + 1, size, 0};
      }
      MemoryLedgerStore damaged = ledger_;
      damaged.segment_bytes[index].resize(size);
      // Cut between two records of an inner segment it's as if records had been taken out.
      expect_fault(
          damaged, place,
          at_boundary && !last_segment ? LedgerFaultKind::kMissing : LedgerFaultKind::kTruncated);
      if (HasFailure()) return;
    }
  }
}

TEST_F(LedgerFaults, SegmentsMissingSwappedOrAddedAreFound) {
  const std::uint32_t last = places_.back().segment;
  const auto first_record_of = [this](std::uint32_t index) {
    return std::find_if(places_.begin(), places_.end(),
                        [&](const Place& p) { return p.segment == index; })
        ->record;
  };
  for (std::uint32_t index = 1; index <= last; ++index) {
    SCOPED_TRACE("segment " + std::to_string(index));
    MemoryLedgerStore damaged = ledger_;
    damaged.segment_bytes.erase(index);
    if (index == last) {
      const auto before = std::find_if(places_.rbegin(), places_.rend(),
                                       [&](const Place& p) { return p.segment == last - 1; });
      expect_fault(damaged, {last - 1, before->record + 1, before->end, 0},
                   LedgerFaultKind::kTruncated);
    } else {
      expect_fault(damaged, {index, first_record_of(index), 0, 0}, LedgerFaultKind::kMissing);
      // The same with the later ones renamed to close the gap.
      damaged = ledger_;
      for (std::uint32_t later = index; later < last; ++later)
        damaged.segment_bytes[later] = ledger_.segment_bytes[later + 1];
      damaged.segment_bytes.erase(last);
      expect_fault(damaged, {index, first_record_of(index), 0, 0}, LedgerFaultKind::kMissing);
      damaged = ledger_;
      std::swap(damaged.segment_bytes[index], damaged.segment_bytes[index + 1]);
      expect_fault(damaged, {index, first_record_of(index), 0, 0}, LedgerFaultKind::kSwapped);
    }
    damaged = ledger_;
    damaged.segment_bytes[last + 1] = ledger_.segment_bytes[index];
    expect_fault(damaged, {last + 1, places_.back().record + 1, 0, 0}, LedgerFaultKind::kAdded);
  }
  MemoryLedgerStore damaged = ledger_;
  damaged.segment_bytes.clear();
  expect_fault(damaged, {1, 1, 0, 0}, LedgerFaultKind::kTruncated);
}

// Takes the records of a ledger, lets `edit` change their header and payload, and chains them anew
// without a flaw.
MemoryLedgerStore forge(MemoryLedgerStore& ledger,
                        const std::function<void(std::uint64_t, Bytes&)>& edit, bool with_head) {
  MemoryLedgerStore forged;
  ChainPosition position;
  ChainHasher chain;
  const auto visit = [&](const LedgerEntry& entry) {
    Bytes& segment = forged.segment_bytes[entry.segment];
    if (segment.empty())
      encode_segment_header({entry.segment, position.next_record, position.head}, segment);
    Bytes record;
    encode_record_header(entry.kind, entry.number, entry.payload.size(), record);
    record.insert(record.end(), entry.payload.begin(), entry.payload.end());
    edit(entry.number, record);
    const Digest hash = chain.hash(position.head, record);
    const auto hash_bytes = std::as_bytes(std::span(hash));
    record.insert(record.end(), hash_bytes.begin(), hash_bytes.end());
    segment.insert(segment.end(), record.begin(), record.end());
    position = {entry.number + 1, hash};
  };
  EXPECT_TRUE(verify_ledger(ledger, {}, visit).ok());
  forged.head_text =
      with_head ? encode_head({position.next_record - 1, position.head}) : ledger.head_text;
  return forged;
}

void raise_score(std::uint64_t number, Bytes& record) {
  if (number == 5) record[kRecordHeaderBytes + kLedgerScoreOffset] ^= std::byte{1};
}

TEST_F(LedgerFaults, RecordsWrittenAnewWithAFlawlessChainBetrayThemselvesByTheHead) {
  MemoryLedgerStore forged = forge(ledger_, raise_score, false);
  const LedgerFault fault = fault_of(forged);
  EXPECT_EQ(fault.segment, 0U);
  EXPECT_EQ(fault.record, places_.back().record);
  EXPECT_EQ(fault.kind, LedgerFaultKind::kChanged);
}

TEST_F(LedgerFaults, ALedgerWrittenAnewWithItsHeadIsFoundByAnAnchor) {
  MemoryLedgerStore forged = forge(ledger_, raise_score, true);
  EXPECT_TRUE(verify_ledger(forged)->ok());  // nothing inside can tell
  const auto with_count = verify_ledger(forged, LedgerAnchor{head_, places_.back().record});
  ASSERT_FALSE(with_count->ok());
  EXPECT_EQ(with_count->fault->kind, LedgerFaultKind::kChanged);
  EXPECT_FALSE(verify_ledger(forged, LedgerAnchor{head_, {}})->ok());
  EXPECT_TRUE(verify_ledger(ledger_, LedgerAnchor{head_, places_.back().record})->ok());
  EXPECT_TRUE(verify_ledger(ledger_, LedgerAnchor{head_, {}})->ok());
  EXPECT_FALSE(verify_ledger(ledger_, LedgerAnchor{head_, 3})->ok());
}

TEST_F(LedgerFaults, ALedgerCutBackTogetherWithItsHeadIsFoundByAnAnchor) {
  MemoryLedgerStore cut = ledger_;
  const Place& last_kept = places_[places_.size() - 2];
  ASSERT_EQ(last_kept.segment, places_.back().segment);
  Bytes& segment = cut.segment_bytes[last_kept.segment];
  segment.resize(last_kept.end);
  Digest hash;
  std::memcpy(hash.data(), segment.data() + segment.size() - hash.size(), hash.size());
  cut.head_text = encode_head({last_kept.record, hash});
  EXPECT_TRUE(verify_ledger(cut)->ok());
  const auto report = verify_ledger(cut, LedgerAnchor{head_, places_.back().record});
  ASSERT_FALSE(report->ok());
  EXPECT_EQ(report->fault->kind, LedgerFaultKind::kTruncated);
  // A ledger that went on since the anchor was noted is fine.
  EXPECT_TRUE(verify_ledger(ledger_, LedgerAnchor{hash, last_kept.record})->ok());
}

TEST_F(LedgerFaults, ARecordOfAnotherLedgerIsFound) {
  MemoryLedgerStore forged = forge(ledger_, raise_score, true);
  for (std::size_t i = 4; i + 1 < places_.size(); ++i) {
    const Place& place = places_[i];
    MemoryLedgerStore damaged = ledger_;
    const Bytes& source = forged.segment_bytes[place.segment];
    std::copy(
        source.begin() + static_cast<std::ptrdiff_t>(place.begin),
        source.begin() + static_cast<std::ptrdiff_t>(place.end),
        damaged.segment_bytes[place.segment].begin() + static_cast<std::ptrdiff_t>(place.begin));
    // The first forged record is chained to what stands before it: it's the next one that
    // disagrees.
    expect_fault(damaged, i == 4 ? places_[i + 1] : place, LedgerFaultKind::kChanged);
  }
}

TEST_F(LedgerFaults, WhatNoWriterWritesIsFoundAlthoughTheChainHolds) {
  // A payload a byte short, a number out of line, a byte that should be zero, an unknown kind.
  const auto shorten = [](Bytes& record) {
    record.pop_back();
    record[0] = static_cast<std::byte>(record.size() - kRecordHeaderBytes);
  };
  const auto renumber = [](Bytes& record) { record[8] = std::byte{9}; };
  const auto fill_zero = [](Bytes& record) { record[6] = std::byte{1}; };
  const auto change_kind = [](Bytes& record) { record[4] = std::byte{77}; };
  for (const std::function<void(Bytes&)>& spoil :
       {std::function<void(Bytes&)>(shorten), std::function<void(Bytes&)>(renumber),
        std::function<void(Bytes&)>(fill_zero), std::function<void(Bytes&)>(change_kind)}) {
    MemoryLedgerStore forged = forge(
        ledger_,
        [&](std::uint64_t number, Bytes& record) {
          if (number == 4) spoil(record);
        },
        true);
    const LedgerFault fault = fault_of(forged);
    EXPECT_EQ(fault.record, 4U) << format_ledger_fault(fault);
    EXPECT_EQ(fault.kind, LedgerFaultKind::kChanged) << format_ledger_fault(fault);
  }
}

TEST_F(LedgerFaults, AnUnfinishedRecordPastTheHeadIsTornAndNotAFault) {
  const Place& last = places_.back();
  const Place& before = places_[places_.size() - 2];
  MemoryLedgerStore killed = ledger_;
  Bytes& segment = killed.segment_bytes[last.segment];
  Digest hash;
  std::memcpy(hash.data(), segment.data() + before.end - hash.size(), hash.size());
  killed.head_text = encode_head({before.record, hash});
  EXPECT_TRUE(verify_ledger(killed)->ok());  // one more than the HEAD counts
  for (std::size_t size = last.begin; size < last.end; ++size) {
    segment.resize(size);
    const auto report = verify_ledger(killed);
    ASSERT_TRUE(report->ok()) << size;
    EXPECT_EQ(report->torn_bytes, size - last.begin);
    EXPECT_EQ(report->records, before.record);
    segment = ledger_.segment_bytes[last.segment];
  }
  // What is not the beginning of the next record was not left by a writer.
  segment.resize(last.end);
  segment[last.begin + 8] ^= std::byte{0x40};
  EXPECT_EQ(fault_of(killed).kind, LedgerFaultKind::kChanged);
}

}  // namespace
}  // namespace tocsin
