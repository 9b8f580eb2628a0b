#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ad/tangent_parts.h"
#include "lang/expr.h"
#include "lang/module.h"
#include "lang/op.h"

namespace relay::ad {

// The types of tangents and adjoints, and the arithmetic on them that needs code of its own.
//
// A float tensor is its own tangent; an integer's or boolean's is (); a tuple's is pointwise, and
// so is that of a record (a data type with one constructor and no recursion): a tuple. Any other
// data type that holds a float has a mirror: one
// constructor Zero, and one for each of its own with the tangents of those fields that have one.
// A function's is made of those of what it captures. A reference has (): see ad/adjoint_cells.h.
class Tangents {
 public:
  explicit Tangents(lang::Program& program);
  Tangents(const Tangents&) = delete;
  Tangents& operator=(const Tangents&) = delete;

  // Null where there is none. Mirrors are made once for each ground type. They live as long as the
  // program: tangents go from one piece of code to another that is derived much later.
  lang::Type of(const lang::Type& primal);
  lang::Type or_unit(const lang::Type& primal);  // () instead of null
  // A data type that is its own tangent, with zero as its first constructor.
  void add_own_tangent(const lang::TypeDef* def) { made_.insert(def); }

  // Does a value of this type hold function values, or references?
  bool holds_function(const lang::Type& type) const;
  // The mirror of a constructor; null if it is that of a type whose tangent is () or a tuple.
  const lang::Constructor* mirror(const lang::Constructor& constructor,
                                  const lang::AdtType& primal);
  // The tangent of function values, and a new constructor of it for what closures made at one place
  // capture (types of tangents, none of them ()).
  const lang::Type& function_tangent();
  const lang::Constructor* add_place(std::vector<lang::Type> captured);
  // The place with that number; null if there is none.
  const lang::Constructor* place(std::int64_t number);
  // fn (A...) -> (B, fn (tangent of B, function tangent) -> (function tangent, tangents of A...)):
  // the pullback takes the function's own adjoint so far, and gives it back with more added.
  lang::Type with_pullback(const lang::FunctionType& function);
  const lang::OpDef& pullback_operator() const { return pullback_; }
  // fn (function tangent, A..., tangents of A..., the walk) -> (B, tangent of B); ad/adjoint_cells.
  lang::Type with_tangent(const lang::FunctionType& function);
  const lang::OpDef& tangent_operator() const { return tangent_operator_; }

  // The sum of two adjoints of one mirror type: of the fields, Zero being nothing.
  lang::Expr add(const lang::Expr& a, const lang::Expr& b);
  // An adjoint as the user sees it: of the primal's own type, integer and boolean leaves zero.
  // `adjoint` may be of type () where the primal's tangent is.
  lang::Expr as_gradient(const lang::Expr& adjoint, const lang::Expr& primal);
  // The inverse: what a user gives, of the type of `primal`, as its tangent. Integer and boolean
  // leaves are dropped. Data is checked when it runs: its constructors are those of `primal`.
  // `span` is where the error points.
  lang::Expr from_gradient(const lang::Expr& gradient, const lang::Expr& primal, lang::Span span);

 private:
  struct Mirror {
    // () if the data type holds no float, a tuple for records; in terms of the dims that are
    // parameters of the data type.
    lang::Type type;
    std::map<const lang::Constructor*, const lang::Constructor*> constructors;
  };
  const Mirror& mirror_of(const lang::AdtType& instance);
  bool holds_float(const lang::Type& type);
  void define_add(const std::string& name, const lang::AdtType& mirror);
  lang::Expr gradient_of_record(const lang::Expr& adjoint, const lang::Expr& primal);
  void define_gradient(const std::string& name, const lang::Type& adjoint,
                       const lang::AdtType& primal);
  lang::Expr mirrored(const lang::Expr& gradient);
  void define_tangent(const std::string& name, const lang::AdtType& primal);

  lang::Program& program_;
  lang::OpDef pullback_;
  lang::OpDef tangent_operator_;
  lang::OpDef add_functions_;
  lang::TypeDefRef functions_;
  lang::Type function_tangent_;
  std::set<const lang::TypeDef*> made_;     // mirrors
  std::map<std::string, Mirror> mirrors_;   // by the primal's identity, with any dims
  std::map<std::string, std::string> add_;  // functions, by the mirror's identity
  // Functions, by the primal's identity: its text and the definitions that it means.
  std::map<std::string, std::string> gradient_;  // as_gradient
  std::map<std::string, std::string> tangent_;   // mirrored
};

}  // namespace relay::ad
