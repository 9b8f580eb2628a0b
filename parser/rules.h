#pragma once

#include <vector>

#include "lang/diagnostic.h"
#include "lang/module.h"
#include "lang/rewrite_rule.h"

namespace relay::parser {

// Reads a text of rewrite rules and patterns, in light notation:
//
//     rule NAME(x, y: TYPE, c: Constant) where CONDITION { PATTERN } => { REPLACEMENT }
//     approximate rule ...
//     pattern NAME(x, w) { PATTERN }
//
// In a parameter's type, names that nothing declares are dimensions or dtypes, as their place says;
// `Constant` and `Constant[TYPE]` ask for a constant; `Integer`, `Float` and `Boolean` for a tensor
// of such a dtype; `Elementwise` and its kin for an operator. A parameter that stands for an
// attribute's value in the pattern, as in `strides=s`, is one. Replacements and conditions may call
// the functions of `scope`. All errors of the text, or the rules in its order.
lang::Result<std::vector<lang::RewriteRule>> parse_rules(const lang::Source& source,
                                                         const lang::Module& scope);

}  // namespace relay::parser
