#pragma once

#include <string>

#include "models/nnvm/operator_call.h"

// Builders of operators that NNVM and MXNet have alike.
namespace relay::models::nnvm {

// `OperatorCall::word` is the expression: `{0}`, `{1}` are the inputs, `{s}` the attribute
// `scalar`, `{dtype}` the dtype of the first input in quotes. Inputs broadcast.
void broadcast(OperatorCall& call);
// The same, with inputs of one shape.
void elementwise(OperatorCall& call);

void add_all(OperatorCall& call);
void itself(OperatorCall& call);
// `word`: `sum` and its like. Of all axes it is a tensor of shape (1), as both frameworks have it.
void reduce(OperatorCall& call);
void reshape(OperatorCall& call);
void transpose(OperatorCall& call);
void expand_dims(OperatorCall& call);
void squeeze(OperatorCall& call);
void cast(OperatorCall& call);
void clip(OperatorCall& call);
void broadcast_to(OperatorCall& call);
void dropout(OperatorCall& call);
void batch_flatten(OperatorCall& call);
// `word`: `nn.softmax` or `nn.log_softmax`.
void softmax(OperatorCall& call);
// `word`: `zeros` or `ones`.
void filled(OperatorCall& call);
void scalar_like(OperatorCall& call);

// A convolution, or its transpose, of the ranks that there are: what both frameworks say of one.
struct Window {
  Attributes::Integers kernel, strides, padding, dilation, output_padding;
  std::int64_t channels = 0;  // of the result
  std::int64_t groups = 1;
  std::string layout, kernel_layout;  // as the operators here have them: `NCHW`, `OIHW`, `IOHW`
  bool is_transposed = false;
  bool has_bias = false;  // input 2
};
void convolve(OperatorCall& call, const Window& window);

// With a bias for the last of so many axes.
std::string biased(const std::string& expression, const std::string& bias, std::size_t rank);
// Integers for places, where they come as floats.
std::string as_places(OperatorCall& call, std::size_t input);
// An extent as text: a number or a name.
std::string extent_text(OperatorCall& call, std::size_t input, std::size_t axis);
// `(a, b)`
std::string tuple_text(const std::vector<std::string>& texts);
// The expression, with a shape (1) where it has none.
void result_of_rank(OperatorCall& call, const std::string& expression);

}  // namespace relay::models::nnvm
