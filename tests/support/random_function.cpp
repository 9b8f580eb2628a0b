#include <fmt/format.h>

#include "tests/support/random_generator.h"

// Functions as values: literals, calls, what takes or gives functions.
namespace relay::tests {

namespace {

Ty function_of(const Ty& from, const Ty& to) { return {Ty::Kind::Function, {}, {from, to}}; }
Ty list_of(const Ty& element) { return {Ty::Kind::List, {}, {element}}; }

}  // namespace

const Generator::Callee* Generator::callee_for(const Ty& type) {
  std::vector<const Callee*> fitting;
  for (const Callee& callee : callees_) {
    if (callee.result == type) fitting.push_back(&callee);
  }
  return fitting.empty() ? nullptr : fitting[random_.below(fitting.size())];
}

std::string Generator::call(const Ty& type, int fuel) {
  const Callee* callee = callee_for(type);
  return callee ? call_of(*callee, fuel) : expression(type, fuel - 1);
}

std::string Generator::call_of(const Callee& callee, int fuel) {
  features_ |= callee.features;
  std::vector<std::string> args;
  if (callee.counted) args.push_back(small_count());
  const auto parts = shares(fuel, callee.params.size());
  for (std::size_t i = 0; i < callee.params.size(); ++i)
    args.push_back(expression(callee.params[i], parts[i]));
  return fmt::format("{}({})", callee.name, fmt::join(args, ", "));
}

std::string Generator::call_variable(const Ty& type, int fuel) {
  std::vector<Name> fitting;
  for (const Name& name : scope_) {
    if (name.type.is_function() && name.type.result() == type) fitting.push_back(name);
  }
  if (fitting.empty()) return expression(type, fuel - 1);
  const Name name = fitting[random_.below(fitting.size())];
  const std::size_t count = name.type.parts.size() - 1;
  const auto parts = shares(fuel, count);
  std::vector<std::string> args;
  for (std::size_t i = 0; i < count; ++i) args.push_back(expression(name.type.parts[i], parts[i]));
  return fmt::format("{}({})", name.text, fmt::join(args, ", "));
}

// A function that is bound and called where it is in scope.
std::string Generator::let_function(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 3);
  const Ty function = function_of(data_type(1), type);
  const std::string value = expression(function, parts[0]);
  const std::string name = fresh("f");
  scope_.push_back({name, function});
  const std::string argument = expression(function.parts[0], parts[1]);
  const std::string called = fmt::format("{}({})", name, argument);
  std::string body = called;
  if (!type.holds_function() && random_.one_in(2)) {  // called more than once, maybe
    const std::string result = fresh("y");
    scope_.push_back({result, type});
    body = fmt::format("{{ let {} = {}; {} }}", result, called, expression(type, parts[2]));
    scope_.pop_back();
  }
  scope_.pop_back();
  return fmt::format("{{ let {}: {} = {}; {} }}", name, type_text(function), value, body);
}

std::string Generator::lambda(const Ty& type, int fuel) {
  use(Feature::Closure);
  const std::size_t scope = scope_.size();
  std::string params;
  for (std::size_t i = 0; i + 1 < type.parts.size(); ++i) {
    const std::string name = fresh("y");
    params += (i ? ", " : "") + name + ": " + type_text(type.parts[i]);
    scope_.push_back({name, type.parts[i]});
  }
  const std::string body =
      using_names(type.result(), expression(type.result(), fuel - 1), scope_.size() - scope);
  scope_.resize(scope);
  return fmt::format("fn ({}) {{ {} }}", params, body);
}

// An operator, a constructor or a definition by its name.
std::string Generator::known_function(const Ty& type, int fuel) {
  std::vector<std::string> names;
  for (const Callee& callee : callees_) {
    if (callee.counted || callee.result != type.result()) continue;
    if (std::equal(callee.params.begin(), callee.params.end(), type.parts.begin(),
                   type.parts.end() - 1))
      names.push_back(callee.name);
  }
  const bool unary = type.parts.size() == 2;
  if (unary && type.parts[0] == type.parts[1]) {
    names.push_back("id");
    if (type.parts[0].is_tensor() && is_float())
      names.insert(names.end(), {"sin", "tanh", "sigmoid"});
  }
  if (!unary && type.parts[0] == type.parts[1] && type.parts[1] == type.parts[2] &&
      type.parts[0].is_tensor())
    names.insert(names.end(), {"add", "multiply", "subtract"});
  if (unary && type.result() == Ty{Ty::Kind::Option, {}, {type.parts[0]}}) names.push_back("Some");
  if (names.empty()) return lambda(type, fuel);
  const std::string name = names[random_.below(names.size())];
  for (const Callee& callee : callees_) {
    if (callee.name != name) continue;
    features_ |= callee.features;
    return name;
  }
  // Nothing else may say at which type a generic function is meant.
  const std::string f = fresh("f");
  return fmt::format("{{ let {0}: {1} = {2}; {0} }}", f, type_text(type), name);
}

