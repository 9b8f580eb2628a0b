#include "ad/tangent.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/record.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::AdtType;
using lang::as;
using lang::Expr;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

// The fields of a constructor at a ground type.
std::vector<Type> fields_of(const lang::Constructor& constructor, const AdtType& adt) {
  std::vector<Type> fields;
  for (std::size_t i = 0; i < constructor.fields.size(); ++i)
    fields.push_back(lang::field_type(adt, constructor, i));
  return fields;
}

// Appends which definitions a type means: a name may have been defined anew.
void add_definitions(const Type& type, std::string& text) {
  const auto add_all = [&](const std::vector<Type>& parts) {
    for (const Type& part : parts) add_definitions(part, text);
  };
  if (const auto* tuple = as<lang::TupleType>(type)) add_all(tuple->fields);
  if (const auto* adt = as<AdtType>(type)) {
    text += fmt::format(" {}", static_cast<const void*>(adt->def));
    add_all(adt->args);
  }
  if (const auto* function = as<lang::FunctionType>(type)) {
    add_all(function->params);
    add_definitions(function->result, text);
  }
}

// The text of a type, with the definitions that it means.
std::string identity_of(const Type& type) {
  std::string text = lang::to_string(type);
  add_definitions(type, text);
  return text;
}

// Does a leaf of the type (through data types, each once) satisfy `wanted`?
class LeafSearch {
 public:
  explicit LeafSearch(std::function<bool(const Type&)> wanted) : wanted_(std::move(wanted)) {}

  bool in(const Type& type) {
    if (const auto* tuple = as<lang::TupleType>(type)) {
      return std::any_of(tuple->fields.begin(), tuple->fields.end(),
                         [&](const Type& field) { return in(field); });
    }
    const auto* adt = as<AdtType>(type);
    if (!adt) return wanted_(type);
    // A type that grows at each turn of its recursion ends here too.
    constexpr std::size_t kMostTypes = 1000;
    if (!seen_.insert(identity_of(type)).second || seen_.size() > kMostTypes) return false;
    for (const lang::Constructor& constructor : adt->def->constructors) {
      for (const Type& field : fields_of(constructor, *adt)) {
        if (in(field)) return true;
      }
    }
    return false;
  }

 private:
  std::function<bool(const Type&)> wanted_;
  std::set<std::string> seen_;
};

// Does a data type hold values of its own?
class SelfSearch {
 public:
  explicit SelfSearch(const AdtType& adt) : def_(adt.def) {}

  bool in(const Type& type) {
    if (const auto* tuple = as<lang::TupleType>(type)) {
      return std::any_of(tuple->fields.begin(), tuple->fields.end(),
                         [&](const Type& field) { return in(field); });
    }
    const auto* adt = as<AdtType>(type);
    if (!adt) return false;
    return adt->def == def_ || in_fields(*adt);
  }
  bool in_fields(const AdtType& adt) {
    // A type that grows at each turn of its recursion ends here too.
    constexpr std::size_t kMostTypes = 1000;
    if (!seen_.insert(lang::to_string(Type(&adt))).second) return false;
    if (seen_.size() > kMostTypes) return true;
    for (const lang::Constructor& constructor : adt.def->constructors) {
      for (const Type& field : fields_of(constructor, adt)) {
        if (in(field)) return true;
      }
    }
    return false;
  }

 private:
  const lang::TypeDef* def_;
  std::set<std::string> seen_;
};

// A tuple by another name: one constructor, and no recursion.
bool is_record(const AdtType& adt) {
  return adt.def->constructors.size() == 1 && !SelfSearch(adt).in_fields(adt);
}

std::vector<VariableRef> variables_for(const std::vector<Type>& types, const char* name) {
  std::vector<VariableRef> variables;
  for (const Type& type : types) variables.push_back(lang::make_variable(name, type));
  return variables;
}

lang::PatternRef pattern_of(const lang::Constructor* constructor,
                            const std::vector<VariableRef>& variables) {
  std::vector<lang::PatternRef> fields;
  for (const VariableRef& variable : variables) fields.push_back(lang::variable_pattern(variable));
  return lang::constructor_pattern(constructor, std::move(fields));
}

}  // namespace

const lang::Constructor* add_constructor(lang::TypeDef& def, std::string name,
                                         std::vector<Type> fields) {
  lang::Constructor constructor;
  constructor.name = std::move(name);
  constructor.tag = static_cast<std::uint32_t>(def.constructors.size());
  constructor.fields = std::move(fields);
  constructor.owner = &def;
  def.constructors.push_back(std::move(constructor));
  return &def.constructors.back();
}

std::vector<Expr> uses_of(const std::vector<VariableRef>& variables) {
  std::vector<Expr> uses;
  for (const auto& variable : variables) uses.push_back(lang::make_var(variable));
  return uses;
}

