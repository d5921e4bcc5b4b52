// The makers of all file decoders; src/ingest/file_source.cc is the list that chooses among them.
// A maker reads the format's header, if it has one; a broken header is an error.
#pragma once

#include <memory>

#include "base/result.h"
#include "ingest/byte_stream.h"
#include "ingest/source.h"

namespace tocsin {

Result<std::unique_ptr<Source>> make_binance_decoder(std::unique_ptr<ByteStream> stream,
                                                     const FileSourceOptions& options);
// `stream` is the message file; the book file is opened by options.orderbook_path or its name.
// The decoder of a format that is made of lines, over any stream of them; kInvalidArgument for
// formats that are not.
Result<std::unique_ptr<Source>> make_line_decoder(std::unique_ptr<ByteStream> stream,
                                                  const FileSourceOptions& options);
Result<std::unique_ptr<Source>> make_lobster_decoder(std::unique_ptr<ByteStream> stream,
                                                     const FileSourceOptions& options);
Result<std::unique_ptr<Source>> make_itch_decoder(std::unique_ptr<ByteStream> stream,
                                                  const FileSourceOptions& options);
Result<std::unique_ptr<Source>> make_moldudp64_decoder(std::unique_ptr<ByteStream> stream,
                                                       const FileSourceOptions& options);
// IEX DEEP and TOPS.
Result<std::unique_ptr<Source>> make_iex_decoder(std::unique_ptr<ByteStream> stream,
                                                 const FileSourceOptions& options);
// Cboe PITCH in the sequenced unit header.
Result<std::unique_ptr<Source>> make_pitch_decoder(std::unique_ptr<ByteStream> stream,
                                                   const FileSourceOptions& options);
// CME MDP 3.0; options.schema_path names the SBE schema, options.by_order the kind of its books.
Result<std::unique_ptr<Source>> make_mdp3_decoder(std::unique_ptr<ByteStream> stream,
                                                  const FileSourceOptions& options);
Result<std::unique_ptr<Source>> make_dbn_decoder(std::unique_ptr<ByteStream> stream,
                                                 const FileSourceOptions& options);
Result<std::unique_ptr<Source>> make_szse_snapshot_decoder(std::unique_ptr<ByteStream> stream,
                                                           const FileSourceOptions& options);
// Shanghai level 2 is several files: options.path is their folder, or a zip of them.
Result<std::unique_ptr<Source>> open_sse_l2(const FileSourceOptions& options);
// A folder of segments, written by `tocsin record`.
Result<std::unique_ptr<Source>> open_recording(const FileSourceOptions& options);

// By the map at options.map_path.
Result<std::unique_ptr<Source>> make_mapped_decoder(std::unique_ptr<ByteStream> stream,
                                                    const FileSourceOptions& options);
Result<std::unique_ptr<Source>> make_kraken_decoder(std::unique_ptr<ByteStream> stream,
                                                    const FileSourceOptions& options);

}  // namespace tocsin
