#include <algorithm>
#include <utility>

#include "flow/lowerer.h"
#include "lang/lowerable.h"
#include "lang/op.h"

// `for k { if k == j { x } else { row[k] } }` is `row` with another element: a store into a tensor
// that its step owns (StepKind::Own), which takes no time for all the others.
namespace relay::flow {

// The tensor [binders] with what `changed` gives where the fixed binders have their values, and
// `condition` (if there is one) holds.
struct Lowerer::Update {
  const lang::Comprehension* node = nullptr;
  const lang::Var* tensor = nullptr;
  std::vector<Expr> fixed;                        // by binder: its value; null for one that runs
  std::vector<std::pair<Expr, bool>> conditions;  // which must be so
  Expr changed;
  lang::Span span;
  bool has_running() const { return std::find(fixed.begin(), fixed.end(), nullptr) != fixed.end(); }
};

namespace {

// What a body is made of: its bindings, and the choice behind them.
class Choice {
 public:
  explicit Choice(const lang::Comprehension& node) : node_(node) {
    Expr rest = node.body;
    while (const auto* let = as<lang::Let>(rest)) {
      values_[let->variable.get()] = let->value;
      rest = let->body;
    }
    choice_ = as<lang::If>(rest);
  }

  const lang::If* choice() const { return choice_; }

  // Nothing but the branches of the choice may fail.
  bool is_safe() {
    lang::MayFail may_fail;
    const auto fails = [&](const auto& entry) { return may_fail(entry.second); };
    return std::none_of(values_.begin(), values_.end(), fails) && !may_fail(choice_->condition);
  }

  const Expr& resolved(const Expr& expr) const {
    const Expr* at = &expr;
    while (const auto* var = as<lang::Var>(*at)) {
      const auto found = values_.find(var->variable.get());
      if (found == values_.end()) break;
      at = &found->second;
    }
    return *at;
  }

  // Which binder the expression is; -1: none.
  std::ptrdiff_t binder_of(const Expr& expr) const {
    const auto* var = as<lang::Var>(resolved(expr));
    for (std::size_t i = 0; var && i < node_.binders.size(); ++i) {
      if (node_.binders[i].variable == var->variable) return static_cast<std::ptrdiff_t>(i);
    }
    return -1;
  }

  // The same, of a binder as another integer: extents are constants that it can hold.
  std::ptrdiff_t converted_binder_of(const Expr& expr) const {
    const Expr& value = resolved(expr);
    const auto* call = as<lang::Call>(value);
    const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
    const auto* prim = as<lang::Primitive>(value);
    const bool is_cast = (op && op->op->name == "cast") || (prim && prim->prim == lang::Prim::Cast);
    if (!is_cast) return binder_of(value);
    const std::ptrdiff_t binder = binder_of(op ? call->args[0] : prim->args[0]);
    const lang::DType dtype = dtype_of(value->type);
    if (binder < 0 || (dtype != lang::DType::Int32 && dtype != lang::DType::Int64)) return -1;
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    const auto* tensor = as<lang::TensorType>(node_.type);
    const lang::Dim& extent = tensor->shape[static_cast<std::size_t>(binder)];
    return extent.is_constant() && extent.constant() <= kMost ? binder : -1;
  }

  // A number that is the same at all points.
  bool is_fixed(const Expr& expr) const {
    const Expr& value = resolved(expr);
    if (value->kind == ExprKind::Constant || value->kind == ExprKind::DimTerm) return true;
    return value->kind == ExprKind::Var && binder_of(value) < 0;
  }

  // The operands of a comparison for equality, or its negation.
  static const std::vector<Expr>* compared(const Expr& value, bool is_equal) {
    const lang::Prim wanted = is_equal ? lang::Prim::Eq : lang::Prim::Ne;
    const auto step = lang::arithmetic_step(value);
    return step && step->prim == wanted ? &step->args : nullptr;
  }

  // The parts of a condition that all have to be `wanted` for it to be so.
  void split(const Expr& condition, bool wanted,
             const std::function<void(const Expr&, bool)>& visit) const {
    const Expr& value = resolved(condition);
    const auto is_truth = [this](const Expr& branch, bool truth) {
      const auto* constant = as<lang::Constant>(resolved(branch));
      return constant && (constant->value->bits_at(0) != 0) == truth;
    };
    // `a && b` is `if a { b } else { False }`.
    if (const auto* both = as<lang::If>(value)) {
      if (wanted && is_truth(both->else_branch, false)) {
        split(both->condition, true, visit);
        return split(both->then_branch, true, visit);
      }
      if (!wanted && is_truth(both->then_branch, true)) {
        split(both->condition, false, visit);
        return split(both->else_branch, false, visit);
      }
    }
    const auto logic = lang::arithmetic_step(value);
    if (logic && logic->prim == lang::Prim::Not) return split(logic->args[0], !wanted, visit);
    if (logic && logic->prim == (wanted ? lang::Prim::And : lang::Prim::Or)) {
      for (const Expr& arg : logic->args) split(arg, wanted, visit);
      return;
    }
    visit(value, wanted);
  }

