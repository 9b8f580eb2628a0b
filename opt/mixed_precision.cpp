#include "opt/mixed_precision.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/pointer_map.h"
#include "lang/visit.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::DType;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
namespace build = lang::build;

namespace {

constexpr DType kWide = DType::Float32;

// Does the type, or a field of it, satisfy this of a dtype?
bool has_dtype(const Type& type, const std::function<bool(DType)>& wanted) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    return std::any_of(tuple->fields.begin(), tuple->fields.end(),
                       [&](const Type& field) { return has_dtype(field, wanted); });
  }
  const auto* tensor = as<lang::TensorType>(type);
  return tensor && wanted(tensor->dtype.known());
}

// The value with its leaves of dtype `from` in dtype `to`; itself where there are none.
Expr with_dtype(const Expr& value, DType from, DType to) {
  if (!has_dtype(value->type, [&](DType dtype) { return dtype == from; })) return value;
  if (const auto* tuple = as<lang::TupleType>(value->type)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
      fields.push_back(with_dtype(build::project(value, i), from, to));
    return build::tuple(std::move(fields));
  }
  if (const auto* number = as<lang::Constant>(value); number && number->value->rank() == 0)
    return build::constant(to, number->value->number_at(0));
  return build::op("cast", {value}, {{"dtype", to}});
}

class PrecisionMixer final : public lang::Rewriter {
 public:
  explicit PrecisionMixer(const MixedPrecision& how) : how_(how) {}

  // The function with a body of another type, if need be.
  Expr with_own_result(const lang::Function& fn) {
    const Expr body = block(fn.body);
    std::vector<Type> params;
    for (const auto& param : fn.params) params.push_back(param->type);
    return lang::make_function(fn.params, fn.result ? body->type : Type(), body, fn.type_params,
                               fn.attrs, fn.span,
                               lang::function_type(std::move(params), body->type));
  }

 protected:
  // Outside of the steps that this pass knows, everything has the type that it had.
  Expr pre(const Expr& expr) override {
    switch (expr->kind) {
      case ExprKind::Var:
        return wide(expr);
      case ExprKind::Let:
        return as_before(block(expr), expr->type);
      case ExprKind::Call:
        return operator_of(expr) ? as_before(step(expr), expr->type) : Expr();
      case ExprKind::Comprehension:
      case ExprKind::Reduction:
      case ExprKind::ScatterReduce:
        return with_wide_variables(expr);
      case ExprKind::Function:
        return lang::is_unit(expr) ? expr : Expr();
      default:
        return nullptr;
    }
  }

