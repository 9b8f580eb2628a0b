#include "repl/completion/complete.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "repl/completion/arguments.h"
#include "repl/completion/commands.h"
#include "repl/completion/files.h"
#include "repl/completion/latex.h"
#include "repl/completion/names.h"
#include "repl/completion/place.h"
#include "repl/completion/probe.h"
#include "repl/completion/sources.h"

namespace relay::repl::completion {

namespace {

constexpr std::size_t kMostSchemes = 1000;  // of functions, compared with what is wanted

// Finds what a place may become.
class Completer {
 public:
  Completer(const State& state, std::string_view before, std::string_view after)
      : state_(state), before_(before), place_(place_at_end(before, after)) {}

  Completions completions() {
    begin_ = place_.begin;
    std::vector<Name> names = candidates();
    names = matching(std::move(names), typed());
    find_types(names);
    return made(std::move(names));
  }

  // `begin`: of what has been typed of one of the names, in the text.
  Completions of_names(std::size_t begin, std::vector<Name> names, bool are_matched = false) {
    begin_ = begin;
    if (!are_matched) names = matching(std::move(names), typed());
    find_details(names);
    return made(std::move(names));
  }

 private:
  std::string_view typed() const { return before_.substr(begin_); }

  std::vector<Name> candidates() {
    std::vector<Name> names;
    switch (place_.kind) {
      case PlaceKind::Nothing:
        break;
      case PlaceKind::After:
        add_words(place_, names);
        break;
      case PlaceKind::Value:
      case PlaceKind::Item:
        add_values(names);
        break;
      case PlaceKind::Type:
      case PlaceKind::Dim:
        add_types(state_, place_, names);
        break;
      case PlaceKind::DType:
        add_type_params(place_, names);
        add_dtypes("", names);
        break;
      case PlaceKind::Pattern:
        for (const std::string& name : place_.constructors) names.push_back({name, Group::Own});
        add_constructors(state_, typed(), names);
        names.push_back({"True", Group::Word, "bool"});
        names.push_back({"False", Group::Word, "bool"});
        break;
      case PlaceKind::Step:
        names = names_of_steps(place_);
        break;
      case PlaceKind::Member:
        add_behind_dot(names);
        break;
      case PlaceKind::FieldName:
        add_fields_of(place_.head, names);
        for (Name& name : names) name.text += " = ";
        break;
      case PlaceKind::String:
        add_in_string(names);
        break;
      case PlaceKind::ImportName:
        add_names_of_file(state_, unquoted(place_.path), names);
        break;
    }
    return names;
  }

  static std::string unquoted(std::string_view text) {
    if (text.size() < 2) return {};
    return std::string(text.substr(1, text.size() - 2));
  }

  void add_values(std::vector<Name>& names) {
    if (place_.call) {
      if (!place_.call->attribute.empty()) {
        add_attribute_values(*place_.call, "\"", false, names);
      } else if (place_.call->at_start) {
        add_attributes(place_.signatures, *place_.call, names);
        add_attributes(state_, *place_.call, names);
        for (const ImportedNames& import : place_.imports)
          add_attributes(names_of_file(state_, import.path).signatures, *place_.call, names);
      }
    }
    add_locals(place_, names);
    add_imported(state_, place_.imports, names);
    add_globals(state_, typed(), names);
    add_operators(typed(), names);
    add_forms(names);
    add_words(place_, names);
    if (place_.call || place_.in_params) add_dtypes("", names);
    add_namespaces(names);
  }

  void add_in_string(std::vector<Name>& names) {
    if (place_.in_import || (place_.call && takes_file(*place_.call))) {
      const std::string_view path = typed();
      if (place_.in_import) {
        add_imports(state_, path, names);
      } else {
        add_files(state_, path, "", names);
      }
      begin_ += begin_of_last_part(path);
    } else if (place_.call) {
      add_attribute_values(*place_.call, "", true, names);
    }
  }

