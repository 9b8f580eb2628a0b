#include "opt/values_apart.h"

#include <vector>

#include "lang/build.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::Expr;
using lang::IndexBinder;

namespace {

Expr apart(const lang::ScatterReduce& node) {
  std::vector<Expr> parts = node.indices;
  parts.push_back(node.value);
  const Expr values = lang::rename_bound(lang::make_comprehension(
      node.binders, lang::make_tuple(std::move(parts), node.value->span), node.span));
  const lang::VariableRef table = lang::make_variable("values", values->type, node.span);
  const Expr all = lang::make_var(table, node.span);
  std::vector<IndexBinder> binders;
  std::vector<Expr> point;
  for (const IndexBinder& binder : node.binders) {
    binders.push_back(
        {lang::make_variable(binder.variable->name, binder.variable->type, binder.variable->span),
         binder.extent});
    point.push_back(lang::make_var(binders.back().variable));
  }
  std::vector<lang::Binding> bindings = {{table, values, node.span}};
  const auto part = [&](std::size_t i) {
    const Expr field = lang::build::project(all, static_cast<std::uint32_t>(i));
    const lang::VariableRef name = lang::make_variable("part", field->type, node.span);
    bindings.push_back({name, field, node.span});
    return lang::make_index(lang::make_var(name), point, true, node.span);
  };
  std::vector<Expr> indices;
  for (std::size_t i = 0; i < node.indices.size(); ++i) indices.push_back(part(i));
  Expr value = part(node.indices.size());
  Expr scatter =
      lang::make_scatter_reduce(node.op, node.init, std::move(binders), std::move(indices),
                                std::move(value), node.span, node.type, node.algebra);
  return lang::close_block({std::move(bindings), std::move(scatter)});
}

class Splitter final : public lang::Rewriter {
 public:
  explicit Splitter(const std::unordered_set<const lang::ExprNode*>& scatters)
      : scatters_(scatters) {}

 protected:
  Expr pre(const Expr& expr) override {
    return scatters_.contains(expr.get()) ? apart(lang::cast<lang::ScatterReduce>(expr)) : nullptr;
  }

 private:
  const std::unordered_set<const lang::ExprNode*>& scatters_;
};

}  // namespace

Expr with_values_apart(const Expr& expr,
                       const std::unordered_set<const lang::ExprNode*>& scatters) {
  return Splitter(scatters).rewrite(expr);
}

}  // namespace relay::opt
