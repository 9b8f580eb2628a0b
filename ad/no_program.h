#pragma once

#include <string>

#include "lang/diagnostic.h"
#include "lang/module.h"

namespace relay::ad {

// Where the definitions of operators are differentiated: they call operators only.
class NoProgram final : public lang::Program {
 public:
  lang::Expr function(const std::string&, const lang::Type&) override { return none(); }
  bool is_function(const std::string&) override { return false; }
  std::size_t parameter_count(const std::string&) override { return none(), 0; }
  bool is_pure(const std::string&) override { return false; }
  lang::Expr inlined(const lang::Expr&) override { return none(); }
  std::string reserve_name(const std::string&) override { return none(), std::string(); }
  void add_function(const std::string&, lang::Expr) override { none(); }
  const lang::TypeDef* add_type(lang::TypeDefRef) override { return none(), nullptr; }

 private:
  static lang::Expr none() {
    RELAY_CHECK(false, "the definition of an operator calls a function");
    return nullptr;
  }
};

}  // namespace relay::ad
