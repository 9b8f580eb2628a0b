#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/record.h"
#include "parser/resolver.h"

// Records: fields with names. Constructor calls and patterns become positional here; `p.w` and
// `with` become the forms of lang/record.h.
namespace relay::parser {

using lang::Diagnostic;
using lang::DiagnosticKind;

void Resolver::record_fields(const Node& node, lang::Constructor& constructor) {
  std::unordered_map<std::string_view, const Node*> names;
  for (std::size_t i = 0; i + 1 < node.count; i += 2) {
    const Node& name = *node.child(i);
    const std::string_view text = tree_.text(name);
    const auto [earlier, is_new] = names.emplace(text, &name);
    if (!is_new) {
      report(
          Diagnostic(DiagnosticKind::DuplicateDefinition,
                     fmt::format("two fields of `{}` have the name `{}`", constructor.name, text),
                     span(name))
              .label(span(*earlier->second), "the first one"));
    }
    note_field(name, true);
    constructor.field_names.emplace_back(text);
    constructor.fields.push_back(type(*node.child(i + 1)->child(0)));
  }
}

// --- `p.w`, `p with { w = e }` ---

// Of each record in sight that has these fields, one constructor.
std::vector<lang::Expr> Resolver::records_with(const std::vector<std::string>& fields, Span where) {
  std::vector<Expr> found;
  const auto add = [&](const lang::TypeDef& def) {
    const bool has_all = std::all_of(fields.begin(), fields.end(), [&](const std::string& field) {
      return lang::has_field(def, field);
    });
    if (has_all) found.push_back(lang::make_constructor_ref(&def.constructors.front(), where));
  };
  std::unordered_set<std::string_view> own;
  for (const lang::TypeDef* type : own_types_) {
    own.insert(type->name);
    add(*type);
  }
  for (const lang::TypeDef* type : scope_.types()) {
    if (!own.contains(type->name)) add(*type);
  }
  return found;
}

lang::Expr Resolver::field(const Node& name, Expr record, Span where) {
  const std::vector<std::string> fields{std::string(tree_.text(name))};
  note_field(name);
  std::vector<Expr> args{std::move(record)};
  for (Expr& candidate : records_with(fields, where)) args.push_back(std::move(candidate));
  return lang::make_call(lang::make_operator(&lang::record_get(), span(name)), std::move(args),
                         lang::record_attrs(fields), where);
}

// `a with { [i] = v, [j, k] = w }`, one element after the other.
lang::Expr Resolver::with_elements(const Node& node) {
  Expr tensor = expr(*node.child(0));
  for (const Node* attr : node.children().subspan(1)) {
    const Node& key = *attr->child(0);
    if (key.kind != Syntax::Indices) {
      report(Kind::SyntaxError, "`with` gives fields of a record or elements of a tensor, not both",
             span(key));
      return nothing(node);
    }
    std::vector<Expr> indices;
    for (const Node* index : key.children()) indices.push_back(expr(*index));
    tensor = lang::make_scatter_reduce(lang::ReduceOp::Set, std::move(tensor), {},
                                       std::move(indices), expr(*attr->child(1)), span(node));
  }
  return tensor;
}

lang::Expr Resolver::with(const Node& node) {
  const bool has_elements =
      std::any_of(node.children().begin() + 1, node.children().end(),
                  [](const Node* attr) { return attr->child(0)->kind == Syntax::Indices; });
  if (has_elements) return with_elements(node);
  std::vector<Expr> args{expr(*node.child(0))};
  std::vector<std::string> fields;
  std::vector<const Node*> keys;
  for (const Node* attr : node.children().subspan(1)) {
    const Node& key = *attr->child(0);
    std::string name(tree_.text(key));
    const auto earlier = std::find(fields.begin(), fields.end(), name);
    if (earlier != fields.end()) {
      const Node& first = *keys[static_cast<std::size_t>(earlier - fields.begin())];
      report(Diagnostic(DiagnosticKind::DuplicateDefinition,
                        fmt::format("field `{}` is given twice", name), span(key))
                 .label(span(first), "given here too"));
    }
    note_field(key);
    fields.push_back(std::move(name));
    keys.push_back(&key);
    args.push_back(expr(*attr->child(1)));
  }
  if (fields.empty()) {
    report(Kind::SyntaxError, "`with` names no field and no element", span(node));
    return std::move(args.front());
  }
  for (Expr& candidate : records_with(fields, span(node))) args.push_back(std::move(candidate));
  return lang::make_call(lang::make_operator(&lang::record_with(), span(*keys.front())),
                         std::move(args), lang::record_attrs(fields), span(node));
}

// The forms as they print before inference: `record.get(p, Params, fields=["w"])`.
lang::Expr Resolver::printed_form(const lang::OpDef& form, std::span<const Node* const> nodes,
                                  Span where) {
  std::vector<Expr> args;
  std::vector<std::string> fields;
  for (const Node* node : nodes) {
    if (node->kind == Syntax::Attr) {
      fields = lang::record_fields(lang::make_attrs({attribute(*node)}));
    } else {
      args.push_back(expr(*node));
    }
  }
  const bool is_with = &form == &lang::record_with();
  const std::size_t values = is_with ? 1 + fields.size() : 1;
  const bool fits = !fields.empty() && (is_with || fields.size() == 1) && args.size() >= values;
  const auto is_constructor = [](const Expr& arg) {
    return arg->kind == lang::ExprKind::ConstructorRef;
  };
  if (!fits || !std::all_of(args.begin() + static_cast<std::ptrdiff_t>(values), args.end(),
                            is_constructor)) {
    Diagnostic diagnostic(DiagnosticKind::SyntaxError,
                          fmt::format("`{}` is not applied as it prints", form.name), where);
    diagnostic.note("help: write `p.field` or `p with { field = value }`");
    report(std::move(diagnostic));
    return lang::make_tuple({}, where);
  }
  return lang::make_call(lang::make_operator(&form, where), std::move(args),
                         lang::record_attrs(fields), where);
}

// --- `Params(w = e)`, as an expression and as a pattern ---

// The place of the field, or nothing with an error reported.
std::optional<std::size_t> Resolver::place_of_field(const lang::Constructor& constructor,
                                                    const Node& name) {
  const std::string_view text = tree_.text(name);
  const std::optional<std::size_t> place = lang::field_place(constructor, text);
  if (place) {
    note_field(name);
    return place;
  }
  const auto& names = constructor.field_names;
  Diagnostic diagnostic(DiagnosticKind::UnknownField,
                        fmt::format("`{}` has no field `{}`", constructor.name, text), span(name));
  const std::vector<std::string> closest = lang::closest_names(text, names);
  if (names.empty()) {
    diagnostic.note(fmt::format("note: the fields of `{}` have no names", constructor.name));
  } else if (!closest.empty()) {
    diagnostic.note(fmt::format("help: did you mean `{}`?", closest.front()));
  } else {
    diagnostic.note(fmt::format("note: its fields are `{}`", fmt::join(names, "`, `")));
  }
  report(std::move(diagnostic));
  return std::nullopt;
}

namespace {

// What stands at each place of a constructor, and where it came from.
template <class T>
struct Places {
  std::vector<T> values;
  std::vector<lang::Span> spans;
  explicit Places(std::size_t count) : values(count), spans(count) {}

