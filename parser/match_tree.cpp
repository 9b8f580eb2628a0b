#include "parser/match_tree.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/match_check.h"
#include "lang/op.h"

namespace relay::parser {

using lang::Clause;
using lang::Constructor;
using lang::Expr;
using lang::PatternKind;
using lang::PatternRef;
using lang::Span;
using lang::VariableRef;

// --- Literals ---

PatternLiterals::PatternLiterals() : truths_(new lang::TypeDef()), numbers_(new lang::TypeDef()) {
  const auto add = [](lang::TypeDef& type, std::string name) {
    Constructor& constructor = type.constructors.emplace_back();
    constructor.name = std::move(name);
    constructor.owner = &type;
  };
  add(*truths_, "False");
  add(*truths_, "True");
  add(*numbers_, "_");
}

const Constructor* PatternLiterals::truth(bool value) const {
  is_used_ = true;
  return &truths_->constructors[value ? 1 : 0];
}

const Constructor* PatternLiterals::number(const NumberValue& value, std::string text) {
  is_used_ = true;
  // The same for equal numbers.
  const std::string digits =
      value.is_float ? fmt::format("{} float", value.real) : fmt::format("{}", value.integer);
  const Constructor*& found =
      by_key_[value.dtype ? fmt::format("{} of {}", value.bits, lang::name_of(*value.dtype))
                          : digits];
  if (found) return found;
  Constructor& constructor = numbers_->constructors.emplace_back();
  constructor.name = std::move(text);
  constructor.owner = numbers_.get();
  values_[&constructor] = value;
  return found = &constructor;
}

bool PatternLiterals::is_literal(const Constructor* constructor) const {
  return constructor->owner == truths_.get() || constructor->owner == numbers_.get();
}
bool PatternLiterals::is_truth(const Constructor* constructor) const {
  return constructor->owner == truths_.get();
}
Expr PatternLiterals::value(const Constructor* constructor, Span span) const {
  const NumberValue& value = values_.at(constructor);
  if (value.dtype) return lang::make_constant(lang::Tensor::scalar(*value.dtype, value.bits), span);
  return value.is_float ? lang::make_literal(value.real, span)
                        : lang::make_literal(value.integer, span);
}

// --- Patterns ---

namespace {

bool is_open(const PatternRef& pattern) {
  return pattern->kind == PatternKind::Wildcard || pattern->kind == PatternKind::Variable;
}

bool has_literal(const PatternRef& pattern, const PatternLiterals& literals) {
  if (pattern->kind == PatternKind::Constructor && literals.is_literal(pattern->constructor))
    return true;
  return std::any_of(pattern->fields.begin(), pattern->fields.end(),
                     [&](const PatternRef& field) { return has_literal(field, literals); });
}

bool has_constructor(const PatternRef& pattern) {
  return pattern->kind == PatternKind::Constructor ||
         std::any_of(pattern->fields.begin(), pattern->fields.end(), has_constructor);
}

// The pattern with wildcards for its literals.
PatternRef without_literals(const PatternRef& pattern, const PatternLiterals& literals) {
  if (is_open(pattern)) return pattern;
  if (pattern->kind == PatternKind::Constructor && literals.is_literal(pattern->constructor))
    return lang::wildcard_pattern(pattern->span);
  std::vector<PatternRef> fields;
  for (const PatternRef& field : pattern->fields)
    fields.push_back(without_literals(field, literals));
  return pattern->kind == PatternKind::Tuple
             ? lang::tuple_pattern(std::move(fields), pattern->span)
             : lang::constructor_pattern(pattern->constructor, std::move(fields), pattern->span);
}

Expr field_of(const Expr& place, std::size_t i) {
  if (const auto* tuple = lang::as<lang::Tuple>(place)) return tuple->fields[i];
  return lang::make_projection(place, static_cast<std::uint32_t>(i), place->span);
}

using Bindings = std::vector<std::pair<VariableRef, Expr>>;

// What a pattern of tuples and variables binds.
void bind_variables(const PatternRef& pattern, const Expr& place, Bindings& into) {
  if (pattern->kind == PatternKind::Variable) into.emplace_back(pattern->variable, place);
  for (std::size_t i = 0; i < pattern->fields.size(); ++i) {
    if (pattern->fields[i]->kind != PatternKind::Wildcard)
      bind_variables(pattern->fields[i], field_of(place, i), into);
  }
}

Expr with_bindings(const Bindings& bindings, Expr body) {
  for (auto each = bindings.rbegin(); each != bindings.rend(); ++each)
    body = lang::make_let(each->first, each->second, std::move(body), each->first->span);
  return body;
}

Expr truth(bool value, Span span) {
  return lang::make_constant(lang::Tensor::scalar(lang::DType::Bool, value ? 1 : 0), span);
}

Expr equals(const Expr& place, const Constructor* number, const PatternLiterals& literals,
            Span span) {
  const lang::OpDef& equal = lang::OpRegistry::instance().get("equal");
  return lang::make_call(lang::make_operator(&equal, span), {place, literals.value(number, span)},
                         nullptr, span);
}

// --- Each body at a leaf of one tree of tests ---

struct Row {
  std::vector<PatternRef> columns;
  Bindings bound;
  std::size_t clause;
};

// A decision tree after Maranget ("Compiling pattern matching to good decision trees", 2008), as
// long as no clause would have to stand at two leaves of it.
class Tree {
 public:
  Tree(const std::vector<Clause>& clauses, const PatternLiterals& literals, Span span)
      : clauses_(clauses), literals_(literals), span_(span), is_placed_(clauses.size()) {}

