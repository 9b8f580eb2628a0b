#pragma once

#include <cstdint>
#include <vector>

#include "lang/expr.h"
#include "opt/definitions.h"
#include "opt/scale_table.h"

// Private to the passes that move scales of channels into weights.
namespace relay::opt {

// A factor of each channel of a tensor, which is broadcast to it.
class ChannelScale {
 public:
  // `scale` and `data` are the operands of a product. Null scale() where it is none: no floats,
  // extents that are not known, or a product larger than the data.
  ChannelScale(const lang::Expr& scale, const lang::Expr& data, const Definitions& definitions);

  const lang::Expr& scale() const { return scale_; }
  // It is a constant, and each element is a normal number: above zero, or not zero.
  bool is_positive() const { return is_positive_; }
  bool can_divide() const { return can_divide_; }

  // May the scale pass this call of its data? The extents along the axes of a window must be 1.
  bool passes(const lang::Call& call, const ScalingRow& row) const;

  // `other` times the scale, or divided by it, where the two are added to one another; null where
  // that is as large as the data.
  lang::Expr times(const lang::Expr& other) const;
  lang::Expr divided(const lang::Expr& other) const;
  // The same for the bias of a call, a vector.
  lang::Expr bias_times(const lang::Call& call) const;
  lang::Expr bias_divided(const lang::Call& call) const;
  // The weight of a product whose data, or whose result, has this scale, so that it has it no
  // longer; null where the scale is no matter of channels alone.
  lang::Expr weight_of_scaled_data(const lang::Call& call) const;
  lang::Expr weight_of_scaled_result(const lang::Call& call) const;

 private:
  lang::Expr combined(const char* op, const lang::Expr& other) const;
  lang::Expr along(const std::vector<std::size_t>& axes, const lang::Expr& tensor,
                   const std::vector<std::size_t>& tensor_axes) const;
  bool is_one_off(const std::vector<std::size_t>& axes) const;

  lang::Expr scale_;
  std::vector<std::int64_t> data_extents_;
  std::vector<std::int64_t> extents_;  // of the scale, as many as the data has
  bool is_positive_ = false;
  bool can_divide_ = false;
};

}  // namespace relay::opt
