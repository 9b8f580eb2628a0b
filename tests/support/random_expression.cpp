#include <fmt/format.h>

#include "tests/support/random_generator.h"

// Expressions of any type: names, choices, loops, references.
namespace relay::tests {

std::string Generator::expression(const Ty& type, int fuel) {
  const Random::Part part(random_);
  if (fuel <= 0) return leaf(type);
  if (random_.one_in(5)) {
    if (const Callee* callee = callee_for(type)) return call_of(*callee, fuel);
  }
  static constexpr Weighted kAny[] = {{1, &Generator::leaf},
                                      {3, &Generator::let},
                                      {1, &Generator::let_pattern},
                                      {2, &Generator::projection},
                                      {3, &Generator::conditional},
                                      {1, &Generator::match_option},
                                      {1, &Generator::match_list},
                                      {1, &Generator::match_two},
                                      {1, &Generator::match_tree},
                                      {1, &Generator::match_choice},
                                      {4, &Generator::call},
                                      {3, &Generator::call_variable},
                                      {2, &Generator::let_function},
                                      {1, &Generator::local_loop},
                                      {1, &Generator::local_list_loop},
                                      {2, &Generator::place_loop},
                                      {1, &Generator::checkpoint},
                                      {2, &Generator::fold},
                                      {1, &Generator::fold_tree},
                                      {1, &Generator::fold_functions},
                                      {1, &Generator::function_in_data},
                                      {2, &Generator::higher_order},
                                      {1, &Generator::reference},
                                      {1, &Generator::reference_loop},
                                      {1, &Generator::reference_in_closure},
                                      {1, &Generator::nested_gradient}};
  static constexpr Weighted kSimple[] = {{1, &Generator::leaf},
                                         {3, &Generator::let},
                                         {2, &Generator::projection},
                                         {3, &Generator::conditional},
                                         {4, &Generator::call}};
  static constexpr Weighted kTensor[] = {
      {5, &Generator::unary},   {8, &Generator::binary},     {3, &Generator::broadcast},
      {1, &Generator::chosen},  {3, &Generator::reduced},    {4, &Generator::indexed},
      {2, &Generator::product}, {4, &Generator::rearranged}, {1, &Generator::of_data}};
  static constexpr Weighted kData[] = {{10, &Generator::construct}, {5, &Generator::derived_data}};
  static constexpr Weighted kFunction[] = {{8, &Generator::lambda},
                                           {3, &Generator::known_function},
                                           {3, &Generator::composed},
                                           {3, &Generator::picked}};
  static constexpr Weighted kCombinators[] = {{6, &Generator::applied},
                                              {2, &Generator::state_monad},
                                              {3, &Generator::let},
                                              {4, &Generator::call},
                                              {4, &Generator::call_variable},
                                              {1, &Generator::conditional},
                                              {1, &Generator::match_option},
                                              {1, &Generator::match_list},
                                              {1, &Generator::function_in_data},
                                              {1, &Generator::fold_functions},
                                              {1, &Generator::fold},
                                              {1, &Generator::local_loop},
                                              {1, &Generator::nested_gradient}};
  static constexpr Weighted kCombined[] = {
      {8, &Generator::lambda},   {2, &Generator::known_function},
      {2, &Generator::composed}, {2, &Generator::picked},
      {8, &Generator::repeated}, {5, &Generator::rearranged_function}};
  struct Table {
    const Weighted* begin;
    const Weighted* end;
  };
  const Table tables[] = {options_.combinators
                              ? Table{std::begin(kCombinators), std::end(kCombinators)}
                          : options_.whole_language ? Table{std::begin(kAny), std::end(kAny)}
                                                    : Table{std::begin(kSimple), std::end(kSimple)},
                          type.is_tensor() ? Table{std::begin(kTensor), std::end(kTensor)}
                          : type.is_function() && options_.combinators
                              ? Table{std::begin(kCombined), std::end(kCombined)}
                          : type.is_function() ? Table{std::begin(kFunction), std::end(kFunction)}
                                               : Table{std::begin(kData), std::end(kData)}};
  std::size_t total = 0;
  for (const Table& table : tables) {
    for (const Weighted* w = table.begin; w != table.end; ++w)
      total += static_cast<std::size_t>(w->weight);
  }
  std::size_t at = random_.below(total);
  for (const Table& table : tables) {
    for (const Weighted* w = table.begin; w != table.end; ++w) {
      if (at < static_cast<std::size_t>(w->weight)) return (this->*w->make)(type, fuel);
      at -= static_cast<std::size_t>(w->weight);
    }
  }
  return leaf(type);
}

std::string Generator::leaf(const Ty& type, int) {
  if (!random_.one_in(8)) {
    if (const Name* name = variable(type)) return name->text;
  }
  switch (type.kind) {
    case Ty::Kind::Tensor: {
      // A name of another shape must do.
      std::vector<const Name*> tensors;
      for (const Name& name : scope_) {
        if (name.type.is_tensor()) tensors.push_back(&name);
      }
      if (tensors.empty() || random_.one_in(10)) {
        const Name* data = data_variable();
        if (!data) return literal(type.shape);
        const std::string number = fmt::format("{}({})", total(data->type), data->text);
        return type.shape.empty() ? number : fmt::format("({} * {})", literal(type.shape), number);
      }
      const Name& name = *tensors[random_.below(tensors.size())];
      const std::string number =
          name.type.shape.empty() ? name.text : fmt::format("sum({})", name.text);
      return type.shape.empty() ? number : fmt::format("({} * {})", literal(type.shape), number);
    }
    case Ty::Kind::Function:
      return lambda(type, 0);
    default:
      return construct(type, 0);
  }
}

// Data in scope that holds no function; null if there is none.
const Generator::Name* Generator::data_variable() {
  std::vector<const Name*> fitting;
  for (const Name& name : scope_) {
    if (!name.type.is_tensor() && !name.type.holds_function()) fitting.push_back(&name);
  }
  if (fitting.empty()) return nullptr;
  const Name* name = fitting[random_.below(fitting.size())];
  if (name->type.kind == Ty::Kind::List) use(Feature::ListRecursion);
  if (name->type.kind == Ty::Kind::Tree) use(Feature::TreeRecursion);
  return name;
}

// Bounded, so that what is repeated does not grow.
std::string Generator::tame(const Ty& type, const std::string& value) {
  if (!is_float() || !type.is_tensor()) return value;
  return fmt::format(fmt::runtime(random_.one_in(2) ? "sin({})" : "tanh({})"), value);
}

std::string Generator::using_names(const Ty& type, std::string body, std::size_t count) {
  if (!type.is_tensor() || !is_float()) return body;
  for (std::size_t i = scope_.size() - count; i < scope_.size(); ++i) {
    const Name& name = scope_[i];
    if (!name.type.is_tensor() || body.find(name.text) != std::string::npos) continue;
    if (random_.below(4) == 0) continue;
    const std::string number =
        name.type.shape.empty() ? name.text : fmt::format("sum({})", name.text);
    body = random_.one_in(2) ? fmt::format("({} + {})", body, number)
                             : fmt::format("({} * sin({}))", body, number);
  }
  return body;
}

std::string Generator::let(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 2);
  const Ty bound = any_type();
  const std::string value = expression(bound, parts[0]);
  const std::string name = fresh("v");
  scope_.push_back({name, bound});
  const std::string body = using_names(type, expression(type, parts[1]), 1);
  scope_.pop_back();
  const std::string annotation =
      !bound.is_tensor() || random_.one_in(4) ? ": " + type_text(bound) : "";
  return fmt::format("{{ let {}{} = {}; {} }}", name, annotation, value, body);
}