  // Is a name that of a value, whose fields stand behind a dot?
  bool is_value(const std::string& name) const {
    for (const Binder& binder : place_.binders) {
      const bool binds =
          std::find(binder.names.begin(), binder.names.end(), name) != binder.names.end();
      if (binds) return true;
    }
    const lang::Definition* definition = state_.module.lookup(name);
    return definition && !definition->function;
  }

  void add_behind_dot(std::vector<Name>& names) {
    const std::size_t before_dot = begin_ - place_.head.size() - 1;
    const std::string head = place_.head.substr(0, place_.head.find('.'));
    const bool is_name = head.find_first_of("()[] ") == std::string::npos;
    if (!is_name) return add_fields_of(place_.head, names);
    if (is_value(head)) {
      add_fields_of(place_.head, names);
      return add_names_in(place_.head + ".", names);
    }
    // A namespace: the whole dotted name is completed.
    const bool in_one_piece =
        begin_ > place_.head.size() &&
        before_.substr(before_dot, place_.head.size() + 1) == place_.head + ".";
    if (!in_one_piece) return;
    begin_ = before_dot;
    add_dotted(names);
    const std::string space = place_.head + ".";
    std::erase_if(names, [&](const Name& name) { return !name.text.starts_with(space); });
  }

  void add_dotted(std::vector<Name>& names) {
    add_locals(place_, names);
    add_imported(state_, place_.imports, names);
    add_globals(state_, typed(), names);
    add_operators(typed(), names);
  }

  // `twice` for a function `p.twice`, where `p` is a value, too.
  void add_names_in(const std::string& space, std::vector<Name>& names) {
    std::vector<Name> all;
    add_locals(place_, all);
    add_imported(state_, place_.imports, all);
    add_globals(state_, "", all);
    add_operators(space, all);
    for (Name& name : all) {
      if (!name.text.starts_with(space)) continue;
      name.text.erase(0, space.size());
      name.is_global = false;
      names.push_back(std::move(name));
    }
  }

  void add_fields_of(const std::string& record, std::vector<Name>& names) {
    const lang::Type type = types_at(state_, place_.binders, {record}).front();
    if (!type || type->kind == lang::TypeKind::Var) {
      add_all_fields(state_, place_, names);
      for (const ImportedNames& import : place_.imports) {
        for (const std::string& field : names_of_file(state_, import.path).fields)
          names.push_back({field, Group::Attribute, "of " + import.path});
      }
      return;
    }
    add_members(type, names);
  }

  // --- Types ---

