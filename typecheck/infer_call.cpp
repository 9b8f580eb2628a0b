// Calls, and what can be called: operators, constructors, globals.

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/call_form.h"
#include "lang/letters.h"
#include "lang/record.h"
#include "lang/tree_form.h"
#include "typecheck/derivative_rule.h"
#include "typecheck/generalise.h"
#include "typecheck/inference.h"
#include "typecheck/substitution.h"

namespace relay::typecheck {

using namespace lang;

Type Inference::operator_value(const OpDef& op, Span span) {
  Relation relation;
  relation.op = &op;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) relation.args.push_back(solver_.fresh_type());
  relation.attrs = complete_attrs(op, nullptr, span);
  relation.span = span;
  std::vector<Type> params = relation.args;
  return function_type(std::move(params), relations_.add(std::move(relation)));
}

Type Inference::constructor_type(const Constructor& constructor) {
  const TypeDef& def = *constructor.owner;
  TypeSubstitution fresh;
  std::vector<Type> args;
  for (const TypeVarRef& param : def.params) {
    args.push_back(param->kind == VarKind::Dim ? dimension_type(solver_.fresh_dim())
                                               : solver_.fresh_type());
    bind_argument(fresh, *param, args.back());
  }
  Type result = adt_type(&def, std::move(args));
  if (constructor.fields.empty()) return result;
  std::vector<Type> fields;
  for (const Type& field : constructor.fields)
    fields.push_back(open(substitute(field, fresh), constructor.span));
  return function_type(std::move(fields), result);
}

namespace {

// So many operators of one definition may have types that its parameters leave open. Each use of a
// generic function adds those of that function: `def f1(x) { f0(f0(x)) }` and so on double them.
constexpr std::size_t kMostOpenRelations = 600;

}  // namespace

bool Inference::may_open(std::size_t relations, const std::string& name, Span span) {
  if (relations == 0 || relations_.open_count() + relations <= kMostOpenRelations) return true;
  if (std::exchange(has_too_many_open_, true)) return false;
  Diagnostic diagnostic(
      DiagnosticKind::TypeTooLarge,
      fmt::format("with `{}`, more than 600 operators would have types that are open here", name),
      span);
  diagnostic.note("help: annotate parameters, of this definition or of those that it uses");
  throw Failure(std::move(diagnostic));
}

Type Inference::instantiate(const Scheme& scheme, Span span, const std::string& name,
                            OpenCall* call) {
  if (scheme.variables.empty()) return scheme.type;
  if (!call && !may_open(scheme.relations.size(), name, span)) return solver_.error_type();
  TypeSubstitution fresh;
  map_to_unknowns(fresh, scheme.variables, solver_);
  for (const TypeVarRef& number : scheme.numbers) {
    const TypeVarRef dtype = fresh.dtypes.at(number.get()).var();
    solver_.at(*dtype).is_number = true;
    numbers_.push_back(dtype);
  }
  for (const TypeVarRef& dtype : scheme.floats) solver_.prefer_float(fresh.dtypes.at(dtype.get()));
  demand(scheme, fresh, solver_, name, span);
  Type type = substitute(scheme.type, fresh);
  if (call) {
    *call = {&scheme, std::move(fresh)};
  } else {
    demand_relations(scheme, fresh, relations_, name, span);
  }
  return type;
}

// What its relations make of types that are known is the same for all calls.
void Inference::demand_relations_of(const OpenCall& call, const FunctionType& callee,
                                    const GlobalVar& use) {
  const Scheme& scheme = *call.scheme;
  if (scheme.relations.empty()) return;
  std::vector<Type> params;
  for (const Type& param : callee.params) params.push_back(solver_.resolve(param));
  const bool are_known = std::none_of(params.begin(), params.end(),
                                      [](const Type& param) { return param->has_unknowns; });
  const bool is_marking =
      widening_ && widening_->is_marking();  // marks are no part of what is kept
  if (are_known && !is_marking) {
    if (const Type* const known = scheme.results.find(params)) {
      solver_.unify(callee.result, *known);
      return;
    }
  }
  if (!may_open(scheme.relations.size(), use.name, use.span)) return;
  const std::size_t open_before = relations_.open_count();
  const std::size_t errors_before = errors_.size();
  const std::size_t meetings_before = widening_ ? widening_->meetings() : 0;
  demand_relations(scheme, call.fresh, relations_, use.name, use.span);
  if (!are_known || is_marking) return;
  relations_.drain();
  if (relations_.open_count() != open_before || errors_.size() != errors_before) return;
  if (widening_ && widening_->meetings() != meetings_before) return;
  const Type result = solver_.resolve(callee.result);
  if (!result->has_unknowns) scheme.results.add(std::move(params), result);
}

