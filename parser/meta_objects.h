#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "parser/resolver.h"

namespace relay::parser {

// What objects of the metadata section stand for: dimensions, types, and expressions. One for each
// reference: an object that the reference reaches twice is one expression.
class Resolver::MetaObjects {
 public:
  // `where`: the reference.
  MetaObjects(Resolver& resolver, Span where) : resolver_(resolver), where_(where) {}

  // Nothing for what is none that we know. Variables are the same wherever the objects are.
  std::optional<lang::Dim> dim(const lang::AttrValue& value);
  // These throw Failure.
  Type type(const lang::AttrValue& value);
  Expr expr(const lang::AttrValue& value);
  // Is it an object for `expr`?
  static bool is_expr(const lang::AttrValue& value);

 private:
  using Maker = Expr (MetaObjects::*)(const lang::AttrObject&);
  static const std::unordered_map<std::string_view, Maker>& makers();

  std::optional<lang::Dim> variable(const lang::AttrObject& object);
  std::optional<lang::Dim> whole(const lang::AttrObject& object);
  Type tensor_type(const lang::AttrObject& object);
  std::vector<Type> types(const lang::AttrValue& list);

  Expr call(const lang::AttrObject& object);
  Expr constant(const lang::AttrObject& object);
  Expr function(const lang::AttrObject& object);
  Expr global(const lang::AttrObject& object);
  Expr if_expr(const lang::AttrObject& object);
  Expr let(const lang::AttrObject& object);
  Expr op(const lang::AttrObject& object);
  Expr projection(const lang::AttrObject& object);
  Expr reference(const lang::AttrObject& object);
  Expr tuple(const lang::AttrObject& object);
  Expr var(const lang::AttrObject& object);

  lang::VariableRef bind(const lang::AttrValue& var);
  std::vector<Expr> exprs(const lang::AttrValue& list);
  const lang::AttrValue& field(const lang::AttrObject& object, std::string_view name) const;
  const Symbol& symbol(const std::string& name);
  std::string name_hint(const lang::AttrObject& object) const;
  [[noreturn]] void refuse(std::string_view type_key, std::string_view as) const;

  Resolver& resolver_;
  const Span where_;
  std::unordered_map<const lang::AttrObject*, Expr> exprs_;
  std::unordered_map<const lang::AttrObject*, lang::VariableRef> variables_;
};

}  // namespace relay::parser
