#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lang/module.h"
#include "lang/rewrite_rule.h"
#include "opt/pass.h"
#include "opt/passes.h"
#include "opt/step_products.h"

namespace relay::lang {
class ExternalCompilers;  // lang/external_compiler.h
}

namespace relay::opt {

// What begins the name of a table of rules that is part of the program.
inline constexpr const char* kLibraryRules = "std:";

// What a name in a rule is, besides an operator: nothing else, in rules that are part of the
// program and have to mean the same beside whatever a person defines; or a function of the program
// at hand.
enum class RuleScope : std::uint8_t { Operators, Program };

// What passes need of those who run them.
struct PassHost {
  lang::Program& program;  // all that is none of the functions at hand
  Evaluate evaluate;       // the constant of a closed value, or null
  EvaluatePrimitive evaluate_primitive;
  // Derivative forms are replaced by what they stand for.
  std::function<lang::Expr(const lang::Expr& fn)> without_derivatives;
  // As code that is to run is optimised.
  std::function<lang::Expr(const lang::Expr& fn)> optimise;
  // Throws if the function is ill typed: a mistake of the pass.
  std::function<void(const lang::Expr& fn)> verify;
  // A closed function as it was written, with its types. Throws Failure.
  std::function<lang::Expr(const lang::Expr& fn)> infer = {};
  // What a text called `name` has of rewrite rules and patterns. Throws Failure.
  std::function<std::vector<lang::RewriteRule>(const std::string& name, const std::string& text,
                                               RuleScope scope)>
      parse_rules = {};
  // The text of a file that a pass names. Throws Failure.
  std::function<std::string(const std::string& path)> read_file = {};
  // Those that functions may be handed to.
  lang::ExternalCompilers& compilers;
};

// The global functions that code mentions: where it calls or differentiates them, or hands them on;
// and those that are gradients of functions in it.
struct MentionedFunctions {
  std::vector<std::string> called;
  std::vector<std::string> gradients;
};
MentionedFunctions functions_mentioned_in(const lang::Expr& code);

// The functions of a program while passes work on it, typed. Functions that are generic have no
// ground types: passes leave them as they were written.
class PassProgram final : public lang::Program {
 public:
  struct Entry {
    std::string name;
    lang::Expr function;
    lang::Type type_before;   // null if it is generic
    bool is_changed = false;  // by a pass
    bool is_verified = true;  // after each pass: not where it was no different before

    bool is_typed() const { return type_before != nullptr; }
  };

  PassProgram(std::vector<Entry> functions, PassHost host);

  // Runs a pass with all that it needs before and after. Throws Failure.
  void run(const PassCall& call);

  const PassHost& host() const { return host_; }
  // In the order of the program.
  const std::vector<Entry>& functions() const { return functions_; }
  const Entry* find(const std::string& name) const;
  // Puts what `pass` makes of each typed function in its place, one after the other.
  void each(const std::function<lang::Expr(const lang::Expr& fn)>& pass);
  // The same; `pass` sees all functions as they were.
  void each_at_once(const std::function<lang::Expr(const Entry& entry)>& pass);
  // A function that a pass has made, under a name from `reserve_name`.
  void add(const std::string& name, lang::Expr function);
  void remove_if(const std::function<bool(const Entry&)>& is_removed);
  // What the functions' names mean to those who call them is what they were (Gradient).
  void set_changed_meaning() { has_changed_meaning_ = true; }
  bool has_changed_meaning() const { return has_changed_meaning_; }
  StepProducts& step_products() { return step_products_; }

  // lang::Program: the functions as they are now, everything else from the host.
  lang::Expr function(const std::string& name, const lang::Type& type) override;
  bool is_function(const std::string& name) override { return host_.program.is_function(name); }
  std::size_t parameter_count(const std::string& name) override {
    return host_.program.parameter_count(name);
  }
  bool is_pure(const std::string& name) override { return host_.program.is_pure(name); }
  lang::Expr inlined(const lang::Expr& function) override {
    return host_.program.inlined(function);
  }
  std::string reserve_name(const std::string& hint) override {
    return host_.program.reserve_name(hint);
  }
  void add_function(const std::string& name, lang::Expr function) override {
    host_.program.add_function(name, std::move(function));
  }
  const lang::TypeDef* add_type(lang::TypeDefRef type) override {
    return host_.program.add_type(std::move(type));
  }

 private:
  void set(Entry& entry, lang::Expr function);

  std::vector<Entry> functions_;
  PassHost host_;
  StepProducts step_products_;
  bool has_changed_meaning_ = false;
  bool is_in_anf_ = false;  // the pass at hand wants it
};

// The functions of the program that `entry` calls or differentiates, by way of others too, and
// itself.
std::set<std::string> reached_from(const PassProgram& program, const std::string& entry);

}  // namespace relay::opt