std::string Generator::composed(const Ty& type, int fuel) {
  if (type.parts.size() == 3) {
    const Ty flipped{Ty::Kind::Function, {}, {type.parts[1], type.parts[0], type.parts[2]}};
    return fmt::format("flip({})", expression(flipped, fuel - 1));
  }
  const auto parts = shares(fuel, 2);
  switch (random_.below(type.parts[0] == type.parts[1] ? 3 : 2)) {
    case 0: {
      const Ty middle = data_type(1);
      const std::string outer = expression(function_of(middle, type.parts[1]), parts[0]);
      return fmt::format("compose({}, {})", outer,
                         expression(function_of(type.parts[0], middle), parts[1]));
    }
    case 1:
      if (type.holds_function() && type.parts[1].holds_function()) return lambda(type, fuel);
      return fmt::format("const({})", expression(type.parts[1], fuel - 1));
    default:
      return fmt::format("iterate({}, {})", expression(type, fuel - 1), small_count());
  }
}

// One of several functions.
std::string Generator::picked(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 3);
  const std::string first = expression(type, parts[0]);
  const std::string second = expression(type, parts[1]);
  switch (random_.below(3)) {
    case 0:
      use(Feature::If);
      return fmt::format("(if ({}) {{ {} }} else {{ {} }})", condition(parts[2] / 2), first,
                         second);
    case 1:
      use(Feature::ClosureInData);
      return fmt::format("nth(Cons({}, Cons({}, Nil)), {})", first, second, random_.below(2));
    default:
      use(Feature::ClosureInData);
      return fmt::format("({}, {}).{}", first, second, random_.below(2));
  }
}

std::string Generator::fold(const Ty& type, int fuel) {
  use(Feature::ListRecursion);
  const auto parts = shares(fuel, 3);
  const Name* known = variable_of(Ty::Kind::List);
  const Ty list = known ? known->type : list_of(data_type(1));
  const std::string start = expression(type, parts[0]);
  const std::string items = scrutinee(list, parts[1]);
  const bool left = random_.one_in(2);
  use(Feature::Closure);
  const std::string acc = fresh("acc");
  const std::string item = fresh("h");
  scope_.push_back({acc, type});
  scope_.push_back({item, list.element()});
  const std::string step = tame(type, using_names(type, expression(type, parts[2]), 2));
  scope_.resize(scope_.size() - 2);
  const std::string acc_param = fmt::format("{}: {}", acc, type_text(type));
  const std::string item_param = fmt::format("{}: {}", item, type_text(list.element()));
  return fmt::format("{}(fn ({}, {}) {{ {} }}, {}, {})", left ? "foldl" : "foldr",
                     left ? acc_param : item_param, left ? item_param : acc_param, step, start,
                     items);
}

std::string Generator::fold_tree(const Ty& type, int fuel) {
  use(Feature::TreeRecursion);
  const auto parts = shares(fuel, 3);
  const bool rose = random_.one_in(3);
  const Name* known = variable_of(rose ? Ty::Kind::Rose : Ty::Kind::Tree);
  const Ty tree =
      known ? known->type : Ty{rose ? Ty::Kind::Rose : Ty::Kind::Tree, {}, {data_type(1)}};
  type_text(tree);
  const std::string items = scrutinee(tree, parts[0]);
  if (rose) {
    use(Feature::ListRecursion);
    const Ty join{Ty::Kind::Function, {}, {tree.element(), list_of(type), type}};
    return fmt::format("{}({}, {})", require("fold_rose"), lambda(join, parts[1] + parts[2]),
                       items);
  }
  const std::string leaf = expression(function_of(tree.element(), type), parts[1]);
  const Ty join{Ty::Kind::Function, {}, {type, type, type}};
  return fmt::format("{}({}, {}, {})", require("fold_tree"), leaf, expression(join, parts[2]),
                     items);
}

