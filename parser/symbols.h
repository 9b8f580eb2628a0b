#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "lang/module.h"
#include "lang/op.h"

namespace relay::parser {

// A name of the text, and everything it can mean at this point of it.
struct Symbol {
  std::string_view text;
  std::size_t hash = 0;
  // Scoped: what is innermost now.
  lang::VariableRef local;
  int type_param = -1;  // place in the resolver's list
  // Defined by this text.
  const lang::Span* own_global = nullptr;
  bool own_is_let = false;
  const lang::Constructor* own_constructor = nullptr;
  lang::TypeDef* own_type = nullptr;
  // Defined elsewhere.
  const lang::OpDef* op = nullptr;
  const lang::Constructor* outer_constructor = nullptr;
  const lang::TypeDef* outer_type = nullptr;
  const lang::Definition* outer_global = nullptr;
  bool reported = false;  // as unknown: once is enough
  bool broken = false;    // an item of this text with errors would define it

  const lang::Constructor* constructor() const {
    return own_constructor ? own_constructor : outer_constructor;
  }
  const lang::TypeDef* type() const { return own_type ? own_type : outer_type; }
};

// Interns names. Symbols stay where they are. The texts must outlive the table.
class SymbolTable {
 public:
  explicit SymbolTable(const lang::Module& scope) : scope_(scope), slots_(256) {}
  ~SymbolTable();
  SymbolTable(const SymbolTable&) = delete;
  Symbol& intern(std::string_view text);  // outer meanings filled in
  const std::deque<Symbol>& all() const { return symbols_; }

 private:
  void grow();
  const lang::Module& scope_;
  std::deque<Symbol> symbols_;
  std::vector<Symbol*> slots_;  // open addressing; size is a power of two
};

}  // namespace relay::parser