  // Is it the element at the place of the binders of a tensor from outside, which has the shape of
  // the whole?
  const lang::Var* kept(const Expr& branch) const {
    Expr rest = branch;
    while (const auto* let = as<lang::Let>(rest)) rest = let->body;
    const auto* index = as<lang::Index>(rest);
    const auto* var = index ? as<lang::Var>(index->tensor) : nullptr;
    if (!var || !index->in_bounds || index->indices.size() != node_.binders.size()) return nullptr;
    for (std::size_t i = 0; i < index->indices.size(); ++i) {
      if (binder_of(index->indices[i]) != static_cast<std::ptrdiff_t>(i)) return nullptr;
    }
    const bool is_whole = lang::equal(var->variable->type, node_.type) &&
                          !lang::has_any_dim(node_.type) && !values_.contains(var->variable.get());
    return is_whole ? var : nullptr;
  }

 private:
  const lang::Comprehension& node_;
  const lang::If* choice_ = nullptr;
  std::unordered_map<const lang::Variable*, Expr> values_;
};

// Does the code read the tensor other than where it is changed?
bool reads_elsewhere(const Expr& code, const lang::Var& tensor, const Choice& choice) {
  bool found = false;
  lang::visit_post_order(code, [&](const Expr& node) {
    const auto is_tensor = [&](const Expr& expr) {
      const auto* var = as<lang::Var>(expr);
      return var && var->variable == tensor.variable;
    };
    const auto* index = as<lang::Index>(node);
    const bool is_kept = index && choice.kept(node);
    lang::for_each_child(node, [&](const Expr& child) {
      found = found || (is_tensor(child) && !(is_kept && child == index->tensor));
    });
  });
  return found;
}

}  // namespace

std::optional<Spread> Lowerer::update(const Expr& expr, Block& block) {
  const auto& node = cast<lang::Comprehension>(expr);
  Choice choice(node);
  if (!choice.choice() || !is_scalar(node.body->type) || !choice.is_safe()) return std::nullopt;
  const lang::Var* const otherwise = choice.kept(choice.choice()->else_branch);
  const lang::Var* const then = choice.kept(choice.choice()->then_branch);
  Update update{&node, otherwise ? otherwise : then, {}, {}, {}, expr->span};
  if (!update.tensor) return std::nullopt;
  const auto known = variables_.find(update.tensor->variable.get());
  if (known == variables_.end() || known->second.is_tuple) return std::nullopt;
  update.changed = otherwise ? choice.choice()->then_branch : choice.choice()->else_branch;
  update.fixed.resize(node.binders.size());
  const auto add_condition = [&](const Expr& condition, bool wanted) {
    if (const auto* operands = Choice::compared(condition, wanted)) {
      for (std::size_t i = 0; i < 2; ++i) {
        const std::ptrdiff_t binder = choice.converted_binder_of((*operands)[i]);
        const Expr& value = (*operands)[1 - i];
        if (binder < 0 || update.fixed[static_cast<std::size_t>(binder)] || !choice.is_fixed(value))
          continue;
        update.fixed[static_cast<std::size_t>(binder)] = choice.resolved(value);
        return;
      }
    }
    update.conditions.emplace_back(condition, wanted);
  };
  choice.split(choice.choice()->condition, otherwise != nullptr, add_condition);
  if (std::none_of(update.fixed.begin(), update.fixed.end(), [](const Expr& e) { return bool(e); }))
    return std::nullopt;
  if (update.has_running()) {
    // Points are stored while others have yet to be computed.
    bool is_read = reads_elsewhere(update.changed, *update.tensor, choice);
    for (const auto& [condition, wanted] : update.conditions)
      is_read = is_read || reads_elsewhere(condition, *update.tensor, choice);
    if (is_read) return std::nullopt;
  }
  return unboxed(updated(update, block), expr->type, expr->span, block);
}

// Where one of the fixed binders is out of range, nothing is changed.
Operand Lowerer::updated(const Update& update, Block& block) {
  const Operand tensor = variables_.at(update.tensor->variable.get()).operand;
  std::optional<Operand> is_inside;
  for (std::size_t axis = 0; axis < update.fixed.size(); ++axis) {
    if (!update.fixed[axis]) continue;
    constexpr lang::DType kIndex = lang::DType::Int64;
    Operand at = scalar(update.fixed[axis], block);
    if (operand_dtype(at) != kIndex)
      at = emit(lang::Prim::Cast, operand_dtype(at), kIndex, {at}, block);
    variables_[update.node->binders[axis].variable.get()] = Spread::of(at);
    const Operand extent = scalar(update.node->binders[axis].extent, block);
    const auto also = [&](lang::Prim prim, const Operand& bound) {
      const Operand holds = emit(prim, kIndex, lang::DType::Bool, {at, bound}, block);
      is_inside = is_inside ? emit(lang::Prim::And, lang::DType::Bool, lang::DType::Bool,
                                   {*is_inside, holds}, block)
                            : holds;
    };
    also(lang::Prim::Ge, index_constant(0));
    also(lang::Prim::Lt, extent);
  }
  std::vector<Block> blocks(2);
  memo_.emplace_back();
  blocks[0].values = {update.has_running() ? set_row(update, tensor, blocks[0])
                                           : set_element(update, tensor, blocks[0])};
  memo_.pop_back();
  blocks[1].values = {tensor};
  return choice(*is_inside, std::move(blocks), cell_type(update.node->type), block);
}

Operand Lowerer::choice(const Operand& condition, std::vector<Block> blocks, SlotType type,
                        Block& block) {
  const Slot slot = new_slot(type);
  Step step;
  step.kind = StepKind::If;
  step.args = {condition};
  step.blocks = std::move(blocks);
  step.results = {slot};
  block.steps.push_back(std::move(step));
  return Operand::slot(slot);
}

Operand Lowerer::owned(const Update& update, const Operand& tensor, Block& block) {
  const Slot slot = new_slot(cell_type(update.node->type));
  Step& step = add(block, StepKind::Own);
  step.args = {tensor};
  step.type = update.node->type;
  step.results = {slot};
  step.site = site(update.span);
  return Operand::slot(slot);
}

// The bindings of the body, and whether its point is changed; nothing: it is.
std::optional<Operand> Lowerer::is_changed(const Update& update, Block& block) {
  bindings(update.node->body, block);
  std::optional<Operand> all;
  for (const auto& [condition, wanted] : update.conditions) {
    constexpr lang::DType kBool = lang::DType::Bool;
    Operand holds = scalar(condition, block);
    if (!wanted) holds = emit(lang::Prim::Not, kBool, kBool, {holds}, block);
    all = all ? emit(lang::Prim::And, kBool, kBool, {*all, holds}, block) : holds;
  }
  return all;
}

void Lowerer::set_point(const Update& update, const Operand& target, const Operand& value,
                        Block& block) {
  std::vector<Operand> args = {target};
  for (const lang::IndexBinder& binder : update.node->binders)
    args.push_back(variables_.at(binder.variable.get()).operand);
  args.push_back(value);
  Step& step = add(block, StepKind::Set);
  step.args = std::move(args);
  step.dtype = dtype_of(update.node->body->type);
}

// The element is computed before the tensor is owned: that is to be the last use of it.
Operand Lowerer::set_element(const Update& update, const Operand& tensor, Block& block) {
  const auto set = [&](Block& inner) {
    const Operand value = scalar(update.changed, inner);
    const Operand target = owned(update, tensor, inner);
    set_point(update, target, value, inner);
    return target;
  };
  const std::optional<Operand> condition = is_changed(update, block);
  if (!condition) return set(block);
  std::vector<Block> blocks(2);
  memo_.emplace_back();
  blocks[0].values = {set(blocks[0])};
  memo_.pop_back();
  blocks[1].values = {tensor};
  return choice(*condition, std::move(blocks), cell_type(update.node->type), block);
}

// All points of the binders that have no value.
Operand Lowerer::set_row(const Update& update, const Operand& tensor, Block& block) {
  const Operand target = owned(update, tensor, block);
  Spread& variable = variables_.at(update.tensor->variable.get());
  const Spread before = std::exchange(variable, Spread::of(target));
  std::vector<lang::IndexBinder> running;
  for (std::size_t axis = 0; axis < update.fixed.size(); ++axis) {
    if (!update.fixed[axis]) running.push_back(update.node->binders[axis]);
  }
  Step step;
  step.kind = StepKind::Loop;
  binders(running, update.changed, step, block);
  step.site = site(update.span);
  step.blocks.resize(1);
  in_loop([&] {
    memo_.emplace_back();
    Block& body = step.blocks[0];
    const auto set = [&](Block& inner) {
      set_point(update, target, scalar(update.changed, inner), inner);
    };
    if (const auto condition = is_changed(update, body)) {
      std::vector<Block> blocks(2);
      memo_.emplace_back();
      set(blocks[0]);
      memo_.pop_back();
      Step& only = add(body, StepKind::If);
      only.args = {*condition};
      only.blocks = std::move(blocks);
    } else {
      set(body);
    }
    memo_.pop_back();
  });
  block.steps.push_back(std::move(step));
  variables_.at(update.tensor->variable.get()) = before;
  return target;
}

}  // namespace relay::flow