// Each once: a function that fails is used in many places, and so are those that use it.
void Inference::inherit(const std::vector<Diagnostic>& errors) {
  if (!inherited_) inherited_.emplace();
  for (const Diagnostic& error : errors) {
    const bool is_known =
        std::any_of(inherited_->begin(), inherited_->end(), [&](const Diagnostic& known) {
          return known.kind == error.kind && known.span == error.span &&
                 known.message == error.message;
        });
    if (!is_known) inherited_->push_back(error);
  }
}

Type Inference::global_type(const GlobalVar& use, OpenCall* call) {
  GlobalUse global = globals_.find(use);
  if (global.errors) {
    inherit(*global.errors);
    return solver_.error_type();
  }
  if (!global.scheme) return global.type;
  if (global.scheme->variables.empty()) return global.scheme->type;
  generic_uses_.push_back({&use, global.scheme, nullptr});
  Type type = instantiate(*global.scheme, use.span, use.name, call);
  generic_uses_.back().type = type;
  return type;
}

Type Inference::infer_callee(const Call& call, OpenCall& open) {
  Type type;
  switch (call.callee->kind) {
    case ExprKind::GlobalVar:
      type = global_type(cast<GlobalVar>(call.callee), &open);
      if (!generic_uses_.empty() && generic_uses_.back().node == call.callee.get())
        generic_uses_.back().call = &call;
      break;
    case ExprKind::ConstructorRef:
      type = constructor_type(*cast<ConstructorRef>(call.callee).constructor);
      break;
    default:
      return infer(call.callee);
  }
  if (purpose_ == Purpose::kCode) calls_[&call].callee = type;
  return type;
}

const Function* Inference::callee_function(const Expr& callee) const {
  if (const auto* global = as<GlobalVar>(callee)) {
    const Definition* definition = globals_.definition(global->name);
    return definition ? as<Function>(definition->function) : nullptr;
  }
  if (const auto* var = as<Var>(callee)) {
    const Expr* found = let_values_.find(var->variable.get());
    return found ? as<Function>(*found) : nullptr;
  }
  return as<Function>(callee);
}

namespace {

// Empty where it is no name.
std::string_view name_as_written(const Expr& callee) {
  if (const auto* global = as<GlobalVar>(callee)) return global->name;
  if (const auto* var = as<Var>(callee)) return var->variable->name;
  if (const auto* constructor = as<ConstructorRef>(callee)) return constructor->constructor->name;
  return {};
}

std::string callee_name(const Expr& callee) {
  const std::string_view name = name_as_written(callee);
  return name.empty() ? "this function" : fmt::format("`{}`", name);
}

// Where a binding has the name of an operator, that one may have been meant.
void note_hidden_operator(const Expr& callee, Diagnostic& diagnostic) {
  const std::string_view name = name_as_written(callee);
  if (OpRegistry::instance().find(name))
    diagnostic.note(fmt::format("note: this binding hides the operator `{}`", name));
}

}  // namespace

Mismatch Inference::argument_mismatch(const Call& call, std::size_t i, const Type& found,
                                      const Type& expected) {
  Mismatch mismatch{found, expected, tail_of(call.args[i])->span,
                    fmt::format("argument {} of {}", i + 1, callee_name(call.callee))};
  const Function* function = callee_function(call.callee);
  if (!function || i >= function->params.size()) return mismatch;
  const Variable& param = *function->params[i];
  if (!param.name.empty())
    mismatch.subject = fmt::format("argument `{}` of {}", param.name, callee_name(call.callee));
  // The declaration of a function of another text (the prelude, an import) is not shown.
  if (param.type && param.span.source == mismatch.span.source) {
    mismatch.labels.push_back({param.span, fmt::format("declared as `{}`", to_string(param.type))});
  }
  if (std::optional<Label> origin = origin_of(call.args[i])) mismatch.labels.push_back(*origin);
  explain_rank(mismatch, *function, param, solver_);
  return mismatch;
}

namespace {

// Has nobody written it? A default value stands where the call does.
bool is_default_value(const Call& call, std::size_t i) { return call.args[i]->span == call.span; }

}  // namespace

