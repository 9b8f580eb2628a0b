#pragma once

#include "lang/named_op.h"

// The operators that passes ask for by name. What holds of many operators is a trait
// (lang/op_traits.h), or stands in the table of the pass that needs it.
namespace relay::opt::known {

inline const lang::NamedOp add("add");
inline const lang::NamedOp batch_to_space_nd("nn.batch_to_space_nd");
inline const lang::NamedOp bias_add("nn.bias_add");
inline const lang::NamedOp broadcast_to_like("broadcast_to_like");
inline const lang::NamedOp cast("cast");
inline const lang::NamedOp collapse_sum_like("collapse_sum_like");
inline const lang::NamedOp conv2d("nn.conv2d");
inline const lang::NamedOp dense("nn.dense");
inline const lang::NamedOp dim_of("dim_of");
inline const lang::NamedOp divide("divide");
inline const lang::NamedOp expand_dims("expand_dims");
inline const lang::NamedOp full_like("full_like");
inline const lang::NamedOp matmul("matmul");
inline const lang::NamedOp multiply("multiply");
inline const lang::NamedOp negative("negative");
inline const lang::NamedOp ones("ones");
inline const lang::NamedOp ones_like("ones_like");
inline const lang::NamedOp pad("nn.pad");
inline const lang::NamedOp reshape("reshape");
inline const lang::NamedOp reshape_like("reshape_like");
inline const lang::NamedOp shape_of("shape_of");
inline const lang::NamedOp space_to_batch_nd("nn.space_to_batch_nd");
inline const lang::NamedOp squeeze("squeeze");
inline const lang::NamedOp subtract("subtract");
inline const lang::NamedOp sum("sum");
inline const lang::NamedOp take("take");
inline const lang::NamedOp transpose("transpose");
inline const lang::NamedOp where("where");
inline const lang::NamedOp zeros("zeros");
inline const lang::NamedOp zeros_like("zeros_like");

}  // namespace relay::opt::known
