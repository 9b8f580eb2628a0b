#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "typecheck/generalise.h"
#include "typecheck/infer.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

// What is known of one global function.
struct Entry {
  lang::Expr function;                   // the definition that this is about
  std::vector<lang::Diagnostic> errors;  // if not empty, there is no scheme
  Scheme scheme;
  bool is_stated = false;  // the annotations say it all
  // The component it was inferred with, and the members' types over the scheme's variables.
  std::vector<std::string> member_names = {};
  std::vector<lang::Type> member_types = {};
  std::vector<std::string> mentions = {};
};

struct Checker::Impl final : Globals {
  explicit Impl(const lang::Module& module) : module(module) {}

  GlobalUse find(const lang::GlobalVar& use) const override;
  const lang::Definition* definition(const std::string& name) const override {
    return module.find(name);
  }

  // The entry of a global function, inferred if need be; throws Failure if it has errors.
  const Entry& entry(const std::string& name);
  // Everything that `expr` mentions has an entry afterwards; throws Failure for what has errors.
  void ensure_globals(const lang::Expr& expr);
  void infer_component(const std::vector<std::string>& names);
  void forget(const std::string& name);
  void keep_warnings(Inference& inference);

  // specialise.cpp
  // What the scheme's variables stand for in an instance. Dims that no open relation mentions stay
  // symbolic and are left out.
  lang::TypeSubstitution match(const Entry& entry, const lang::Type& type);
  lang::Expr specialise(const std::string& name, const lang::Type& type);
  std::string specialisation_key(const std::string& name, const lang::Type& type);

  const lang::Module& module;
  std::map<std::string, Entry> entries;
  mutable std::map<std::string, std::pair<lang::Expr, Scheme>> stated;  // fully annotated functions
  std::unordered_map<std::string, lang::Type> current;  // members of the component at hand
  std::vector<lang::Diagnostic> warnings;

 private:
  const Entry* known(const std::string& name) const;
};

}  // namespace relay::typecheck
