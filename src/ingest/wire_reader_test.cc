// Fields of binary messages: byte orders, signs, and reads past the end.
#include "ingest/wire_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>

namespace tocsin {
namespace {

constexpr auto kBytes = std::bit_cast<std::array<std::byte, 8>>(
    std::array<std::uint8_t, 8>{0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0xFF});

TEST(WireRecord, ReadsBothByteOrdersAtAnyOffset) {
  const WireRecord<8> record{std::span(kBytes)};
  EXPECT_EQ((record.big<std::uint16_t, 1>()), 0x0203U);
  EXPECT_EQ((record.little<std::uint16_t, 1>()), 0x0302U);
  EXPECT_EQ((record.big<std::uint32_t, 3>()), 0x04050607U);
  EXPECT_EQ((record.little<std::uint32_t, 3>()), 0x07060504U);
  EXPECT_EQ((record.big<std::uint64_t, 0>()), 0x81020304050607FFU);
  EXPECT_EQ((record.little<std::uint64_t, 0>()), 0xFF07060504030281U);
  EXPECT_EQ((record.big48<1>()), 0x020304050607U);
  EXPECT_EQ((record.big<std::uint8_t, 7>()), 0xFFU);
}

TEST(WireRecord, KeepsSigns) {
  const WireRecord<8> record{std::span(kBytes)};
  EXPECT_EQ((record.big<std::int16_t, 0>()), static_cast<std::int16_t>(0x8102));
  EXPECT_LT((record.big<std::int64_t, 0>()), 0);
  EXPECT_EQ((record.little<std::int8_t, 7>()), -1);
}

TEST(WireReader, ReadsFieldsOneAfterAnother) {
  WireReader reader(kBytes);
  EXPECT_EQ(reader.big<std::uint8_t>(), 0x81U);
  EXPECT_EQ(reader.big<std::uint16_t>(), 0x0203U);
  reader.skip(1);
  EXPECT_EQ(reader.little<std::uint16_t>(), 0x0605U);
  EXPECT_EQ(reader.text(1), "\x07");
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.left().size(), 1U);
}

TEST(WireReader, FailsForGoodPastTheEnd) {
  WireReader reader(kBytes);
  reader.skip(6);
  EXPECT_EQ(reader.big<std::uint32_t>(), 0U);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.big<std::uint8_t>(), 0U) << "though two bytes were left";
  EXPECT_EQ(reader.text(1), "");
  EXPECT_FALSE(reader.ok());
}

TEST(WireReader, TakesTheSizeOfALieWithoutReadingIt) {
  WireReader reader(kBytes);
  EXPECT_TRUE(reader.take(SIZE_MAX).empty());
  EXPECT_FALSE(reader.ok());
}

TEST(WireReader, AcceptsAnEmptyFieldAtTheEnd) {
  WireReader reader(kBytes);
  reader.skip(8);
  EXPECT_TRUE(reader.take(0).empty());
  EXPECT_TRUE(reader.ok());
}

TEST(WireReader, StripsPaddingAtTheEndOnly) {
  EXPECT_EQ(without_padding("AB C  ", ' '), "AB C");
  EXPECT_EQ(without_padding("    ", ' '), "");
  EXPECT_EQ(without_padding("", ' '), "");
  EXPECT_EQ(without_padding(std::string_view("X\0\0", 3), '\0'), "X");
}

}  // namespace
}  // namespace tocsin
