#pragma once

#include <map>
#include <string>
#include <vector>

#include "repl/call_frames.h"
#include "repl/session_state.h"

namespace relay::repl {

// The locals of a frame as names of an expression, as long as this lives. They hide what the
// session calls so only there: functions that the expression calls see what they always do.
class Session::FrameLocals {
 public:
  FrameLocals(Impl& session, const std::vector<CallFrame::Local>& locals);
  ~FrameLocals();
  FrameLocals(const FrameLocals&) = delete;
  FrameLocals& operator=(const FrameLocals&) = delete;

  // The one expression of a text. Throws Failure.
  parser::Item expression_in(const lang::Source& source) const;

 private:
  Impl& session_;
  std::map<std::string, std::string> names_;  // under which the session has them
  lang::Module scope_;                        // what the text sees
};

}  // namespace relay::repl
