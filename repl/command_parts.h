#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "repl/command.h"

// For the sources of commands.
namespace relay::repl {

CommandOutcome output(std::string text);
CommandOutcome failed(lang::Diagnostic diagnostic);
// Ends the text with a line break.
CommandOutcome outcome_of(lang::Result<std::string> result);
// The program, below a line for each function that stays as it is.
CommandOutcome outcome_of(const lang::Result<Session::Passed>& passed);

std::string_view trimmed(std::string_view text);
// Splits off the first word.
std::pair<std::string_view, std::string_view> split_word(std::string_view text);
// Without the `@` that strict notation writes in front of a global.
std::string_view plain_name(std::string_view name);

}  // namespace relay::repl
