// A graph as the CUDA plug-in takes it: recurrent layers, attention pooling over them, a head.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/result.h"
#include "engines/cuda/cuda_plugin.h"
#include "engines/engine.h"
#include "engines/graph/graph.h"

namespace tocsin {

class CudaNetwork {
 public:
  // kUnimplemented, with the node, for what the plug-in has no kernels for.
  static Result<std::unique_ptr<CudaNetwork>> make(Graph graph, const SessionOptions& options);
  CudaNetwork(const CudaNetwork&) = delete;
  CudaNetwork& operator=(const CudaNetwork&) = delete;

  // Lives as long as this.
  const cuda::Network& description() const noexcept { return description_; }
  const ModelSignature& signature() const noexcept { return signature_; }
  std::size_t output_count() const noexcept { return head_.back().product.outputs; }
  // Of a whole window's multiply-adds, the share that needs its newest frame.
  double last_step_share(bool carried) const noexcept;

 private:
  friend class CudaNetworkBuilder;
  CudaNetwork() = default;

  cuda::Network description_;
  ModelSignature signature_;
  std::vector<cuda::Layer> layers_;
  std::vector<cuda::RowOperator> scores_;
  std::vector<cuda::RowOperator> head_;
  std::deque<std::vector<float>> values_;  // what the description points to
};

}  // namespace tocsin
