#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/expr.h"

namespace relay::lang {

struct Constructor {
  std::string name;
  std::uint32_t tag = 0;                 // position in the type's list
  std::vector<Type> fields;              // over the owner's params
  std::vector<std::string> field_names;  // of a record constructor; else empty
  const TypeDef* owner = nullptr;
  Span span;
};

// Where a definition or type comes from: the text at hand (and earlier entries at the prompt), a
// file that it imports, or the prelude.
enum class Origin : std::uint8_t { Own, Imported, Prelude };

// An algebraic data type. Its constructors' addresses are stable.
struct TypeDef final : Counted {
  std::string name;
  std::vector<TypeVarRef> params;  // kinds Type and Dim
  std::deque<Constructor> constructors;
  bool is_extern = false;
  Origin origin = Origin::Own;
  std::string doc;
  Span span;
};
using TypeDefRef = Ref<TypeDef>;

// A parameter of a `def` as its callers see it. One with a default value may be left out, or given
// by name. One that the body uses as an attribute (`axis=axis`) is an attribute itself: it is no
// parameter in the core, where there is a function for each of its values.
struct Parameter {
  std::string name;
  Expr default_value = nullptr;  // a literal, a constant, or a tuple of those; null: none
  std::optional<AttrValue> attribute = std::nullopt;  // of an attribute: its default value
};
struct Parameters {
  std::vector<Parameter> list;
  // The function while its attributes have no values, and its gradient; null without attributes.
  Expr general = nullptr;
  Expr general_gradient = nullptr;

  bool has_attributes() const {
    for (const Parameter& each : list) {
      if (each.attribute) return true;
    }
    return false;
  }
};
using ParametersRef = std::shared_ptr<const Parameters>;
// `my.scale(x, factor=2.0)`
std::string usage_of(std::string_view function, const Parameters& parameters);

// A global: a function (`def`), or a top-level binding (`let`) that has a value.
struct Definition {
  std::string name;
  Expr function;    // a Function as parsed (untyped); null for a top-level binding
  Type value_type;  // type of a top-level binding's value; null for a function
  Origin origin = Origin::Own;
  std::string doc;
  Span span;
  ParametersRef parameters = nullptr;  // of a function of which one has a default value; or null
  // A function with attributes at these values; the owner of the attributes, whose parameters are
  // `parameters`, is called `instance_of`.
  std::string instance_of = {};
  AttrsRef instance_attrs = nullptr;
  // Has a `let` made it of what others are called, or of their derivatives (`let df = grad(f)`)?
  bool follows = false;
};
using DefinitionRef = std::shared_ptr<const Definition>;

// The names of a session: what has been defined so far. Redefinition replaces; replaced types stay
// alive because values and other definitions may still use them.
class Module {
 public:
  const Definition* find(std::string_view name) const;  // null if there is none
  // The same, to be kept when another takes its place, and to be defined again.
  DefinitionRef held(std::string_view name) const;
  // What a text means by `name`: its own definition, else an imported one, else the prelude's.
  const Definition* lookup(std::string_view name) const;
  const TypeDef* find_type(std::string_view name) const;
  const Constructor* find_constructor(std::string_view name) const;

  void define(Definition definition);
  void define(DefinitionRef definition);
  void define(TypeDefRef type);  // and its constructors
  // Cost of these: as of a look into a map.
  void remove(std::string_view name);
  // `name` stands for the imported definition `full_name`, which is called `FILE.name`.
  void alias(const std::string& name, const std::string& full_name);
  // Makes all of `library` visible here. Own types stay what their names mean; else the newer one.
  void import(const Module& library);

  // In order of definition.
  std::vector<const Definition*> definitions() const;
  std::vector<const TypeDef*> types() const;
  // Names that stand for definitions with other names.
  const std::map<std::string, std::string, std::less<>>& aliases() const { return aliases_; }

 private:
  struct Entry {
    DefinitionRef definition;
    std::size_t place = 0;  // in order_
  };
  void leave_order(const Entry& entry);
  void forget_constructors(const TypeDef& type);

  std::map<std::string, Entry, std::less<>> definitions_;
  std::vector<DefinitionRef> order_;  // null: replaced or removed
  std::size_t gaps_ = 0;              // how many of these are null
  std::map<std::string, std::string, std::less<>> aliases_;
  std::vector<TypeDefRef> types_;  // all, also replaced ones
  std::map<std::string, const TypeDef*, std::less<>> type_names_;
  std::map<std::string, const Constructor*, std::less<>> constructors_;
};

// How a pass reaches the rest of the program. The session implements it; passes never see each
// other.
class Program {
 public:
  virtual ~Program() = default;
  // The specialised body (typed, ANF, derivatives expanded) of global `name` at the ground function
  // type `type`. Throws Failure.
  virtual Expr function(const std::string& name, const Type& type) = 0;
  // Is `name` a function (and not a top-level binding of a value)?
  virtual bool is_function(const std::string& name) = 0;
  // Of a function.
  virtual std::size_t parameter_count(const std::string& name) = 0;
  // Does a call of the function `name` give its result, or fail, or not end, and do nothing else,
  // if the functions that it is given do nothing else?
  virtual bool is_pure(const std::string& name) = 0;
  // A typed ANF function with small known calls inlined and what that leaves behind tidied up.
  virtual Expr inlined(const Expr& function) = 0;
  // Adds a function made by a pass (typed, ANF) and returns the unique global name it got.
  // `recursive` bodies may be added under a name obtained from `reserve_name` first.
  virtual std::string reserve_name(const std::string& hint) = 0;
  virtual void add_function(const std::string& name, Expr function) = 0;
  // Adds a data type made by a pass; gives it a unique name.
  virtual const TypeDef* add_type(TypeDefRef type) = 0;
};

}  // namespace relay::lang
