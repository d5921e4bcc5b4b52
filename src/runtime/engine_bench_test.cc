#include "runtime/engine_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/engine_bench_report.h"
#include "support/data_path.h"

namespace tocsin {
namespace {

using testing::HasSubstr;

// The reference engine under other names, each with a fault of its own.
class FaultySession final : public Session {
 public:
  FaultySession(std::unique_ptr<Session> good, std::string fault)
      : good_(std::move(good)), fault_(std::move(fault)) {}
  const ModelSignature& signature() const noexcept override { return good_->signature(); }
  bool run(std::span<const TensorView> inputs,
           std::span<const TensorView> outputs) noexcept override {
    if (fault_ == "fails") return false;
    if (fault_ == "crashes") std::raise(SIGABRT);
    if (!good_->run(inputs, outputs)) return false;
    auto* values = static_cast<float*>(outputs[0].data);
    if (fault_ == "off") values[0] += 0.25F;
    if (fault_ == "nan") values[0] = std::numeric_limits<float>::quiet_NaN();
    if (fault_ == "last_bit") values[0] = std::nextafterf(values[0], 2.0F);
    return true;
  }
  const Error& error() const noexcept override { return error_; }

 private:
  std::unique_ptr<Session> good_;
  std::string fault_;
  Error error_{ErrorCode::kInternal, "the session says no"};
};

class FaultyEngine final : public Engine {
 public:
  explicit FaultyEngine(std::string fault) : fault_(std::move(fault)) {}
  EngineInfo info() const override {
    EngineInfo info = make_engine("reference").value()->info();
    info.name = fault_;
    info.precisions = {Precision::kFloat32};
    info.thread_count_max = 0;
    return info;
  }
  Result<std::unique_ptr<Session>> load(const std::string& path,
                                        const SessionOptions& options) override {
    if (fault_ == "refuses") return Error(ErrorCode::kUnimplemented, "no operator Frobnicate");
    TOCSIN_ASSIGN_OR_RETURN(auto engine, make_engine("reference"));
    TOCSIN_ASSIGN_OR_RETURN(auto session, engine->load(path, options));
    return std::unique_ptr<Session>(std::make_unique<FaultySession>(std::move(session), fault_));
  }

