#include "lang/derivative.h"
#include "opt/dead_references.h"
#include "opt/partial_eval.h"
#include "opt/partial_eval_functions.h"
#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass partial_evaluate_pass() {
  Pass pass;
  pass.name = "PartialEvaluate";
  pass.doc = "runs what is known: calls of known functions, matches, conditions, references";
  const PartialEvalOptions defaults;
  pass.options = {{"fuel", lang::AttrKind::Int, lang::AttrValue(defaults.fuel),
                   "calls that are evaluated in a function, at most"},
                  {"max_size", lang::AttrKind::Int, lang::AttrValue(defaults.max_size),
                   "nodes of code that evaluated calls add to a function, at most"}};
  // A loop that is left may be known to begin elsewhere now.
  pass.is_idempotent = false;
  pass.example =
      R"(def raised(x: float32, n: int32) -> float32 { if n == 0 { 1.0 } else { x * raised(x, n - 1) } }
def main(x: float32) { raised(x, 3) })";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    // A derivative is taken of code as it is written: of a loop that has been run, it would add its
    // terms in another order, and be rounded elsewhere. That of an unknown function stays a form.
    const auto without_derivatives = [&program](const Expr& fn) {
      if (!lang::has_derivative(fn)) return fn;
      Expr expanded = program.host().without_derivatives(fn);
      return partial::Functions::counts_steps(expanded) ? fn : expanded;
    };
    program.each(without_derivatives);
    const PartialEvalHost host{program, program.host().evaluate, program.host().evaluate_primitive,
                               without_derivatives};
    const PartialEvalOptions limits{options.get_int("fuel"), options.get_int("max_size")};
    program.each_at_once([&](const PassProgram::Entry& entry) {
      return eliminate_dead_references(partially_evaluate(entry.function, entry.name, host, limits),
                                       &program, Unused::AlsoPure);
    });
  };
  return pass;
}

}  // namespace relay::opt
