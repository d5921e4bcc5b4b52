// A sliding-window model taken apart: what depends on one frame alone, the recurrent layers that
// carry it from step to step, and the tail that sees their last states. Only such models can be
// worked ahead.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engines/graph/graph.h"
#include "engines/reference/plan.h"

namespace tocsin {

inline constexpr int kFrames = -1;  // in the place of a layer: the model's input

// Rows, one a time step: the output of a layer (or the frames), changed by operators that look at
// one step at a time.
struct RowSource {
  int layer = kFrames;
  // From the layer's output to the rows; nothing if they are the same.
  std::optional<GraphPart> program;
};

// An LSTM or GRU node and where its input comes from. Layers stand in the order of the graph.
struct NetworkLayer {
  std::size_t node = 0;
  RowSource source;
};

struct NetworkPooling {
  RowSource scores;
  RowSource values;
};

// What the tail reads.
struct TailInput {
  enum class Kind { kHidden, kCell, kRows, kPooled };
  Kind kind = Kind::kHidden;
  std::size_t index = 0;  // of the layer, or of the pooling
  RowSource rows;         // of kRows: their last step
};

struct WindowNetwork {
  std::vector<NetworkLayer> layers;
  std::vector<NetworkPooling> poolings;
  std::vector<TailInput> tail_inputs;
  GraphPart tail;  // inputs in the order of tail_inputs, outputs as the graph's
};

// A graph with one input, planned for one window [1, steps, features].
struct PreparedWindow {
  PreparedGraph graph;
  std::vector<ValueFacts> facts;
};
// Prepares the graph, with attention pooling as a node of its own.
Result<PreparedWindow> prepare_window(Graph graph, const SessionOptions& options);

// The inputs of a node as planning sees them.
NodeInputs planned_inputs(const GraphNode& node, const std::vector<ValueFacts>& facts);

// `facts` are those of one window. kUnimplemented names the node that needs all frames at once.
Result<WindowNetwork> find_window_network(const Graph& graph, std::span<const ValueFacts> facts);

}  // namespace tocsin
