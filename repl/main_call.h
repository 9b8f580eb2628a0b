#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/module.h"
#include "lang/source.h"
#include "parser/value_text.h"

namespace relay::repl {

// The call of `@main` that a command line asks for: `relay FILE 3 "[1.0, 2.0]"` is
// `@main(3, [1.0, 2.0])`. Each argument is read alone, as a value (parser/value_text.h): whatever
// is handed to a program runs nothing.
class MainCall {
 public:
  MainCall(std::string file, const std::vector<std::string>& arguments);

  // What is wrong with the arguments for the file of this text. It can be asked before anything
  // runs: a program may have had effects by the time its `@main` is called. Types are no part of
  // it, nor are the mistakes of the file.
  std::vector<lang::Diagnostic> check(const lang::Source& file) const;
  // What of their names is no constructor of the program that has been run.
  std::vector<lang::Diagnostic> check_names(const lang::Module& module) const;

  // The call, of arguments that both checks have found nothing wrong with.
  static std::string name() { return "<main>"; }
  std::string text() const;

 private:
  std::string file_;
  std::vector<std::unique_ptr<lang::Source>> sources_;  // `<argument 1>`, ...
  std::vector<parser::ValueText> values_;
};

}  // namespace relay::repl
