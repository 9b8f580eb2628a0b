#include "ad/contribution.h"

#include <algorithm>
#include <utility>

#include "lang/binders.h"
#include "lang/build.h"
#include "lang/op.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
namespace build = lang::build;

namespace {

const lang::Variable* binder_of(const Expr& index) {
  const auto* var = as<lang::Var>(index);
  return var ? var->variable.get() : nullptr;
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

Contribution without_guard(Contribution contribution) {
  const Expr guard = std::exchange(contribution.guard, nullptr);
  if (!guard) return contribution;
  for (Expr& index : contribution.indices) {
    const auto dtype = as<lang::TensorType>(index->type)->dtype.known();
    index = build::select(guard, index, build::constant_int(dtype, 0));
  }
  return contribution;
}

void add_to(std::vector<Contribution>& contributions, Contribution contribution) {
  for (Contribution& known : contributions) {
    if (!have_same_place(known, contribution)) continue;
    known.value = build::add(known.value, contribution.value);
    if (known.guard != contribution.guard) {
      const bool is_always = !known.guard || !contribution.guard;
      known.guard =
          is_always ? nullptr : build::prim(lang::Prim::Or, {known.guard, contribution.guard});
    }
    return;
  }
  contributions.push_back(std::move(contribution));
}

Signed without_sign(const Expr& value) {
  const auto step = lang::arithmetic_step(value);
  if (!step || step->prim != lang::Prim::Neg) return {value, false};
  return {step->args[0], true};
}

}  // namespace relay::ad
