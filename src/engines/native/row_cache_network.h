// A model whose frames meet only late: values that depend on a few neighbouring frames (dense
// layers over each frame, convolutions over time without padding) are the same in all windows that
// hold these frames, so they are computed once. The rest sees all frames at once and is run whole.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "engines/graph/graph.h"
#include "engines/reference/plan.h"

namespace tocsin {

// A value with one row for each `context` consecutive frames: [outer, rows, inner] in memory.
struct CachedValue {
  ValueIndex value = kNoValue;
  std::size_t context = 1;  // frames that a row depends on
  std::size_t rows = 0;     // in a whole window
  std::size_t outer = 1;
  std::size_t inner = 1;
};

struct RowCacheNetwork {
  std::vector<CachedValue> cached;
  GraphPart rest;         // from the cached values to the outputs
  double whole_work = 0;  // multiply-adds of a whole window
  double rest_work = 0;   // of the rest
};

// `facts` are those of one window. kUnimplemented where no product depends on a few frames alone.
Result<RowCacheNetwork> find_row_cache_network(const Graph& graph,
                                               std::span<const ValueFacts> facts);

// Multiply-adds of one node: products, convolutions and recurrent layers; others count nothing.
double multiply_adds(const GraphNode& node, std::span<const ValueFacts> facts);

}  // namespace tocsin
