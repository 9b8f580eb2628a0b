#include "lang/record.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/diagnostic.h"
#include "lang/mistaken.h"
#include "lang/number_text.h"
#include "lang/visit.h"

namespace relay::lang {

namespace {

// Names the constructors that lack the field, and what the field may have been meant to be.
[[noreturn]] void fail_without_field(TypeCall& call, const TypeDef& def, const std::string& name) {
  std::vector<std::string> known;
  std::vector<std::string> lacking;
  for (const Constructor& constructor : def.constructors) {
    if (!field_place(constructor, name)) lacking.push_back(constructor.name);
    for (const std::string& field : constructor.field_names) {
      if (has_field(def, field) && std::find(known.begin(), known.end(), field) == known.end())
        known.push_back(field);
    }
  }
  const bool in_some = lacking.size() < def.constructors.size();
  const std::string what =
      in_some
          ? fmt::format("not every constructor of `{}` has a field `{}`: `{}` {}", def.name, name,
                        fmt::join(lacking, "` and `"), lacking.size() == 1 ? "lacks it" : "lack it")
          : fmt::format("`{}` has no field `{}`", def.name, name);
  Diagnostic diagnostic(DiagnosticKind::UnknownField, what, call.span);
  if (!call.arg_spans.empty())
    diagnostic.label(call.arg_spans[0], fmt::format("`{}`", to_string(call.args[0])));
  const std::vector<std::string> closest = closest_names(name, known);
  if (in_some) {
    diagnostic.note("help: `match` tells the constructors apart");
  } else if (!closest.empty()) {
    diagnostic.note(fmt::format("help: did you mean `{}`?", closest.front()));
  } else if (known.empty()) {
    diagnostic.note(fmt::format("note: the fields of `{}` have no names", def.name));
  } else {
    diagnostic.note(
        fmt::format("note: the fields of `{}` are `{}`", def.name, fmt::join(known, "`, `")));
  }
  throw Failure(std::move(diagnostic));
}

// `5.e3`, `5.e-3` and `5.f` of other languages.
std::string help_for_point(std::string_view field, Span value) {
  const auto is_digits = [](std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::string_view number = value ? value.text() : "";
  const bool is_exponent = (field[0] == 'e' || field[0] == 'E') && is_digits(field.substr(1));
  if (number.empty() || !is_digits(number) || (!is_exponent && field != "f")) return {};
  std::string exponent;
  if (is_exponent) {
    const std::string_view rest = value.source->text().substr(value.end + 1 + field.size());
    exponent = field;
    if (field.size() == 1 && (rest.starts_with('-') || rest.starts_with('+'))) {
      const std::size_t end = rest.find_first_not_of("0123456789", 1);
      exponent += rest.substr(0, end);
    }
    if (exponent.size() == 1 || !is_digits(exponent.substr(exponent.size() - 1))) return {};
  }
  return fmt::format("{}: `{}.0{}`", kDigitsAroundPoint, number, exponent);
}

// `x.sum()` and `x.shape` of other languages are `sum(x)` and `shape_of(x)`.
[[noreturn]] void fail_without_fields(TypeCall& call, const std::vector<std::string>& fields) {
  const TypeKind kind = call.args[0]->kind;
  try {
    call.fail(
        DiagnosticKind::UnknownField,
        fmt::format("a {} has no fields with names", kind == TypeKind::Tensor     ? "tensor"
                                                     : kind == TypeKind::Tuple    ? "tuple"
                                                     : kind == TypeKind::Function ? "function"
                                                                                  : "reference"));
  } catch (Failure& failure) {
    const Span value = call.arg_spans.empty() ? Span() : call.arg_spans[0];
    std::string help = kind == TypeKind::Tensor ? help_for_point(fields[0], value) : "";
    if (help.empty() && kind == TypeKind::Tensor) help = help_for_member(fields[0], value);
    if (!help.empty()) failure.diagnostics.front().note(std::move(help));
    throw;
  }
}

// The record among the arguments; null while that is unknown.
const AdtType* record_of(TypeCall& call, const std::vector<std::string>& fields) {
  const Type& record = call.args[0];
  if (record->kind == TypeKind::Var) return nullptr;
  const auto* adt = as<AdtType>(record);
  if (!adt) fail_without_fields(call, fields);
  for (const std::string& field : fields) {
    if (!has_field(*adt->def, field)) fail_without_field(call, *adt->def, field);
  }
  return adt;
}

RuleOutcome get(TypeCall& call) {
  const std::vector<std::string> fields = record_fields(call.attrs);
  const AdtType* adt = record_of(call, fields);
  if (!adt) return RuleOutcome::Stuck;
  const Type keep = call.args[0];  // unification may replace the argument's node
  for (const Constructor& constructor : adt->def->constructors)
    call.returns(field_type(*adt, constructor, *field_place(constructor, fields[0])));
  return RuleOutcome::Solved;
}

RuleOutcome with(TypeCall& call) {
  const std::vector<std::string> fields = record_fields(call.attrs);
  call.returns(call.args[0]);
  const AdtType* adt = record_of(call, fields);
  if (!adt) return RuleOutcome::Stuck;
  const Type keep = call.args[0];
  for (const Constructor& constructor : adt->def->constructors) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Type expected = field_type(*adt, constructor, *field_place(constructor, fields[i]));
      try {
        call.solver.unify(call.args[i + 1], expected);
      } catch (Failure& failure) {
        Diagnostic diagnostic(
            failure.diagnostics.front().kind,
            fmt::format("field `{}`: {}", fields[i], failure.diagnostics.front().message),
            i + 1 < call.arg_spans.size() ? call.arg_spans[i + 1] : call.span);
        if (!call.arg_spans.empty())
          diagnostic.label(call.arg_spans[0], fmt::format("`{}`", to_string(call.args[0])));
        throw Failure(std::move(diagnostic));
      }
    }
  }
  return RuleOutcome::Solved;
}

OpDef make_form(std::string name, TypeRule rule) {
  OpDef op;
  op.name = std::move(name);
  op.type_rule = std::move(rule);
  return op;
}

}  // namespace