Expr construct(const lang::Constructor* constructor, std::vector<Expr> fields, const Type& type) {
  if (fields.empty()) return lang::make_constructor_ref(constructor, {}, type);
  std::vector<Type> types;
  for (const auto& field : fields) types.push_back(field->type);
  return lang::make_call(
      lang::make_constructor_ref(constructor, {}, lang::function_type(types, type)),
      std::move(fields), nullptr, {}, type);
}

Expr call_global(const std::string& name, const Type& type, std::vector<Expr> args) {
  return lang::make_call(lang::make_global_var(name, {}, type), std::move(args), nullptr, {},
                         as<lang::FunctionType>(type)->result);
}

lang::AttrsRef inline_mark() { return lang::make_attrs({{"Inline", std::int64_t{1}, {}}}); }

bool is_unit(const Type& type) {
  const auto* tuple = as<lang::TupleType>(type);
  return tuple && tuple->fields.empty();
}

Expr mirror_zero(const Type& mirror) {
  return construct(&as<AdtType>(mirror)->def->constructors.front(), {}, mirror);
}

Expr part_of(const Expr& primal, std::uint32_t index) {
  const auto* adt = as<AdtType>(primal->type);
  if (!adt) return build::project(primal, index);
  const lang::Constructor& constructor = adt->def->constructors.front();
  const VariableRef field =
      lang::make_variable("field", lang::field_type(*adt, constructor, index));
  std::vector<lang::PatternRef> fields(constructor.fields.size(), lang::wildcard_pattern());
  fields[index] = lang::variable_pattern(field);
  return lang::make_match(
      primal, {{lang::constructor_pattern(&constructor, std::move(fields)), lang::make_var(field)}},
      true, {}, field->type);
}

bool needs_primal(const Type& tangent) {
  if (const auto* tuple = as<lang::TupleType>(tangent))
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), needs_primal);
  const auto* tensor = as<lang::TensorType>(tangent);
  if (!tensor) return false;
  const auto& dims = tensor->shape.dims();
  return std::any_of(dims.begin(), dims.end(),
                     [](const lang::Dim& dim) { return !dim.is_constant(); });
}

Expr zero_of(const Type& tangent, const Expr& primal) {
  if (const auto* tuple = as<lang::TupleType>(tangent)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      const bool asks = primal && needs_primal(tuple->fields[i]);
      fields.push_back(zero_of(tuple->fields[i], asks ? part_of(primal, i) : Expr()));
    }
    return build::tuple(std::move(fields));
  }
  if (as<AdtType>(tangent)) return mirror_zero(tangent);
  if (lang::is_scalar(tangent))
    return build::constant(as<lang::TensorType>(tangent)->dtype.known(), 0);
  return primal ? build::zeros_like(primal) : build::zeros_of(tangent);
}

void append_leaves(const Type& tangent, std::vector<Type>& leaves) {
  const auto* tuple = as<lang::TupleType>(tangent);
  if (!tuple) return leaves.push_back(tangent);
  for (const Type& field : tuple->fields) append_leaves(field, leaves);
}

Expr packed(const Type& tangent, const std::vector<VariableRef>& leaves, std::size_t& next) {
  const auto* tuple = as<lang::TupleType>(tangent);
  if (!tuple) return lang::make_var(leaves[next++]);
  std::vector<Expr> fields;
  for (const Type& field : tuple->fields) fields.push_back(packed(field, leaves, next));
  return build::tuple(std::move(fields));
}

void append_parts(const Expr& tangent, std::vector<Expr>& parts) {
  const auto* tuple = as<lang::TupleType>(tangent->type);
  if (!tuple) return parts.push_back(tangent);
  for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
    append_parts(build::project(tangent, i), parts);
}

Tangents::Tangents(lang::Program& program) : program_(program) {
  pullback_.name = "with_pullback";
  pullback_.doc = "The function that gives the result and its pullback.";
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
  tangent_operator_.doc = "The function that gives the result and its tangent.";
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
  add_functions_.doc = "The sum of two tangents of functions.";
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
  return LeafSearch([this](const Type& leaf) { return !is_unit(or_unit(leaf)); }).in(type);
}

