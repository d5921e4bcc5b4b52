// SBE schemas: offsets given and counted, decimals, nulls, and what is refused with its line.
#include "ingest/sbe_schema.h"

#include <gtest/gtest.h>

#include <string>

#include "ingest/feed_bytes.h"
#include "ingest/mdp3_layout.h"

namespace tocsin {
namespace {

std::string schema(const std::string& types, const std::string& messages) {
  return "<messageSchema>\n<types>" + types + "</types>\n" + messages + "</messageSchema>";
}

constexpr const char* kDimension =
    "<composite name='dim'><type name='blockLength' primitiveType='uint16'/>"
    "<type name='numInGroup' offset='7' primitiveType='uint8'/></composite>";

TEST(SbeSchema, CountsOffsetsWhereNoneAreGiven) {
  const auto parsed = SbeSchema::parse(schema(
      "<type name='id' primitiveType='char' length='5'/>"
      "<type name='fixed' primitiveType='char' presence='constant'>X</type>",
      "<message name='M' id='3'><field name='a' type='uint16'/><field name='k' type='fixed'/>"
      "<field name='b' type='id'/><field name='c' type='int32' offset='12'/>"
      "<field name='d' type='int8'/></message>"));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message();
  const SbeMessage& message = parsed.value().messages().at(3);
  ASSERT_EQ(message.fields.size(), 5U);
  EXPECT_EQ(message.fields[1].size_bytes, 0U);
  EXPECT_EQ(message.fields[2].offset, 2U);
  EXPECT_EQ(message.fields[4].offset, 16U);
  const Bytes block = FeedBytes()
                          .little<std::uint16_t>(40'000)
                          .text("ab", 5, '\0')
                          .zeros(5)
                          .little<std::int32_t>(-7)
                          .little<std::int8_t>(-1)
                          .bytes();
  std::int64_t value = 0;
  EXPECT_TRUE(message.fields[0].read(block, value));
  EXPECT_EQ(value, 40'000);
  EXPECT_EQ(message.fields[2].text(block), "ab");
  EXPECT_TRUE(message.fields[3].read(block, value));
  EXPECT_EQ(value, -7);
  EXPECT_FALSE(message.fields[1].read(block, value)) << "a constant is not on the wire";
  EXPECT_FALSE(message.fields[4].read(std::span(block).first(16), value)) << "an older version";
}

TEST(SbeSchema, KnowsNullsAndExponents) {
  const auto parsed = SbeSchema::parse(schema(
      "<type name='n' primitiveType='uint64' nullValue='18446744073709551615'/>"
      "<composite name='px'><type name='mantissa' primitiveType='int64' nullValue='5'/>"
      "<type name='exponent' primitiveType='int8' presence='constant'> -7 </type></composite>",
      "<message name='M' id='1'><field name='a' type='n'/><field name='p' type='px'/></message>"));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message();
  const auto& fields = parsed.value().messages().at(1).fields;
  EXPECT_EQ(fields[1].exponent, -7);
  EXPECT_EQ(fields[1].offset, 8U);
  std::int64_t value = 0;
  const Bytes nulls = FeedBytes().little<std::uint64_t>(UINT64_MAX).little<std::int64_t>(5).bytes();
  EXPECT_FALSE(fields[0].read(nulls, value));
  EXPECT_FALSE(fields[1].read(nulls, value));
}

TEST(SbeSchema, ReadsGroupsWithTheirHeader) {
  const auto parsed =
      SbeSchema::parse(schema(kDimension,
                              "<message name='M' id='1'><group name='g' dimensionType='dim'>"
                              "<field name='a' type='uint8'/></group></message>"));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message();
  const SbeGroup& group = parsed.value().messages().at(1).groups.at(0);
  EXPECT_EQ(group.header_bytes, 8U);
  EXPECT_EQ(group.entry_count.offset, 7U);
}

TEST(SbeSchema, SaysWhatItCannotRead) {
  const auto expect_refused = [](const std::string& xml, const std::string& part) {
    const auto parsed = SbeSchema::parse(xml);
    ASSERT_FALSE(parsed.ok()) << xml;
    EXPECT_NE(parsed.error().message().find(part), std::string::npos) << parsed.error().message();
  };
  expect_refused("<messageSchema>", "line 1");
  expect_refused("<!DOCTYPE x [<!ENTITY a 'b'>]>\n<messageSchema>&a;</messageSchema>", "DOCTYPE");
  expect_refused("<other/>", "not an SBE messageSchema");
  expect_refused("<messageSchema/>", "without messages");
  expect_refused("<messageSchema byteOrder='bigEndian'/>", "big-endian");
  expect_refused(schema("", "<message name='M' id='1'><field name='a' type='no'/></message>"),
                 "line 3: field \"a\": unknown type \"no\"");
  expect_refused(schema("", "<message name='M' id='x'/>"), "no id");
  expect_refused(schema(kDimension,
                        "<message name='M' id='1'><group name='g' dimensionType='dim'>"
                        "<group name='h' dimensionType='dim'/></group></message>"),
                 "a group within a group");
  expect_refused(schema("", "<message name='M' id='1'><group name='g'/></message>"),
                 "unknown dimensionType");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  expect_refused(deep, "depth");
  EXPECT_FALSE(SbeSchema::read_file("/nowhere/schema.xml").ok());
}

TEST(MdpLayout, HasTheCommonTemplatesBuiltIn) {
  const MdpLayout& layout = MdpLayout::built_in();
  for (const int id : {4,  12, 27, 29, 30, 32, 37, 38, 42, 46, 47, 48,
                       49, 50, 51, 52, 53, 54, 55, 56, 57, 63, 64, 65}) {
    ASSERT_NE(layout.find(static_cast<std::uint16_t>(id)), nullptr) << id;
  }
  EXPECT_EQ(layout.find(1), nullptr);
  EXPECT_EQ(layout.find(46)->kind, MdpKind::kBook);
  EXPECT_EQ(layout.find(46)->price.exponent, -9);
  EXPECT_EQ(layout.find(32)->price.exponent, -7);
  EXPECT_EQ(layout.find(47)->kind, MdpKind::kOrderBook);
  EXPECT_EQ(layout.find(53)->kind, MdpKind::kOrderSnapshot);
}

TEST(MdpLayout, RefusesASchemaWithoutBooks) {
  const auto parsed = SbeSchema::parse(schema("", "<message name='M' id='1'/>"));
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(MdpLayout::from_schema(parsed.value()).ok());
}

}  // namespace
}  // namespace tocsin
