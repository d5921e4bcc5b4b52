// A whole run of a live feed, from the configuration to the summary, ended as ctrl-C ends it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "ingest/byte_stream.h"
#include "runtime/run.h"
#include "support/data_path.h"
#include "support/replaying_server.h"

namespace tocsin {
namespace {

// Messages of the bundled recording, and its own snapshot as the page.
ReplayingServer::Script script_of(std::size_t count_max) {
  ReplayingServer::Script script;
  auto stream =
      open_byte_stream(tocsin_source_path("data/samples/binance_usdm_btcusdt/btcusdt_20240808.gz"));
  EXPECT_TRUE(stream.ok());
  std::string_view line;
  while (script.messages.size() < count_max && (*stream)->next_line(line)) {
    const std::string text(line.substr(line.find(' ') + 1));
    if (text.find("lastUpdateId") == std::string::npos) {
      script.messages.push_back(text);
    } else {
      script.page = [text] { return text; };
    }
  }
  return script;
}

TEST(LiveRun, EndsCompleteWhenItIsToldToStop) {
  ReplayingServer::Script script = script_of(4'000);
  script.waits_for_page = true;
  ReplayingServer server(std::move(script));
  const std::string folder = testing::TempDir() + "live_run_test_" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  const std::string text =
      "name: live\nsource:\n  format: binance_usdm\n  symbols: [BTCUSDT]\n"
      "  websocket:\n    url: " +
      server.feed_url() +
      "\n    subscribe: ['{\"method\":\"SUBSCRIBE\"}']\n    snapshot_url: " + server.page_url() +
      "\nmodel:\n  package: models/btcusdt_burst_lstm\n" + "output:\n  folder: " + folder + "\n";
  const auto config = parse_run_config(text, "live.yaml", tocsin_source_path(""));
  ASSERT_TRUE(config.ok()) << config.error().message();
  SystemClock clock;
  std::atomic<bool> stop{false};
  RunHooks hooks;
  hooks.stop = &stop;
  // The script holds more than 20,000 events: here some hundred windows have been scored.
  hooks.on_progress = [&stop](const Progress& progress) {
    if (progress.event_count.value_or(0) > 15'000) stop = true;
  };
  const auto summary = run(*config, hooks, clock);
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_EQ(summary->end, RunEnd::kComplete) << summary->error;
  EXPECT_GT(summary->windows_scored, 100U);
  EXPECT_TRUE(std::filesystem::exists(folder + "/summary.json"));
  // What it was made of never comes again: it cannot be derived anew.
  const auto again = config_from_record(recorded_config(*config));
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_TRUE(again->source.is_live());
  EXPECT_EQ(again->source.websocket->snapshot_url, server.page_url());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tocsin
