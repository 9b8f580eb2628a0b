#pragma once

#include <string>
#include <vector>

#include "lang/expr.h"
#include "repl/instrumented_copies.h"

namespace relay::repl {

// A place of the source that a trace has a line for.
struct TracePlace {
  // A Done ends what has begun and has no value to tell.
  enum class Kind : std::uint8_t { Value, Parameter, Choice, Enter, Leave, Done };
  Kind kind;
  std::string label;      // `e = y - x`, as in the source, on one line
  bool is_entry = false;  // the first line of a function
  std::size_t begun = 0;  // of a Done: the place that ends
};

// Code that tells its host what it computes: each parameter, each binding and each result of the
// functions of the text goes through an operator that says its value (Host::trace). The
// derivative of that operator says the adjoint, or the tangent. So what is seen is what the real
// derivative does. The bodies of index notation are left as they are.
class Instrumenter final : public InstrumentedCopies {
 public:
  using InstrumentedCopies::InstrumentedCopies;

  const std::vector<TracePlace>& places() const { return places_; }

 private:
  class Inner;
  friend class Inner;
  lang::Expr literal(const lang::Expr& function, const std::string& name) override;
  std::int64_t add_place(TracePlace::Kind kind, std::string label, bool is_entry = false);
  std::int64_t add_done(std::int64_t begun);

  std::vector<TracePlace> places_;
};

}  // namespace relay::repl
