// Operators whose arguments moved between opsets: the old form and the new one must give the same.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engines/reference/float_model.h"
#include "engines/reference/graph_builder.h"
#include "engines/reference/reference_session.h"

namespace tocsin {
namespace {

using Ints = std::vector<std::int64_t>;

// The values of y for x[2, 1, 6] by the formula.
std::vector<float> run(GraphBuilder builder, ValueIndex y, Shape output) {
  const std::size_t count = *checked_element_count(output);
  builder.output(y, std::move(output));
  auto session = ReferenceSession::load(builder.finish(), {});
  EXPECT_TRUE(session.ok()) << session.error().message();
  FloatModel model(std::move(*session), 0);
  std::vector<float> x = formula_input(12);
  std::vector<float> values(count);
  EXPECT_TRUE(model.run(x, values)) << model.session().error().message();
  return values;
}

struct Case {
  std::string op_type;
  std::int64_t old_opset, new_opset;
  std::vector<Attribute> old_attributes;  // in place of the new form's inputs
  std::vector<Ints> new_inputs;
  std::vector<Attribute> both;
  Shape output;
};

TEST(OpsetForms, ArgumentsThatBecameInputsMeanTheSame) {
  const std::vector<Case> cases = {
      {"Squeeze", 11, 13, {{"axes", Ints{1}}}, {{1}}, {}, {2, 6}},
      {"Unsqueeze", 11, 13, {{"axes", Ints{0, -1}}}, {{0, -1}}, {}, {1, 2, 1, 6, 1}},
      {"ReduceSum", 11, 13, {{"axes", Ints{-1}}}, {{-1}}, {{"keepdims", std::int64_t{0}}}, {2, 1}},
      {"ReduceMean", 13, 18, {{"axes", Ints{0, 2}}}, {{0, 2}}, {}, {1, 1, 1}},
      {"ReduceMax", 11, 18, {{"axes", Ints{2}}}, {{2}}, {}, {2, 1, 1}},
      {"ReduceMin", 13, 20, {{"axes", Ints{0}}}, {{0}}, {}, {1, 1, 6}},
      {"Slice",
       9,
       10,
       {{"starts", Ints{1}}, {"ends", Ints{-1}}, {"axes", Ints{2}}},
       {{1}, {-1}, {2}},
       {},
       {2, 1, 4}},
  };
  for (const Case& item : cases) {
    GraphBuilder old_form(item.old_opset);
    std::vector<Attribute> attributes = item.both;
    attributes.insert(attributes.end(), item.old_attributes.begin(), item.old_attributes.end());
    const ValueIndex old_x = old_form.input("x", {2, 1, 6});
    const ValueIndex old_y = old_form.node(item.op_type, {old_x}, attributes);
    GraphBuilder new_form(item.new_opset);
    std::vector<ValueIndex> inputs = {new_form.input("x", {2, 1, 6})};
    for (const Ints& values : item.new_inputs)
      inputs.push_back(new_form.ints("argument_" + std::to_string(inputs.size()), values));
    const ValueIndex new_y = new_form.node(item.op_type, inputs, item.both);
    EXPECT_EQ(run(std::move(old_form), old_y, item.output),
              run(std::move(new_form), new_y, item.output))
        << item.op_type;
  }
}

TEST(OpsetForms, SplitTakesLengthsFromEither) {
  std::vector<std::vector<float>> results;
  for (const std::int64_t opset : {11, 13}) {
    GraphBuilder builder(opset);
    const ValueIndex x = builder.input("x", {2, 1, 6});
    const std::vector<Attribute> axis{{"axis", std::int64_t{2}}};
    std::vector<Attribute> with_lengths = axis;
    with_lengths.push_back({"split", Ints{2, 4}});
    const auto parts = opset < 13
                           ? builder.nodes("Split", {x}, with_lengths, 2)
                           : builder.nodes("Split", {x, builder.ints("split", {2, 4})}, axis, 2);
    results.push_back(run(std::move(builder), parts[1], {2, 1, 4}));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0][0], formula_input(12)[2]);
}

TEST(OpsetForms, ClipTakesBoundsFromEither) {
  std::vector<std::vector<float>> results;
  for (const std::int64_t opset : {7, 12}) {
    GraphBuilder builder(opset);
    const ValueIndex x = builder.input("x", {2, 1, 6});
    const ValueIndex y = opset < 11 ? builder.node("Clip", {x}, {{"min", -0.5F}, {"max", 0.25F}})
                                    : builder.node("Clip", {x, builder.floats("min", {}, {-0.5F}),
                                                            builder.floats("max", {}, {0.25F})});
    results.push_back(run(std::move(builder), y, {2, 1, 6}));
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(OpsetForms, SoftmaxWasOverEverythingFromItsAxisOn) {
  GraphBuilder old_form(12);
  const ValueIndex old_y =
      old_form.node("Softmax", {old_form.input("x", {2, 1, 6})}, {{"axis", std::int64_t{0}}});
  GraphBuilder flat(13);
  const ValueIndex x = flat.input("x", {2, 1, 6});
  const ValueIndex row = flat.node("Reshape", {x, flat.ints("row", {1, 12})});
  const ValueIndex flat_y = flat.node(
      "Reshape",
      {flat.node("Softmax", {row}, {{"axis", std::int64_t{1}}}), flat.ints("back", {2, 1, 6})});
  EXPECT_EQ(run(std::move(old_form), old_y, {2, 1, 6}), run(std::move(flat), flat_y, {2, 1, 6}));
}

}  // namespace
}  // namespace tocsin
