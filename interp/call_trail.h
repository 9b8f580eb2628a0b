#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "lang/call_site.h"
#include "lang/diagnostic.h"

namespace relay::interp {

// The calls through which a run-time error has come, collected while it travels outwards: what runs
// without errors pays nothing. Bounded: of a long chain the innermost and the outermost calls are
// kept, and one call many times over is kept once.
class CallTrail {
 public:
  void clear() { *this = CallTrail(); }
  // An error at `place` begins its way: the calls by which its code has been moved are the first.
  void begin(lang::Span place);
  // The error leaves the call at `call`. A call that was moved stands for those that it came by,
  // too.
  void add(lang::Span call);
  // Between the calls before and after this there were calls in tail position, which leave no
  // trace.
  void add_tail_calls(std::int64_t count);

  // Adds the trail to the diagnostic as a note, and puts its spans at their places in the text. An
  // error in the standard library is shown at the call from outside of it.
  // `function_at` is that of the host (eval.h).
  using FunctionAt = std::function<std::string(lang::Span)>;
  void describe(lang::Diagnostic& diagnostic, const FunctionAt& function_at) const;

 private:
  struct Entry {
    lang::Span span;         // of a call; null: tail calls
    std::int64_t count = 1;  // of the call, one inside the other
  };
  void push(lang::Span call);
  void push(Entry entry);
  lang::Span first_outside_library() const;

  std::vector<Entry> inner_;
  std::deque<Entry> outer_;
  std::int64_t left_out_ = 0;  // calls between the two
};

}  // namespace relay::interp