// A list of functions, each applied to what the one before gave.
std::string Generator::fold_functions(const Ty& type, int fuel) {
  if (type.holds_function()) return expression(type, fuel - 1);
  use(Feature::ClosureInData);
  use(Feature::ListRecursion);
  const auto parts = shares(fuel, 3);
  const Ty function = function_of(type, type);
  const std::string start = expression(type, parts[0]);
  const std::string fs = fmt::format("Cons({}, Cons({}, Nil))", expression(function, parts[1]),
                                     expression(function, parts[2]));
  switch (random_.below(3)) {
    case 0:
      return fmt::format("{}({}, {})", require("apply_all"), fs, start);
    case 1:
      return fmt::format("foldl(fn (y, g) {{ g(y) }}, {}, {})", start, fs);
    default:
      return fmt::format("foldr(fn (g, y) {{ g(y) }}, {}, {})", start, fs);
  }
}

std::string Generator::function_in_data(const Ty& type, int fuel) {
  use(Feature::ClosureInData);
  use(Feature::Match);
  const auto parts = shares(fuel, 3);
  const Ty argument = data_type(1);
  const std::string value = expression(function_of(argument, type), parts[0]);
  const std::string x = expression(argument, parts[1]);
  const std::string g = fresh("f");
  switch (random_.below(3)) {
    case 0:
      return fmt::format("match ({0}({1})) {{ Box({2}) => {2}({3}) }}", require("Box"), value, g,
                         x);
    case 1:
      return fmt::format("match (Some({0})) {{ Some({1}) => {1}({2}), None => {3} }}", value, g, x,
                         expression(type, parts[2]));
    default:
      return fmt::format("match (Cons({0}, Nil)) {{ Cons({1}, _) => {1}({2}), Nil => {3} }}", value,
                         g, x, expression(type, parts[2]));
  }
}

std::string Generator::higher_order(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 3);
  switch (random_.below(9)) {
    case 0:
      return fmt::format("id({})", expression(type, fuel - 1));
    case 1: {
      const std::string f = expression(function_of(type, type), parts[0]);
      return fmt::format("{}({}, {})", require("twice"), f, expression(type, parts[1]));
    }
    case 2: {
      const Ty other = data_type(1);
      const std::string a = expression(other, parts[0]);
      return fmt::format("{}(({}, {})).0", require("swap"), a, expression(type, parts[1]));
    }
    case 3: {
      const Ty option{Ty::Kind::Option, {}, {type}};
      const std::string value = expression(option, parts[0]);
      return fmt::format("with_default({}, {})", value, expression(type, parts[1]));
    }
    case 4: {
      const std::string first = expression(type, parts[0]);
      return fmt::format("hd(Cons({}, {}))", first, expression(list_of(type), parts[1]));
    }
    case 5: {
      use(Feature::ListRecursion);
      const Ty join{Ty::Kind::Function, {}, {type, type, type}};
      const std::string f = expression(join, parts[0]);
      const std::string first = expression(type, parts[1]);
      return fmt::format("{}({}, Cons({}, {}))", random_.one_in(2) ? "foldl1" : "foldr1", f, first,
                         expression(list_of(type), parts[2]));
    }
    case 6: {
      use(Feature::ListRecursion);
      const Ty item = data_type(1);
      const Ty step{Ty::Kind::Function, {}, {type, item, {Ty::Kind::Tuple, {}, {type, item}}}};
      const std::string f = lambda(step, parts[0]);
      const std::string start = expression(type, parts[1]);
      return fmt::format("map_accum{}({}, {}, {}).0", random_.one_in(2) ? "l" : "r", f, start,
                         scrutinee(list_of(item), parts[2]));
    }
    case 7: {
      const Ty argument = data_type(1);
      const std::string f = lambda(function_of(argument, type), parts[0]);
      return fmt::format("({})({})", f, expression(argument, parts[1]));
    }
    default: {
      use(Feature::Loop);
      const std::string f = expression(function_of(type, type), parts[0]);
      return fmt::format("iterate({}, {})({})", f, small_count(), expression(type, parts[1]));
    }
  }
}

// A derivative inside the program. What is captured is differentiated as well.
std::string Generator::nested_gradient(const Ty& type, int fuel) {
  if (!is_float() || !options_.smooth || type.holds_function() || gradient_depth_ > 0 ||
      index_depth_ > 0 || !random_.one_in(2))
    return expression(type, fuel - 1);
  use(Feature::Gradient);
  const auto parts = shares(std::min(fuel, 8), 2);
  const std::string at = expression(type, parts[0]);
  const std::string x = fresh("y");
  ++gradient_depth_;
  scope_.push_back({x, type});
  const std::string body = tame({}, using_names({}, expression({}, parts[1]), 1));
  scope_.pop_back();
  --gradient_depth_;
  return fmt::format("grad(fn ({}: {}) {{ {} }})({})", x, type_text(type), body, at);
}

}  // namespace relay::tests
