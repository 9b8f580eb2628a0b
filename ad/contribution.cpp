#include "ad/contribution.h"

#include <algorithm>
#include <unordered_set>

#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Dim;
using lang::Expr;
using lang::IndexBinder;
using lang::VariableRef;
namespace build = lang::build;

namespace {

const lang::Variable* binder_of(const Expr& index) {
  const auto* var = as<lang::Var>(index);
  return var ? var->variable.get() : nullptr;
}

const Dim& extent_of(const VariableRef& tensor, std::size_t axis) {
  return as<lang::TensorType>(tensor->type)->shape[axis];
}

// Is this the extent of an axis of `tensor`?
bool is_extent(const Expr& extent, const VariableRef& tensor, std::size_t axis,
               const Extents& extents) {
  const Dim& dim = extent_of(tensor, axis);
  if (const auto* term = as<lang::DimTerm>(extent)) return term->dim == dim;
  if (const auto* constant = as<lang::Constant>(extent))
    return dim.is_constant(static_cast<std::int64_t>(constant->value->number_at(0)));
  const auto* var = as<lang::Var>(extent);
  const auto found = var ? extents.find(var->variable.get()) : extents.end();
  if (found == extents.end()) return false;
  const auto& [other, other_axis] = found->second;
  const bool is_same = other == tensor && other_axis == axis;
  return is_same || (!dim.is_any() && extent_of(other, other_axis) == dim);
}

// Every index is a binder of its own that runs over exactly that axis.
bool inverts(const Contribution& read, const Extents& extents) {
  std::unordered_set<const lang::Variable*> seen;
  for (std::size_t axis = 0; axis < read.indices.size(); ++axis) {
    const auto* variable = binder_of(read.indices[axis]);
    if (!variable || !seen.insert(variable).second) return false;
    const auto found =
        std::find_if(read.domain.begin(), read.domain.end(),
                     [&](const IndexBinder& binder) { return binder.variable.get() == variable; });
    if (found == read.domain.end() || !is_extent(found->extent, read.variable, axis, extents))
      return false;
  }
  return true;
}

// What is read from a table is summed over the binders that do not occur in the indices before it
// is scattered; a scatter of products may be one that a library knows. A binder that may have no
// points stays: an element that it does not read need not exist.
Contribution summed(Contribution read) {
  if (without_sign(read.value).value->kind != lang::ExprKind::Index) return read;
  std::unordered_set<const lang::Variable*> used;
  for (const Expr& index : read.indices) {
    for (const VariableRef& variable : lang::free_variables(index)) used.insert(variable.get());
  }
  for (const IndexBinder& binder : read.domain) {
    for (const VariableRef& variable : lang::free_variables(binder.extent))
      used.insert(variable.get());
  }
  const auto rest =
      std::stable_partition(read.domain.begin(), read.domain.end(), [&](const IndexBinder& binder) {
        return used.contains(binder.variable.get()) || number_of_points({binder}).value_or(0) <= 0;
      });
  std::vector<IndexBinder> unused(rest, read.domain.end());
  read.domain.erase(rest, read.domain.end());
  if (!unused.empty())
    read.value = lang::make_reduction(lang::ReduceOp::Sum, std::move(unused), read.value);
  return read;
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
  // Its type says what the extents may not: that it is as large as the variable.
  if (!kept.empty()) body = lang::make_comprehension(kept, body, {}, read.variable->type);
  return lang::rename_bound(body);
}

bool are_same(const Expr& a, const Expr& b) {
  return a == b || (binder_of(a) && binder_of(a) == binder_of(b));
}

bool have_same_place(const Contribution& a, const Contribution& b) {
  return a.variable == b.variable && !a.is_whole() &&
         std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end(),
                    are_same) &&
         are_same_points(a.domain, b.domain);
}

}  // namespace

void note_extent(const lang::Binding& binding, Extents& extents) {
  const auto* call = as<lang::Call>(binding.value);
  const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
  if (!op || op->op->name != "dim_of") return;
  const auto* tensor = as<lang::Var>(call->args[0]);
  const auto* type = as<lang::TensorType>(call->args[0]->type);
  if (!tensor || !type || !type->shape.has_rank()) return;
  std::int64_t axis = call->attrs->get_int("axis");
  if (axis < 0) axis += static_cast<std::int64_t>(type->shape.rank());
  extents[binding.variable.get()] = {tensor->variable, static_cast<std::size_t>(axis)};
}

Expr placed(const Contribution& contribution, const Extents& extents) {
  if (contribution.is_whole()) return contribution.value;
  const auto* tensor = as<lang::TensorType>(contribution.variable->type);
  RELAY_CHECK(tensor && tensor->shape.has_rank(), "what is indexed is a tensor");
  if (inverts(contribution, extents)) return gather(contribution);
  const Contribution read = summed(contribution);
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

bool are_same_points(const std::vector<IndexBinder>& a, const std::vector<IndexBinder>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const IndexBinder& x, const IndexBinder& y) { return x.variable == y.variable; });
}

std::optional<double> number_of_points(const std::vector<IndexBinder>& binders) {
  double number = 1;
  for (const IndexBinder& binder : binders) {
    const auto* extent = as<lang::Constant>(binder.extent);
    if (!extent) return std::nullopt;
    number *= extent->value->number_at(0);
  }
  return number;
}

Signed without_sign(const Expr& value) {
  const auto step = lang::arithmetic_step(value);
  if (!step || step->prim != lang::Prim::Neg) return {value, false};
  return {step->args[0], true};
}

std::vector<Expr> uses_of(const std::vector<IndexBinder>& binders) {
  std::vector<Expr> uses;
  uses.reserve(binders.size());
  for (const auto& binder : binders) uses.push_back(lang::make_var(binder.variable));
  return uses;
}

}  // namespace relay::ad
