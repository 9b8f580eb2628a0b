#include "flow/base_cases.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "lang/lowerable.h"

namespace relay::flow {

namespace {

constexpr std::size_t kMostCases = 2;  // conditions; a `match` is the last one
constexpr std::size_t kMostSteps = 4;  // of a case: its condition, and its value

// `steps`, and then the function returns `values` if `condition` is `when`; or, where there are
// tests, if these hold of parameters.
struct BaseCase {
  std::vector<Step> steps;
  Operand condition;
  bool when = true;
  std::vector<Test> tests;
  std::vector<Shape> shapes;
  std::vector<Step> value_steps;
  std::vector<Operand> values;
};

// Cannot fail, and costs no more than a call.
bool is_simple(const Step& step) {
  if (step.kind == StepKind::Extent) return true;
  return step.kind == StepKind::Primitive && lang::is_cheap(step.prim);
}

bool are_simple(std::span<const Step> steps) {
  return std::all_of(steps.begin(), steps.end(), is_simple);
}

// The tag that the arm asks of the cell at once.
const Test* tag_test(const Arm& arm) {
  return !arm.tests.empty() && arm.tests[0].kind == Test::Kind::Tag ? &arm.tests[0] : nullptr;
}

// An arm that asks for one tag of a parameter, which no arm before it takes.
const Arm* first_base(const Step& match, const Function& function, std::size_t most_steps,
                      const auto& is_base) {
  for (const Arm& arm : match.arms) {
    const Test* const test = tag_test(arm);
    if (!test || !test->cell.is_slot() || test->cell.index >= function.param_count) return nullptr;
    const Test* const first = tag_test(match.arms[0]);
    const bool is_same_cell = first->cell.is_slot() && first->cell.index == test->cell.index;
    const bool is_other_tag = &arm == &match.arms[0] || first->number != test->number;
    if (!is_same_cell) return nullptr;
    if (is_other_tag && arm.tests.size() == 1 && is_base(arm.body, most_steps)) return &arm;
    // More than one arm before it would have to be told apart from it.
    if (&arm != &match.arms[0]) return nullptr;
  }
  return nullptr;
}

std::vector<BaseCase> base_cases_of(const Function& function) {
  std::vector<BaseCase> cases;
  const Block* block = &function.body;
  const auto is_base = [](const Block& branch, std::size_t most_steps) {
    return branch.exit == Exit::Return && are_simple(branch.steps) &&
           branch.steps.size() <= most_steps;
  };
  while (cases.size() < kMostCases && block->exit == Exit::None && !block->steps.empty()) {
    const Step& last = block->steps.back();
    const std::span before(block->steps.data(), block->steps.size() - 1);
    if (!are_simple(before) || before.size() > kMostSteps) break;
    const std::size_t most_steps = kMostSteps - before.size();
    BaseCase found;
    found.steps.assign(before.begin(), before.end());
    const Block* base = nullptr;
    if (last.kind == StepKind::Match) {
      const Arm* const arm = first_base(last, function, most_steps, is_base);
      if (!arm) break;
      found.tests = arm->tests;
      found.shapes = arm->shapes;
      base = &arm->body;
      block = nullptr;
    } else if (last.kind == StepKind::If) {
      found.condition = last.args[0];
      found.when = is_base(last.blocks[0], most_steps);
      base = &last.blocks[found.when ? 0 : 1];
      if (!is_base(*base, most_steps)) break;
      block = &last.blocks[found.when ? 1 : 0];
    } else {
      break;
    }
    found.value_steps = base->steps;
    found.values = base->values;
    cases.push_back(std::move(found));
    if (!block) break;
  }
  return cases;
}

class Caller {
 public:
  using Cases = std::unordered_map<const Function*, std::vector<BaseCase>>;
  Caller(Function& function, const Cases& cases) : function_(function), cases_(cases) {}

  void rewrite(Block& block) {
    std::vector<Step> steps;
    steps.reserve(block.steps.size());
    for (Step& step : block.steps) {
      for (Block& inner : step.blocks) rewrite(inner);
      for (Arm& arm : step.arms) rewrite(arm.body);
      const auto found = step.kind == StepKind::Call ? cases_.find(step.callee) : cases_.end();
      if (found == cases_.end()) {
        steps.push_back(std::move(step));
      } else {
        decide(std::move(step), found->second, steps);
      }
    }
    block.steps = std::move(steps);
  }

