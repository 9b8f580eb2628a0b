#include "repl/made_program.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>

#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/passes.h"

namespace relay::repl {

using lang::as;
using lang::Expr;
using lang::Type;

namespace {

// Without the numbers that make the names of passes unique.
std::string plain(const std::string& name) {
  std::string result;
  std::size_t at = 0;
  while (at < name.size()) {
    std::size_t end = at + 1;
    if (name[at] == '_') {
      while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end]))) ++end;
      if (end > at + 1 && (end == name.size() || name[end] == '_')) {
        at = end;
        continue;
      }
      end = at + 1;
    }
    result.append(name, at, end - at);
    at = end;
  }
  return result;
}

std::string camel(const std::string& name) {
  std::string result;
  bool starts = true;
  for (const char c : name) {
    if (c == '_' || c == '.') {
      starts = true;
      continue;
    }
    result += starts ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    starts = false;
  }
  return result;
}

class Collector final {
 public:
  Collector(bool is_whole, const lang::Module& module, Pipeline& pipeline)
      : is_whole_(is_whole), module_(module), pipeline_(pipeline) {}

  MadeProgram run(const Expr& expr) {
    made_.result = renamed(expr);
    return std::move(made_);
  }

  MadeProgram run(const std::vector<MadeFunction>& functions) {
    for (const MadeFunction& each : functions) {
      ++taken_[each.name];
      if (each.meant) {
        changed_.emplace(each.name, each.meant);
      } else {
        kept_.insert(each.name);
      }
    }
    for (const MadeFunction& each : functions) {
      Expr body = renamed(each.function);
      made_.functions.emplace_back(each.name, std::move(body));
    }
    return std::move(made_);
  }

 private:
  // Everything that is made under its new name.
  class Renamer final : public lang::Rewriter {
   public:
    explicit Renamer(Collector& owner) : owner_(owner) {}

   protected:
    Type rewrite_type(const Type& type) override { return owner_.renamed(type); }
    Expr post(const Expr& expr) override { return owner_.renamed_node(expr); }

   private:
    Collector& owner_;
  };

  Expr renamed(const Expr& expr) { return Renamer(*this).rewrite(expr); }

  Expr renamed_node(const Expr& expr) {
    if (const auto* global = as<lang::GlobalVar>(expr)) {
      const std::string* name = function(*global);
      return name ? lang::make_global_var(*name, expr->span, expr->type) : expr;
    }
    if (const auto* constructor = as<lang::ConstructorRef>(expr)) {
      const auto* other = renamed(constructor->constructor);
      return other == constructor->constructor
                 ? expr
                 : lang::make_constructor_ref(other, expr->span, expr->type);
    }
    if (const auto* match = as<lang::Match>(expr)) {
      std::vector<lang::Clause> clauses;
      for (const auto& clause : match->clauses)
        clauses.push_back({renamed(clause.pattern), clause.body});
      return lang::make_match(match->scrutinee, std::move(clauses), match->is_complete, expr->span,
                              expr->type);
    }
    // The marks of passes mean nothing to who reads.
    return expr->kind == lang::ExprKind::Function ? lang::without_marks(expr) : expr;
  }

  lang::PatternRef renamed(const lang::PatternRef& pattern) {
    if (pattern->fields.empty() && pattern->kind != lang::PatternKind::Constructor) return pattern;
    std::vector<lang::PatternRef> fields;
    for (const auto& field : pattern->fields) fields.push_back(renamed(field));
    return pattern->kind == lang::PatternKind::Constructor
               ? lang::constructor_pattern(renamed(pattern->constructor), std::move(fields),
                                           pattern->span)
               : lang::tuple_pattern(std::move(fields), pattern->span);
  }

  // --- Types ---

  bool is_shown(const lang::TypeDef& def) const {
    const bool is_known = module_.find_type(def.name) == &def;
    return !is_known || (is_whole_ && !def.is_extern);
  }

  const lang::TypeDef* renamed(const lang::TypeDef* def) {
    if (!is_shown(*def)) return def;
    const auto [place, is_new] = types_.try_emplace(def, nullptr);
    if (!is_new) return place->second;
    lang::TypeDefRef copy(new lang::TypeDef);
    place->second = copy.get();
    const bool is_made = !def->span;
    copy->name = is_made ? unique(camel(plain(def->name))) : def->name;
    copy->params = def->params;
    copy->span = def->span;
    for (const lang::Constructor& constructor : def->constructors) {
      lang::Constructor other = constructor;
      if (is_made) {
        const bool has_prefix = constructor.name.starts_with(def->name + "_");
        std::string own =
            has_prefix ? camel(constructor.name.substr(def->name.size() + 1)) : constructor.name;
        const bool is_only = def->constructors.size() == 1;
        if (!own.empty() && std::isalpha(static_cast<unsigned char>(own[0])) && own.back() == '1') {
          const std::string second = constructor.name.substr(0, constructor.name.size() - 1) + "2";
          const bool has_second =
              std::any_of(def->constructors.begin(), def->constructors.end(),
                          [&](const lang::Constructor& each) { return each.name == second; });
          if (!has_second) own.pop_back();
        }
        other.name = unique(copy->name + (is_only ? "" : own), is_only);
      }
      other.owner = copy.get();
      copy->constructors.push_back(std::move(other));
    }
    for (std::size_t i = 0; i < copy->constructors.size(); ++i) {
      for (Type& field : copy->constructors[i].fields) field = renamed(field);
    }
    made_.types.push_back(std::move(copy));
    return types_.at(def);
  }

