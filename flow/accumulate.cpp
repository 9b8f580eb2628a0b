#include "flow/accumulate.h"

#include <utility>

namespace relay::flow {

namespace {

// The order in which numbers are combined changes nothing.
bool is_exact(const Step& step) {
  switch (step.prim) {
    case lang::Prim::Add:
    case lang::Prim::Mul:
    case lang::Prim::Min:
    case lang::Prim::Max:
      return lang::is_int(step.dtype);
    case lang::Prim::And:
    case lang::Prim::Or:
    case lang::Prim::Xor:
      return !lang::is_float(step.dtype);
    default:
      return false;
  }
}

// Does the block end with a call of the function by itself, whose result is combined with a number,
// and that is the result?
bool ends_so(const Function& function, const Block& block) {
  const std::size_t count = block.steps.size();
  if (block.exit != Exit::Return || block.values.size() != 1 || count < 2) return false;
  const Step& call = block.steps[count - 2];
  const Step& last = block.steps[count - 1];
  if (call.kind != StepKind::Call || call.callee != &function || call.results.size() != 1 ||
      last.kind != StepKind::Primitive || last.args.size() != 2 || !is_exact(last))
    return false;
  const auto is_given = [&](const Operand& operand) {
    return operand.is_slot() && operand.index == call.results[0];
  };
  const Operand& value = block.values[0];
  return value.is_slot() && value.index == last.results[0] &&
         is_given(last.args[0]) != is_given(last.args[1]);
}

void find_accumulating(const Function& function, Block& block, std::vector<Block*>& found) {
  if (ends_so(function, block)) found.push_back(&block);
  for (Step& step : block.steps) {
    for (Block& inner : step.blocks) find_accumulating(function, inner, found);
    for (Arm& arm : step.arms) find_accumulating(function, arm.body, found);
  }
}

void make_loop(Block& block) {
  Step last = std::move(block.steps.back());
  block.steps.pop_back();
  Step call = std::move(block.steps.back());
  block.steps.pop_back();
  const bool is_first = last.args[0].is_slot() && last.args[0].index == call.results[0];
  block.accumulated = Accumulated{last.prim, last.dtype, last.args[is_first ? 1 : 0]};
  block.exit = Exit::TailCall;
  block.callee = call.callee;
  block.values = std::move(call.args);
  block.site = call.site;
}

}  // namespace

void accumulate_calls(const std::vector<Function*>& functions) {
  for (Function* function : functions) {
    std::vector<Block*> found;
    find_accumulating(*function, function->body, found);
    if (found.size() == 1) make_loop(*found[0]);
  }
}

}  // namespace relay::flow
