#include "lang/obstacle.h"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "lang/lowerable.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::lang {

namespace {

bool is_scalar_tuple(const Type& type) {
  const auto* tuple = as<TupleType>(type);
  return tuple && !tuple->fields.empty();
}

std::string reason_of_call(const Call& call) {
  if (const auto* global = as<GlobalVar>(call.callee))
    return fmt::format("a call of `{}`", global->name);
  if (const auto* var = as<Var>(call.callee))
    return fmt::format("a call of the function value `{}`", var->variable->name);
  if (const auto* made = as<ConstructorRef>(call.callee)) {
    if (!made->constructor->span) return "data that a derivative keeps";
    return fmt::format("data: `{}`", made->constructor->name);
  }
  const auto* op = as<Operator>(call.callee);
  if (!op) return "a call of a function that is computed";
  const std::string& name = op->op->name;
  if (op->op->effect != Effect::None) return fmt::format("the effect of `{}`", name);
  if (!is_scalar(call.type)) return fmt::format("`{}`, which gives a tensor", name);
  for (const Expr& arg : call.args) {
    if (!is_scalar(arg->type)) return fmt::format("`{}` of a whole tensor", name);
  }
  return fmt::format("`{}`, which has no definition in scalars", name);
}

// Of a part whose own parts a kernel could hold.
std::string reason_of(const Expr& part) {
  switch (part->kind) {
    case ExprKind::Call:
      return reason_of_call(cast<Call>(part));
    case ExprKind::Match:
      return "a `match`";
    case ExprKind::Function:
      return "a local function";
    case ExprKind::RefCreate:
    case ExprKind::RefRead:
    case ExprKind::RefWrite:
      return "a reference";
    case ExprKind::Comprehension:
      return "a `for`, which gives a tensor";
    case ExprKind::Index:
      return is_scalar(part->type) ? "an element of a tensor that is made inside"
                                   : "a row or more of a tensor, taken whole";
    case ExprKind::Tuple:
    case ExprKind::Projection:
      return is_scalar_tuple(part->type) ? "a tuple" : "a part of a tuple";
    case ExprKind::If:
      return is_scalar(part->type) ? "an `if`" : "an `if` whose value is no scalar";
    default:
      return is_scalar(part->type)
                 ? std::string("what is no scalar code")
                 : fmt::format("a value of type `{}`, which is no scalar", to_string(part->type));
  }
}

// Looks for the part in the order of evaluation.
class Search {
 public:
  explicit Search(const Expr& nest) : nest_(nest) {}

  Obstacle run() {
    switch (nest_->kind) {
      case ExprKind::Comprehension: {
        const auto& node = cast<Comprehension>(nest_);
        if (auto found = enter(node.binders)) return *found;
        if (const auto* tuple = as<Tuple>(node.body)) return any(tuple->fields, node.body);
        return inside(node.body);
      }
      case ExprKind::Reduction:
        return reduction(cast<Reduction>(nest_));
      case ExprKind::ScatterReduce: {
        const auto& node = cast<ScatterReduce>(nest_);
        if (auto found = enter(node.binders)) return *found;
        std::vector<Expr> parts = node.indices;
        parts.push_back(node.value);
        return any(parts, nest_);
      }
      default:
        return blame(nest_);
    }
  }

 private:
  // What is wrong with the binders.
  std::optional<Obstacle> enter(const std::vector<IndexBinder>& binders) {
    if (parts_.enter(binders)) return std::nullopt;
    for (const IndexBinder& binder : binders) {
      if (parts_.enter({binder})) continue;
      const bool is_named = binder.extent && is_leaf(binder.extent);
      return Obstacle{
          binder.variable->span,
          is_named ? fmt::format("the extent of `{}` depends on an index", binder.variable->name)
                   : fmt::format("the extent of `{}` is computed inside", binder.variable->name)};
    }
    return Obstacle{nest_->span, "its extents"};
  }

  Obstacle blame(const Expr& part) const {
    return {part->span ? part->span : nest_->span, reason_of(part)};
  }

  // The first of `parts` that is refused, or the whole.
  Obstacle any(const std::vector<Expr>& parts, const Expr& whole) {
    for (const Expr& part : parts) {
      if (!parts_.holds(part)) return is_leaf(part) ? blame(part) : inside(part);
    }
    return blame(whole);
  }

  Obstacle reduction(const Reduction& node) {
    if (auto found = enter(node.binders)) return *found;
    return inside(node.body);
  }

  // Of a part that is refused.
  Obstacle inside(const Expr& start) {
    Expr part = start;
    while (const auto* let = as<Let>(part)) {
      if (!parts_.enter(*let)) return inside(let->value);
      part = let->body;
    }
    switch (part->kind) {
      case ExprKind::Call: {
        const auto& call = cast<Call>(part);
        if (call.callee->kind != ExprKind::Operator) return blame(part);
        return parts_of(call.args, part);
      }
      case ExprKind::Primitive:
        return parts_of(cast<Primitive>(part).args, part);
      case ExprKind::Index:
        return parts_of(cast<Index>(part).indices, part);
      case ExprKind::If: {
        const auto& node = cast<If>(part);
        return parts_of({node.condition, node.then_branch, node.else_branch}, part);
      }
      case ExprKind::Reduction:
        return reduction(cast<Reduction>(part));
      default:
        return blame(part);
    }
  }

  Obstacle parts_of(const std::vector<Expr>& parts, const Expr& whole) {
    for (const Expr& part : parts) {
      if (!is_leaf(part) && !parts_.holds(part)) return inside(part);
    }
    return blame(whole);
  }

  const Expr nest_;
  LowerableParts parts_;
};

}  // namespace

Obstacle kernel_obstacle(const Expr& nest) { return Search(nest).run(); }

}  // namespace relay::lang
