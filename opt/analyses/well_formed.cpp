#include "lang/diagnostic.h"
#include "opt/analysis_text.h"

namespace relay::opt {

Analysis well_formed_analysis() {
  Analysis analysis;
  analysis.name = "well_formed";
  analysis.doc = "whether each binder binds once, all is in scope, and types agree where they meet";
  analysis.example = R"(def f(x: float32) { let y = exp(x); y * y })";
  analysis.run = [](PassProgram& program) -> std::string {
    return of_each_function(program, [&](const lang::Expr& root) -> std::string {
      if (!lang::is_ground(root->type ? root->type : lang::incomplete_type()))
        return "generic: known where it is called";
      try {
        program.host().verify(root);
      } catch (const lang::InternalError& error) {
        return std::string("no: ") + error.what();
      }
      return "yes";
    });
  };
  return analysis;
}

}  // namespace relay::opt
