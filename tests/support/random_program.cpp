#include "tests/support/random_program.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tests/support/random_generator.h"

namespace relay::tests {

using lang::DType;

std::string RandomProgram::arg_names() const {
  std::string text;
  for (std::size_t i = 0; i < param_types.size(); ++i)
    text += fmt::format("{}a{}", i ? ", " : "", i);
  return text;
}

std::string RandomProgram::wrapped(const std::string& body) const {
  std::string text = "fn (";
  for (std::size_t i = 0; i < param_types.size(); ++i) {
    text += fmt::format("{}a{}: {}", i ? ", " : "", i, param_types[i]);
  }
  return text + ") { " + body + " }";
}

RandomProgram random_program(std::uint64_t seed, const ProgramOptions& options) {
  Random random(seed);
  RandomProgram program = Generator(random, options).run();
  program.seed = seed;
  return program;
}

RandomProgram program_of_choices(const Choices& choices, const ProgramOptions& options) {
  Random random(choices);
  return Generator(random, options).run();
}

bool Ty::element_is_tensor() const {
  return std::all_of(parts.begin(), parts.end(), [](const Ty& part) { return part.is_tensor(); });
}

bool Ty::holds_function() const {
  if (is_function()) return true;
  for (const Ty& part : parts) {
    if (part.holds_function()) return true;
  }
  return false;
}

RandomProgram Generator::run() {
  {
    const Random::Part part(random_);
    shapes_ = {{}, tensor_type().shape, tensor_type().shape};
    shapes_.insert(shapes_.begin(), Shape{});
    std::vector<Ty> palette = {{}};
    for (int i = 0; i < 5; ++i) palette.push_back(new_type(2));
    palette_ = std::move(palette);
  }
  features_ = 0;
  define_some();
  define_main();
  program_.features = features_;
  program_.choices = random_.take_choices();
  program_.text = library_ + program_.text;
  return std::move(program_);
}

// --- What programs may use that many of them share ---

std::string Generator::require(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kLibrary[] = {
      {"Tree", "type Tree[A] { Leaf(A), Node(Tree[A], Tree[A]) }"},
      {"Rose", "type Rose[A] { Rose(A, List[Rose[A]]) }"},
      {"Params", "type Params { Params { w: Tensor[(3), DTYPE], b: DTYPE, steps: int32 } }"},
      {"Choice", "type Choice { Neither, One(DTYPE), Many(Tensor[(3), DTYPE], DTYPE) }"},
      {"Box", "type Box[A] { Box(A) }"},
      {"twice", "def twice(f, x) { f(f(x)) }"},
      {"swap", "def swap(p) { let (a, b) = p; (b, a) }"},
      {"apply_all",
       "def apply_all(fs, x) { match fs { Nil => x, Cons(f, rest) => "
       "apply_all(rest, f(x)) } }"},
      {"fold_tree",
       "def fold_tree(f, g, t) { match t { Leaf(x) => f(x), Node(l, r) => "
       "g(fold_tree(f, g, l), fold_tree(f, g, r)) } }"},
      {"map_tree",
       "def map_tree(f, t) { match t { Leaf(x) => Leaf(f(x)), Node(l, r) => "
       "Node(map_tree(f, l), map_tree(f, r)) } }"},
      {"fold_rose",
       "def fold_rose(f, t) { match t { Rose(x, kids) => "
       "f(x, map(fn (kid) { fold_rose(f, kid) }, kids)) } }"},
      {"Plan",
       "type Plan { Scale(DTYPE), Apply(fn (DTYPE) -> DTYPE), Both(Plan, Plan), "
       "Made(fn (DTYPE) -> fn (DTYPE) -> DTYPE, DTYPE) }"},
      {"run",
       "def run(p) { match p { Scale(w) => fn (x) { sin(w * x) }, Apply(f) => f, "
       "Both(a, b) => fn (x) { run(b)(run(a)(x)) }, Made(m, w) => m(w) } }"},
      {"layer", "def layer(w, act) { fn (x) { act(w * x) } }"},
      {"doubled", "def doubled(f) { fn (x) { f(f(x)) } }"},
      {"tower", "def tower(n, f) { if (n <= 0) { f } else { tower(n - 1, compose(f, f)) } }"},
      {"chain",
       "def chain(fs) { match fs { Nil => fn (x) { x }, Cons(f, rest) => fn (x) { "
       "chain(rest)(f(x)) } } }"},
      {"church_zero", "def church_zero(f) { fn (x) { x } }"},
      {"church_succ", "def church_succ(n) { fn (f) { fn (x) { f(n(f)(x)) } } }"},
      {"church_plus", "def church_plus(m, n) { fn (f) { fn (x) { m(f)(n(f)(x)) } } }"},
      {"curry2", "def curry2(f) { fn (x) { fn (y) { f(x, y) } } }"},
      {"uncurry2", "def uncurry2(f) { fn (x, y) { f(x)(y) } }"},
      {"along_both", "def along_both(f, g, h) { fn (x) { f(g(x), h(x)) } }"},
      {"then", "def then(f, k) { fn (x) { (fn (r) { k(r) })(f(x)) } }"},
      {"ret", "def ret(a) { fn (s) { (a, s) } }"},
      {"bind", "def bind(m, k) { fn (s) { let r = m(s); k(r.0)(r.1) } }"},
      {"mm", "def mm(a, b) { for i, j { sum k { a[i, k] * b[k, j] } } }"},
      {"outer", "def outer(a, b) { for i, j { a[i] * b[j] } }"},
      {"dot", "def dot[n](a: Tensor[(n), DTYPE], b: Tensor[(n), DTYPE]) { sum(a * b) }"}};
  if (declared_.insert(std::string(name)).second) {
    for (const auto& [key, text] : kLibrary) {
      if (key != name) continue;
      library_ += text;
      library_ += '\n';
    }
    for (std::size_t at; (at = library_.find("DTYPE")) != std::string::npos;)
      library_.replace(at, 5, dtype_name());
  }
  return std::string(name);
}

// --- Types ---

std::string Generator::type_text(const Ty& type) {
  std::vector<std::string> parts;
  for (const Ty& part : type.parts) parts.push_back(type_text(part));
  switch (type.kind) {
    case Ty::Kind::Tensor:
      if (type.shape.empty()) return std::string(dtype_name());
      return fmt::format("Tensor[({}), {}]", fmt::join(type.shape, ", "), dtype_name());
    case Ty::Kind::Tuple:
      return fmt::format("({})", fmt::join(parts, ", "));
    case Ty::Kind::List:
      return fmt::format("List[{}]", parts[0]);
    case Ty::Kind::Option:
      return fmt::format("Option[{}]", parts[0]);
    case Ty::Kind::Tree:
      return fmt::format("{}[{}]", require("Tree"), parts[0]);
    case Ty::Kind::Rose:
      return fmt::format("{}[{}]", require("Rose"), parts[0]);
    case Ty::Kind::Record:
      return require("Params");
    case Ty::Kind::Choice:
      return require("Choice");
    case Ty::Kind::Function: {
      const std::string result = parts.back();
      parts.pop_back();
      return fmt::format("fn ({}) -> {}", fmt::join(parts, ", "), result);
    }
  }
  return "";
}

Ty Generator::tensor_type() {
  if (options_.combinators) return random_.one_in(8) ? Ty{Ty::Kind::Tensor, {2}, {}} : Ty{};
  static const std::vector<Shape> kShapes = {{},  {},  {},     {3},    {3},    {2},
                                             {2}, {1}, {2, 3}, {3, 2}, {2, 2}, {1, 3}};
  if (!shapes_.empty() && !random_.one_in(8))
    return {Ty::Kind::Tensor, shapes_[random_.below(shapes_.size())], {}};
  return {Ty::Kind::Tensor, kShapes[random_.below(kShapes.size())], {}};
}

// Few types in one program, so that what it makes fits what it has.
Ty Generator::data_type(int depth) {
  const Random::Part part(random_);
  if (!palette_.empty() && !random_.one_in(6)) {
    const Ty& type = palette_[random_.below(palette_.size())];
    if (depth > 1 || type.is_tensor() || type.element_is_tensor()) return type;
    return tensor_type();
  }
  return new_type(depth);
}

Ty Generator::new_type(int depth) {
  const std::size_t kind = depth <= 0 ? 0 : random_.below(options_.whole_language ? 16 : 10);
  switch (kind) {
    case 8:
    case 9: {
      std::vector<Ty> fields = {data_type(depth - 1), data_type(depth - 1)};
      if (random_.one_in(4)) fields.push_back(data_type(depth - 1));
      return {Ty::Kind::Tuple, {}, std::move(fields)};
    }
    case 10:
    case 11:
      return {Ty::Kind::List, {}, {data_type(depth - 1)}};
    case 12:
      return {Ty::Kind::Option, {}, {data_type(depth - 1)}};
    case 13:
      return {random_.one_in(3) ? Ty::Kind::Rose : Ty::Kind::Tree, {}, {data_type(depth - 1)}};
    case 14:
      use(Feature::Record);
      return {Ty::Kind::Record, {}, {}};
    case 15:
      return {Ty::Kind::Choice, {}, {}};
    default:
      return tensor_type();
  }
}

Ty Generator::function_type() {
  if (options_.combinators) return type_of_order(1 + random_.below(2));
  std::vector<Ty> parts = {data_type(1)};
  if (random_.one_in(4)) parts.push_back(data_type(1));
  parts.push_back(random_.one_in(3) ? data_type(1) : parts[0]);
  return {Ty::Kind::Function, {}, std::move(parts)};
}

Ty Generator::any_type(int depth) {
  const bool is_function = options_.whole_language && random_.one_in(options_.combinators ? 2 : 8);
  return is_function ? function_type() : data_type(depth);
}

// --- Numbers ---

std::string Generator::number_digits(double value) const {
  if (!is_float()) return fmt::format("{}", static_cast<int>(value * 8));
  const std::string digits = fmt::format("{:.4g}", value);
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

std::string Generator::scalar(double value) const {
  const char* suffix = !is_float()                        ? ""
                       : options_.dtype == DType::Float64 ? "f64"
                       : options_.dtype == DType::Float16 ? "f16"
                                                          : "f";
  const std::string text = number_digits(value) + suffix;
  return text.starts_with('-') ? "(" + text + ")" : text;
}

std::string Generator::literal(const Shape& shape, std::size_t axis) {
  if (axis == shape.size()) {
    if (shape.empty()) return scalar(random_.number());
    const std::string text = scalar(random_.number());
    return text.starts_with('(') ? text.substr(1, text.size() - 2) : text;
  }
  std::string text = "[";
  for (std::int64_t i = 0; i < shape[axis]; ++i) text += (i ? ", " : "") + literal(shape, axis + 1);
  return text + "]";
}

std::string Generator::small_count() { return fmt::format("{}", 1 + random_.below(3)); }

std::string Generator::constant(const Ty& type, int depth) {
  const Random::Part part(random_);
  const auto parts = [&](const std::vector<Ty>& types) {
    std::vector<std::string> texts;
    for (const Ty& part : types) texts.push_back(constant(part, depth - 1));
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  switch (type.kind) {
    case Ty::Kind::Tensor:
      return literal(type.shape);
    case Ty::Kind::Tuple:
      return "(" + parts(type.parts) + ")";
    case Ty::Kind::List: {
      std::string text = "Nil";
      for (std::size_t i = random_.below(4); i > 0; --i)
        text = fmt::format("Cons({}, {})", constant(type.element(), depth - 1), text);
      return text;
    }
    case Ty::Kind::Option:
      return random_.one_in(4) ? "None" : fmt::format("Some({})", parts(type.parts));
    case Ty::Kind::Tree:
      if (depth <= 0 || random_.one_in(3)) return fmt::format("Leaf({})", parts(type.parts));
      return fmt::format("Node({}, {})", constant(type, depth - 1), constant(type, depth - 1));
    case Ty::Kind::Rose: {
      std::string kids = "Nil";
      if (depth > 0) {
        for (std::size_t i = random_.below(3); i > 0; --i)
          kids = fmt::format("Cons({}, {})", constant(type, depth - 1), kids);
      }
      return fmt::format("Rose({}, {})", parts(type.parts), kids);
    }
    case Ty::Kind::Record:
      return fmt::format("Params({}, {}, {})", literal({3}), literal({}), small_count());
    case Ty::Kind::Choice:
      if (random_.one_in(6)) return "Neither";
      return random_.one_in(2) ? fmt::format("One({})", literal({}))
                               : fmt::format("Many({}, {})", literal({3}), literal({}));
    case Ty::Kind::Function:
      break;
  }
  return "";
}

// --- Names ---

std::string Generator::fresh(std::string_view prefix) {
  return fmt::format("{}{}", prefix, names_++);
}

std::vector<int> Generator::shares(int fuel, std::size_t count) {
  std::vector<int> parts(count, 0);
  int left = fuel - 1;
  for (std::size_t i = 0; i + 1 < count && left > 0; ++i) {
    const auto even = static_cast<std::size_t>(left) * 2 / (count - i);
    parts[i] = static_cast<int>(random_.below(even + 1));
    if (parts[i] > left) parts[i] = left;
    left -= parts[i];
  }
  parts.back() = left > 0 ? left : 0;
  return parts;
}

const Generator::Name* Generator::variable(const Ty& type) {
  std::vector<const Name*> fitting;
  for (const Name& name : scope_) {
    if (name.type == type) fitting.push_back(&name);
  }
  if (fitting.empty()) return nullptr;
  const std::size_t back = std::min(random_.below(fitting.size()), random_.below(fitting.size()));
  return fitting[fitting.size() - 1 - back];
}

const Generator::Name* Generator::variable_of(Ty::Kind kind) {
  std::vector<const Name*> fitting;
  for (const Name& name : scope_) {
    if (name.type.kind == kind) fitting.push_back(&name);
  }
  if (fitting.empty()) return nullptr;
  return fitting[fitting.size() - 1 - random_.below(fitting.size())];
}

}  // namespace relay::tests