  // Of the locals that are offered, and of what is wanted: one inference.
  void find_types(std::vector<Name>& names) {
    if (place_.kind != PlaceKind::Value && place_.kind != PlaceKind::Item) {
      find_details(names);
      return;
    }
    std::vector<std::string> locals;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool is_local = names[i].group == Group::Local || names[i].group == Group::Own;
      if (!is_local || names[i].is_global || locals.size() >= kMostDetails) continue;
      if (!is_bound(names[i].text)) continue;
      locals.push_back(names[i].text);
      places.push_back(i);
    }
    const auto& call = place_.call;
    const bool is_argument = call && call->attribute.empty();
    const bool is_local_call = is_argument && is_value(call->callee) && is_bound(call->callee);
    std::optional<std::string> rest;
    if (is_local_call) rest = call->callee;
    if (is_argument && !is_local_call) rest = function_of_the_rest(state_, *call);
    if (rest) locals.push_back(*rest);
    std::vector<lang::Type> types = types_at(state_, place_.binders, locals);
    lang::Type wanted;
    if (rest) {
      wanted = parameter(types.back(),
                         is_local_call ? call->before.size() + (call->is_piped ? 1 : 0) : 0);
      types.pop_back();
    }
    std::map<std::string, lang::Type> types_of_locals;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i] && names[places[i]].detail.empty()) names[places[i]].detail = shown(types[i]);
      types_of_locals[names[places[i]].text] = types[i];
    }
    if (wanted && wanted->kind != lang::TypeKind::Var) prefer(wanted, types_of_locals, names);
    find_details(names);
  }

  bool is_bound(const std::string& name) const {
    for (const Binder& binder : place_.binders) {
      const bool is_written = binder.kind != Binder::Kind::Global || !binder.text.empty();
      if (is_written &&
          std::find(binder.names.begin(), binder.names.end(), name) != binder.names.end())
        return true;
    }
    return false;
  }

  static lang::Type parameter(const lang::Type& type, std::size_t index) {
    const auto* function = lang::as<lang::FunctionType>(type);
    return function && index < function->params.size() ? function->params[index] : nullptr;
  }

  // Those whose type may be `wanted` come first.
  void prefer(const lang::Type& wanted, const std::map<std::string, lang::Type>& locals,
              std::vector<Name>& names) {
    std::size_t schemes = 0;
    for (Name& name : names) {
      lang::Type type;
      if (name.is_global) {
        type = type_of_global(name, schemes);
      } else if (const auto found = locals.find(name.text); found != locals.end()) {
        type = found->second;
      }
      if (type && type->kind != lang::TypeKind::Var) name.fits = may_agree(wanted, type);
    }
    std::stable_sort(names.begin(), names.end(), [](const Name& a, const Name& b) {
      return (a.fits || a.group == Group::Attribute) > (b.fits || b.group == Group::Attribute);
    });
  }

  // Of what the session has defined; inference of the prelude would take too long.
  lang::Type type_of_global(const Name& name, std::size_t& schemes) const {
    if (const lang::Definition* definition = state_.module.lookup(name.text)) {
      if (definition->value_type) return definition->value_type;
      if (name.group != Group::Own || ++schemes > kMostSchemes) return nullptr;
      const auto scheme = state_.checker.scheme(definition->name);
      return scheme ? scheme->type : nullptr;
    }
    const lang::Constructor* constructor = state_.module.find_constructor(name.text);
    if (!constructor) return nullptr;
    std::vector<lang::Type> open(constructor->owner->params.size());
    for (std::size_t i = 0; i < open.size(); ++i) {
      const lang::TypeVarRef& param = constructor->owner->params[i];
      open[i] = param->kind == lang::VarKind::Dim ? lang::dimension_type(lang::Dim::variable(param))
                                                  : lang::var_type(param);
    }
    const lang::Type whole = lang::adt_type(constructor->owner, std::move(open));
    if (constructor->fields.empty()) return whole;
    return lang::function_type(constructor->fields, whole);
  }

  void find_details(std::vector<Name>& names) {
    for (std::size_t i = 0; i < std::min(names.size(), kMostDetails); ++i) {
      if (names[i].is_global && names[i].detail.empty())
        names[i].detail = detail_of(state_, names[i].text);
    }
  }

  Completions made(std::vector<Name> names) const {
    Completions result;
    result.begin = begin_;
    result.end = before_.size();
    for (Name& name : names) {
      if (result.candidates.size() == kMostCandidates) break;
      result.candidates.push_back({std::move(name.text), std::move(name.detail)});
    }
    return result;
  }

  const State& state_;
  std::string_view before_;
  Place place_;
  std::size_t begin_ = 0;
};

}  // namespace

Completions complete(const State& state, std::string_view text, std::size_t cursor) {
  cursor = std::min(cursor, text.size());
  const std::string_view before = text.substr(0, cursor);
  const std::string_view after = text.substr(cursor);
  if (auto latex = latex_at_end(before))
    return Completer(state, before, {}).of_names(latex->begin, std::move(latex->names), true);
  if (auto command = command_at_end(state, before)) {
    if (!command->is_expression)
      return Completer(state, before, {}).of_names(command->begin, std::move(command->names));
    const std::size_t begin = command->begin;
    Completions result = complete(state, text.substr(begin), cursor - begin);
    result.begin += begin;
    result.end += begin;
    return result;
  }
  return Completer(state, before, after).completions();
}

}  // namespace relay::repl::completion