std::string Generator::let_pattern(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 2);
  const std::size_t scope = scope_.size();
  const Ty bound = random_.one_in(4) ? Ty{Ty::Kind::Record, {}, {}}
                                     : Ty{Ty::Kind::Tuple, {}, {data_type(1), data_type(1)}};
  const std::string value = scrutinee(bound, parts[0]);
  const std::string left = pattern(bound, 2);
  const std::string body = using_names(type, expression(type, parts[1]), scope_.size() - scope);
  scope_.resize(scope);
  return fmt::format("{{ let {} = {}; {} }}", left, value, body);
}

std::string Generator::projection(const Ty& type, int fuel) {
  const Ty other = any_type(1);
  for (const Name& name : scope_) {
    if (name.type.kind != Ty::Kind::Tuple) continue;
    for (std::size_t i = 0; i < name.type.parts.size(); ++i) {
      if (name.type.parts[i] == type && !random_.one_in(4))
        return fmt::format("{}.{}", name.text, i);
    }
  }
  const auto parts = shares(fuel, 3);
  const std::string name = fresh("t");
  const bool second = random_.one_in(2);
  const Ty tuple{Ty::Kind::Tuple, {}, second ? std::vector{other, type} : std::vector{type, other}};
  const std::string value = fmt::format("({}, {})", expression(tuple.parts[0], parts[0]),
                                        expression(tuple.parts[1], parts[1]));
  if (random_.one_in(3)) return fmt::format("({}).{}", value, second ? 1 : 0);
  scope_.push_back({name + ".0", tuple.parts[0]});
  scope_.push_back({name + ".1", tuple.parts[1]});
  scope_.push_back({name, tuple});
  const std::string body = expression(type, parts[2]);
  scope_.resize(scope_.size() - 3);
  return fmt::format("{{ let {}: {} = {}; {} }}", name, type_text(tuple), value, body);
}

