#include <fmt/format.h>

#include "tests/support/random_generator.h"

// Definitions: functions, loops, recursion, and functions that inspect values of a type.
namespace relay::tests {

// --- Definitions ---

void Generator::define_some() {
  for (std::size_t i = 0; i < 4; ++i) {
    const Random::Part part(random_);
    if (options_.combinators && random_.one_in(2)) {
      define_maker();
      continue;
    }
    switch (random_.below(options_.whole_language ? 15 : 10)) {
      default:
        return;
      case 6:
      case 7:
      case 8:
        define_helper();
        break;
      case 9:
        define_loop();
        break;
      case 10:
        define_mutual();
        break;
      case 11:
      case 12:
        define_list_recursion();
        break;
      case 13:
        define_tree_recursion();
        break;
      case 14:
        define_maker();
        break;
    }
  }
}

std::vector<Ty> Generator::parameter_types(std::size_t count) {
  std::vector<Ty> types;
  for (std::size_t i = 0; i < count; ++i) types.push_back(any_type(1));
  return types;
}

// Binds p0, p1, ... and no other names.
std::string Generator::parameters(const std::vector<Ty>& types, bool annotated) {
  scope_.clear();
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string name = fmt::format("p{}", i);
    text += (i ? ", " : "") + name;
    if (annotated || !types[i].is_tensor()) text += ": " + type_text(types[i]);
    scope_.push_back({name, types[i]});
  }
  return text;
}

void Generator::define(Callee callee, const std::string& text) {
  program_.text += text;
  callee.features = features_;
  features_ = 0;  // counted where the function is called
  callees_.push_back(std::move(callee));
}

void Generator::define_helper() {
  features_ = 0;
  Callee callee{fresh("g"), parameter_types(1 + random_.below(2)), any_type(1)};
  const std::string params = parameters(callee.params, random_.one_in(2));
  const std::string body =
      using_names(callee.result, expression(callee.result, 6), callee.params.size());
  define(callee, fmt::format("def {}({}) {{ {} }}\n", callee.name, params, body));
}

// Tail-recursive; ends after a count, or as soon as its state meets a condition.
void Generator::define_loop() {
  features_ = 0;
  use(Feature::Loop);
  const Ty state = data_type(1);
  Callee callee{fresh("loop"), {state, any_type(1)}, state, true};
  const std::string params =
      parameters(callee.params, random_.one_in(2) || !callee.params[1].is_scalar());
  if (const Ty& read = callee.params[1]; read.is_tensor() && !read.shape.empty()) {
    Ty part = read;
    part.shape.erase(part.shape.begin());
    scope_.push_back({fmt::format("p1[mod(n, {})]", read.shape[0]), part});
  }
  const std::string stop = random_.one_in(3) ? fmt::format("n <= 0 || {}", condition(2)) : "n <= 0";
  const std::string end = random_.one_in(3) ? expression(state, 3) : "p0";
  const std::string step = tame(state, expression(state, 6));
  define(callee,
         fmt::format("def {0}(n, {1}) {{ if ({2}) {{ {3} }} else {{ {0}(n - 1, {4}, p1) }} }}\n",
                     callee.name, params, stop, end, step));
}

// Two functions that call each other, last or with more to do.
void Generator::define_mutual() {
  features_ = 0;
  use(Feature::MutualRecursion);
  const Ty state = data_type(1);
  Callee even{fresh("even"), {state}, state, true};
  const std::string odd = fresh("odd");
  const auto half = [&](const std::string& name, const std::string& other, bool tail) {
    const std::string param = parameters({state}, true);
    const std::string end = leaf(state);
    const std::string step = expression(state, 3);
    std::string more = fmt::format("{}(n - 1, {})", other, tame(state, step));
    if (!tail) {
      scope_.push_back({"r", state});
      more = fmt::format("{{ let r = {}; {} }}", more, tame(state, expression(state, 4)));
    }
    return fmt::format("def {}(n, {}) -> {} {{ if (n <= 0) {{ {} }} else {{ {} }} }}\n", name,
                       param, type_text(state), end, more);
  };
  const bool tail = random_.one_in(2);
  const std::string text = half(even.name, odd, tail) + half(odd, even.name, random_.one_in(2));
  define(even, text);
}

