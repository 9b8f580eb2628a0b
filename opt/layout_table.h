#pragma once

#include <cstdint>
#include <string_view>

#include "lang/expr.h"
#include "lang/named_op.h"

// Private to the passes that change layouts.
namespace relay::opt {

// What an operator does with data whose axes stand in another order, or in blocks.
enum class LayoutUse : std::uint8_t {
  Convolution,  // wants one, and has attributes that say which it has
  Window,       // takes any, and has the attribute `layout`
  Elements,     // does the same to each element
  Broadcast,    // of two operands
  Axis,         // has an attribute that is a place in the layout
  Bias,         // the same; its second operand lies along that
  Padding,      // has an attribute with a pair for each axis
  Parts,        // takes a tuple of parts along an axis
};
struct LayoutRow {
  lang::NamedOp op;
  LayoutUse use;
  std::string_view attr = {};  // the layout, or the axis
};
// Of the operator that it calls; null where layouts do not pass it.
const LayoutRow* layout_use_of(const lang::Expr& expr);

}  // namespace relay::opt