 private:
  // Of a callee's operands, those of the caller.
  class Names {
   public:
    Names(Function& caller, const Step& call) : caller_(caller), callee_(*call.callee) {
      for (Slot param = 0; param < callee_.param_count; ++param) slots_[param] = call.args[param];
    }
    Operand of(const Operand& operand) {
      if (operand.is_slot()) return slots_.at(operand.index);
      const auto [found, is_new] = constants_.try_emplace(operand.index);
      if (is_new) {
        found->second = Operand::constant(static_cast<std::uint32_t>(caller_.constants.size()));
        caller_.constants.push_back(callee_.constants[operand.index]);
      }
      return found->second;
    }
    std::vector<Operand> of(std::vector<Operand> operands) {
      for (Operand& operand : operands) operand = of(operand);
      return operands;
    }
    Step of(Step step) {
      step.args = of(std::move(step.args));
      step.site = nullptr;  // it cannot fail
      for (Slot& result : step.results) {
        const Slot name = new_slot(caller_, callee_.slots[result]);
        slots_[result] = Operand::slot(name);
        result = name;
      }
      return step;
    }

   private:
    Function& caller_;
    const Function& callee_;
    std::unordered_map<Slot, Operand> slots_;
    std::unordered_map<std::uint32_t, Operand> constants_;
  };

  static Slot new_slot(Function& function, const SlotType& type) {
    function.slots.push_back(type);
    return static_cast<Slot>(function.slots.size() - 1);
  }

  void decide(Step call, const std::vector<BaseCase>& cases, std::vector<Step>& steps) {
    Names names(function_, call);
    decide(std::move(call), cases, names, steps);
  }

  void decide(Step call, std::span<const BaseCase> cases, Names& names, std::vector<Step>& steps) {
    if (cases.empty()) {
      steps.push_back(std::move(call));
      return;
    }
    const BaseCase& first = cases.front();
    for (const Step& step : first.steps) steps.push_back(names.of(step));
    Step choice;
    choice.site = call.site;
    choice.results = call.results;
    const bool is_match = !first.tests.empty();
    if (is_match) {
      choice.kind = StepKind::Match;
      choice.arms.resize(2);
      choice.arms[0].tests = first.tests;
      choice.arms[0].shapes = first.shapes;
      for (Test& test : choice.arms[0].tests) test.cell = names.of(test.cell);
      for (Shape& shape : choice.arms[0].shapes) shape.cell = names.of(shape.cell);
      choice.args = {choice.arms[0].tests[0].cell};
    } else {
      choice.kind = StepKind::If;
      choice.args = {names.of(first.condition)};
      choice.blocks.resize(2);
    }
    Block& base = is_match ? choice.arms[0].body : choice.blocks[first.when ? 0 : 1];
    for (const Step& step : first.value_steps) base.steps.push_back(names.of(step));
    base.values = names.of(first.values);
    Block& rest = is_match ? choice.arms[1].body : choice.blocks[first.when ? 1 : 0];
    for (Slot& result : call.results) {
      result = new_slot(function_, SlotType(function_.slots[result]));
      rest.values.push_back(Operand::slot(result));
    }
    decide(std::move(call), cases.subspan(1), names, rest.steps);
    steps.push_back(std::move(choice));
  }

  Function& function_;
  const Cases& cases_;
};

void add_callees(const Block& block, Caller::Cases& cases) {
  for (const Step& step : block.steps) {
    for (const Block& inner : step.blocks) add_callees(inner, cases);
    for (const Arm& arm : step.arms) add_callees(arm.body, cases);
    if (step.kind == StepKind::Call) cases.try_emplace(step.callee);
  }
}

}  // namespace

void decide_base_cases(const std::vector<Function*>& functions) {
  Caller::Cases cases;
  for (const Function* function : functions) add_callees(function->body, cases);
  for (auto& [callee, found] : cases) found = base_cases_of(*callee);
  std::erase_if(cases, [](const auto& entry) { return entry.second.empty(); });
  if (cases.empty()) return;
  for (Function* function : functions) Caller(*function, cases).rewrite(function->body);
}

}  // namespace relay::flow
