#include "opt/dims.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/match_dims.h"
#include "lang/record.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::Dim;
using lang::Expr;

namespace {

// An axis of a parameter, whose extent is `dim`.
struct Axis {
  Expr tensor;
  std::int64_t axis;
  Dim dim;
};

// Where the value of a dim variable can be read: the extent of an axis is coefficient * it + rest.
struct Place {
  Axis axis;
  std::int64_t coefficient;
  Dim rest;
};
using Places = std::unordered_map<const lang::TypeVar*, Place>;

// The axes of what is in values, in the order in which places are looked for.
class AxisNotes {
 public:
  void add(const Expr& value) { note(value->type, value); }
  // Also those of the records among the values, behind all others: these cost less to read.
  std::vector<Axis> take() {
    for (int left = kMostRecords; !records_.empty() && left > 0; --left) {
      const Expr record = std::move(records_.front());
      records_.pop_front();
      const auto* adt = lang::as<lang::AdtType>(record->type);
      const lang::Constructor& constructor = adt->def->constructors.front();
      for (std::size_t i = 0; i < constructor.fields.size(); ++i)
        add(lang::read_field(record, constructor, i, record->span));
    }
    return std::move(axes_);
  }

 private:
  static constexpr int kMostRecords = 100;  // they may hold themselves

  void note(const lang::Type& type, const Expr& value) {
    if (const auto* tuple = lang::as<lang::TupleType>(type)) {
      for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
        note(tuple->fields[i], lang::build::project(value, i));
    }
    const auto* adt = lang::as<lang::AdtType>(type);
    if (adt && adt->def->constructors.size() == 1 && !adt->args.empty()) records_.push_back(value);
    const auto* tensor = lang::as<lang::TensorType>(type);
    if (!tensor || !tensor->shape.has_rank()) return;
    for (std::size_t axis = 0; axis < tensor->shape.rank(); ++axis) {
      const Dim& dim = tensor->shape[axis];
      if (!dim.is_constant() && !dim.is_any())
        axes_.push_back({value, static_cast<std::int64_t>(axis), dim});
    }
  }

  std::vector<Axis> axes_;
  std::deque<Expr> records_;
};

// Solves the axis for the one variable in it that has no place yet. Nothing if there are several,
// or if it is not linear in it.
void solve(const Axis& axis, Places& places) {
  const lang::Dim::Term* const unknown = lang::sole_unknown(
      axis.dim, [&](const lang::TypeVarRef& var) { return places.contains(var.get()); });
  if (!unknown) return;
  const lang::TypeVarRef& var = unknown->atoms.front()->variable;
  Dim rest = axis.dim - Dim(unknown->coefficient) * Dim::variable(var);
  places.emplace(var.get(), Place{axis, unknown->coefficient, std::move(rest)});
}

void add_places(const std::vector<Axis>& axes, Places& places) {
  for (const Axis& axis : axes) {
    if (const auto var = axis.dim.as_variable()) places.emplace(var.get(), Place{axis, 1, Dim()});
  }
  for (std::size_t before = places.size() + 1; before != places.size();) {
    before = places.size();
    for (const Axis& axis : axes) solve(axis, places);
  }
}

class DimResolver final : public lang::Rewriter {
 public:
  explicit DimResolver(Places places) : places_(std::move(places)) {}

 protected:
  // What is bound may show a dim that no parameter shows: behind it, it can be read there.
  Expr pre(const Expr& expr) override {
    if (const auto* let = lang::as<lang::Let>(expr)) {
      const std::optional<Places> behind = with({let->variable});
      if (!behind) return nullptr;
      Expr value = rewrite(let->value);
      Expr body = DimResolver(*behind).rewrite(let->body);
      return lang::make_let(let->variable, std::move(value), std::move(body), expr->span,
                            expr->type);
    }
    const auto* match = lang::as<lang::Match>(expr);
    if (!match) return nullptr;
    std::vector<std::optional<Places>> behind;
    bool is_same = true;
    for (const lang::Clause& clause : match->clauses) {
      std::vector<lang::VariableRef> variables;
      lang::for_each_variable(clause.pattern, [&](const lang::VariableRef& variable) {
        variables.push_back(variable);
      });
      behind.push_back(with(variables));
      is_same = is_same && !behind.back();
    }
    if (is_same) return nullptr;
    std::vector<lang::Clause> clauses;
    for (std::size_t i = 0; i < behind.size(); ++i) {
      const lang::Clause& clause = match->clauses[i];
      clauses.push_back({clause.pattern, behind[i] ? DimResolver(*behind[i]).rewrite(clause.body)
                                                   : rewrite(clause.body)});
    }
    return lang::make_match(rewrite(match->scrutinee), std::move(clauses), match->is_complete,
                            expr->span, expr->type);
  }

  Expr post(const Expr& expr) override {
    const auto* term = lang::as<lang::DimTerm>(expr);
    if (!term) return expr;
    if (term->dim.is_constant()) return lang::build::index_constant(term->dim.constant());
    return value_of(term->dim, expr->span);
  }

 private:
  // The places with those that the variables add; nothing if they add none.
  std::optional<Places> with(const std::vector<lang::VariableRef>& variables) const {
    AxisNotes notes;
    for (const lang::VariableRef& variable : variables) notes.add(lang::make_var(variable));
    const std::vector<Axis> axes = notes.take();
    const bool is_new = std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) {
      bool any = false;
      axis.dim.for_each_variable(
          [&](const lang::TypeVarRef& var) { any = any || !places_.contains(var.get()); });
      return any;
    });
    if (!is_new) return std::nullopt;
    Places places = places_;
    add_places(axes, places);
    if (places.size() == places_.size()) return std::nullopt;
    return places;
  }

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
    if (dim.constant_part() != 0 || !sum) add(lang::build::index_constant(dim.constant_part()));
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
          fmt::format("not supported: the dim `{}` as a value: no parameter's extents determine it",
                      atom.variable->name),
          span);
    }
    const Place& place = found->second;
    Expr value = lang::build::op("dim_of", {place.axis.tensor}, {{"axis", place.axis.axis}});
    if (!place.rest.is_constant(0))
      value = lang::build::op("subtract", {value, value_of(place.rest, span)});
    if (place.coefficient == 1) return value;
    return lang::build::op("floor_divide", {value, lang::build::index_constant(place.coefficient)});
  }

  const Places places_;
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
  AxisNotes notes;
  for (auto it = functions.rbegin(); it != functions.rend(); ++it) {  // outermost first
    for (const auto& param : (*it)->params) notes.add(lang::make_var(param));
  }
  Places places;
  add_places(notes.take(), places);
  return DimResolver(std::move(places)).rewrite(expr);
}

}  // namespace relay::opt
