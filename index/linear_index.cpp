#include "index/linear_index.h"

#include <algorithm>
#include <cmath>

#include "lang/build.h"
#include "lang/extents.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::Expr;
using lang::IndexBinder;
using lang::Prim;
namespace build = lang::build;

namespace {

constexpr std::size_t kMostTerms = 4;

// False where a factor does not fit.
bool add_term(std::vector<LinearIndex::Term>& terms, const LinearIndex::Term& more) {
  const auto known = std::find_if(terms.begin(), terms.end(),
                                  [&](const auto& term) { return term.binder == more.binder; });
  if (known == terms.end()) {
    terms.push_back(more);
    return true;
  }
  const auto sum = lang::checked_add(known->factor, more.factor);
  if (!sum) return false;
  known->factor = *sum;
  if (*sum == 0) terms.erase(known);
  return true;
}

}  // namespace

Expr times(std::int64_t factor, const Expr& expr) {
  if (factor == 1) return expr;
  if (factor == -1) return build::sub(build::index_constant(0), expr);
  return build::mul(expr, build::index_constant(factor));
}

Expr extent_of_axis(const lang::Dim& length) {
  return length.is_constant() ? build::index_constant(length.constant())
                              : lang::make_dim_term(length);
}

std::optional<std::int64_t> number_in(const Expr& expr) {
  constexpr double kMost = 1 << 30;
  const auto* constant = as<lang::Constant>(expr);
  if (!constant || std::abs(constant->value->number_at(0)) > kMost) return std::nullopt;
  return static_cast<std::int64_t>(constant->value->number_at(0));
}

LinearIndices::LinearIndices(const std::vector<IndexBinder>& domain) {
  for (const IndexBinder& binder : domain) binders_.emplace(binder.variable.get(), &binder);
}

std::optional<LinearIndex> LinearIndices::of(const Expr& index) {
  lang::visit_post_order(index, [&](const Expr& node) {
    bool mentions = as<lang::Var>(node) && vary(node);
    lang::for_each_child(
        node, [&](const Expr& child) { mentions = mentions || mentions_.contains(child.get()); });
    if (mentions) mentions_.insert(node.get());
    forms_.emplace(node.get(), form(node));
  });
  return forms_.at(index.get());
}

bool LinearIndices::vary(const Expr& expr) const {
  const auto free = lang::free_variables(expr);
  return std::any_of(free.begin(), free.end(),
                     [&](const auto& variable) { return binders_.contains(variable.get()); });
}

// What does not depend on the binders that it mentions, as in `d[i - i]`, is that anywhere.
Expr LinearIndices::at_first_point(const Expr& node) const {
  lang::Substitution first;
  for (const auto& [variable, binder] : binders_) first.emplace(variable, build::index_constant(0));
  return lang::substitute(node, first);
}

// Of a node whose parts are known.
std::optional<LinearIndex> LinearIndices::form(const Expr& node) const {
  if (const auto* var = as<lang::Var>(node)) {
    const auto found = binders_.find(var->variable.get());
    return found == binders_.end() ? LinearIndex{{}, node}
                                   : LinearIndex{{{found->second, 1}}, nullptr};
  }
  bool varies = false;
  lang::for_each_child(node, [&](const Expr& child) {
    const auto& part = forms_.at(child.get());
    varies = varies || !part || !part->terms.empty();
  });
  if (!varies) return LinearIndex{{}, mentions_.contains(node.get()) ? at_first_point(node) : node};
  const auto step = lang::arithmetic_step(node);
  if (!step) return std::nullopt;
  switch (step->prim) {
    case Prim::Add:
      return sum(step->args[0], 1, step->args[1], 1);
    case Prim::Sub:
      return sum(step->args[0], 1, step->args[1], -1);
    case Prim::Neg:
      return sum(step->args[0], -1, nullptr, 0);
    case Prim::Mul:
      if (const auto factor = number_in(step->args[1]))
        return sum(step->args[0], *factor, nullptr, 0);
      if (const auto factor = number_in(step->args[0]))
        return sum(step->args[1], *factor, nullptr, 0);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<LinearIndex> LinearIndices::sum(const Expr& a, std::int64_t p, const Expr& b,
                                              std::int64_t q) const {
  LinearIndex both;
  for (const auto& [part, factor] : {std::pair(a, p), std::pair(b, q)}) {
    if (factor == 0) continue;
    const auto& known = forms_.at(part.get());
    if (!known) return std::nullopt;
    for (const auto& term : known->terms) {
      const auto product = lang::checked_mul(term.factor, factor);
      if (!product || !add_term(both.terms, {term.binder, *product})) return std::nullopt;
    }
    if (!known->offset) continue;
    const Expr more = times(factor, known->offset);
    both.offset = both.offset ? build::add(both.offset, more) : more;
  }
  if (both.terms.empty() && !both.offset)  // `i - i`
    both.offset = build::constant_int(as<lang::TensorType>(a->type)->dtype.known(), 0);
  return both.terms.size() <= kMostTerms ? std::optional(both) : std::nullopt;
}

}  // namespace relay::index