// A type would contain itself: what a call has got wrong is which parameters of a generic function
// have the same type, or one that is part of another's.
void Inference::explain_infinite(const Call& call, const std::string& argument,
                                 Diagnostic& diagnostic) {
  diagnostic.message = fmt::format("{} does not fit: {}", argument, diagnostic.message);
  const GenericUse* use = generic_use_at(call.callee->span);
  const Function* function = callee_function(call.callee);
  const auto* type = use ? as<FunctionType>(use->scheme->type) : nullptr;
  if (!function || !type || function->params.size() != call.args.size()) return;
  std::vector<std::string_view> names;
  std::vector<Type> params;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (is_default_value(call, i)) continue;
    names.push_back(function->params[i]->name);
    params.push_back(type->params[i]);
  }
  Scheme written;
  written.type = function_type(std::move(params), type->result);
  diagnostic.note(fmt::format("note: `{}({})` is `{}`", use->node->name, fmt::join(names, ", "),
                              to_string(written)));
}

// A list of tensors of different extents: `Cons(a, Cons(b, Nil))`.
void Inference::help_with_extents(const Call& call, Diagnostic& diagnostic, const Type& found,
                                  const Type& expected) {
  const auto* constructor = as<ConstructorRef>(call.callee);
  const auto* data = as<AdtType>(solver_.head(found));
  if (!constructor || !data || data->def != constructor->constructor->owner ||
      diagnostic.kind != DiagnosticKind::ShapeMismatch)
    return;
  const Type both = joined_extents(solver_.resolve(found), solver_.resolve(expected));
  if (!both || both->has_unknowns) return;
  diagnostic.note(fmt::format(
      "help: tensors of different extents go together where the type is written, as in `let xs: {} "
      "= …`",
      solver_.show(both)));
}

// The extents that an argument of unknown extents must have.
Type Inference::coerce_argument(const Call& call, std::size_t i, const Type& found,
                                const Type& expected) {
  TypeKind kind = solver_.head(found)->kind;
  if (kind != TypeKind::Tensor && kind != TypeKind::Tuple) return found;
  if (!has_any_dim(solver_.resolve(found))) return found;
  return coerce(&call, i, found, expected, argument_mismatch(call, i, found, expected).subject);
}

namespace {

std::string with_exchanged(const Call& call, std::size_t i, std::size_t j) {
  std::string text = quote(call.callee->span, "...") + "(";
  for (std::size_t k = 0; k < call.args.size(); ++k) {
    if (is_default_value(call, k)) continue;
    const Expr& arg = call.args[k == i ? j : k == j ? i : k];
    text += (k == 0 ? "" : ", ") + quote(arg->span, "...");
  }
  return text + ")";
}

// Is a function given where none is taken, and something else where one is?
bool is_function_misplaced(const std::vector<Type>& declared, const std::vector<Type>& found,
                           Solver& solver) {
  bool is_given = false, is_missing = false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool takes = declared[i]->kind == TypeKind::Function;
    const TypeKind kind = solver.head(found[i])->kind;
    is_given |= kind == TypeKind::Function && !takes;
    is_missing |= takes && kind != TypeKind::Function && kind != TypeKind::Var;
  }
  return is_given && is_missing;
}

// The call of a function with its parameters for arguments; empty where they are not known.
std::string with_parameters(const Call& call, const Function* function) {
  if (!function || !call.callee->span) return {};
  std::string text = std::string(call.callee->span.text()) + "(";
  for (std::size_t i = 0; i < function->params.size(); ++i) {
    if (is_default_value(call, i)) continue;
    text += (i == 0 ? "" : ", ") + function->params[i]->name;
  }
  return text + ")";
}

// What does to a tensor `xs` what a function of the prelude does to a list.
struct ForTensor {
  std::string_view name;
  std::string_view help;  // with the function and the tensor, as they are written, in their places
};
constexpr std::array kForTensors = {
    ForTensor{"map", "help: over a tensor goes `for i {{ {f}({xs}[i]) }}`"},
    ForTensor{"hd", "help: the first element of a tensor is `{xs}[0]`"},
    ForTensor{"tl", "help: a tensor without its first element is `{xs}[1:]`"},
    ForTensor{"rev", "help: a tensor is turned by `reverse({xs}, axis=0)`"},
    ForTensor{"length", "help: an extent of a tensor is `dim_of({xs}, axis=0)`"},
    ForTensor{"filter", "help: a list is `Cons(1, Cons(2, Nil))`; a tensor has no filter"}};

