#include "parser/meta_objects.h"

#include <cmath>

#include <fmt/format.h>

namespace relay::parser {

using lang::AttrObject;
using lang::AttrValue;
using lang::Dim;

void Resolver::MetaObjects::refuse(std::string_view type_key, std::string_view as) const {
  lang::fail(Kind::Unsupported, fmt::format("not supported: `{}` as {}", type_key, as), where_);
}

const AttrValue& Resolver::MetaObjects::field(const AttrObject& object,
                                              std::string_view name) const {
  if (const AttrValue* found = object.find(name)) return *found;
  lang::fail(Kind::BadMetadata,
             fmt::format("a `{}` of the metadata has no `{}`", object.type_key, name), where_);
}

// --- Dimensions ---

std::optional<Dim> Resolver::MetaObjects::variable(const AttrObject& object) {
  lang::TypeVarRef& var = resolver_.meta_dims_[&object];
  if (!var) {
    const AttrValue* name = object.find("name");
    const bool is_named = name && name->as_string() && !name->as_string()->empty();
    var = lang::TypeVar::rigid(lang::VarKind::Dim, is_named ? *name->as_string() : "n");
  }
  return Dim::variable(var);
}

// Relay computes some extents in floats, `cast(round(cast(n) * 2.0))`: all of it is whole where the
// parts are.
std::optional<Dim> Resolver::MetaObjects::whole(const AttrObject& object) {
  const AttrValue* op = object.find("op");
  const AttrObject* callee = op ? op->as_object() : nullptr;
  const AttrValue* name = callee ? callee->find("name") : nullptr;
  const AttrValue* args = object.find("args");
  if (!name || !name->as_string() || !args || !args->as_list() || args->as_list()->size() != 1)
    return std::nullopt;
  for (const char* rounding : {"tir.round", "tir.nearbyint", "tir.floor", "tir.ceil", "tir.trunc"})
    if (*name->as_string() == rounding) return dim(args->as_list()->front());
  return std::nullopt;
}

std::optional<Dim> Resolver::MetaObjects::dim(const AttrValue& value) {
  if (const std::int64_t* extent = value.as_int()) return Dim(*extent);
  if (const double* number = value.as_float()) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    const bool is_whole = std::abs(*number) < kExact && std::trunc(*number) == *number;
    return is_whole ? std::optional(Dim(static_cast<std::int64_t>(*number))) : std::nullopt;
  }
  const AttrObject* object = value.as_object();
  if (!object) return std::nullopt;
  const std::string& key = object->type_key;
  if (key == "tir.Any") return Dim::any();
  if (key == "tir.Var" || key == "tir.SizeVar") return variable(*object);
  if (key == "tir.Cast") {
    const AttrValue* content = object->find("value");
    return content ? dim(*content) : std::nullopt;
  }
  if (key == "tir.Call") return whole(*object);
  const AttrValue* a = object->find("a");
  const AttrValue* b = object->find("b");
  if (!a || !b) return std::nullopt;
  const std::optional<Dim> left = dim(*a);
  const std::optional<Dim> right = dim(*b);
  if (!left || !right) return std::nullopt;
  if (left->is_any() || right->is_any()) return Dim::any();
  if (key == "tir.Add") return *left + *right;
  if (key == "tir.Sub") return *left - *right;
  if (key == "tir.Mul") return *left * *right;
  if (right->is_constant(0)) return std::nullopt;
  if (key == "tir.FloorDiv") return Dim::floor_div(*left, *right);
  if (key == "tir.FloorMod") return *left - Dim::floor_div(*left, *right) * *right;
  return std::nullopt;
}

// --- Types ---

lang::Type Resolver::MetaObjects::tensor_type(const AttrObject& object) {
  const AttrValue& dtype = field(object, "dtype");
  const AttrValue& shape = field(object, "shape");
  const auto known = dtype.as_string() ? lang::parse_dtype(*dtype.as_string()) : std::nullopt;
  if (!known || !shape.as_list()) refuse(object.type_key, "a type");
  std::vector<Dim> dims;
  for (const AttrValue& extent : *shape.as_list()) {
    const std::optional<Dim> dim = this->dim(extent);
    if (!dim) refuse(object.type_key, "a type");
    dims.push_back(*dim);
  }
  return lang::tensor_type(std::move(dims), *known);
}

std::vector<lang::Type> Resolver::MetaObjects::types(const AttrValue& list) {
  std::vector<Type> types;
  if (!list.as_list()) refuse("Array", "a list of types");
  for (const AttrValue& each : *list.as_list()) types.push_back(type(each));
  return types;
}

lang::Type Resolver::MetaObjects::type(const AttrValue& value) {
  if (value.is_null()) return lang::incomplete_type();
  const AttrObject* object = value.as_object();
  if (!object) refuse("a value", "a type");
  const std::string& key = object->type_key;
  if (key == "IncompleteType") return lang::incomplete_type();
  if (key == "relay.TensorType") return tensor_type(*object);
  if (key == "TupleType") return lang::tuple_type(types(field(*object, "fields")));
  if (key == "relay.RefType") return lang::reference_type(type(field(*object, "value")));
  const bool is_plain = key == "FuncType" && field(*object, "type_params").as_list() &&
                        field(*object, "type_params").as_list()->empty();
  if (!is_plain) refuse(key, "a type");
  return lang::function_type(types(field(*object, "arg_types")), type(field(*object, "ret_type")));
}

}  // namespace relay::parser
