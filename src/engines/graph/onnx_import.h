// Reads ONNX files into typed graphs. The input is not trusted: everything is checked against
// limits.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "engines/graph/graph.h"

namespace tocsin {

struct ImportLimits {
  std::size_t file_bytes_max = std::size_t{1} << 30U;
  std::size_t external_bytes_max = std::size_t{1} << 31U;  // of all external tensors together
  std::size_t node_count_max = 200'000;  // of the graph and its subgraphs together
  std::size_t subgraph_depth_max = 8;
  std::size_t rank_max = 8;
};

// Errors name the file and the node, value or initialiser concerned: not a protobuf or cut short
// (kDataLoss); over a limit (kResourceExhausted); inconsistent dims and data, values read before
// they are defined, names defined twice, non-finite initialisers, external data outside the model's
// folder (kFailedPrecondition); element types other than float32, float64, bool and integers of 8
// to 64 bits (kUnimplemented). Inside a model 16-bit floats become float32, and texts int64: each
// text is its number in the order in which the model names them first, in outputs too.
// Initialisers may be masks of 0 and -infinity, and Constant nodes may hold infinities of any kind;
// NaN is refused in both.
Result<Graph> import_onnx_file(const std::string& path, const ImportLimits& limits = {});

// The same from bytes; external data is looked for in `folder` (empty: none is allowed).
Result<Graph> import_onnx(std::span<const std::byte> bytes, const std::string& folder,
                          const ImportLimits& limits = {});

}  // namespace tocsin
