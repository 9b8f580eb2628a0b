#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/type.h"

namespace relay::typecheck {

// An operator's relation that generalisation left open: op(args) = result, over the scheme's
// variables.
struct OpenRelation {
  const lang::OpDef* op;
  std::vector<lang::Type> args;
  lang::AttrsRef attrs;
  lang::Type result;
};
// A requirement on a dtype variable.
struct DTypeRequirement {
  lang::TypeVarRef var;
  lang::PrimOperands operands;
};
// Two dims over the scheme's variables that must be equal. Checked where they are known, else at
// the entry of the function when it runs.
struct DimEquation {
  lang::Dim a;
  lang::Dim b;
};
// The results of a generic function for types of arguments that have been met.
class KnownResults {
 public:
  // Null if they have not.
  const lang::Type* find(const std::vector<lang::Type>& params) const;
  void add(std::vector<lang::Type> params, lang::Type result);

 private:
  struct Entry {
    std::vector<lang::Type> params;
    lang::Type result;
  };
  std::unordered_multimap<std::size_t, Entry> entries_;
};

// forall variables. relations, requirements and equations => type
struct Scheme {
  std::vector<lang::TypeVarRef> variables;
  std::vector<OpenRelation> relations;
  std::vector<DTypeRequirement> requirements;
  lang::Type type;
  std::vector<DimEquation> equations = {};
  // The dtypes of numbers in the code, among `variables`: where nothing else tells, a use takes the
  // default of a number.
  std::vector<lang::TypeVarRef> numbers = {};
  // The dtypes, among `variables`, of which numbers are floats where nothing else tells.
  std::vector<lang::TypeVarRef> floats = {};
  // What the scheme is at the usual ranks of its open relations (the data of `nn.dense` a matrix).
  // Only for reading: uses take the scheme itself. Null if that would not say more.
  std::shared_ptr<const Scheme> usual = nullptr;
  mutable KnownResults results = {};  // of calls whose relations have been solved
};
// `fn (Tensor[s, d]) -> Tensor[s, d]`, then ` where ...` for what is left open; of a scheme that
// has one, its usual form. Variables are named so that they read well: types A, B, ..; dims n, m,
// ..; shapes s, t, ..; dtypes d, e, ... That a dtype must be numeric is so common that it is not
// said.
std::string to_string(const Scheme& scheme);

struct CheckedValue {
  lang::Expr expr;
  lang::Type type;
};

// What inference has found out about a piece of code, or about a variable where it is introduced.
struct TypeAt {
  lang::Span span;
  lang::Type type;
  bool is_variable = false;
};

// In an instance of a definition, its quantified dims stay symbolic, or are the numbers that the
// use has for them.
enum class Extents : std::uint8_t { Symbolic, Known };

// Inference over a module. Schemes of definitions are inferred when first asked for and cached;
// after a redefinition call `forget`. Definitions that call each other are inferred together (one
// component at a time).
class Checker {
 public:
  explicit Checker(const lang::Module& module);
  ~Checker();

  // The most general type of a global.
  lang::Result<Scheme> scheme(const std::string& name);

  // A closed expression: fully typed with ground types, literals settled (int32, float32 by
  // default), every GlobalVar carrying the ground type of this use. Errors are all that there are,
  // one per cause; none if the cause is a binding of type `_`, which stands for one whose error has
  // been reported.
  lang::Result<lang::Expr> check(const lang::Expr& expr, const lang::Type& expected = nullptr);
  // The same with the type of the value: what is open in data is generic there (the elements of an
  // empty list), where the expression has `()` for it. Data with functions or references in it is
  // not generic.
  lang::Result<CheckedValue> check_value(const lang::Expr& expr,
                                         const lang::Type& expected = nullptr);
  // The type alone; may be polymorphic (a function value).
  lang::Result<Scheme> type_of(const lang::Expr& expr);

  // The type of the custom gradient of function `name`, which must fit the function: it takes its
  // parameters and the adjoint of its result, and gives an adjoint for each parameter.
  lang::Result<Scheme> check_gradient(const std::string& name);

  // The types of all code inside of the function `name`, or of an expression, in the order in which
  // inference has come by; over the variables of its scheme, in its usual form where that says
  // more. Of code with errors as much as is known. Cost: inference of the function, or of the
  // expression.
  std::vector<TypeAt> types_inside(const std::string& name);
  std::vector<TypeAt> types_inside(const lang::Expr& expr, const lang::Type& expected = nullptr);

  // The body of global `name` at ground function type `type` as a typed Function. Quantified dims
  // of the definition stay symbolic (rigid variables) but for those that `extents` makes known;
  // everything else is ground.
  lang::Result<lang::Expr> specialise(const std::string& name, const lang::Type& type,
                                      Extents extents = Extents::Symbolic);
  // Key under which specialisations of `name` at `type` may be shared.
  lang::Result<std::string> specialisation_key(const std::string& name, const lang::Type& type,
                                               Extents extents = Extents::Symbolic);

  // `name` has changed: drops its scheme and those that depend on it. False if nothing was known
  // of it and no definition looked at so far mentions it: then nothing has been derived from it.
  bool forget(const std::string& name);

  // What is suspicious but no error (clauses that no value reaches), since the last call.
  std::vector<lang::Diagnostic> take_warnings();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace relay::typecheck
