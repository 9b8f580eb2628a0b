#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ad/adjoint.h"
#include "ad/closures.h"
#include "ad/jvps.h"
#include "ad/tangent_value.h"
#include "lang/expr.h"
#include "lang/module.h"
#include "lang/op.h"

namespace relay::ad {

class Pairs;

// Forward mode: the code of a function with the tangent of each value beside it. Primal bindings
// stay what they are; where a value has come from control flow or a call, it and its tangent come
// together, so that nothing runs twice. What is bound outside has a symbolic zero as its tangent
// unless it is set. Needs: typed ANF, variables that are bound once.
class ForwardBlock {
 public:
  ForwardBlock(lang::Program& program, Pairs& pairs);
  void set_tangent(const lang::VariableRef& variable, TangentValue tangent);
  // An atom that says whose tangents references hold (ad/adjoint_cells); needed where code may use
  // any.
  void set_walk(lang::Expr walk) { walk_ = std::move(walk); }
  TangentValue tangent_of(const lang::Expr& atom) const;

  // An atom and its tangent.
  struct Dual {
    lang::Expr value;
    TangentValue tangent;
  };
  // Appends the code of a block.
  Dual run(const lang::Expr& block, Emitter& code);
  // The body of a function that gives (result, tangent): what it calls last stays last.
  lang::Expr tail(const lang::Expr& block);
  // The same, where it is a walk of its own, with no tangents in references from outside.
  lang::Expr in_own_walk(const lang::Expr& block);
  // One step.
  void step(const lang::Binding& binding, Emitter& code);

 private:
  // Let-bound function literals: global functions with the captures as leading parameters, made
  // when the first call needs one.
  struct KnownFunction {
    lang::Expr literal;  // null once there is a global
    lang::VariableRef self;
    std::string global;
    lang::Type type;
    std::vector<lang::Expr> captures;
  };
  void make_global(KnownFunction& known, const std::string& name);
  Lifted lifted(const std::string& name, const lang::Expr& literal, const lang::VariableRef& self);

  lang::Type tangent_type(const lang::Type& type) const;  // () where there is none
  lang::Expr tail_in(const lang::Expr& block, Emitter code);
  lang::Expr tail_of(const lang::Expr& result, Emitter& code);
  // A value and its tangent in one tuple.
  lang::Expr both(const Dual& dual, Emitter& code) const;
  // `value` gives such a tuple for the variable of `binding`.
  void bind_both(const lang::Binding& binding, lang::Expr value, Emitter& code);

  void reference(const lang::Binding& binding, Emitter& code);

  // forward_branch.cpp
  void branch(const lang::Binding& binding, Emitter& code);
  void straight(const lang::Binding& binding, const lang::Match& match, Emitter& code);
  void bind_parts(const lang::Expr& value, const lang::PatternRef& pattern,
                  const TangentValue& tangent, Emitter& code);
  // Binds tangents for the variables of a pattern that takes apart `type`; wildcards have become
  // variables where zeros are to be made of them.
  lang::PatternRef enter(const lang::PatternRef& pattern, const lang::Type& type,
                         const TangentValue& tangent, Emitter& code);
  void take_apart(const lang::PatternRef& pattern, const lang::Type& type,
                  const TangentValue& tangent, Emitter& code);

  // forward_call.cpp
  void function(const lang::Binding& binding, Emitter& code);
  void construction(const lang::Binding& binding, const lang::Call& call, Emitter& code);
  // The call that gives the result and its tangent; null where the tangent is zero.
  lang::Expr derived_call(const lang::Call& call, lang::Span span, Emitter& code);
  lang::Expr known_call(const std::string& name, const lang::Type& type,
                        const std::vector<lang::Expr>& args, lang::Span span, Emitter& code);
  lang::Expr unknown_call(const lang::Call& call, lang::Span span, Emitter& code);
  bool is_active(const std::vector<lang::Expr>& args) const;

  // forward_operator.cpp
  void operator_call(const lang::Binding& binding, const lang::Call& call, const lang::OpDef& op,
                     Emitter& code);
  void by_rule(const lang::Binding& binding, const lang::Call& call, const lang::OpDef& op,
               Emitter& code);
  void by_gradient(const lang::Binding& binding, const lang::Call& call, const lang::OpDef& op,
                   Emitter& code);
  void by_itself(const lang::Binding& binding, const lang::Call& call, bool jointly, Emitter& code);
  void by_definition(const lang::Binding& binding, const lang::Call& call, const lang::OpDef& op,
                     Emitter& code);
  void by_operator(const lang::Binding& binding, const lang::Call& call, const lang::OpDef& op,
                   Emitter& code);

  // forward_index.cpp
  void index_notation(const lang::Binding& binding, Emitter& code);
  // Of a scalar form that is arithmetic; the primal is there already.
  void arithmetic(const lang::Binding& binding, Emitter& code);
  void element_by_element(const lang::Binding& binding, Emitter& code);
  void apart(const lang::Binding& binding, const std::vector<lang::IndexBinder>& binders,
             const lang::Expr& body, Emitter& code);

  lang::Program& program_;
  Pairs& pairs_;
  lang::Expr walk_;
  std::unordered_map<const lang::Variable*, TangentValue> tangents_;
  std::unordered_map<const lang::Variable*, KnownFunction> functions_;
};

}  // namespace relay::ad
