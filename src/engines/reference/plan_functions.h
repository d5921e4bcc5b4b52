// The plan function of each operator; operator_table.cc lists them by name. Definitions of what
// they compute, where ONNX leaves an order open, are in README.md.
#pragma once

#include "engines/reference/operator.h"

namespace tocsin {

// binary_operators.cc: NumPy broadcasting; float32, float64, int64, int32 (arithmetic, comparison).
Result<PlannedNode> plan_add(const NodeContext& context);
Result<PlannedNode> plan_sub(const NodeContext& context);
Result<PlannedNode> plan_mul(const NodeContext& context);
Result<PlannedNode> plan_div(const NodeContext& context);
Result<PlannedNode> plan_mod(const NodeContext& context);
Result<PlannedNode> plan_pow(const NodeContext& context);
Result<PlannedNode> plan_equal(const NodeContext& context);
Result<PlannedNode> plan_less(const NodeContext& context);
Result<PlannedNode> plan_less_or_equal(const NodeContext& context);
Result<PlannedNode> plan_greater(const NodeContext& context);
Result<PlannedNode> plan_greater_or_equal(const NodeContext& context);
Result<PlannedNode> plan_and(const NodeContext& context);
Result<PlannedNode> plan_or(const NodeContext& context);
Result<PlannedNode> plan_xor(const NodeContext& context);
Result<PlannedNode> plan_prelu(const NodeContext& context);
Result<PlannedNode> plan_where(const NodeContext& context);
Result<PlannedNode> plan_expand(const NodeContext& context);
// Any number of inputs, taken pair by pair from the left.
Result<PlannedNode> plan_min(const NodeContext& context);
Result<PlannedNode> plan_max(const NodeContext& context);
Result<PlannedNode> plan_sum(const NodeContext& context);
Result<PlannedNode> plan_mean(const NodeContext& context);

// unary_operators.cc
Result<PlannedNode> plan_abs(const NodeContext& context);
Result<PlannedNode> plan_celu(const NodeContext& context);
Result<PlannedNode> plan_ceil(const NodeContext& context);
Result<PlannedNode> plan_clip(const NodeContext& context);
Result<PlannedNode> plan_cos(const NodeContext& context);
Result<PlannedNode> plan_elu(const NodeContext& context);
Result<PlannedNode> plan_erf(const NodeContext& context);
Result<PlannedNode> plan_exp(const NodeContext& context);
Result<PlannedNode> plan_floor(const NodeContext& context);
Result<PlannedNode> plan_gelu(const NodeContext& context);
Result<PlannedNode> plan_hard_sigmoid(const NodeContext& context);
Result<PlannedNode> plan_hard_swish(const NodeContext& context);
Result<PlannedNode> plan_is_inf(const NodeContext& context);
Result<PlannedNode> plan_is_nan(const NodeContext& context);
Result<PlannedNode> plan_leaky_relu(const NodeContext& context);
Result<PlannedNode> plan_log(const NodeContext& context);
Result<PlannedNode> plan_mish(const NodeContext& context);
Result<PlannedNode> plan_neg(const NodeContext& context);
Result<PlannedNode> plan_not(const NodeContext& context);
Result<PlannedNode> plan_reciprocal(const NodeContext& context);
Result<PlannedNode> plan_relu(const NodeContext& context);
Result<PlannedNode> plan_round(const NodeContext& context);
Result<PlannedNode> plan_selu(const NodeContext& context);
Result<PlannedNode> plan_shrink(const NodeContext& context);
Result<PlannedNode> plan_sigmoid(const NodeContext& context);
Result<PlannedNode> plan_sign(const NodeContext& context);
Result<PlannedNode> plan_sin(const NodeContext& context);
Result<PlannedNode> plan_softplus(const NodeContext& context);
Result<PlannedNode> plan_softsign(const NodeContext& context);
Result<PlannedNode> plan_sqrt(const NodeContext& context);
Result<PlannedNode> plan_swish(const NodeContext& context);
Result<PlannedNode> plan_tanh(const NodeContext& context);
Result<PlannedNode> plan_thresholded_relu(const NodeContext& context);

// matrix_operators.cc, einsum_operator.cc
Result<PlannedNode> plan_einsum(const NodeContext& context);
Result<PlannedNode> plan_gemm(const NodeContext& context);
Result<PlannedNode> plan_matmul(const NodeContext& context);

// lstm_operator.cc, gru_operator.cc
Result<PlannedNode> plan_lstm(const NodeContext& context);
Result<PlannedNode> plan_gru(const NodeContext& context);
Result<PlannedNode> plan_rnn(const NodeContext& context);

// scaled_attention_operator.cc; attention_operator.cc: AttentionPool of our own domain
Result<PlannedNode> plan_attention(const NodeContext& context);
Result<PlannedNode> plan_attention_pool(const NodeContext& context);

// normalisation_operators.cc
Result<PlannedNode> plan_batch_normalization(const NodeContext& context);
Result<PlannedNode> plan_layer_normalization(const NodeContext& context);
Result<PlannedNode> plan_log_softmax(const NodeContext& context);
Result<PlannedNode> plan_softmax(const NodeContext& context);

// group_normalisation_operators.cc
Result<PlannedNode> plan_group_normalization(const NodeContext& context);
Result<PlannedNode> plan_instance_normalization(const NodeContext& context);
Result<PlannedNode> plan_lp_normalization(const NodeContext& context);
Result<PlannedNode> plan_rms_normalization(const NodeContext& context);

// arg_operators.cc: the place of the largest or smallest value; float32.
Result<PlannedNode> plan_arg_max(const NodeContext& context);
Result<PlannedNode> plan_arg_min(const NodeContext& context);

// reduction_operators.cc
Result<PlannedNode> plan_reduce_l1(const NodeContext& context);
Result<PlannedNode> plan_reduce_l2(const NodeContext& context);
Result<PlannedNode> plan_reduce_log_sum(const NodeContext& context);
Result<PlannedNode> plan_reduce_log_sum_exp(const NodeContext& context);
Result<PlannedNode> plan_reduce_max(const NodeContext& context);
Result<PlannedNode> plan_reduce_mean(const NodeContext& context);
Result<PlannedNode> plan_reduce_min(const NodeContext& context);
Result<PlannedNode> plan_reduce_prod(const NodeContext& context);
Result<PlannedNode> plan_reduce_sum(const NodeContext& context);
Result<PlannedNode> plan_reduce_sum_square(const NodeContext& context);
Result<PlannedNode> plan_global_average_pool(const NodeContext& context);
Result<PlannedNode> plan_global_max_pool(const NodeContext& context);

// shape_operators.cc: no arithmetic on values.
Result<PlannedNode> plan_constant(const NodeContext& context);
Result<PlannedNode> plan_constant_of_shape(const NodeContext& context);
Result<PlannedNode> plan_dropout(const NodeContext& context);
Result<PlannedNode> plan_flatten(const NodeContext& context);
Result<PlannedNode> plan_identity(const NodeContext& context);
Result<PlannedNode> plan_reshape(const NodeContext& context);
Result<PlannedNode> plan_shape(const NodeContext& context);
Result<PlannedNode> plan_size(const NodeContext& context);
Result<PlannedNode> plan_squeeze(const NodeContext& context);
Result<PlannedNode> plan_unsqueeze(const NodeContext& context);

// quantize_operators.cc, integer_matmul.cc, integer_conv.cc: exact integer sums.
Result<PlannedNode> plan_conv_integer(const NodeContext& context);
Result<PlannedNode> plan_dequantize_linear(const NodeContext& context);
Result<PlannedNode> plan_dynamic_quantize_linear(const NodeContext& context);
Result<PlannedNode> plan_matmul_integer(const NodeContext& context);
Result<PlannedNode> plan_qlinear_conv(const NodeContext& context);
Result<PlannedNode> plan_qlinear_matmul(const NodeContext& context);
Result<PlannedNode> plan_quantize_linear(const NodeContext& context);

// if_operator.cc, loop_operator.cc, scan_operator.cc: operators with subgraphs.
Result<PlannedNode> plan_if(const NodeContext& context);
Result<PlannedNode> plan_loop(const NodeContext& context);
Result<PlannedNode> plan_scan(const NodeContext& context);

// ml_feature_operators.cc, ml_linear_operators.cc, tree_operators.cc: ai.onnx.ml.
Result<PlannedNode> plan_array_feature_extractor(const NodeContext& context);
Result<PlannedNode> plan_binarizer(const NodeContext& context);
Result<PlannedNode> plan_imputer(const NodeContext& context);
Result<PlannedNode> plan_label_encoder(const NodeContext& context);
Result<PlannedNode> plan_linear_classifier(const NodeContext& context);
Result<PlannedNode> plan_linear_regressor(const NodeContext& context);
Result<PlannedNode> plan_normalizer(const NodeContext& context);
Result<PlannedNode> plan_scaler(const NodeContext& context);
Result<PlannedNode> plan_zip_map(const NodeContext& context);
Result<PlannedNode> plan_tree_ensemble_classifier(const NodeContext& context);
Result<PlannedNode> plan_tree_ensemble_regressor(const NodeContext& context);

// cast_operator.cc, pad_operator.cc
Result<PlannedNode> plan_cast(const NodeContext& context);
Result<PlannedNode> plan_cast_like(const NodeContext& context);
Result<PlannedNode> plan_pad(const NodeContext& context);

// movement_operators.cc, slice_operator.cc
Result<PlannedNode> plan_concat(const NodeContext& context);
Result<PlannedNode> plan_gather(const NodeContext& context);
Result<PlannedNode> plan_split(const NodeContext& context);
Result<PlannedNode> plan_transpose(const NodeContext& context);
Result<PlannedNode> plan_slice(const NodeContext& context);

// gather_scatter_operators.cc, generator_operators.cc, cumulative_operators.cc
Result<PlannedNode> plan_gather_elements(const NodeContext& context);
Result<PlannedNode> plan_gather_nd(const NodeContext& context);
Result<PlannedNode> plan_scatter(const NodeContext& context);
Result<PlannedNode> plan_scatter_elements(const NodeContext& context);
Result<PlannedNode> plan_scatter_nd(const NodeContext& context);
Result<PlannedNode> plan_nonzero(const NodeContext& context);
Result<PlannedNode> plan_one_hot(const NodeContext& context);
Result<PlannedNode> plan_range(const NodeContext& context);
Result<PlannedNode> plan_tile(const NodeContext& context);
Result<PlannedNode> plan_trilu(const NodeContext& context);
Result<PlannedNode> plan_cum_sum(const NodeContext& context);
Result<PlannedNode> plan_top_k(const NodeContext& context);

// convolution_operator.cc, pooling_operators.cc
Result<PlannedNode> plan_conv(const NodeContext& context);
Result<PlannedNode> plan_average_pool(const NodeContext& context);
Result<PlannedNode> plan_lp_pool(const NodeContext& context);
Result<PlannedNode> plan_max_pool(const NodeContext& context);

}  // namespace tocsin
