// The explicit list of operators of the reference engine, sorted by name.
#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "engines/reference/attention_fusion.h"
#include "engines/reference/operator_list.h"
#include "engines/reference/plan_functions.h"

namespace tocsin {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMany = 10'000;  // any number, some of which may be left out

constexpr std::array kOperators = std::to_array<OperatorEntry>({
    {"Abs", plan_abs, 1, 1, 1},
    {"Add", plan_add, 2, 2, 1},
    {"And", plan_and, 2, 2, 1},
    {"ArgMax", plan_arg_max, 1, 1, 1},
    {"ArgMin", plan_arg_min, 1, 1, 1},
    {"Attention", plan_attention, 3, 7, 1},
    {"AveragePool", plan_average_pool, 1, 1, 1},
    {"BatchNormalization", plan_batch_normalization, 5, 5, 1},
    {"Cast", plan_cast, 1, 1, 1},
    {"CastLike", plan_cast_like, 2, 2, 1},
    {"Ceil", plan_ceil, 1, 1, 1},
    {"Celu", plan_celu, 1, 1, 1},
    {"Clip", plan_clip, 1, 3, 1},
    {"Concat", plan_concat, 1, kAny, 1},
    {"Constant", plan_constant, 0, 0, 1},
    {"ConstantOfShape", plan_constant_of_shape, 1, 1, 1},
    {"Conv", plan_conv, 2, 3, 1},
    {"ConvInteger", plan_conv_integer, 2, 4, 1},
    {"Cos", plan_cos, 1, 1, 1},
    {"CumSum", plan_cum_sum, 2, 2, 1},
    {"DequantizeLinear", plan_dequantize_linear, 2, 3, 1},
    {"Div", plan_div, 2, 2, 1},
    {"Dropout", plan_dropout, 1, 3, 1},
    {"DynamicQuantizeLinear", plan_dynamic_quantize_linear, 1, 1, 3},
    {"Einsum", plan_einsum, 1, kAny, 1},
    {"Elu", plan_elu, 1, 1, 1},
    {"Equal", plan_equal, 2, 2, 1},
    {"Erf", plan_erf, 1, 1, 1},
    {"Exp", plan_exp, 1, 1, 1},
    {"Expand", plan_expand, 2, 2, 1},
    {"Flatten", plan_flatten, 1, 1, 1},
    {"Floor", plan_floor, 1, 1, 1},
    {"GRU", plan_gru, 3, 6, 2},
    {"Gather", plan_gather, 2, 2, 1},
    {"GatherElements", plan_gather_elements, 2, 2, 1},
    {"GatherND", plan_gather_nd, 2, 2, 1},
    {"Gelu", plan_gelu, 1, 1, 1},
    {"Gemm", plan_gemm, 2, 3, 1},
    {"GlobalAveragePool", plan_global_average_pool, 1, 1, 1},
    {"GlobalMaxPool", plan_global_max_pool, 1, 1, 1},
    {"Greater", plan_greater, 2, 2, 1},
    {"GreaterOrEqual", plan_greater_or_equal, 2, 2, 1},
    {"GroupNormalization", plan_group_normalization, 3, 3, 1},
    {"HardSigmoid", plan_hard_sigmoid, 1, 1, 1},
    {"HardSwish", plan_hard_swish, 1, 1, 1},
    {"Identity", plan_identity, 1, 1, 1},
    {"If", plan_if, 1, 1, kAny},
    {"InstanceNormalization", plan_instance_normalization, 3, 3, 1},
    {"IsInf", plan_is_inf, 1, 1, 1},
    {"IsNaN", plan_is_nan, 1, 1, 1},
    {"LSTM", plan_lstm, 3, 8, 3},
    {"LayerNormalization", plan_layer_normalization, 2, 3, 3},
    {"LeakyRelu", plan_leaky_relu, 1, 1, 1},
    {"Less", plan_less, 2, 2, 1},
    {"LessOrEqual", plan_less_or_equal, 2, 2, 1},
    {"Log", plan_log, 1, 1, 1},
    {"LogSoftmax", plan_log_softmax, 1, 1, 1},
    {"Loop", plan_loop, 0, kMany, kAny},
    {"LpNormalization", plan_lp_normalization, 1, 1, 1},
    {"LpPool", plan_lp_pool, 1, 1, 1},
    {"MatMul", plan_matmul, 2, 2, 1},
    {"MatMulInteger", plan_matmul_integer, 2, 4, 1},
    {"Max", plan_max, 1, kAny, 1},
    {"MaxPool", plan_max_pool, 1, 1, 2},
    {"Mean", plan_mean, 1, kAny, 1},
    {"Min", plan_min, 1, kAny, 1},
    {"Mish", plan_mish, 1, 1, 1},
    {"Mod", plan_mod, 2, 2, 1},
    {"Mul", plan_mul, 2, 2, 1},
    {"Neg", plan_neg, 1, 1, 1},
    {"NonZero", plan_nonzero, 1, 1, 1},
    {"Not", plan_not, 1, 1, 1},
    {"OneHot", plan_one_hot, 3, 3, 1},
    {"Or", plan_or, 2, 2, 1},
    {"PRelu", plan_prelu, 2, 2, 1},
    {"Pad", plan_pad, 1, 4, 1},
    {"Pow", plan_pow, 2, 2, 1},
    {"QLinearConv", plan_qlinear_conv, 8, 9, 1},
    {"QLinearMatMul", plan_qlinear_matmul, 8, 8, 1},
    {"QuantizeLinear", plan_quantize_linear, 2, 3, 1},
    {"RMSNormalization", plan_rms_normalization, 2, 2, 1},
    {"RNN", plan_rnn, 3, 6, 2},
    {"Range", plan_range, 3, 3, 1},
    {"Reciprocal", plan_reciprocal, 1, 1, 1},
    {"ReduceL1", plan_reduce_l1, 1, 2, 1},
    {"ReduceL2", plan_reduce_l2, 1, 2, 1},
    {"ReduceLogSum", plan_reduce_log_sum, 1, 2, 1},
    {"ReduceLogSumExp", plan_reduce_log_sum_exp, 1, 2, 1},
    {"ReduceMax", plan_reduce_max, 1, 2, 1},
    {"ReduceMean", plan_reduce_mean, 1, 2, 1},
    {"ReduceMin", plan_reduce_min, 1, 2, 1},
    {"ReduceProd", plan_reduce_prod, 1, 2, 1},
    {"ReduceSum", plan_reduce_sum, 1, 2, 1},
    {"ReduceSumSquare", plan_reduce_sum_square, 1, 2, 1},
    {"Relu", plan_relu, 1, 1, 1},
    {"Reshape", plan_reshape, 2, 2, 1},
    {"Round", plan_round, 1, 1, 1},
    {"Scan", plan_scan, 1, kAny, kAny},
    {"Scatter", plan_scatter, 3, 3, 1},
    {"ScatterElements", plan_scatter_elements, 3, 3, 1},
    {"ScatterND", plan_scatter_nd, 3, 3, 1},
    {"Selu", plan_selu, 1, 1, 1},
    {"Shape", plan_shape, 1, 1, 1},
    {"Shrink", plan_shrink, 1, 1, 1},
    {"Sigmoid", plan_sigmoid, 1, 1, 1},
    {"Sign", plan_sign, 1, 1, 1},
    {"Sin", plan_sin, 1, 1, 1},
    {"Size", plan_size, 1, 1, 1},
    {"Slice", plan_slice, 1, 5, 1},
    {"Softmax", plan_softmax, 1, 1, 1},
    {"Softplus", plan_softplus, 1, 1, 1},
    {"Softsign", plan_softsign, 1, 1, 1},
    {"Split", plan_split, 1, 2, kAny},
    {"Sqrt", plan_sqrt, 1, 1, 1},
    {"Squeeze", plan_squeeze, 1, 2, 1},
    {"Sub", plan_sub, 2, 2, 1},
    {"Sum", plan_sum, 1, kAny, 1},
    {"Swish", plan_swish, 1, 1, 1},
    {"Tanh", plan_tanh, 1, 1, 1},
    {"ThresholdedRelu", plan_thresholded_relu, 1, 1, 1},
    {"Tile", plan_tile, 2, 2, 1},
    {"TopK", plan_top_k, 1, 2, 2},
    {"Transpose", plan_transpose, 1, 1, 1},
    {"Trilu", plan_trilu, 1, 2, 1},
    {"Unsqueeze", plan_unsqueeze, 1, 2, 1},
    {"Where", plan_where, 3, 3, 1},
    {"Xor", plan_xor, 2, 2, 1},
});

constexpr std::array kMlOperators = std::to_array<OperatorEntry>({
    {"ArrayFeatureExtractor", plan_array_feature_extractor, 2, 2, 1},
    {"Binarizer", plan_binarizer, 1, 1, 1},
    {"Imputer", plan_imputer, 1, 1, 1},
    {"LabelEncoder", plan_label_encoder, 1, 1, 1},
    {"LinearClassifier", plan_linear_classifier, 1, 1, 2},
    {"LinearRegressor", plan_linear_regressor, 1, 1, 1},
    {"Normalizer", plan_normalizer, 1, 1, 1},
    {"Scaler", plan_scaler, 1, 1, 1},
    {"TreeEnsembleClassifier", plan_tree_ensemble_classifier, 1, 1, 2},
    {"TreeEnsembleRegressor", plan_tree_ensemble_regressor, 1, 1, 1},
    {"ZipMap", plan_zip_map, 1, 1, 1},
});

constexpr bool by_name(const OperatorEntry& a, const OperatorEntry& b) { return a.name < b.name; }
static_assert(std::is_sorted(kOperators.begin(), kOperators.end(), by_name));
static_assert(std::is_sorted(kMlOperators.begin(), kMlOperators.end(), by_name));

const OperatorEntry* find_in(std::span<const OperatorEntry> entries, std::string_view op_type) {
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), op_type,
      [](const OperatorEntry& entry, std::string_view name) { return entry.name < name; });
  return found != entries.end() && found->name == op_type ? &*found : nullptr;
}

}  // namespace

const OperatorEntry* find_operator(std::string_view domain, std::string_view op_type) noexcept {
  static constexpr OperatorEntry kAttentionPool{"AttentionPool", plan_attention_pool, 2, 2, 1};
  if (domain == kOwnDomain) return op_type == kAttentionPool.name ? &kAttentionPool : nullptr;
  return find_in(operators_of(domain), op_type);
}

std::span<const OperatorEntry> operators_of(std::string_view domain) noexcept {
  if (domain.empty()) return kOperators;
  if (domain == "ai.onnx.ml") return kMlOperators;
  return {};
}

}  // namespace tocsin
