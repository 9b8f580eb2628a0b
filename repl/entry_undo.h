#pragma once

#include "repl/session_state.h"

namespace relay::repl {

// What a session knew before an entry, for an entry of several statements of which one fails: then
// it is as if there had been none. What it has printed stays printed, what it wrote into
// references that were there before stays written, and files that it has imported stay loaded, but
// their names mean nothing here. Cost: of a copy of the table of names.
class Session::Undo {
 public:
  explicit Undo(Impl& session);
  void undo();

 private:
  Impl& session_;
  lang::Module module_;
  lang::Module prelude_;
  std::map<std::string, lang::Value> values_;
  NumberedResults results_;
  std::set<std::string> hidden_;
  std::map<std::string, std::set<std::string>> made_with_;
};

}  // namespace relay::repl
