#include "ad/reduce_adjoint.h"

#include "ad/primal.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::Expr;
using lang::IndexBinder;
using lang::Prim;
using lang::ReduceOp;
namespace build = lang::build;

namespace {

std::vector<IndexBinder> joined(std::vector<IndexBinder> a, const std::vector<IndexBinder>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The element, which is read from a table where it takes more than a read.
Expr read_again(const Expr& element, const std::vector<IndexBinder>& points, Emitter& code) {
  if (is_read(element)) return element;
  return build::at(tabulated("elements", points, element, code), uses_of(points));
}

// Those elements that equal the extreme one share its adjoint.
Expr share(ReduceOp op, const Expr& given, const std::vector<IndexBinder>& domain,
           const std::vector<IndexBinder>& over, const Expr& a, Emitter& code) {
  const Expr element = read_again(given, joined(domain, over), code);
  const Expr extreme = tabulated("extreme", domain, lang::make_reduction(op, over, element), code);
  const Expr is_extreme = build::prim(Prim::Eq, {element, build::at(extreme, uses_of(domain))});
  const Expr zero = build::scalar_like(a, 0);
  const Expr ties = lang::make_reduction(ReduceOp::Sum, over,
                                         build::select(is_extreme, build::scalar_like(a, 1), zero));
  const bool is_own = !lang::used_by(a, over).empty();  // one for each element
  const Expr table =
      tabulated(is_own ? "ties" : "shares", domain, is_own ? ties : build::div(a, ties), code);
  const Expr read = build::at(table, uses_of(domain));
  return build::select(is_extreme, is_own ? build::div(a, read) : read, zero);
}

// The product of the other elements: of the others along the last axis, times that of the other
// products along the axis before it, and so on.
Expr others(const Expr& element, const std::vector<IndexBinder>& domain,
            std::vector<IndexBinder> over, const Expr& a, Emitter& code) {
  Expr adjoint = a;
  Expr products = tabulated("elements", joined(domain, over), element, code);
  while (!over.empty()) {
    const auto axis = static_cast<std::int64_t>(domain.size() + over.size() - 1);
    const Expr along =
        code.emit("others", build::op("product_of_others", {products}, {{"axis", axis}}));
    adjoint = build::mul(adjoint, build::at(along, uses_of(joined(domain, over))));
    over.pop_back();
    if (!over.empty())
      products = code.emit("products", build::op("prod", {products}, {{"axis", axis}}));
  }
  return adjoint;
}

}  // namespace

Expr element_adjoint(ReduceOp op, const Expr& element, const std::vector<IndexBinder>& domain,
                     const std::vector<IndexBinder>& over, const Expr& a, Emitter& code) {
  switch (op) {
    case ReduceOp::Sum:
      return a;
    case ReduceOp::Max:
    case ReduceOp::Min:
      return share(op, element, domain, over, a, code);
    case ReduceOp::Prod:
      return others(element, domain, over, a, code);
    case ReduceOp::All:
    case ReduceOp::Any:
    case ReduceOp::ArgMax:
    case ReduceOp::ArgMin:
    case ReduceOp::Dot:  // a sum by now (KnownFunctions::prepared)
    case ReduceOp::Set:
      break;
  }
  RELAY_CHECK(false, "a reduction to what is no float has no adjoint");
  return nullptr;
}

Expr tabulated(const std::string& name, const std::vector<IndexBinder>& domain, const Expr& body,
               Emitter& code) {
  const Expr table = domain.empty() ? body : lang::make_comprehension(domain, body);
  return code.emit(name, lang::rename_bound(table));
}

}  // namespace relay::ad