  const lang::Constructor* renamed(const lang::Constructor* constructor) {
    const lang::TypeDef* def = renamed(constructor->owner);
    return def == constructor->owner ? constructor : &def->constructors[constructor->tag];
  }

  Type renamed(const Type& type) {
    if (!type) return type;
    const auto all = [this](const std::vector<Type>& types) {
      std::vector<Type> result;
      for (const Type& each : types) result.push_back(renamed(each));
      return result;
    };
    if (const auto* tuple = as<lang::TupleType>(type)) {
      std::vector<Type> fields = all(tuple->fields);
      return fields == tuple->fields ? type : lang::tuple_type(std::move(fields));
    }
    if (const auto* function = as<lang::FunctionType>(type)) {
      std::vector<Type> params = all(function->params);
      Type result = renamed(function->result);
      if (params == function->params && result == function->result) return type;
      return lang::function_type(std::move(params), std::move(result), function->quantified);
    }
    if (const auto* adt = as<lang::AdtType>(type)) {
      const lang::TypeDef* def = renamed(adt->def);
      std::vector<Type> args = all(adt->args);
      if (def == adt->def && args == adt->args) return type;
      return lang::adt_type(def, std::move(args));
    }
    return type;
  }

  // --- Functions ---

  // The new name of a function that is shown; null for others.
  const std::string* function(const lang::GlobalVar& global) {
    if (kept_.contains(global.name) || !pipeline_.is_function(global.name)) return nullptr;
    const bool is_made = module_.find(global.name) == nullptr;
    const auto changed = changed_.find(global.name);
    const bool is_changed = changed != changed_.end();
    if (!is_made && !is_whole_ && !is_changed) return nullptr;
    // What is generic has no types, and calls what has one.
    const Type& type = global.type ? global.type : changed->second;
    const std::string key = is_made ? global.name : global.name + " " + lang::to_string(type);
    const auto [place, is_new] = functions_.try_emplace(key);
    if (is_new) {
      place->second = unique(is_changed ? global.name + "_primal"
                             : is_made  ? plain(global.name)
                                        : global.name);
      const std::string name = place->second;
      const Expr body = renamed(pipeline_.optimise(pipeline_.function(global.name, type)));
      made_.functions.emplace_back(name, body);
    }
    return &functions_.at(key);
  }

  // A type and its only constructor may have one name.
  std::string unique(const std::string& name, bool may_repeat = false) {
    std::string result = name;
    const auto is_taken = [&](const std::string& candidate) {
      if (!is_whole_ && (module_.find(candidate) || module_.find_type(candidate) ||
                         module_.find_constructor(candidate)))
        return true;
      const int uses = taken_[candidate];
      return may_repeat ? false : uses > 0;
    };
    for (int suffix = 2; is_taken(result); ++suffix) result = fmt::format("{}{}", name, suffix);
    ++taken_[result];
    return result;
  }

  const bool is_whole_;
  const lang::Module& module_;
  Pipeline& pipeline_;
  MadeProgram made_;
  std::unordered_map<const lang::TypeDef*, const lang::TypeDef*> types_;
  std::map<std::string, std::string> functions_;
  std::map<std::string, int> taken_;
  std::map<std::string, Type> changed_;  // with the types that they had
  std::set<std::string> kept_;           // functions that are what their names mean
};

// In lines of at most 100 characters.
std::string as_comment(const std::string& note) {
  constexpr std::size_t kWidth = 100;
  std::string text;
  std::string line = "//";
  std::istringstream words(note);
  for (std::string word; words >> word; line += " " + word) {
    if (line.size() + 1 + word.size() <= kWidth) continue;
    text += line + "\n";
    line = "//  ";
  }
  return text + line + "\n";
}

}  // namespace

MadeProgram collect_made(const Expr& expr, bool is_whole, const lang::Module& module,
                         Pipeline& pipeline) {
  return Collector(is_whole, module, pipeline).run(expr);
}

MadeProgram collect_made(const std::vector<MadeFunction>& functions, const lang::Module& module,
                         Pipeline& pipeline) {
  return Collector(false, module, pipeline).run(functions);
}

std::string operator_notes(const MadeProgram& made) {
  std::map<std::string, const lang::OpDef*> operators;
  const auto note = [&](const Expr& expr) {
    lang::visit_post_order(expr, [&](const Expr& node) {
      const auto* op = as<lang::Operator>(node);
      if (op && !lang::OpRegistry::instance().find(op->op->name))
        operators.emplace(op->op->name, op->op);
    });
  };
  for (const auto& [name, body] : made.functions) note(body);
  if (made.result) note(made.result);
  std::string text;
  for (const auto& [name, op] : operators) {
    std::vector<std::string> inputs;
    for (const auto& input : op->inputs) inputs.push_back(input.name);
    text += as_comment(fmt::format("{}({}): {}", name, fmt::join(inputs, ", "), op->doc));
  }
  return text;
}

}  // namespace relay::repl
