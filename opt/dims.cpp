#include "opt/dims.h"

#include <unordered_map>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::Dim;
using lang::Expr;

namespace {

// Where the value of a dim variable can be read: axis `axis` of the tensor `tensor`.
struct Place {
  Expr tensor;
  std::int64_t axis;
};
using Places = std::unordered_map<const lang::TypeVar*, Place>;

void note_places(const lang::Type& type, const Expr& value, Places& places) {
  if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      note_places(tuple->fields[i], lang::build::project(value, i), places);
    }
  }
  const auto* tensor = lang::as<lang::TensorType>(type);
  if (!tensor || !tensor->shape.has_rank()) return;
  for (std::size_t axis = 0; axis < tensor->shape.rank(); ++axis) {
    if (const auto var = tensor->shape[axis].as_variable()) {
      places.emplace(var.get(), Place{value, static_cast<std::int64_t>(axis)});
    }
  }
}

class DimResolver final : public lang::Rewriter {
 public:
  explicit DimResolver(const Places& places) : places_(places) {}

 protected:
  Expr post(const Expr& expr) override {
    const auto* term = lang::as<lang::DimTerm>(expr);
    if (!term) return expr;
    if (term->dim.is_constant()) return lang::build::index_constant(term->dim.constant());
    return value_of(term->dim, expr->span);
  }

 private:
  Expr value_of(const Dim& dim, lang::Span span) {
    Expr sum;
    const auto add = [&](Expr term) {
      sum = sum ? lang::build::op("add", {sum, std::move(term)}) : std::move(term);
    };
    for (const auto& term : dim.terms()) {
      Expr product;
      if (term.coefficient != 1) product = lang::build::index_constant(term.coefficient);
      for (const auto& atom : term.atoms) {
        Expr factor = atom_value(*atom, span);
        product = product ? lang::build::op("multiply", {product, factor}) : factor;
      }
      add(product);
    }
    if (dim.constant() != 0 || !sum) add(lang::build::index_constant(dim.constant()));
    return sum;
  }

  Expr atom_value(const lang::DimAtom& atom, lang::Span span) {
    if (!atom.variable) {
      return lang::build::op("floor_divide", {value_of(atom.division->first, span),
                                              value_of(atom.division->second, span)});
    }
    const auto found = places_.find(atom.variable.get());
    if (found == places_.end()) {
      lang::fail(
          lang::DiagnosticKind::Unsupported,
          fmt::format(
              "not supported: the dim `{}` as a value: no parameter has it as an axis of its own",
              atom.variable->name),
          span);
    }
    return lang::build::op("dim_of", {found->second.tensor}, {{"axis", found->second.axis}});
  }

  const Places& places_;
};

}  // namespace

Expr resolve_dim_terms(const Expr& expr) {
  bool has_terms = false;
  std::vector<const lang::Function*> functions;
  lang::visit_post_order(expr, [&](const Expr& node) {
    has_terms = has_terms || node->kind == lang::ExprKind::DimTerm;
    if (const auto* fn = lang::as<lang::Function>(node)) functions.push_back(fn);
  });
  if (!has_terms) return expr;
  Places places;
  for (auto it = functions.rbegin(); it != functions.rend(); ++it) {  // outermost first
    for (const auto& param : (*it)->params) note_places(param->type, lang::make_var(param), places);
  }
  return DimResolver(places).rewrite(expr);
}

}  // namespace relay::opt
