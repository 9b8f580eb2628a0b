#include "repl/debugger.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "lang/stop.h"
#include "repl/command_parts.h"
#include "repl/display.h"
#include "repl/effects.h"
#include "repl/finite_marks.h"
#include "repl/finite_watcher.h"
#include "repl/frame_locals.h"
#include "repl/frame_marks.h"
#include "repl/frame_watcher.h"
#include "repl/info.h"
#include "repl/not_finite.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Expr;
using lang::Value;

namespace {

// Who watches the code that runs, as long as it lives.
class Watching {
 public:
  Watching(Pipeline& pipeline, Watcher* watcher)
      : pipeline_(pipeline), before_(pipeline.watcher()) {
    pipeline_.set_watcher(watcher);
  }
  ~Watching() { pipeline_.set_watcher(before_); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  Pipeline& pipeline_;
  Watcher* before_;
};

// What is printed and saved has been so already.
class Muted {
 public:
  explicit Muted(Pipeline& pipeline) : pipeline_(pipeline) { pipeline_.set_muted(true); }
  ~Muted() { pipeline_.set_muted(false); }
  Muted(const Muted&) = delete;
  Muted& operator=(const Muted&) = delete;

 private:
  Pipeline& pipeline_;
};

}  // namespace

lang::Result<Value> Session::Debugger::evaluate(const Expr& typed) {
  is_given_up_ = false;
  const bool stops = !breakpoints.is_empty() && !is_stopped_;
  bool has_found = false;
  auto value = stops              ? evaluate_stopping(typed)
               : finds_not_finite ? evaluate_finite(typed, has_found)
                                  : session_.evaluator.evaluate(session_.ready(typed));
  if (has_found) {
    frames_.clear();
    failed_.reset();
    return value;
  }
  if (value || is_stopped_ || lang::is_stop(value.errors().front().kind)) return value;
  frames_.clear();
  failed_.reset(new Failed{typed, value.errors().front(), Undo(session_)});
  return value;
}

lang::Result<Value> Session::Debugger::evaluate_stopping(const Expr& typed) {
  const auto wanted = breakpoints.functions_on_the_way();
  FrameMarks marks(session_.module, session_.checker, session_.pipeline,
                   [&](const std::string& name) { return wanted.contains(name); });
  const Expr code = session_.ready(marks.of(typed));
  stops_no_more_ = false;
  const FrameWatcher* running = nullptr;
  FrameWatcher watcher(marks, {[&](const FramePlace& place, const std::string& function) {
                                 if (stops_no_more_) return false;
                                 return place.kind == FramePlace::Kind::Entered
                                            ? breakpoints.stops_at_entry(function)
                                            : breakpoints.stops_at_line(function, place.span);
                               },
                               [&] { return stop(running->frames()); }});
  running = &watcher;
  const Watching watching(session_.pipeline, &watcher);
  return session_.evaluator.evaluate(code);
}

namespace {

// One run with its marks, and what was found.
struct FiniteRun {
  lang::Result<Value> value;
  bool has_found;
  lang::Span index_notation;
};

FiniteRun run_finite(const Expr& typed, const lang::Module& module, typecheck::Checker& checker,
                     Pipeline& pipeline, interp::Evaluator& evaluator, lang::Span opened) {
  FiniteMarks marks(module, checker, pipeline, opened);
  const Expr code = pipeline.finish(pipeline.optimise(pipeline.to_core(marks.of(typed))));
  FiniteWatcher watcher(marks);
  const Watching watching(pipeline, &watcher);
  auto value = evaluator.evaluate(code);
  return {std::move(value), watcher.has_found(), watcher.index_notation()};
}

}  // namespace

// Index notation is a kernel at first. Where it is to blame it runs again point by point, so that
// it can be seen which operator of its body it was.
lang::Result<Value> Session::Debugger::evaluate_finite(const Expr& typed, bool& has_found) {
  const auto run = [&](lang::Span opened) {
    return run_finite(typed, session_.module, session_.checker, session_.pipeline,
                      session_.evaluator, opened);
  };
  FiniteRun whole = run({});
  has_found = whole.has_found;
  if (!whole.index_notation || uses_reference(typed, session_.module)) return whole.value;
  const Muted muted(session_.pipeline);
  const auto inside = lang::capture([&] { return run(whole.index_notation); });
  return inside && inside->has_found ? inside->value : whole.value;
}

std::string Session::Debugger::nanbreak(const Expr& typed) {
  bool has_found = false;
  const Value value = evaluate_finite(typed, has_found).or_throw();
  const NotFinite count = count_not_finite(value);
  if (count.nans == 0 && count.infinities == 0) return "no operator makes a NaN or an infinity\n";
  return "no operator makes a NaN or an infinity of what is finite: what is given has them\n";
}

std::string Session::Debugger::where() const {
  const CallFrame& frame = frames_.front();
  std::string text =
      fmt::format("stopped in `{}`, {}\n", frame.function, describe_place(frame.place));
  if (frame.place) {
    const lang::Source& source = *frame.place.source;
    const std::uint32_t line = source.position(frame.place.begin).line;
    text += fmt::format("{:>4} | {}\n", line, source.line(line));
  }
  const std::string described = describe_frame(frames_, 0);
  return text + described.substr(described.find('\n') + 1);
}

lang::Result<Value> Session::Debugger::stop(CallFrames frames) {
  if (!at_stop) return Value::unit();
  frames_ = std::move(frames);
  chosen_ = 0;
  failed_.reset();
  is_stopped_ = true;
  const Watching nobody(session_.pipeline, nullptr);
  const std::string function = frames_.front().function;
  Resume resume = Resume::GiveUp;
  const auto leave = [&] {
    is_stopped_ = false;
    frames_.clear();
  };
  try {
    resume = at_stop(where());
  } catch (...) {
    leave();
    throw;
  }
  leave();
  is_given_up_ = resume == Resume::GiveUp;
  stops_no_more_ = resume == Resume::Finish;
  if (!is_given_up_) return Value::unit();
  return Diagnostic(DiagnosticKind::Interrupted,
                    fmt::format("given up where it had stopped in `{}`", function));
}

// --- Frames ---

// In the state of the session in which it failed: its own definitions have been undone since.
void Session::Debugger::run_failure_again() {
  const std::unique_ptr<Failed> failed = std::move(failed_);
  if (uses_reference(failed->typed, session_.module)) {
    lang::fail(DiagnosticKind::Unsupported,
               "not supported: the frames of what uses a reference that was there before; running "
               "it again could change it");
  }
  Undo now(session_);
  failed->session.undo();
  const auto gathered = lang::capture([&] {
    gather_frames(*failed);
    return true;
  });
  now.undo();
  if (!gathered) throw lang::Failure(gathered.errors());
}

void Session::Debugger::gather_frames(const Failed& failed) {
  FrameMarks marks(session_.module, session_.checker, session_.pipeline,
                   [](const std::string&) { return true; });
  const Expr code = session_.ready(marks.of(failed.typed));
  FrameWatcher watcher(marks);
  const Watching watching(session_.pipeline, &watcher);
  const Muted muted(session_.pipeline);
  const auto value = session_.evaluator.evaluate(code);
  if (!value && value.errors().front().kind == failed.error.kind) {
    frames_ = watcher.frames();
    chosen_ = 0;
    return;
  }
  if (!value && lang::is_stop(value.errors().front().kind)) throw lang::Failure(value.errors());
  lang::fail(DiagnosticKind::BadCommand, "what had failed does not fail when it is run again");
}

std::string Session::Debugger::frame(std::string_view argument) {
  if (!is_stopped_ && failed_) run_failure_again();
  if (frames_.empty()) {
    lang::fail(DiagnosticKind::BadCommand, "nothing has stopped here, and nothing has failed");
  }
  if (argument.empty()) return describe_frames(frames_, chosen_);
  const auto [word, text] = split_word(argument);
  std::size_t number = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = read.ec == std::errc() && read.ptr == word.data() + word.size();
  if (!is_number) {
    lang::fail(DiagnosticKind::BadCommand,
               "`:frame` takes the number of a frame, and an expression behind it");
  }
  if (number >= frames_.size()) {
    lang::fail(DiagnosticKind::BadCommand,
               fmt::format("the frames are #0 to #{}", frames_.size() - 1));
  }
  chosen_ = number;
  if (text.empty()) return describe_frame(frames_, number);
  const lang::Source* source = session_.sources.add("<frame>", std::string(text));
  return describe(evaluate_in_frame(*source));
}

ItemResult Session::Debugger::evaluate_in_frame(const lang::Source& source) {
  const FrameLocals locals(session_, frames_[chosen_].locals);
  const parser::Item item = locals.expression_in(source);
  ItemResult result{parser::ItemKind::Expression, "", "", {}, item.hide_value, item.span};
  if (session_.is_polymorphic_function(item.expr)) {
    result.type = to_string(session_.checker.type_of(item.expr).or_throw());
    return result;
  }
  const Watching nobody(session_.pipeline, nullptr);
  const auto [typed, general] = session_.checked_value(item.expr);
  result.value = session_.evaluator.evaluate(session_.ready(typed)).or_throw();
  result.type = lang::to_string(concrete_type(general, result.value));
  return result;
}

std::string Session::Debugger::type_in_frame(const lang::Source& source) {
  const FrameLocals locals(session_, frames_[chosen_].locals);
  return to_string(session_.checker.type_of(locals.expression_in(source).expr).or_throw());
}

std::vector<Diagnostic> Session::Debugger::run(
    const lang::Source& source, const std::function<void(const ItemResult&)>& on_item) {
  const auto result = session_.guarded([&] { return evaluate_in_frame(source); });
  if (!result) return result.errors();
  if (on_item) on_item(*result);
  return {};
}

void fail_while_stopped(lang::Span span) {
  Diagnostic refused(DiagnosticKind::Unsupported,
                     "not supported: anything but one expression while an evaluation is stopped",
                     span);
  refused.note("help: `:continue` goes on, `:abort` gives up");
  throw lang::Failure(std::move(refused));
}

}  // namespace relay::repl
