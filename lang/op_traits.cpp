#include "lang/op_traits.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "lang/pointer_map.h"
#include "lang/visit.h"

namespace relay::lang {

bool is_commutative(const OpDef& op) {
  if (!op.elementwise) return false;
  switch (*op.elementwise) {
    case Prim::Add:
    case Prim::Mul:
    case Prim::Eq:
    case Prim::Ne:
    case Prim::And:
    case Prim::Or:
    case Prim::Xor:
      return true;
    default:  // Min and Max may tell the two zeros apart
      return false;
  }
}

namespace {

struct TraitRow {
  OpTrait trait;
  std::vector<std::string_view> ops;
};

const std::vector<TraitRow>& trait_rows() {
  static const std::vector<TraitRow> kRows = {
      {OpTrait::Reshapes,
       {"reshape", "expand_dims", "squeeze", "reshape_like", "nn.batch_flatten"}},
      {OpTrait::Broadcasts, {"broadcast_to", "broadcast_to_like"}},
      {OpTrait::TakesShape, {"broadcast_to_like", "collapse_sum_like", "reshape_like"}},
      {OpTrait::Fills, {"zeros_like", "ones_like"}},
      {OpTrait::Pairwise,
       {"add", "subtract", "multiply", "divide", "maximum", "minimum", "equal", "not_equal", "less",
        "less_equal", "greater", "greater_equal"}},
      {OpTrait::KeepsShape,
       {"negative", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "abs", "nn.relu",
        "nn.softmax", "nn.log_softmax", "cast"}}};
  return kRows;
}

// A bit for each trait.
const PointerMap<OpDef, std::uint8_t>& trait_table() {
  static const PointerMap<OpDef, std::uint8_t> kTable = [] {
    PointerMap<OpDef, std::uint8_t> table;
    for (const TraitRow& row : trait_rows()) {
      for (const std::string_view name : row.ops) {
        std::uint8_t& traits = table[&OpRegistry::instance().get(name)];
        traits = static_cast<std::uint8_t>(traits | (1U << static_cast<unsigned>(row.trait)));
      }
    }
    return table;
  }();
  return kTable;
}

}  // namespace

bool has_trait(const OpDef& op, OpTrait trait) {
  const std::uint8_t* traits = trait_table().find(&op);
  return traits && ((*traits >> static_cast<unsigned>(trait)) & 1U) != 0;
}

Expr definition_of(const Call& call) {
  const auto* callee = as<Operator>(call.callee);
  if (!callee || !callee->op->definition || !call.type) return nullptr;
  const OpDef& op = *callee->op;
  std::vector<Expr> args;
  for (const Expr& arg : call.args) {
    if (!arg->type) return nullptr;
    args.push_back(make_var(make_variable("x", arg->type)));
  }
  const auto made = capture([&] {
    AttrsRef attrs =
        call.attrs || op.attrs.empty() ? call.attrs : complete_attrs(op, nullptr, call.span);
    return definition_at(op, {std::move(args), std::move(attrs), call.type}, Algebra::Bits);
  });
  return made && made.value() ? *made.value() : nullptr;
}

namespace {

// Is each index one of the binders, in their order from the last on, or 0 where the operand is
// stretched?
bool reads_own_place(const Index& index, const std::vector<IndexBinder>& binders) {
  if (index.indices.size() > binders.size()) return false;
  const std::size_t offset = binders.size() - index.indices.size();
  for (std::size_t i = 0; i < index.indices.size(); ++i) {
    const auto* var = as<Var>(index.indices[i]);
    if (var && var->variable == binders[offset + i].variable) continue;
    const auto* constant = as<Constant>(index.indices[i]);
    if (!constant || constant->value->number_at(0) != 0) return false;
  }
  return true;
}

bool is_within(const Expr& expr, const std::function<bool(const Expr&)>& holds) {
  bool all = true;
  visit_post_order(expr, [&](const Expr& node) { all = all && holds(node); });
  return all;
}

// Every tensor is read at the place that is computed, and nothing is folded.
bool is_elementwise_stage(const Expr& value) {
  const auto* loop = as<Comprehension>(value);
  return is_within(loop ? loop->body : value, [&](const Expr& node) {
    if (const auto* index = as<Index>(node)) return loop && reads_own_place(*index, loop->binders);
    return node->kind != ExprKind::Reduction && node->kind != ExprKind::Comprehension &&
           node->kind != ExprKind::ScatterReduce && node->kind != ExprKind::Call;
  });
}

// Every element is read somewhere, and nothing is computed with it.
bool is_move(const Expr& definition) {
  const auto* loop = as<Comprehension>(definition);
  const auto* index = loop ? as<Index>(loop->body) : nullptr;
  return index && index->tensor->kind == ExprKind::Var;
}

bool folds(const Expr& definition) {
  bool found = false;
  visit_post_order(definition,
                   [&](const Expr& node) { found = found || node->kind == ExprKind::Reduction; });
  return found;
}

// Has the result fewer axes, or are some that the operand has 1?
bool is_smaller(const Type& result, const Type& operand) {
  const auto* to = as<TensorType>(result);
  const auto* from = as<TensorType>(operand);
  if (!to || !from || !to->shape.has_rank() || !from->shape.has_rank()) return false;
  return to->shape.rank() < from->shape.rank() ||
         (to->shape.rank() == from->shape.rank() && !(to->shape == from->shape) &&
          std::equal(to->shape.dims().begin(), to->shape.dims().end(), from->shape.dims().begin(),
                     [](const Dim& a, const Dim& b) { return a == b || a.is_constant(1); }));
}

}  // namespace

bool has_trait(const Call& call, PatternForm trait) {
  const auto* callee = as<Operator>(call.callee);
  if (!callee || callee->op->effect != Effect::None) return false;
  if (trait == PatternForm::Operator) return true;
  if (!call.type) return false;
  if (callee->op->elementwise) return trait == PatternForm::Elementwise;
  if (trait == PatternForm::Reduction &&
      !(call.args.size() == 1 && is_smaller(call.type, call.args[0]->type)))
    return false;
  const Expr definition = definition_of(call);
  if (!definition) return false;
  switch (trait) {
    case PatternForm::Elementwise: {
      const Block block = open_block(definition);
      return !is_move(definition) && is_elementwise_stage(block.result) &&
             std::all_of(block.bindings.begin(), block.bindings.end(),
                         [](const Binding& each) { return is_elementwise_stage(each.value); });
    }
    case PatternForm::Injective:
      return is_move(definition);
    case PatternForm::Reduction:
      return folds(definition);
    default:
      return false;
  }
}

}  // namespace relay::lang
