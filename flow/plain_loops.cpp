#include "flow/plain_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "lang/lowerable.h"

namespace relay::flow {

namespace {

class Marker {
 public:
  Marker(const Function& function, Step& loop) : function_(function), loop_(loop) {}

  void run() {
    const Block& body = loop_.blocks[0];
    if (!collect(body)) return;
    std::vector<LoopCheck> checks;
    for (const Step* element : elements_) {
      if (element->in_bounds) continue;
      for (std::size_t axis = 0; axis + 1 < element->args.size(); ++axis) {
        auto check = check_of(element->args[axis + 1]);
        if (!check) return;
        check->tensor = element->args[0];
        check->axis = axis;
        checks.push_back(*check);
      }
    }
    loop_.is_plain = true;
    loop_.checks = std::move(checks);
  }

 private:
  // False where there is a step that may do anything else.
  bool collect(const Block& block) {
    if (block.exit != Exit::Yield) return false;
    for (const Step& step : block.steps) {
      for (const Slot slot : step.results) {
        if (function_.slots[slot].is_object()) return false;
        inside_.emplace(slot, &step);
      }
      switch (step.kind) {
        case StepKind::Primitive:
          if (lang::divides_integers(step.prim, step.dtype)) return false;
          break;
        case StepKind::Element:
          elements_.push_back(&step);
          break;
        case StepKind::Extent:
          break;
        case StepKind::If:
          for (const Block& inner : step.blocks) {
            if (!collect(inner)) return false;
          }
          break;
        default:
          return false;
      }
    }
    return true;
  }

  std::optional<std::size_t> binder_of(const Operand& operand) const {
    if (!operand.is_slot()) return std::nullopt;
    const auto found = std::find(loop_.binders.begin(), loop_.binders.end(), operand.index);
    if (found == loop_.binders.end()) return std::nullopt;
    return static_cast<std::size_t>(found - loop_.binders.begin());
  }

  bool is_outside(const Operand& operand) const {
    return !binder_of(operand) && !(operand.is_slot() && inside_.contains(operand.index));
  }

  // Of an index that is a number from outside, a binder, or one of them more or less than the
  // other.
  std::optional<LoopCheck> check_of(const Operand& index) const {
    LoopCheck check;
    if (is_outside(index)) {
      check.shift = index;
      return check;
    }
    check.binder = binder_of(index);
    if (check.binder) return check;
    const Step& step = *inside_.at(index.index);
    const bool adds = step.kind == StepKind::Primitive && step.prim == lang::Prim::Add;
    const bool subtracts = step.kind == StepKind::Primitive && step.prim == lang::Prim::Sub;
    if ((!adds && !subtracts) || step.dtype != lang::DType::Int64) return std::nullopt;
    for (std::size_t i = 0; i < (adds ? 2U : 1U); ++i) {
      check.binder = binder_of(step.args[i]);
      if (!check.binder || !is_outside(step.args[1 - i])) continue;
      check.shift = step.args[1 - i];
      check.subtracts = subtracts;
      return check;
    }
    return std::nullopt;
  }

  const Function& function_;
  Step& loop_;
  std::vector<const Step*> elements_;
  std::unordered_map<Slot, const Step*> inside_;  // by result
};

void mark(const Function& function, Block& block) {
  for (Step& step : block.steps) {
    for (Block& inner : step.blocks) mark(function, inner);
    for (Arm& arm : step.arms) mark(function, arm.body);
    const bool is_loop =
        (step.kind == StepKind::Loop && !step.results.empty()) || step.kind == StepKind::Fold;
    if (is_loop) Marker(function, step).run();
  }
}

}  // namespace

void mark_plain_loops(const std::vector<Function*>& functions) {
  for (Function* function : functions) mark(*function, function->body);
}

}  // namespace relay::flow
