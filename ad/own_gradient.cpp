#include "ad/own_gradient.h"

#include <optional>
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

Expr call_own_gradient(OwnCall call, const Expr& dy, lang::Program& program, lang::Span span) {
  std::vector<Type> params = call.type.params;
  const Type adjoints = params.size() == 1 ? params[0] : lang::tuple_type(params);
  if (program.parameter_count(call.gradient) == params.size() + 2) {
    params.push_back(call.type.result);
    call.args.push_back(std::move(call.result));
  }
  params.push_back(call.type.result);
  call.args.push_back(dy);
  const Expr callee =
      lang::make_global_var(call.gradient, span, lang::function_type(std::move(params), adjoints));
  return lang::make_call(callee, std::move(call.args), nullptr, span, adjoints);
}

void refuse_capture(const std::string& gradient, const Expr& arg, lang::Span span,
                    const std::string& note) {
  const auto* var = arg ? as<lang::Var>(arg) : nullptr;
  lang::Diagnostic diagnostic(
      lang::DiagnosticKind::Unsupported,
      fmt::format("not supported: the gradient of `{}` says nothing of what {} has captured",
                  owner_of_gradient(gradient),
                  var && is_named(*var->variable) ? fmt::format("`{}`", var->variable->name)
                                                  : "a function that it is given"),
      arg && arg->span ? arg->span : span);
  if (!note.empty()) diagnostic.note(note);
  diagnostic.note("help: hand that over as an argument of its own");
  throw lang::Failure(std::move(diagnostic));
}

namespace {

// Which values of some code may hold references with adjoints, themselves or by what functions in
// them have captured: whatever is made of something that does, and can.
class Reach {
 public:
  Reach(const Expr& code, Tangents& tangents, AdjointCells& cells)
      : tangents_(tangents), cells_(cells) {
    lang::visit_post_order(code, [&](const Expr& node) {
      if (const auto* let = as<lang::Let>(node)) made_of_.emplace(let->variable.get(), let->value);
      const auto* match = as<lang::Match>(node);
      if (!match) return;
      for (const lang::Clause& clause : match->clauses) {
        lang::for_each_variable(clause.pattern, [&](const VariableRef& variable) {
          made_of_.emplace(variable.get(), match->scrutinee);
        });
      }
    });
  }
  bool has_reference(const Expr& value) {
    bool found = false;
    lang::visit_post_order(value, [&](const Expr& node) {
      const auto* var = as<lang::Var>(node);
      found = found || (var ? reaches(*var->variable) : is_reference(node));
    });
    return found;
  }

 private:
  bool is_reference(const Expr& node) const {
    return node->type && node->type->kind == lang::TypeKind::Reference &&
           cells_.has_adjoint(node->type);
  }
  bool reaches(const lang::Variable& variable) {
    if (variable.type->kind == lang::TypeKind::Reference) return cells_.has_adjoint(variable.type);
    const auto value = made_of_.find(&variable);
    if (value == made_of_.end() || !tangents_.holds_function(variable.type)) return false;
    const auto [known, is_new] = reaches_.emplace(&variable, false);  // while it captures itself
    if (!is_new) return known->second;
    const bool result = has_reference(value->second);
    return reaches_[&variable] = result;
  }

  Tangents& tangents_;
  AdjointCells& cells_;
  std::unordered_map<const lang::Variable*, Expr> made_of_;
  std::unordered_map<const lang::Variable*, bool> reaches_;
};

}  // namespace

void refuse_captured_references(const Expr& function, lang::Program& program, Pairs& pairs) {
  Tangents& tangents = pairs.tangents();
  std::optional<Reach> reach;
  lang::visit_post_order(function, [&](const Expr& node) {
    const auto* call = as<lang::Call>(node);
    const auto* global = call ? as<lang::GlobalVar>(call->callee) : nullptr;
    if (!global) return;
    for (const Expr& arg : call->args) {
      if (!tangents.holds_function(arg->type)) continue;
      if (!reach) reach.emplace(function, tangents, pairs.cells());
      if (!reach->has_reference(arg)) continue;
      const Expr callee = program.function(global->name, global->type);
      if (const auto* gradient = lang::gradient_of(lang::cast<lang::Function>(callee)))
        refuse_capture(*gradient, arg, node->span,
                       "note: it holds a reference, and what that holds may depend on anything");
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
      "adjoints", call_own_gradient({gradient, function, uses_of(primals), result},
                                    lang::make_var(dy), program, {}));
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
