#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/module.h"
#include "parser/numbers.h"

// `match` with numbers, True and False in its patterns: sugar for `if` and plain `match`.
namespace relay::parser {

// The literals in the patterns of one `match`. Each is a constructor of a data type that is made
// for it: True and False are all there is of one, and the numbers of another have `_` beside them.
// So patterns of literals are checked as all patterns are, and none of it leaves the parser.
class PatternLiterals {
 public:
  PatternLiterals();
  const lang::Constructor* truth(bool value) const;
  const lang::Constructor* number(const NumberValue& value, std::string text);

  bool is_used() const { return is_used_; }
  bool is_literal(const lang::Constructor* constructor) const;
  bool is_truth(const lang::Constructor* constructor) const;
  // Of a number: a new literal or constant, as each takes its dtype from its own place.
  lang::Expr value(const lang::Constructor* constructor, lang::Span span) const;

 private:
  lang::TypeDefRef truths_;
  lang::TypeDefRef numbers_;
  std::map<std::string, const lang::Constructor*> by_key_;
  std::map<const lang::Constructor*, NumberValue> values_;
  mutable bool is_used_ = false;
};

// Two patterns of which no value can fit both kinds, such as `0` and `True`: what the error is, or
// nothing. `scrutinee` may be a tuple.
std::optional<lang::Diagnostic> disagreement(const std::vector<lang::Clause>& clauses,
                                             const lang::Expr& scrutinee,
                                             const PatternLiterals& literals);

// The match without literals. Each body stands in one place of it, so its size is linear in that of
// the clauses. They cover every value, or `is_complete` is false.
lang::Expr spell_match(lang::Expr scrutinee, const std::vector<lang::Clause>& clauses,
                       bool is_complete, const PatternLiterals& literals, lang::Span span);

}  // namespace relay::parser
