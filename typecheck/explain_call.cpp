// What is wrong inside a generic function is told in its own terms: its body is inferred once more
// with the types of the call at hand, and what that finds is shown with the way there.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lang/mistaken.h"
#include "typecheck/generalise.h"
#include "typecheck/inference.h"
#include "typecheck/substitution.h"

namespace relay::typecheck {

using namespace lang;

namespace {

// Calls inside calls that are followed; recursion through ever larger types would have no end.
constexpr int kMostLevels = 12;

// Operators and parts of types that are looked at in all, for one definition. More would be no
// explanation, and each level looks at most of them again.
constexpr std::size_t kMostExplained = 500;

// A type of one solver for another: unknowns become those of `to`, and literals get the dtype that
// they have if nothing else is said.
Type moved(const Type& type, Solver& from, TypeSubstitution& known, Solver& to) {
  const Type resolved = from.resolve(type);
  for (const TypeVarRef& var : from.unknowns_of(resolved)) {
    const Literal* literal = var->kind == VarKind::DType ? from.at(*var).literal : nullptr;
    if (literal)
      known.dtypes.try_emplace(var.get(), literal->is_float ? DType::Float32 : DType::Int32);
    map_to_unknowns(known, {var}, to);
  }
  return known.empty() ? resolved : substitute(resolved, known);
}

// Do the arguments fit the type that the callee has, whatever its operators need?
bool fit_together(const Scheme& scheme, const std::vector<Type>& found, Solver& from) {
  Solver solver;
  TypeSubstitution fresh;
  map_to_unknowns(fresh, scheme.variables, solver);
  TypeSubstitution known;
  const Type type = substitute(scheme.type, fresh);
  try {
    for (std::size_t i = 0; i < found.size(); ++i)
      solver.unify(moved(found[i], from, known, solver), as<FunctionType>(type)->params[i]);
  } catch (const Failure&) {
    return false;
  }
  return true;
}

// Is each parameter one of which a reader knows as much as of a tensor that an operator takes?
bool takes_tensors(const Scheme& scheme) {
  const auto& params = as<FunctionType>(scheme.type)->params;
  return std::all_of(params.begin(), params.end(), [](const Type& param) {
    return param->kind == TypeKind::Tensor || param->kind == TypeKind::Var;
  });
}

bool is_declared(const Function& function) {
  return std::all_of(function.params.begin(), function.params.end(),
                     [](const VariableRef& param) { return param->type != nullptr; });
}

}  // namespace

Inference::GenericUse* Inference::generic_use_at(Span span) {
  if (!span) return nullptr;
  for (GenericUse& use : generic_uses_) {
    if (use.node->span == span) return &use;
  }
  return nullptr;
}

std::optional<Diagnostic> Inference::explain_inside(GenericUse& use,
                                                    const std::vector<Type>& found) {
  const Definition* definition = globals_.definition(use.node->name);
  const auto* function = definition ? as<Function>(definition->function) : nullptr;
  if (!function || levels_ == kMostLevels || function->params.size() != found.size() ||
      is_declared(*function)) {
    return std::nullopt;
  }
  explained_ += use.scheme->relations.size();
  for (const Type& type : found) explained_ += solver_.resolve(type)->size;
  if (explained_ > kMostExplained) return std::nullopt;
  // A list where a tensor stands, or what the prelude asks for: its type says it best.
  if (!fit_together(*use.scheme, found, solver_) &&
      (definition->origin == Origin::Prelude || !takes_tensors(*use.scheme))) {
    return std::nullopt;
  }
  Inference inside(globals_, Purpose::kScheme);
  inside.levels_ = levels_ + 1;
  inside.explained_ = explained_;
  Type declared;
  try {
    declared = inside.declare_local(*function);
    TypeSubstitution known;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (solver_.mentions_error(found[i])) return std::nullopt;
      inside.solver_.unify(moved(found[i], solver_, known, inside.solver_),
                           as<FunctionType>(declared)->params[i]);
    }
  } catch (const Failure&) {
    return std::nullopt;  // what is declared does not fit, which is said without looking inside
  }
  try {
    inside.infer_function(definition->function, declared);
    inside.relations_.drain();
  } catch (Failure& failure) {
    inside.report(std::move(failure));
  }
  explained_ = inside.explained_;
  if (inside.errors_.empty() || !inside.errors_.front().span) return std::nullopt;
  return from_inside(use, found, inside);
}

std::string Inference::Way::text() const {
  std::string whole = start;
  for (const std::string& step : steps) whole += ", " + step;
  return whole;
}

