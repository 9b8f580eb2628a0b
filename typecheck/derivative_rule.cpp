#include "typecheck/derivative_rule.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/letters.h"
#include "lang/module.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

using namespace lang;

namespace {

bool has_type_variable(const Type& type) {
  for (const TypeVarRef& var : variables_of(type)) {
    if (var->kind == VarKind::Type && var->flexible) return true;
  }
  return false;
}

// The type of the function from what is known of its derivative: the parameters.
void learn_parameters(TypeCall& call, DiffMode mode, const FunctionType& derivative) {
  std::vector<Type> params = derivative.params;
  if (takes_direction(mode)) {
    if (params.size() % 2 != 0) return;
    const std::size_t half = params.size() / 2;
    for (std::size_t i = 0; i < half; ++i) call.solver.unify(params[i], params[half + i]);
    params.resize(half);
  }
  Type result = needs_scalar_result(mode) ? tensor_type(Shape(), call.solver.fresh_dtype())
                                          : call.solver.fresh_type();
  call.solver.unify(call.args[0], function_type(std::move(params), std::move(result)));
  call.args[0] = call.solver.resolve(call.args[0]);
}

// A function or a reference in a type, and the way to it.
struct Place {
  Type culprit;
  std::string path;  // `.act`, `.1.f`; up to a part that has no name
  Type unnamed;      // what holds such a part: a data type, else null
};

std::optional<Place> find_in(const Type& type, std::unordered_set<const TypeDef*>& seen);

// In the field of that name, or of `whole` where it has none.
std::optional<Place> find_in_field(const Type& field, const std::string& name, const Type& whole,
                                   std::unordered_set<const TypeDef*>& seen) {
  std::optional<Place> found = find_in(field, seen);
  if (!found) return found;
  if (name.empty()) {
    found->path.clear();
    found->unnamed = whole;
  } else {
    found->path = "." + name + found->path;
  }
  return found;
}

std::optional<Place> find_in(const Type& type, std::unordered_set<const TypeDef*>& seen) {
  switch (type->kind) {
    case TypeKind::Function:
    case TypeKind::Reference:
      return Place{type, "", nullptr};
    case TypeKind::Tuple: {
      const std::vector<Type>& fields = as<TupleType>(type)->fields;
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (auto found = find_in_field(fields[i], std::to_string(i), type, seen)) return found;
      }
      return std::nullopt;
    }
    case TypeKind::Adt: {
      const auto& adt = *as<AdtType>(type);
      for (const Type& arg : adt.args) {
        if (auto found = find_in_field(arg, "", type, seen)) return found;
      }
      if (!seen.insert(adt.def).second) return std::nullopt;
      for (const Constructor& constructor : adt.def->constructors) {
        for (std::size_t i = 0; i < constructor.fields.size(); ++i) {
          const bool is_named = i < constructor.field_names.size();
          const std::string name = is_named ? constructor.field_names[i] : std::string();
          if (auto found = find_in_field(constructor.fields[i], name, type, seen)) return found;
        }
      }
      return std::nullopt;
    }
    case TypeKind::Tensor:
    case TypeKind::Var:
    case TypeKind::Dimension:
    case TypeKind::Incomplete:
      return std::nullopt;
  }
  return std::nullopt;
}

void refuse_functions_and_references(TypeCall& call, const Type& part, const std::string& what) {
  const std::string why = why_undifferentiable(part, "");
  if (why.empty()) return;
  call.fail(DiagnosticKind::NotDifferentiable, fmt::format("{} has no gradient: {}", what, why));
}