  // Puts a value at `place`; the error if there is one already.
  std::optional<Diagnostic> put(std::size_t place, T value, lang::Span where,
                                const std::string& name) {
    if (values[place]) {
      return Diagnostic(DiagnosticKind::DuplicateDefinition,
                        fmt::format("field `{}` is given twice", name), where)
          .label(spans[place], "given here too");
    }
    values[place] = std::move(value);
    spans[place] = where;
    return std::nullopt;
  }
};

}  // namespace

lang::Expr Resolver::record_call(const Expr& callee, std::vector<Expr> before,
                                 std::span<const Node* const> nodes, Span where) {
  const lang::Constructor& constructor = *lang::cast<lang::ConstructorRef>(callee).constructor;
  const std::size_t count = constructor.fields.size();
  Places<Expr> places(count);
  std::size_t next = 0;
  bool is_named = false;
  bool failed = false;
  const auto positional = [&](Expr value, Span at) {
    if (next < count) {
      places.put(next++, std::move(value), at, "");
      return;
    }
    ++next;
  };
  for (Expr& value : before) positional(std::move(value), where);
  for (const Node* node : nodes) {
    if (node->kind != Syntax::Attr) {
      if (is_named)
        report(Kind::SyntaxError, "an argument stands after the named fields", span(*node));
      failed |= is_named;
      positional(expr(*node), span(*node));
      continue;
    }
    is_named = true;
    const Node& key = *node->child(0);
    const std::optional<std::size_t> place = place_of_field(constructor, key);
    Expr value = expr(*node->child(1));
    failed |= !place;
    if (!place) continue;
    if (auto twice =
            places.put(*place, std::move(value), span(key), constructor.field_names[*place])) {
      report(std::move(*twice));
      failed = true;
    }
  }
  if (failed) return lang::make_tuple({}, where);
  if (next > count) {
    report(
        Diagnostic(
            DiagnosticKind::WrongArity,
            fmt::format("constructor `{}` has {} fields, found {} arguments before the named ones",
                        constructor.name, count, next),
            where)
            .label(constructor.span, "defined here"));
    return lang::make_tuple({}, where);
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < count; ++i) {
    if (!places.values[i]) missing.push_back(constructor.field_names[i]);
  }
  if (!missing.empty()) {
    report(Diagnostic(DiagnosticKind::MissingField,
                      fmt::format("`{}` needs a value for `{}`", constructor.name,
                                  fmt::join(missing, "` and for `")),
                      where)
               .label(constructor.span, "defined here"));
    return lang::make_tuple({}, where);
  }
  return lang::make_call(callee, std::move(places.values), nullptr, where);
}

// `P(x, w = y)` and `P { w, b = y }`; fields that are not mentioned may be anything.
lang::PatternRef Resolver::record_pattern(const Node& node, const lang::Constructor& constructor,
                                          BoundNames& bound) {
  const std::size_t count = constructor.fields.size();
  Places<lang::PatternRef> places(count);
  std::size_t next = 0;
  for (const Node* child : node.children().subspan(1)) {
    if (child->kind != Syntax::FieldPattern && node.kind != Syntax::RecordPattern) {
      lang::PatternRef field = pattern(*child, bound);
      if (next < count) {
        places.put(next++, std::move(field), span(*child), "");
      } else {
        report(Diagnostic(DiagnosticKind::WrongArity,
                          fmt::format("constructor `{}` has {} fields", constructor.name, count),
                          span(*child))
                   .label(constructor.span, "defined here"));
      }
      continue;
    }
    const bool is_short = child->kind == Syntax::Name;  // `w` for `w = w`
    const Node& key = is_short ? *child : *child->child(0);
    const std::optional<std::size_t> place = place_of_field(constructor, key);
    lang::PatternRef field = is_short ? variable_pattern(key, nullptr, span(key), bound)
                                      : pattern(*child->child(1), bound);
    if (!place) continue;
    if (auto twice =
            places.put(*place, std::move(field), span(key), constructor.field_names[*place]))
      report(std::move(*twice));
  }
  for (lang::PatternRef& field : places.values) {
    if (!field) field = lang::wildcard_pattern(span(node));
  }
  return lang::constructor_pattern(&constructor, std::move(places.values), span(node));
}

}  // namespace relay::parser
