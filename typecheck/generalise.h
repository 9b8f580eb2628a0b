#pragma once

#include <string>
#include <vector>

#include "typecheck/inference.h"

namespace relay::typecheck {

// The scheme of one definition of a component, and what is needed to infer its body again at one
// instance.
struct Generalised {
  Scheme scheme;
  // The types of all members of the component, over the scheme's variables. Variables that are not
  // the scheme's (those of another member) are rigid here; an instance gives them fresh unknowns.
  std::vector<lang::Type> members;
};

// `types` are those of the members; `index` says which one. Inference must have been finished by
// finish_generic.
Generalised generalise(Inference& inference, const std::vector<lang::Type>& types,
                       std::size_t index);

// What a use of the scheme asks for: its requirements and equations, over what `fresh` has for its
// variables. `name` and `use` are for messages. Throws Failure for what cannot be.
void demand(const Scheme& scheme, const lang::TypeSubstitution& fresh, Solver& solver,
            const std::string& name, lang::Span use);
// And of its operators whose types are open.
void demand_relations(const Scheme& scheme, const lang::TypeSubstitution& fresh,
                      Relations& relations, const std::string& name, lang::Span use);

// The scheme that a fully annotated function states: every variable that is written in it.
Scheme stated_scheme(const lang::Function& function);
// The equations that its body left open over variables of the scheme.
std::vector<DimEquation> equations_over(const Scheme& scheme, const Solver& solver);
// Are all parameters and the result annotated, without `_`?
bool is_fully_annotated(const lang::Function& function);

}  // namespace relay::typecheck