// A number out of data: the field of a record, the length of a list.
std::string Generator::of_data(const Ty& type, int fuel) {
  if (!options_.whole_language) return binary(type, fuel);
  if (is_float() && type.is_scalar() && random_.one_in(2)) {
    const Name* known = variable_of(Ty::Kind::List);
    const Ty list = known ? known->type : Ty{Ty::Kind::List, {}, {data_type(1)}};
    return fmt::format("cast(length({}), dtype=\"{}\")", scrutinee(list, fuel - 1), dtype_name());
  }
  const bool is_w = type.shape == Shape{3};
  if (!is_w && !type.shape.empty()) return binary(type, fuel);
  use(Feature::Record);
  const Ty record{Ty::Kind::Record, {}, {}};
  return fmt::format("({}).{}", scrutinee(record, fuel - 1), is_w ? "w" : "b");
}

std::string Generator::condition(int fuel) {
  switch (random_.below(options_.whole_language ? 6 : 4)) {
    case 0:
      return random_.one_in(2) ? "1 < 2" : "2 < 1";
    case 1:
    case 2:
      return fmt::format("{} < {}", expression({}, fuel - 1), scalar(random_.number()));
    case 3:
      return fmt::format("{} < {}", expression({}, fuel / 2), expression({}, fuel / 2));
    case 4:
      return fmt::format("{} && {}", condition(fuel / 2), condition(fuel / 2));
    default:
      return fmt::format("!({})", condition(fuel - 1));
  }
}

std::string Generator::conditional(const Ty& type, int fuel) {
  use(Feature::If);
  const auto parts = shares(fuel, 3);
  const std::string when = condition(parts[0] / 2);
  const std::string then = expression(type, parts[1]);
  return fmt::format("if ({}) {{ {} }} else {{ {} }}", when, then, expression(type, parts[2]));
}

// --- Match ---

std::string Generator::pattern(const Ty& type, int depth) {
  if (random_.one_in(8)) return "_";
  if (depth > 0 && type.kind == Ty::Kind::Tuple && !random_.one_in(4)) {
    std::vector<std::string> parts;
    for (const Ty& part : type.parts) parts.push_back(pattern(part, depth - 1));
    return fmt::format("({})", fmt::join(parts, ", "));
  }
  if (depth > 0 && type.kind == Ty::Kind::Record && !random_.one_in(4)) {
    require("Params");
    use(Feature::Record);
    const std::string w = fresh("w");
    const std::string b = fresh("b");
    scope_.push_back({w, {Ty::Kind::Tensor, {3}, {}}});
    scope_.push_back({b, {}});
    return random_.one_in(2) ? fmt::format("Params {{ w = {}, b = {} }}", w, b)
                             : fmt::format("Params({}, {}, _)", w, b);
  }
  const std::string name = fresh("m");
  scope_.push_back({name, type});
  return name;
}

// Rather something at hand than something new. An empty list does not say of what.
std::string Generator::scrutinee(const Ty& type, int fuel) {
  if (!random_.one_in(3)) {
    if (const Name* name = variable(type)) return name->text;
  }
  const std::string value = expression(type, fuel);
  if (value.find("Nil") == std::string::npos && value.find("None") == std::string::npos)
    return value;
  const std::string name = fresh("s");
  return fmt::format("{{ let {0}: {1} = {2}; {0} }}", name, type_text(type), value);
}

