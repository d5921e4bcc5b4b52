#include "sinks/console_sink.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace tocsin {
namespace {

Alert sample_alert() {
  Alert alert;
  alert.symbol = "BTCUSDT";
  alert.rule = "burst";
  alert.decision.id.value = 0x1a2b3c4d5e6f7081U;
  alert.decision.score = 0.953F;
  alert.decision.threshold = 0.9F;
  alert.decision.frame.exchange_time_ns = 1'723'075'200'123'456'789;
  alert.decision.frame.mid_price_nanos_x2 = 123'600'500'000'000;
  return alert;
}

TEST(ConsoleSink, PrintsOneReadableLine) {
  EXPECT_EQ(format_alert_line(sample_alert(), false),
            "2024-08-08T00:00:00.123456789Z ALERT BTCUSDT burst score 0.953 >= 0.9 mid 61800.25 "
            "tocsin:1a2b3c4d\n");
}

TEST(ConsoleSink, SaysWhatWasHeldBackAndWhatWasNoticed) {
  Alert alert = sample_alert();
  alert.decision.suppressed_count = 999;
  alert.decision.frame.quality = Quality::kGap | Quality::kTimeBackwards;
  EXPECT_EQ(format_alert_line(alert, false),
            "2024-08-08T00:00:00.123456789Z ALERT BTCUSDT burst score 0.953 >= 0.9 mid 61800.25 "
            "tocsin:1a2b3c4d, 999 held back since the last alert, noticed: gap, time_backwards\n");
}

TEST(ConsoleSink, UsesColoursOnlyIfTold) {
  EXPECT_EQ(format_alert_line(sample_alert(), false).find('\x1b'), std::string::npos);
  EXPECT_NE(format_alert_line(sample_alert(), true).find("\x1b[1;31mALERT\x1b[0m"),
            std::string::npos);
}

TEST(ConsoleSink, DoesNotPrintWhatARestartRepeats) {
  std::string printed;
  ConsoleSink sink(
      [&](std::string_view line) {
        printed += line;
        return Status();
      },
      {});
  Alert alert = sample_alert();
  EXPECT_TRUE(*sink.take(alert));
  const std::string once = printed;
  alert.repeated = true;
  EXPECT_FALSE(*sink.take(alert));
  EXPECT_EQ(printed, once);
}

TEST(ConsoleSink, AFullDeviceIsAnErrorThatCanBeTriedAgain) {
  std::FILE* const full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  ConsoleSink sink(make_file_writer(full), {});
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto taken = sink.take(sample_alert());
    ASSERT_FALSE(taken.ok());
    EXPECT_EQ(taken.error().code(), ErrorCode::kResourceExhausted);
  }
  std::fclose(full);
}

}  // namespace
}  // namespace tocsin
