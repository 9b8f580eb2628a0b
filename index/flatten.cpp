#include "index/flatten.h"

#include <unordered_map>

#include "lang/build.h"

namespace relay::index {

using lang::Expr;
using lang::ExprKind;
using lang::ExprNode;

namespace {

class Flattener {
 public:
  // Binds what comes before the value of `expr`, which is then a single step or an atom.
  Expr step(const Expr& root) {
    const Expr* expr = &root;
    while (const auto* let = lang::as<lang::Let>(*expr)) {
      block_.bindings.push_back({let->variable, step(let->value), (*expr)->span});
      expr = &let->body;
    }
    switch ((*expr)->kind) {
      case ExprKind::Call: {
        const auto& call = lang::cast<lang::Call>(*expr);
        return lang::make_call(call.callee, atoms(call.args), call.attrs, (*expr)->span,
                               (*expr)->type, call.algebra);
      }
      case ExprKind::Tuple:
        return lang::make_tuple(atoms(lang::cast<lang::Tuple>(*expr).fields), (*expr)->span,
                                (*expr)->type);
      case ExprKind::Projection: {
        const auto& projection = lang::cast<lang::Projection>(*expr);
        return lang::make_projection(atom(projection.tuple), projection.index, (*expr)->span,
                                     (*expr)->type);
      }
      case ExprKind::ScatterReduce: {
        const auto& scatter = lang::cast<lang::ScatterReduce>(*expr);
        if (lang::build::is_atom(scatter.init)) return *expr;
        return lang::make_scatter_reduce(scatter.op, atom(scatter.init), scatter.binders,
                                         scatter.indices, scatter.value, (*expr)->span,
                                         (*expr)->type, scatter.algebra);
      }
      default:
        return *expr;
    }
  }

  lang::Block take(Expr result) {
    block_.result = std::move(result);
    return std::move(block_);
  }

 private:
  std::vector<Expr> atoms(const std::vector<Expr>& parts) {
    std::vector<Expr> result;
    result.reserve(parts.size());
    for (const Expr& part : parts) result.push_back(atom(part));
    return result;
  }

  Expr atom(const Expr& expr) {
    if (lang::build::is_atom(expr)) return expr;
    if (const auto found = names_.find(expr.get()); found != names_.end()) return found->second;
    Expr value = step(expr);
    if (lang::build::is_atom(value)) return value;
    const lang::VariableRef variable = lang::make_variable("part", expr->type, expr->span);
    block_.bindings.push_back({variable, std::move(value), expr->span});
    return names_.emplace(expr.get(), lang::make_var(variable)).first->second;
  }

  lang::Block block_;
  std::unordered_map<const ExprNode*, Expr> names_;  // of the shared parts, among others
};

}  // namespace

lang::Block flatten(const lang::Expr& definition) {
  Flattener flattener;
  Expr result = flattener.step(definition);
  return flattener.take(std::move(result));
}

}  // namespace relay::index
