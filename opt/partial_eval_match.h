#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "opt/partial_eval_residual.h"
#include "opt/partial_eval_value.h"

namespace relay::opt::partial {

// What is left to decide of a match: which patterns the unknown parts of the scrutinee have.
struct Row {
  std::size_t clause;
  std::vector<std::pair<lang::VariableRef, const Value*>> bound = {};
  std::vector<lang::PatternRef> patterns = {};  // by part; null or missing: any
  bool is_certain = true;                       // no part is left to decide
};
struct Selection {
  std::vector<const Value*> parts;
  std::vector<Row> rows;  // those that may be taken, up to one that is certain
};
// Nothing where a variable has another type than the part of the value that it stands for. Adds
// reads of fields to the code, for values that have only one form.
std::optional<Selection> select_clauses(const lang::Match& match, const Value* scrutinee,
                                        Residual& residual, lang::Span span);
// All clauses, as if nothing were known.
Selection all_clauses(const lang::Match& match, const Value* scrutinee);

// The pattern with new variables.
lang::PatternRef with_fresh_variables(
    const lang::PatternRef& pattern,
    const std::function<void(const lang::VariableRef& old, const lang::VariableRef& fresh)>& bind);

}  // namespace relay::opt::partial
