// Fuzzes the ledger's readers. The first byte chooses: 0 to 3 a payload's decoder, which a hash
// would else shield from the fuzzer; 4 a HEAD; any other a ledger of one segment, with and without
// a HEAD.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "sinks/ledger_chain.h"
#include "sinks/ledger_format.h"
#include "sinks/ledger_reader.h"
#include "sinks/ledger_tail.h"
#include "sinks/ledger_text.h"

namespace tocsin {
namespace {

// What decodes must encode to the same bytes again.
template <typename Encode>
void expect_same(std::span<const std::byte> input, Encode encode) {
  std::vector<std::byte> output;
  encode(output);
  TOCSIN_ASSERT(output == std::vector<std::byte>(input.begin(), input.end()));
}

void read_payload(std::uint8_t choice, std::span<const std::byte> bytes) {
  if (choice == 0) {
    const auto run = decode_run_start(bytes);
    if (run.ok())
      expect_same(bytes, [&](auto& out) { TOCSIN_ASSERT(encode_run_start(*run, out).ok()); });
  } else if (choice == 1) {
    const auto decision = decode_decision(bytes);
    if (!decision.ok()) return;
    expect_same(bytes, [&](auto& out) { encode_decision(*decision, out); });
    FoundDecision found;
    found.decision = *decision;
    TOCSIN_ASSERT(!explain_decision(found).empty());
  } else if (choice == 2) {
    const auto end = decode_run_end(bytes);
    if (end.ok()) expect_same(bytes, [&](auto& out) { encode_run_end(*end, out); });
  } else {
    const auto resume = decode_resume(bytes);
    if (resume.ok()) expect_same(bytes, [&](auto& out) { encode_resume(*resume, out); });
  }
}

void read_ledger(std::span<const std::byte> bytes) {
  MemoryLedgerStore store;
  store.segment_bytes[1].assign(bytes.begin(), bytes.end());
  TOCSIN_ASSERT(verify_ledger(store).ok());
  store.head_text = encode_head({});
  std::size_t end = kSegmentHeaderBytes;
  const auto report = verify_ledger(store, {}, [&](const LedgerEntry& entry) {
    TOCSIN_ASSERT(entry.byte == end);
    end += kRecordOverheadBytes + entry.payload.size();
  });
  TOCSIN_ASSERT(report.ok());
  // Every byte is accounted for: verified, torn, or the place of a fault.
  TOCSIN_ASSERT(report->fault || report->torn_bytes == bytes.size() ||
                end + report->torn_bytes == bytes.size());
  const auto tail = read_ledger_tail(store);
  if (tail.ok() && tail->run && tail->run->decision_count > 0) {
    DurableDecisions decisions(store, *tail->run);
    while (decisions.left() > 0) TOCSIN_ASSERT(decisions.next().ok());
  }
}

}  // namespace
}  // namespace tocsin

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if (choice < 4) {
    tocsin::read_payload(choice, bytes);
  } else if (choice == 4) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto head = tocsin::head_from_text(text);
    if (head) TOCSIN_ASSERT(tocsin::encode_head(*head) == text);
  } else {
    tocsin::read_ledger(bytes);
  }
  return 0;
}