 private:
  std::string fault_;
};

Result<std::unique_ptr<Engine>> make_faulty(std::string_view name) {
  if (name == "missing") return Error(ErrorCode::kUnavailable, "its library is not there");
  return std::unique_ptr<Engine>(std::make_unique<FaultyEngine>(std::string(name)));
}

BenchModel burst_model() {
  Result<BenchModel> model =
      open_bench_model(tocsin_source_path("tests/data/models/burst_lstm/model.onnx"), 30);
  EXPECT_TRUE(model.ok()) << model.error().message();
  return *model;
}

EngineBenchReport bench(std::vector<std::string> engines, std::vector<std::int64_t> batches = {2}) {
  EngineBenchOptions options;
  options.engines = std::move(engines);
  options.batches = std::move(batches);
  options.row_duration_ns = 2'000'000;
  options.make = make_faulty;
  const SystemClock clock;
  Result<EngineBenchReport> report = bench_engines(burst_model(), options, {}, clock);
  EXPECT_TRUE(report.ok()) << report.error().message();
  return *report;
}

TEST(EngineBench, AnEngineThatAgreesIsTimed) {
  const EngineBenchReport report = bench({"good"}, {1, 4});
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_TRUE(report.all_agree());
  for (const EngineBenchRow& row : report.rows) {
    EXPECT_EQ(row.skipped, "");
    EXPECT_EQ(row.max_abs_error, 0);
    EXPECT_GT(row.latency_ns.count, 0U);
    EXPECT_GT(row.latency_ns.p50, 0);
    EXPECT_GT(row.cold.cold_start_ns, 0);
    EXPECT_GT(row.cold.rss_bytes, 0);
    const double per_run = static_cast<double>(row.batch) * 1e9 / row.windows_per_s;
    EXPECT_NEAR(per_run, static_cast<double>(row.latency_ns.mean), 1.0);
  }
  EXPECT_GT(report.jitter_ns.count, 0U);
}

TEST(EngineBench, AWrongAnswerIsMarkedAndHasNoTime) {
  // An engine of class exact may not even be off in the last bit.
  const EngineBenchReport report = bench({"off", "nan", "last_bit", "good"});
  ASSERT_EQ(report.rows.size(), 4U);
  EXPECT_FALSE(report.all_agree());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(report.rows[i].agrees) << report.rows[i].engine;
    EXPECT_EQ(report.rows[i].latency_ns.count, 0U);
    EXPECT_EQ(report.rows[i].skipped, "");
  }
  EXPECT_NEAR(report.rows[0].max_abs_error, 0.25, 1e-6);
  EXPECT_TRUE(std::isinf(report.rows[1].max_abs_error));
  EXPECT_GT(report.rows[2].max_abs_error, 0);
  EXPECT_TRUE(report.rows[3].agrees);
}

TEST(EngineBench, WhatCannotRunIsARowWithItsReason) {
  const EngineBenchReport report = bench({"missing", "refuses", "fails", "crashes", "good"});
  ASSERT_EQ(report.rows.size(), 5U);
  EXPECT_THAT(report.rows[0].skipped, HasSubstr("its library is not there"));
  EXPECT_THAT(report.rows[1].skipped, HasSubstr("Frobnicate"));
  EXPECT_THAT(report.rows[2].skipped, HasSubstr("the session says no"));
  EXPECT_THAT(report.rows[3].skipped, HasSubstr("the engine crashed: Aborted"));
  EXPECT_EQ(report.rows[4].skipped, "");
  EXPECT_TRUE(report.all_agree());
}

TEST(EngineBench, PrecisionsThatWereAskedForHaveRowsAndOthersDoNot) {
  EngineBenchOptions options;
  options.engines = {"reference"};
  options.batches = {1};
  options.precisions = {Precision::kInt8};
  options.row_duration_ns = 1'000'000;
  const SystemClock clock;
  const Result<EngineBenchReport> report = bench_engines(burst_model(), options, {}, clock);
  ASSERT_TRUE(report.ok()) << report.error().message();
  ASSERT_EQ(report->rows.size(), 1U);
  EXPECT_THAT(report->rows[0].skipped, HasSubstr("int8"));
}

TEST(EngineBench, AHeldLoadKeepsWhatEachTurnSaw) {
  EngineBenchOptions options;
  options.engines = {"good"};
  options.batches = {1};
  options.load_duration_ns = 350'000'000;
  options.make = make_faulty;
  const SystemClock clock;
  const Result<EngineBenchReport> report = bench_engines(burst_model(), options, {}, clock);
  ASSERT_TRUE(report.ok()) << report.error().message();
  const EngineBenchRow& row = report->rows[0];
  ASSERT_GE(row.series.size(), 2U);
  std::uint64_t runs = 0;
  for (const EngineBenchTurn& turn : row.series) runs += turn.run_count;
  EXPECT_EQ(runs, row.latency_ns.count);
  EXPECT_GT(row.series[1].offset_ns, row.series[0].offset_ns);
}

TEST(EngineBench, AnInterruptionKeepsTheRowsAndSaysSo) {
  EngineBenchOptions options;
  options.engines = {"good"};
  options.make = make_faulty;
  const std::atomic<bool> stop{true};
  EngineBenchHooks hooks;
  hooks.stop = &stop;
  const SystemClock clock;
  const Result<EngineBenchReport> report = bench_engines(burst_model(), options, hooks, clock);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_TRUE(report->interrupted);
  for (const EngineBenchRow& row : report->rows) EXPECT_EQ(row.skipped, "interrupted");
}

TEST(EngineBench, JsonHasTheKeysOfTheCommandReference) {
  const auto root = nlohmann::json::parse(engine_bench_json(bench({"good", "missing", "nan"})));
  for (const char* key : {"machine", "rows", "jitter_ns"}) EXPECT_TRUE(root.contains(key)) << key;
  ASSERT_EQ(root["rows"].size(), 3U);
  for (const auto& row : root["rows"]) {
    for (const char* key :
         {"engine", "precision", "batch", "threads", "latency_ns", "windows_per_s", "rss_bytes",
          "device_bytes", "cold_start_ns", "max_abs_error", "skipped"})
      EXPECT_TRUE(row.contains(key)) << key;
  }
  for (const char* key : {"count", "mean", "p50", "p90", "p99", "p999", "p9999", "max"})
    EXPECT_TRUE(root["rows"][0]["latency_ns"].contains(key)) << key;
  EXPECT_TRUE(root["rows"][0]["skipped"].is_null());
  EXPECT_EQ(root["rows"][1]["skipped"], "its library is not there");
  EXPECT_EQ(root["rows"][2]["max_abs_error"], "infinite");
}

TEST(EngineBench, ThePageNeedsNoNetwork) {
  const std::string page = engine_bench_html(bench({"good"}));
  EXPECT_THAT(page, HasSubstr("const bench = {"));
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("href="), std::string::npos);
}

}  // namespace
}  // namespace tocsin
