#include "flow/parallel_loops.h"

#include <algorithm>

namespace relay::flow {

namespace {

bool is_shareable(const Block& block);

// Do the kernels make nothing but scalars and small tensors?
bool makes_no_tensors(const Kernels& kernels) {
  const auto is_spread = [](const lang::Type& type) {
    return lang::is_scalar(type) || small_elements(type) > 0;
  };
  return std::all_of(kernels.results.begin(), kernels.results.end(), is_spread) &&
         kernels.group.made.size() == kernels.results.size();
}

bool is_shareable(const Step& step) {
  switch (step.kind) {
    case StepKind::Primitive:
    case StepKind::Element:
    case StepKind::Extent:
    case StepKind::CheckIndex:
    case StepKind::CheckShape:
    case StepKind::Fits:
    case StepKind::Field:
      return true;
    case StepKind::View:
      return step.is_light;
    case StepKind::Kernels:
      return makes_no_tensors(*step.kernels);
    case StepKind::Call:
      return step.callee->is_shareable;
    case StepKind::If:
      // The interpreter is for one thread: others give up there.
      if (step.has_fallback) return is_shareable(step.blocks[0]);
      [[fallthrough]];
    case StepKind::Fold:
      return std::all_of(step.blocks.begin(), step.blocks.end(),
                         [](const Block& block) { return is_shareable(block); });
    case StepKind::Match:
      return std::all_of(step.arms.begin(), step.arms.end(),
                         [](const Arm& arm) { return is_shareable(arm.body); });
    default:
      return false;
  }
}

bool is_shareable(const Block& block) {
  if (block.exit == Exit::TailCall && !block.callee->is_shareable) return false;
  return block.cells.empty() && std::all_of(block.steps.begin(), block.steps.end(),
                                            [](const Step& step) { return is_shareable(step); });
}

bool is_shareable(const Function& function) {
  for (std::size_t i = 0; i < function.param_count; ++i) {
    if (function.slots[i].is_object() && !function.is_borrowed[i]) return false;
  }
  return std::none_of(function.results.begin(), function.results.end(),
                      [](const SlotType& type) { return type.is_object(); }) &&
         is_shareable(function.body);
}

void mark_loops(Block& block) {
  for (Step& step : block.steps) {
    const bool stores_elements =
        step.kind == StepKind::Loop && !step.parts.empty() &&
        std::all_of(step.parts.begin(), step.parts.end(), [](const lang::Type& part) {
          return lang::is_scalar(part) || yielded_elements(part) > 0;
        });
    if (stores_elements && is_shareable(step.blocks[0])) {
      step.is_parallel = true;
      continue;
    }
    for (Block& inner : step.blocks) mark_loops(inner);
    for (Arm& arm : step.arms) mark_loops(arm.body);
  }
}

}  // namespace

void mark_parallel_loops(const std::vector<Function*>& functions) {
  for (Function* function : functions) function->is_shareable = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (Function* function : functions) {
      if (!function->is_shareable || is_shareable(*function)) continue;
      function->is_shareable = false;
      changed = true;
    }
  }
  for (Function* function : functions) mark_loops(function->body);
}

}  // namespace relay::flow
