#pragma once

#include <functional>
#include <vector>

#include "lang/expr.h"
#include "opt/channel_scale.h"
#include "opt/pass_program.h"

// Private to the passes that move scales of channels into weights.
namespace relay::opt {

// The scales that a step multiplies its data by, in both readings of its operands; empty for what
// is no product with a scale.
struct ScaledStep {
  lang::Expr data;
  ChannelScale scale;
};
std::vector<ScaledStep> scaled_steps(const lang::Expr& step, const Definitions& definitions);

// Moves the scales of a block, and says whether it has moved one. Every step is bound, the last
// one too. What nobody uses afterwards may stay.
using ScaleMover =
    std::function<bool(lang::Block& block, Definitions& definitions, lang::Program& program)>;
// What a pass runs that moves scales, in the blocks of functions, branches and loops.
std::function<void(PassProgram&, const lang::Attrs&)> moving_scales(ScaleMover mover);

}  // namespace relay::opt
