#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/attrs.h"
#include "lang/value.h"
#include "repl/instrument.h"
#include "repl/session.h"

namespace relay::repl {

// What instrumented code has told, in order of evaluation: a line for each value, with the adjoint
// or tangent that came back for it.
class TraceRecorder {
 public:
  explicit TraceRecorder(const std::vector<TracePlace>& places) : places_(places) {}

  // interp::Host::trace.
  lang::Value tell(const std::string& name, const lang::Attrs& attrs,
                   const std::vector<lang::Value>& values);

  bool is_empty() const { return events_.empty(); }
  // The table. `second`: the heading of the last column, `adjoint` or `tangent`; empty: none.
  std::string table(const std::string& second) const;

 private:
  struct Event {
    std::size_t place;
    int depth;
    std::optional<lang::Value> value = {};
    std::optional<lang::Value> derivative = {};
    bool has_derivative = false;  // may one come?
  };
  struct Row {
    int depth;
    std::string label, value, derivative;
  };
  std::vector<std::size_t> kept() const;

  const std::vector<TracePlace>& places_;
  std::vector<Event> events_;
  int depth_ = 0;
};

// Runs an expression (as parsed), or `mode` of the function that it calls with its arguments, and
// gives the table, also of a run that fails. The pipeline's recorder is left behind. Throws Failure
// for what cannot be run.
Session::Trace traced(const lang::Expr& call, std::optional<lang::DiffMode> mode,
                      lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline,
                      interp::Evaluator& evaluator);

}  // namespace relay::repl
