#include "ad/tangent.h"

#include <fmt/format.h>

#include "ad/data_search.h"
#include "lang/record.h"

namespace relay::ad {

using lang::AdtType;
using lang::as;
using lang::Expr;
using lang::Type;

Tangents::Tangents(lang::Program& program) : program_(program) {
  pullback_.name = "with_pullback";
  pullback_.doc =
      "The function that gives the result of `function` and a pullback. That takes the adjoint of "
      "the result and what is known of that of `function`, and gives those of `function` and of "
      "the "
      "arguments. The adjoint of a function is those of what it has captured.";
  pullback_.level = 0;
  pullback_.inputs = {{"function", "the function"}};
  pullback_.type_rule = [this](lang::TypeCall& call) {
    call.returns(with_pullback(*as<lang::FunctionType>(call.args[0])));
    return lang::RuleOutcome::Solved;
  };
  pullback_.effect = lang::Effect::Pullback;
  // What the closure captures is the same.
  pullback_.gradient = [](const lang::GradientCall& call) { return std::vector<Expr>{call.dout}; };
  pullback_.tangent = [](const lang::TangentCall& call) { return call.tangents[0]; };

  tangent_operator_.name = "with_tangent";
  tangent_operator_.doc =
      "The function that gives the result of `function` and its tangent, of the tangent of "
      "`function`, "
      "the arguments and theirs.";
  tangent_operator_.level = 0;
  tangent_operator_.inputs = {{"function", "the function"}};
  tangent_operator_.type_rule = [this](lang::TypeCall& call) {
    call.returns(with_tangent(*as<lang::FunctionType>(call.args[0])));
    return lang::RuleOutcome::Solved;
  };
  tangent_operator_.effect = lang::Effect::Tangent;
  tangent_operator_.gradient = pullback_.gradient;
  tangent_operator_.tangent = pullback_.tangent;

  add_functions_.name = "add_function_tangents";
  add_functions_.doc =
      "The sum of two tangents or adjoints of a function: of what it has captured.";
  add_functions_.level = 0;
  add_functions_.inputs = {{"a", "one"}, {"b", "the other"}};
  add_functions_.type_rule = [](lang::TypeCall& call) {
    call.returns(call.args[0]);
    return lang::RuleOutcome::Solved;
  };
  add_functions_.effect = lang::Effect::AddTangents;
  add_functions_.gradient = [](const lang::GradientCall& call) {
    return std::vector<Expr>{call.dout, call.dout};
  };
  add_functions_.tangent = [this](const lang::TangentCall& call) {
    const auto& [a, b] = std::tie(call.tangents[0], call.tangents[1]);
    return a && b ? add(a, b) : a ? a : b;
  };
}

bool Tangents::holds_float(const Type& type) {
  return has_leaf(type, [this](const Type& leaf) { return !is_unit(or_unit(leaf)); });
}

bool Tangents::holds_function(const Type& type) const {
  return has_leaf(type, [](const Type& leaf) {
    return leaf->kind == lang::TypeKind::Function || leaf->kind == lang::TypeKind::Reference;
  });
}

Type Tangents::of(const Type& primal) {
  if (const auto* tensor = as<lang::TensorType>(primal))
    return lang::is_float(tensor->dtype.known()) ? primal : lang::unit_type();
  if (const auto* tuple = as<lang::TupleType>(primal)) {
    std::vector<Type> fields;
    for (const auto& field : tuple->fields) {
      Type tangent = of(field);
      if (!tangent) return nullptr;
      fields.push_back(std::move(tangent));
    }
    return lang::tuple_type(std::move(fields));
  }
  if (as<lang::FunctionType>(primal)) return function_tangent();
  if (as<lang::ReferenceType>(primal)) return lang::unit_type();
  const auto* adt = as<AdtType>(primal);
  if (!adt) return nullptr;
  if (made_.count(adt->def)) return primal;
  return lang::substitute(mirror_of(*adt).type, lang::arguments_of(*adt));
}

const Type& Tangents::function_tangent() {
  if (function_tangent_) return function_tangent_;
  functions_ = lang::TypeDefRef(new lang::TypeDef);
  functions_->name = program_.reserve_name("FunctionTangent");
  function_tangent_ = lang::adt_type(program_.add_type(functions_));
  add_constructor(*functions_, functions_->name + "_Zero", {});
  made_.insert(functions_.get());
  return function_tangent_;
}

const lang::Constructor* Tangents::add_place(std::vector<Type> captured) {
  function_tangent();
  return add_constructor(*functions_,
                         fmt::format("{}_{}", functions_->name, functions_->constructors.size()),
                         std::move(captured));
}

const lang::Constructor* Tangents::place(std::int64_t number) {
  if (!functions_ || number < 1 ||
      number >= static_cast<std::int64_t>(functions_->constructors.size()))
    return nullptr;
  return &functions_->constructors[static_cast<std::size_t>(number)];
}

Type Tangents::with_pullback(const lang::FunctionType& function) {
  std::vector<Type> adjoints = {function_tangent()};
  for (const Type& param : function.params) adjoints.push_back(or_unit(param));
  const Type pullback = lang::function_type({or_unit(function.result), function_tangent()},
                                            lang::tuple_type(std::move(adjoints)));
  return lang::function_type(function.params, lang::tuple_type({function.result, pullback}));
}

Type Tangents::with_tangent(const lang::FunctionType& function) {
  std::vector<Type> params = {function_tangent()};
  params.insert(params.end(), function.params.begin(), function.params.end());
  for (const Type& param : function.params) params.push_back(or_unit(param));
  params.push_back(lang::scalar_type(lang::DType::Int64));
  return lang::function_type(std::move(params),
                             lang::tuple_type({function.result, or_unit(function.result)}));
}

Type Tangents::or_unit(const Type& primal) {
  Type tangent = of(primal);
  return tangent ? tangent : lang::unit_type();
}

const Tangents::Mirror& Tangents::mirror_of(const AdtType& instance) {
  std::vector<lang::TypeVarRef> dims;
  std::vector<Type> args = instance.args;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!as<lang::DimensionType>(args[i])) continue;
    dims.push_back(instance.def->params[i]);
    args[i] = lang::dimension_type(lang::Dim::variable(dims.back()));
  }
  const Type type = lang::adt_type(instance.def, std::move(args));
  const AdtType& primal = *as<AdtType>(type);
  const auto [place, is_new] = mirrors_.try_emplace(identity_of(type));
  Mirror& mirror = place->second;
  if (!is_new) return mirror;
  const bool holds_float = this->holds_float(type);
  if (holds_float && is_endless(type)) {
    mirrors_.erase(place);
    lang::fail(lang::DiagnosticKind::Unsupported,
               fmt::format("not supported: the derivative of data of type `{}`, which holds itself "
                           "at ever larger types",
                           lang::to_string(type)));
  }
  if (!holds_float) {
    mirror.type = lang::unit_type();
    return mirror;
  }
  if (is_record(primal)) {
    std::vector<Type> fields;
    for (const Type& field : lang::field_types(primal, primal.def->constructors.front()))
      fields.push_back(of(field));
    mirror.type = lang::tuple_type(std::move(fields));
    return mirror;
  }
  lang::TypeDefRef def(new lang::TypeDef);
  def->name = program_.reserve_name(primal.def->name + "_Tangent");
  def->params = std::move(dims);
  program_.add_type(def);
  mirror.type = own_type(*def);
  made_.insert(def.get());
  add_constructor(*def, def->name + "_Zero", {});
  for (const lang::Constructor& constructor : primal.def->constructors) {
    std::vector<Type> fields;
    for (const Type& field : lang::field_types(primal, constructor)) {
      const Type tangent = of(field);
      if (!is_unit(tangent)) fields.push_back(tangent);
    }
    mirror.constructors[&constructor] =
        add_constructor(*def, def->name + "_" + constructor.name, std::move(fields));
  }
  return mirror;
}

const lang::Constructor* Tangents::mirror(const lang::Constructor& constructor,
                                          const AdtType& primal) {
  if (made_.count(primal.def)) return &constructor;
  const auto& constructors = mirror_of(primal).constructors;
  const auto found = constructors.find(&constructor);
  return found == constructors.end() ? nullptr : found->second;
}

}  // namespace relay::ad
