// Which packet protocol a capture holds, told from its first packets, and who decodes it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "ingest/packet_protocol.h"
#include "ingest/source.h"

namespace tocsin {

// The format whose packets are most among the first ones in `head`, the first bytes of a file.
// Absent: not a capture, or one of no protocol that is read.
std::optional<FeedFormat> capture_format_of(std::span<const std::byte> head) noexcept;

// The decoder of options.format's packets, whatever brings them; the format is a capture's.
Result<std::unique_ptr<PacketProtocol>> make_packet_protocol(const FileSourceOptions& options,
                                                             FeedLedger& ledger);

// Whether files of this format are captures: then other packets may come before its own.
bool is_capture_format(FeedFormat format) noexcept;

}  // namespace tocsin
