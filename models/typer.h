#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/type.h"
#include "lang/value.h"

namespace relay::models {

// Asks the language what type a line has, while the program is being written: each line is checked
// where it is made, so that what does not fit is said of the node that it came from.
class Typer {
 public:
  Typer();
  ~Typer();

  // What lines may call: an item in the light notation.
  void define(const std::string& text);

  using Named = std::vector<std::pair<std::string, lang::Type>>;
  // The type of an expression over values of these types, of which only those that it mentions need
  // be given. Extents of the result are arithmetic over the extents of the values, or `?` where the
  // language leaves them open. An extent that is no constant is taken as one variable, and has to
  // be written by the name that `to_string` gives it. Throws Failure.
  lang::Type type_of(const std::string& expression, const Named& values);
  // The value of a closed expression. Throws Failure.
  lang::Value evaluate(const std::string& expression);

  // Checks a whole program without running it; `folder`: where its weights are. The diagnostics.
  static std::vector<lang::Diagnostic> check(const std::string& path);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relay::models
