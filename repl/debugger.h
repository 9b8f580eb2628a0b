#pragma once

#include <memory>
#include <string>
#include <vector>

#include "repl/breakpoints.h"
#include "repl/call_frames.h"
#include "repl/entry_undo.h"
#include "repl/session_state.h"

namespace relay::repl {

// For when it goes wrong: breakpoints, and the frames of what has stopped or failed. Without a
// breakpoint an evaluation runs as ever; of one that fails is kept what it takes to run it again,
// in the interpreter, telling what it does.
class Session::Debugger {
 public:
  explicit Debugger(Impl& session) : breakpoints(session.module), session_(session) {}

  // Runs a typed expression; with breakpoints, in a form that stops at them.
  lang::Result<lang::Value> evaluate(const lang::Expr& typed);
  // `:frame` and its argument. Throws Failure.
  std::string frame(std::string_view argument);
  // An expression with the locals of the frame that is chosen as names. Throws Failure.
  ItemResult evaluate_in_frame(const lang::Source& source);
  std::string type_in_frame(const lang::Source& source);
  // A text while it is stopped. Returns what went wrong.
  std::vector<lang::Diagnostic> run(const lang::Source& source,
                                    const std::function<void(const ItemResult&)>& on_item);
  bool is_stopped() const { return is_stopped_; }
  // Did the last evaluation end so, where it had stopped?
  bool is_given_up() const { return is_given_up_; }

  // `:nanbreak EXPR`. Throws Failure.
  std::string nanbreak(const lang::Expr& typed);

  bool finds_not_finite = false;
  Breakpoints breakpoints;
  AtStop at_stop;

 private:
  // What it takes to run again what has failed.
  struct Failed {
    lang::Expr typed;
    lang::Diagnostic error;
    Undo session;
  };
  lang::Result<lang::Value> evaluate_stopping(const lang::Expr& typed);
  // `has_found`: is the error that something is not finite?
  lang::Result<lang::Value> evaluate_finite(const lang::Expr& typed, bool& has_found);
  lang::Result<lang::Value> stop(CallFrames frames);
  void run_failure_again();
  void gather_frames(const Failed& failed);
  std::string where() const;

  Impl& session_;
  std::unique_ptr<Failed> failed_;
  CallFrames frames_;  // of what has stopped, or failed
  std::size_t chosen_ = 0;
  bool is_stopped_ = false;
  bool is_given_up_ = false;
  bool stops_no_more_ = false;
};

// What an entry that is more than one expression ends in, while an evaluation is stopped.
[[noreturn]] void fail_while_stopped(lang::Span span);

}  // namespace relay::repl