// What stands for a function of the prelude that goes along a list where a tensor is given; empty
// where none is, or nothing is known.
std::string for_tensor(const Call& call, std::string_view name, const std::vector<Type>& found,
                       Solver& solver) {
  const auto is_tensor = [&](const Type& type) {
    const auto* tensor = as<TensorType>(solver.resolve(type));
    return tensor && !(tensor->shape.has_rank() && tensor->shape.rank() == 0);
  };
  const auto is_name = [](std::string_view text) {
    return lang::is_written_as_name(text) && !lang::is_digit(text.front());
  };
  std::string_view f = "f";
  std::string_view xs = "xs";
  bool is_given = false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string_view text = call.args[i]->span ? call.args[i]->span.text() : "";
    if (is_tensor(found[i])) {
      is_given = true;
      if (is_name(text)) xs = text;
    } else if (solver.head(found[i])->kind == TypeKind::Function && is_name(text)) {
      f = text;
    }
  }
  if (!is_given) return {};
  const auto* row = std::find_if(kForTensors.begin(), kForTensors.end(),
                                 [&](const ForTensor& each) { return each.name == name; });
  if (row == kForTensors.end()) return {};
  return fmt::format(fmt::runtime(row->help), fmt::arg("f", f), fmt::arg("xs", xs));
}

}  // namespace

// Two arguments that fit in each other's place are one mistake, as is a function in the place of
// another argument.
void Inference::report_arguments(const Call& call, const FunctionType& function,
                                 const std::vector<Type>& found,
                                 std::vector<std::optional<Failure>> failures) {
  const GenericUse* use = generic_use_at(call.callee->span);
  const auto* generic = use ? as<FunctionType>(use->scheme->type) : nullptr;
  const bool is_generic = generic && generic->params.size() == found.size();
  const std::vector<Type>& declared = is_generic ? generic->params : function.params;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (!failures[i]) continue;
    for (std::size_t j = 0; j < found.size(); ++j) {
      if (j == i || is_default_value(call, j) || !fits(found[i], function.params[j], solver_) ||
          !fits(found[j], function.params[i], solver_)) {
        continue;
      }
      failures[i]->diagnostics.front().note(
          fmt::format("help: `{}` has the two in the other order", with_exchanged(call, i, j)));
      failures[j].reset();
      break;
    }
    std::vector<std::string>& notes = failures[i]->diagnostics.front().notes;
    const bool is_for_list = !notes.empty() && notes.back() == kTensorForList;
    const bool is_misplaced = notes.empty() && is_function_misplaced(declared, found, solver_);
    const auto* global = is_for_list || is_misplaced ? as<GlobalVar>(call.callee) : nullptr;
    const Definition* definition = global ? globals_.definition(global->name) : nullptr;
    const std::string help = definition && definition->origin == Origin::Prelude
                                 ? for_tensor(call, global->name, found, solver_)
                                 : std::string();
    if (is_for_list && !help.empty()) notes.back() = help;
    if (is_misplaced) {
      const std::string written = with_parameters(call, callee_function(call.callee));
      if (!help.empty())
        notes.push_back(help);
      else if (!written.empty())
        failures[i]->diagnostics.front().note(
            fmt::format("help: the arguments are `{}`, in this order", written));
      for (std::size_t j = i + 1; j < failures.size(); ++j) failures[j].reset();
    }
    report(std::move(*failures[i]), call.args[i]->span);
  }
}

namespace {

// Arguments as they are written, [first, last).
std::string texts_of(const Call& call, std::size_t first,
                     std::size_t last = std::numeric_limits<std::size_t>::max()) {
  std::string text;
  for (std::size_t i = first; i < std::min(last, call.args.size()); ++i)
    text += (i > first ? ", " : "") + std::string(call.args[i]->span.text());
  return text;
}

bool are_written(const Call& call) {
  return call.callee->span && std::all_of(call.args.begin(), call.args.end(),
                                          [](const Expr& arg) { return bool(arg->span); });
}

// `iterate(f, n, x)`: the rest is for the function that it gives. Where a function stands in the
// place of another argument, as in `iterate(x, f, n)`, the parameters tell the order.
std::optional<std::string> with_arguments_of_result(const Call& call, const Function* callee,
                                                    const FunctionType& function,
                                                    const std::vector<Type>& found,
                                                    Solver& solver) {
  const auto* made = as<FunctionType>(solver.head(function.result));
  const std::size_t taken = function.params.size();
  if (!made || found.size() <= taken || taken == 0 || !are_written(call)) return std::nullopt;
  std::vector<Type> declared = function.params;
  declared.insert(declared.end(), made->params.begin(), made->params.end());
  if (declared.size() != found.size() || !is_function_misplaced(declared, found, solver))
    return fmt::format("help: its value is a function: `{}({})({})`", call.callee->span.text(),
                       texts_of(call, 0, taken), texts_of(call, taken));
  const std::string first = with_parameters(call, callee);
  const ExprNode* tail = callee ? tail_of(callee->body) : nullptr;
  if (first.empty() || tail->kind != ExprKind::Function) return std::nullopt;
  std::vector<std::string> rest;
  for (const VariableRef& param : static_cast<const Function*>(tail)->params)
    rest.push_back(param->name);
  return fmt::format("help: the arguments are `{}({})`, in this order", first,
                     fmt::join(rest, ", "));
}

}  // namespace

