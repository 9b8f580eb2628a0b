#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "notebook/shown.h"
#include "notebook/streams.h"
#include "repl/completion/completions.h"
#include "repl/driver.h"
#include "repl/session.h"

namespace relay::notebook {

// What comes of a cell, in order, while it runs.
struct CellEvents {
  Streams::Send on_text;
  // The value of an expression.
  std::function<void(const Shown&)> on_result;
  // Anything else: a type, a picture, what a command has found out.
  std::function<void(const Shown&)> on_shown;
  // How far something is that takes long: the first time, and again in its place.
  std::function<void(const std::string&)> on_progress;
};

// How a cell ended.
struct CellEnd {
  std::vector<lang::Diagnostic> errors;  // of the entry that failed: those behind it have not run
  std::string internal_error;            // a mistake of ours, if there was one
  bool asks_to_quit = false;             // `:quit`
  bool is_good() const { return errors.empty() && internal_error.empty(); }
};

// The cells of a notebook: the prompt's session, entries and commands, without a terminal. All of
// it is for one thread.
class Cells {
 public:
  explicit Cells(CellEvents events);

  // `is_silent`: nothing is shown, and what fails is told all the same.
  CellEnd run(const std::string& code, bool is_silent = false);
  // The value of an expression beside a cell, as it prints; fails with diagnostics.
  lang::Result<Shown> evaluate(const std::string& expression);

  // Places are bytes of the cell.
  repl::Completions complete(std::string_view cell, std::size_t cursor);
  // What `:doc` says of the name or the command there, or else of the function whose arguments the
  // place is among; with `is_thorough`, also what `:info` does. Empty where there is nothing to
  // say.
  std::string inspect(std::string_view cell, std::size_t cursor, bool is_thorough);
  struct Completeness {
    enum class State { Complete, Incomplete, Invalid } state;
    std::string indent;  // of the line that comes next, where it is incomplete
  };
  static Completeness completeness_of(std::string_view cell);

 private:
  repl::SessionOptions options();
  repl::DriverEvents driver_events();
  void show_item(const repl::ItemResult& result);
  void show_text(std::string_view text);
  void print(Streams::Name name, std::string_view text);
  void show_types();
  void show(const Shown& shown, const std::function<void(const Shown&)>& where);
  std::string about(const std::string& name, bool is_thorough);

  CellEvents events_;
  Streams streams_;
  CellEnd end_;
  bool is_silent_ = false;
  std::string command_;  // that runs now, if one does
  std::string types_;    // of definitions in a row, which are shown together
  repl::Session* session_;
  std::unique_ptr<repl::Driver> driver_;
};

// For a traceback: each as it is shown at the prompt, in colours; how many there are, if several.
std::vector<std::string> traceback_of(const CellEnd& end);

}  // namespace relay::notebook
