#include "flow/ownership.h"

#include <algorithm>
#include <map>
#include <set>

namespace relay::flow {

namespace {

using Slots = std::set<Slot>;  // ordered: code is the same each time

// --- Who makes cells ---

bool makes_cells(const Block& block) {
  if (block.exit == Exit::TailCall && (!block.cells.empty() || block.callee->makes_cells))
    return true;
  for (const Step& step : block.steps) {
    if (step.kind == StepKind::Construct || step.kind == StepKind::CallValue ||
        step.kind == StepKind::Interpret)
      return true;
    if (step.kind == StepKind::Call && step.callee->makes_cells) return true;
    for (const Block& inner : step.blocks) {
      if (makes_cells(inner)) return true;
    }
    for (const Arm& arm : step.arms) {
      if (makes_cells(arm.body)) return true;
    }
  }
  return false;
}

// --- Which parameters are borrowed ---

// By slot: the parameter that it is, or that it has been read out of, through cells.
class Origins {
 public:
  explicit Origins(const Function& function) : function_(function) {
    origins_.assign(function.slots.size(), kNoSlot);
    for (Slot slot = 0; slot < function.param_count; ++slot) origins_[slot] = slot;
    visit(function.body);
  }
  // Does the caller keep it as long as the function runs?
  bool is_borrowed(Slot slot) const {
    return slot < origins_.size() && origins_[slot] != kNoSlot &&
           function_.is_borrowed[origins_[slot]];
  }

 private:
  void read(Slot field, const Operand& cell) {
    if (cell.is_slot()) origins_[field] = origins_[cell.index];
  }
  void visit(const Block& block) {
    for (const Step& step : block.steps) {
      if (step.kind == StepKind::Field) read(step.results[0], step.args[0]);
      for (const Block& inner : step.blocks) visit(inner);
      for (const Arm& arm : step.arms) {
        for (const Test& test : arm.tests) {
          if (test.kind == Test::Kind::Field) read(test.result, test.cell);
        }
        visit(arm.body);
      }
    }
  }

  const Function& function_;
  std::vector<Slot> origins_;
};

bool is_taken_by_kernels(const Step& step, std::size_t position) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < step.fields.size(); ++i) {
    if (next == position) return step.kernels->is_taken[i];
    next += std::max(step.fields[i], 1U);
  }
  return false;
}

// Does the step take over what it is given in this position?
bool consumes(const Step& step, std::size_t position) {
  switch (step.kind) {
    case StepKind::Call:
      return !step.callee->is_borrowed[position];
    case StepKind::CallValue:
      return position > 0;
    case StepKind::Interpret:
    case StepKind::Construct:
    case StepKind::Own:
      return true;
    case StepKind::Kernels:
      return is_taken_by_kernels(step, position);
    default:
      return false;
  }
}

// Finds parameters that their function hands on to somebody who takes them over.
class BorrowSearch {
 public:
  explicit BorrowSearch(Function& function) : function_(function), origins_(function) {}
  // True if one of the parameters said to be borrowed is not.
  bool run() {
    visit(function_.body);
    return changed_;
  }

 private:
  void own(const Operand& operand, Function& function) {
    if (!operand.is_slot() || operand.index >= function.param_count) return;
    if (!function.is_borrowed[operand.index]) return;
    function.is_borrowed[operand.index] = false;
    changed_ = true;
  }

  void visit(const Block& block) {
    for (const Step& step : block.steps) {
      for (std::size_t i = 0; i < step.args.size(); ++i) {
        if (consumes(step, i)) own(step.args[i], function_);
      }
      for (const Block& inner : step.blocks) visit(inner);
      for (const Arm& arm : step.arms) visit(arm.body);
    }
    for (std::size_t i = 0; i < block.values.size(); ++i) {
      const Operand& value = block.values[i];
      if (block.exit != Exit::TailCall) {
        own(value, function_);
        continue;
      }
      Function& callee = *block.callee;
      const bool is_lent = value.is_slot() && origins_.is_borrowed(value.index);
      // Nobody is left to give back what this function owns.
      if (!is_lent && value.is_slot() && !callee.is_compiled) own(Operand::slot(i), callee);
      if (!callee.is_borrowed[i]) own(value, function_);
    }
    for (const Filled& cell : block.cells) {
      for (std::size_t i = 0; i < cell.fields.size(); ++i) {
        if (i != cell.place) own(cell.fields[i], function_);
      }
    }
  }

