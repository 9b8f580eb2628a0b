#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/command.h"
#include "repl/entry_lines.h"
#include "repl/inputs.h"
#include "repl/replay.h"
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
  // Are there lines that nobody has to type any more (repl/entry_lines.h), as in a pipe?
  EntryLines::HasMore has_more_lines = nullptr;
  // Of several drivers of one session; default: one of its own.
  std::shared_ptr<Replay> replay = nullptr;
  // What a command has said in a table; without it, its text is said.
  std::function<void(const Table&)> on_table = nullptr;
  // Does a mistake give up the rest of a block, as an interrupt does?
  bool gives_up_at_mistake = false;
};

// The language of the prompt: lines are gathered into entries (repl/entry_lines.h), an entry is run
// by the session, and what as_command() takes is a command.
class Driver {
 public:
  Driver(Session& session, DriverEvents events, int blank_lines);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  enum class State { Ready, NeedsMore, Quit };
  State feed(std::string_view line);
  // Lines that are there all at once: all of them are run, the last entry complete or not. An
  // interrupt gives up the rest, and a mistake where the events say so.
  State feed_block(std::string_view block);
  // The text ended: runs what has been gathered, complete or not.
  State finish();
  // As `:load` does.
  void load_file(const std::string& path);
  // Would this line end the entry that has been gathered, and belong to the next?
  bool ends_before(std::string_view line) const { return lines_.ends_before(line); }

  const std::string& last_entry() const { return last_entry_; }
  // What the last command has said to an evaluation that is stopped.
  std::optional<Session::Resume> resume() const { return resume_; }
  bool had_errors() const { return had_errors_; }
  // Did an interrupt end the last entry, or comes one that nobody has answered?
  bool was_interrupted() const;

 private:
  void run_entry(const std::string& entry);
  void run_text(const std::string& text);
  State run_command_line(std::string_view line);
  // What commands ask for (driver_files.cpp). Each returns what is wrong.
  std::vector<lang::Diagnostic> carry_out(const CommandOutcome& outcome);
  std::vector<lang::Diagnostic> load(const std::string& path);
  std::vector<lang::Diagnostic> reload(const std::string& path);
  std::vector<lang::Diagnostic> save(const std::string& path);
  std::vector<lang::Diagnostic> edit(const std::string& name);
  std::vector<lang::Diagnostic> write_replay(const std::string& path);
  void say(const std::string& text) const;
  void report(const std::vector<lang::Diagnostic>& errors);
  void surviving(const std::function<void()>& body);
  Session& session_;
  DriverEvents events_;
  Inputs inputs_;
  std::vector<std::string> loaded_;  // files, in order
  EntryLines lines_;
  bool has_more_of_block_ = false;
  std::string last_entry_;
  int entries_ = 0;
  std::optional<Session::Resume> resume_;
  bool had_errors_ = false;
  bool is_interrupted_ = false;
  bool is_given_up_ = false;  // the rest of the block
};

}  // namespace relay::repl
