#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "interp/code.h"
#include "lang/diagnostic.h"
#include "lang/obstacle.h"

// What the evaluator can tell of the functions that have run, for people (`:jit`, `:stats`).
namespace relay::interp {

struct FunctionReport {
  enum class Form : std::uint8_t { Function, Closure, Nest, Entry };
  enum class Tier : std::uint8_t { Interpreted, Native, Kernels, Refused };
  Form form = Form::Function;
  std::string name;   // empty for what has none
  std::string owner;  // the function whose text it is part of; empty for an entry's
  lang::Type type;
  lang::Span span;
  Tier tier = Tier::Interpreted;
  std::int64_t calls = 0;  // by the interpreter; native code does not count its own
  double compile_seconds = 0;
  std::string compiled_with;  // "`f`": the function for which it was compiled, if another
  std::size_t code_size = 0;  // bytes
  std::optional<lang::Diagnostic> refusal;
  struct Part {
    lang::Span span;
    std::string why;  // of a kernel
  };
  std::vector<Part> interpreted;  // parts of native code that are; kernels, which it begins anew
                                  // each time, say why they are no part of it
};

// Index notation that has run without being a kernel.
struct LoopReport {
  lang::Span span;
  std::string text;    // on one line, cut
  std::string reason;  // the first part that no kernel holds
  lang::Span place;    // of that part
  bool is_native = false;
  std::vector<lang::Obstacle> repeated = {};  // what it computes again at each point
};

using Globals = std::unordered_map<std::string, FunctionCodeRef>;

// What is known of code that has been dropped: of entries, which run once. Bounded.
class RunHistory {
 public:
  // An entry is about to run, perhaps many times: until it is dropped, what is told of it is what
  // is so when somebody asks. Cost of both: that of a look where there are neither closures nor
  // index notation that is no kernel in it.
  void add_entry(const FunctionCode& entry);
  void drop_entry(const FunctionCode& entry);
  // All that was prepared is about to be dropped: of the functions nothing is kept.
  void forget(const Globals& globals);

  // In the order of names and places: of `globals`, then of entries.
  std::vector<FunctionReport> functions(const Globals& globals) const;
  // In the order of places.
  std::vector<LoopReport> loops(const Globals& globals) const;
  // Those that have run since the last `forget`.
  std::vector<LoopReport> recent_loops(const Globals& globals) const;

 private:
  std::vector<const FunctionCode*> entries_;  // that live
  std::vector<FunctionReport> functions_;     // of those that do not, as all below
  std::vector<LoopReport> recent_;
  std::vector<LoopReport> loops_;  // of before
};

}  // namespace relay::interp
