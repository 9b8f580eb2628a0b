// `grad(f)` and its kin, and messages about them.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/visit.h"
#include "typecheck/derivative_rule.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

using namespace lang;

namespace {

// Where all parameters are declared with other dtypes than floats, it is they that keep the
// function from having a derivative.
void note_integer_parameters(Diagnostic& diagnostic, const Function* function) {
  if (!function || function->params.empty() || !diagnostic.notes.empty()) return;
  std::vector<std::string> declared;
  for (const VariableRef& param : function->params) {
    const auto* tensor = as<TensorType>(param->type);
    if (!tensor || !tensor->dtype.is_known() || is_float(tensor->dtype.known())) return;
    declared.push_back(
        fmt::format("{}: {}", param->name, to_string(tensor_type(tensor->shape, DType::Float32))));
  }
  diagnostic.note(
      fmt::format("help: derivatives are by floats: declare `{}`", fmt::join(declared, ", ")));
}

}  // namespace

Type Inference::infer_differentiate(const Differentiate& node) {
  Relation relation;
  relation.op = &differentiate_rule(node.mode);
  relation.args = {infer(node.fn)};
  relation.span = node.span;
  relation.arg_spans = {node.fn->span};
  relation.node = &node;
  return relations_.add(std::move(relation));
}

// The function literal behind `fn`, if it stands in the code at hand.
const Function* Inference::known_literal(const Expr& fn) const {
  if (const auto* var = as<Var>(fn)) {
    const Expr* found = let_values_.find(var->variable.get());
    return found ? as<Function>(*found) : nullptr;
  }
  return as<Function>(fn);
}

// The demand of `grad` for a scalar result makes a function that is generic demand scalars of its
// arguments: what is wrong is the function, not the argument. Runs after an error, so inference may
// be left with what it finds here.
std::optional<Diagnostic> Inference::explain_scalar(const Call& call,
                                                    const std::vector<Type>& found) {
  const auto* node = as<Differentiate>(call.callee);
  const Function* literal = node ? known_literal(node->fn) : nullptr;
  if (node && (!needs_scalar_result(node->mode) || takes_direction(node->mode)))
    return std::nullopt;
  const bool is_fresh = node && (literal || node->fn->kind == ExprKind::GlobalVar ||
                                 node->fn->kind == ExprKind::Operator);
  if (!is_fresh) return std::nullopt;
  std::optional<Attempt> attempt(std::in_place, *this);
  Type result;
  std::vector<std::string> shown;  // the arguments' types
  try {
    Type type;
    if (literal) {
      const Type declared = declare_local(*literal);
      for (std::size_t i = 0; i < literal->params.size(); ++i)
        introduce(literal->params[i], as<FunctionType>(declared)->params[i]);
      type = function_type(as<FunctionType>(declared)->params, infer(literal->body));
    } else if (const auto* global = as<GlobalVar>(node->fn)) {
      type = global_type(*global);
    } else {
      type = operator_value(*cast<Operator>(node->fn).op, node->fn->span);
    }
    const auto* function = as<FunctionType>(solver_.head(type));
    if (function && function->params.size() == found.size()) {
      for (std::size_t i = 0; i < found.size(); ++i) solver_.unify(found[i], function->params[i]);
      relations_.drain();
      result = solver_.resolve(function->result);
      // Whole numbers are floats where the result has to be one.
      const auto* tensor = as<TensorType>(result);
      const Unknown* open =
          tensor && !tensor->dtype.is_known() ? solver_.find(*tensor->dtype.var()) : nullptr;
      if (open && open->literal) solver_.unify(tensor->dtype, DTypeTerm(DType::Float32));
      result = solver_.resolve(result);
      for (const Type& each : found) shown.push_back(fmt::format("`{}`", solver_.show(each)));
    }
  } catch (const Failure&) {
    result = nullptr;
  }
  const bool is_certain = !attempt->has_failed();
  attempt.reset();
  const auto* tensor = is_certain && result ? as<TensorType>(result) : nullptr;
  if (!tensor || !tensor->shape.has_rank() || tensor->shape.rank() == 0 ||
      (tensor->dtype.is_known() && !is_float(tensor->dtype.known()))) {
    return std::nullopt;
  }
  Diagnostic diagnostic(DiagnosticKind::NotDifferentiable,
                        fmt::format("`{}` needs a function whose result is a float scalar, and "
                                    "here it is `{}`",
                                    name_of(node->mode), solver_.show(result)),
                        node->fn->span);
  for (std::size_t i = 0; i < found.size(); ++i)
    diagnostic.label(call.args[i]->span, std::move(shown[i]));
  if (const auto text = summed(node->fn, found.size()))
    diagnostic.note(fmt::format("help: `{}({})`", name_of(node->mode), *text));
  return diagnostic;
}

// What the arguments tell of a function may be refused inside of it, by what makes its result: a
// `for`, say, which gives no scalar whatever they are. Then that is the error.
void Inference::blame_result(const Call& call, const std::vector<Type>& found) {
  const auto* node = as<Differentiate>(call.callee);
  std::optional<Diagnostic> better = node ? explain_scalar(call, found) : std::nullopt;
  if (!better) return;
  const Function* literal = known_literal(node->fn);
  blame(literal ? literal->span : better->span);
  report_instead(std::move(*better));
}

