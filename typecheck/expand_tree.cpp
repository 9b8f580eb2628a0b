#include "typecheck/expand_tree.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/record.h"
#include "lang/tree_form.h"

namespace relay::typecheck {

using namespace lang;

namespace {

bool is_float_tensor(const Type& type) {
  const auto* tensor = as<TensorType>(type);
  return tensor && is_float(tensor->dtype.known());
}

// A walk over the parts of a type.
class Leaves {
 public:
  // False where an unknown is in the way.
  bool add(const Type& type) {
    if (type->kind == TypeKind::Var) return false;
    if (const auto* tensor = as<TensorType>(type)) {
      if (!tensor->dtype.is_known()) return false;
      if (!is_float(tensor->dtype.known())) return true;
      if (!tensor->shape.has_rank()) return false;
      if (std::none_of(found.begin(), found.end(),
                       [&](const Type& other) { return equal(other, type); }))
        found.push_back(type);
      return true;
    }
    if (const auto* tuple = as<TupleType>(type))
      return std::all_of(tuple->fields.begin(), tuple->fields.end(),
                         [this](const Type& field) { return add(field); });
    const auto* adt = as<AdtType>(type);
    if (!adt || !seen_.insert(to_string(type)).second) return true;
    constexpr std::size_t kMostTypes = 1000;
    if (seen_.size() > kMostTypes)
      fail(DiagnosticKind::TypeTooLarge,
           fmt::format("`{}` grows at each turn of its recursion", adt->def->name));
    for (const Constructor& constructor : adt->def->constructors) {
      for (const Type& field : field_types(*adt, constructor)) {
        if (!add(field)) return false;
      }
    }
    return true;
  }

  std::vector<Type> found;

 private:
  std::set<std::string> seen_;
};

bool has_leaf(const Type& type) {
  Leaves leaves;
  leaves.add(type);
  return !leaves.found.empty();
}

// Is a value of that type part of another one's?
bool holds_itself(const AdtType& adt) {
  const std::string own = to_string(Type(&adt));
  std::set<std::string> seen;
  std::vector<Type> pending;
  const auto add_parts = [&](const AdtType& whole) {
    for (const Constructor& constructor : whole.def->constructors) {
      for (Type& field : field_types(whole, constructor)) pending.push_back(std::move(field));
    }
  };
  add_parts(adt);
  while (!pending.empty()) {
    const Type type = std::move(pending.back());
    pending.pop_back();
    if (const auto* tuple = as<TupleType>(type))
      pending.insert(pending.end(), tuple->fields.begin(), tuple->fields.end());
    const auto* part = as<AdtType>(type);
    if (!part) continue;
    std::string text = to_string(type);
    if (text == own) return true;
    if (seen.insert(std::move(text)).second) add_parts(*part);
  }
  return false;
}

class Expansion {
 public:
  Expansion(const OpDef& form, const std::vector<LeafFunction>& functions, Span span)
      : is_map_(&form == &tree_map()), functions_(functions), span_(span) {}

  // `so_far` is what has been folded; null for a map. Trees are atoms or projections of them.
  Expr of(const Expr& so_far, const std::vector<Expr>& trees) {
    const Type& type = trees.front()->type;
    const Expr& unchanged = is_map_ ? trees.front() : so_far;
    if (is_float_tensor(type)) return build::call(function_for(type), arguments(so_far, trees));
    if (!has_leaf(type)) return unchanged;
    if (const auto* tuple = as<TupleType>(type)) {
      std::vector<std::vector<Expr>> fields(tuple->fields.size());
      for (std::uint32_t i = 0; i < fields.size(); ++i) {
        for (const Expr& tree : trees) fields[i].push_back(build::project(tree, i));
      }
      return each(so_far, fields,
                  [](std::vector<Expr> made) { return build::tuple(std::move(made)); });
    }
    const auto& adt = *as<AdtType>(type);
    if (!holds_itself(adt)) return match(so_far, trees);
    const std::string key = to_string(type);
    const auto known = loops_.find(key);
    if (known != loops_.end())
      return build::call(make_var(known->second), arguments(so_far, trees));
    return loop(key, so_far, trees);
  }

 private:
  std::vector<Expr> arguments(const Expr& so_far, const std::vector<Expr>& trees) const {
    std::vector<Expr> args;
    if (!is_map_) args.push_back(so_far);
    args.insert(args.end(), trees.begin(), trees.end());
    return args;
  }

  const Expr& function_for(const Type& leaf) const {
    const auto found =
        std::find_if(functions_.begin(), functions_.end(),
                     [&](const LeafFunction& each) { return equal(each.leaf, leaf); });
    RELAY_CHECK(found != functions_.end(), "a leaf without a function: " + to_string(leaf));
    return found->function;
  }