// The first error of the body, at the call.
Diagnostic Inference::from_inside(const GenericUse& use, const std::vector<Type>& found,
                                  Inference& inside) {
  Diagnostic& cause = inside.errors_.front();
  const std::string& name = use.node->name;
  Diagnostic diagnostic(cause.kind, cause.message, use.call ? use.call->span : use.node->span);
  const auto followed = std::find_if(inside.ways_.begin(), inside.ways_.end(),
                                     [&](const Way& way) { return way.told_at == cause.span; });
  const bool is_call = followed != inside.ways_.end();
  const std::string text = quote(cause.span, "");
  Way way = is_call ? *followed : Way();
  way.told_at = diagnostic.span;
  // A function that calls itself is looked into round after round, which is nothing of the program.
  const auto seen = std::find(way.functions.begin(), way.functions.end(), name);
  const bool is_round = is_call && seen != way.functions.end();
  if (is_round) {
    const auto kept = static_cast<std::size_t>(seen - way.functions.begin());
    way.functions.resize(kept + 1);
    way.steps.resize(kept);
  } else if (is_call) {
    way.steps.push_back(
        fmt::format("called {}in `{}`", text.empty() ? "" : fmt::format("as `{}` ", text), name));
    way.functions.push_back(name);
  } else {
    way.functions = {name};
    way.start = fmt::format("this is {} in `{}`", text.empty() ? "code" : "`" + text + "`", name);
  }
  if (levels_ == 0 && use.call) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      diagnostic.label(use.call->args[i]->span, describe_type(found[i], solver_));
      if (std::optional<Label> origin = origin_of(use.call->args[i]))
        diagnostic.labels.push_back(std::move(*origin));
    }
  }
  // The innermost place is told by its operands, if there are any.
  if (!is_round && (is_call || cause.labels.empty()))
    diagnostic.label(cause.span, fmt::format("{}here, in `{}`", is_call ? "called " : "", name));
  for (Label& label : cause.labels) {  // a call of the function itself is one place at all levels
    const bool is_new = std::none_of(
        diagnostic.labels.begin(), diagnostic.labels.end(),
        [&](const Label& known) { return known.span == label.span && known.text == label.text; });
    if (is_new) diagnostic.labels.push_back(std::move(label));
  }
  // Helps are meant for the code inside, which serves other calls too.
  for (std::string& note : cause.notes) {
    if (!note.starts_with("help")) diagnostic.note(std::move(note));
  }
  if (levels_ > 0) {
    ways_.push_back(std::move(way));
    return diagnostic;
  }
  diagnostic.note("note: " + way.text());
  for (std::size_t i = 0; use.call && i < found.size(); ++i) {
    std::string help = lang::help_for_mistaken(solver_.resolve(found[i]), use.call->args[i]->span);
    if (!help.empty()) diagnostic.note(std::move(help));
  }
  return diagnostic;
}

// Says which code of a generic function does not take the arguments; false if it is no generic one
// or its own code is not to blame.
bool Inference::report_inside(const Call& call, const std::vector<Type>& found) {
  GenericUse* use = generic_use_at(call.callee->span);
  if (!use) return false;
  if (use->is_told) return true;
  std::optional<Diagnostic> diagnostic = explain_inside(*use, found);
  if (!diagnostic) return false;
  use->is_told = true;
  report(Failure(std::move(*diagnostic)));
  return true;
}

// The same for `grad(f)(x)` and its kin, whose first arguments are those of `f`.
bool Inference::report_inside_derivative(const Call& call, const std::vector<Type>& found) {
  const auto* node = as<Differentiate>(call.callee);
  GenericUse* use = node ? generic_use_at(node->fn->span) : nullptr;
  if (!use) return false;
  const std::size_t count = as<FunctionType>(use->scheme->type)->params.size();
  if (use->is_told || found.size() < count) return use->is_told;
  GenericUse applied = *use;
  applied.call = &call;
  const std::vector<Type> primal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count));
  std::optional<Diagnostic> diagnostic = explain_inside(applied, primal);
  if (!diagnostic) return false;
  use->is_told = true;
  report(Failure(std::move(*diagnostic)));
  return true;
}

// An error that a scheme has brought along stands at the use of the global. Returns whether it has
// been told already.
bool Inference::explain_use(Diagnostic& diagnostic) {
  GenericUse* use = generic_use_at(diagnostic.span);
  if (!use) return false;
  if (use->is_told) return true;
  if (std::exchange(use->is_looked_into, true)) return false;
  const auto* function = as<FunctionType>(solver_.head(use->type));
  if (!function) return false;
  // A call of another number of arguments is wrong by itself, and is told as such.
  if (use->call && use->call->args.size() != function->params.size()) return true;
  if (std::optional<Diagnostic> better = explain_inside(*use, function->params)) {
    use->is_told = true;
    diagnostic = std::move(*better);
  }
  return false;
}

}  // namespace relay::typecheck
