#pragma once

#include <string>
#include <vector>

#include "opt/analysis.h"
#include "opt/analysis_text.h"

// Private to the analyses that look at variables.
namespace relay::opt {

std::vector<std::string> names_of(const std::vector<lang::VariableRef>& variables);
// `x, y`, and nothing where there is none.
std::string joined_names(const std::vector<lang::VariableRef>& variables);

// In the order in which the code binds them, from outside to inside; index variables, too.
std::vector<lang::VariableRef> bound_variables(const lang::Expr& root);

// Of types: those that functions of the code bind, and all that types in it mention.
std::vector<lang::TypeVarRef> bound_type_variables(const lang::Expr& root);
std::vector<lang::TypeVarRef> all_type_variables(const lang::Expr& root);
// `n: Dim`.
std::vector<std::string> with_kinds(const std::vector<lang::TypeVarRef>& variables);

}  // namespace relay::opt
