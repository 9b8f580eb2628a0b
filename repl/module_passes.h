#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "opt/pass_list.h"
#include "opt/step_products.h"
#include "repl/made_program.h"
#include "repl/pipeline.h"

namespace relay::repl {

// Runs a value that is closed: what constant folding needs.
using EvaluateCore = std::function<lang::Result<lang::Value>(const lang::Expr& core)>;

// The own functions of a module while passes work on them, typed. Functions that are generic have
// no ground types: they stay as they were written.
class ModulePasses final : private lang::Program {
 public:
  // Types the functions. Throws Failure.
  ModulePasses(lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline,
               EvaluateCore evaluate);
  // Throws Failure.
  void run(const opt::PassCall& call);
  // The module as a text, with the data types and functions that passes have made.
  std::string print(bool is_strict) const;
  const std::vector<std::string>& generic() const { return generic_; }

 private:
  struct Entry {
    std::string name;
    lang::Expr function;
    bool is_typed;
    bool is_changed = false;  // by a pass
  };
  static void set(Entry& entry, lang::Expr function);
  void each(const std::function<lang::Expr(const lang::Expr&)>& pass);
  void keep_reachable(const std::string& entry);
  lang::Expr with_gradient(const Entry& entry) const;
  std::string print_strict(const MadeProgram& made) const;

  // lang::Program: the functions as they are now, everything else from the pipeline.
  lang::Expr function(const std::string& name, const lang::Type& type) override;
  bool is_function(const std::string& name) override { return pipeline_.is_function(name); }
  bool is_pure(const std::string& name) override { return pipeline_.is_pure(name); }
  lang::Expr inlined(const lang::Expr& function) override { return pipeline_.inlined(function); }
  std::string reserve_name(const std::string& hint) override {
    return pipeline_.reserve_name(hint);
  }
  void add_function(const std::string& name, lang::Expr function) override {
    pipeline_.add_function(name, std::move(function));
  }
  const lang::TypeDef* add_type(lang::TypeDefRef type) override {
    return pipeline_.add_type(std::move(type));
  }

  lang::Module& module_;
  Pipeline& pipeline_;
  EvaluateCore evaluate_;
  opt::StepProducts step_products_;
  std::vector<Entry> functions_;
  std::vector<std::string> generic_;
  bool are_gradients_ = false;
};

}  // namespace relay::repl