  Function& function_;
  const Origins origins_;
  bool changed_ = false;
};

// --- Views that are only looked at ---

// Marks them, and gives what each is a view of.
class LightViews {
 public:
  explicit LightViews(Function& function) : function_(function) {
    taken_.assign(function.slots.size(), false);
    note_taken(function.body);
    mark(function.body);
  }
  // By slot: the operand of which it is a light view.
  const std::map<Slot, Operand>& bases() const { return bases_; }

 private:
  void take(const Operand& operand) {
    if (operand.is_slot()) taken_[operand.index] = true;
  }
  void note_taken(const Block& block) {
    for (const Step& step : block.steps) {
      for (std::size_t i = 0; i < step.args.size(); ++i) {
        if (consumes(step, i)) take(step.args[i]);
      }
      for (const Block& inner : step.blocks) note_taken(inner);
      for (const Arm& arm : step.arms) note_taken(arm.body);
    }
    for (const Operand& value : block.values) take(value);
    for (const Filled& cell : block.cells) {
      for (const Operand& field : cell.fields) take(field);
    }
  }
  void mark(Block& block) {
    for (Step& step : block.steps) {
      if (step.kind == StepKind::View && !taken_[step.results[0]]) {
        step.is_light = true;
        bases_.emplace(step.results[0], step.args[0]);
      }
      for (Block& inner : step.blocks) mark(inner);
      for (Arm& arm : step.arms) mark(arm.body);
    }
  }

  Function& function_;
  std::vector<bool> taken_;
  std::map<Slot, Operand> bases_;
};

// --- Who gives back what ---

class Owner {
 public:
  explicit Owner(Function& function) : function_(function), origins_(function), views_(function) {}

  void run() {
    Slots live;
    block(function_.body, live);
    // What the function is given and does not look at.
    for (Slot slot = 0; slot < function_.param_count; ++slot) {
      if (is_owned(slot) && !live.contains(slot)) release_first(function_.body, slot);
    }
  }

 private:
  bool is_object(Slot slot) const { return function_.slots[slot].is_object(); }
  // Is the slot this block's to give back?
  bool is_owned(Slot slot) const {
    return is_object(slot) && slot >= outside_ && !origins_.is_borrowed(slot) &&
           !views_.bases().contains(slot);
  }
  // Who looks at a light view looks at what it is a view of.
  Operand base_of(Operand operand) const {
    const auto& bases = views_.bases();
    for (auto found = bases.end(); operand.is_slot(); operand = found->second) {
      found = bases.find(operand.index);
      if (found == bases.end()) break;
    }
    return operand;
  }

  static Step on(StepKind kind, Slot slot) {
    Step step;
    step.kind = kind;
    step.args = {Operand::slot(slot)};
    return step;
  }
  static void release_first(Block& block, Slot slot) {
    block.steps.insert(block.steps.begin(), on(StepKind::Release, slot));
  }

  // An operand is taken over. `before`, in reverse: what has to happen first.
  void consume(const Operand& operand, Slots& live, std::vector<Step>& before) {
    if (!operand.is_slot() || !is_object(operand.index)) {
      if (!operand.is_slot() && is_counted(function_.constants[operand.index])) {
        Step step;
        step.kind = StepKind::Retain;
        step.args = {operand};
        before.push_back(std::move(step));
      }
      return;
    }
    use_outside(operand.index);
    if (is_owned(operand.index) && live.insert(operand.index).second) return;  // its last use
    before.push_back(on(StepKind::Retain, operand.index));
  }

  static bool is_counted(const lang::Value& value) {
    return !value.is_scalar() && !value.is_empty();
  }

  void use_outside(Slot slot) {
    if (slot < outside_) used_outside_.insert(slot);
  }

