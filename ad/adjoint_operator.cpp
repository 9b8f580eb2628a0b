#include "ad/adjoint_operator.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "ad/block.h"
#include "ad/no_program.h"
#include "ad/pairs.h"
#include "index/flatten.h"
#include "lang/build.h"

namespace relay::ad {

using index::flatten;
using lang::as;
using lang::Expr;
using lang::OpDef;
using lang::Type;
namespace build = lang::build;

namespace {

Type adjoints_type(const std::vector<Type>& inputs) {
  std::vector<Type> adjoints;
  for (const Type& input : inputs) {
    if (has_tangent(input)) adjoints.push_back(tangent_of(input));
  }
  return lang::tuple_type(std::move(adjoints));
}

Expr transposed(const OpDef& op, const lang::DefinitionCall& call) {
  const std::vector<Expr> inputs(call.args.begin(), call.args.end() - 1);
  std::vector<Type> types;
  for (const Expr& input : inputs) types.push_back(input->type);
  const Type result = lang::ground_result_type(op, types, call.attrs);
  NoProgram program;
  Pairs pairs(program);
  BlockReverse reverse(program, pairs);
  const lang::Block block = flatten(op.definition({inputs, call.attrs, result}));
  reverse.forward(block.bindings);
  reverse.seed(reverse.forward_value("out", block.result), call.args.back());
  reverse.reverse();
  std::vector<Expr> adjoints;
  for (const Expr& input : inputs) {
    if (has_tangent(input->type))
      adjoints.push_back(reverse.adjoint_of(lang::cast<lang::Var>(input).variable));
  }
  std::vector<lang::Binding> bindings = reverse.primal(0);
  for (auto& binding : reverse.backward().take()) bindings.push_back(std::move(binding));
  return lang::close_block({std::move(bindings), build::tuple(std::move(adjoints))});
}

// The rule of the operator, as a definition.
Expr by_rule(const OpDef& op, const lang::DefinitionCall& call) {
  const std::vector<Expr> inputs(call.args.begin(), call.args.end() - 1);
  const Expr out =
      lang::make_call(lang::make_operator(&op), inputs, call.attrs, {}, call.args.back()->type);
  return build::let("out", out, [&](const Expr& primal) {
    const std::vector<Expr> all = op.gradient({inputs, call.attrs, primal, call.args.back()});
    std::vector<Expr> adjoints;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!has_tangent(inputs[i]->type)) continue;
      adjoints.push_back(all[i] ? all[i] : zero_of(tangent_of(inputs[i]->type), inputs[i]));
    }
    return build::tuple(std::move(adjoints));
  });
}

std::unique_ptr<const OpDef> make(const OpDef& op) {
  auto made = std::make_unique<OpDef>();
  made->name = op.name + ".adjoint";
  made->doc = "The adjoints of the inputs of `" + op.name + "`, by its definition.";
  made->inputs = op.inputs;
  made->inputs.push_back({"adjoint", "the adjoint of the result"});
  made->attrs = op.attrs;
  made->level = 0;
  made->type_rule = [&op](lang::TypeCall& call) {
    std::vector<Type> inputs;
    for (std::size_t i = 0; i + 1 < call.args.size(); ++i) {
      if (op.inputs[i].attr.empty()) inputs.push_back(call.args[i]);
    }
    call.returns(adjoints_type(inputs));
    return lang::RuleOutcome::Solved;
  };
  if (!op.static_form.empty()) {
    made->unlisted_static_form = &adjoint_operator(lang::static_form_of(op));
    made->static_form = made->unlisted_static_form->name;
  } else if (op.gradient) {
    made->definition = [&op](const lang::DefinitionCall& call) { return by_rule(op, call); };
  } else {
    made->definition = [&op](const lang::DefinitionCall& call) { return transposed(op, call); };
  }
  return made;
}

}  // namespace

bool has_tangent(const Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type))
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), has_tangent);
  const auto* tensor = as<lang::TensorType>(type);
  return tensor && lang::is_float(tensor->dtype.known());
}

Type tangent_of(const Type& type) {
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple) return has_tangent(type) ? type : lang::unit_type();
  std::vector<Type> fields;
  for (const Type& field : tuple->fields) fields.push_back(tangent_of(field));
  return lang::tuple_type(std::move(fields));
}

const OpDef& adjoint_operator(const OpDef& op) {
  static std::recursive_mutex mutex;  // that of a static form is made on the way
  static std::map<const OpDef*, std::unique_ptr<const OpDef>> made;
  const std::lock_guard lock(mutex);
  if (const auto found = made.find(&op); found != made.end()) return *found->second;
  return *made.emplace(&op, make(op)).first->second;
}

}  // namespace relay::ad
