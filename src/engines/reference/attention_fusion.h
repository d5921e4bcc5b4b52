// Finds attention pooling in a graph, spelled out by exporters as softmax, product and sum over
// time, and puts one node in its place: "AttentionPool" of the domain "tocsin". Its order of
// operations needs one step at a time, so that a window can be pooled as its frames arrive.
#pragma once

#include <optional>
#include <span>

#include "engines/graph/graph.h"
#include "engines/reference/plan.h"

namespace tocsin {

inline constexpr std::string_view kOwnDomain = "tocsin";

// `facts` are those of the graph's values for any batch of one window. Nothing if no pattern is
// there. Recognised: scores s [b, t, 1] (or [b, t], [b, 1, t]) and values v [b, t, n] in
//   ReduceSum(Softmax(s, t) * v, t)   and   MatMul(Softmax(s, t) as [b, 1, t], v).
std::optional<Graph> fuse_attention(const Graph& graph, std::span<const ValueFacts> facts);

}  // namespace tocsin
