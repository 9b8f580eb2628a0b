#include <fmt/format.h>

#include "parser/resolver.h"

namespace relay::parser {

using lang::AttrObject;
using lang::AttrValue;
using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Dim;
using lang::Failure;

// Is there such an entry? Reports if not.
bool Resolver::has_meta(const Node& node) {
  const std::string_view key = tree_.text(*node.child(0));
  const std::int64_t index = read_digits(tree_.text(*node.child(1)), span(*node.child(1)));
  const std::size_t size = metadata_ ? metadata_->size(key) : 0;
  if (static_cast<std::uint64_t>(index) < size) return true;
  if (metadata_failed_) return false;
  if (size == 0) {
    report(Kind::BadMetadata,
           metadata_ ? fmt::format("the metadata has nothing under `{}`", key)
                     : "this refers to metadata, but the text has no `#[metadata]` section",
           span(node));
  } else {
    report(Kind::BadMetadata,
           fmt::format("the metadata has {} under `{}`, there is no number {}",
                       size == 1 ? "one entry" : fmt::format("{} entries", size), key, index),
           span(*node.child(1)));
  }
  return false;
}

// What a reference stands for; nothing, with an error reported, if that cannot be had.
std::optional<AttrValue> Resolver::meta_value(const Node& node) {
  if (!has_meta(node)) return std::nullopt;
  try {
    return metadata_->value(
        tree_.text(*node.child(0)),
        static_cast<std::size_t>(read_digits(tree_.text(*node.child(1)), span(node))));
  } catch (Failure& failure) {
    failure.diagnostics.front().span = span(node);
    report(std::move(failure.diagnostics.front()));
    return std::nullopt;
  }
}

lang::Expr Resolver::meta_expr(const Node& node) {
  if (tree_.text(*node.child(0)) != "relay.Constant") {
    if (meta_value(node)) {
      report(Kind::SyntaxError,
             fmt::format("`{}` is no value: it can stand where attributes are",
                         tree_.text(*node.child(0))),
             span(node));
    }
    return nothing(node);
  }
  if (!has_meta(node)) return nothing(node);
  try {
    return lang::make_constant(metadata_->constant(static_cast<std::size_t>(
                                   read_digits(tree_.text(*node.child(1)), span(node)))),
                               span(node));
  } catch (Failure& failure) {
    failure.diagnostics.front().span = span(node);
    report(std::move(failure.diagnostics.front()));
    return nothing(node);
  }
}

bool Resolver::is_meta_attrs(const Node& node) const {
  return node.kind == Syntax::Meta && tree_.text(*node.child(0)).starts_with("relay.attrs.");
}

namespace {

// Variables are the same where the objects are.
std::optional<Dim> dim_of(const AttrValue& value,
                          std::unordered_map<const AttrObject*, lang::TypeVarRef>& variables) {
  if (const std::int64_t* extent = value.as_int()) return Dim(*extent);
  const AttrObject* object = value.as_object();
  if (!object) return std::nullopt;
  if (object->type_key == "tir.Any") return Dim::any();
  if (object->type_key == "tir.Var" || object->type_key == "tir.SizeVar") {
    lang::TypeVarRef& var = variables[object];
    const AttrValue* name = object->find("name");
    if (!var) {
      const bool is_named = name && name->as_string() && !name->as_string()->empty();
      var = lang::TypeVar::rigid(lang::VarKind::Dim, is_named ? *name->as_string() : "n");
    }
    return Dim::variable(var);
  }
  const AttrValue* a = object->find("a");
  const AttrValue* b = object->find("b");
  if (!a || !b) return std::nullopt;
  const std::optional<Dim> left = dim_of(*a, variables);
  const std::optional<Dim> right = dim_of(*b, variables);
  if (!left || !right) return std::nullopt;
  if (object->type_key == "tir.Add") return *left + *right;
  if (object->type_key == "tir.Sub") return *left - *right;
  if (object->type_key == "tir.Mul") return *left * *right;
  if (object->type_key == "tir.FloorDiv" && !right->is_constant(0))
    return Dim::floor_div(*left, *right);
  return std::nullopt;
}

}  // namespace

Dim Resolver::meta_dim(const Node& node) {
  const std::optional<AttrValue> value = meta_value(node);
  if (!value) return Dim::any();
  if (const std::optional<Dim> dim = dim_of(*value, meta_dims_)) return *dim;
  report(Kind::Unsupported,
         fmt::format("not supported: `{}` as a dimension", tree_.text(*node.child(0))), span(node));
  return Dim::any();
}

lang::Type Resolver::meta_type(const Node& node) {
  const std::string_view key = tree_.text(*node.child(0));
  const std::optional<AttrValue> value = meta_value(node);
  const AttrObject* object = value ? value->as_object() : nullptr;
  if (object && key == "relay.TensorType") {
    const AttrValue* dtype = object->find("dtype");
    const AttrValue* shape = object->find("shape");
    const auto known =
        dtype && dtype->as_string() ? lang::parse_dtype(*dtype->as_string()) : std::nullopt;
    std::vector<Dim> dims;
    bool is_known = known.has_value() && shape && shape->as_list();
    for (std::size_t i = 0; is_known && i < shape->as_list()->size(); ++i) {
      const std::optional<Dim> dim = dim_of((*shape->as_list())[i], meta_dims_);
      is_known = dim.has_value();
      if (dim) dims.push_back(*dim);
    }
    if (is_known) return lang::tensor_type(std::move(dims), *known);
  }
  if (value && !(object && key == "IncompleteType")) {
    report(Kind::Unsupported, fmt::format("not supported: `{}` as a type", key), span(node));
  }
  return lang::incomplete_type();
}

}  // namespace relay::parser