  // `live`: behind the block; becomes what is live before it.
  void block(Block& block, Slots& live) {
    if (block.exit == Exit::TailCall && !can_leave(block)) call_instead(block);
    std::vector<Step> reversed;
    if (block.exit == Exit::Return || block.exit == Exit::TailCall) live.clear();
    for (std::size_t i = block.values.size(); i-- > 0;) {
      const bool is_lent = block.exit == Exit::TailCall && block.callee->is_borrowed[i];
      if (!is_lent) consume(block.values[i], live, reversed);
    }
    for (const Filled& cell : block.cells) {
      for (std::size_t i = cell.fields.size(); i-- > 0;) {
        if (i != cell.place) consume(cell.fields[i], live, reversed);
      }
    }
    for (std::size_t i = block.steps.size(); i-- > 0;)
      step(std::move(block.steps[i]), live, reversed);
    std::reverse(reversed.begin(), reversed.end());
    block.steps = std::move(reversed);
  }

  static bool has_rest(const Block& block) {
    if (is_call_with_rest(block)) return true;
    return std::any_of(block.steps.begin(), block.steps.end(), [](const Step& step) {
      return std::any_of(step.blocks.begin(), step.blocks.end(), has_rest) ||
             std::any_of(step.arms.begin(), step.arms.end(),
                         [](const Arm& arm) { return has_rest(arm.body); });
    });
  }

  // A tail call that hands over no object that the callee leaves to its caller. Where calls of the
  // function by itself have left something to be done with its result, others are to come back.
  bool can_leave(const Block& block) const {
    if (block.callee != &function_ && (has_rest_ || !block.callee->is_tail_called)) return false;
    for (std::size_t i = 0; i < block.values.size(); ++i) {
      const Operand& value = block.values[i];
      if (value.is_slot() && is_owned(value.index) && block.callee->is_borrowed[i]) return false;
    }
    return true;
  }

  void call_instead(Block& block) {
    Step step;
    step.kind = StepKind::Call;
    step.callee = block.callee;
    step.args = std::move(block.values);
    step.site = block.site;
    for (const SlotType& type : function_.results) {
      function_.slots.push_back(type);
      step.results.push_back(static_cast<Slot>(function_.slots.size() - 1));
    }
    block.values.clear();
    for (Slot slot : step.results) block.values.push_back(Operand::slot(slot));
    block.steps.push_back(std::move(step));
    block.exit = Exit::Return;
    block.callee = nullptr;
    while (!block.cells.empty()) make_around(block);
    if (block.accumulated) combine(block);
  }

  // The number is combined with the block's value.
  void combine(Block& block) {
    Step step;
    step.kind = StepKind::Primitive;
    step.prim = block.accumulated->prim;
    step.dtype = block.accumulated->dtype;
    step.args = {block.accumulated->number, block.values[0]};
    step.site = block.site;
    function_.slots.push_back(function_.results[0]);
    step.results = {static_cast<Slot>(function_.slots.size() - 1)};
    block.values = {Operand::slot(step.results[0])};
    block.steps.push_back(std::move(step));
    block.accumulated.reset();
  }

  // The last cell is made around the block's value.
  void make_around(Block& block) {
    Filled& filled = block.cells.back();
    Step cell;
    cell.kind = StepKind::Construct;
    cell.constructor = filled.constructor;
    cell.args = std::move(filled.fields);
    cell.args[filled.place] = block.values[0];
    cell.site = block.site;
    block.cells.pop_back();
    function_.slots.push_back(SlotType{lang::ValueKind::Adt, lang::DType::Bool});
    cell.results = {static_cast<Slot>(function_.slots.size() - 1)};
    block.values = {Operand::slot(cell.results[0])};
    block.steps.push_back(std::move(cell));
  }

