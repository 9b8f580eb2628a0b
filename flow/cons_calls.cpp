#include "flow/cons_calls.h"

#include <algorithm>
#include <optional>

namespace relay::flow {

namespace {

// Where `cell` has the result of `inner`; none if it has not.
std::optional<std::uint32_t> place_of(const Step& inner, const Step& cell) {
  if (cell.kind != StepKind::Construct || !cell.constructor || inner.results.size() != 1)
    return std::nullopt;
  const auto is_it = [&](const Operand& field) {
    return field.is_slot() && field.index == inner.results[0];
  };
  const auto found = std::find_if(cell.args.begin(), cell.args.end(), is_it);
  if (found == cell.args.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - cell.args.begin());
}

// Do the last `count` steps, cells, mention what the step before them gives, or one another, only
// where one is in the next?
bool are_mentioned_once(const std::vector<Step>& steps, std::size_t count) {
  std::vector<Slot> results;
  std::size_t mentions = 0;
  for (std::size_t i = steps.size() - count; i < steps.size(); ++i) {
    results.push_back(steps[i - 1].results[0]);
    for (const Operand& field : steps[i].args) {
      const bool is_one = field.is_slot() &&
                          std::find(results.begin(), results.end(), field.index) != results.end();
      mentions += is_one ? 1 : 0;
    }
  }
  return mentions == count;
}

// How many cells the block ends with, each in the next, the first of them around the result of a
// call of the function by itself, and the last the function's result. 0 if it does not end so.
std::size_t filled_cells(const Function& function, const Block& block) {
  const std::vector<Step>& steps = block.steps;
  if (block.exit != Exit::Return || block.values.size() != 1 || steps.empty()) return 0;
  const Operand& value = block.values[0];
  const std::vector<Slot>& last = steps.back().results;
  if (!value.is_slot() || last.size() != 1 || value.index != last[0]) return 0;
  std::size_t count = 0;
  while (count + 1 < steps.size() &&
         place_of(steps[steps.size() - count - 2], steps[steps.size() - count - 1]))
    ++count;
  const Step& call = steps[steps.size() - count - 1];
  const bool is_own_call = call.kind == StepKind::Call && call.callee == &function;
  return is_own_call && are_mentioned_once(steps, count) ? count : 0;
}

void find(const Function& function, Block& block, std::vector<Block*>& found) {
  if (filled_cells(function, block) > 0) found.push_back(&block);
  for (Step& step : block.steps) {
    for (Block& inner : step.blocks) find(function, inner, found);
    for (Arm& arm : step.arms) find(function, arm.body, found);
  }
}

void rewrite(Block& block, std::size_t cells) {
  for (; cells > 0; --cells) {
    Step cell = std::move(block.steps.back());
    block.steps.pop_back();
    const std::uint32_t place = *place_of(block.steps.back(), cell);
    block.cells.push_back({cell.constructor, std::move(cell.args), place});
  }
  Step call = std::move(block.steps.back());
  block.steps.pop_back();
  block.exit = Exit::TailCall;
  block.callee = call.callee;
  block.values = std::move(call.args);
  block.site = call.site;
}

}  // namespace

void make_cons_calls(const std::vector<Function*>& functions) {
  for (Function* function : functions) {
    std::vector<Block*> found;
    find(*function, function->body, found);
    if (found.size() == 1) rewrite(*found[0], filled_cells(*function, *found[0]));
  }
}

}  // namespace relay::flow