// If one argument is missing and it can only be one, it is named.
Diagnostic Inference::wrong_arity(const Call& call, const FunctionType& function) {
  Diagnostic diagnostic(DiagnosticKind::WrongArity,
                        fmt::format("{} takes {}, found {}", callee_name(call.callee),
                                    count_of(function.params.size(), "argument"), call.args.size()),
                        call.span);
  std::vector<Type> found;
  for (const Expr& arg : call.args) found.push_back(infer(arg));
  std::vector<std::size_t> missing;
  for (std::size_t k = 0; k < function.params.size() && found.size() + 1 == function.params.size();
       ++k) {
    bool fit = true;
    for (std::size_t i = 0; i < found.size(); ++i)
      fit &= fits(found[i], function.params[i < k ? i : i + 1], solver_);
    if (fit) missing.push_back(k);
  }
  const Function* callee = callee_function(call.callee);
  if (missing.size() == 1 && callee && missing[0] < callee->params.size()) {
    diagnostic.note(fmt::format("help: the argument for `{}`, of type `{}`, is missing",
                                callee->params[missing[0]]->name,
                                solver_.show(function.params[missing[0]])));
  } else {
    Type whole = function_type(function.params, function.result);
    diagnostic.note(fmt::format("note: {} is `{}`", callee_name(call.callee), solver_.show(whole)));
  }
  if (auto help = with_arguments_of_result(call, callee, function, found, solver_))
    diagnostic.note(std::move(*help));
  return diagnostic;
}

namespace {

bool is_of_rank(const std::vector<std::optional<Failure>>& failures) {
  return std::any_of(failures.begin(), failures.end(), [](const std::optional<Failure>& failure) {
    return failure && failure->diagnostics.front().kind == DiagnosticKind::RankMismatch;
  });
}

}  // namespace

Type Inference::infer_call(const Call& call) {
  if (const auto* op = as<Operator>(call.callee)) return infer_operator_call(call, *op->op);
  Type callee;
  OpenCall open;
  try {
    callee = solver_.head(infer_callee(call, open));
  } catch (Failure& failure) {
    report(std::move(failure), call.callee->span);
    callee = solver_.error_type();
  }
  auto give_up = [&](const Type& result) {
    for (const Expr& arg : call.args) infer(arg);
    return result;
  };
  if (solver_.is_error(callee)) return give_up(callee);
  if (call.callee->kind == ExprKind::ConstructorRef) {
    if (call.args.empty() && callee->kind == TypeKind::Adt) return callee;  // `Nil()` is `Nil`
    take_hint(call, callee);
  }
  if (const auto* var = as<VarType>(callee); var && solver_.find(*var->var)) {
    std::vector<Type> args;
    for (const Expr& arg : call.args) args.push_back(infer(arg));
    Type result = solver_.fresh_type();
    // An argument may have told what the callee is; then it is checked like any other.
    expect({callee, function_type(std::move(args), result), call.callee->span,
            callee_name(call.callee)});
    return result;
  }
  const auto* function = as<FunctionType>(callee);
  if (!function) {
    std::string name = callee_name(call.callee);
    Diagnostic diagnostic(
        DiagnosticKind::NotAFunction,
        fmt::format("{} is no function", name == "this function" ? "what is called" : name),
        call.callee->span);
    diagnostic.label(call.callee->span, describe_type(callee, solver_));
    note_hidden_operator(call.callee, diagnostic);
    report(Failure(std::move(diagnostic)));
    return give_up(solver_.error_type());
  }
  if (function->params.size() != call.args.size()) {
    report(Failure(wrong_arity(call, *function)));
    return function->result;
  }
  std::vector<Type> arguments;
  std::vector<std::optional<Failure>> failures;
  const std::size_t errors_before = errors_.size();
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    hint(call.args[i], function->params[i]);
    Type found = infer(call.args[i]);
    found = coerce_argument(call, i, found, function->params[i]);
    found = enter(found, function->params[i], call.span, i);
    try {
      const Solver::Meetings meetings(solver_, widening_);
      solver_.unify(found, function->params[i]);
    } catch (Failure& failure) {
      if (const Variable* param = quantified_parameter(call.callee))
        refuse_higher_rank(call, *param, found, function->params[i]);
      failures.resize(call.args.size());
      const Mismatch mismatch = argument_mismatch(call, i, found, function->params[i]);
      failures[i] = explained(std::move(failure), mismatch);
      Diagnostic& told = failures[i]->diagnostics.front();
      help_with_extents(call, told, found, function->params[i]);
      if (told.kind == DiagnosticKind::InfiniteType) explain_infinite(call, mismatch.subject, told);
    }
    arguments.push_back(std::move(found));
  }
  if (!failures.empty()) {
    if (solver_.has_woken()) relations_.drain();
    if (blames_index_ && call.callee->kind == ExprKind::Differentiate) {
      // The arguments differ from what an index has made of the parameters.
    } else if (std::optional<Diagnostic> better = explain_scalar(call, arguments)) {
      blame(better->span);
      report_instead(std::move(*better));
    } else if (!report_inside(call, arguments) &&
               !(is_of_rank(failures) && report_inside_derivative(call, arguments))) {
      report_arguments(call, *function, arguments, std::exchange(failures, {}));
    }
  }
  if (solver_.has_woken()) relations_.drain();
  if (open.scheme) demand_relations_of(open, *function, cast<GlobalVar>(call.callee));
  if (failures.empty() && errors_.size() > errors_before) blame_result(call, arguments);
  return function->result;
}

