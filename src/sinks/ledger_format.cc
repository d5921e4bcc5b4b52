// Encoding and decoding of the payloads of a ledger's records.
#include "sinks/ledger_format.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "sinks/byte_coding.h"

namespace tocsin {
namespace {

Error bad_payload(LedgerRecordKind kind) {
  return Error(ErrorCode::kDataLoss,
               "the payload is no " + std::string(ledger_record_kind_name(kind)) +
                   " record of format version " + std::to_string(kLedgerFormatVersion));
}

// An enumerator's number, checked against the largest one.
template <typename Enum>
Enum decode_enum(ByteDecoder& decoder, Enum max) noexcept {
  const auto value = decoder.number<std::uint8_t>();
  if (value > static_cast<std::uint8_t>(max)) decoder.fail();
  return static_cast<Enum>(value);
}

bool decode_bool(ByteDecoder& decoder) noexcept {
  const auto value = decoder.number<std::uint8_t>();
  if (value > 1) decoder.fail();
  return value == 1;
}

void encode_position(ByteEncoder& encoder, const InputPosition& position) {
  encoder.number(position.record);
  encoder.number(position.partition);
}

InputPosition decode_position(ByteDecoder& decoder) noexcept {
  InputPosition position;
  position.record = decoder.number<std::uint64_t>();
  position.partition = decoder.number<std::uint32_t>();
  return position;
}

// All counters in the order of their encoding.
constexpr std::array kCounters = {&LedgerRunCounters::events,
                                  &LedgerRunCounters::gaps,
                                  &LedgerRunCounters::frames,
                                  &LedgerRunCounters::windows_scored,
                                  &LedgerRunCounters::rescored,
                                  &LedgerRunCounters::alerts,
                                  &LedgerRunCounters::held,
                                  &LedgerRunCounters::suppressed_cooldown,
                                  &LedgerRunCounters::suppressed_untrusted,
                                  &LedgerRunCounters::not_finite,
                                  &LedgerRunCounters::held_back_remainder};

void encode_frame(ByteEncoder& encoder, const FeatureFrame& frame) {
  encode_position(encoder, frame.position);
  encoder.number(frame.instrument);
  encoder.number(frame.exchange_time_ns);
  encoder.number(frame.receive_time_ns);
  encoder.number(frame.frame_number);
  encoder.number(frame.mid_price_nanos_x2);
}

void decode_frame(ByteDecoder& decoder, FeatureFrame& frame) noexcept {
  frame.position = decode_position(decoder);
  frame.instrument = decoder.number<std::uint32_t>();
  frame.exchange_time_ns = decoder.number<std::int64_t>();
  frame.receive_time_ns = decoder.number<std::int64_t>();
  frame.frame_number = decoder.number<std::uint64_t>();
  frame.mid_price_nanos_x2 = decoder.number<std::int64_t>();
}

}  // namespace

std::string_view ledger_record_kind_name(LedgerRecordKind kind) noexcept {
  switch (kind) {
    case LedgerRecordKind::kRunStart:
      return "run_start";
    case LedgerRecordKind::kDecision:
      return "decision";
    case LedgerRecordKind::kRunEnd:
      return "run_end";
    case LedgerRecordKind::kResume:
      return "resume";
  }
  return "unknown";
}

std::string_view run_end_reason_name(RunEndReason reason) noexcept {
  static constexpr std::array<std::string_view, 3> kNames = {"complete", "interrupted", "failed"};
  return kNames[static_cast<std::size_t>(reason)];
}

bool same_run(const LedgerRunStart& a, const LedgerRunStart& b) {
  return a.config == b.config && a.tocsin_version == b.tocsin_version &&
         a.tocsin_commit == b.tocsin_commit && a.source_name == b.source_name &&
         a.source_size_bytes == b.source_size_bytes && a.model_name == b.model_name &&
         a.model_version == b.model_version && a.model_sha256 == b.model_sha256 &&
         a.schema_hash == b.schema_hash && a.features == b.features && a.rules == b.rules &&
         a.engine == b.engine && a.engine_version == b.engine_version &&
         a.determinism == b.determinism;
}

Status encode_run_start(const LedgerRunStart& run, std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  ByteEncoder encoder(out);
  encoder.number(run.unix_time_ns);
  encoder.text(run.config);
  encoder.text(run.tocsin_version);
  encoder.text(run.tocsin_commit);
  encoder.text(run.source_name);
  encoder.text(run.source_path);
  encoder.number(run.source_size_bytes);
  encoder.text(run.model_name);
  encoder.text(run.model_version);
  encoder.digest(run.model_sha256);
  encoder.digest(run.schema_hash);
  encoder.number(static_cast<std::uint32_t>(run.features.size()));
  for (const LedgerFeature& feature : run.features) {
    encoder.text(feature.name);
    encoder.text(feature.unit);
    encoder.bits_of(feature.mean);
    encoder.bits_of(feature.scale);
  }
  encoder.number(static_cast<std::uint32_t>(run.rules.size()));
  for (const std::string& rule : run.rules) encoder.text(rule);
  encoder.text(run.engine);
  encoder.text(run.engine_version);
  encoder.text(run.isa);
  encoder.number(static_cast<std::uint8_t>(run.determinism));
  if (out.size() - start <= kLedgerPayloadBytesMax) return {};
  const std::size_t size_bytes = out.size() - start;
  out.resize(start);
  return Error(ErrorCode::kInvalidArgument,
               "the description of the run has " + std::to_string(size_bytes) +
                   " bytes; a ledger record holds " + std::to_string(kLedgerPayloadBytesMax));
}

Result<LedgerRunStart> decode_run_start(std::span<const std::byte> payload) {
  ByteDecoder decoder(payload);
  LedgerRunStart run;
  run.unix_time_ns = decoder.number<std::int64_t>();
  run.config = decoder.text();
  run.tocsin_version = decoder.text();
  run.tocsin_commit = decoder.text();
  run.source_name = decoder.text();
  run.source_path = decoder.text();
  run.source_size_bytes = decoder.number<std::uint64_t>();
  run.model_name = decoder.text();
  run.model_version = decoder.text();
  run.model_sha256 = decoder.digest();
  run.schema_hash = decoder.digest();
  // The counts are not trusted: each element takes its bytes before the next one is made.
  for (auto left = decoder.number<std::uint32_t>(); left > 0 && !decoder.failed(); --left) {
    LedgerFeature& feature = run.features.emplace_back();
    feature.name = decoder.text();
    feature.unit = decoder.text();
    feature.mean = decoder.float_bits();
    feature.scale = decoder.float_bits();
  }
  for (auto left = decoder.number<std::uint32_t>(); left > 0 && !decoder.failed(); --left)
    run.rules.push_back(decoder.text());
  run.engine = decoder.text();
  run.engine_version = decoder.text();
  run.isa = decoder.text();
  run.determinism = decode_enum(decoder, DeterminismClass::kRecorded);
  if (!decoder.complete()) return bad_payload(LedgerRecordKind::kRunStart);
  return run;
}

void encode_decision(const LedgerDecision& ledger_decision, std::vector<std::byte>& out) {
  const DecisionRecord& decision = ledger_decision.decision;
  const std::size_t start = out.size();
  ByteEncoder encoder(out);
  encoder.number(decision.id.value);
  encode_frame(encoder, decision.frame);
  encoder.number(ledger_decision.run_record);
  encoder.number(decision.first_frame_record);
  encoder.number(decision.window_hash);
  encoder.number(decision.suppressed_count);
  TOCSIN_ASSERT(out.size() - start == kLedgerScoreOffset);
  encoder.bits_of(decision.score);
  encoder.bits_of(decision.threshold);
  encoder.bits_of(decision.release_threshold);
  encoder.number(decision.frame.quality.bits());
  encoder.number(decision.window_steps);
  encoder.number(decision.rule_index);
  encoder.number(static_cast<std::uint8_t>(decision.verdict));
  encoder.number(static_cast<std::uint8_t>(decision.determinism));
  encoder.number(static_cast<std::uint8_t>(decision.sampled));
  TOCSIN_ASSERT(decision.frame.feature_count <= kMaxFrameFeatures);
  encoder.number(static_cast<std::uint8_t>(decision.frame.feature_count));
  const std::string_view symbol =
      std::string_view(ledger_decision.symbol).substr(0, kLedgerSymbolBytesMax);
  encoder.number(static_cast<std::uint8_t>(symbol.size()));
  encoder.bytes(std::as_bytes(std::span(symbol.data(), symbol.size())));
  for (std::size_t i = 0; i < decision.frame.feature_count; ++i)
    encoder.bits_of(decision.frame.values[i]);
  const std::size_t timing_start = out.size();
  encoder.number(decision.decided_time_ns);
  for (const std::int64_t duration_ns : decision.durations.ns) encoder.number(duration_ns);
  TOCSIN_ASSERT(out.size() - timing_start == kLedgerTimingBytes);
}

Result<LedgerDecision> decode_decision(std::span<const std::byte> payload) {
  ByteDecoder decoder(payload);
  LedgerDecision ledger_decision;
  DecisionRecord& decision = ledger_decision.decision;
  decision.id.value = decoder.number<std::uint64_t>();
  decode_frame(decoder, decision.frame);
  ledger_decision.run_record = decoder.number<std::uint64_t>();
  decision.first_frame_record = decoder.number<std::uint64_t>();
  decision.window_hash = decoder.number<std::uint64_t>();
  decision.suppressed_count = decoder.number<std::uint64_t>();
  decision.score = decoder.float_bits();
  decision.threshold = decoder.float_bits();
  decision.release_threshold = decoder.float_bits();
  decision.frame.quality = QualityFlags::from_bits(decoder.number<std::uint16_t>());
  decision.window_steps = decoder.number<std::uint16_t>();
  decision.rule_index = decoder.number<std::uint16_t>();
  decision.verdict = decode_enum(decoder, Verdict::kSuppressedUntrusted);
  decision.determinism = decode_enum(decoder, DeterminismClass::kRecorded);
  decision.sampled = decode_bool(decoder);
  decision.frame.feature_count = decoder.number<std::uint8_t>();
  if (decision.frame.feature_count > kMaxFrameFeatures)
    return bad_payload(LedgerRecordKind::kDecision);
  ledger_decision.symbol = decoder.fixed_text(decoder.number<std::uint8_t>());
  for (std::size_t i = 0; i < decision.frame.feature_count; ++i)
    decision.frame.values[i] = decoder.float_bits();
  decision.decided_time_ns = decoder.number<std::int64_t>();
  for (std::int64_t& duration_ns : decision.durations.ns)
    duration_ns = decoder.number<std::int64_t>();
  if (!decoder.complete()) return bad_payload(LedgerRecordKind::kDecision);
  return ledger_decision;
}

void encode_run_end(const LedgerRunEnd& end, std::vector<std::byte>& out) {
  ByteEncoder encoder(out);
  encoder.number(static_cast<std::uint8_t>(end.reason));
  encoder.number(end.unix_time_ns);
  encode_position(encoder, end.last_position);
  for (const auto counter : kCounters) encoder.number(end.counters.*counter);
}

Result<LedgerRunEnd> decode_run_end(std::span<const std::byte> payload) {
  ByteDecoder decoder(payload);
  LedgerRunEnd end;
  end.reason = decode_enum(decoder, RunEndReason::kFailed);
  end.unix_time_ns = decoder.number<std::int64_t>();
  end.last_position = decode_position(decoder);
  for (const auto counter : kCounters) end.counters.*counter = decoder.number<std::uint64_t>();
  if (!decoder.complete()) return bad_payload(LedgerRecordKind::kRunEnd);
  return end;
}

void encode_resume(const LedgerResume& resume, std::vector<std::byte>& out) {
  ByteEncoder encoder(out);
  encoder.number(resume.unix_time_ns);
  encoder.number(resume.run_record);
  encoder.number(resume.durable_decision_count);
  encoder.number(resume.torn_bytes);
  encoder.text(resume.isa);
}

Result<LedgerResume> decode_resume(std::span<const std::byte> payload) {
  ByteDecoder decoder(payload);
  LedgerResume resume;
  resume.unix_time_ns = decoder.number<std::int64_t>();
  resume.run_record = decoder.number<std::uint64_t>();
  resume.durable_decision_count = decoder.number<std::uint64_t>();
  resume.torn_bytes = decoder.number<std::uint64_t>();
  resume.isa = decoder.text();
  if (!decoder.complete()) return bad_payload(LedgerRecordKind::kResume);
  return resume;
}

}  // namespace tocsin
