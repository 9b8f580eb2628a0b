#pragma once

#include <memory>
#include <string>

#include "lang/module.h"
#include "lang/source.h"
#include "typecheck/infer.h"

// A module with the prelude, to which tests add texts. Every answer is text; a failure reads
// `Kind: message`, with a line for each label (`  at 'text': label`) and note.
class TypecheckFixture {
 public:
  TypecheckFixture();

  // Adds the definitions and types of a text.
  void define(const std::string& text);
  // The scheme of a global.
  std::string scheme(const std::string& name);
  // Adds the text and gives the scheme of its last definition.
  std::string scheme_of(const std::string& text);
  // The type of an expression, which may be generic.
  std::string type_of(const std::string& text);
  // The ground type of an expression that is to run.
  std::string check(const std::string& text);
  // The expression that is to run, printed; it has been verified.
  std::string typed(const std::string& text);
  // The instance of a global at a type (light notation), printed; it has been verified.
  std::string instance(const std::string& name, const std::string& type);
  std::string key(const std::string& name, const std::string& type);

  relay::typecheck::Checker& checker() { return *checker_; }

 private:
  relay::lang::Expr expression(const std::string& text);
  relay::lang::Type type(const std::string& text);

  relay::lang::SourceStore sources_;
  relay::lang::Module module_;
  std::unique_ptr<relay::typecheck::Checker> checker_;
};