// Names that the pattern has bound go out of scope again.
std::string Generator::clause(const std::string& pattern, const Ty& type, int fuel,
                              std::size_t scope) {
  const std::string body = using_names(type, expression(type, fuel), scope_.size() - scope);
  const std::string text = fmt::format("{} => {}", pattern, body);
  scope_.resize(scope);
  return text;
}

std::string Generator::match_option(const Ty& type, int fuel) {
  use(Feature::Match);
  const auto parts = shares(fuel, 3);
  const Name* known = variable_of(Ty::Kind::Option);
  const Ty option = known ? known->type : Ty{Ty::Kind::Option, {}, {any_type(1)}};
  const std::string value = scrutinee(option, parts[0]);
  const std::size_t scope = scope_.size();
  const std::string some = fmt::format("Some({})", pattern(option.element(), 2));
  const std::string first = clause(some, type, parts[1], scope);
  return fmt::format("match ({}) {{ {}, {} => {} }}", value, first,
                     random_.one_in(3) ? "_" : "None", expression(type, parts[2]));
}

std::string Generator::match_list(const Ty& type, int fuel) {
  use(Feature::Match);
  const auto parts = shares(fuel, 4);
  const Name* known = variable_of(Ty::Kind::List);
  const Ty list = known ? known->type : Ty{Ty::Kind::List, {}, {any_type(1)}};
  const std::string value = scrutinee(list, parts[0]);
  const std::size_t scope = scope_.size();
  const std::string head = pattern(list.element(), 2);
  if (random_.one_in(2)) {
    const std::string rest = pattern(list, 1);
    const std::string cons = clause(fmt::format("Cons({}, {})", head, rest), type, parts[1], scope);
    return fmt::format("match ({}) {{ Nil => {}, {} }}", value, expression(type, parts[2]), cons);
  }
  const std::string second = pattern(list.element(), 2);
  const std::string two =
      clause(fmt::format("Cons({}, Cons({}, _))", head, second), type, parts[1], scope);
  const std::string only = pattern(list.element(), 2);
  const std::string one = clause(fmt::format("Cons({}, Nil)", only), type, parts[2], scope);
  return fmt::format("match ({}) {{ {}, {}, _ => {} }}", value, two, one,
                     expression(type, parts[3]));
}

std::string Generator::match_two(const Ty& type, int fuel) {
  use(Feature::Match);
  const auto parts = shares(fuel, 4);
  const Ty left{Ty::Kind::List, {}, {data_type(1)}};
  const Ty right{Ty::Kind::Option, {}, {data_type(1)}};
  const std::string values =
      fmt::format("{}, {}", scrutinee(left, parts[0]), scrutinee(right, parts[1]));
  const std::size_t scope = scope_.size();
  const std::string a = pattern(left.element(), 1);
  const std::string b = pattern(right.element(), 1);
  const std::string both =
      clause(fmt::format("(Cons({}, _), Some({}))", a, b), type, parts[2], scope);
  return fmt::format("match ({}) {{ {}, (_, _) => {} }}", values, both, expression(type, parts[3]));
}

std::string Generator::match_tree(const Ty& type, int fuel) {
  use(Feature::Match);
  const auto parts = shares(fuel, 3);
  const bool rose = random_.one_in(3);
  const Name* known = variable_of(rose ? Ty::Kind::Rose : Ty::Kind::Tree);
  const Ty tree =
      known ? known->type : Ty{rose ? Ty::Kind::Rose : Ty::Kind::Tree, {}, {data_type(1)}};
  type_text(tree);
  const std::string value = scrutinee(tree, parts[0]);
  const std::size_t scope = scope_.size();
  const std::string item = pattern(tree.element(), 2);
  if (rose) {
    const std::string kids = pattern({Ty::Kind::List, {}, {tree}}, 1);
    return fmt::format("match ({}) {{ {} }}", value,
                       clause(fmt::format("Rose({}, {})", item, kids), type, parts[1], scope));
  }
  const std::string leaf = clause(fmt::format("Leaf({})", item), type, parts[1], scope);
  const std::string l = pattern(tree, 1);
  const std::string r = pattern(tree, 1);
  return fmt::format("match ({}) {{ {}, {} }}", value, leaf,
                     clause(fmt::format("Node({}, {})", l, r), type, parts[2], scope));
}

