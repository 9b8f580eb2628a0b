#pragma once

#include "models/nnvm/operator_call.h"

// Builders of MXNet's own operators, for its table.
namespace relay::models::nnvm {

// Layers (mxnet_layers.cpp, mxnet_norms.cpp).
void mx_convolution(OperatorCall& call);
void mx_deconvolution(OperatorCall& call);
void mx_fully_connected(OperatorCall& call);
void mx_pooling(OperatorCall& call);
void mx_adaptive_pooling(OperatorCall& call);
void mx_activation(OperatorCall& call);
void mx_leaky_relu(OperatorCall& call);
void mx_upsampling(OperatorCall& call);
void mx_embedding(OperatorCall& call);
void mx_softmax_output(OperatorCall& call);
void mx_softmax_activation(OperatorCall& call);
void mx_softmin(OperatorCall& call);
void mx_output(OperatorCall& call);  // `word`: what is made of the data alone
void mx_hard_sigmoid(OperatorCall& call);
void mx_smooth_l1(OperatorCall& call);
void mx_batch_norm(OperatorCall& call);
void mx_instance_norm(OperatorCall& call);
void mx_layer_norm(OperatorCall& call);
void mx_group_norm(OperatorCall& call);
void mx_l2_normalization(OperatorCall& call);
void mx_lrn(OperatorCall& call);
void mx_norm(OperatorCall& call);
void mx_rnn(OperatorCall& call);  // mxnet_rnn.cpp

// Shapes and places (mxnet_shapes.cpp, mxnet_places.cpp).
void mx_concat(OperatorCall& call);
void mx_stack(OperatorCall& call);
void mx_split(OperatorCall& call);
void mx_split_v2(OperatorCall& call);
void mx_slice(OperatorCall& call);
void mx_slice_axis(OperatorCall& call);
void mx_slice_like(OperatorCall& call);
void mx_crop(OperatorCall& call);
void mx_swap_axis(OperatorCall& call);
void mx_tile(OperatorCall& call);
void mx_repeat(OperatorCall& call);
void mx_reverse(OperatorCall& call);
void mx_pad(OperatorCall& call);
void mx_broadcast_axis(OperatorCall& call);
void mx_depth_space(OperatorCall& call);  // `word`: the operator
void mx_take(OperatorCall& call);
void mx_pick(OperatorCall& call);
void mx_batch_take(OperatorCall& call);
void mx_gather_nd(OperatorCall& call);
void mx_one_hot(OperatorCall& call);
void mx_where(OperatorCall& call);
void mx_topk(OperatorCall& call);
void mx_argsort(OperatorCall& call);
void mx_sort(OperatorCall& call);
void mx_arg_reduce(OperatorCall& call);  // `word`: `argmax` or `argmin`
void mx_sequence_mask(OperatorCall& call);
void mx_sequence_last(OperatorCall& call);
void mx_sequence_reverse(OperatorCall& call);
void mx_dot(OperatorCall& call);
void mx_batch_dot(OperatorCall& call);
void mx_gemm2(OperatorCall& call);
void mx_full(OperatorCall& call);
void mx_arange(OperatorCall& call);

}  // namespace relay::models::nnvm
