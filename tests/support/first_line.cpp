#include "tests/support/first_line.h"

#include <fmt/format.h>

namespace relay::tests {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string first_line(const lang::Diagnostic& error) {
  return fmt::format("{}: {}", lang::name_of(error.kind), first_line(error.message));
}

}  // namespace relay::tests