std::string Generator::match_choice(const Ty& type, int fuel) {
  use(Feature::Match);
  const auto parts = shares(fuel, 4);
  const Ty choice{Ty::Kind::Choice, {}, {}};
  require("Choice");
  const std::string value = scrutinee(choice, parts[0]);
  const std::size_t scope = scope_.size();
  const std::string number = pattern({}, 1);
  const std::string one = clause(fmt::format("One({})", number), type, parts[1], scope);
  const std::string vector = pattern({Ty::Kind::Tensor, {3}, {}}, 1);
  const std::string factor = pattern({}, 1);
  const std::string many =
      clause(fmt::format("Many({}, {})", vector, factor), type, parts[2], scope);
  return fmt::format("match ({}) {{ {}, {}, {} => {} }}", value, one, many,
                     random_.one_in(3) ? "_" : "Neither", expression(type, parts[3]));
}

// --- Loops ---

std::string Generator::local_loop(const Ty& type, int fuel) {
  use(Feature::Loop);
  use(Feature::Closure);
  const auto parts = shares(fuel, 3);
  const std::string start = expression(type, parts[0]);
  const std::string go = fresh("go");
  const std::string acc = fresh("acc");
  const std::string stop =
      random_.one_in(3) ? fmt::format("k == 0 || {}", condition(parts[2])) : "k == 0";
  scope_.push_back({acc, type});
  const std::string step = tame(type, using_names(type, expression(type, parts[1]), 1));
  scope_.pop_back();
  std::string more = fmt::format("{}(k - 1, {})", go, step);
  if (random_.one_in(4)) more = tame(type, more);
  return fmt::format(
      "{{ let {0} = fn (k: int32, {1}: {2}) -> {2} {{ if ({3}) {{ {1} }} else {{ {4} }} }}; "
      "{0}({5}, {6}) }}",
      go, acc, type_text(type), stop, more, small_count(), start);
}

std::string Generator::local_list_loop(const Ty& type, int fuel) {
  use(Feature::ListRecursion);
  use(Feature::Match);
  use(Feature::Closure);
  const auto parts = shares(fuel, 3);
  const Name* known = variable_of(Ty::Kind::List);
  const Ty list = known ? known->type : Ty{Ty::Kind::List, {}, {data_type(1)}};
  const std::string start = expression(type, parts[0]);
  const std::string items = scrutinee(list, parts[1]);
  const std::string go = fresh("go");
  const std::string acc = fresh("acc");
  const std::string head = fresh("h");
  scope_.push_back({acc, type});
  scope_.push_back({head, list.element()});
  const std::string step = tame(type, using_names(type, expression(type, parts[2]), 2));
  scope_.resize(scope_.size() - 2);
  return fmt::format(
      "{{ let {0} = fn (xs: {1}, {2}: {3}) -> {3} {{ match (xs) {{ Nil => {2}, Cons({4}, rest) => "
      "{0}(rest, "
      "{5}) }} }}; {0}({6}, {7}) }}",
      go, type_text(list), acc, type_text(type), head, step, items, start);
}

// A loop that reads other elements of a tensor at each step.
std::string Generator::place_loop(const Ty& type, int fuel) {
  use(Feature::Loop);
  use(Feature::Closure);
  const auto parts = shares(fuel, 3);
  const std::int64_t n = static_cast<std::int64_t>(1 + random_.below(3));
  const bool rows = random_.one_in(3);
  const Ty tensor{Ty::Kind::Tensor, rows ? Shape{n, 3} : Shape{n}, {}};
  const std::string items = scrutinee(tensor, parts[0]);
  const std::string start = expression(type, parts[1]);
  const std::string xs = fresh("xs");
  const std::string go = fresh("go");
  const std::string acc = fresh("acc");
  const std::string k = fresh("k");  // loops inside see it too
  const std::string read = random_.one_in(2) ? fmt::format("{}[{} - 1]", xs, k)
                                             : fmt::format("take({}, {} - 1, axis=0)", xs, k);
  const bool carried = random_.one_in(2);  // part of the state, or captured
  scope_.push_back({xs, tensor});
  scope_.push_back({acc, type});
  scope_.push_back({read, {Ty::Kind::Tensor, rows ? Shape{3} : Shape{}, {}}});
  const std::string step = tame(type, using_names(type, expression(type, parts[2]), 2));
  const std::string next =
      carried && random_.one_in(3) ? tame(tensor, expression(tensor, parts[2] / 2)) : xs;
  scope_.resize(scope_.size() - 3);
  const std::string params = carried ? fmt::format("{}: {}, ", xs, type_text(tensor)) : "";
  const std::string loop = fmt::format(
      "let {0} = fn ({1}: int32, {2}{3}: {4}) -> {4} {{ if ({1} == 0) {{ {3} }} else {{ "
      "{0}({1} - 1, {5}{6}) }} }};",
      go, k, params, acc, type_text(type), carried ? next + ", " : "", step);
  if (carried) return fmt::format("{{ {} {}({}, {}, {}) }}", loop, go, n, items, start);
  return fmt::format("{{ let {}: {} = {}; {} {}({}, {}) }}", xs, type_text(tensor), items, loop, go,
                     n, start);
}

