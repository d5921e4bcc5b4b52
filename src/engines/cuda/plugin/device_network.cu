// Upload of a network, and chains of row operators.
#include "engines/cuda/plugin/device_network.cuh"

#include <algorithm>

namespace tocsin::cuda {
namespace {

Status upload_operator(const RowOperator& from, DeviceMemory& memory, DeviceOperator* to) {
  to->activation = from.activation;
  TOCSIN_CUDA_RETURN_IF_NOT_OK(upload(memory, from.product, &to->product));
  if (from.bias != nullptr)
    TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.upload(from.bias, from.product.outputs, &to->bias));
  if (from.added != nullptr)
    TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.upload(from.added, from.product.outputs, &to->added));
  return {};
}

Status upload_layer(const Layer& from, DeviceMemory& memory, DeviceLayer* to) {
  to->cell = from.cell;
  to->units = static_cast<int>(from.units);
  to->clip = from.clip;
  TOCSIN_CUDA_RETURN_IF_NOT_OK(upload(memory, from.input, &to->input));
  TOCSIN_CUDA_RETURN_IF_NOT_OK(upload(memory, from.recurrent, &to->recurrent));
  const auto width = static_cast<std::size_t>(to->width());
  TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.upload(from.bias, width, &to->bias));
  if (from.recurrent_bias != nullptr)
    TOCSIN_CUDA_RETURN_IF_NOT_OK(memory.upload(from.recurrent_bias, width, &to->recurrent_bias));
  return {};
}

}  // namespace

Status DeviceNetwork::load(const Network& network, DeviceMemory& memory, DeviceNetwork* out) {
  out->steps = static_cast<int>(network.steps);
  out->features = static_cast<int>(network.features);
  for (std::uint32_t l = 0; l < network.layer_count; ++l) {
    out->layers.emplace_back();
    TOCSIN_CUDA_RETURN_IF_NOT_OK(upload_layer(network.layers[l], memory, &out->layers.back()));
  }
  for (std::uint32_t i = 0; i < network.score_operator_count; ++i) {
    out->scores.emplace_back();
    TOCSIN_CUDA_RETURN_IF_NOT_OK(upload_operator(network.scores[i], memory, &out->scores.back()));
  }
  for (std::uint32_t i = 0; i < network.head_operator_count; ++i) {
    out->head.emplace_back();
    TOCSIN_CUDA_RETURN_IF_NOT_OK(upload_operator(network.head[i], memory, &out->head.back()));
  }
  out->weight_bytes = memory.size_bytes();
  return {};
}

int DeviceNetwork::widest_operator() const {
  int widest = 1;
  for (const auto* chain : {&scores, &head})
    for (const DeviceOperator& op : *chain) widest = std::max(widest, op.product.outputs);
  return widest;
}

Status use_device(int device) {
  int count = 0;
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaGetDeviceCount(&count));
  if (device < 0 || device >= count)
    return failed(StatusCode::kNoDevice, "there is no GPU %d: %d found", device, count);
  TOCSIN_CUDA_RETURN_IF_FAILED(cudaSetDevice(device));
  return {};
}

Status launch_chain(const ChainCall& call, cudaStream_t stream) {
  const std::vector<DeviceOperator>& operators = *call.operators;
  DenseCall dense;
  dense.row_count = call.row_count;
  dense.x = call.x;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const DeviceOperator& op = operators[i];
    const bool is_last = i + 1 == operators.size();
    const bool is_softmax = op.activation == Activation::kSoftmax;
    dense.matrix = op.product;
    dense.bias = op.bias;
    dense.added = op.added;
    dense.activation = is_softmax ? Activation::kNone : op.activation;
    dense.y = is_last ? call.y : call.work + i % 2 * call.work_stride;
    dense.is_output = is_last && call.is_output && !is_softmax;
    TOCSIN_CUDA_RETURN_IF_NOT_OK(launch_dense(dense, stream));
    if (is_softmax)
      TOCSIN_CUDA_RETURN_IF_NOT_OK(
          launch_softmax({dense.y, call.row_count, op.product.outputs}, stream));
    dense.x = {dense.y, static_cast<std::size_t>(op.product.outputs)};
  }
  return {};
}

}  // namespace tocsin::cuda
