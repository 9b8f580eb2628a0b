#pragma once

#include <functional>
#include <string>
#include <vector>

#include "repl/instrumented_copies.h"

namespace relay::repl {

// A place of instrumented code, in the order of what is told: the body of a function begins, its
// parameters follow as locals, then it is entered; of each line it is told that it begins, and of
// each binding what it is.
struct FramePlace {
  enum class Kind : std::uint8_t {
    Body,     // `name` is the function
    Local,    // `name` of `type`
    Entered,  // all parameters are there
    Line,     // `span` is what is computed next
    Call,     // of a function at `span`; `name`: of one that tells nothing itself
    Return,   // from it
    Tail,     // a call in tail position, from which nobody returns
  };
  Kind kind;
  std::string name = {};
  lang::Span span = {};
  lang::Type type = nullptr;
  std::size_t body = 0;  // the place of the Body that it belongs to
};

// Code that tells which function is under way and what its locals are; adjoints and tangents are
// not told. Calls in index notation are instrumented, too: what holds one runs point by point.
class FrameMarks final : public InstrumentedCopies {
 public:
  // Is this function to tell? Those that take functions are in any case.
  using Wanted = std::function<bool(const std::string& function)>;
  FrameMarks(const lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline,
             Wanted wanted)
      : InstrumentedCopies(module, checker, pipeline), wanted_(std::move(wanted)) {}

  // A typed expression as one that tells. Throws Failure.
  lang::Expr of(const lang::Expr& typed);
  const std::vector<FramePlace>& places() const { return places_; }

 private:
  class Inner;
  friend class Inner;
  lang::Expr literal(const lang::Expr& function, const std::string& name) override;
  bool is_wanted(const lang::GlobalVar& global) const override;
  std::size_t add(FramePlace place);

  Wanted wanted_;
  std::vector<FramePlace> places_;
};

}  // namespace relay::repl
