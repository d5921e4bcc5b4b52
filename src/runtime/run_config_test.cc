#include "runtime/run_config.h"

#include <gtest/gtest.h>

#include "runtime/run.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

constexpr std::string_view kMinimal =
    "name: x\n"
    "source:\n"
    "  path: feed.gz\n"
    "model:\n"
    "  package: /models/m\n"
    "output:\n"
    "  folder: out\n";

std::string with(const std::string& from, const std::string& to) {
  std::string text(kMinimal);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  const Result<RunConfig> config = parse_run_config(text, "test.yaml", "/folder");
  return config.ok() ? "" : config.error().message();
}

// What was a default once is a written value when it is read back.
std::string without_marks(std::string text) {
  constexpr std::string_view kMark = "  # default";
  for (std::size_t at = 0; (at = text.find(kMark)) != std::string::npos;)
    text.erase(at, kMark.size());
  return text;
}

TEST(RunConfig, ResolvesPathsAgainstTheFolderOfTheFile) {
  const Result<RunConfig> config = parse_run_config(kMinimal, "test.yaml", "/folder");
  ASSERT_TRUE(config.ok()) << config.error().message();
  EXPECT_EQ(config->source.file.path, "/folder/feed.gz");
  EXPECT_EQ(config->model.package, "/models/m");
  EXPECT_EQ(config->output.folder, "/folder/out");
  EXPECT_EQ(config->model.engine, "native");
  EXPECT_FALSE(config->source.file.format.has_value());
}

TEST(RunConfig, NamesLineKeyAndNearestKeyOfAnUnknownOne) {
  const std::string message = error_of(with("  path:", "  pth:"));
  EXPECT_NE(message.find("test.yaml:3"), std::string::npos) << message;
  EXPECT_NE(message.find("source.pth"), std::string::npos) << message;
  EXPECT_NE(message.find("nearest known key is 'source.path'"), std::string::npos) << message;
}

TEST(RunConfig, ReadsWhichInstrumentFollowsWhich) {
  constexpr std::string_view kPairs =
      "features:\n"
      "  leaders:\n"
      "    - {symbol: AAPL, leader: QQQ}\n"
      "    - {symbol: MSFT, leader: QQQ}\n";
  const std::string text = std::string(kMinimal) + std::string(kPairs);
  const Result<RunConfig> config = parse_run_config(text, "test.yaml", "/folder");
  ASSERT_TRUE(config.ok()) << config.error().message();
  ASSERT_EQ(config->source.leaders.size(), 2U);
  EXPECT_EQ(config->source.leaders[1].symbol, "MSFT");
  EXPECT_EQ(config->source.leaders[1].leader, "QQQ");
  EXPECT_NE(error_of(text + "    - {symbol: AAPL, leader: SPY}\n"), "");
  EXPECT_NE(error_of(text + "    - {symbol: SPY, leader: SPY}\n"), "");
  EXPECT_NE(error_of(text + "    - {symbol: SPY}\n"), "");
}

TEST(RunConfig, ReadsALiveFeedOverUdp) {
  const std::string live = with("  path: feed.gz\n",
                                "  format: moldudp64\n"
                                "  symbols: [AAPL]\n"
                                "  stale_after_intervals: 20\n"
                                "  udp:\n"
                                "    lines: [\"239.1.2.3:26477\", \"239.1.2.4:26478\"]\n"
                                "    interface: lo\n"
                                "    request_server: 10.0.0.1:27000\n"
                                "    hole_wait_ms: 7\n");
  const Result<RunConfig> config = parse_run_config(live, "test.yaml", "/folder");
  ASSERT_TRUE(config.ok()) << config.error().message();
  ASSERT_TRUE(config->source.is_live());
  const UdpSourceOptions& udp = *config->source.udp;
  EXPECT_EQ(udp.lines, (std::vector<std::string>{"239.1.2.3:26477", "239.1.2.4:26478"}));
  EXPECT_EQ(udp.interface, "lo");
  EXPECT_EQ(udp.request_server, "10.0.0.1:27000");
  EXPECT_EQ(udp.hole_wait_ms, 7);
  EXPECT_EQ(udp.stale.after_intervals, 20);
  EXPECT_EQ(udp.feed.format, FeedFormat::kMoldUdp64);
  EXPECT_EQ(udp.feed.symbols, std::vector<std::string>{"AAPL"});
  EXPECT_EQ(config->source.file.path, "udp://239.1.2.3:26477");
  EXPECT_NE(error_of(with("  path: feed.gz\n", "  udp:\n    lines: [\"239.1.2.3:1\"]\n")), "")
      << "without a format";
  EXPECT_NE(error_of(live + "source2: 1\n"), "");
  std::string wrong = live;
  wrong.replace(wrong.find("239.1.2.4:26478"), 15, "239.1.2.4");
  EXPECT_NE(error_of(wrong).find("source.udp.lines"), std::string::npos) << error_of(wrong);
  std::string twice = live;
  twice.replace(twice.find("239.1.2.4:26478"), 15, "239.1.2.3:26477");
  EXPECT_NE(error_of(twice).find("239.1.2.3:26477 stand there twice"), std::string::npos);
  std::string one_group = live;
  one_group.replace(one_group.find("239.1.2.4"), 9, "239.1.2.3");
  EXPECT_EQ(error_of(one_group), "") << "the ports differ";
}

