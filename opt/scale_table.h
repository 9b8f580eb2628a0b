#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lang/expr.h"
#include "lang/named_op.h"

// Private to the passes that move scales of channels into weights.
namespace relay::opt {

// What an operator does to data that are scaled, channel by channel.
enum class Scaling : std::uint8_t {
  Linear,    // f(x * s) = f(x) * s
  Positive,  // the same where s > 0
  Sum,       // of two operands, each of which may be scaled
  Bias,      // the same; the second is a vector along an axis
  Factor,    // a product of two, one of which is scaled
  Product,   // with a weight, which takes up scales of what goes in and of what comes out
};

struct ScalingRow {
  lang::NamedOp op;
  Scaling how;
  std::string_view layout = {};  // the attribute that names the axes of its data
};
// Of the operator that it calls; null where scales do not pass it.
const ScalingRow* scaling_of(const lang::Expr& expr);

// Which axes carry the channels of a product with a weight.
struct ProductAxes {
  std::vector<std::size_t> data, weight_inputs;
  std::vector<std::size_t> result, weight_outputs;
  std::int64_t groups = 1;
};
// Nothing where the layouts do not tell.
std::optional<ProductAxes> product_axes(const lang::Call& call);

}  // namespace relay::opt
