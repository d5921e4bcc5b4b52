// Seeded decisions, runs and folders for this module's tests.
#pragma once

#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/assert.h"
#include "sinks/ledger_reader.h"
#include "sinks/ledger_store.h"
#include "sinks/ledger_writer.h"

namespace tocsin {

// A folder of its own, gone at the end of the test; in memory where the system offers that, because
// what is tested here waits for the disk at every step.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* const memory = "/dev/shm";
    std::string pattern =
        ::access(memory, W_OK) == 0 ? memory : std::filesystem::temp_directory_path().string();
    pattern += "/tocsin_sinks_XXXXXX";
    TOCSIN_ASSERT(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline LedgerRunStart sample_run() {
  LedgerRunStart run;
  run.unix_time_ns = 1'700'000'000'000'000'000;
  run.config = "source:\n  path: sample.csv\n";
  run.tocsin_version = "0.1.0";
  run.tocsin_commit = "abc";
  run.source_name = "sample.csv";
  run.source_path = "data/sample.csv";
  run.source_size_bytes = 12345;
  run.model_name = "lstm";
  run.model_version = "1";
  run.model_sha256.fill(0x11);
  run.schema_hash.fill(0x22);
  run.features = {
      {"spread", "ticks", 2.0F, 0.5F}, {"ofi", "ratio", 0.0F, 4.0F}, {"age", "s", 1.0F, 1.0F}};
  run.rules = {"burst"};
  run.engine = "reference";
  run.engine_version = "0.1.0";
  run.isa = "avx2";
  return run;
}

// A decision at input record `record`, with what a pipeline would set; `random` gives the rest.
inline DecisionRecord random_decision(std::mt19937_64& random, std::uint64_t record) {
  DecisionRecord decision;
  FeatureFrame& frame = decision.frame;
  frame.position.record = record;
  frame.exchange_time_ns =
      1'700'000'000'000'000'000 + static_cast<std::int64_t>(record) * 1'000'003;
  frame.receive_time_ns = frame.exchange_time_ns + static_cast<std::int64_t>(random() % 1'000'000);
  frame.frame_number = record;
  frame.mid_price_nanos_x2 =
      123'600'400'000'000 + static_cast<std::int64_t>(random() % 1000) * 100'000'000;
  frame.quality = QualityFlags::from_bits(static_cast<std::uint16_t>(random() & 0xF));
  frame.feature_count = 3;
  for (std::size_t i = 0; i < frame.feature_count; ++i)
    frame.values[i] = static_cast<float>(random() % 100'000) / 1000.0F;
  decision.first_frame_record = record > 60 ? record - 60 : 1;
  decision.window_hash = random();
  decision.id.value = random();
  const bool alerts = random() % 3 == 0;
  decision.verdict = alerts ? Verdict::kAlert : Verdict::kQuiet;
  decision.sampled = !alerts;
  decision.score = alerts ? 0.95F : static_cast<float>(random() % 89) / 100.0F;
  decision.threshold = 0.9F;
  decision.release_threshold = 0.8F;
  decision.window_steps = 60;
  decision.suppressed_count = random() % 7;
  decision.decided_time_ns = static_cast<std::int64_t>(random() % 1'000'000'000);
  for (std::int64_t& duration_ns : decision.durations.ns)
    duration_ns = static_cast<std::int64_t>(random() % 5000);
  return decision;
}

inline std::vector<DecisionRecord> random_decisions(std::uint64_t seed, std::uint64_t count) {
  std::mt19937_64 random(seed);
  std::vector<DecisionRecord> decisions;
  for (std::uint64_t record = 1; record <= count; ++record)
    decisions.push_back(random_decision(random, record));
  return decisions;
}

inline LedgerRunEnd sample_run_end() {
  LedgerRunEnd end;
  end.unix_time_ns = 1'700'000'009'000'000'000;
  end.last_position.record = 999;
  end.counters.events = 1000;
  end.counters.alerts = 3;
  return end;
}

inline constexpr const char* kSampleSymbol = "BTCUSDT";

// Writes a whole run of `decisions` into `folder`.
inline Status write_ledger(const std::string& folder, const std::vector<DecisionRecord>& decisions,
                           std::uint64_t segment_bytes_max) {
  TOCSIN_ASSIGN_OR_RETURN(const auto writer,
                          LedgerWriter::open({folder, segment_bytes_max}, sample_run()));
  for (const DecisionRecord& decision : decisions)
    TOCSIN_RETURN_IF_ERROR(writer->append(decision, kSampleSymbol));
  return writer->finish(sample_run_end());
}

inline MemoryLedgerStore load_ledger(const std::string& folder) {
  FolderLedgerStore files(folder);
  MemoryLedgerStore memory;
  const std::vector<std::uint32_t> indices = files.segments().value();
  for (const std::uint32_t index : indices)
    memory.segment_bytes[index] = files.segment(index).value();
  memory.head_text = files.head().value();
  return memory;
}

// What must be the same whenever a run is repeated: the decisions' payloads without their times.
inline std::vector<std::vector<std::byte>> repeatable_decisions(LedgerStore& store) {
  std::vector<std::vector<std::byte>> payloads;
  const auto visit = [&](const LedgerEntry& entry) {
    if (entry.kind != LedgerRecordKind::kDecision) return;
    const auto part = entry.payload.first(entry.payload.size() - kLedgerTimingBytes);
    payloads.emplace_back(part.begin(), part.end());
  };
  TOCSIN_ASSERT(verify_ledger(store, {}, visit).ok());
  return payloads;
}

}  // namespace tocsin
