// Whether the rows of a batch meet nowhere in a graph, so that a batch may be cut into pieces.
#pragma once

#include <cstdint>
#include <span>

#include "engines/graph/graph.h"
#include "engines/reference/plan.h"

namespace tocsin {

// The facts of one graph, planned for two batch sizes.
struct BatchFacts {
  std::int64_t batch = 0;
  std::span<const ValueFacts> facts;
};

// True if each row of each output is computed from the same row of the inputs alone, and rows are
// the first dimension of both. False also where an operator's way with rows is not known here.
// Inputs whose first dimension is free are taken to be batches. Two sizes show what is constant,
// and yet another constant for another batch.
bool rows_are_apart(const Graph& graph, const BatchFacts& one, const BatchFacts& other);

}  // namespace tocsin
