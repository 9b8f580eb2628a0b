#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "typecheck/generalise.h"
#include "typecheck/infer.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

// What is known of one global function.
struct Entry {
  lang::Expr function;  // the definition that this is about
  // No scheme. The errors are its own or, if it has none, those of the globals that it uses; there
  // are none at all if it uses a binding whose error has been reported already.
  bool failed = false;
  std::vector<lang::Diagnostic> errors = {};
  Scheme scheme = {};
  bool is_stated = false;  // the annotations say it all
  // The component it was inferred with, and the members' types over the scheme's variables.
  std::vector<std::string> member_names = {};
  std::vector<lang::Type> member_types = {};
};

struct Checker::Impl final : Globals {
  explicit Impl(const lang::Module& module) : module(module) {}

  GlobalUse find(const lang::GlobalVar& use) const override;
  const lang::Definition* definition(const std::string& name) const override {
    return module.find(name);
  }
  const lang::TypeDef* type_called(const std::string& name) const override {
    return module.find_type(name);
  }

  // The entry of a global function, inferred if need be.
  const Entry& inferred(const std::string& name);
  // The same; throws Failure if it has failed.
  const Entry& entry(const std::string& name);
  // Everything that `expr` mentions has an entry afterwards, if only one that has failed.
  void ensure_globals(const lang::Expr& expr);
  void infer_component(const std::vector<std::string>& names);
  std::vector<Entry> infer_entries(Inference& inference, const std::vector<std::string>& names);
  CheckedValue check_value(const lang::Expr& expr, const lang::Type& expected, Widening& widening);
  // Entries about which nothing is known but what they are about.
  std::vector<Entry> unknown_entries(const std::vector<std::string>& names) const;
  // The globals that a definition mentions; says so to `users`.
  std::vector<std::string> mentioned_by(const std::string& name);
  bool forget(const std::string& name);
  // Those of the last run of with_widening count.
  void note_warnings(Inference& inference) { warned = std::move(inference.warnings()); }
  void keep_warnings();

  // specialise.cpp
  // What the scheme's variables stand for in an instance. Dims that stay symbolic are left out: no
  // open relation mentions them, and `type` tells no number, or `extents` asks for none.
  lang::TypeSubstitution match(const Entry& entry, const lang::Type& type, Extents extents);
  lang::Expr specialise(const std::string& name, const lang::Type& type, Extents extents);
  lang::Expr specialise(const std::string& name, const lang::Type& type, Extents extents,
                        Widening& widening);
  std::string specialisation_key(const std::string& name, const lang::Type& type, Extents extents);

  const lang::Module& module;
  std::unordered_map<std::string, Entry> entries;
  // By name: the definitions that mention it, or did; what `forget` follows.
  std::unordered_map<std::string, std::unordered_set<std::string>> users;
  mutable std::unordered_map<std::string, std::pair<lang::Expr, Scheme>>
      stated;                                              // fully annotated functions
  mutable std::unordered_map<std::string, Scheme> values;  // of bindings that are generic
  std::unordered_map<std::string, lang::Type> current;     // members of the component at hand
  std::vector<lang::Diagnostic> warnings;
  std::vector<lang::Diagnostic> warned;  // of the run at hand

 private:
  const Entry* known(const std::string& name) const;
};

}  // namespace relay::typecheck