  // Null if there is no such tree.
  Expr of(const Expr& scrutinee) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < clauses_.size(); ++i)
      rows.push_back({{clauses_[i].pattern}, {}, i});
    return build(std::move(rows), {scrutinee});
  }

 private:
  Expr build(std::vector<Row> rows, std::vector<Expr> places) {
    if (rows.empty()) return nullptr;
    open_tuples(rows, places);
    const std::size_t column = next_column(rows);
    Row& first = rows.front();
    if (column == first.columns.size()) {
      if (is_placed_[first.clause]) return nullptr;
      is_placed_[first.clause] = true;
      for (std::size_t i = 0; i < column; ++i)
        bind_variables(first.columns[i], places[i], first.bound);
      return with_bindings(first.bound, clauses_[first.clause].body);
    }
    const PatternRef head = first.columns[column];
    if (!literals_.is_literal(head->constructor)) return by_constructor(rows, places, column);
    return by_literal(rows, places, column, head);
  }

  // Puts the fields of tuples in the place of the tuples.
  static void open_tuples(std::vector<Row>& rows, std::vector<Expr>& places) {
    for (std::size_t column = 0; column < places.size();) {
      const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
        return row.columns[column]->kind == PatternKind::Tuple;
      });
      if (found == rows.end()) {
        ++column;
        continue;
      }
      const std::size_t width = found->columns[column]->fields.size();
      const Expr tuple = places[column];
      for (Row& row : rows) replace(row, column, tuple, width);
      std::vector<Expr> fields;
      for (std::size_t i = 0; i < width; ++i) fields.push_back(field_of(tuple, i));
      replace(places, column, fields);
    }
  }

  template <class T>
  static void replace(std::vector<T>& list, std::size_t at, const std::vector<T>& by) {
    const auto place = list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    list.insert(place, by.begin(), by.end());
  }
  // The fields of its pattern, or wildcards, in the place of a column.
  static void replace(Row& row, std::size_t column, const Expr& place, std::size_t width) {
    const PatternRef pattern = row.columns[column];
    if (pattern->kind == PatternKind::Variable) row.bound.emplace_back(pattern->variable, place);
    replace(row.columns, column,
            is_open(pattern) ? std::vector<PatternRef>(width, lang::wildcard_pattern())
                             : pattern->fields);
  }

  // Where the first row asks for something, and the fewest others do not: they go both ways.
  static std::size_t next_column(const std::vector<Row>& rows) {
    const std::size_t width = rows.front().columns.size();
    std::size_t best = width;
    std::size_t fewest = rows.size();
    for (std::size_t column = 0; column < width; ++column) {
      if (is_open(rows.front().columns[column])) continue;
      const auto open = static_cast<std::size_t>(std::count_if(
          rows.begin(), rows.end(), [&](const Row& row) { return is_open(row.columns[column]); }));
      if (open >= fewest) continue;
      best = column;
      fewest = open;
    }
    return best;
  }

  Expr by_literal(const std::vector<Row>& rows, const std::vector<Expr>& places, std::size_t column,
                  const PatternRef& head) {
    const bool is_truth = literals_.is_truth(head->constructor);
    const Constructor* wanted = is_truth ? literals_.truth(true) : head->constructor;
    std::vector<Row> equal;
    std::vector<Row> others;
    for (const Row& row : rows) {
      const PatternRef& pattern = row.columns[column];
      const bool fits = is_open(pattern) || pattern->constructor == wanted;
      if (fits) replace(equal.emplace_back(row), column, places[column], 0);
      if (fits && !is_open(pattern)) continue;
      others.push_back(row);
      if (is_truth) replace(others.back(), column, places[column], 0);
    }
    std::vector<Expr> rest = places;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(column));
    Expr condition =
        is_truth ? places[column] : equals(places[column], wanted, literals_, head->span);
    Expr then_branch = build(std::move(equal), rest);
    Expr else_branch = then_branch ? build(std::move(others), is_truth ? rest : places) : nullptr;
    if (!else_branch) return nullptr;
    return lang::make_if(std::move(condition), std::move(then_branch), std::move(else_branch),
                         head->span);
  }

  Expr by_constructor(const std::vector<Row>& rows, const std::vector<Expr>& places,
                      std::size_t column) {
    const lang::TypeDef& type = *rows.front().columns[column]->constructor->owner;
    std::vector<Clause> result;
    bool all_mentioned = true;
    for (const Constructor& constructor : type.constructors) {
      const auto mention = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
        return !is_open(row.columns[column]) && row.columns[column]->constructor == &constructor;
      });
      all_mentioned &= mention != rows.end();
      if (mention == rows.end()) continue;
      std::vector<Row> fitting;
      for (const Row& row : rows) {
        const PatternRef& pattern = row.columns[column];
        if (!is_open(pattern) && pattern->constructor != &constructor) continue;
        replace(fitting.emplace_back(row), column, places[column], constructor.fields.size());
      }
      std::vector<PatternRef> fields;
      std::vector<Expr> parts;
      for (std::size_t i = 0; i < constructor.fields.size(); ++i) {
        fields.push_back(field_pattern(fitting, column + i));
        parts.push_back(fields.back()->kind == PatternKind::Variable
                            ? lang::make_var(fields.back()->variable, fields.back()->span)
                            : nullptr);
      }
      std::vector<Expr> inner = places;
      replace(inner, column, parts);
      Expr body = build(std::move(fitting), std::move(inner));
      if (!body) return nullptr;
      result.push_back({lang::constructor_pattern(&constructor, std::move(fields),
                                                  mention->columns[column]->span),
                        std::move(body)});
    }
    if (!all_mentioned) {
      std::vector<Row> open;
      for (const Row& row : rows) {
        if (is_open(row.columns[column]))
          replace(open.emplace_back(row), column, places[column], 0);
      }
      std::vector<Expr> rest = places;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(column));
      Expr body = build(std::move(open), std::move(rest));
      if (!body) return nullptr;
      result.push_back({lang::wildcard_pattern(span_), std::move(body)});
    }
    return lang::make_match(places[column], std::move(result), true, span_);
  }

  // A variable for a field, which takes over the only name that the rows have for it; a wildcard
  // where none of them asks.
  static PatternRef field_pattern(std::vector<Row>& rows, std::size_t column) {
    std::vector<PatternRef*> asking;
    for (Row& row : rows) {
      if (row.columns[column]->kind != PatternKind::Wildcard)
        asking.push_back(&row.columns[column]);
    }
    if (asking.empty()) return lang::wildcard_pattern();
    const Span span = (*asking.front())->span;
    if (asking.size() == 1 && is_open(*asking.front()))
      return std::exchange(*asking.front(), lang::wildcard_pattern());
    return lang::variable_pattern(lang::make_variable("v", nullptr, span), span);
  }

  const std::vector<Clause>& clauses_;
  const PatternLiterals& literals_;
  const Span span_;
  std::vector<bool> is_placed_;
};

