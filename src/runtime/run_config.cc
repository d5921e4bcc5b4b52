// Reads a run's YAML; every key that exists is asked for here and nowhere else.
#include "runtime/run_config.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "base/decimal.h"
#include "config/yaml_reader.h"

namespace tocsin {
namespace {

constexpr std::int64_t kStepsMax = 4096;
constexpr std::int64_t kCooldownMsMax = 86'400'000;
constexpr std::int64_t kCpuMax = 65'535;
constexpr double kSpeedMax = 1e6;
constexpr double kRecordsPerSecondMax = 1e9;

std::string resolved(const std::string& path, const std::string& folder) {
  if (path.empty() || std::filesystem::path(path).is_absolute()) return path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

// An empty name or path is as good as none.
void require_text(YamlReader& reader, std::string_view key, std::string& value) {
  reader.require(key, value);
  if (reader.has(key) && value.empty()) reader.fail(key, "a text that is not empty");
}

void read_websocket(YamlReader reader, const std::string& folder, WebSocketSourceOptions& options) {
  constexpr std::int64_t kPauseMsMax = 3'600'000;
  constexpr std::int64_t kAttemptsMax = 1'000'000'000;
  WebSocketConnectionOptions& connection = options.connection;
  require_text(reader, "url", connection.url);
  if (!connection.url.empty() && !check_websocket_url(connection.url).ok())
    reader.fail("url", "ws://HOST[:PORT]/… or wss://…, the port from 1 to 65535");
  reader.read("subscribe", connection.subscribe);
  reader.read("snapshot_url", options.snapshot_url);
  reader.read("certificates", connection.certificates);
  connection.certificates = resolved(connection.certificates, folder);
  reader.read("idle_ms", connection.idle_ms, {.min = 1'000, .max = kPauseMsMax});
  reader.read("pause_min_ms", options.pause_min_ms, {.min = 1, .max = kPauseMsMax});
  reader.read("pause_max_ms", options.pause_max_ms, {.min = 1, .max = kPauseMsMax});
  reader.read("attempts_max", options.attempts_max, {.min = 0, .max = kAttemptsMax});
}

// The lines of a feed carry the same; the first of them names it.
void read_udp(YamlReader reader, UdpSourceOptions& options) {
  constexpr std::int64_t kMillisMax = 3'600'000;
  reader.require("lines", options.lines);
  if (reader.has("lines") && (options.lines.empty() || options.lines.size() > UdpSource::kLinesMax))
    reader.fail("lines", "one to four multicast groups with their ports");
  std::set<std::pair<std::uint32_t, std::uint16_t>> known;
  for (const std::string& line : options.lines) {
    const auto address = udp_address_from_text(line);
    if (!address.ok()) {
      reader.fail("lines", "IPv4 addresses with ports, as in 239.1.2.3:26477");
    } else if (!known.emplace(address->host, address->port).second) {
      reader.fail("lines", "lines that differ: the group and port " + line + " stand there twice");
    }
  }
  reader.read("interface", options.interface);
  reader.read("request_server", options.request_server);
  if (!options.request_server.empty() && !udp_address_from_text(options.request_server).ok())
    reader.fail("request_server", "an IPv4 address with a port");
  reader.read("hole_wait_ms", options.hole_wait_ms, {.min = 0, .max = kMillisMax});
  reader.read("request_interval_ms", options.request_interval_ms, {.min = 1, .max = kMillisMax});
  reader.read("heartbeat_timeout_ms", options.heartbeat_timeout_ms, {.min = 0, .max = kMillisMax});
  reader.read("receive_buffer_bytes", options.receive_buffer_bytes,
              {.min = 4096, .max = std::int64_t{1} << 30});
}

void read_udp_place(YamlReader& reader, SourceConfig& source) {
  read_udp(reader.child("udp"), source.udp.emplace());
  source.file.path = source.udp->lines.empty() ? "udp" : "udp://" + source.udp->lines.front();
  reader.read("stale_after_intervals", source.stale_after_intervals, {.min = 0, .max = 1e6});
  source.udp->stale.after_intervals = source.stale_after_intervals;
}

// Where the data come from: a file, or one of the kinds of live feeds.
void read_place(YamlReader& reader, const std::string& folder, SourceConfig& source) {
  if (reader.has("udp")) return read_udp_place(reader, source);
  if (!reader.has("websocket")) {
    require_text(reader, "path", source.file.path);
    source.file.path = resolved(source.file.path, folder);
    return;
  }
  read_websocket(reader.child("websocket"), folder, source.websocket.emplace());
  source.file.path = source.websocket->connection.url;
  reader.read("stale_after_intervals", source.stale_after_intervals, {.min = 0, .max = 1e6});
  source.websocket->stale.after_intervals = source.stale_after_intervals;
}

void read_file(YamlReader& reader, const std::string& folder, SourceConfig& source) {
  reader.read("orderbook_path", source.file.orderbook_path);
  source.file.orderbook_path = resolved(source.file.orderbook_path, folder);
  std::int64_t from_time_ns = -1;
  reader.read("from_time_ns", from_time_ns, {.min = -1, .max = INT64_MAX});
  if (from_time_ns >= 0) source.file.from_time_ns = from_time_ns;
  reader.read("price_tick_nanos", source.file.price_tick_nanos,
              {.min = 0, .max = kNanosPerUnit * 1'000'000});
  reader.read("speed", source.pace.speed, {.min = 0, .max = kSpeedMax});
  reader.read("records_per_s", source.pace.records_per_s, {.min = 0, .max = kRecordsPerSecondMax});
  if (source.pace.speed > 0 && source.pace.records_per_s > 0)
    reader.fail("records_per_s", "one of speed and records_per_s alone");
}

void read_source(YamlReader reader, const std::string& folder, SourceConfig& source) {
  std::vector<std::string_view> formats = {"auto"};
  const std::span<const std::string_view> names = feed_format_names();
  formats.insert(formats.end(), names.begin(), names.end());
  read_place(reader, folder, source);
  std::size_t format = 0;
  reader.read_choice("format", format, formats);
  if (format > 0) source.file.format = static_cast<FeedFormat>(format - 1);
  reader.read("schema", source.file.schema_path);
  source.file.schema_path = resolved(source.file.schema_path, folder);
  reader.read("by_order", source.file.by_order);
  reader.read("map", source.file.map_path);
  source.file.map_path = resolved(source.file.map_path, folder);
  if (source.is_live()) {
    if (format == 0 && source.file.map_path.empty())
      reader.fail("format", "the format of a live feed, which nothing tells");
  } else {
    read_file(reader, folder, source);
  }
  reader.read("symbols", source.file.symbols);
  if (source.websocket.has_value()) source.websocket->feed = source.file;
  if (source.udp.has_value()) source.udp->feed = source.file;
}

void read_features(YamlReader reader, std::vector<LeaderPair>& leaders) {
  for (YamlReader& item : reader.children("leaders")) {
    LeaderPair pair;
    require_text(item, "symbol", pair.symbol);
    require_text(item, "leader", pair.leader);
    if (pair.symbol == pair.leader) item.fail("leader", "another symbol than 'symbol'");
    const auto same = [&](const LeaderPair& other) { return other.symbol == pair.symbol; };
    if (std::any_of(leaders.begin(), leaders.end(), same))
      item.fail("symbol", "a symbol that has no leader yet");
    leaders.push_back(std::move(pair));
  }
}

void read_model(YamlReader reader, const std::string& folder, ModelConfig& model) {
  require_text(reader, "package", model.package);
  model.package = resolved(model.package, folder);
  reader.read("engine", model.engine);
  reader.read("steps", model.steps, {.min = 0, .max = kStepsMax});
  static constexpr std::array<std::string_view, 2> kPrecisions = {"package", "float32"};
  std::size_t precision = 0;
  reader.read_choice("precision", precision, kPrecisions);
  model.full_precision = precision == 1;
  static constexpr std::array<std::string_view, 2> kRescores = {"window", "stream"};
  std::size_t rescore = 0;
  reader.read_choice("rescore", rescore, kRescores);
  model.full_ahead = rescore == 1;
}

void read_decision(YamlReader reader, DecisionConfig& decision) {
  static constexpr std::array<std::string_view, 2> kUntrusted = {"suppress", "alert"};
  reader.read("rule", decision.rule);
  if (decision.rule.empty()) reader.fail("rule", "a text that is not empty");
  reader.read("threshold", decision.threshold, {.min = 0, .max = 1});
  reader.read("release_threshold", decision.release_threshold, {.min = 0, .max = 1});
  if (decision.release_threshold > 0 && decision.threshold > 0 &&
      decision.release_threshold > decision.threshold)
    reader.fail("release_threshold", "a value not above 'threshold'");
  reader.read("cooldown_ms", decision.cooldown_ms, {.min = 0, .max = kCooldownMsMax});
  std::size_t untrusted = 0;
  reader.read_choice("untrusted_book", untrusted, kUntrusted);
  decision.untrusted_book = static_cast<UntrustedPolicy>(untrusted);
}

void read_output(YamlReader reader, const std::string& folder, OutputConfig& output) {
  require_text(reader, "folder", output.folder);
  output.folder = resolved(output.folder, folder);
  reader.read("sample_every", output.sample_every, {.min = 0, .max = 1'000'000'000});
  reader.read("segment_bytes", output.segment_bytes, {.min = 4096, .max = std::int64_t{1} << 32});
  reader.read("sync_interval_ms", output.sync_interval_ms, {.min = 1, .max = 60'000});
  reader.read("jsonl", output.jsonl);
  reader.read("sqlite", output.sqlite);
}

void read_runtime(YamlReader reader, RuntimeConfig& runtime) {
  static constexpr std::array<std::string_view, 2> kIdle = {"sleep", "spin"};
  reader.read("cpu", runtime.cpu, {.min = 0, .max = kCpuMax});
  reader.read("sink_cpu", runtime.sink_cpu, {.min = 0, .max = kCpuMax});
  reader.read("lock_memory", runtime.lock_memory);
  std::size_t idle = 0;
  reader.read_choice("idle", idle, kIdle);
  runtime.idle = static_cast<IdlePolicy>(idle);
  if (runtime.idle == IdlePolicy::kSpin && runtime.cpu >= 0 && runtime.cpu == runtime.sink_cpu)
    reader.fail("sink_cpu", "another CPU than 'cpu' for a thread that spins");
}

Result<RunConfig> read_from(YamlReader reader, const std::string& folder) {
  RunConfig config;
  config.folder = folder;
  require_text(reader, "name", config.name);
  read_source(reader.child("source"), folder, config.source);
  read_features(reader.child("features"), config.source.leaders);
  read_model(reader.child("model"), folder, config.model);
  read_decision(reader.child("decision"), config.decision);
  read_output(reader.child("output"), folder, config.output);
  read_runtime(reader.child("runtime"), config.runtime);
  TOCSIN_RETURN_IF_ERROR(reader.finish());
  config.effective_yaml = reader.effective();
  return config;
}

}  // namespace

Result<RunConfig> read_run_config(const std::string& path) {
  TOCSIN_ASSIGN_OR_RETURN(YamlReader reader, YamlReader::from_file(path));
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  return read_from(std::move(reader), absolute.parent_path().lexically_normal().string());
}

Result<RunConfig> parse_run_config(std::string_view text, const std::string& name,
                                   const std::string& folder) {
  TOCSIN_ASSIGN_OR_RETURN(YamlReader reader, YamlReader::from_text(text, name));
  return read_from(std::move(reader), folder);
}

}  // namespace tocsin
