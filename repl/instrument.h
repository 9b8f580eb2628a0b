#pragma once

#include <map>
#include <string>
#include <vector>

#include "lang/expr.h"
#include "repl/pipeline.h"

namespace relay::repl {

// A place of the source that a trace has a line for.
struct TracePlace {
  enum class Kind : std::uint8_t { Value, Parameter, Choice, Enter, Leave };
  Kind kind;
  std::string label;      // `e = y - x`, as in the source, on one line
  bool is_entry = false;  // the first line of a function
};

// Code that tells its host what it computes: each parameter, each binding and each result of the
// functions of the text goes through an operator that says its value (Host::trace). The
// derivative of that operator says the adjoint, or the tangent. So what is seen is what the real
// derivative does.
//
// Calls of global functions with a text of their own go to copies that are instrumented too;
// operators, prelude functions, functions with gradients of their own and the bodies of index
// notation are left as they are.
class Instrumenter {
 public:
  Instrumenter(const lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline)
      : module_(module), checker_(checker), pipeline_(pipeline) {}

  // A typed function, or the name of one, in instrumented form. Throws Failure.
  lang::Expr instrumented(const lang::Expr& function);
  const std::vector<TracePlace>& places() const { return places_; }

 private:
  class Inner;
  friend class Inner;
  // The name of the copy; empty if the function is left alone.
  std::string copy_of(const lang::GlobalVar& global);
  lang::Expr literal(const lang::Expr& function);
  std::int64_t add_place(TracePlace::Kind kind, std::string label, bool is_entry = false);

  const lang::Module& module_;
  typecheck::Checker& checker_;
  Pipeline& pipeline_;
  std::vector<TracePlace> places_;
  std::map<std::string, std::string> copies_;  // by name and type
};

// The names of the operators.
inline constexpr std::string_view kTraceStep = "trace.step";        // value -> number of the event
inline constexpr std::string_view kTraceValue = "trace.value";      // value, number -> value
inline constexpr std::string_view kTraceAdjoint = "trace.adjoint";  // adjoint, number -> adjoint
inline constexpr std::string_view kTraceTangent = "trace.tangent";  // tangent, number -> tangent
inline constexpr std::string_view kTraceMark = "trace.mark";        // () -> ()

}  // namespace relay::repl