bool Tangents::holds_function(const Type& type) const {
  return LeafSearch([](const Type& leaf) {
           return leaf->kind == lang::TypeKind::Function || leaf->kind == lang::TypeKind::Reference;
         })
      .in(type);
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
  return made_.count(adt->def) ? primal : mirror_of(*adt).type;
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
  const Type pullback =
      lang::function_type({or_unit(function.result)}, lang::tuple_type(std::move(adjoints)));
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

const Tangents::Mirror& Tangents::mirror_of(const AdtType& primal) {
  const Type type(&primal);
  const auto [place, is_new] = mirrors_.try_emplace(identity_of(type));
  Mirror& mirror = place->second;
  if (!is_new) return mirror;
  if (!holds_float(type)) {
    mirror.type = lang::unit_type();
    return mirror;
  }
  if (is_record(primal)) {
    std::vector<Type> fields;
    for (const Type& field : fields_of(primal.def->constructors.front(), primal))
      fields.push_back(of(field));
    mirror.type = lang::tuple_type(std::move(fields));
    return mirror;
  }
  lang::TypeDefRef def(new lang::TypeDef);
  def->name = program_.reserve_name(primal.def->name + "_Tangent");
  mirror.type = lang::adt_type(program_.add_type(def));
  made_.insert(def.get());
  add_constructor(*def, def->name + "_Zero", {});
  for (const lang::Constructor& constructor : primal.def->constructors) {
    std::vector<Type> fields;
    for (const Type& field : fields_of(constructor, primal)) {
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

// --- Sums ---

Expr Tangents::add(const Expr& a, const Expr& b) {
  if (const auto* tuple = as<lang::TupleType>(a->type)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      const bool is_there = !is_unit(tuple->fields[i]);
      fields.push_back(is_there ? add(build::project(a, i), build::project(b, i))
                                : build::tuple({}));
    }
    return build::tuple(std::move(fields));
  }
  const auto* adt = as<AdtType>(a->type);
  if (!adt) return build::op("add", {a, b});
  if (adt->def == functions_.get()) {
    const Type type = lang::function_type({a->type, a->type}, a->type);
    return lang::make_call(lang::make_operator(&add_functions_, {}, type), {a, b}, nullptr, {},
                           a->type);
  }
  const auto [place, is_new] = add_.try_emplace(identity_of(a->type));
  if (is_new) {
    place->second = program_.reserve_name(adt->def->name + "_add");
    define_add(place->second, *adt);
  }
  return call_global(place->second, lang::function_type({a->type, a->type}, a->type), {a, b});
}

// Adjoints of one value are made by the same constructor, or Zero. Only a wrong program would have
// another, and `match?` stops it.
void Tangents::define_add(const std::string& name, const AdtType& mirror) {
  const Type type(&mirror);
  const VariableRef a = lang::make_variable("a", type);
  const VariableRef b = lang::make_variable("b", type);
  const auto& constructors = mirror.def->constructors;
  std::vector<lang::Clause> clauses;
  clauses.push_back({lang::constructor_pattern(&constructors.front(), {}), lang::make_var(b)});
  for (std::size_t k = 1; k < constructors.size(); ++k) {
    const std::vector<Type> fields = fields_of(constructors[k], mirror);
    const std::vector<VariableRef> left = variables_for(fields, "x");
    const std::vector<VariableRef> right = variables_for(fields, "y");
    std::vector<Expr> sums;
    for (std::size_t i = 0; i < left.size(); ++i)
      sums.push_back(add(lang::make_var(left[i]), lang::make_var(right[i])));
    std::vector<lang::Clause> inner;
    inner.push_back({lang::constructor_pattern(&constructors.front(), {}), lang::make_var(a)});
    inner.push_back(
        {pattern_of(&constructors[k], right), construct(&constructors[k], std::move(sums), type)});
    clauses.push_back({pattern_of(&constructors[k], left),
                       lang::make_match(lang::make_var(b), std::move(inner), false, {}, type)});
  }
  const Expr body = lang::make_match(lang::make_var(a), std::move(clauses), true, {}, type);
  program_.add_function(name, lang::rename_bound(lang::make_function({a, b}, type, body)));
}

// --- Gradients ---

Expr Tangents::as_gradient(const Expr& adjoint, const Expr& primal) {
  if (const auto* tuple = as<lang::TupleType>(primal->type)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      const Expr part = is_unit(adjoint->type) ? adjoint : build::project(adjoint, i);
      fields.push_back(as_gradient(part, build::project(primal, i)));
    }
    return build::tuple(std::move(fields));
  }
  if (const auto* tensor = as<lang::TensorType>(primal->type)) {
    if (lang::is_float(tensor->dtype.known())) return adjoint;
    return lang::is_scalar(primal->type) ? build::constant(tensor->dtype.known(), 0)
                                         : build::zeros_like(primal);
  }
  const auto* adt = as<AdtType>(primal->type);
  RELAY_CHECK(adt, "the gradient of what is neither a tensor nor a data type");
  if (const Type tangent = of(primal->type); !is_unit(tangent) && as<lang::TupleType>(tangent))
    return gradient_of_record(adjoint, primal);
  const auto [place, is_new] = gradient_.try_emplace(identity_of(primal->type));
  if (is_new) {
    place->second = program_.reserve_name(adt->def->name + "_gradient");
    define_gradient(place->second, adjoint->type, *adt);
  }
  return call_global(place->second,
                     lang::function_type({adjoint->type, primal->type}, primal->type),
                     {adjoint, primal});
}

Expr Tangents::gradient_of_record(const Expr& adjoint, const Expr& primal) {
  const AdtType& adt = *as<AdtType>(primal->type);
  const lang::Constructor& constructor = adt.def->constructors.front();
  const std::vector<VariableRef> fields = variables_for(fields_of(constructor, adt), "field");
  std::vector<Expr> gradients;
  for (std::uint32_t i = 0; i < fields.size(); ++i) {
    const Expr part = is_unit(adjoint->type) ? adjoint : build::project(adjoint, i);
    gradients.push_back(as_gradient(part, lang::make_var(fields[i])));
  }
  const Expr gradient = construct(&constructor, std::move(gradients), primal->type);
  if (lang::free_variables(gradient) == lang::free_variables(adjoint)) return gradient;
  return lang::make_match(primal, {{pattern_of(&constructor, fields), gradient}}, true, {},
                          primal->type);
}

void Tangents::define_gradient(const std::string& name, const Type& adjoint_type,
                               const AdtType& primal) {
  const Type type(&primal);
  const VariableRef adjoint = lang::make_variable("adjoint", adjoint_type);
  const VariableRef value = lang::make_variable("value", type);
  std::vector<lang::Clause> clauses;
  for (const lang::Constructor& constructor : primal.def->constructors) {
    const std::vector<Type> types = fields_of(constructor, primal);
    const std::vector<VariableRef> fields = variables_for(types, "field");
    // The same constructor, its adjoints from `parts`; where null, zeros.
    const auto rebuilt = [&](const std::vector<VariableRef>* parts) {
      std::size_t next = 0;
      std::vector<Expr> gradients;
      for (const VariableRef& field : fields) {
        const Expr there = lang::make_var(field);
        const Type tangent = of(field->type);
        const Expr part = is_unit(tangent) ? build::tuple({})
                          : parts          ? lang::make_var((*parts)[next++])
                                           : zero_of(tangent, there);
        gradients.push_back(as_gradient(part, there));
      }
      return construct(&constructor, std::move(gradients), type);
    };
    const lang::Constructor* mirror_constructor = mirror(constructor, primal);
    Expr body = rebuilt(nullptr);
    if (mirror_constructor) {
      const std::vector<VariableRef> parts = variables_for(mirror_constructor->fields, "part");
      std::vector<lang::Clause> inner;
      inner.push_back({pattern_of(mirror_constructor, parts), rebuilt(&parts)});
      inner.push_back({lang::wildcard_pattern(), std::move(body)});
      body = lang::make_match(lang::make_var(adjoint), std::move(inner), true, {}, type);
    }
    clauses.push_back({pattern_of(&constructor, fields), std::move(body)});
  }
  const Expr body = lang::make_match(lang::make_var(value), std::move(clauses), true, {}, type);
  program_.add_function(name,
                        lang::rename_bound(lang::make_function({adjoint, value}, type, body)));
}

Expr Tangents::from_gradient(const Expr& gradient) {
  const Type tangent = or_unit(gradient->type);
  if (lang::equal(tangent, gradient->type)) return gradient;
  if (is_unit(tangent)) return build::tuple({});
  if (const auto* tuple = as<lang::TupleType>(tangent)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
      fields.push_back(from_gradient(part_of(gradient, i)));
    return build::tuple(std::move(fields));
  }
  const auto* adt = as<AdtType>(gradient->type);
  RELAY_CHECK(adt, "a tangent that is neither a tensor nor data");
  const auto [place, is_new] = tangent_.try_emplace(identity_of(gradient->type));
  if (is_new) {
    place->second = program_.reserve_name(adt->def->name + "_tangent");
    define_tangent(place->second, *adt);
  }
  return call_global(place->second, lang::function_type({gradient->type}, tangent), {gradient});
}

void Tangents::define_tangent(const std::string& name, const AdtType& primal) {
  const Type type(&primal);
  const Type result = of(type);
  const VariableRef value = lang::make_variable("value", type);
  std::vector<lang::Clause> clauses;
  for (const lang::Constructor& constructor : primal.def->constructors) {
    const std::vector<VariableRef> fields = variables_for(fields_of(constructor, primal), "field");
    std::vector<Expr> parts;
    for (const VariableRef& field : fields) {
      if (!is_unit(or_unit(field->type))) parts.push_back(from_gradient(lang::make_var(field)));
    }
    clauses.push_back({pattern_of(&constructor, fields),
                       construct(mirror(constructor, primal), std::move(parts), result)});
  }
  const Expr body = lang::make_match(lang::make_var(value), std::move(clauses), true, {}, result);
  program_.add_function(name, lang::rename_bound(lang::make_function({value}, result, body)));
}

}  // namespace relay::ad
