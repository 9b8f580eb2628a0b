#include "ad/tangent_operator.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "ad/adjoint_operator.h"
#include "ad/forward_block.h"
#include "ad/no_program.h"
#include "ad/pairs.h"
#include "lang/build.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::OpDef;
using lang::Type;
namespace build = lang::build;

namespace {

Expr definition(const OpDef& op, const Activity& active, const lang::DefinitionCall& call) {
  const auto inputs = static_cast<std::ptrdiff_t>(active.size());
  const std::vector<Expr> args(call.args.begin(), call.args.begin() + inputs);
  std::vector<Type> types;
  for (const Expr& arg : args) types.push_back(arg->type);
  const Type result = lang::ground_result_type(op, types, call.attrs);
  NoProgram program;
  Pairs pairs(program);
  ForwardBlock forward(program, pairs);
  Emitter code(pairs.tangents());
  auto tangent = call.args.begin() + inputs;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (active[i])
      forward.set_tangent(lang::cast<lang::Var>(args[i]).variable,
                          whole_tangent(args[i]->type, *tangent++, code));
  }
  const Expr callee = lang::make_operator(&op, {}, lang::function_type(types, result));
  const auto dual = forward.run(lang::make_call(callee, args, call.attrs, {}, result), code);
  const Expr whole = float_part(dual.value, dual.tangent, code);
  return lang::close_block({code.take(), whole});
}

std::unique_ptr<const OpDef> make(const OpDef& op, const Activity& active) {
  auto made = std::make_unique<OpDef>();
  made->name = op.name + ".tangent";
  made->doc = "The tangent of the result of `" + op.name + "`, by its definition.";
  made->inputs = op.inputs;
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i]) made->inputs.push_back({"d" + op.inputs[i].name, "the tangent of that input"});
  }
  made->attrs = op.attrs;
  made->level = 0;
  made->type_rule = [&op, inputs = active.size()](lang::TypeCall& call) {
    const std::vector<Type> args(call.args.begin(),
                                 call.args.begin() + static_cast<std::ptrdiff_t>(inputs));
    lang::TypeCall inner{call.solver, op, args, call.attrs, nullptr, {}, call.span, nullptr};
    const lang::RuleOutcome outcome = op.type_rule(inner);
    if (inner.result) call.returns(float_part(call.solver.resolve(inner.result)));
    return outcome;
  };
  if (!op.static_form.empty()) {
    Activity of_static;
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (op.inputs[i].attr.empty()) of_static.push_back(active[i]);
    }
    made->unlisted_static_form = &tangent_operator(lang::static_form_of(op), of_static);
    made->static_form = made->unlisted_static_form->name;
  } else {
    made->definition = [&op, active](const lang::DefinitionCall& call) {
      return definition(op, active, call);
    };
  }
  return made;
}

}  // namespace

Type float_part(const Type& type) {
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple) return type;
  std::vector<Type> fields;
  for (const Type& field : tuple->fields) {
    if (has_tangent(field)) fields.push_back(float_part(field));
  }
  return lang::tuple_type(std::move(fields));
}

Expr float_part(const Expr& primal, const TangentValue& tangent, Emitter& code) {
  const auto* tuple = as<lang::TupleType>(primal->type);
  if (!tuple) return tangent.value(primal->type, primal, code);
  std::vector<Expr> fields;
  for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
    if (!has_tangent(tuple->fields[i])) continue;
    const Expr part = code.emit("part", build::project(primal, i));
    fields.push_back(float_part(part, tangent.field(i, code), code));
  }
  return code.emit("d", build::tuple(std::move(fields)));
}

TangentValue whole_tangent(const Type& type, const Expr& part, Emitter& code) {
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple) return TangentValue(part);
  std::vector<TangentValue> fields;
  std::uint32_t next = 0;
  for (const Type& field : tuple->fields) {
    const bool is_there = has_tangent(field);
    fields.push_back(is_there
                         ? whole_tangent(field, code.emit("d", build::project(part, next++)), code)
                         : TangentValue());
  }
  return TangentValue::of_fields(std::move(fields));
}

const OpDef& tangent_operator(const OpDef& op, const Activity& active) {
  static std::recursive_mutex mutex;  // that of a static form is made on the way
  static std::map<std::pair<const OpDef*, Activity>, std::unique_ptr<const OpDef>> made;
  const std::lock_guard lock(mutex);
  const std::pair key(&op, active);
  if (const auto found = made.find(key); found != made.end()) return *found->second;
  return *made.emplace(key, make(op, active)).first->second;
}

}  // namespace relay::ad
