#pragma once

#include <string>

#include "interp/eval.h"
#include "lang/module.h"
#include "repl/pipeline.h"
#include "typecheck/infer.h"

namespace relay::repl {

// What is known of names (`:info`): where they are defined, their types, whether they have a
// gradient and native code, and if not, why; and who uses them. Nothing of it is told from tables:
// functions are typed, differentiated and lowered to see.
class Informer {
 public:
  Informer(lang::Module& module, const lang::Module& prelude, typecheck::Checker& checker,
           Pipeline& pipeline, interp::Evaluator& evaluator)
      : module_(module),
        prelude_(prelude),
        checker_(checker),
        pipeline_(pipeline),
        evaluator_(evaluator) {}

  // A text of lines `what  answer`. Throws Failure(UnknownName).
  std::string about(const std::string& name);

 private:
  std::string about_definition(const std::string& name, const lang::Definition& definition);
  std::string about_operator(const lang::OpDef& op);
  std::string about_type(const lang::TypeDef& type);
  // "yes", or "no: …".
  std::string gradient_of(const lang::Expr& function);
  std::string native_code_of(const std::string& name);

  lang::Module& module_;
  const lang::Module& prelude_;
  typecheck::Checker& checker_;
  Pipeline& pipeline_;
  interp::Evaluator& evaluator_;
};

// `FILE, line 3`; empty for what has no text.
std::string describe_place(lang::Span span);

}  // namespace relay::repl
