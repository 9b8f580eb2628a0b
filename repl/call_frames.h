#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/source.h"
#include "lang/type.h"
#include "lang/value.h"

namespace relay::repl {

// A function that is under way.
struct CallFrame {
  struct Local {
    std::string name;
    lang::Type type;
    lang::Value value;
  };
  std::string function;         // empty: what was entered
  bool has_text = true;         // else nothing is known of what it does
  lang::Span place;             // in it, where it stands
  bool is_at_entry = false;     // then that is all of it
  std::vector<Local> locals;    // in the order of their definition
  std::int64_t tail_calls = 0;  // by which it came in the place of its caller
};
using CallFrames = std::vector<CallFrame>;  // the innermost first

// The frames with their locals, a paragraph each; of very many the innermost and the outermost.
// `chosen`: that which is marked.
std::string describe_frames(const CallFrames& frames, std::size_t chosen);
// One of them.
std::string describe_frame(const CallFrames& frames, std::size_t number);

}  // namespace relay::repl
