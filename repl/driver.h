#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/command.h"
#include "repl/inputs.h"
#include "repl/session.h"

namespace relay::repl {

// What a driver tells whoever listens: a terminal, a pipe, the golden runner.
struct DriverEvents {
  std::function<void(const ItemResult&)> on_item;
  std::function<void(const std::vector<lang::Diagnostic>&)> on_errors;
  std::function<void(std::string_view)> on_text;  // output of commands
  // A mistake of ours, which then does not end the other entries. Without it the error is thrown.
  std::function<void(const std::string&)> on_internal = nullptr;
  // An entry or a command, before it runs.
  std::function<void(const std::string&)> on_entry = nullptr;
  // Are there lines that nobody has to type any more, as of a text that is pasted? Then the rest of
  // an entry with a mistake is read as a part of it, until its brackets are closed.
  std::function<bool()> has_more_lines = nullptr;
};

// The language of the prompt: lines are gathered into entries (as soon as the parser finds them
// complete, or after `blank_lines` empty lines in a row; 0: never), an entry is run by the session;
// what as_command() takes is a command. An entry that ends with an `if` without `else` waits
// for the next line: it goes on with one that begins with `else`, and is run before any other.
// So is one with open brackets before a line that begins a definition in its first column.
class Driver {
 public:
  Driver(Session& session, DriverEvents events, int blank_lines)
      : session_(session), events_(std::move(events)), blank_lines_(blank_lines) {}

  enum class State { Ready, NeedsMore, Quit };
  State feed(std::string_view line);
  // The text ended: runs what has been gathered, complete or not.
  State finish();
  // Forgets the lines gathered so far (Ctrl-C).
  void abandon();
  // As `:load` does.
  void load_file(const std::string& path);
  // Would this line end the entry that has been gathered, and belong to the next?
  bool ends_before(std::string_view line) const;

  const std::string& last_entry() const { return last_entry_; }
  bool had_errors() const { return had_errors_; }
  // Did an interrupt end the last entry, or comes one that nobody has answered?
  bool was_interrupted() const;

 private:
  void run_entry();
  void run_text(const std::string& text);
  State run_command_line(std::string_view line);
  // What commands ask for (driver_files.cpp). Each returns what is wrong.
  std::vector<lang::Diagnostic> carry_out(const CommandOutcome& outcome);
  std::vector<lang::Diagnostic> load(const std::string& path);
  std::vector<lang::Diagnostic> reload(const std::string& path);
  std::vector<lang::Diagnostic> save(const std::string& path);
  std::vector<lang::Diagnostic> edit(const std::string& name);
  void say(const std::string& text) const;
  void report(const std::vector<lang::Diagnostic>& errors);
  void surviving(const std::function<void()>& body);
  Session& session_;
  DriverEvents events_;
  Inputs inputs_;
  std::vector<std::string> loaded_;  // files, in order
  const int blank_lines_;
  int blank_run_ = 0;  // empty lines at the end of what has been gathered
  bool waits_for_else_ = false;
  bool is_broken_ = false;  // has a mistake, and brackets are open
  std::string entry_;
  std::string last_entry_;
  int entries_ = 0;
  bool had_errors_ = false;
  bool is_interrupted_ = false;
};

}  // namespace relay::repl
