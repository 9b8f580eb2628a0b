#pragma once

#include <string>

#include "lang/expr.h"
#include "lang/value.h"
#include "repl/session.h"
#include "typecheck/infer.h"

namespace relay::models::exporter {

// The program that is exported, as its session has it: typed code, and the values of its bindings.
class ProgramSource {
 public:
  explicit ProgramSource(repl::Session& session);

  // The function of that name, of the program at `path`. Throws Failure, also where its types are
  // open.
  lang::Expr function(const std::string& name, const std::string& path);
  // The code of a global where it is used at this type; its extents are those of the use. Null if
  // it is no function. Throws Failure.
  lang::Expr code_of(const lang::GlobalVar& use);
  // The value of a top-level `let`, or null.
  const lang::Value* value(const std::string& name) const;

 private:
  repl::Session& session_;
  typecheck::Checker checker_;
};

// A function where it is called with arguments of these types: what its dimension variables are is
// put in their places.
lang::Expr with_extents_of(const lang::Expr& function, const std::vector<lang::Type>& arguments);

}  // namespace relay::models::exporter
