#pragma once

#include <map>
#include <set>
#include <string>

#include "lang/expr.h"
#include "repl/pipeline.h"
#include "repl/trace_operators.h"

namespace relay::repl {

// Functions of the text in a form that tells what they compute. Calls of global functions with a
// text of their own go to copies that are instrumented too; operators, prelude functions and
// functions with gradients of their own are left as they are.
class InstrumentedCopies {
 public:
  InstrumentedCopies(const lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline)
      : module_(module), checker_(checker), pipeline_(pipeline), watch_(pipeline.next_watch()) {}
  virtual ~InstrumentedCopies() = default;

  // A typed function, or the name of one, in instrumented form. Throws Failure.
  lang::Expr instrumented(const lang::Expr& function);
  // By which its watcher knows what it is told.
  std::int64_t watch() const { return watch_; }

 protected:
  // A typed function of that name (empty: it has none), instrumented.
  virtual lang::Expr literal(const lang::Expr& function, const std::string& name) = 0;
  // Is a function of the text worth a copy?
  virtual bool is_wanted(const lang::GlobalVar&) const { return true; }
  // The name of the copy, of a copy its own; empty if the function is left alone.
  std::string copy_of(const lang::GlobalVar& global);

  const lang::Module& module_;
  typecheck::Checker& checker_;
  Pipeline& pipeline_;
  lang::AttrsRef place_attrs(std::size_t index) const { return trace_place({watch_, index}); }

 private:
  std::int64_t watch_;
  std::map<std::string, std::string> copies_;  // by name and type
  std::map<std::string, int> counts_;          // of each name
  std::set<std::string> names_;                // of the copies
};

}  // namespace relay::repl
