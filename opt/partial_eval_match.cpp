#include "opt/partial_eval_match.h"

#include <map>

namespace relay::opt::partial {

using lang::PatternKind;
using lang::PatternRef;

namespace {

// The place of a part in the scrutinee: which field, of which field, ...
using Path = std::vector<std::uint32_t>;
enum class Fit : std::uint8_t { Never, Open, Certain };

class Selector {
 public:
  Selector(Residual& residual, lang::Span span) : residual_(residual), span_(span) {}

  std::optional<Selection> run(const lang::Match& match, const Value* scrutinee) {
    for (std::size_t i = 0; i < match.clauses.size(); ++i) {
      Row row{i};
      Path path;
      if (!walk(match.clauses[i].pattern, scrutinee, path, row)) continue;
      if (!is_typed_) return std::nullopt;
      selection_.rows.push_back(std::move(row));
      if (selection_.rows.back().is_certain) break;
    }
    return std::move(selection_);
  }

 private:
  // May the pattern take the value?
  bool walk(const PatternRef& pattern, const Value* value, Path& path, Row& row) {
    switch (pattern->kind) {
      case PatternKind::Wildcard:
        return true;
      case PatternKind::Variable:
        is_typed_ = is_typed_ && lang::equal(pattern->variable->type, value->type);
        row.bound.emplace_back(pattern->variable, value);
        return true;
      case PatternKind::Tuple:
        return walk_fields(pattern, fields_of_tuple(value), path, row);
      case PatternKind::Constructor:
        break;
    }
    if (value->known == Known::Construction)
      return value->constructor == pattern->constructor &&
             walk_fields(pattern, value->fields, path, row);
    if (pattern->constructor->owner->constructors.size() == 1)
      return walk_fields(pattern, fields_of_record(value, *pattern->constructor), path, row);
    const auto [place, is_new] = parts_.try_emplace(path, selection_.parts.size());
    if (is_new) selection_.parts.push_back(value);
    row.patterns.resize(selection_.parts.size());
    row.patterns[place->second] = pattern;
    row.is_certain = false;
    return true;
  }

  bool walk_fields(const PatternRef& pattern, const std::vector<const Value*>& fields, Path& path,
                   Row& row) {
    for (std::uint32_t i = 0; i < pattern->fields.size(); ++i) {
      path.push_back(i);
      const bool may_fit = walk(pattern->fields[i], fields[i], path, row);
      path.pop_back();
      if (!may_fit) return false;
    }
    return true;
  }

  const std::vector<const Value*>& fields_of_tuple(const Value* value) {
    if (value->known == Known::Tuple) return value->fields;
    auto& fields = opened_[value];
    const auto& types = lang::as<lang::TupleType>(value->type)->fields;
    for (std::uint32_t i = static_cast<std::uint32_t>(fields.size()); i < types.size(); ++i)
      fields.push_back(residual_.projection(value, i, types[i], span_));
    return fields;
  }

  const std::vector<const Value*>& fields_of_record(const Value* value,
                                                    const lang::Constructor& constructor) {
    auto& fields = opened_[value];
    for (std::size_t i = fields.size(); i < constructor.fields.size(); ++i)
      fields.push_back(residual_.field(value, constructor, i, span_));
    return fields;
  }

  Residual& residual_;
  const lang::Span span_;
  Selection selection_;
  std::map<Path, std::size_t> parts_;  // places in `parts`
  std::map<const Value*, std::vector<const Value*>> opened_;
  bool is_typed_ = true;
};

}  // namespace

std::optional<Selection> select_clauses(const lang::Match& match, const Value* scrutinee,
                                        Residual& residual, lang::Span span) {
  return Selector(residual, span).run(match, scrutinee);
}

Selection all_clauses(const lang::Match& match, const Value* scrutinee) {
  Selection selection{{scrutinee}, {}};
  for (std::size_t i = 0; i < match.clauses.size(); ++i)
    selection.rows.push_back({i, {}, {match.clauses[i].pattern}, false});
  return selection;
}

PatternRef with_fresh_variables(
    const PatternRef& pattern,
    const std::function<void(const lang::VariableRef&, const lang::VariableRef&)>& bind) {
  switch (pattern->kind) {
    case PatternKind::Wildcard:
      return pattern;
    case PatternKind::Variable: {
      const auto& old = pattern->variable;
      const auto fresh = lang::make_variable(old->name, old->type, old->span, old->attrs);
      bind(old, fresh);
      return lang::variable_pattern(fresh, pattern->span);
    }
    case PatternKind::Constructor:
    case PatternKind::Tuple:
      break;
  }
  std::vector<PatternRef> fields;
  for (const PatternRef& field : pattern->fields)
    fields.push_back(with_fresh_variables(field, bind));
  return pattern->kind == PatternKind::Tuple
             ? lang::tuple_pattern(std::move(fields), pattern->span)
             : lang::constructor_pattern(pattern->constructor, std::move(fields), pattern->span);
}

}  // namespace relay::opt::partial
