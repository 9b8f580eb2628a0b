#include "lang/repeated_work.h"

#include <algorithm>
#include <utility>

#include "lang/pointer_map.h"
#include "lang/visit.h"

namespace relay::lang {

namespace {

// Does it take longer than a few steps of arithmetic?
bool is_work(const Expr& value) {
  switch (value->kind) {
    case ExprKind::Comprehension:
    case ExprKind::Reduction:
      return true;
    case ExprKind::Call: {
      const auto& call = cast<Call>(value);
      if (call.callee->kind == ExprKind::ConstructorRef) return false;
      if (call.callee->kind != ExprKind::Operator) return true;
      return std::any_of(call.args.begin(), call.args.end(), [](const Expr& arg) {
        return as<TensorType>(arg->type) && !is_scalar(arg->type);
      });
    }
    default:
      return false;
  }
}

bool is_of_tensors(const Type& type) {
  if (const auto* tuple = as<TupleType>(type))
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), is_of_tensors);
  return as<TensorType>(type) != nullptr;
}

class Search {
 public:
  std::vector<Obstacle> run(const Expr& nest) {
    visit(nest);
    return std::move(found_);
  }

 private:
  // The body of one piece of index notation.
  struct Body {
    PointerSet<Variable> inside;  // what depends on its indices
    bool is_branch = false;       // here it need not be evaluated
  };

  void visit(const Expr& expr) {
    switch (expr->kind) {
      case ExprKind::Comprehension: {
        const auto& node = cast<Comprehension>(expr);
        return enter(node.binders, {node.body});
      }
      case ExprKind::Reduction: {
        const auto& node = cast<Reduction>(expr);
        return enter(node.binders, {node.body});
      }
      case ExprKind::ScatterReduce: {
        const auto& node = cast<ScatterReduce>(expr);
        std::vector<Expr> parts = node.indices;
        parts.push_back(node.value);
        return enter(node.binders, parts);
      }
      case ExprKind::Function:
        return;
      default:
        for_each_child(expr, [this](const Expr& child) { visit(child); });
    }
  }

  void enter(const std::vector<IndexBinder>& binders, const std::vector<Expr>& parts) {
    Body body;
    for (const IndexBinder& binder : binders) body.inside.insert(binder.variable.get());
    for (const Expr& part : parts) block(part, body);
  }

  void block(const Expr& root, Body& body) {
    const Expr* at = &root;
    for (; const auto* let = as<Let>(*at); at = &let->body) {
      if (value(let->value, body)) body.inside.insert(let->variable.get());
    }
    value(*at, body);
  }

  // Does it depend on the indices?
  bool value(const Expr& expr, Body& body) {
    const auto free = free_variables(expr);
    const bool depends = std::any_of(free.begin(), free.end(), [&](const VariableRef& variable) {
      return body.inside.contains(variable.get());
    });
    if (!depends) {
      if (is_work(expr)) tell(expr, body);
      return false;
    }
    if (is_index_notation(expr)) {
      visit(expr);
    } else if (expr->kind == ExprKind::If || expr->kind == ExprKind::Match) {
      branches(expr, body);
    } else if (expr->kind != ExprKind::Function) {
      for_each_child(expr, [&](const Expr& child) { value(child, body); });
    }
    return true;
  }

  void branches(const Expr& expr, Body& body) {
    const bool was_branch = std::exchange(body.is_branch, true);
    if (const auto* branch = as<If>(expr)) {
      block(branch->then_branch, body);
      block(branch->else_branch, body);
    }
    if (const auto* match = as<Match>(expr)) {
      for (const Clause& clause : match->clauses) {
        for_each_variable(clause.pattern,
                          [&](const VariableRef& variable) { body.inside.insert(variable.get()); });
        block(clause.body, body);
      }
    }
    body.is_branch = was_branch;
  }

  static bool is_index_notation(const Expr& expr) {
    return expr->kind == ExprKind::Comprehension || expr->kind == ExprKind::Reduction ||
           expr->kind == ExprKind::ScatterReduce;
  }

  void tell(const Expr& expr, const Body& body) {
    if (!expr->span) return;
    const bool is_known = std::any_of(found_.begin(), found_.end(), [&](const Obstacle& other) {
      return other.place == expr->span;
    });
    if (is_known) return;
    found_.push_back({expr->span, reason(expr, body)});
  }

  static std::string reason(const Expr& expr, const Body& body) {
    if (body.is_branch) return "not every point may need it";
    if (is_of_tensors(expr->type)) return "what it calls may do more than give a value";
    return "its value is no tensor, and there may be no point";
  }

  std::vector<Obstacle> found_;
};

}  // namespace

std::vector<Obstacle> repeated_work(const Expr& nest) { return Search().run(nest); }

}  // namespace relay::lang