void Inference::report_instead(Diagnostic better) {
  std::erase_if(errors_, [&](const Diagnostic& each) { return each.span == better.span; });
  report(Failure(std::move(better)));
}

// The parameter that has no gradient, by its name, and where it stands.
void Inference::name_parameter(Diagnostic& diagnostic, const Differentiate& node,
                               const FunctionType& type) {
  const Function* function = callee_function(node.fn);
  if (!function || function->params.size() != type.params.size()) return;
  for (std::size_t i = 0; i < type.params.size(); ++i) {
    const VariableRef& param = function->params[i];
    const std::string why = why_undifferentiable(type.params[i], param->name);
    if (why.empty()) continue;
    diagnostic.message = fmt::format("parameter `{}` has no gradient: {}", param->name, why);
    if (node.fn->kind == ExprKind::Function) diagnostic.labels.clear();
    diagnostic.label(param->span, fmt::format("`{}`", solver_.show(type.params[i])));
    return;
  }
}

// A function whose result is a tensor of floats has a sum that can be differentiated; and products
// with a matrix of derivatives take arguments that are no tensors.
void Inference::help_with_result(Diagnostic& diagnostic, const Relation& relation) {
  if (diagnostic.kind != DiagnosticKind::NotDifferentiable || !relation.node ||
      relation.node->kind != ExprKind::Differentiate)
    return;
  const auto& node = *static_cast<const Differentiate*>(relation.node);
  const Type resolved = solver_.resolve(relation.args[0]);
  const auto* function = as<FunctionType>(resolved);
  if (function) name_parameter(diagnostic, node, *function);
  const bool takes_data =
      function && std::any_of(function->params.begin(), function->params.end(), [](const Type& t) {
        return t->kind == TypeKind::Adt || t->kind == TypeKind::Tuple;
      });
  if (node.mode == DiffMode::Hessian && takes_data)
    diagnostic.note("help: `hvp` takes any argument, and gives the product with a direction");
  if (node.mode == DiffMode::Jacobian && takes_data)
    diagnostic.note("help: `jvp` and `vjp` take any argument, and give products with a direction");
  note_integer_parameters(diagnostic, callee_function(node.fn));
  if (!needs_scalar_result(node.mode)) return;
  const auto* result = function ? as<TensorType>(function->result) : nullptr;
  if (!result || !result->shape.has_rank() || result->shape.rank() == 0 ||
      !result->dtype.is_known() || !is_float(result->dtype.known()))
    return;
  if (const auto text = summed(node.fn, function->params.size()))
    diagnostic.note(fmt::format("help: `{}({})`", name_of(node.mode), *text));
}

// The first index variable that is an operand of arithmetic; null if there is none. Indices are
// arithmetic on integers, and so are not looked at.
const Var* Inference::index_in_arithmetic(const Expr& expr) const {
  if (const auto* index = as<Index>(expr)) return index_in_arithmetic(index->tensor);
  if (expr->kind == ExprKind::Let) {
    const Block block = open_block(expr);
    for (const Binding& binding : block.bindings) {
      if (const Var* found = index_in_arithmetic(binding.value)) return found;
    }
    return index_in_arithmetic(block.result);
  }
  const auto* call = as<Call>(expr);
  const auto* op = call ? as<Operator>(call->callee) : nullptr;
  if (op && op->op->name == "cast") return nullptr;
  if (op) {
    for (const Expr& arg : call->args) {
      const auto* var = as<Var>(arg);
      if (var && binders_.find(var->variable.get())) return var;
    }
  }
  const Var* found = nullptr;
  for_each_child(expr, [&](const Expr& child) {
    if (!found) found = index_in_arithmetic(child);
  });
  return found;
}

// An index variable is an int64, which surprises who multiplies floats by it.
std::optional<Diagnostic> Inference::explain_index_dtype(const Diagnostic& cause,
                                                         const Relation& relation) {
  const bool is_of_dtypes = cause.kind == DiagnosticKind::DTypeMismatch ||
                            cause.kind == DiagnosticKind::NotDifferentiable;
  if (!is_of_dtypes || !relation.node || cause.message.find("int64") == std::string::npos)
    return std::nullopt;
  const Var* var = nullptr;
  if (relation.node->kind == ExprKind::Comprehension)
    var = index_in_arithmetic(static_cast<const Comprehension*>(relation.node)->body);
  if (relation.node->kind == ExprKind::Differentiate) {
    const Function* function = known_literal(static_cast<const Differentiate*>(relation.node)->fn);
    if (function) var = index_in_arithmetic(function->body);
  }
  if (!var) return std::nullopt;
  blames_index_ = true;
  const std::string& name = var->variable->name;
  Diagnostic diagnostic(
      DiagnosticKind::DTypeMismatch,
      fmt::format("index `{}` is an `int64`, and with it what is needed as a float", name),
      var->span);
  diagnostic.label(var->span, "`int64`");
  diagnostic.note(fmt::format("help: `as_float({})` makes it a float", name));
  return diagnostic;
}

}  // namespace relay::typecheck
