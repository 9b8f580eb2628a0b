#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "opt/analysis.h"
#include "opt/pass_program.h"
#include "repl/made_program.h"
#include "repl/pipeline.h"

namespace relay::repl {

// Runs a value that is closed: what constant folding needs.
using EvaluateCore = std::function<lang::Result<lang::Value>(const lang::Expr& core)>;

// The texts of rules that passes read.
struct PassTexts {
  // Keeps a text for as long as errors may point into it.
  std::function<const lang::Source*(const std::string& name, const std::string& text)> keep;
  // The text of a file. Throws Failure.
  std::function<std::string(const std::string& path)> read;
};

// A list of passes at the beginning of a text, as "InferType,FuseOps(max_depth=4)". Errors have
// their place in `source`.
struct PassList {
  std::vector<opt::PassCall> calls;
  std::size_t end;  // where it ends
};
lang::Result<PassList> parse_passes(const lang::Source& source);

// The own functions of a module, or one expression, while passes work on them.
class ModulePasses {
 public:
  // Types the functions. Throws Failure.
  ModulePasses(lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline,
               const EvaluateCore& evaluate, const PassTexts& texts);
  // Of a typed expression, with the own functions that it calls, by way of others too, at the types
  // of the calls.
  ModulePasses(lang::Module& module, const lang::Expr& typed, typecheck::Checker& checker,
               Pipeline& pipeline, const EvaluateCore& evaluate, const PassTexts& texts);
  // Throws Failure.
  void run(const opt::PassCall& call);
  // What is to be said of the program as it is now. Throws Failure.
  std::string analyse(const opt::Analysis& analysis) { return analysis.run(program_); }
  // What `bound` makes of the function of that name, which nobody else may call. Throws Failure.
  void bind(const std::string& name,
            const std::function<lang::Expr(const lang::Expr& function)>& bound);
  // The module as a text, or the expression in light notation, behind those functions that passes
  // have changed; with the data types and functions that passes have made.
  struct Printed {
    std::string text;
    std::vector<std::string> defined;  // the functions in it
    bool reads_back = true;            // false: it calls operators that only derivatives have
  };
  Printed print(bool is_strict) const;
  // What functions' names mean to those who call them is not what it was (Gradient).
  bool has_changed_meaning() const { return program_.has_changed_meaning(); }
  // The functions that stay as they were written.
  std::vector<std::string> generic() const;

 private:
  std::string print_strict(const MadeProgram& made) const;

  lang::Module& module_;
  Pipeline& pipeline_;
  opt::PassProgram program_;
  std::set<std::string> called_ = {};  // the functions that are there because an expression calls
                                       // them, and the expression, which has no name
  const bool is_module_ = true;
};

}  // namespace relay::repl
