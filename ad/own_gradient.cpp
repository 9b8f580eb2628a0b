#include "ad/own_gradient.h"

#include <unordered_map>

#include <fmt/format.h>

#include "ad/block.h"
#include "ad/flow.h"
#include "ad/pairs.h"
#include "ad/tangent_value.h"
#include "lang/build.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

std::string owner_of_gradient(const std::string& gradient) {
  return gradient.substr(0, gradient.size() - lang::kGradientAttr.size() - 1);
}

Expr call_own_gradient(const std::string& gradient, const lang::FunctionType& type,
                       std::vector<Expr> args, const Expr& dy, lang::Span span) {
  const bool is_one = type.params.size() == 1;
  const Type adjoints = is_one ? type.params[0] : lang::tuple_type(type.params);
  std::vector<Type> params = type.params;
  params.push_back(type.result);
  args.push_back(dy);
  const Expr callee =
      lang::make_global_var(gradient, span, lang::function_type(std::move(params), adjoints));
  return lang::make_call(callee, std::move(args), nullptr, span, adjoints);
}

void refuse_capture(const std::string& gradient, const Expr& arg, lang::Span span) {
  const auto* var = arg ? as<lang::Var>(arg) : nullptr;
  lang::Diagnostic diagnostic(
      lang::DiagnosticKind::Unsupported,
      fmt::format("not supported: the gradient of `{}` says nothing of what {} has captured",
                  owner_of_gradient(gradient),
                  var && is_named(*var->variable) ? fmt::format("`{}`", var->variable->name)
                                                  : "a function that it is given"),
      arg && arg->span ? arg->span : span);
  diagnostic.note("help: hand that over as an argument of its own");
  throw lang::Failure(std::move(diagnostic));
}

namespace {

// What the function literals of some code capture.
class Captures {
 public:
  Captures(const Expr& code, AdjointCells& cells) : cells_(cells) {
    lang::visit_post_order(code, [&](const Expr& node) {
      const auto* let = as<lang::Let>(node);
      if (let && let->value->kind == lang::ExprKind::Function)
        literals_.emplace(let->variable.get(), let->value);
    });
  }
  // Does the value of an atom hold a reference with an adjoint, itself or by what it has captured?
  bool reach_reference(const Expr& atom) {
    const auto* var = as<lang::Var>(atom);
    return var && reach_reference(*var->variable);
  }

 private:
  bool reach_reference(const lang::Variable& variable) {
    const bool is_reference = variable.type->kind == lang::TypeKind::Reference;
    if (is_reference) return cells_.has_adjoint(variable.type);
    const auto literal = literals_.find(&variable);
    if (literal == literals_.end()) return false;
    const auto [known, is_new] = reach_.emplace(&variable, false);  // while it captures itself
    if (!is_new) return known->second;
    bool reaches = false;
    for (const VariableRef& free : lang::free_variables(literal->second))
      reaches = reach_reference(*free) || reaches;
    return reach_[&variable] = reaches;
  }

  AdjointCells& cells_;
  std::unordered_map<const lang::Variable*, Expr> literals_;
  std::unordered_map<const lang::Variable*, bool> reach_;
};

}  // namespace

void refuse_captured_references(const Expr& function, lang::Program& program, AdjointCells& cells) {
  Captures captures(function, cells);
  lang::visit_post_order(function, [&](const Expr& node) {
    const auto* call = as<lang::Call>(node);
    const auto* global = call ? as<lang::GlobalVar>(call->callee) : nullptr;
    if (!global) return;
    for (const Expr& arg : call->args) {
      if (!captures.reach_reference(arg)) continue;
      const Expr callee = program.function(global->name, global->type);
      if (const auto* gradient = lang::gradient_of(lang::cast<lang::Function>(callee)))
        refuse_capture(*gradient, arg, node->span);
      break;
    }
  });
}

Expr jvp_of_own_gradient(const std::string& name, const Type& type, const std::string& gradient,
                         const Activity& active, lang::Program& program, Pairs& pairs) {
  Tangents& tangents = pairs.tangents();
  const auto& function = *as<lang::FunctionType>(type);
  std::vector<VariableRef> primals, directions;
  for (const Type& param : function.params) primals.push_back(lang::make_variable("x", param));
  for (std::size_t i = 0; i < primals.size(); ++i) {
    if (active[i] && tangents.holds_function(primals[i]->type))
      refuse_capture(gradient, nullptr, {});
  }
  Emitter code(tangents);
  std::vector<Expr> along;  // by argument: its tangent
  for (std::size_t i = 0; i < primals.size(); ++i) {
    const Type tangent = tangents.or_unit(primals[i]->type);
    if (active[i]) directions.push_back(lang::make_variable("dx", tangent));
    along.push_back(active[i] ? lang::make_var(directions.back())
                              : TangentValue().value(tangent, lang::make_var(primals[i]), code));
  }
  const Expr result =
      code.emit("result", lang::make_call(lang::make_global_var(name, {}, type), uses_of(primals),
                                          nullptr, {}, function.result));
  const Type tangent = tangents.or_unit(function.result);
  const Expr zero =
      code.emit("zero", tangents.as_gradient(TangentValue().value(tangent, result, code), result));
  const VariableRef dy = lang::make_variable("dy", function.result);
  code.append({{dy, zero}});

  BlockReverse transposed(program, pairs);
  for (const VariableRef& primal : primals) transposed.deactivate(primal);
  const Expr value = transposed.forward_value(
      "adjoints", call_own_gradient(gradient, function, uses_of(primals), lang::make_var(dy), {}));
  transposed.seed(value, along.size() == 1 ? along[0] : code.emit("along", build::tuple(along)));
  transposed.reverse();
  const Expr sum = transposed.adjoint_of(dy);
  code.append(transposed.primal(0));
  code.append(transposed.take_walk());

  primals.insert(primals.end(), directions.begin(), directions.end());
  const Expr both = build::tuple({result, sum});
  return lang::make_function(std::move(primals), both->type,
                             lang::close_block({code.take(), both}));
}

}  // namespace relay::ad
