// What is known of operators by name: which work on each element, on each row, or move nothing. And
// the reading of attributes, for those who look for patterns in graphs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/graph/graph.h"

namespace tocsin {

// Look at one element at a time, their inputs broadcast.
inline constexpr std::array<std::string_view, 32> kElementwiseOperators = {
    "Abs",     "Add",  "Cast",     "Ceil", "Clip",        "Div",      "Dropout",    "Elu",
    "Erf",     "Exp",  "Floor",    "Gelu", "HardSigmoid", "Identity", "LeakyRelu",  "Log",
    "Max",     "Min",  "Mul",      "Neg",  "PRelu",       "Pow",      "Reciprocal", "Relu",
    "Sigmoid", "Sign", "Softplus", "Sqrt", "Sub",         "Sum",      "Tanh",       "Where"};
// Change the shape and the order of whole rows alone.
inline constexpr std::array<std::string_view, 4> kLayoutOperators = {"Reshape", "Squeeze",
                                                                     "Transpose", "Unsqueeze"};
// Work along the last axis, if their attribute says so.
inline constexpr std::array<std::string_view, 3> kAlongLastAxisOperators = {
    "LayerNormalization", "LogSoftmax", "Softmax"};

bool contains(std::span<const std::string_view> names, std::string_view name) noexcept;

// Nothing, an empty list or an empty text where the node has no such attribute of that type.
std::optional<std::int64_t> int_attribute(const GraphNode& node, std::string_view name);
std::vector<std::int64_t> ints_attribute(const GraphNode& node, std::string_view name);
std::string string_attribute(const GraphNode& node, std::string_view name);

}  // namespace tocsin
