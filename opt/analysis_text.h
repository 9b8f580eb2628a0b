#pragma once

#include <functional>
#include <string>
#include <vector>

#include "opt/analysis.h"
#include "opt/pass_program.h"

// Private to the analyses: how what they find is said.
namespace relay::opt {

// What `of` says of each function, behind its name; of one expression alone only that. What takes
// several lines stands below the name.
std::string of_each_function(const PassProgram& program,
                             const std::function<std::string(const lang::Expr& fn)>& of);
// `a, b`, or `none`.
std::string listed(const std::vector<std::string>& names);
// The code as it is written, its first line only.
std::string in_one_line(const lang::Expr& expr);

}  // namespace relay::opt