void Generator::define_list_recursion() {
  features_ = 0;
  use(Feature::ListRecursion);
  use(Feature::Match);
  const Ty item = data_type(1);
  const Ty result = data_type(1);
  const Ty list{Ty::Kind::List, {}, {item}};
  Callee callee{fresh("list"), {list, result}, result};
  const std::string params = parameters(callee.params, true);
  const std::string end = random_.one_in(2) ? expression(result, 2) : "p1";
  scope_.push_back({"h", item});
  const bool tail = random_.one_in(2);
  const std::string step =
      tame(result, using_names(result, expression(result, tail ? 5 : 2), tail ? 2 : 0));
  std::string more = fmt::format("{}(t, {})", callee.name, step);
  if (!tail) {
    scope_.push_back({"r", result});
    more = fmt::format("{{ let r = {}; {} }}", more,
                       tame(result, using_names(result, expression(result, 5), 3)));
  }
  define(callee,
         fmt::format("def {}({}) -> {} {{ match (p0) {{ Nil => {}, Cons(h, t) => {} }} }}\n",
                     callee.name, params, type_text(result), end, more));
}

void Generator::define_tree_recursion() {
  features_ = 0;
  use(Feature::TreeRecursion);
  use(Feature::Match);
  const Ty item = data_type(1);
  const Ty result = data_type(1);
  Callee callee{fresh("tree"), {{Ty::Kind::Tree, {}, {item}}, any_type(1)}, result};
  const std::string params = parameters(callee.params, true);
  scope_.push_back({"x", item});
  const std::string end = expression(result, 4);
  scope_.pop_back();
  scope_.push_back({"a", result});
  scope_.push_back({"b", result});
  const std::string join = tame(result, using_names(result, expression(result, 5), 2));
  define(callee,
         fmt::format("def {0}({1}) -> {2} {{ match (p0) {{ Leaf(x) => {3}, Node(l, r) => {{ let "
                     "a = {0}(l, p1); let b = {0}(r, p1); {4} }} }} }}\n",
                     callee.name, params, type_text(result), end, join));
}

// Gives a function that has captured the parameters.
void Generator::define_maker() {
  features_ = 0;
  use(Feature::Closure);
  Callee callee{
      fresh("make"), {options_.combinators ? any_type(1) : data_type(1)}, function_type()};
  const std::string params = parameters(callee.params, true);
  const std::string body = lambda(callee.result, 6);
  define(callee, fmt::format("def {}({}) {{ {} }}\n", callee.name, params, body));
}

std::string Generator::inner_product(const Ty& type) {
  const std::string text = type_text(type);
  if (const auto known = inner_products_.find(text); known != inner_products_.end())
    return known->second;
  const std::string name = fmt::format("inner{}", inner_products_.size());
  inner_products_[text] = name;
  std::string body;
  switch (type.kind) {
    case Ty::Kind::Tensor:
      body = type.shape.empty() ? "a * b" : "sum(a * b)";
      break;
    case Ty::Kind::Tuple:
      for (std::size_t i = 0; i < type.parts.size(); ++i)
        body +=
            fmt::format("{0}{1}(a.{2}, b.{2})", i ? " + " : "", inner_product(type.parts[i]), i);
      break;
    case Ty::Kind::List:
      body = fmt::format(
          "match (a, b) {{ (Cons(x, xs), Cons(y, ys)) => {}(x, y) + {}(xs, ys), _ => {} }}",
          inner_product(type.element()), name, scalar(0));
      break;
    case Ty::Kind::Option:
      body = fmt::format("match (a, b) {{ (Some(x), Some(y)) => {}(x, y), _ => {} }}",
                         inner_product(type.element()), scalar(0));
      break;
    case Ty::Kind::Tree:
      body = fmt::format(
          "match (a, b) {{ (Leaf(x), Leaf(y)) => {0}(x, y), (Node(l, r), Node(m, s)) => {1}(l, m) "
          "+ "
          "{1}(r, s), _ => {2} }}",
          inner_product(type.element()), name, scalar(0));
      break;
    case Ty::Kind::Rose:
      body =
          fmt::format("match (a, b) {{ (Rose(x, xs), Rose(y, ys)) => {}(x, y) + {}(xs, ys) }}",
                      inner_product(type.element()), inner_product({Ty::Kind::List, {}, {type}}));
      break;
    case Ty::Kind::Record:
      body = "sum(a.w * b.w) + a.b * b.b";
      break;
    case Ty::Kind::Choice:
      body = fmt::format(
          "match (a, b) {{ (One(x), One(y)) => x * y, (Many(v, x), Many(w, y)) => sum(v * w) + x * "
          "y, _ => {} }}",
          scalar(0));
      break;
    case Ty::Kind::Function:
      break;
  }
  program_.inner_product_definitions +=
      fmt::format("def {}(a: {}, b: {}) -> {} {{ {} }}\n", name, text, text, dtype_name(), body);
  return name;
}

