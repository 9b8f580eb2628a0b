#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"

// What commands that write a file have in common, where they are programs of their own
// (repl/parts.h).
namespace relay::repl {

struct PartCommand {
  std::string_view name;   // "import"
  std::string_view usage;  // a line
  std::string_view help;   // what stands below it
};

// The exit code where the command line is all there is: it is `wrong`, which may be empty, or asks
// for help; standard error, or output, has been told.
std::optional<int> answered(const PartCommand& command, const std::string& wrong, bool wants_help);
// The same of a command line that would do harm.
std::optional<int> refused(const PartCommand& command, const std::string& why);

// `FILE would be written over`, where both are one file; else empty.
std::string written_over(const std::string& written, const std::string& read);

// Does the work of a command, whose mistakes, and ours, go to standard error. The exit code.
// `work` is false when it has failed, and said so: the places of what it says are there until then.
using Complain = std::function<void(const std::vector<lang::Diagnostic>&)>;
int carried_out(const std::function<bool(const Complain&)>& work);

}  // namespace relay::repl
