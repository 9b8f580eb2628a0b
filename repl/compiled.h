#pragma once

#include <string>
#include <vector>

#include "interp/eval.h"
#include "interp/function_report.h"
#include "interp/native_listing.h"

// What is compiled, and why something is not, as text of at most 80 columns, names and code apart.
namespace relay::repl {

// `:jit`: a line for each function, and one for what keeps it from being native code.
std::string describe_functions(const std::vector<interp::FunctionReport>& functions,
                               interp::JitMode mode, std::int64_t native_heat);
// `:jit NAME`: all that is known of one.
std::string describe_function(const interp::FunctionReport& function, interp::JitMode mode,
                              std::int64_t native_heat);
// `:show flow`: what cannot be native code, and where.
std::string describe_refused(const std::vector<interp::NativeListing::Refused>& refused);
// `:stats`, `--stats`, `:time`: index notation that is no kernel. Empty if there is none.
std::string describe_loops(const std::vector<interp::LoopReport>& loops);

}  // namespace relay::repl
