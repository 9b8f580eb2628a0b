#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "ad/reference_use.h"
#include "ad/tangent.h"
#include "lang/expr.h"

namespace relay::ad {

// Which variables the derivative asks for: those that a wanted parameter has an influence on,
// through values that have tangents. Nothing is saved, and no adjoint is computed, for the others.
// Variables are active until they are said not to be, but for numbers that have no tangents.
class ActiveVariables {
 public:
  ActiveVariables(Tangents& tangents, ReferenceUse& use) : tangents_(&tangents), use_(&use) {}

  void deactivate(const lang::VariableRef& variable) { inactive_.insert(variable.get()); }
  // All variables of a pattern.
  void deactivate(const lang::PatternRef& pattern);
  bool is_active(const lang::VariableRef& variable) const;
  // Does the expression read an active variable?
  bool reads_active(const lang::Expr& expr) const;
  // Deactivates the variable, if it depends on no active one or its type has no tangent but `()`.
  // What may read a reference depends on what has been written there.
  // Returns whether it is active.
  bool bind(const lang::VariableRef& variable, const lang::Expr& value);

 private:
  Tangents* tangents_;
  ReferenceUse* use_;
  std::unordered_set<const lang::Variable*> inactive_;
};

// For the parameters of the function that is called `name` at `type`: `wanted`, and those that its
// calls of itself make depend on these.
std::vector<bool> active_params(const lang::Function& function, const std::string& name,
                                const lang::Type& type, std::vector<bool> wanted,
                                Tangents& tangents, ReferenceUse& use);

}  // namespace relay::ad
