// The configuration of one run, strictly read from YAML; relative paths are relative to the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "concurrency/idle_strategy.h"
#include "decision/decision_policy.h"
#include "ingest/paced_source.h"
#include "ingest/source.h"
#include "ingest/udp_source.h"
#include "ingest/websocket_source.h"
#include "runtime/frame_builder.h"

namespace tocsin {

struct SourceConfig {
  FileSourceOptions file;  // of a live feed: what decodes it; the path names it
  Pace pace;
  std::optional<UdpSourceOptions> udp = {};  // a live feed; its `feed` is `file`
  double stale_after_intervals = 50;         // live: silence is stale after so many usual intervals
  std::vector<LeaderPair> leaders = {};      // of `features.leaders`: goes with the symbols
  std::optional<WebSocketSourceOptions> websocket = {};  // a live feed; its `feed` is `file`

  bool is_live() const noexcept { return websocket.has_value() || udp.has_value(); }
};

struct ModelConfig {
  std::string package;  // <repository>/<name> or <repository>/<name>/<version>
  std::string engine = "native";
  std::int64_t steps = 0;       // window length; 0: the package's own
  bool full_precision = false;  // FP32, whatever precision the package asks for
  bool full_ahead = false;      // what is scored again in FP32 comes from windows worked ahead
};

struct DecisionConfig {
  std::string rule = "burst";
  double threshold = 0;          // 0: the package's own
  double release_threshold = 0;  // 0: the package's own, or 0.9 of a threshold given here
  std::int64_t cooldown_ms = 1000;
  UntrustedPolicy untrusted_book = UntrustedPolicy::kSuppress;
};

struct OutputConfig {
  std::string folder;
  std::int64_t sample_every = 100;  // every n-th decision that does not alert is recorded; 0: none
  std::int64_t segment_bytes = std::int64_t{64} << 20;
  std::int64_t sync_interval_ms = 100;
  bool jsonl = true;
  bool sqlite = true;
};

// How the run uses the machine; no result depends on it.
struct RuntimeConfig {
  std::int64_t cpu = -1;  // the pipeline's thread runs there alone; -1: where the system puts it
  std::int64_t sink_cpu = -1;            // the same for the thread behind it: ledger and alerts
  bool lock_memory = false;              // all of it, before the first event
  IdlePolicy idle = IdlePolicy::kSleep;  // of both threads, while nothing waits
};

struct RunConfig {
  std::string name;
  SourceConfig source;
  ModelConfig model;
  DecisionConfig decision;
  OutputConfig output;
  RuntimeConfig runtime;
  std::string folder;          // absolute: what relative paths are relative to
  std::string effective_yaml;  // every value in effect, as read back by the same reader
};

// An error names file, line, key, what was expected and the nearest known key.
Result<RunConfig> read_run_config(const std::string& path);
Result<RunConfig> parse_run_config(std::string_view text, const std::string& name,
                                   const std::string& folder);

}  // namespace tocsin
