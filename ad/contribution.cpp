#include "ad/contribution.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "lang/build.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Dim;
using lang::Expr;
using lang::IndexBinder;
namespace build = lang::build;

namespace {

const lang::Variable* binder_of(const Expr& index) {
  const auto* var = as<lang::Var>(index);
  return var ? var->variable.get() : nullptr;
}

std::optional<Dim> dim_of(const Expr& extent) {
  if (const auto* term = as<lang::DimTerm>(extent)) return term->dim;
  if (const auto* constant = as<lang::Constant>(extent))
    return Dim(static_cast<std::int64_t>(constant->value->number_at(0)));
  return std::nullopt;
}

// Every index is a binder of its own that runs over exactly that axis.
bool inverts(const Contribution& read, const lang::TensorType& tensor) {
  std::unordered_set<const lang::Variable*> seen;
  for (std::size_t axis = 0; axis < read.indices.size(); ++axis) {
    const auto* variable = binder_of(read.indices[axis]);
    if (!variable || !seen.insert(variable).second) return false;
    const auto found =
        std::find_if(read.domain.begin(), read.domain.end(),
                     [&](const IndexBinder& binder) { return binder.variable.get() == variable; });
    if (found == read.domain.end()) return false;
    const auto dim = dim_of(found->extent);
    if (!dim || !(*dim == tensor.shape[axis])) return false;
  }
  return true;
}

Expr gather(const Contribution& read) {
  std::vector<IndexBinder> kept, summed;
  for (const Expr& index : read.indices) {
    for (const auto& binder : read.domain) {
      if (binder.variable.get() == binder_of(index)) kept.push_back(binder);
    }
  }
  for (const auto& binder : read.domain) {
    const bool is_kept = std::any_of(kept.begin(), kept.end(), [&](const IndexBinder& other) {
      return other.variable == binder.variable;
    });
    if (!is_kept) summed.push_back(binder);
  }
  Expr body = read.value;
  if (!summed.empty()) body = lang::make_reduction(lang::ReduceOp::Sum, summed, body);
  if (!kept.empty()) body = lang::make_comprehension(kept, body);
  return lang::rename_bound(body);
}

bool are_same(const Expr& a, const Expr& b) {
  return a == b || (binder_of(a) && binder_of(a) == binder_of(b));
}

bool have_same_place(const Contribution& a, const Contribution& b) {
  return a.variable == b.variable && !a.is_whole() &&
         std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end(),
                    are_same) &&
         std::equal(
             a.domain.begin(), a.domain.end(), b.domain.begin(), b.domain.end(),
             [](const IndexBinder& x, const IndexBinder& y) { return x.variable == y.variable; });
}

}  // namespace

Expr placed(const Contribution& read) {
  if (read.is_whole()) return read.value;
  const auto* tensor = as<lang::TensorType>(read.variable->type);
  RELAY_CHECK(tensor && tensor->shape.has_rank(), "what is indexed is a tensor");
  if (inverts(read, *tensor)) return gather(read);
  const Expr init = build::zeros_like(lang::make_var(read.variable));
  return lang::rename_bound(lang::make_scatter_reduce(lang::ReduceOp::Sum, init, read.domain,
                                                      read.indices, read.value, read.span,
                                                      read.variable->type));
}

void add_to(std::vector<Contribution>& contributions, Contribution contribution) {
  for (Contribution& known : contributions) {
    if (!have_same_place(known, contribution)) continue;
    known.value = build::add(known.value, contribution.value);
    return;
  }
  contributions.push_back(std::move(contribution));
}

std::vector<Expr> uses_of(const std::vector<IndexBinder>& binders) {
  std::vector<Expr> uses;
  uses.reserve(binders.size());
  for (const auto& binder : binders) uses.push_back(lang::make_var(binder.variable));
  return uses;
}

}  // namespace relay::ad