namespace {

// A number without a dtype, of which a minus before it is part.
bool is_number(const Expr& expr) {
  const auto* literal = as<Literal>(expr);
  return literal && !literal->elements;
}

// The value that a constant argument would have as an attribute; nothing for other arguments.
std::optional<AttrValue> attribute_from(const Expr& arg) {
  bool negated = false;
  if (const Literal* literal = as_literal(arg, negated)) {
    if (literal->is_float) return AttrValue(negated ? -literal->real : literal->real);
    return AttrValue(negated ? -literal->integer : literal->integer);
  }
  if (const auto* tuple = as<Tuple>(arg)) {
    AttrValue::List list;
    for (const Expr& field : tuple->fields) {
      std::optional<AttrValue> value = attribute_from(field);
      if (!value || !value->as_int()) return std::nullopt;
      list.push_back(std::move(*value));
    }
    return AttrValue(std::move(list));
  }
  const auto* constant = as<Constant>(arg);
  const auto* list = as<Literal>(arg);
  const TensorRef value = constant ? constant->value : list ? list->elements : TensorRef();
  if (!value || value->rank() > 1) return std::nullopt;
  const Tensor& tensor = *value;
  if (tensor.rank() == 0 && tensor.dtype() == DType::Bool) return AttrValue(tensor.bits_at(0) != 0);
  if (!is_int(tensor.dtype())) return std::nullopt;
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < tensor.element_count(); ++i)
    values.push_back(int_from_bits(tensor.dtype(), tensor.bits_at(i)));
  return tensor.rank() == 0 ? AttrValue(values[0]) : AttrValue::ints(values);
}

// The call with its surplus arguments written as attributes, where each fits one that is not given.
std::optional<std::string> with_named_attributes(const Call& call, const OpDef& op) {
  std::string text = std::string(call.callee->span.text()) + "(";
  std::size_t next = 0;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (i > 0) text += ", ";
    if (!call.args[i]->span) return std::nullopt;
    if (i >= op.inputs.size()) {
      std::optional<AttrValue> value = attribute_from(call.args[i]);
      if (!value || (call.attrs && !call.attrs->list.empty())) return std::nullopt;
      while (next < op.attrs.size() && !coerce_attr(op.attrs[next].kind, *value)) ++next;
      if (next == op.attrs.size()) return std::nullopt;
      text += op.attrs[next++].name + "=";
    }
    text += call.args[i]->span.text();
  }
  return text + ")";
}

// Those of the surplus arguments that number an axis of a tensor of this rank, each axis once.
std::vector<std::string> axes_among(const Call& call, std::size_t inputs, std::size_t rank) {
  std::vector<std::string> axes;
  std::vector<bool> is_named(rank);
  const auto count = static_cast<std::int64_t>(rank);
  for (std::size_t i = inputs; i < call.args.size(); ++i) {
    const std::int64_t axis = *attribute_from(call.args[i])->as_int();
    if (axis < -count || axis >= count) continue;
    const auto place = static_cast<std::size_t>(axis < 0 ? axis + count : axis);
    if (is_named[place]) continue;
    is_named[place] = true;
    axes.emplace_back(call.args[i]->span.text());
  }
  return axes;
}