  void step(Step step, Slots& live, std::vector<Step>& reversed) {
    for (Slot result : step.results) {
      if (is_object(result) && !step.is_light && !origins_.is_borrowed(result) &&
          live.erase(result) == 0)
        reversed.push_back(on(StepKind::Release, result));
    }
    // What the step looks at, and what its blocks do.
    Slots looked_at;
    for (std::size_t i = 0; i < step.args.size(); ++i) {
      if (consumes(step, i)) continue;
      const Operand arg = base_of(step.args[i]);
      if (!arg.is_slot() || !is_object(arg.index)) continue;
      use_outside(arg.index);
      if (is_owned(arg.index)) looked_at.insert(arg.index);
    }
    if (step.kind == StepKind::Loop || step.kind == StepKind::Fold) loop(step, looked_at);
    if (step.kind == StepKind::If || step.kind == StepKind::Match) {
      branches(step, live, looked_at);
    } else {
      // Of a match the arms give the scrutinee back.
      for (Slot slot : looked_at) {
        if (live.insert(slot).second) reversed.push_back(on(StepKind::Release, slot));
      }
      step.cleanup.assign(live.begin(), live.end());
    }
    // A field is owned once its cell may go.
    if (step.kind == StepKind::Field && is_object(step.results[0]) &&
        !origins_.is_borrowed(step.results[0]))
      reversed.push_back(on(StepKind::Retain, step.results[0]));
    std::vector<Step> before;
    for (std::size_t i = step.args.size(); i-- > 0;) {
      if (consumes(step, i)) consume(step.args[i], live, before);
    }
    reversed.push_back(std::move(step));
    for (Step& each : before) reversed.push_back(std::move(each));
  }

  void loop(Step& step, Slots& looked_at) {
    // What stands outside the body is used many times.
    const Slot outside = outside_;
    outside_ = *std::min_element(step.binders.begin(), step.binders.end());
    Slots used_before = std::move(used_outside_);
    used_outside_.clear();
    Slots live;
    block(step.blocks[0], live);
    outside_ = outside;
    Slots used = std::move(used_outside_);
    used_outside_ = std::move(used_before);
    for (Slot slot : used) {
      use_outside(slot);
      if (is_owned(slot)) looked_at.insert(slot);
    }
  }