// --- One clause after the other ---

class Chain {
 public:
  Chain(const std::vector<Clause>& clauses, const PatternLiterals& literals, Span span)
      : clauses_(clauses), literals_(literals), span_(span) {}

  Expr of(const Expr& scrutinee, bool is_complete) {
    std::size_t plain = clauses_.size();  // from here on there are no literals
    while (plain > 0 && !has_literal(clauses_[plain - 1].pattern, literals_)) --plain;
    Expr rest;
    if (plain < clauses_.size()) {
      rest = plain_match(scrutinee,
                         {clauses_.begin() + static_cast<std::ptrdiff_t>(plain), clauses_.end()});
    } else if (!is_complete) {
      rest = lang::make_match(scrutinee, {}, false, span_);
    }
    for (std::size_t i = plain; i-- > 0;) {
      const PatternRef& pattern = clauses_[i].pattern;
      Expr body =
          plain_match(scrutinee, {{without_literals(pattern, literals_), clauses_[i].body}});
      Expr condition = rest ? test(pattern, scrutinee) : nullptr;
      const Span span = is_literal(pattern) ? pattern->span : span_;
      rest = condition ? lang::make_if(std::move(condition), std::move(body), std::move(rest), span)
                       : std::move(body);
    }
    return rest;
  }

 private:
  // Clauses without literals, of which one is known to fit.
  Expr plain_match(const Expr& scrutinee, std::vector<Clause> clauses) const {
    const Clause& first = clauses.front();
    if (!has_constructor(first.pattern)) {
      Bindings bindings;
      bind_variables(first.pattern, scrutinee, bindings);
      return with_bindings(bindings, first.body);
    }
    const bool covers = lang::check_match(clauses).missing.empty();
    return lang::make_match(scrutinee, std::move(clauses), covers, span_);
  }