  // What is made of all fields: of a map `put_together` of the results, of a fold the last result.
  template <class F>
  Expr each(Expr so_far, const std::vector<std::vector<Expr>>& fields, const F& put_together) {
    if (is_map_) {
      std::vector<Expr> made;
      for (const auto& field : fields) made.push_back(of(nullptr, field));
      return put_together(std::move(made));
    }
    std::vector<Binding> steps;
    for (const auto& field : fields) {
      Expr next = of(so_far, field);
      if (next == so_far) continue;
      const VariableRef variable = make_variable("folded", next->type, span_);
      steps.push_back({variable, std::move(next), span_});
      so_far = make_var(variable, span_);
    }
    return close_block({std::move(steps), std::move(so_far)});
  }

  Expr match(const Expr& so_far, const std::vector<Expr>& trees) {
    const Type type = trees.front()->type;
    const auto& adt = *as<AdtType>(type);
    std::vector<Clause> clauses;
    for (const Constructor& constructor : adt.def->constructors) {
      const std::vector<Type> types = field_types(adt, constructor);
      std::vector<std::vector<Expr>> fields(types.size());
      std::vector<PatternRef> patterns;
      for (std::size_t k = 0; k < trees.size(); ++k) {
        std::vector<PatternRef> parts;
        for (std::size_t i = 0; i < types.size(); ++i) {
          const std::string name =
              i < constructor.field_names.size() ? constructor.field_names[i] : "field";
          const VariableRef variable = make_variable(name, types[i], span_);
          parts.push_back(variable_pattern(variable, span_));
          fields[i].push_back(make_var(variable, span_));
        }
        patterns.push_back(constructor_pattern(&constructor, std::move(parts), span_));
      }
      Expr body = each(so_far, fields, [&](std::vector<Expr> made) {
        if (made.empty()) return make_constructor_ref(&constructor, span_, type);
        return make_call(make_constructor_ref(&constructor, span_, function_type(types, type)),
                         std::move(made), nullptr, span_, type);
      });
      clauses.push_back(
          {patterns.size() == 1 ? patterns[0] : tuple_pattern(patterns, span_), std::move(body)});
    }
    const bool is_complete = trees.size() == 1 || clauses.size() == 1;
    const Type result = clauses.front().body->type;
    return make_match(trees.size() == 1 ? trees[0] : build::tuple(trees), std::move(clauses),
                      is_complete, span_, result);
  }

  // let walk = fn (..) { .. }; walk(trees)
  Expr loop(const std::string& key, const Expr& so_far, const std::vector<Expr>& trees) {
    std::vector<VariableRef> params;
    for (const Expr& arg : arguments(so_far, trees))
      params.push_back(make_variable(
          !is_map_ && params.empty() ? "so_far" : fmt::format("tree{}", params.size()), arg->type,
          span_));
    std::vector<Type> types;
    std::vector<Expr> inner;
    for (const VariableRef& param : params) {
      types.push_back(param->type);
      inner.push_back(make_var(param, span_));
    }
    const Type result = is_map_ ? trees.front()->type : so_far->type;
    const VariableRef walk = make_variable("walk", function_type(types, result), span_);
    loops_[key] = walk;
    Expr own = is_map_ ? Expr() : inner.front();
    if (!is_map_) inner.erase(inner.begin());
    Expr function = build::function(std::move(params), match(own, inner));
    loops_.erase(key);
    return make_let(walk, std::move(function),
                    build::call(make_var(walk, span_), arguments(so_far, trees)), span_, result);
  }

  const bool is_map_;
  const std::vector<LeafFunction>& functions_;
  const Span span_;
  std::map<std::string, VariableRef> loops_;  // those in scope, by type
};

}  // namespace

std::optional<std::vector<Type>> leaves_of(const Type& tree) {
  Leaves leaves;
  if (!leaves.add(tree)) return std::nullopt;
  return std::move(leaves.found);
}

Expr expand_tree_form(const OpDef& form, const std::vector<LeafFunction>& functions,
                      const std::vector<Expr>& args, const Type& type, Span span) {
  std::vector<Binding> bindings;
  const auto named = [&](std::string name, const Expr& value) -> Expr {
    if (build::is_atom(value)) return value;
    const VariableRef variable = make_variable(std::move(name), value->type, span);
    bindings.push_back({variable, value, span});
    return make_var(variable, span);
  };
  std::vector<LeafFunction> bound;
  for (const LeafFunction& each : functions)
    bound.push_back({each.leaf, named("f", each.function)});
  std::vector<Expr> trees;
  Expr start;
  for (const Expr& arg : args) {
    Expr atom = named("tree", arg);
    if (&form == &tree_fold() && !start) {
      start = std::move(atom);
    } else {
      trees.push_back(std::move(atom));
    }
  }
  Expr result = Expansion(form, bound, span).of(start, trees);
  return with_type(close_block({std::move(bindings), std::move(result)}), type);
}

}  // namespace relay::typecheck