TEST(RunConfig, ReadsWhatCmeNeeds) {
  const Result<RunConfig> config = parse_run_config(
      with("  path: feed.gz\n",
           "  path: cme.pcap\n  format: mdp3\n  schema: t.xml\n  by_order: true\n"),
      "test.yaml", "/folder");
  ASSERT_TRUE(config.ok()) << config.error().message();
  EXPECT_EQ(config->source.file.schema_path, "/folder/t.xml");
  EXPECT_TRUE(config->source.file.by_order);
  EXPECT_EQ(config->source.file.format, FeedFormat::kMdp3);
}

TEST(RunConfig, RefusesValuesOutOfRange) {
  EXPECT_NE(error_of(with("output:\n", "decision:\n  threshold: 1.5\noutput:\n")), "");
  EXPECT_NE(error_of(with("output:\n", "decision:\n  cooldown_ms: -1\noutput:\n")), "");
  EXPECT_NE(error_of(with("output:\n", "decision:\n  untrusted_book: maybe\noutput:\n")), "");
  EXPECT_NE(error_of(with("output:\n",
                          "decision:\n  threshold: 0.5\n  release_threshold: 0.6\noutput:\n")),
            "");
  EXPECT_EQ(error_of(with("output:\n", "decision:\n  threshold: 0.5\noutput:\n")), "");
}

TEST(RunConfig, ReadsWhichCpusMemoryAndIdlingToUse) {
  const auto runtime = [](const std::string& text) {
    return parse_run_config(with("output:\n", "runtime: " + text + "\noutput:\n"), "t", "/");
  };
  const Result<RunConfig> none = runtime("{}");
  ASSERT_TRUE(none.ok()) << none.error().message();
  EXPECT_EQ(none->runtime.cpu, -1);
  EXPECT_EQ(none->runtime.sink_cpu, -1);
  EXPECT_FALSE(none->runtime.lock_memory);
  EXPECT_EQ(none->runtime.idle, IdlePolicy::kSleep);
  const Result<RunConfig> all = runtime("{cpu: 3, sink_cpu: 0, lock_memory: true, idle: spin}");
  ASSERT_TRUE(all.ok()) << all.error().message();
  EXPECT_EQ(all->runtime.cpu, 3);
  EXPECT_EQ(all->runtime.sink_cpu, 0);
  EXPECT_TRUE(all->runtime.lock_memory);
  EXPECT_EQ(all->runtime.idle, IdlePolicy::kSpin);
  EXPECT_TRUE(runtime("{cpu: 3, sink_cpu: 3}").ok());
  for (const char* wrong : {"{cpu: -1}", "{cpu: 65536}", "{sink_cpu: x}", "{lock_memory: 1}",
                            "{idle: yield}", "{cpus: 3}", "{cpu: 3, sink_cpu: 3, idle: spin}"})
    EXPECT_FALSE(runtime(wrong).ok()) << wrong;
}

TEST(RunConfig, EffectiveValuesReadBackTheSame) {
  const Result<RunConfig> config = parse_run_config(kMinimal, "test.yaml", "/folder");
  ASSERT_TRUE(config.ok());
  const Result<RunConfig> again = config_from_record(recorded_config(*config));
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->source.file.path, config->source.file.path);
  EXPECT_EQ(again->output.folder, config->output.folder);
  EXPECT_EQ(again->decision.cooldown_ms, config->decision.cooldown_ms);
  EXPECT_EQ(without_marks(recorded_config(*again)), without_marks(recorded_config(*config)));
}

TEST(RunConfig, ReadsALiveFeedInPlaceOfAFile) {
  const auto live = [](const std::string& source) {
    return parse_run_config(with("  path: feed.gz\n", source), "t", "/folder");
  };
  const Result<RunConfig> config = live(
      "  format: kraken\n  stale_after_intervals: 20\n  symbols: [XBT/USD]\n"
      "  websocket: {url: 'wss://ws.kraken.com', subscribe: ['{}'], pause_min_ms: 7}\n");
  ASSERT_TRUE(config.ok()) << config.error().message();
  ASSERT_TRUE(config->source.is_live());
  EXPECT_EQ(config->source.websocket->connection.url, "wss://ws.kraken.com");
  EXPECT_EQ(config->source.websocket->pause_min_ms, 7);
  EXPECT_EQ(config->source.websocket->feed.format, FeedFormat::kKraken);
  EXPECT_EQ(config->source.websocket->feed.symbols, std::vector<std::string>{"XBT/USD"});
  EXPECT_EQ(config->source.websocket->stale.after_intervals, 20);
  // Nothing tells what a wire carries; it has no pace, and comes from one place.
  EXPECT_FALSE(live("  websocket: {url: 'ws://x'}\n").ok());
  EXPECT_FALSE(live("  format: kraken\n  speed: 2\n  websocket: {url: 'ws://x'}\n").ok());
  EXPECT_FALSE(live("  format: kraken\n  path: x\n  websocket: {url: 'ws://x'}\n").ok());
  EXPECT_FALSE(live("  format: kraken\n  websocket: {}\n").ok());
  EXPECT_TRUE(live("  format: kraken\n  websocket: {url: 'ws://x:65535/'}\n").ok());
  EXPECT_FALSE(live("  format: kraken\n  websocket: {url: 'ws://x:65536/'}\n").ok());
  EXPECT_FALSE(live("  format: kraken\n  websocket: {url: 'http://x/'}\n").ok());
}

TEST(RunConfig, EveryBundledConfigurationIsGood) {
  for (const char* name : {"btcusdt.yaml", "aapl.yaml", "kraken_live.yaml"}) {
    const Result<RunConfig> config = read_run_config(tocsin_source_path("config/") + name);
    EXPECT_TRUE(config.ok()) << config.error().message();
  }
}

}  // namespace
}  // namespace tocsin
