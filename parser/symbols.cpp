#include "parser/symbols.h"

#include <functional>

#include "lang/boxed.h"
#include "lang/print.h"

namespace relay::parser {

SymbolTable::~SymbolTable() { lang::free_elements(symbols_); }

namespace {

// `op.cos` is the operator, whatever else is called `cos`.
const lang::OpDef* operator_called(std::string_view text) {
  const lang::OpRegistry& operators = lang::OpRegistry::instance();
  if (const lang::OpDef* op = operators.find(text)) return op;
  if (!text.starts_with(lang::kOperatorPrefix)) return nullptr;
  return operators.find(text.substr(lang::kOperatorPrefix.size()));
}

}  // namespace

Symbol& SymbolTable::intern(std::string_view text) {
  const std::size_t hash = std::hash<std::string_view>()(text);
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash & mask;
  while (Symbol* symbol = slots_[i]) {
    if (symbol->hash == hash && symbol->text == text) return *symbol;
    i = (i + 1) & mask;
  }
  Symbol& symbol = symbols_.emplace_back();
  symbol.text = text;
  symbol.hash = hash;
  symbol.op = operator_called(text);
  symbol.outer_constructor = scope_.find_constructor(text);
  symbol.outer_type = scope_.find_type(text);
  symbol.outer_global = scope_.lookup(text);
  slots_[i] = &symbol;
  if (symbols_.size() * 2 > slots_.size()) grow();
  return symbol;
}

void SymbolTable::grow() {
  std::vector<Symbol*> larger(slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (Symbol* symbol : slots_) {
    if (!symbol) continue;
    std::size_t i = symbol->hash & mask;
    while (larger[i]) i = (i + 1) & mask;
    larger[i] = symbol;
  }
  slots_ = std::move(larger);
}

}  // namespace relay::parser
