#include "repl/check_rest.h"

#include "repl/text_check.h"

namespace relay::repl {

std::vector<lang::Diagnostic> check_rest(const lang::Module& module, const lang::Module& prelude,
                                         parser::Reading reading) {
  lang::Module scope = module;
  lang::Module library = prelude;
  typecheck::Checker checker(scope);
  return TextCheck(scope, library, checker, reading).errors();
}

}  // namespace relay::repl