const OpDef& record_get() {
  static const OpDef kForm = make_form("record.get", get);
  return kForm;
}
const OpDef& record_with() {
  static const OpDef kForm = make_form("record.with", with);
  return kForm;
}

const OpDef* find_record_form(std::string_view name) {
  if (name == record_get().name) return &record_get();
  return name == record_with().name ? &record_with() : nullptr;
}

bool is_record_form(const OpDef& op) { return &op == &record_get() || &op == &record_with(); }

std::vector<std::string> record_fields(const AttrsRef& attrs) {
  std::vector<std::string> names;
  const AttrValue* value = attrs ? attrs->find("fields") : nullptr;
  const AttrValue::List* list = value ? value->as_list() : nullptr;
  for (const AttrValue& name : list ? *list : AttrValue::List()) {
    if (const std::string* text = name.as_string()) names.push_back(*text);
  }
  return names;
}

AttrsRef record_attrs(const std::vector<std::string>& fields) {
  AttrValue::List list(fields.begin(), fields.end());
  return make_attrs({{"fields", AttrValue(std::move(list))}});
}

namespace {

std::optional<std::size_t> searched_place(const std::vector<std::string>& names,
                                          std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

// Where the fields of the last large record are, so that a program that reads each of ten thousand
// weights does not search them all for each. What it says is compared with the constructor, which
// may be another one that stands where the old one stood.
class FieldIndex {
 public:
  std::optional<std::size_t> place(const Constructor& constructor, std::string_view name) {
    const auto& names = constructor.field_names;
    if (of_ != &constructor) fill(constructor);
    const auto found = places_.find(std::string(name));
    if (found != places_.end() && found->second < names.size() && names[found->second] == name)
      return found->second;
    const auto place = searched_place(names, name);
    if (place) of_ = nullptr;
    return place;
  }

 private:
  void fill(const Constructor& constructor) {
    of_ = &constructor;
    places_.clear();
    for (std::size_t i = 0; i < constructor.field_names.size(); ++i)
      places_.emplace(constructor.field_names[i], i);
  }
  const Constructor* of_ = nullptr;
  std::unordered_map<std::string, std::size_t> places_;
};

constexpr std::size_t kManyFields = 32;

}  // namespace

std::optional<std::size_t> field_place(const Constructor& constructor, std::string_view name) {
  if (constructor.field_names.size() <= kManyFields)
    return searched_place(constructor.field_names, name);
  thread_local FieldIndex index;
  return index.place(constructor, name);
}

bool has_field(const TypeDef& def, std::string_view name) {
  return !def.constructors.empty() &&
         std::all_of(def.constructors.begin(), def.constructors.end(),
                     [&](const Constructor& constructor) {
                       return field_place(constructor, name).has_value();
                     });
}

TypeSubstitution arguments_of(const AdtType& adt) {
  TypeSubstitution substitution;
  for (std::size_t i = 0; i < adt.args.size() && i < adt.def->params.size(); ++i)
    bind_argument(substitution, *adt.def->params[i], adt.args[i]);
  return substitution;
}

Type field_type(const AdtType& adt, const Constructor& constructor, std::size_t place) {
  return substitute(constructor.fields[place], arguments_of(adt));
}

std::vector<Type> field_types(const AdtType& adt, const Constructor& constructor) {
  const TypeSubstitution arguments = arguments_of(adt);
  std::vector<Type> types;
  types.reserve(constructor.fields.size());
  for (const Type& field : constructor.fields) types.push_back(substitute(field, arguments));
  return types;
}

Expr expand_record_form(const OpDef& form, const std::vector<std::string>& fields,
                        const std::vector<Expr>& args, Span span) {
  const auto* adt = as<AdtType>(args[0]->type);
  RELAY_CHECK(adt, "a record form on something else");
  const bool is_with = &form == &record_with();
  // One for all: a large record's reads are mostly these.
  const PatternRef any = wildcard_pattern(span);
  std::vector<Clause> clauses;
  for (const Constructor& constructor : adt->def->constructors) {
    const std::size_t count = constructor.fields.size();
    std::vector<PatternRef> patterns(count, any);
    const auto variable_at = [&](std::size_t i) {
      VariableRef variable =
          make_variable(constructor.field_names[i], field_type(*adt, constructor, i), span);
      patterns[i] = variable_pattern(variable, span);
      return make_var(std::move(variable), span);
    };
    Expr body;
    if (is_with) {
      std::vector<Expr> values(count);
      for (std::size_t k = 0; k < fields.size(); ++k)
        values[*field_place(constructor, fields[k])] = args[1 + k];
      for (std::size_t i = 0; i < count; ++i) {
        if (!values[i]) values[i] = variable_at(i);
      }
      body = make_call(
          make_constructor_ref(&constructor, span,
                               function_type(field_types(*adt, constructor), args[0]->type)),
          std::move(values), nullptr, span, args[0]->type);
    } else {
      body = variable_at(*field_place(constructor, fields[0]));
    }
    clauses.push_back({constructor_pattern(&constructor, std::move(patterns), span), body});
  }
  const Type type = clauses[0].body->type;
  return make_match(args[0], std::move(clauses), true, span, type);
}

namespace {

// `C(_, w, _) => w`
std::optional<std::string> as_get(const Clause& clause) {
  const auto* body = as<Var>(clause.body);
  std::optional<std::string> name;
  for (std::size_t i = 0; i < clause.pattern->fields.size(); ++i) {
    const Pattern& field = *clause.pattern->fields[i];
    if (field.kind == PatternKind::Wildcard) continue;
    if (name || !body || field.kind != PatternKind::Variable || field.variable != body->variable)
      return std::nullopt;
    name = clause.pattern->constructor->field_names[i];
  }
  return name;
}

// `C(_, b) => C(e, b)`
std::optional<RecordForm> as_with(const Clause& clause) {
  const Constructor* constructor = clause.pattern->constructor;
  const auto* body = as<Call>(clause.body);
  const auto* callee = body ? as<ConstructorRef>(body->callee) : nullptr;
  if (!callee || callee->constructor != constructor) return std::nullopt;
  RecordForm form{true, {}, {}};
  std::unordered_set<const Variable*> bound;
  for (std::size_t i = 0; i < clause.pattern->fields.size(); ++i) {
    const Pattern& field = *clause.pattern->fields[i];
    if (field.kind == PatternKind::Wildcard) {
      form.places.push_back(i);
      form.fields.push_back(constructor->field_names[i]);
      continue;
    }
    const auto* kept = as<Var>(body->args[i]);
    if (field.kind != PatternKind::Variable || !kept || kept->variable != field.variable)
      return std::nullopt;
    bound.insert(field.variable.get());
  }
  if (form.places.empty()) return std::nullopt;
  for (const std::size_t place : form.places) {
    for (const VariableRef& variable : free_variables(body->args[place])) {
      if (bound.contains(variable.get())) return std::nullopt;
    }
  }
  return form;
}

}  // namespace

std::optional<RecordForm> as_record_form(const Match& match) {
  if (!match.is_complete || match.clauses.empty()) return std::nullopt;
  std::optional<std::string> name;
  for (const Clause& clause : match.clauses) {
    const Pattern& pattern = *clause.pattern;
    if (pattern.kind != PatternKind::Constructor ||
        pattern.constructor->field_names.size() != pattern.fields.size() || pattern.fields.empty())
      return std::nullopt;
    if (match.clauses.size() == 1) {
      if (std::optional<RecordForm> form = as_with(clause)) return form;
    }
    const std::optional<std::string> read = as_get(clause);
    if (!read || (name && *name != *read)) return std::nullopt;
    name = read;
  }
  const TypeDef& def = *match.clauses[0].pattern->constructor->owner;
  if (match.clauses.size() != def.constructors.size()) return std::nullopt;
  return RecordForm{false, {}, {*name}};
}

std::optional<FieldRead> as_field_read(const Match& match) {
  if (match.clauses.size() != 1) return std::nullopt;
  const Clause& clause = match.clauses[0];
  const auto* body = as<Var>(clause.body);
  const Pattern& pattern = *clause.pattern;
  if (!body || pattern.kind != PatternKind::Constructor ||
      pattern.constructor->owner->constructors.size() != 1)
    return std::nullopt;
  std::optional<FieldRead> read;
  for (std::size_t i = 0; i < pattern.fields.size(); ++i) {
    const Pattern& field = *pattern.fields[i];
    if (field.kind == PatternKind::Wildcard) continue;
    if (read || field.kind != PatternKind::Variable || field.variable != body->variable)
      return std::nullopt;
    read = FieldRead{pattern.constructor, i};
  }
  return read;
}

Expr read_field(const Expr& record, const Constructor& constructor, std::size_t place, Span span) {
  const auto* adt = as<AdtType>(record->type);
  RELAY_CHECK(adt, "a field of what is no data type");
  const std::string name = place < constructor.field_names.size() ? constructor.field_names[place]
                                                                  : std::string("field");
  const VariableRef field = make_variable(name, field_type(*adt, constructor, place));
  std::vector<PatternRef> fields(constructor.fields.size(), wildcard_pattern());
  fields[place] = variable_pattern(field);
  std::vector<Clause> clauses;
  clauses.push_back({constructor_pattern(&constructor, std::move(fields)), make_var(field)});
  return make_match(record, std::move(clauses), true, span, field->type);
}

}  // namespace relay::lang