  // Does the value fit? Null: whatever it is.
  Expr test(const PatternRef& pattern, const Expr& place) const {
    if (is_open(pattern)) return nullptr;
    if (pattern->kind == PatternKind::Tuple) {
      std::vector<Expr> places;
      for (std::size_t i = 0; i < pattern->fields.size(); ++i) places.push_back(field_of(place, i));
      return test_all(pattern->fields, places);
    }
    const Constructor* constructor = pattern->constructor;
    if (literals_.is_literal(constructor) && !literals_.is_truth(constructor))
      return equals(place, constructor, literals_, pattern->span);
    if (literals_.is_truth(constructor)) {
      if (constructor == literals_.truth(true)) return place;
      return lang::make_if(place, truth(false, pattern->span), truth(true, pattern->span),
                           pattern->span);
    }
    std::vector<PatternRef> fields;
    std::vector<Expr> places;
    for (const PatternRef& field : pattern->fields) {
      const bool asks = has_constructor(field);
      VariableRef variable = asks ? lang::make_variable("v", nullptr, field->span) : nullptr;
      fields.push_back(asks ? lang::variable_pattern(variable, field->span)
                            : lang::wildcard_pattern(field->span));
      places.push_back(asks ? lang::make_var(variable, field->span) : nullptr);
    }
    Expr inner = test_all(pattern->fields, places);
    const bool is_only = constructor->owner->constructors.size() == 1;
    if (is_only && !inner) return nullptr;
    std::vector<Clause> clauses;
    clauses.push_back({lang::constructor_pattern(constructor, std::move(fields), pattern->span),
                       inner ? std::move(inner) : truth(true, pattern->span)});
    if (!is_only)
      clauses.push_back({lang::wildcard_pattern(pattern->span), truth(false, pattern->span)});
    return lang::make_match(place, std::move(clauses), true, pattern->span);
  }

  // From left to right, as far as needed.
  Expr test_all(const std::vector<PatternRef>& patterns, const std::vector<Expr>& places) const {
    Expr result;
    for (std::size_t i = patterns.size(); i-- > 0;) {
      Expr first = places[i] ? test(patterns[i], places[i]) : nullptr;
      if (!first) continue;
      const Span span = patterns[i]->span;
      // So that the test is a condition, which says what is wrong with it; that of `False` is one.
      if (!result && is_literal(patterns[i]) && first->kind != lang::ExprKind::If)
        result = truth(true, span);
      result = result ? lang::make_if(std::move(first), std::move(result), truth(false, span), span)
                      : std::move(first);
    }
    return result;
  }

