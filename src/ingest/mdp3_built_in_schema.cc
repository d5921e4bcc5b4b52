// Written for what this decoder reads, from CME's published templates: versions 5 to 8 have prices
// of seven decimals (templates 27 to 44), later ones of nine (46 on). Versions only append fields.
#include "ingest/mdp3_built_in_schema.h"

namespace tocsin {
namespace {

constexpr std::string_view kSchema = R"xml(<messageSchema byteOrder="littleEndian">
<types>
  <type name="Int8NULL" primitiveType="int8" nullValue="127"/>
  <type name="Int32NULL" primitiveType="int32" nullValue="2147483647"/>
  <type name="UInt8NULL" primitiveType="uint8" nullValue="255"/>
  <type name="UInt64NULL" primitiveType="uint64" nullValue="18446744073709551615"/>
  <type name="MDFeedType" primitiveType="char" length="3"/>
  <type name="SecurityGroup" primitiveType="char" length="6"/>
  <type name="Symbol" primitiveType="char" length="20"/>
  <composite name="PRICE7">
    <type name="mantissa" primitiveType="int64" nullValue="9223372036854775807"/>
    <type name="exponent" primitiveType="int8" presence="constant">-7</type>
  </composite>
  <composite name="PRICE9">
    <type name="mantissa" primitiveType="int64" nullValue="9223372036854775807"/>
    <type name="exponent" primitiveType="int8" presence="constant">-9</type>
  </composite>
  <composite name="groupSize">
    <type name="blockLength" primitiveType="uint16"/>
    <type name="numInGroup" primitiveType="uint8"/>
  </composite>
  <composite name="groupSize8Byte">
    <type name="blockLength" primitiveType="uint16"/>
    <type name="numInGroup" offset="7" primitiveType="uint8"/>
  </composite>
</types>
<message name="ChannelReset4" id="4">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="ApplID" type="int16" offset="0"/>
  </group>
</message>
<message name="AdminHeartbeat12" id="12">
</message>
<message name="AdminLogin15" id="15">
</message>
<message name="AdminLogout16" id="16">
</message>
<message name="MDInstrumentDefinitionFuture27" id="27">
  <field name="MatchEventIndicator" type="uint8" offset="0"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="14"/>
  <field name="SecurityGroup" type="SecurityGroup" offset="23"/>
  <field name="Symbol" type="Symbol" offset="35"/>
  <field name="SecurityID" type="int32" offset="55"/>
  <field name="MinPriceIncrement" type="PRICE7" offset="91"/>
  <group name="NoEvents" dimensionType="groupSize">
  </group>
  <group name="NoMDFeedTypes" dimensionType="groupSize">
    <field name="MDFeedType" type="MDFeedType" offset="0"/>
    <field name="MarketDepth" type="int8" offset="3"/>
  </group>
</message>
<message name="MDInstrumentDefinitionSpread29" id="29">
  <field name="MatchEventIndicator" type="uint8" offset="0"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="14"/>
  <field name="SecurityGroup" type="SecurityGroup" offset="23"/>
  <field name="Symbol" type="Symbol" offset="35"/>
  <field name="SecurityID" type="int32" offset="55"/>
  <field name="MinPriceIncrement" type="PRICE7" offset="94"/>
  <group name="NoEvents" dimensionType="groupSize">
  </group>
  <group name="NoMDFeedTypes" dimensionType="groupSize">
    <field name="MDFeedType" type="MDFeedType" offset="0"/>
    <field name="MarketDepth" type="int8" offset="3"/>
  </group>
</message>
<message name="MDInstrumentDefinitionOption41" id="41">
  <field name="MatchEventIndicator" type="uint8" offset="0"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="14"/>
  <field name="SecurityGroup" type="SecurityGroup" offset="23"/>
  <field name="Symbol" type="Symbol" offset="35"/>
  <field name="SecurityID" type="int32" offset="55"/>
  <field name="MinPriceIncrement" type="PRICE7" offset="110"/>
  <group name="NoEvents" dimensionType="groupSize">
  </group>
  <group name="NoMDFeedTypes" dimensionType="groupSize">
    <field name="MDFeedType" type="MDFeedType" offset="0"/>
    <field name="MarketDepth" type="int8" offset="3"/>
  </group>
</message>
<message name="MDInstrumentDefinitionFuture54" id="54">
  <field name="MatchEventIndicator" type="uint8" offset="0"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="14"/>
  <field name="SecurityGroup" type="SecurityGroup" offset="23"/>
  <field name="Symbol" type="Symbol" offset="35"/>
  <field name="SecurityID" type="int32" offset="55"/>
  <field name="MinPriceIncrement" type="PRICE9" offset="91"/>
  <group name="NoEvents" dimensionType="groupSize">
  </group>
  <group name="NoMDFeedTypes" dimensionType="groupSize">
    <field name="MDFeedType" type="MDFeedType" offset="0"/>
    <field name="MarketDepth" type="int8" offset="3"/>
  </group>
</message>
<message name="MDInstrumentDefinitionOption55" id="55">
  <field name="MatchEventIndicator" type="uint8" offset="0"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="14"/>
  <field name="SecurityGroup" type="SecurityGroup" offset="23"/>
  <field name="Symbol" type="Symbol" offset="35"/>
  <field name="SecurityID" type="int32" offset="55"/>
  <field name="MinPriceIncrement" type="PRICE9" offset="110"/>
  <group name="NoEvents" dimensionType="groupSize">
  </group>
  <group name="NoMDFeedTypes" dimensionType="groupSize">
    <field name="MDFeedType" type="MDFeedType" offset="0"/>
    <field name="MarketDepth" type="int8" offset="3"/>
  </group>
</message>
<message name="MDInstrumentDefinitionSpread56" id="56">
  <field name="MatchEventIndicator" type="uint8" offset="0"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="14"/>
  <field name="SecurityGroup" type="SecurityGroup" offset="23"/>
  <field name="Symbol" type="Symbol" offset="35"/>
  <field name="SecurityID" type="int32" offset="55"/>
  <field name="MinPriceIncrement" type="PRICE9" offset="94"/>
  <group name="NoEvents" dimensionType="groupSize">
  </group>
  <group name="NoMDFeedTypes" dimensionType="groupSize">
    <field name="MDFeedType" type="MDFeedType" offset="0"/>
    <field name="MarketDepth" type="int8" offset="3"/>
  </group>
</message>
<message name="MDInstrumentDefinitionFixedIncome57" id="57">
  <field name="MatchEventIndicator" type="uint8" offset="0"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="14"/>
  <field name="SecurityGroup" type="SecurityGroup" offset="23"/>
  <field name="Symbol" type="Symbol" offset="35"/>
  <field name="SecurityID" type="int32" offset="55"/>
  <field name="MinPriceIncrement" type="PRICE9" offset="86"/>
  <group name="NoEvents" dimensionType="groupSize">
  </group>
  <group name="NoMDFeedTypes" dimensionType="groupSize">
    <field name="MDFeedType" type="MDFeedType" offset="0"/>
    <field name="MarketDepth" type="int8" offset="3"/>
  </group>
</message>
<message name="MDInstrumentDefinitionRepo58" id="58">
  <field name="MatchEventIndicator" type="uint8" offset="0"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="14"/>
  <field name="SecurityGroup" type="SecurityGroup" offset="23"/>
  <field name="Symbol" type="Symbol" offset="35"/>
  <field name="SecurityID" type="int32" offset="55"/>
  <field name="MinPriceIncrement" type="PRICE9" offset="86"/>
  <group name="NoEvents" dimensionType="groupSize">
  </group>
  <group name="NoMDFeedTypes" dimensionType="groupSize">
    <field name="MDFeedType" type="MDFeedType" offset="0"/>
    <field name="MarketDepth" type="int8" offset="3"/>
  </group>
</message>
<message name="MDInstrumentDefinitionFX63" id="63">
  <field name="MatchEventIndicator" type="uint8" offset="0"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="14"/>
  <field name="SecurityGroup" type="SecurityGroup" offset="23"/>
  <field name="Symbol" type="Symbol" offset="35"/>
  <field name="SecurityID" type="int32" offset="55"/>
</message>
<message name="SecurityStatus30" id="30">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="SecurityGroup" type="SecurityGroup" offset="8"/>
  <field name="SecurityID" type="Int32NULL" offset="20"/>
  <field name="MatchEventIndicator" type="uint8" offset="26"/>
  <field name="SecurityTradingStatus" type="UInt8NULL" offset="27"/>
</message>
<message name="MDIncrementalRefreshBook32" id="32">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="MDEntryPx" type="PRICE7" offset="0"/>
    <field name="MDEntrySize" type="Int32NULL" offset="8"/>
    <field name="SecurityID" type="int32" offset="12"/>
    <field name="RptSeq" type="uint32" offset="16"/>
    <field name="MDPriceLevel" type="uint8" offset="24"/>
    <field name="MDUpdateAction" type="uint8" offset="25"/>
    <field name="MDEntryType" type="char" offset="26"/>
  </group>
  <group name="NoOrderIDEntries" dimensionType="groupSize8Byte">
    <field name="OrderID" type="uint64" offset="0"/>
    <field name="MDDisplayQty" type="Int32NULL" offset="16"/>
    <field name="ReferenceID" type="UInt8NULL" offset="20"/>
    <field name="OrderUpdateAction" type="uint8" offset="21"/>
  </group>
</message>
<message name="MDIncrementalRefreshDailyStatistics33" id="33">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="SecurityID" type="int32" offset="12"/>
    <field name="RptSeq" type="uint32" offset="16"/>
  </group>
</message>
<message name="MDIncrementalRefreshLimitsBanding34" id="34">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="SecurityID" type="int32" offset="24"/>
    <field name="RptSeq" type="uint32" offset="28"/>
  </group>
</message>
<message name="MDIncrementalRefreshSessionStatistics35" id="35">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="SecurityID" type="int32" offset="8"/>
    <field name="RptSeq" type="uint32" offset="12"/>
  </group>
</message>
<message name="MDIncrementalRefreshTrade36" id="36">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="MDEntryPx" type="PRICE7" offset="0"/>
    <field name="MDEntrySize" type="Int32NULL" offset="8"/>
    <field name="SecurityID" type="int32" offset="12"/>
    <field name="RptSeq" type="uint32" offset="16"/>
    <field name="AggressorSide" type="UInt8NULL" offset="28"/>
    <field name="MDUpdateAction" type="uint8" offset="29"/>
  </group>
</message>
<message name="MDIncrementalRefreshVolume37" id="37">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="SecurityID" type="int32" offset="4"/>
    <field name="RptSeq" type="uint32" offset="8"/>
  </group>
</message>
<message name="SnapshotFullRefresh38" id="38">
  <field name="LastMsgSeqNumProcessed" type="uint32" offset="0"/>
  <field name="SecurityID" type="int32" offset="8"/>
  <field name="RptSeq" type="uint32" offset="12"/>
  <field name="TransactTime" type="uint64" offset="16"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="32"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="MDEntryPx" type="PRICE7" offset="0"/>
    <field name="MDEntrySize" type="Int32NULL" offset="8"/>
    <field name="MDPriceLevel" type="Int8NULL" offset="16"/>
    <field name="MDEntryType" type="char" offset="21"/>
  </group>
</message>
<message name="QuoteRequest39" id="39">
</message>
<message name="MDIncrementalRefreshTradeSummary42" id="42">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="MDEntryPx" type="PRICE7" offset="0"/>
    <field name="MDEntrySize" type="Int32NULL" offset="8"/>
    <field name="SecurityID" type="int32" offset="12"/>
    <field name="RptSeq" type="uint32" offset="16"/>
    <field name="AggressorSide" type="UInt8NULL" offset="24"/>
    <field name="MDUpdateAction" type="uint8" offset="25"/>
  </group>
  <group name="NoOrderIDEntries" dimensionType="groupSize8Byte">
    <field name="OrderID" type="uint64" offset="0"/>
  </group>
</message>
<message name="MDIncrementalRefreshOrderBook43" id="43">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="OrderID" type="UInt64NULL" offset="0"/>
    <field name="MDEntryPx" type="PRICE7" offset="16"/>
    <field name="MDDisplayQty" type="Int32NULL" offset="24"/>
    <field name="SecurityID" type="int32" offset="28"/>
    <field name="MDUpdateAction" type="uint8" offset="32"/>
    <field name="MDEntryType" type="char" offset="33"/>
  </group>
</message>
<message name="SnapshotFullRefreshOrderBook44" id="44">
  <field name="LastMsgSeqNumProcessed" type="uint32" offset="0"/>
  <field name="SecurityID" type="int32" offset="8"/>
  <field name="NoChunks" type="uint32" offset="12"/>
  <field name="CurrentChunk" type="uint32" offset="16"/>
  <field name="TransactTime" type="uint64" offset="20"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="OrderID" type="uint64" offset="0"/>
    <field name="MDEntryPx" type="PRICE7" offset="16"/>
    <field name="MDDisplayQty" type="Int32NULL" offset="24"/>
    <field name="MDEntryType" type="char" offset="28"/>
  </group>
</message>
<message name="MDIncrementalRefreshBook46" id="46">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="MDEntryPx" type="PRICE9" offset="0"/>
    <field name="MDEntrySize" type="Int32NULL" offset="8"/>
    <field name="SecurityID" type="int32" offset="12"/>
    <field name="RptSeq" type="uint32" offset="16"/>
    <field name="MDPriceLevel" type="uint8" offset="24"/>
    <field name="MDUpdateAction" type="uint8" offset="25"/>
    <field name="MDEntryType" type="char" offset="26"/>
  </group>
  <group name="NoOrderIDEntries" dimensionType="groupSize8Byte">
    <field name="OrderID" type="uint64" offset="0"/>
    <field name="MDDisplayQty" type="Int32NULL" offset="16"/>
    <field name="ReferenceID" type="UInt8NULL" offset="20"/>
    <field name="OrderUpdateAction" type="uint8" offset="21"/>
  </group>
</message>
<message name="MDIncrementalRefreshOrderBook47" id="47">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="OrderID" type="UInt64NULL" offset="0"/>
    <field name="MDEntryPx" type="PRICE9" offset="16"/>
    <field name="MDDisplayQty" type="Int32NULL" offset="24"/>
    <field name="SecurityID" type="int32" offset="28"/>
    <field name="MDUpdateAction" type="uint8" offset="32"/>
    <field name="MDEntryType" type="char" offset="33"/>
  </group>
</message>
<message name="MDIncrementalRefreshTradeSummary48" id="48">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="MDEntryPx" type="PRICE9" offset="0"/>
    <field name="MDEntrySize" type="Int32NULL" offset="8"/>
    <field name="SecurityID" type="int32" offset="12"/>
    <field name="RptSeq" type="uint32" offset="16"/>
    <field name="AggressorSide" type="UInt8NULL" offset="24"/>
    <field name="MDUpdateAction" type="uint8" offset="25"/>
  </group>
  <group name="NoOrderIDEntries" dimensionType="groupSize8Byte">
    <field name="OrderID" type="uint64" offset="0"/>
  </group>
</message>
<message name="MDIncrementalRefreshDailyStatistics49" id="49">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="SecurityID" type="int32" offset="12"/>
    <field name="RptSeq" type="uint32" offset="16"/>
  </group>
</message>
<message name="MDIncrementalRefreshLimitsBanding50" id="50">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="SecurityID" type="int32" offset="24"/>
    <field name="RptSeq" type="uint32" offset="28"/>
  </group>
</message>
<message name="MDIncrementalRefreshSessionStatistics51" id="51">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="SecurityID" type="int32" offset="8"/>
    <field name="RptSeq" type="uint32" offset="12"/>
  </group>
</message>
<message name="SnapshotFullRefresh52" id="52">
  <field name="LastMsgSeqNumProcessed" type="uint32" offset="0"/>
  <field name="SecurityID" type="int32" offset="8"/>
  <field name="RptSeq" type="uint32" offset="12"/>
  <field name="TransactTime" type="uint64" offset="16"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="32"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="MDEntryPx" type="PRICE9" offset="0"/>
    <field name="MDEntrySize" type="Int32NULL" offset="8"/>
    <field name="MDPriceLevel" type="Int8NULL" offset="16"/>
    <field name="MDEntryType" type="char" offset="21"/>
  </group>
</message>
<message name="SnapshotFullRefreshOrderBook53" id="53">
  <field name="LastMsgSeqNumProcessed" type="uint32" offset="0"/>
  <field name="SecurityID" type="int32" offset="8"/>
  <field name="NoChunks" type="uint32" offset="12"/>
  <field name="CurrentChunk" type="uint32" offset="16"/>
  <field name="TransactTime" type="uint64" offset="20"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="OrderID" type="uint64" offset="0"/>
    <field name="MDEntryPx" type="PRICE9" offset="16"/>
    <field name="MDDisplayQty" type="Int32NULL" offset="24"/>
    <field name="MDEntryType" type="char" offset="28"/>
  </group>
</message>
<message name="SnapshotRefreshTopOrders59" id="59">
</message>
<message name="SecurityStatusWorkup60" id="60">
</message>
<message name="CollateralMarketValue62" id="62">
</message>
<message name="MDIncrementalRefreshBookLongQty64" id="64">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="MDEntryPx" type="PRICE9" offset="0"/>
    <field name="MDEntrySize" type="UInt64NULL" offset="8"/>
    <field name="SecurityID" type="int32" offset="16"/>
    <field name="RptSeq" type="uint32" offset="20"/>
    <field name="MDPriceLevel" type="uint8" offset="28"/>
    <field name="MDUpdateAction" type="uint8" offset="29"/>
    <field name="MDEntryType" type="char" offset="30"/>
  </group>
  <group name="NoOrderIDEntries" dimensionType="groupSize8Byte">
    <field name="OrderID" type="uint64" offset="0"/>
    <field name="MDDisplayQty" type="Int32NULL" offset="16"/>
    <field name="ReferenceID" type="UInt8NULL" offset="20"/>
    <field name="OrderUpdateAction" type="uint8" offset="21"/>
  </group>
</message>
<message name="MDIncrementalRefreshTradeSummaryLongQty65" id="65">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="MDEntryPx" type="PRICE9" offset="0"/>
    <field name="MDEntrySize" type="UInt64NULL" offset="8"/>
    <field name="SecurityID" type="int32" offset="16"/>
    <field name="RptSeq" type="uint32" offset="20"/>
    <field name="AggressorSide" type="UInt8NULL" offset="32"/>
    <field name="MDUpdateAction" type="uint8" offset="33"/>
  </group>
  <group name="NoOrderIDEntries" dimensionType="groupSize8Byte">
    <field name="OrderID" type="uint64" offset="0"/>
  </group>
</message>
<message name="MDIncrementalRefreshVolumeLongQty66" id="66">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="SecurityID" type="int32" offset="8"/>
    <field name="RptSeq" type="uint32" offset="12"/>
  </group>
</message>
<message name="MDIncrementalRefreshSessionStatisticsLongQty67" id="67">
  <field name="TransactTime" type="uint64" offset="0"/>
  <field name="MatchEventIndicator" type="uint8" offset="8"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="SecurityID" type="int32" offset="16"/>
    <field name="RptSeq" type="uint32" offset="20"/>
  </group>
</message>
<message name="SnapshotFullRefreshLongQty69" id="69">
  <field name="LastMsgSeqNumProcessed" type="uint32" offset="0"/>
  <field name="SecurityID" type="int32" offset="8"/>
  <field name="RptSeq" type="uint32" offset="12"/>
  <field name="TransactTime" type="uint64" offset="16"/>
  <field name="MDSecurityTradingStatus" type="UInt8NULL" offset="32"/>
  <group name="NoMDEntries" dimensionType="groupSize">
    <field name="MDEntryPx" type="PRICE9" offset="0"/>
    <field name="MDEntrySize" type="UInt64NULL" offset="8"/>
    <field name="MDPriceLevel" type="UInt8NULL" offset="20"/>
    <field name="MDEntryType" type="char" offset="22"/>
  </group>
</message>
</messageSchema>
)xml";

}  // namespace

std::string_view mdp3_built_in_schema() noexcept { return kSchema; }

}  // namespace tocsin