// Computed again in reverse.
std::string Generator::checkpoint(const Ty& type, int fuel) {
  return fmt::format("annotation.checkpoint({})", expression(type, fuel - 1));
}

// --- References ---

std::string Generator::reference(const Ty& type, int fuel) {
  if (!options_.references || index_depth_ > 0) return expression(type, fuel - 1);
  use(Feature::Reference);
  const auto parts = shares(fuel, 3);
  const bool same = type.holds_function() || random_.one_in(2);
  const Ty held = same && !type.holds_function() ? type : data_type(1);
  const std::string start = expression(held, parts[0]);
  const std::string r = fresh("r");
  scope_.push_back({fmt::format("ref_read({})", r), held});
  scope_.push_back({fmt::format("ref_read({})", r), held});
  const std::string next = expression(held, parts[1]);
  const std::string body = expression(type, parts[2]);
  scope_.resize(scope_.size() - 2);
  if (random_.one_in(3)) {  // under two names
    return fmt::format("{{ let {0} = ref({1}); let {0}b = {0}; ref_write({0}b, {2}); {3} }}", r,
                       start, next, body);
  }
  return fmt::format("{{ let {0} = ref({1}); ref_write({0}, {2}); {3} }}", r, start, next, body);
}

// A loop that keeps its state in a reference.
std::string Generator::reference_loop(const Ty& type, int fuel) {
  if (!options_.references || index_depth_ > 0 || type.holds_function())
    return expression(type, fuel - 1);
  use(Feature::Reference);
  use(Feature::Loop);
  const auto parts = shares(fuel, 2);
  const std::string start = expression(type, parts[0]);
  const std::string r = fresh("r");
  const std::string go = fresh("go");
  scope_.push_back({fmt::format("ref_read({})", r), type});
  const std::string step = tame(type, expression(type, parts[1]));
  scope_.pop_back();
  return fmt::format(
      "{{ let {0} = ref({1}); let {2} = fn (k: int32) -> () {{ if (k == 0) {{ () }} else {{ "
      "ref_write({0}, "
      "{3}); {2}(k - 1) }} }}; {2}({4}); ref_read({0}) }}",
      r, start, go, step, small_count());
}

// A closure that remembers.
std::string Generator::reference_in_closure(const Ty& type, int fuel) {
  if (!options_.references || index_depth_ > 0 || type.holds_function())
    return expression(type, fuel - 1);
  use(Feature::Reference);
  use(Feature::Closure);
  const auto parts = shares(fuel, 3);
  const std::string start = expression(type, parts[0]);
  const std::string r = fresh("r");
  const std::string f = fresh("f");
  const std::string x = fresh("z");
  scope_.push_back({fmt::format("ref_read({})", r), type});
  scope_.push_back({x, type});
  const std::string step = tame(type, using_names(type, expression(type, parts[1]), 2));
  scope_.resize(scope_.size() - 2);
  scope_.push_back({f, {Ty::Kind::Function, {}, {type, type}}});
  const std::string body = expression(type, parts[2]);
  scope_.pop_back();
  return fmt::format(
      "{{ let {0} = ref({1}); let {2} = fn ({3}: {4}) -> {4} {{ ref_write({0}, {5}); ref_read({0}) "
      "}}; "
      "{2}({2}({6})) }}",
      r, start, f, x, type_text(type), step, body);
}

}  // namespace relay::tests
