#include <fmt/format.h>

#include "parser/meta_objects.h"

namespace relay::parser {

using lang::Attr;
using lang::AttrObject;
using lang::AttrValue;

const std::unordered_map<std::string_view, Resolver::MetaObjects::Maker>&
Resolver::MetaObjects::makers() {
  static const std::unordered_map<std::string_view, Maker> table = {
      {"GlobalVar", &MetaObjects::global},        {"Op", &MetaObjects::op},
      {"relay.Call", &MetaObjects::call},         {"relay.Constant", &MetaObjects::constant},
      {"relay.Function", &MetaObjects::function}, {"relay.If", &MetaObjects::if_expr},
      {"relay.Let", &MetaObjects::let},           {"relay.RefCreate", &MetaObjects::reference},
      {"relay.RefRead", &MetaObjects::reference}, {"relay.RefWrite", &MetaObjects::reference},
      {"relay.Tuple", &MetaObjects::tuple},       {"relay.TupleGetItem", &MetaObjects::projection},
      {"relay.Var", &MetaObjects::var},
  };
  return table;
}

bool Resolver::MetaObjects::is_expr(const AttrValue& value) {
  return value.as_object() && makers().contains(value.as_object()->type_key);
}

lang::Expr Resolver::MetaObjects::expr(const AttrValue& value) {
  const AttrObject* object = value.as_object();
  if (!object) lang::fail(Kind::BadMetadata, "an expression of the metadata lacks a part", where_);
  if (const auto known = exprs_.find(object); known != exprs_.end()) return known->second;
  const auto maker = makers().find(object->type_key);
  if (maker == makers().end()) refuse(object->type_key, "an expression");
  Expr made = (this->*maker->second)(*object);
  exprs_.emplace(object, made);
  return made;
}

std::vector<lang::Expr> Resolver::MetaObjects::exprs(const AttrValue& list) {
  std::vector<Expr> result;
  if (!list.as_list()) refuse("a value", "a list of expressions");
  for (const AttrValue& each : *list.as_list()) result.push_back(expr(each));
  return result;
}

std::string Resolver::MetaObjects::name_hint(const AttrObject& object) const {
  const AttrValue& name = field(object, "name_hint");
  if (!name.as_string()) refuse(object.type_key, "a name");
  return *name.as_string();
}

const Symbol& Resolver::MetaObjects::symbol(const std::string& name) {
  return resolver_.symbols_.intern(resolver_.texts_.emplace_back(name));
}

lang::Expr Resolver::MetaObjects::op(const AttrObject& object) {
  const AttrValue& name = field(object, "name");
  const lang::OpDef* op = lang::OpRegistry::instance().find(*name.as_string());
  if (!op)
    lang::fail(Kind::UnknownName, fmt::format("unknown operator `{}`", *name.as_string()), where_);
  return lang::make_operator(op, where_);
}

lang::Expr Resolver::MetaObjects::call(const AttrObject& object) {
  Expr callee = expr(field(object, "op"));
  std::vector<Expr> args = exprs(field(object, "args"));
  const AttrObject* given = field(object, "attrs").as_object();
  const lang::Operator* op = lang::as<lang::Operator>(callee);
  std::vector<Attr> attrs;
  if (given && op) attrs = attributes_of(*op->op, *given, where_);
  lang::AttrsRef list = attrs.empty() ? nullptr : lang::make_attrs(std::move(attrs));
  return lang::make_call(std::move(callee), std::move(args), std::move(list), where_);
}

lang::Expr Resolver::MetaObjects::constant(const AttrObject& object) {
  const AttrValue& number = field(object, "data");
  return lang::make_constant(resolver_.metadata_->tensor(number.as_int() ? *number.as_int() : -1),
                             where_);
}

lang::VariableRef Resolver::MetaObjects::bind(const AttrValue& var) {
  const AttrObject* object = var.as_object();
  if (!object || object->type_key != "relay.Var") refuse("a value", "a variable");
  const AttrObject* id = field(*object, "vid").as_object();
  if (!id) refuse(object->type_key, "a variable without a name");
  const AttrValue& annotation = field(*object, "type_annotation");
  return variables_[object] = lang::make_variable(
             name_hint(*id), annotation.is_null() ? nullptr : type(annotation), where_);
}

// One that nothing in the metadata binds is that of the text: there is one object for it and
// Relay's printer writes it in both places.
lang::Expr Resolver::MetaObjects::var(const AttrObject& object) {
  const auto bound = variables_.find(&object);
  if (bound != variables_.end()) return lang::make_var(bound->second, where_);
  const AttrObject* id = field(object, "vid").as_object();
  if (!id) refuse(object.type_key, "a variable without a name");
  const std::string name = name_hint(*id);
  if (const lang::VariableRef& local = symbol(name).local) return lang::make_var(local, where_);
  lang::fail(Kind::UnknownName,
             fmt::format("the metadata names `%{}`, which nothing binds here", name), where_);
}

lang::Expr Resolver::MetaObjects::global(const AttrObject& object) {
  const std::string name = name_hint(object);
  const Symbol& known = symbol(name);
  if (known.own_global || known.outer_global) return resolver_.global_var(known, where_);
  lang::fail(Kind::UnknownName, fmt::format("the metadata names `@{}`, which is not defined", name),
             where_);
}

lang::Expr Resolver::MetaObjects::function(const AttrObject& object) {
  const AttrValue::List* type_params = field(object, "type_params").as_list();
  if (type_params && !type_params->empty())
    refuse(object.type_key, "an expression, with type parameters");
  const AttrValue::List* list = field(object, "params").as_list();
  if (!list) refuse(object.type_key, "an expression");
  std::vector<VariableRef> params;
  for (const AttrValue& param : *list) params.push_back(bind(param));
  Expr body = expr(field(object, "body"));
  const AttrValue& result = field(object, "ret_type");
  std::vector<Attr> attrs;
  const AttrObject* given = field(object, "attrs").as_object();
  const AttrValue* dict = given ? given->find("__dict__") : nullptr;
  if (dict && dict->as_object()) attrs = dict->as_object()->fields;
  return lang::make_function(std::move(params), result.is_null() ? nullptr : type(result),
                             std::move(body), {},
                             attrs.empty() ? nullptr : lang::make_attrs(std::move(attrs)), where_);
}

lang::Expr Resolver::MetaObjects::let(const AttrObject& object) {
  // A function may mention the variable that it is bound to.
  VariableRef variable = bind(field(object, "var"));
  Expr value = expr(field(object, "value"));
  return lang::make_let(std::move(variable), std::move(value), expr(field(object, "body")), where_);
}

lang::Expr Resolver::MetaObjects::if_expr(const AttrObject& object) {
  Expr condition = expr(field(object, "cond"));
  Expr then_branch = expr(field(object, "true_branch"));
  return lang::make_if(std::move(condition), std::move(then_branch),
                       expr(field(object, "false_branch")), where_);
}

lang::Expr Resolver::MetaObjects::reference(const AttrObject& object) {
  if (object.type_key == "relay.RefCreate")
    return lang::make_ref_create(expr(field(object, "value")), where_);
  Expr ref = expr(field(object, "ref"));
  if (object.type_key == "relay.RefRead") return lang::make_ref_read(std::move(ref), where_);
  return lang::make_ref_write(std::move(ref), expr(field(object, "value")), where_);
}

lang::Expr Resolver::MetaObjects::tuple(const AttrObject& object) {
  return lang::make_tuple(exprs(field(object, "fields")), where_);
}

lang::Expr Resolver::MetaObjects::projection(const AttrObject& object) {
  const AttrValue& index = field(object, "index");
  if (!index.as_int() || *index.as_int() < 0) refuse(object.type_key, "an expression");
  return lang::make_projection(expr(field(object, "tuple_value")),
                               static_cast<std::uint32_t>(*index.as_int()), where_);
}

// --- References ---

lang::Expr Resolver::meta_expr(const Node& node) {
  const std::optional<AttrValue> value = meta_value(node);
  if (!value) return nothing(node);
  if (!MetaObjects::is_expr(*value)) {
    report(Kind::SyntaxError,
           fmt::format("`{}` is no value: it can stand where attributes are",
                       tree_.text(*node.child(0))),
           span(node));
    return nothing(node);
  }
  try {
    return MetaObjects(*this, span(node)).expr(*value);
  } catch (lang::Failure& failure) {
    failure.diagnostics.front().span = span(node);
    report(std::move(failure.diagnostics.front()));
    return nothing(node);
  }
}

lang::Type Resolver::meta_type(const Node& node) {
  const std::optional<AttrValue> value = meta_value(node);
  if (!value) return lang::incomplete_type();
  try {
    return MetaObjects(*this, span(node)).type(*value);
  } catch (lang::Failure& failure) {
    report(std::move(failure.diagnostics.front()));
    return lang::incomplete_type();
  }
}

}  // namespace relay::parser