void demand_scalar(TypeCall& call, DiffMode mode, const Type& result) {
  if (const auto* tensor = as<TensorType>(result)) {
    const bool rank_zero = !tensor->shape.has_rank() || tensor->shape.rank() == 0;
    const bool is_floating = !tensor->dtype.is_known() || is_float(tensor->dtype.known());
    if (!rank_zero || !is_floating) {
      call.fail(DiagnosticKind::NotDifferentiable,
                fmt::format("`{}` needs a function whose result is a float scalar, found {}",
                            name_of(mode),
                            rank_zero ? fmt::format("`{}`", to_string(tensor->dtype))
                                      : fmt::format("a tensor of rank {}", tensor->shape.rank())));
    }
  } else if (result->kind != TypeKind::Var) {
    call.fail(DiagnosticKind::NotDifferentiable,
              fmt::format("`{}` needs a function whose result is a float scalar", name_of(mode)));
  }
  const DTypeTerm dtype = call.solver.fresh_dtype();
  call.solver.require(dtype, PrimOperands::kFloat);
  call.solver.unify(result, tensor_type(Shape(), dtype));
}

// `part` is a tensor of floats, or not known yet; or a tuple of them, where that is allowed.
void demand_tensors(TypeCall& call, DiffMode mode, const Type& part, const char* what,
                    bool allows_tuple) {
  if (part->kind == TypeKind::Var) return;
  if (const auto* tuple = as<TupleType>(part); tuple && allows_tuple) {
    for (const Type& field : tuple->fields) demand_tensors(call, mode, field, what, false);
    return;
  }
  const auto* tensor = as<TensorType>(part);
  if (!tensor || (tensor->dtype.is_known() && !is_float(tensor->dtype.known()))) {
    call.fail(DiagnosticKind::NotDifferentiable,
              fmt::format("`{}` needs a function whose {} are tensors of floats, found `{}`",
                          name_of(mode), what, to_string(part)));
  }
  if (!tensor->dtype.is_known()) call.solver.require(tensor->dtype, PrimOperands::kFloat);
}

// Is that known to hold no float, whatever its values are?
bool is_without_floats(const Type& type) {
  if (const auto* tuple = as<TupleType>(type))
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), is_without_floats);
  const auto* tensor = as<TensorType>(type);
  return tensor && tensor->dtype.is_known() && !is_float(tensor->dtype.known());
}

// Whole numbers among floats have the derivative zero; alone, there is nothing to differentiate by.
void demand_floats(TypeCall& call, DiffMode mode, const FunctionType& function) {
  const std::vector<Type>& params = function.params;
  if (params.empty() || !std::all_of(params.begin(), params.end(), is_without_floats)) return;
  const std::string found = params.size() == 1
                                ? fmt::format("the argument is `{}`", to_string(params[0]))
                                : std::string("no argument has any");
  Diagnostic diagnostic(
      DiagnosticKind::NotDifferentiable,
      fmt::format("`{}` differentiates by floats, and here {}", name_of(mode), found), call.span);
  diagnostic.note("help: `as_float(x)` has floats for the whole numbers of `x`");
  throw Failure(std::move(diagnostic));
}

RuleOutcome differentiate(TypeCall& call, DiffMode mode) {
  const auto* derivative = as<FunctionType>(call.result);
  if (call.args[0]->kind == TypeKind::Var && derivative) learn_parameters(call, mode, *derivative);
  const auto* function = as<FunctionType>(call.args[0]);
  if (!function) {
    if (call.args[0]->kind == TypeKind::Var) return RuleOutcome::Stuck;
    call.fail(DiagnosticKind::NotDifferentiable,
              fmt::format("`{}` needs a function", name_of(mode)));
  }
  if (mode == DiffMode::Grad && function->params.empty()) {
    call.fail(DiagnosticKind::NotDifferentiable,
              "`grad` differentiates by the parameters of a function, and this one has none");
  }
  for (std::size_t i = 0; i < function->params.size(); ++i) {
    const Type& param = function->params[i];
    refuse_functions_and_references(
        call, param,
        function->params.size() == 1 ? "the argument" : fmt::format("argument {}", i + 1));
    if (needs_tensors(mode)) demand_tensors(call, mode, param, "arguments", false);
  }
  if (needs_scalar_result(mode)) {
    demand_scalar(call, mode, function->result);
  } else {
    refuse_functions_and_references(call, function->result, "the result");
    // Whole numbers would have no derivative, and `grad` takes them as floats.
    if (const auto* tensor = as<TensorType>(function->result))
      call.solver.prefer_float(tensor->dtype);
    if (needs_tensors(mode)) demand_tensors(call, mode, function->result, "results", true);
  }
  const Type resolved = call.solver.resolve(call.args[0]);
  const auto& known = *as<FunctionType>(resolved);
  demand_floats(call, mode, known);
  if (const Type type = derivative_type(mode, known)) {
    call.returns(type);
  } else {
    // At least the parameters: the arguments say the rest.
    if (!derivative) call.returns(function_type(known.params, call.solver.fresh_type()));
    return RuleOutcome::Stuck;
  }
  return has_type_variable(call.solver.resolve(call.args[0])) ? RuleOutcome::Stuck
                                                              : RuleOutcome::Solved;
}