  void branches(Step& step, Slots& live, const Slots& looked_at) {
    std::vector<Block*> blocks;
    for (Block& each : step.blocks) blocks.push_back(&each);
    for (Arm& each : step.arms) blocks.push_back(&each.body);
    std::vector<Slots> before(blocks.size());
    Slots all = looked_at;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      before[i] = live;
      block(*blocks[i], before[i]);
      all.insert(before[i].begin(), before[i].end());
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      // In front of the block: first what it takes from a matched cell, then what it does not need.
      std::vector<Step> first;
      Slots fields;
      if (step.kind == StepKind::Match) {
        for (const Test& test : step.arms[i].tests) {
          if (test.result == kNoSlot || !is_object(test.result)) continue;
          all.erase(test.result);
          if (before[i].erase(test.result) > 0) fields.insert(test.result);
        }
        take(step.arms[i], fields, before[i], first);
      }
      for (Slot slot : all) {
        if (!before[i].contains(slot) && !is_field_of(step, slot))
          first.push_back(on(StepKind::Release, slot));
      }
      auto& steps = blocks[i]->steps;
      steps.insert(steps.begin(), std::make_move_iterator(first.begin()),
                   std::make_move_iterator(first.end()));
    }
    for (const Arm& arm : step.arms) {
      for (const Test& test : arm.tests) all.erase(test.result);
    }
    step.cleanup.assign(all.begin(), all.end());
    live = std::move(all);
  }

  static bool is_field_of(const Step& step, Slot slot) {
    for (const Arm& arm : step.arms) {
      for (const Test& test : arm.tests) {
        if (test.result == slot) return true;
      }
    }
    return false;
  }

  // Cells that the arm needs no more hand the fields that it needs on, each to the next that was
  // read out of it; fields of other cells are counted once more.
  void take(const Arm& arm, const Slots& fields, Slots& live, std::vector<Step>& first) const {
    const std::map<Slot, Slot> cells = cells_of(arm);
    const auto root_of = [&](Slot slot) {
      for (auto found = cells.find(slot); found != cells.end(); found = cells.find(slot))
        slot = found->second;
      return slot;
    };
    Slots kept;  // roots that hand nothing on
    Slots handed_on = fields;
    for (Slot field : fields) {
      const Slot root = root_of(field);
      if (root == kNoSlot || !is_owned(root) || live.contains(root) || is_closure(field))
        kept.insert(root);
      for (auto found = cells.find(field); found != cells.end() && found->second != root;
           found = cells.find(found->second)) {
        if (fields.contains(found->second)) kept.insert(root);
        handed_on.insert(found->second);
      }
    }
    Slots gone;
    for (const Test& test : arm.tests) {
      if (!handed_on.contains(test.result)) continue;
      const Slot root = root_of(test.result);
      if (kept.contains(root)) {
        if (fields.contains(test.result)) first.push_back(on(StepKind::Retain, test.result));
      } else if (gone.insert(test.cell.index).second) {
        first.push_back(take_one(arm, test.cell.index, handed_on));
        live.insert(root);  // not to be given back again
      }
    }
  }

  bool is_closure(Slot slot) const {  // it may be a function value that is not counted
    return function_.slots[slot].kind == lang::ValueKind::Closure;
  }

  // By field: the cell; none where that is a constant.
  static std::map<Slot, Slot> cells_of(const Arm& arm) {
    std::map<Slot, Slot> cells;
    for (const Test& test : arm.tests) {
      if (test.kind == Test::Kind::Field)
        cells.emplace(test.result, test.cell.is_slot() ? test.cell.index : kNoSlot);
    }
    return cells;
  }

  Step take_one(const Arm& arm, Slot cell, const Slots& handed_on) const {
    Step step = on(StepKind::Take, cell);
    for (const Test& test : arm.tests) {
      const bool is_part = test.cell.is_slot() && test.cell.index == cell;
      if (!is_part || !handed_on.contains(test.result)) continue;
      step.results.push_back(test.result);
      step.fields.push_back(test.number);
    }
    for (const Shape& shape : arm.shapes) {
      if (shape.cell.is_slot() && shape.cell.index == cell) drop_others(shape, step);
    }
    return step;
  }

  // What else stands in the cell of a Take, if all of that is known.
  static void drop_others(const Shape& shape, Step& step) {
    step.dropped.clear();
    for (std::uint32_t i = 0; i < shape.fields.size(); ++i) {
      if (std::find(step.fields.begin(), step.fields.end(), i) != step.fields.end()) continue;
      if (shape.fields[i].kind == lang::ValueKind::Empty) return;
      if (shape.fields[i].is_object()) step.dropped.push_back({i, shape.fields[i]});
    }
    step.number = static_cast<std::uint32_t>(shape.fields.size());
  }

  Function& function_;
  const Origins origins_;
  const LightViews views_;
  const bool has_rest_ = has_rest(function_.body);
  Slot outside_ = 0;    // slots below it stand outside of the loop around
  Slots used_outside_;  // by its body
};

}  // namespace

namespace {

void mark_tail_calls(const Function& function, const Block& block) {
  if (block.exit == Exit::TailCall && block.callee != &function && !block.callee->is_compiled)
    block.callee->is_tail_called = true;
  for (const Step& step : block.steps) {
    for (const Block& inner : step.blocks) mark_tail_calls(function, inner);
    for (const Arm& arm : step.arms) mark_tail_calls(function, arm.body);
  }
}

}  // namespace

void settle_ownership(const std::vector<Function*>& functions) {
  for (Function* function : functions) {
    mark_tail_calls(*function, function->body);
    function->is_borrowed.assign(function->param_count, false);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Function* function : functions) {
      if (function->makes_cells || !makes_cells(function->body)) continue;
      function->makes_cells = changed = true;
    }
  }
  for (Function* function : functions) {
    for (std::size_t i = 0; i < function->param_count; ++i) {
      const lang::ValueKind kind = function->slots[i].kind;
      function->is_borrowed[i] = kind == lang::ValueKind::Tensor ||
                                 (kind == lang::ValueKind::Adt && !function->makes_cells);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Function* function : functions) {
      changed = BorrowSearch(*function).run() || changed;
    }
  }
  for (Function* function : functions) Owner(*function).run();
}

}  // namespace relay::flow
