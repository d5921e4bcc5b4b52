// ONNX's node tests: a model, its inputs and what should come of them.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/graph/tensor.h"

namespace tocsin {

struct NodeTestCase {
  std::string name;
  std::string operator_name;  // "(several)" if the model has more than one node
  onnx::ModelProto model;
  std::vector<onnx::TensorProto> inputs;
  std::vector<onnx::TensorProto> outputs;
  bool has_other_values = false;  // sequences, optionals
};

// Reads all cases of the archive, in the order of their names.
Result<std::vector<NodeTestCase>> read_node_tests(const std::string& archive_path);

// The model with the dimensions of the case's data, and the inputs from `constants_from` on as
// initialisers, as weights are in a real model.
onnx::ModelProto bound_model(const NodeTestCase& test, std::size_t constants_from);

Result<std::vector<Tensor>> read_tensors(const std::vector<onnx::TensorProto>& protos);

// Nothing if they agree: floats within 1e-5 of the value and 2e-6 besides, all else exactly.
std::optional<std::string> difference(const Tensor& actual, const Tensor& expected);

}  // namespace tocsin