 private:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    std::vector<lang::Binding> made;
    for (lang::Binding& binding : opened.bindings) {
      Expr value = step(binding.value);
      if (is_independent(binding.value)) independent_.insert(binding.variable.get());
      bound_.insert(binding.variable.get());
      lang::VariableRef variable = binding.variable;
      if (!lang::equal(value->type, variable->type)) {
        variable = lang::make_variable(variable->name, value->type, variable->span);
        narrow_[binding.variable.get()] = lang::make_var(variable);
      }
      made.push_back({std::move(variable), std::move(value), binding.span});
    }
    return lang::close_block({std::move(made), step(opened.result)});
  }

  // A step, whose type may become another.
  Expr step(const Expr& expr) {
    switch (expr->kind) {
      case ExprKind::Var:
        return current(expr);
      case ExprKind::Tuple: {
        std::vector<Expr> fields;
        bool changed = false;
        for (const Expr& field : lang::cast<lang::Tuple>(expr).fields) {
          fields.push_back(step(field));
          changed = changed || !(fields.back() == field);
        }
        return changed ? lang::make_tuple(std::move(fields), expr->span) : expr;
      }
      case ExprKind::Projection: {
        const auto& projection = lang::cast<lang::Projection>(expr);
        const Expr tuple = step(projection.tuple);
        return tuple == projection.tuple
                   ? expr
                   : lang::make_projection(tuple, projection.index, expr->span);
      }
      case ExprKind::Call:
        if (const lang::OpDef* op = operator_of(expr)) return operator_step(expr, *op);
        return rewrite(expr);
      default:
        return rewrite(expr);
    }
  }

  Expr operator_step(const Expr& expr, const lang::OpDef& op) {
    const auto& call = lang::cast<lang::Call>(expr);
    refuse_missing(expr, op);
    const Precision precision = precision_of(call, op, how_.narrow);
    if (precision == Precision::AsIs || precision == Precision::Narrow ||
        (precision == Precision::Follows && may_follow(call))) {
      if (Expr made = narrow_step(expr, op, precision == Precision::AsIs)) return made;
    }
    std::vector<Expr> args;
    for (const Expr& arg : call.args) args.push_back(rewrite(arg));
    return args == call.args ? expr : with_operands(expr, std::move(args));
  }

  void refuse_missing(const Expr& expr, const lang::OpDef& op) const {
    if (!how_.refuses_missing || has_precision(op)) return;
    lang::fail(
        lang::DiagnosticKind::Unsupported,
        fmt::format("not supported: `{}` in mixed precision: Relay has no rule for it", op.name),
        expr->span);
  }

  // Null where the operator does not take the narrow type, or there is nothing to narrow.
  Expr narrow_step(const Expr& expr, const lang::OpDef& op, bool takes_any) {
    const auto& call = lang::cast<lang::Call>(expr);
    const auto is_other_float = [&](DType dtype) {
      return lang::is_float(dtype) && dtype != kWide && dtype != how_.narrow;
    };
    std::vector<Expr> args;
    bool has_float = false;
    for (const Expr& arg : call.args) {
      if (has_dtype(arg->type, is_other_float)) return nullptr;
      has_float = has_float || has_dtype(arg->type, lang::is_float);
      args.push_back(takes_any ? current(arg) : narrowed(arg));
    }
    if (!has_float || args == call.args) return nullptr;
    lang::AttrsRef attrs = call.attrs;
    if (const auto* dtype = attrs ? attrs->find("out_dtype") : nullptr;
        dtype && (dtype->is_null() || (dtype->as_dtype() && lang::is_float(*dtype->as_dtype()))))
      attrs = lang::complete_attrs(
          op, lang::make_attrs(with_attrs(attrs, {{"out_dtype", how_.narrow}})), expr->span);
    return unless_refused([&] { return called_again(expr, std::move(args), std::move(attrs)); });
  }

  // Is each operand narrow, or a parameter or a constant, and one of them no constant?
  bool may_follow(const lang::Call& call) {
    bool has_data = false;
    for (const Expr& arg : call.args) {
      if (!has_dtype(arg->type, lang::is_float)) continue;
      const auto* var = as<lang::Var>(arg);
      const bool is_independent_value =
          arg->kind == ExprKind::Constant || (var && independent_.contains(var->variable.get()));
      if (is_independent_value) continue;
      has_data = true;
      const bool is_parameter = var && !bound_.contains(var->variable.get());
      if (!is_parameter &&
          has_dtype(current(arg)->type, [](DType dtype) { return dtype == kWide; }))
        return false;
    }
    return has_data;
  }

  // Known without any data: a constant, or what an operator without operands gives.
  static bool is_independent(const Expr& value) {
    const auto* call = as<lang::Call>(value);
    return value->kind == ExprKind::Constant || (call && operator_of(value) && call->args.empty());
  }

  // An atom, as what it now is.
  Expr current(const Expr& atom) {
    const auto* var = as<lang::Var>(atom);
    const Expr* found = var ? narrow_.find(var->variable.get()) : nullptr;
    return found ? *found : atom;
  }
  // The same as a narrow value, and as what it was. Each is made once.
  Expr narrowed(const Expr& atom) {
    const Expr value = current(atom);
    const auto* var = as<lang::Var>(atom);
    if (!var) return with_dtype(value, kWide, how_.narrow);
    Expr& made = narrowed_[var->variable.get()];
    if (!made) made = with_dtype(value, kWide, how_.narrow);
    return made;
  }
  Expr wide(const Expr& atom) {
    const auto* var = as<lang::Var>(atom);
    const Expr* found = narrow_.find(var->variable.get());
    if (!found) return atom;
    const Expr value = *found;
    Expr& made = widened_[var->variable.get()];
    if (!made) made = as_before(value, atom->type);
    return made;
  }

  // The value in the type that it had: leaves that have become narrow are wide again.
  static Expr as_before(const Expr& value, const Type& type) {
    if (lang::equal(value->type, type)) return value;
    if (const auto* tuple = as<lang::TupleType>(type)) {
      std::vector<Expr> fields;
      for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
        fields.push_back(as_before(build::project(value, i), tuple->fields[i]));
      return build::tuple(std::move(fields));
    }
    const auto* from = as<lang::TensorType>(value->type);
    const auto* to = as<lang::TensorType>(type);
    if (!from || !to || from->dtype == to->dtype) return value;
    return build::op("cast", {value}, {{"dtype", to->dtype.known()}});
  }

  Expr with_wide_variables(const Expr& expr) {
    lang::Substitution values;
    for (const auto& variable : lang::free_variables(expr)) {
      if (narrow_.contains(variable.get())) values[variable.get()] = wide(lang::make_var(variable));
    }
    return lang::substitute(expr, values);
  }

  const MixedPrecision how_;
  lang::PointerMap<lang::Variable, Expr> narrow_;  // what is bound now, where its type is another
  lang::PointerMap<lang::Variable, Expr> narrowed_;
  lang::PointerMap<lang::Variable, Expr> widened_;
  lang::PointerSet<lang::Variable> independent_;
  lang::PointerSet<lang::Variable> bound_;  // by a `let`
};

}  // namespace

void check_mixed_precision(const MixedPrecision& how) {
  if (how.narrow == DType::Float16 || how.narrow == DType::BFloat16) return;
  lang::fail(lang::DiagnosticKind::BadAttribute,
             fmt::format("`mixed_precision_type` is `float16` or `bfloat16`, not `{}`",
                         lang::name_of(how.narrow)));
}

std::unordered_set<std::string> called_functions(const std::vector<PassProgram::Entry>& entries) {
  std::unordered_set<std::string> names;
  for (const PassProgram::Entry& entry : entries) {
    const MentionedFunctions mentioned = functions_mentioned_in(entry.function);
    names.insert(mentioned.called.begin(), mentioned.called.end());
    names.insert(mentioned.gradients.begin(), mentioned.gradients.end());
    if (!mentioned.gradients.empty()) names.insert(entry.name);
  }
  return names;
}

Expr with_mixed_precision(const Expr& fn, const MixedPrecision& how, bool keeps_result) {
  const auto* function = as<lang::Function>(fn);
  PrecisionMixer mixer(how);
  return function && !keeps_result ? mixer.with_own_result(*function) : mixer.rewrite(fn);
}

}  // namespace relay::opt
