// ITCH 5.0 in files: each message after its length (two bytes, big-endian), or after 0x0000, where
// the length follows from the message's type. The first message tells which.
#include <algorithm>
#include <string>

#include "ingest/decoders.h"
#include "ingest/file_decoder.h"
#include "ingest/itch_feed_decoder.h"
#include "ingest/wire_reader.h"

namespace tocsin {
namespace {

constexpr std::size_t kPrefixBytes = 2;
constexpr std::uint32_t kMalformedRunMax = 100;  // so many in a row: the framing is lost

class ItchDecoder final : public FileDecoder {
 public:
  ItchDecoder(std::unique_ptr<ByteStream> stream, const FileSourceOptions& options)
      : FileDecoder(std::move(stream), options.symbols), itch_(*this) {}

  std::vector<std::pair<std::string, std::uint64_t>> counts_by_type() const override {
    return itch_.counts_by_type();
  }

  SourceStatus next(EventBatch& batch) noexcept override {
    batch.clear();
    ahead_ = stream_->peek(kPrefixBytes + kItchMessageSizeMax);
    if (ahead_.size() <= kPrefixBytes) return next_at_end();
    const std::size_t prefix = load_big<std::uint16_t>(ahead_.data());
    if (counters_.records == 0) zero_prefixed_ = prefix == 0;
    return zero_prefixed_ ? next_by_type(prefix, batch) : next_by_length(prefix, batch);
  }

 private:
  // Nothing, or a last prefix without a message: of zero it is an end mark, else the file is cut.
  SourceStatus next_at_end() {
    if (!stream_->status().ok()) return end_of_stream();
    if (ahead_.size() == kPrefixBytes && load_big<std::uint16_t>(ahead_.data()) == 0) {
      stream_->consume(kPrefixBytes);
      ahead_ = {};
    }
    return ahead_.empty() ? end_of_stream() : fail_cut(kPrefixBytes + 1);
  }

  SourceStatus next_by_type(std::size_t prefix, EventBatch& batch) {
    const ItchMessageType* type = itch_message_type(ahead_[kPrefixBytes]);
    if (prefix != 0 || type == nullptr) {
      return fail(ErrorCode::kDataLoss,
                  "expected 0x0000 and a message type of ITCH 5.0, found a prefix of " +
                      std::to_string(prefix) + " and byte " +
                      std::to_string(std::to_integer<int>(ahead_[kPrefixBytes])) +
                      ": without a length nothing after it can be read");
    }
    return decode(type->size_bytes, batch);
  }

  SourceStatus next_by_length(std::size_t length, EventBatch& batch) {
    if (length > kItchMessageSizeMax) ahead_ = stream_->peek(kPrefixBytes + length);
    return decode(length, batch);
  }

  SourceStatus decode(std::size_t size_bytes, EventBatch& batch) {
    if (ahead_.size() < kPrefixBytes + size_bytes) {
      return stream_->status().ok() ? fail_cut(kPrefixBytes + size_bytes) : end_of_stream();
    }
    ++counters_.records;
    const std::span<const std::byte> message = ahead_.subspan(kPrefixBytes, size_bytes);
    const std::uint64_t malformed_before = counters_.malformed;
    if (itch_.check_message(message)) [[likely]] {
      itch_.decode_message(messages_, {.bytes = message}, batch);
    } else {
      ++messages_.gap_count;  // what it would have changed is not known
    }
    stream_->consume(kPrefixBytes + size_bytes);
    if (counters_.malformed == malformed_before) [[likely]] {
      malformed_run_ = 0;
    } else if (counters_.records == 1 || ++malformed_run_ >= kMalformedRunMax) {
      return fail_framing();
    }
    return yield(batch);
  }

  SourceStatus fail_cut(std::size_t size_bytes) {
    return fail(ErrorCode::kDataLoss,
                "the file ends inside a message: " + std::to_string(ahead_.size()) + " of " +
                    std::to_string(size_bytes) + " bytes are there");
  }

  SourceStatus fail_framing() {
    const std::string last = faults().empty() ? "" : faults().back().message;
    if (counters_.records == 1) return fail(ErrorCode::kDataLoss, "not ITCH 5.0: " + last);
    return fail(ErrorCode::kDataLoss, std::to_string(kMalformedRunMax) +
                                          " malformed messages in a row: the framing is lost");
  }

  ItchFeedDecoder itch_;
  ItchStream messages_;
  std::span<const std::byte> ahead_;  // what peek() returned in this call of next()
  bool zero_prefixed_ = false;
  std::uint32_t malformed_run_ = 0;
};

}  // namespace

bool looks_like_itch50(std::span<const std::byte> head) noexcept {
  constexpr int kMessagesLookedAt = 8;
  int seen = 0;
  for (; seen < kMessagesLookedAt && head.size() > kPrefixBytes; ++seen) {
    const std::size_t prefix = load_big<std::uint16_t>(head.data());
    const ItchMessageType* type = itch_message_type(head[kPrefixBytes]);
    if (type == nullptr || (prefix != 0 && prefix != type->size_bytes)) return false;
    head = head.subspan(std::min(head.size(), kPrefixBytes + type->size_bytes));
  }
  return seen > 0;
}

Result<std::unique_ptr<Source>> make_itch_decoder(std::unique_ptr<ByteStream> stream,
                                                  const FileSourceOptions& options) {
  return std::unique_ptr<Source>(std::make_unique<ItchDecoder>(std::move(stream), options));
}

}  // namespace tocsin
