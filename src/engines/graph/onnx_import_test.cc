// Models built in memory, one fault at a time.
#include "engines/graph/onnx_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/data_path.h"

namespace tocsin {
namespace {

using ::testing::HasSubstr;

void add_value_info(onnx::ValueInfoProto* info, const std::string& name,
                    const std::vector<std::int64_t>& shape) {
  info->set_name(name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape();
  for (const std::int64_t size : shape) {
    auto* dimension = type->mutable_shape()->add_dim();
    if (size == kFreeDimension)
      dimension->set_dim_param("batch");
    else
      dimension->set_dim_value(size);
  }
}

onnx::NodeProto* add_node(onnx::ModelProto& model, const std::string& op_type,
                          const std::vector<std::string>& inputs, const std::string& output) {
  onnx::NodeProto* node = model.mutable_graph()->add_node();
  node->set_name(op_type + "_of_" + output);
  node->set_op_type(op_type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

// y[batch, 2] = x[batch, 2] + w[2]
onnx::ModelProto addition() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  add_value_info(model.mutable_graph()->add_input(), "x", {kFreeDimension, 2});
  add_value_info(model.mutable_graph()->add_output(), "y", {kFreeDimension, 2});
  onnx::TensorProto* w = model.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(onnx::TensorProto::FLOAT);
  w->add_dims(2);
  w->add_float_data(1.5F);
  w->add_float_data(-2.5F);
  add_node(model, "Add", {"x", "w"}, "y");
  return model;
}

Result<Graph> import(const onnx::ModelProto& model, const std::string& folder = "",
                     const ImportLimits& limits = {}) {
  const std::string text = model.SerializeAsString();
  return import_onnx(std::as_bytes(std::span(text)), folder, limits);
}

void expect_refused(const onnx::ModelProto& model, ErrorCode code, const std::string& reason) {
  const Result<Graph> graph = import(model);
  ASSERT_FALSE(graph.ok()) << reason;
  EXPECT_EQ(graph.error().code(), code) << graph.error().message();
  EXPECT_THAT(graph.error().message(), HasSubstr(reason));
}

TEST(OnnxImport, ReadsSignatureNodesAndInitialisers) {
  const Result<Graph> graph = import(addition());
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  EXPECT_EQ(graph->opset, 17);
  ASSERT_EQ(graph->signature.inputs.size(), 1U);
  EXPECT_EQ(graph->signature.inputs[0].name, "x");
  EXPECT_EQ(graph->signature.inputs[0].shape, (Shape{kFreeDimension, 2}));
  ASSERT_EQ(graph->nodes.size(), 1U);
  EXPECT_EQ(graph->nodes[0].op_type, "Add");
  EXPECT_EQ(graph->value_names[static_cast<std::size_t>(graph->nodes[0].inputs[1])], "w");
  ASSERT_EQ(graph->initializers.size(), 1U);
  EXPECT_EQ(graph->initializers[0].tensor.values<float>()[1], -2.5F);
}

TEST(OnnxImport, RawAndTypedDataAreTheSame) {
  onnx::ModelProto model = addition();
  onnx::TensorProto* w = model.mutable_graph()->mutable_initializer(0);
  w->clear_float_data();
  const float values[2] = {1.5F, -2.5F};
  w->set_raw_data(values, sizeof(values));
  const Result<Graph> graph = import(model);
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  EXPECT_EQ(graph->initializers[0].tensor.values<float>()[0], 1.5F);
  EXPECT_EQ(graph->initializers[0].tensor.values<float>()[1], -2.5F);
}

TEST(OnnxImport, InitialisersListedAsInputsAreNoInputs) {
  onnx::ModelProto model = addition();
  add_value_info(model.mutable_graph()->add_input(), "w", {2});
  const Result<Graph> graph = import(model);
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  EXPECT_EQ(graph->signature.inputs.size(), 1U);
}

TEST(OnnxImport, NonFiniteInitialiserIsNamedWithItsElement) {
  onnx::ModelProto model = addition();
  model.mutable_graph()->mutable_initializer(0)->set_float_data(
      1, std::numeric_limits<float>::quiet_NaN());
  expect_refused(model, ErrorCode::kFailedPrecondition, "initialiser 'w' has NaN at element 1");
  model.mutable_graph()->mutable_initializer(0)->set_float_data(
      1, -std::numeric_limits<float>::infinity());
  expect_refused(model, ErrorCode::kFailedPrecondition,
                 "initialiser 'w' has an infinity at element 1");
}

TEST(OnnxImport, ConstantsMayBeInfiniteButNotNan) {
  onnx::ModelProto model = addition();
  onnx::NodeProto* node = add_node(model, "Constant", {}, "mask");
  onnx::AttributeProto* value = node->add_attribute();
  value->set_name("value");
  value->set_type(onnx::AttributeProto::TENSOR);
  value->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  value->mutable_t()->add_float_data(-std::numeric_limits<float>::infinity());
  EXPECT_TRUE(import(model).ok());
  value->mutable_t()->set_float_data(0, std::numeric_limits<float>::quiet_NaN());
  expect_refused(model, ErrorCode::kFailedPrecondition,
                 "node 'Constant_of_mask' (Constant) has NaN");
}

TEST(OnnxImport, DataThatDoesNotFitItsDimensionsIsRefused) {
  onnx::ModelProto model = addition();
  onnx::TensorProto* w = model.mutable_graph()->mutable_initializer(0);
  w->set_dims(0, 3);
  expect_refused(model, ErrorCode::kFailedPrecondition, "dims [3] need 3 float32 values");
  w->set_dims(0, -1);
  expect_refused(model, ErrorCode::kFailedPrecondition, "negative or too large");
  w->set_dims(0, std::int64_t{1} << 39U);
  expect_refused(model, ErrorCode::kFailedPrecondition, "need more data than the tensor has");
  w->set_dims(0, 2);
  w->set_raw_data("1234567");
  expect_refused(model, ErrorCode::kFailedPrecondition, "need 8 bytes, but there are 7");
}

TEST(OnnxImport, UnknownElementTypeIsNamed) {
  onnx::ModelProto model = addition();
  model.mutable_graph()->mutable_initializer(0)->set_data_type(onnx::TensorProto::COMPLEX64);
  expect_refused(model, ErrorCode::kUnimplemented, "initialiser 'w': element type COMPLEX64");
}

TEST(OnnxImport, SixteenBitFloatsBecomeFloat32) {
  // 1.5 and -2.5 in both formats.
  const std::map<onnx::TensorProto_DataType, std::array<std::uint16_t, 2>> patterns = {
      {onnx::TensorProto::FLOAT16, {0x3e00, 0xc100}},
      {onnx::TensorProto::BFLOAT16, {0x3fc0, 0xc020}}};
  for (const auto& [type, bits] : patterns) {
    for (const bool is_raw : {false, true}) {
      onnx::ModelProto model = addition();
      onnx::TensorProto* w = model.mutable_graph()->mutable_initializer(0);
      w->clear_float_data();
      w->set_data_type(type);
      if (is_raw)
        w->set_raw_data(bits.data(), sizeof(bits));
      else
        for (const std::uint16_t pattern : bits) w->add_int32_data(pattern);
      const Result<Graph> graph = import(model);
      ASSERT_TRUE(graph.ok()) << graph.error().message();
      EXPECT_EQ(graph->initializers[0].tensor.values<float>()[0], 1.5F);
      EXPECT_EQ(graph->initializers[0].tensor.values<float>()[1], -2.5F);
      w->add_dims(2);
      expect_refused(model, ErrorCode::kFailedPrecondition, "dims [2,2] need");
    }
  }
}

TEST(OnnxImport, SixteenBitFloatsAreNoInputsOrOutputs) {
  for (const bool is_input : {true, false}) {
    onnx::ModelProto model = addition();
    onnx::ValueInfoProto* info = is_input ? model.mutable_graph()->mutable_input(0)
                                          : model.mutable_graph()->mutable_output(0);
    info->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT16);
    expect_refused(model, ErrorCode::kUnimplemented,
                   "element type FLOAT16 is supported inside a model only");
  }
}

TEST(OnnxImport, TextsAreNumberedInTheOrderInWhichTheModelNamesThem) {
  onnx::ModelProto model = addition();
  onnx::TensorProto* classes = model.mutable_graph()->add_initializer();
  classes->set_name("classes");
  classes->set_data_type(onnx::TensorProto::STRING);
  classes->add_dims(3);
  for (const char* text : {"calm", "burst", "calm"}) classes->add_string_data(text);
  onnx::NodeProto* encoder = add_node(model, "LabelEncoder", {"classes"}, "encoded");
  encoder->set_domain("ai.onnx.ml");
  onnx::AttributeProto* keys = encoder->add_attribute();
  keys->set_name("keys_strings");
  keys->set_type(onnx::AttributeProto::STRINGS);
  for (const char* text : {"halt", "burst"}) keys->add_strings(text);
  const Result<Graph> graph = import(model);
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  EXPECT_THAT(graph->initializers[1].tensor.values<std::int64_t>(), testing::ElementsAre(0, 1, 0));
  const Attribute* numbers = graph->nodes[1].find_attribute("keys_strings");
  ASSERT_NE(numbers, nullptr);
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(numbers->value), testing::ElementsAre(2, 1));
  classes->set_dims(0, 4);
  expect_refused(model, ErrorCode::kFailedPrecondition, "dims [4] do not fit its 3 texts");
}

TEST(OnnxImport, CycleIsFound) {
  onnx::ModelProto model = addition();
  model.mutable_graph()->mutable_node(0)->set_input(1, "z");
  add_node(model, "Relu", {"y"}, "z");
  expect_refused(model, ErrorCode::kFailedPrecondition, "node 'Add_of_y' (Add) reads 'z'");
}

TEST(OnnxImport, NodesOutOfOrderAreFound) {
  onnx::ModelProto model = addition();
  add_node(model, "Relu", {"x"}, "late");
  model.mutable_graph()->mutable_node(0)->set_input(0, "late");
  expect_refused(model, ErrorCode::kFailedPrecondition, "reads 'late', which no input");
}

TEST(OnnxImport, NameDefinedTwiceIsFound) {
  onnx::ModelProto model = addition();
  add_node(model, "Relu", {"x"}, "y");
  expect_refused(model, ErrorCode::kFailedPrecondition, "'y' is defined twice");
}

TEST(OnnxImport, OutputThatNothingComputesIsFound) {
  onnx::ModelProto model = addition();
  model.mutable_graph()->mutable_output(0)->set_name("nothing");
  expect_refused(model, ErrorCode::kFailedPrecondition, "output 'nothing' is computed by no node");
}

TEST(OnnxImport, ModelWithoutOpsetIsRefused) {
  onnx::ModelProto model = addition();
  model.clear_opset_import();
  expect_refused(model, ErrorCode::kFailedPrecondition, "names no version");
}

TEST(OnnxImport, LimitsAreNamed) {
  ImportLimits limits;
  limits.node_count_max = 0;
  const Result<Graph> nodes = import(addition(), "", limits);
  ASSERT_FALSE(nodes.ok());
  EXPECT_EQ(nodes.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(nodes.error().message(), HasSubstr("node_count_max"));
  limits = {};
  limits.file_bytes_max = 10;
  const Result<Graph> size = import(addition(), "", limits);
  ASSERT_FALSE(size.ok());
  EXPECT_THAT(size.error().message(), HasSubstr("file_bytes_max"));
}

TEST(OnnxImport, EveryTruncationIsAnErrorOrAWholeModel) {
  const std::string text = addition().SerializeAsString();
  for (std::size_t length = 0; length < text.size(); ++length) {
    const Result<Graph> graph = import_onnx(std::as_bytes(std::span(text).first(length)), "");
    EXPECT_FALSE(graph.ok()) << "cut after " << length << " of " << text.size() << " bytes";
  }
}

TEST(OnnxImport, MissingFileIsNotFound) {
  const Result<Graph> graph = import_onnx_file("no/such/model.onnx");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code(), ErrorCode::kNotFound);
}

// A model whose weights lie in a file of their own.
class ExternalDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("tocsin_external_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "model");
    const float values[4] = {0, 0, 1.5F, -2.5F};
    write(folder_ / "model" / "weights.bin", values, sizeof(values));
    write(folder_ / "outside.bin", values, sizeof(values));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void write(const std::filesystem::path& path, const float* values, std::size_t size) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(size));
  }

