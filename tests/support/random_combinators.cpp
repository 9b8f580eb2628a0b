#include <fmt/format.h>

#include "tests/support/random_generator.h"

// Functions that take and give functions: combinators, nested in copies of themselves, closures
// that are stored in data and iterated over.
namespace relay::tests {

namespace {

Ty function_of(std::vector<Ty> params, const Ty& result) {
  params.push_back(result);
  return {Ty::Kind::Function, {}, std::move(params)};
}

}  // namespace

// Of that order at most: numbers are of order 0, what takes or gives numbers of order 1.
Ty Generator::type_of_order(std::size_t order) {
  if (order == 0) return tensor_type();
  std::vector<Ty> params = {type_of_order(random_.below(order))};
  if (random_.one_in(5)) params.push_back(type_of_order(random_.below(order)));
  const bool is_endo = params.size() == 1 && !random_.one_in(3);
  const Ty result = is_endo ? params[0] : type_of_order(random_.below(order));
  return function_of(std::move(params), result);
}

// A function that is made on the spot, and what it gives.
std::string Generator::applied(const Ty& type, int fuel) {
  use(Feature::Closure);
  const auto parts = shares(fuel, 3);
  const Ty argument = random_.one_in(2) ? tensor_type() : function_type();
  const Ty function = function_of({argument}, type);
  const std::string f = expression(function, parts[0]);
  const std::string x = expression(argument, parts[1]);
  if (random_.one_in(3)) return fmt::format("({})({})", f, x);
  const std::string name = fresh("f");
  scope_.push_back({name, function});
  std::string body = fmt::format("{}({})", name, x);
  if (random_.one_in(2)) {
    const std::string result = fresh("y");
    scope_.push_back({result, type});
    body = fmt::format("{{ let {}: {} = {}; {} }}", result, type_text(type), body,
                       using_names(type, expression(type, parts[2]), 1));
    scope_.pop_back();
  }
  scope_.pop_back();
  return fmt::format("{{ let {}: {} = {}; {} }}", name, type_text(function), f, body);
}

// A function of a type to itself, made of one or of several by a combinator.
std::string Generator::repeated(const Ty& type, int fuel) {
  if (type.parts.size() != 2 || !(type.parts[0] == type.parts[1])) return lambda(type, fuel);
  const auto parts = shares(fuel, 3);
  const auto list = [&] {
    use(Feature::ClosureInData);
    std::string text = "Nil";
    for (std::size_t i = 1 + random_.below(2); i > 0; --i)
      text = fmt::format("Cons({}, {})", expression(type, parts[i]), text);
    return text;
  };
  switch (random_.below(7)) {
    case 0: {
      const std::string f = fresh("f");
      const std::string value = expression(type, parts[0]);
      return fmt::format("{{ let {0}: {1} = {2}; compose(compose({0}, {0}), {0}) }}", f,
                         type_text(type), value);
    }
    case 1: {
      std::string numeral = require("church_zero");
      for (std::size_t i = 1 + random_.below(3); i > 0; --i)
        numeral = fmt::format("{}({})", require("church_succ"), numeral);
      if (random_.one_in(3))
        numeral = fmt::format("{0}({1}, {1})", require("church_plus"), numeral);
      return fmt::format("{}({})", numeral, expression(type, parts[0]));
    }
    case 2:
      use(Feature::ListRecursion);
      return fmt::format("{}({})", require("chain"), list());
    case 3:
      use(Feature::Loop);
      return fmt::format("{}({}, {})", require("tower"), random_.below(3),
                         expression(type, parts[0]));
    case 4: {
      use(Feature::ListRecursion);
      const std::string start = expression(type, parts[0]);
      const std::string x = fresh("y");
      return fmt::format("foldl(fn (g: {0}, h: {0}) {{ fn ({1}: {2}) {{ h(g({1})) }} }}, {3}, {4})",
                         type_text(type), x, type_text(type.parts[0]), start, list());
    }
    case 5:
      return fmt::format("{}({})", require("doubled"), expression(type, parts[0]));
    default:
      if (!type.parts[0].is_scalar()) return lambda(type, fuel);
      if (random_.one_in(2))
        return fmt::format("{}({}, {})", require("layer"), expression({}, parts[0]),
                           expression(type, parts[1]));
      use(Feature::ClosureInData);
      use(Feature::TreeRecursion);
      return fmt::format("{}({})", require("run"), plan(fuel));
  }
}

// A value of the data type that `run` makes a function of.
std::string Generator::plan(int fuel) {
  const Random::Part part(random_);
  require("Plan");
  const auto parts = shares(fuel, 3);
  switch (fuel <= 0 ? 0 : random_.below(4)) {
    case 0:
      return fmt::format("Scale({})", expression({}, parts[0]));
    case 1:
      return fmt::format("Apply({})", expression(function_of({{}}, {}), parts[0]));
    case 2:
      return fmt::format("Both({}, {})", plan(parts[0]), plan(parts[1]));
    default:
      return fmt::format("Made({}, {})",
                         expression(function_of({{}}, function_of({{}}, {})), parts[0]),
                         expression({}, parts[1]));
  }
}

// Parameters one by one, and together; functions side by side; the rest of the work as a function.
std::string Generator::rearranged_function(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 3);
  if (type.parts.size() == 3) {
    const Ty curried = function_of({type.parts[0]}, function_of({type.parts[1]}, type.result()));
    return fmt::format("{}({})", require("uncurry2"), expression(curried, fuel - 1));
  }
  if (type.parts.size() != 2) return lambda(type, fuel);
  const Ty& from = type.parts[0];
  const Ty& to = type.result();
  const Ty other = random_.one_in(3) ? function_type() : tensor_type();
  switch (random_.below(4)) {
    case 0: {
      const std::string f = expression(function_of({other, from}, to), parts[0]);
      return fmt::format("{}({})({})", require("curry2"), f, expression(other, parts[1]));
    }
    case 1: {
      const std::string f = expression(function_of({other, from}, to), parts[0]);
      const std::string g = expression(function_of({from}, other), parts[1]);
      return fmt::format("{}({}, {}, id)", require("along_both"), f, g);
    }
    case 2: {
      const std::string f = expression(function_of({from}, other), parts[0]);
      const std::string k = expression(function_of({other}, to), parts[1]);
      return fmt::format("{}({}, {})", require("then"), f, k);
    }
    default: {
      const std::string make = expression(function_of({other}, type), parts[0]);
      return fmt::format("({})({})", make, expression(other, parts[1]));
    }
  }
}

// A computation that hands a state on, run from one of its numbers.
std::string Generator::state_monad(const Ty& type, int fuel) {
  if (!type.is_scalar()) return expression(type, fuel - 1);
  use(Feature::Closure);
  const auto parts = shares(fuel, 4);
  const Ty step = function_of({{}}, {Ty::Kind::Tuple, {}, {{}, {}}});
  const std::string first = expression(step, parts[0]);
  const std::string a = fresh("a");
  scope_.push_back({a, {}});
  const std::string second = expression(step, parts[1]);
  const std::string b = fresh("b");
  scope_.push_back({b, {}});
  const std::string last = expression({}, parts[2]);
  scope_.resize(scope_.size() - 2);
  const std::string bind = require("bind");
  const std::string m =
      fmt::format("{0}({1}, fn ({2}: {5}) {{ {0}({3}, fn ({4}: {5}) {{ {6}({7}) }}) }})", bind,
                  first, a, second, b, type_text({}), require("ret"), last);
  return fmt::format("({})({}).{}", m, expression({}, parts[3]), random_.below(2));
}

}  // namespace relay::tests
