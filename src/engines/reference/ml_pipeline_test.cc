// Pipelines as skl2onnx exports them, with answers worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "engines/graph/onnx_import.h"
#include "engines/reference/reference_session.h"

namespace tocsin {
namespace {

using ::testing::HasSubstr;

onnx::NodeProto* add_node(onnx::ModelProto& model, const std::string& op_type,
                          const std::string& input, const std::vector<std::string>& outputs) {
  onnx::NodeProto* node = model.mutable_graph()->add_node();
  node->set_op_type(op_type);
  node->set_domain("ai.onnx.ml");
  node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return node;
}

void set_floats(onnx::NodeProto* node, const std::string& name, const std::vector<float>& values) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::FLOATS);
  for (const float value : values) attribute->add_floats(value);
}

void set_labels(onnx::NodeProto* node, const std::string& name) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  attribute->add_ints(10);
  attribute->add_ints(20);
}

void set_string(onnx::NodeProto* node, const std::string& name, const std::string& value) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(value);
}

void set_tensor_type(onnx::ValueInfoProto* info, const std::string& name, int type,
                     std::int64_t columns) {
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape()->add_dim()->set_dim_param("N");
  if (columns > 0) tensor->mutable_shape()->add_dim()->set_dim_value(columns);
}

// Scaler, logistic regression of two classes, L1, and a map from label to probability.
onnx::ModelProto pipeline(const std::vector<float>& offset = {1, 2}) {
  onnx::ModelProto model;
  auto* opset = model.add_opset_import();
  opset->set_domain("ai.onnx.ml");
  opset->set_version(1);
  onnx::NodeProto* scaler = add_node(model, "Scaler", "x", {"scaled"});
  set_floats(scaler, "offset", offset);
  set_floats(scaler, "scale", {2, 0.5F});
  onnx::NodeProto* classifier =
      add_node(model, "LinearClassifier", "scaled", {"label", "probabilities"});
  set_floats(classifier, "coefficients", {-1, 0.5F, 1, -0.5F});
  set_floats(classifier, "intercepts", {0, 0});
  set_labels(classifier, "classlabels_ints");
  set_string(classifier, "post_transform", "LOGISTIC");
  set_string(add_node(model, "Normalizer", "probabilities", {"normal"}), "norm", "L1");
  set_labels(add_node(model, "ZipMap", "normal", {"map"}), "classlabels_int64s");
  set_tensor_type(model.mutable_graph()->add_input(), "x", onnx::TensorProto::FLOAT, 2);
  set_tensor_type(model.mutable_graph()->add_output(), "label", onnx::TensorProto::INT64, 0);
  onnx::ValueInfoProto* map = model.mutable_graph()->add_output();
  map->set_name("map");
  map->mutable_type()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_map_type()
      ->set_key_type(onnx::TensorProto::INT64);
  return model;
}

Result<std::unique_ptr<ReferenceSession>> load(const onnx::ModelProto& model) {
  const std::string text = model.SerializeAsString();
  TOCSIN_ASSIGN_OR_RETURN(Graph graph, import_onnx(std::as_bytes(std::span(text)), ""));
  SessionOptions options;
  options.batch_max = 2;
  return ReferenceSession::load(std::move(graph), options);
}

TEST(MlPipeline, GivesLabelsAndAMatrixOfProbabilities) {
  auto session = load(pipeline());
  ASSERT_TRUE(session.ok()) << session.error().message();
  ASSERT_EQ((*session)->signature().outputs[1].shape, (Shape{kFreeDimension, 2}));
  // (x - 1) 2, (x - 2) / 2 and -+x0 +-x1 / 2: scores -+1.5 in the first row, 0 in the second.
  std::vector<float> x = {2, 4, 1, 2};
  std::vector<std::int64_t> labels(2);
  std::vector<float> probabilities(4);
  const Shape matrix{2, 2};
  const Shape vector{2};
  const TensorView input{DataType::kFloat32, matrix, x.data(), 16};
  const TensorView outputs[2] = {{DataType::kInt64, vector, labels.data(), 16},
                                 {DataType::kFloat32, matrix, probabilities.data(), 16}};
  ASSERT_TRUE((*session)->run({&input, 1}, outputs)) << (*session)->error().message();
  EXPECT_EQ(labels, (std::vector<std::int64_t>{20, 10}));
  EXPECT_NEAR(probabilities[0], 0.18242552F, 1e-7);
  EXPECT_NEAR(probabilities[1], 0.81757448F, 1e-7);
  EXPECT_EQ(probabilities[2], 0.5F);
  EXPECT_EQ(probabilities[3], 0.5F);
}

TEST(MlPipeline, ParametersThatDoNotFitTheFeaturesAreNamed) {
  const auto session = load(pipeline({1, 2, 3}));
  ASSERT_FALSE(session.ok());
  EXPECT_THAT(session.error().message(), HasSubstr("(ai.onnx.ml.Scaler)"));
  EXPECT_THAT(session.error().message(), HasSubstr("offset has 3 values for 2 features"));
}

}  // namespace
}  // namespace tocsin
