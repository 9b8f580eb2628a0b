#pragma once

#include <string>

#include "lang/value.h"
#include "repl/session.h"

// What tests of passes do with programs. Each throws std::runtime_error, with the text and what was
// wrong, where a program does not run.
namespace relay::tests {

// Without native code; what is printed goes nowhere.
repl::SessionOptions quiet_options();

// A program in a session of its own, without native code.
class PassedProgram {
 public:
  explicit PassedProgram(const std::string& text);
  lang::Value value(const std::string& call);
  // The program after passes, as text.
  std::string passed(const std::string& passes);

 private:
  std::string text_;
  repl::Session session_;
};

enum class DTypes { Same, Any };
// Do they have the same shapes, and numbers that agree to `tolerance`, relative to the largest?
// What is no tensor, and no tuple of such, is compared as text.
bool is_close(const lang::Value& a, const lang::Value& b, double tolerance,
              DTypes dtypes = DTypes::Same);

}  // namespace relay::tests