// The sum of all numbers in a value.
std::string Generator::total(const Ty& type) {
  const std::string text = type_text(type);
  if (const auto known = totals_.find(text); known != totals_.end()) return known->second;
  const std::string name = fmt::format("total{}", totals_.size());
  totals_[text] = name;
  std::string body;
  switch (type.kind) {
    case Ty::Kind::Tensor:
      body = type.shape.empty() ? "a" : "sum(a)";
      break;
    case Ty::Kind::Tuple:
      for (std::size_t i = 0; i < type.parts.size(); ++i)
        body += fmt::format("{}{}(a.{})", i ? " + " : "", total(type.parts[i]), i);
      break;
    case Ty::Kind::List:
      body = fmt::format("match a {{ Cons(x, rest) => {}(x) + {}(rest), Nil => {} }}",
                         total(type.element()), name, scalar(0));
      break;
    case Ty::Kind::Option:
      body = fmt::format("match a {{ Some(x) => {}(x), None => {} }}", total(type.element()),
                         scalar(0));
      break;
    case Ty::Kind::Tree:
      body = fmt::format("match a {{ Leaf(x) => {0}(x), Node(l, r) => {1}(l) * {1}(r) }}",
                         total(type.element()), name);
      break;
    case Ty::Kind::Rose:
      body = fmt::format("match a {{ Rose(x, kids) => {}(x) - {}(kids) }}", total(type.element()),
                         total({Ty::Kind::List, {}, {type}}));
      break;
    case Ty::Kind::Record:
      body = "sum(a.w) + a.b";
      break;
    case Ty::Kind::Choice:
      body = fmt::format("match a {{ One(x) => x, Many(v, x) => sum(v) * x, _ => {} }}", scalar(0));
      break;
    case Ty::Kind::Function:
      break;
  }
  library_ += fmt::format("def {}(a: {}) -> {} {{ {} }}\n", name, text, dtype_name(), body);
  return name;
}

void Generator::define_main() {
  const Random::Part part(random_);
  scope_.clear();
  features_ = 0;
  std::string params;
  for (std::size_t i = 1 + random_.below(3); i > 0; --i) {
    const std::string name = fmt::format("x{}", scope_.size());
    const Ty type = data_type(options_.whole_language ? 2 : 0);
    program_.args.push_back(constant(type, 2));
    program_.param_types.push_back(type_text(type));
    program_.inner_products.push_back(inner_product(type));
    params += (params.empty() ? "" : ", ") + name + ": " + program_.param_types.back();
    scope_.push_back({name, type});
  }
  const Ty result = options_.scalar_result    ? Ty{}
                    : options_.whole_language ? data_type(2)
                                              : tensor_type();
  program_.result_type = type_text(result);
  const int fuel = static_cast<int>(2 + random_.below(options_.size));
  std::string body = using_names(result, expression(result, fuel), scope_.size());
  if (options_.scalar_result && !random_.one_in(3)) body = tame(result, body);  // not linear
  program_.text += fmt::format("def f({}) -> {} {{ {} }}\n", params, program_.result_type, body);
  program_.call = fmt::format("f({})", fmt::join(program_.args, ", "));
}

}  // namespace relay::tests