  bool is_literal(const PatternRef& pattern) const {
    return pattern->kind == PatternKind::Constructor && literals_.is_literal(pattern->constructor);
  }

  const std::vector<Clause>& clauses_;
  const PatternLiterals& literals_;
  const Span span_;
};

// A name for what is no atom; a tuple stays one, of atoms.
Expr named(const Expr& expr, Bindings& lets) {
  if (const auto* tuple = lang::as<lang::Tuple>(expr)) {
    std::vector<Expr> fields;
    for (const Expr& field : tuple->fields) fields.push_back(named(field, lets));
    return lang::make_tuple(std::move(fields), expr->span);
  }
  if (expr->kind == lang::ExprKind::Var) return expr;
  VariableRef variable = lang::make_variable("v", nullptr, expr->span);
  lets.emplace_back(variable, expr);
  return lang::make_var(std::move(variable), expr->span);
}

}  // namespace

Expr spell_match(Expr scrutinee, const std::vector<Clause>& clauses, bool is_complete,
                 const PatternLiterals& literals, Span span) {
  Bindings lets;
  const Expr value = named(scrutinee, lets);
  Expr result = Tree(clauses, literals, span).of(value);
  if (!result) result = Chain(clauses, literals, span).of(value, is_complete);
  return with_bindings(lets, std::move(result));
}

// --- Patterns that do not go together ---

namespace {

std::string kind_of(const PatternRef& pattern, const PatternLiterals& literals) {
  if (pattern->kind == PatternKind::Tuple)
    return fmt::format("a tuple of {}", pattern->fields.size());
  const Constructor* constructor = pattern->constructor;
  if (!literals.is_literal(constructor)) return fmt::format("a `{}`", constructor->owner->name);
  return literals.is_truth(constructor) ? "a `bool`" : "a number";
}

std::optional<lang::Diagnostic> disagree(const std::vector<PatternRef>& column,
                                         const PatternLiterals& literals) {
  std::vector<PatternRef> asking;
  std::copy_if(column.begin(), column.end(), std::back_inserter(asking),
               [](const PatternRef& pattern) { return !is_open(pattern); });
  if (asking.empty()) return std::nullopt;
  const PatternRef& first = asking.front();
  const std::string wanted = kind_of(first, literals);
  std::map<const Constructor*, std::vector<PatternRef>> by_head;
  for (const PatternRef& pattern : asking) {
    const std::string found = kind_of(pattern, literals);
    if (found != wanted) {
      return lang::Diagnostic(
                 lang::DiagnosticKind::BadPattern,
                 fmt::format("this pattern is for {}, and an earlier one for {}", found, wanted),
                 pattern->span)
          .label(pattern->span, found)
          .label(first->span, wanted);
    }
    by_head[pattern->constructor].push_back(pattern);
  }
  for (const auto& [head, patterns] : by_head) {
    for (std::size_t i = 0; i < patterns.front()->fields.size(); ++i) {
      std::vector<PatternRef> fields;
      for (const PatternRef& pattern : patterns) fields.push_back(pattern->fields[i]);
      if (auto found = disagree(fields, literals)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<lang::Diagnostic> disagreement(const std::vector<Clause>& clauses,
                                             const Expr& scrutinee,
                                             const PatternLiterals& literals) {
  std::vector<PatternRef> column;
  for (const Clause& clause : clauses) column.push_back(clause.pattern);
  if (auto found = disagree(column, literals)) return found;
  const auto* tuple = lang::as<lang::Tuple>(scrutinee);
  if (!tuple) return std::nullopt;
  for (const PatternRef& pattern : column) {
    const bool fits = is_open(pattern) || (pattern->kind == PatternKind::Tuple &&
                                           pattern->fields.size() == tuple->fields.size());
    if (fits) continue;
    const std::string found = kind_of(pattern, literals);
    return lang::Diagnostic(lang::DiagnosticKind::BadPattern,
                            fmt::format("this pattern is for {}, and a tuple of {} is matched",
                                        found, tuple->fields.size()),
                            pattern->span)
        .label(pattern->span, found)
        .label(scrutinee->span, fmt::format("a tuple of {}", tuple->fields.size()));
  }
  return std::nullopt;
}

}  // namespace relay::parser
