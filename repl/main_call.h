#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/source.h"

namespace relay::repl {

// The call of `@main` that a command line asks for: `relay FILE 3 "[1.0, 2.0]"` is
// `@main(3, [1.0, 2.0])`.
class MainCall {
 public:
  MainCall(std::string file, const std::vector<std::string>& arguments);

  // What is wrong with the arguments for the file of this text. It can be asked before anything
  // runs: a program may have had effects by the time its `@main` is called. Types are no part of
  // it, nor are the mistakes of the file.
  std::vector<lang::Diagnostic> check(const lang::Source& file) const;

  const std::string& name() const { return source_.name(); }
  std::string text() const { return std::string(source_.text()); }

 private:
  std::string file_;
  const std::vector<std::string>& arguments_;
  lang::Source source_;
};

}  // namespace relay::repl