// `ones(2, 3)` is `ones(shape=[2, 3])`, and `stack(a, b)` is `stack((a, b))`.
std::optional<std::string> with_list(const Call& call, const OpDef& op,
                                     const std::vector<Type>& found) {
  if (!are_written(call)) return std::nullopt;
  const std::string name(call.callee->span.text());
  const std::size_t inputs = op.inputs.size();
  if (inputs == 1 && input_form(op, 0).is_tuple && !is_number(call.args.back())) {
    std::string attrs;
    for (const Attr& attr : call.attrs ? call.attrs->list : std::vector<Attr>()) {
      if (!attr.span) return std::nullopt;
      attrs += attr.span.text().starts_with(attr.key)
                   ? fmt::format(", {}", attr.span.text())
                   : fmt::format(", {}={}", attr.key, attr.span.text());
    }
    return fmt::format("help: the tensors stand in a tuple: `{}(({}){})`", name, texts_of(call, 0),
                       attrs);
  }
  const bool are_integers = std::all_of(call.args.begin() + static_cast<std::ptrdiff_t>(inputs),
                                        call.args.end(), [](const Expr& arg) {
                                          const std::optional<AttrValue> value =
                                              attribute_from(arg);
                                          return value && value->as_int();
                                        });
  const bool is_list = !op.attrs.empty() && (op.attrs[0].kind == AttrKind::IntList ||
                                             op.attrs[0].kind == AttrKind::IntOrIntList);
  if (!are_integers || !is_list || call.args.size() < inputs + 2 ||
      (call.attrs && call.attrs->find(op.attrs[0].name)))
    return std::nullopt;
  std::string before;
  for (std::size_t i = 0; i < inputs; ++i) before += std::string(call.args[i]->span.text()) + ", ";
  const auto* tensor = inputs > 0 ? as<TensorType>(found[0]) : nullptr;
  if (op.attrs[0].name == "axis" && tensor && tensor->shape.has_rank()) {
    const std::size_t rank = tensor->shape.rank();
    const std::vector<std::string> axes = axes_among(call, inputs, rank);
    if (axes.empty()) return std::nullopt;
    if (axes.size() + inputs < call.args.size())
      return fmt::format("help: `{0}` has {1}: `{2}({3}axis={4})`", call.args[0]->span.text(),
                         rank == 1 ? "one axis" : fmt::format("{} axes", rank), name, before,
                         axes.size() == 1 ? axes[0] : fmt::format("[{}]", fmt::join(axes, ", ")));
  }
  return fmt::format("help: `{0}` is a list: `{1}({2}{0}=[{3}])`", op.attrs[0].name, name, before,
                     texts_of(call, inputs));
}

// `random.normal(key)`: inputs may be left out where all attributes that have no default are given.
std::optional<std::string> missing_attribute(const Call& call, const OpDef& op) {
  if (!are_written(call) || call.args.empty() || is_number(call.args[0])) return std::nullopt;
  // One that is called otherwise here, as `shape=` of a generator.
  for (const Attr& given : call.attrs ? call.attrs->list : std::vector<Attr>()) {
    for (const AttrSpec& attr : op.attrs) {
      const bool is_meant = !attr_default(op, attr) && !call.attrs->find(attr.name) &&
                            attr.name.find(given.key) != std::string::npos;
      if (is_meant)
        return fmt::format("help: the attribute `{}` is called `{}` here: `{}({}, {}=…)`",
                           given.key, attr.name, op.name, texts_of(call, 0), attr.name);
    }
  }
  for (const AttrSpec& attr : op.attrs) {
    if (attr_default(op, attr) || (call.attrs && call.attrs->find(attr.name))) continue;
    return fmt::format("help: it needs the attribute `{0}`: `{1}({2}, {0}=…)`", attr.name, op.name,
                       texts_of(call, 0));
  }
  return std::nullopt;
}

// `random.uniform([3])`: what is given is an attribute that has no default, and the key is missing.
std::optional<std::string> missing_key(const Call& call, const OpDef& op) {
  if (!are_written(call) || call.args.size() != 1) return std::nullopt;
  const std::optional<AttrValue> value = attribute_from(call.args[0]);
  if (!value || value->as_int()) return std::nullopt;
  for (const AttrSpec& attr : op.attrs) {
    if (attr_default(op, attr) || (call.attrs && call.attrs->find(attr.name))) continue;
    if (!coerce_attr(attr.kind, *value)) return std::nullopt;
    return fmt::format("help: a key comes first: `{}(random.key(0), {}={})`", op.name, attr.name,
                       texts_of(call, 0));
  }
  return std::nullopt;
}

// An operator that is meant where another one is called with so many arguments.
std::optional<std::string> another_by_arity(const OpDef& op, const Call& call) {
  struct Meant {
    std::string_view name;
    std::size_t count;
    std::string_view other;
    std::string_view help;
  };
  static constexpr auto kMeant = std::to_array<Meant>({
      {"max", 2, "maximum", "is the larger of two"},
      {"min", 2, "minimum", "is the smaller of two"},
      {"variance", 1, "var", "computes the mean, too"},
  });
  const auto* meant = std::ranges::find_if(kMeant, [&](const Meant& each) {
    return each.name == op.name && each.count == call.args.size();
  });
  if (meant == kMeant.end()) return std::nullopt;
  const std::string given = are_written(call) ? fmt::format("({})", texts_of(call, 0)) : "";
  return fmt::format("help: `{}{}` {}", meant->other, given, meant->help);
}