constexpr DiffMode kModes[] = {DiffMode::Grad,     DiffMode::ValueAndGrad, DiffMode::Vjp,
                               DiffMode::Jvp,      DiffMode::Linearize,    DiffMode::Hvp,
                               DiffMode::Hessian,  DiffMode::Jacobian,     DiffMode::Transpose,
                               DiffMode::CheckGrad};

// One record per mode, in the order of the modes.
const std::vector<OpDef>& rules() {
  static const std::vector<OpDef> kRules = [] {
    std::vector<OpDef> rules;
    for (const DiffMode mode : kModes) {
      OpDef rule;
      rule.name = std::string(name_of(mode));
      rule.inputs = {{"function", ""}};
      rule.type_rule = [mode](TypeCall& call) { return differentiate(call, mode); };
      rules.push_back(std::move(rule));
    }
    return rules;
  }();
  return kRules;
}

}  // namespace

std::string why_undifferentiable(const Type& type, std::string_view name) {
  std::unordered_set<const TypeDef*> seen;
  const std::optional<Place> place = find_in(type, seen);
  if (!place) return {};
  const char* what = place->culprit->kind == TypeKind::Function ? "function" : "reference";
  const std::string subject = place->path.empty() ? std::string("it")
                              : name.empty()      ? fmt::format("its part `{}`", place->path)
                                                  : fmt::format("`{}{}`", name, place->path);
  if (place->unnamed)
    return fmt::format("{} holds {}s, in `{}`", subject, what, to_string(place->unnamed));
  return fmt::format("{} is a {}", subject, what);
}

const OpDef& differentiate_rule(DiffMode mode) { return rules()[static_cast<std::size_t>(mode)]; }

bool is_differentiate_rule(const OpDef& op) {
  return std::any_of(rules().begin(), rules().end(),
                     [&](const OpDef& rule) { return &rule == &op; });
}

std::optional<std::string> summed(const Expr& fn, std::size_t param_count) {
  constexpr std::size_t kLongest = 70;
  if (!fn->span) return std::nullopt;
  const std::string_view text = fn->span.text();
  if (const auto* function = as<Function>(fn)) {
    const Span tail = tail_of(function->body)->span;
    const bool is_inside = tail && tail.source == fn->span.source && tail.begin >= fn->span.begin &&
                           tail.end <= fn->span.end;
    if (!is_inside || text.size() > kLongest) return std::nullopt;
    const std::size_t begin = tail.begin - fn->span.begin;
    const std::size_t size = tail.end - tail.begin;
    return fmt::format("{}sum({}){}", text.substr(0, begin), text.substr(begin, size),
                       text.substr(begin + size));
  }
  if (!is_written_as_name(text)) return std::nullopt;
  std::vector<std::string> params;
  for (const char* name : {"x", "y", "z", "u", "v", "w"}) {
    if (params.size() < param_count && text != name) params.emplace_back(name);
  }
  if (params.size() != param_count) return std::nullopt;
  const std::string list = fmt::format("{}", fmt::join(params, ", "));
  return fmt::format("fn ({}) {{ sum({}({})) }}", list, text, list);
}

}  // namespace relay::typecheck
