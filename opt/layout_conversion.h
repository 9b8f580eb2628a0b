#pragma once

#include <optional>
#include <string>

#include "lang/expr.h"
#include "opt/pass_program.h"

// Private to the passes that change layouts.
namespace relay::opt {

struct WantedLayout {
  std::string data;    // of convolutions, `NHWC` or `NCHW4c`
  std::string kernel;  // `default`: the one that is usual with it
};
// Throws Failure for what is no layout of a convolution over two axes.
void check_layout(const WantedLayout& wanted);
// Gives each convolution over two axes the layout that is wanted, where its extents allow it, and
// lets operators behind it take the same. The result need not be in A-normal form.
lang::Expr with_layout(const lang::Expr& fn, const WantedLayout& wanted);
// What a pass runs that converts layouts.
void convert_layout(PassProgram& program, const WantedLayout& wanted);

}  // namespace relay::opt