  Result<Graph> import_with(const std::string& location, const std::string& offset) const {
    onnx::ModelProto model = addition();
    onnx::TensorProto* w = model.mutable_graph()->mutable_initializer(0);
    w->clear_float_data();
    w->set_data_location(onnx::TensorProto::EXTERNAL);
    auto* entry = w->add_external_data();
    entry->set_key("location");
    entry->set_value(location);
    entry = w->add_external_data();
    entry->set_key("offset");
    entry->set_value(offset);
    return import(model, (folder_ / "model").string());
  }

  void expect_error(const std::string& location, const std::string& offset,
                    const std::string& reason) const {
    const Result<Graph> graph = import_with(location, offset);
    ASSERT_FALSE(graph.ok()) << reason;
    EXPECT_THAT(graph.error().message(), HasSubstr(reason));
  }

  std::filesystem::path folder_;
};

TEST_F(ExternalDataTest, IsReadFromTheModelsFolder) {
  const Result<Graph> graph = import_with("weights.bin", "8");
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  EXPECT_EQ(graph->initializers[0].tensor.values<float>()[0], 1.5F);
}

TEST_F(ExternalDataTest, OutsideTheFolderIsRefused) {
  expect_error("../outside.bin", "0", "outside the model's folder");
  expect_error((folder_ / "outside.bin").string(), "0", "outside the model's folder");
  std::filesystem::create_symlink(folder_ / "outside.bin", folder_ / "model" / "link.bin");
  expect_error("link.bin", "0", "outside the model's folder");
  expect_error("", "0", "outside the model's folder");
}

TEST_F(ExternalDataTest, MustHoldWhatTheDimensionsNeed) {
  expect_error("weights.bin", "12", "too short");
  expect_error("weights.bin", "18446744073709551615", "too short");
  expect_error("weights.bin", "-1", "is not a number");
  expect_error("missing.bin", "0", "is not a file");
}

TEST_F(ExternalDataTest, IsNotAllowedWithoutAFolder) {
  onnx::ModelProto model = addition();
  onnx::TensorProto* w = model.mutable_graph()->mutable_initializer(0);
  w->clear_float_data();
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  expect_refused(model, ErrorCode::kFailedPrecondition, "external");
}

TEST(OnnxImport, PyTorchExportIsReadFromItsFile) {
  const Result<Graph> graph =
      import_onnx_file(tocsin_source_path("tests/data/engines/lstm_2x16.onnx"));
  ASSERT_TRUE(graph.ok()) << graph.error().message();
  EXPECT_EQ(graph->signature.inputs[0].shape, (Shape{kFreeDimension, kFreeDimension, 8}));
}

}  // namespace
}  // namespace tocsin