Diagnostic wrong_operator_arity(const Call& call, const OpDef& op, const std::vector<Type>& found) {
  Diagnostic diagnostic(DiagnosticKind::WrongArity,
                        fmt::format("`{}` takes {}, found {}", op.name,
                                    count_of(op.inputs.size(), "argument"), call.args.size()),
                        call.span);
  std::string parts;
  const auto add = [&](const std::string& part) { parts += (parts.empty() ? "" : ", ") + part; };
  for (std::size_t i = 0; i < op.inputs.size(); ++i) add(input_usage(op, i));
  for (const AttrSpec& attr : op.attrs) {
    if (std::any_of(op.inputs.begin(), op.inputs.end(),
                    [&](const InputSpec& input) { return input.attr == attr.name; }))
      continue;
    add(attr_usage(op, attr) + (attr_default(op, attr) ? "" : "…"));
  }
  diagnostic.note(fmt::format("note: `{}({})`", op.name, parts));
  if (call.args.size() < op.inputs.size() && op.inputs[0].name == "key") {
    auto help = missing_key(call, op);
    if (!help) help = missing_attribute(call, op);
    diagnostic.note(help.value_or("help: a key comes first, as `random.key(0)`"));
  }
  if (call.args.size() < op.inputs.size()) {
    if (auto meant = another_by_arity(op, call)) diagnostic.note(std::move(*meant));
    return diagnostic;
  }
  // `sum(x, axis)`
  const auto* last = as<Var>(call.args.back());
  const bool is_attribute =
      last && std::any_of(op.attrs.begin(), op.attrs.end(),
                          [&](const AttrSpec& attr) { return attr.name == last->variable->name; });
  if (is_attribute) {
    diagnostic.note(fmt::format(
        "help: the attribute `{0}` may be a parameter of a `def` that has a default value, as in "
        "`def f(x, {0} = …)`",
        last->variable->name));
    return diagnostic;
  }
  std::optional<std::string> named;
  if (const auto list = with_list(call, op, found)) {
    diagnostic.note(*list);
    return diagnostic;
  }
  if (!is_number(call.args[0])) named = with_named_attributes(call, op);
  if (named) {
    diagnostic.note(fmt::format("help: attributes are named: `{}`", *named));
  } else if (auto meant = another_by_arity(op, call)) {
    diagnostic.note(std::move(*meant));
  }
  return diagnostic;
}

}  // namespace

Type Inference::infer_operator_call(const Call& call, const OpDef& op) {
  if (is_record_form(op)) return infer_record_form(call, op);
  if (is_tree_form(op)) return infer_tree_form(call, op);
  if (call.args.size() == 1 && is_number(call.args[0]) && op.name == "negative" &&
      !recorded(call.args[0])) {
    const Literal& literal = cast<Literal>(call.args[0]);
    if (purpose_ == Purpose::kCode) calls_[&call].literal = &literal;
    return infer_literal(literal, true);
  }
  if (call.args.size() != op.inputs.size()) {
    std::vector<Type> found;
    for (const Expr& arg : call.args) found.push_back(solver_.resolve(infer(arg)));
    report(Failure(wrong_operator_arity(call, op, found)));
    return solver_.error_type();
  }
  Relation relation;
  relation.op = &op;
  relation.args.reserve(call.args.size());
  relation.arg_spans.reserve(call.args.size());
  for (const Expr& arg : call.args) {
    relation.args.push_back(infer(arg));
    relation.arg_spans.push_back(arg->span);
  }
  relation.span = call.span;
  // Of a function it is another thing than of a tensor.
  const bool has_attrs = call.attrs && !call.attrs->list.empty();
  const bool is_of_function = op.name == name_of(DiffMode::Transpose) && !has_attrs &&
                              solver_.head(relation.args[0])->kind == TypeKind::Function;
  if (is_of_function) {
    relation.op = &differentiate_rule(DiffMode::Transpose);
    if (purpose_ == Purpose::kCode) calls_[&call].is_transposed_function = true;
    return relations_.add(std::move(relation));
  }
  relation.attrs = complete_attrs(op, call.attrs, call.span);
  relation.call = &call;
  if (purpose_ == Purpose::kCode) calls_[&call].attrs = relation.attrs;
  return relations_.add(std::move(relation));
}

}  // namespace relay::typecheck
