#include "repl/completion/sources.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "lang/derivative.h"
#include "lang/letters.h"
#include "lang/op.h"
#include "lang/primitive.h"
#include "lang/record.h"
#include "lang/schedule.h"
#include "lang/tree_form.h"
#include "parser/scan.h"
#include "repl/completion/probe.h"
#include "repl/doc_forms.h"
#include "repl/let_function.h"

namespace relay::repl::completion {

namespace {

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// Can it be written?
bool is_written(std::string_view name) {
  return lang::letter_length(name) != 0 && std::all_of(name.begin(), name.end(), [](char c) {
           return lang::is_word_byte(c) || c == '.';
         });
}

struct Word {
  std::string_view text;
  std::string_view detail;
};

constexpr std::array kValueWords = {
    Word{"if", "if c { a } else { b }"},
    Word{"match", "match e { pattern => value }"},
    Word{"for", "for i, j { e }"},
    Word{"fn", "fn (x) { e }"},
    Word{"scatter", "scatter sum (t) i { [k] => e }"},
    Word{"ref", "ref(e)"},
    Word{"ref_read", "ref_read(r)"},
    Word{"ref_write", "ref_write(r, e)"},
};
constexpr std::array kItemWords = {
    Word{"def", "def f(x) { e }"},
    Word{"type", "type T { A, B(int32) }"},
    Word{"import", "import \"file.relay\""},
    Word{"extern", "extern type T"},
    Word{"schedule", "schedule f { tile i j 4 16; vectorize j_i }"},
};

}  // namespace

void add_locals(const Place& place, std::vector<Name>& names) {
  for (auto binder = place.binders.rbegin(); binder != place.binders.rend(); ++binder) {
    const Group group = binder->is_global ? Group::Own : Group::Local;
    const std::string detail = binder->kind == Binder::Kind::Index ? "int64" : "";
    for (const std::string& name : binder->names) names.push_back({name, group, detail});
    for (const std::string& dim : binder->dims) names.push_back({dim, group, "a dimension"});
  }
  for (const std::string& constructor : place.constructors)
    names.push_back({constructor, Group::Own});
}

std::vector<Name> names_of_steps(const Place& place) {
  std::vector<Name> names;
  // What the text behind the place binds stands behind the schedule's.
  const auto schedule =
      std::find_if(place.binders.rbegin(), place.binders.rend(),
                   [](const Binder& binder) { return binder.kind == Binder::Kind::Schedule; });
  if (schedule == place.binders.rend()) return names;
  for (const std::string& name : schedule->names)
    names.push_back({name, Group::Local, std::string(lang::step_form(name))});
  return names;
}

void add_globals(const State& state, std::string_view typed, std::vector<Name>& names) {
  const auto add = [&](const std::string& name, const lang::Definition& definition) {
    const bool is_prelude = definition.origin == lang::Origin::Prelude;
    const bool is_offered = definition.instance_of.empty() && match(typed, name) != Match::None &&
                            is_written(name) &&
                            owner_of_gradient(state.module, definition.name).empty();
    if (!is_offered) return;
    names.push_back({name, is_prelude ? Group::Prelude : Group::Own, {}, false, true});
  };
  for (const auto& [name, full_name] : state.module.aliases()) {
    if (const lang::Definition* definition = state.module.find(full_name)) add(name, *definition);
  }
  for (const lang::Definition* definition : state.module.definitions())
    add(definition->name, *definition);
  add_constructors(state, typed, names);
}

void add_constructors(const State& state, std::string_view typed, std::vector<Name>& names) {
  for (const lang::TypeDef* type : state.module.types()) {
    const bool is_prelude = type->origin == lang::Origin::Prelude;
    for (const lang::Constructor& constructor : type->constructors) {
      if (match(typed, constructor.name) == Match::None || !is_written(constructor.name)) continue;
      names.push_back(
          {constructor.name, is_prelude ? Group::Prelude : Group::Own, {}, false, true});
    }
  }
}

void add_operators(std::string_view typed, std::vector<Name>& names) {
  std::string space;  // offered last
  std::size_t count = 0;
  const auto add_space = [&] {
    if (count > 0) names.push_back({space, Group::Operator, fmt::format("{} operators", count)});
    count = 0;
  };
  for (const lang::OpDef* op : lang::OpRegistry::instance().all()) {
    if (op->is_step || !is_written(op->name)) continue;
    const std::size_t dot = op->name.find('.');
    const bool names_space = dot != std::string::npos && typed.find('.') == std::string_view::npos;
    if (names_space) {
      const std::string head = op->name.substr(0, dot + 1);
      if (head != space) {
        add_space();
        space = head;
      }
      ++count;
      if (typed.empty() || std::string_view(head).starts_with(typed)) continue;
    }
    if (match(typed, op->name) == Match::None) continue;
    names.push_back({op->name, Group::Operator, first_line(op->doc)});
  }
  add_space();
}

void add_forms(std::vector<Name>& names) {
  for (const std::string& name : lang::derivative_names()) {
    const auto mode = lang::parse_diff_mode(name);
    names.push_back({name, Group::Operator, mode ? first_line(lang::doc_of(*mode)) : ""});
  }
  for (const std::string& name : lang::tree_form_names()) {
    const lang::OpDef* form = lang::find_tree_form(name);
    names.push_back({name, Group::Operator, form ? first_line(form->doc) : ""});
  }
  names.push_back({"dim", Group::Operator, "a dimension as an int64 scalar"});
  names.push_back({"True", Group::Word, "bool"});
  names.push_back({"False", Group::Word, "bool"});
  for (const std::string_view number : {"inf", "nan", "pi"})
    names.push_back({std::string(number), Group::Word, "a float"});
}

void add_words(const Place& place, std::vector<Name>& names) {
  const auto add = [&](const Word& word) {
    names.push_back({std::string(word.text), Group::Word, std::string(word.detail)});
  };
  if (place.kind == PlaceKind::After) {
    add({"with", "p with { x = e }"});
    add({"else", "if c { a } else { b }"});
    add({"as", "import \"file.relay\" as f"});
    return;
  }
  for (const Word& word : kValueWords) add(word);
  for (const std::string_view fold :
       {"sum", "prod", "max", "min", "all", "any", "argmax", "argmin", "dot"})
    names.push_back({std::string(fold), Group::Word, fmt::format("{} k {{ e }}", fold)});
  if (place.in_block) add({"let", "let x = e"});
  if (place.kind != PlaceKind::Item) return;
  for (const Word& word : kItemWords) add(word);
}

void add_dtypes(std::string_view quote, std::vector<Name>& names) {
  for (int i = 0; i < lang::kDTypeCount; ++i) {
    const std::string_view name = lang::name_of(static_cast<lang::DType>(i));
    names.push_back({fmt::format("{0}{1}{0}", quote, name), Group::Word, "a dtype"});
  }
}

void add_type_params(const Place& place, std::vector<Name>& names) {
  for (auto binder = place.binders.rbegin(); binder != place.binders.rend(); ++binder) {
    for (const std::string& dim : binder->dims)
      names.push_back({dim, Group::Local, "a type parameter"});
  }
  for (const std::string& param : place.type_params)
    names.push_back({param, Group::Local, "a type parameter"});
}

void add_types(const State& state, const Place& place, std::vector<Name>& names) {
  add_type_params(place, names);
  for (const std::string& type : place.types) names.push_back({type, Group::Own, "a data type"});
  if (place.kind == PlaceKind::Dim) return;
  for (const lang::TypeDef* type : state.module.types()) {
    if (!is_written(type->name)) continue;
    const bool is_prelude = type->origin == lang::Origin::Prelude;
    const std::string detail = type->doc.empty() ? "a data type" : first_line(type->doc);
    names.push_back({type->name, is_prelude ? Group::Prelude : Group::Own, detail});
  }
  add_dtypes("", names);
  names.push_back({"Tensor", Group::Word, "Tensor[(n, m), float32]"});
  names.push_back({"fn", Group::Word, "fn (A) -> B"});
  names.push_back({"ref", Group::Word, "ref(A)"});
}

void add_namespaces(std::vector<Name>& names) {
  std::set<std::string> spaces;
  for (const Name& name : names) {
    const std::size_t dot = name.text.find('.');
    const bool is_inside = dot != std::string::npos && dot + 1 < name.text.size();
    if (is_inside && name.group == Group::Own) spaces.insert(name.text.substr(0, dot + 1));
  }
  for (const std::string& space : spaces) names.push_back({space, Group::Own, "names"});
}

void add_all_fields(const State& state, const Place& place, std::vector<Name>& names) {
  for (const std::string& field : place.fields)
    names.push_back({field, Group::Attribute, "a field"});
  for (const lang::TypeDef* type : state.module.types()) {
    if (type->constructors.empty()) continue;
    for (const std::string& field : type->constructors.front().field_names) {
      if (lang::has_field(*type, field))
        names.push_back({field, Group::Attribute, fmt::format("of {}", type->name)});
    }
  }
}

void add_members(const lang::Type& type, std::vector<Name>& names) {
  if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      names.push_back({std::to_string(i), Group::Attribute, shown(tuple->fields[i])});
  }
  const auto* adt = lang::as<lang::AdtType>(type);
  if (!adt || adt->def->constructors.empty()) return;
  const lang::Constructor& first = adt->def->constructors.front();
  for (std::size_t i = 0; i < first.field_names.size(); ++i) {
    if (lang::has_field(*adt->def, first.field_names[i]))
      names.push_back(
          {first.field_names[i], Group::Attribute, shown(lang::field_type(*adt, first, i))});
  }
}

std::string detail_of(const State& state, const std::string& name) {
  if (const lang::Definition* definition = state.module.lookup(name)) {
    if (definition->value_type) return shown(definition->value_type);
    const auto scheme = state.checker.scheme(definition->name);
    return scheme ? to_string(*scheme) : std::string();
  }
  if (const lang::Constructor* constructor = state.module.find_constructor(name)) {
    std::vector<lang::Type> args;
    for (const lang::TypeVarRef& param : constructor->owner->params)
      args.push_back(param->kind == lang::VarKind::Dim
                         ? lang::dimension_type(lang::Dim::variable(param))
                         : lang::var_type(param));
    const lang::Type whole = lang::adt_type(constructor->owner, std::move(args));
    if (constructor->fields.empty()) return lang::to_string(whole);
    return lang::to_string(lang::function_type(constructor->fields, whole));
  }
  return {};
}

}  // namespace relay::repl::completion
