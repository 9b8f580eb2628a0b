#pragma once

#include <string>

#include "lang/diagnostic.h"

// Of what went wrong, what one line of a report holds.
namespace relay::tests {

std::string first_line(const std::string& text);
// The kind, and the first line of the message.
std::string first_line(const lang::Diagnostic& error);

}  // namespace relay::tests
