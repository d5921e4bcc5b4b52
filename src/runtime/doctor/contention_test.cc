#include "runtime/doctor/contention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/data_path.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

const EngineShares kShares{EngineShare{"a", 2, {0, 1, 2, 3}}, EngineShare{"b", 2, {0, 1, 2, 3}}};

Result<ContentionReport> measure(ContentionOptions options) {
  TOCSIN_ASSIGN_OR_RETURN(const BenchModel model,
                          open_bench_model(tocsin_source_path("models/equity_burst_gru"), 0));
  options.batch = 2;
  options.turn_duration_ns = 5'000'000;
  options.round_count = 1;
  const SystemClock clock;
  return measure_contention(model, options, HostFiles(), clock);
}

ContentionSetting setting(std::int64_t alone_ns, std::int64_t together_ns) {
  ContentionSetting made;
  for (ContentionLoad& load : made.loads) {
    load.alone_ns.mean = alone_ns;
    load.together_ns.mean = together_ns;
  }
  return made;
}

TEST(Contention, DividesTheCpusAndTheThreads) {
  const auto divided = divide_cpus(kShares, {0, 1, 2, 5}, HostFiles("/nowhere"));
  ASSERT_TRUE(divided);
  EXPECT_EQ((*divided)[0].cpus, (CpuList{0, 1}));
  EXPECT_EQ((*divided)[1].cpus, (CpuList{2, 5}));
  EXPECT_EQ((*divided)[0].threads, 2);
  const auto two = divide_cpus(kShares, {0, 1}, HostFiles("/nowhere"));
  EXPECT_EQ((*two)[0].threads, 1);
  EXPECT_EQ((*two)[1].cpus, CpuList{1});
  EXPECT_FALSE(divide_cpus(kShares, {3}, HostFiles("/nowhere")));
}

TEST(Contention, KeepsTheThreadsOfACoreTogether) {
  const auto root = std::filesystem::path(testing::TempDir()) / "tocsin_siblings";
  for (const int cpu : {0, 1, 2, 3}) {
    const auto folder = root / ("sys/devices/system/cpu/cpu" + std::to_string(cpu)) / "topology";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "thread_siblings_list") << (cpu % 2 == 0 ? "0,2\n" : "1,3\n");
  }
  const auto divided = divide_cpus(kShares, {0, 1, 2, 3}, HostFiles(root.string()));
  std::filesystem::remove_all(root);
  EXPECT_EQ((*divided)[0].cpus, (CpuList{0, 2}));
  EXPECT_EQ((*divided)[1].cpus, (CpuList{1, 3}));
}

TEST(Contention, IsProvedByLessHindranceForNoLessWork) {
  ContentionReport report;
  report.batch = 1;
  report.found = setting(100, 300);
  EXPECT_FALSE(report.ok());
  EXPECT_FALSE(report.proved());
  report.advised = setting(150, 155);
  EXPECT_TRUE(report.proved());
  report.advised = setting(1000, 1000);
  EXPECT_FALSE(report.proved()) << "slower than before, if evenly so";
  report.advised = setting(100, 301);
  EXPECT_FALSE(report.proved());
  report.found = setting(100, 119);
  EXPECT_TRUE(report.ok());
}

TEST(Contention, MeasuresBothSettingsAndSaysWhatToSet) {
  const auto report = measure({.engines = {"native", "reference"}});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(report->found.loads[1].share.threads, 1) << "reference makes use of one";
  std::vector<ContentionSetting> settings{report->found};
  if (report->advised) settings.push_back(*report->advised);
  for (const ContentionSetting& each : settings) {
    for (const ContentionLoad& load : each.loads) {
      EXPECT_GT(load.alone_ns.count, 0U);
      EXPECT_GT(load.together_ns.count, 0U);
      const int others = load.share.engine == "native" ? load.share.threads - 1 : 0;
      EXPECT_EQ(load.pool_threads, others) << load.share.engine;
    }
  }
  EXPECT_EQ(report->advised.has_value(), usable_cpus().size() > 1);
  EXPECT_EQ(report->advice.empty(), report->ok());
  const auto root = nlohmann::json::parse(contention_json(*report));
  EXPECT_EQ(root["ok"], report->ok());
  EXPECT_EQ(root["found"]["engines"][0]["engine"], "native");
  EXPECT_GT(root["found"]["slow_down"], 0);
}

TEST(Contention, CountsTheThreadsOfAPool) {
  const auto report = measure({.engines = {"onnxruntime", "native"}, .threads = 3});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(report->found.loads[0].pool_threads, 2) << "the caller is the third";
}

TEST(Contention, NeedsTwoEnginesThatAreHere) {
  const auto three = measure({.engines = {"native", "reference", "onnxruntime"}});
  ASSERT_FALSE(three.ok());
  EXPECT_EQ(three.error().code(), ErrorCode::kInvalidArgument);
  const auto unknown = measure({.engines = {"native", "abacus"}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code(), ErrorCode::kNotFound);
  ContentionOptions options;
  options.make = [](std::string_view name) -> Result<std::unique_ptr<Engine>> {
    if (name == "native") return make_engine(name);
    return Error(ErrorCode::kUnavailable, "no " + std::string(name));
  };
  const auto none_here = measure(options);
  ASSERT_FALSE(none_here.ok());
  EXPECT_EQ(none_here.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(none_here.error().message(), HasSubstr("no openvino"));
}

}  // namespace
}  // namespace tocsin
