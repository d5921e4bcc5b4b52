// What inspection adds to what its parts count: times, rates, the picture of a book.
#include "runtime/inspector.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/data_path.h"

namespace tocsin {
namespace {

std::string sample() {
  return tocsin_source_path(
      "data/samples/lobster_aapl/AAPL_2012-06-21_34200000_57600000_message_10.slice.csv");
}

InspectReport inspected(std::string_view at) {
  InspectRequest request;
  request.file.path = sample();
  if (!at.empty()) request.picture = *parse_picture_time(at);
  Result<InspectReport> report = inspect_file(request, SystemClock(), [](auto) {});
  EXPECT_TRUE(report.ok());
  return std::move(*report);
}

TEST(Inspector, ReadsTimesAsPeopleWriteThem) {
  const Result<PictureTime> whole = parse_picture_time("2024-08-08T23:57:24.5Z");
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->time_ns, 1'723'161'444'500'000'000);
  EXPECT_FALSE(whole->of_day);
  EXPECT_EQ(parse_picture_time("2024-08-08 23:57:24.5")->time_ns, whole->time_ns);
  EXPECT_EQ(parse_picture_time("09:30:00.000000001")->time_ns, 34'200'000'000'001);
  EXPECT_TRUE(parse_picture_time("09:30:00")->of_day);
  EXPECT_EQ(parse_picture_time("1723161444500000000")->time_ns, whole->time_ns);
  for (const char* wrong : {"", "9:30:00", "24:00:00", "09:30", "09:30:00x", "09:30:00.", "-1",
                            "2024-13-08T00:00:00", "2024-08-08", "2024-08-08T9:00:00", "now"}) {
    EXPECT_FALSE(parse_picture_time(wrong).ok()) << wrong;
  }
}

TEST(Inspector, CountsEachMessageInItsRate) {
  const InspectReport report = inspected("");
  const auto& counts = report.rates.counts();
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), report.source.records);
  EXPECT_LE(report.rates.start_ns(), report.first_time_ns);
  EXPECT_GT(
      report.rates.start_ns() + report.rates.bucket_ns() * static_cast<std::int64_t>(counts.size()),
      report.last_time_ns);
  EXPECT_FALSE(report.picture.has_value());
  EXPECT_EQ(report.memory.instruments, 1U);
  EXPECT_GT(report.memory.orders, 0U);
}

TEST(Inspector, SaysThatAPictureLiesOutside) {
  const InspectReport whole = inspected("");
  for (const auto& [at, where] : std::vector<std::pair<std::string, std::string>>{
           {std::to_string(whole.first_time_ns - 1), "before the first event"},
           {"13:30:00", "before the first event, 2012-06-21 13:30:00.004"},
           {std::to_string(whole.last_time_ns + 1), "after the last event"},
           {"2100-01-01T00:00:00", "after the last event, 2012-06-21 13:30:49.086"}}) {
    const InspectReport report = inspected(at);
    EXPECT_FALSE(report.picture.has_value());
    EXPECT_EQ(report.source.records, whole.source.records);
    ASSERT_FALSE(report.end.ok()) << at;
    EXPECT_EQ(report.end.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(report.end.error().message().find(where), std::string::npos)
        << report.end.error().message();
  }
  EXPECT_TRUE(whole.end.ok());
  EXPECT_TRUE(inspected(std::to_string(whole.first_time_ns)).end.ok());
}

TEST(Inspector, DrawsTheBookAsItStoodAtATime) {
  const InspectReport end = inspected("2012-06-21T13:30:49.08");
  ASSERT_TRUE(end.picture.has_value());
  EXPECT_EQ(end.picture->symbol, "AAPL");
  EXPECT_EQ(end.picture->bids.size(), OrderBook::kTopLevels);
  EXPECT_LT(end.picture->bids[0].price_nanos, end.picture->asks[0].price_nanos);
  const std::string last = std::to_string(end.last_time_ns);
  EXPECT_TRUE(inspected(last).picture.has_value());
  EXPECT_NE(inspect_json(end).find("\"picture\""), std::string::npos);
  EXPECT_EQ(inspect_json(inspected("")).find("\"picture\""), std::string::npos);
}

}  // namespace
}  // namespace tocsin
