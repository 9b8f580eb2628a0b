#include "tests/support/random_program.h"

#include <utility>

#include <fmt/format.h>

#include "lang/tensor.h"

namespace relay::tests {

using lang::DType;

std::uint64_t Random::next() {  // splitmix64
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double Random::number() { return (static_cast<double>(below(257)) - 128.0) / 64.0; }

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

namespace {

using Shape = std::vector<std::int64_t>;

struct Name {
  std::string text;
  Shape shape;
};
struct Callee {
  std::string name;
  std::vector<Shape> params;
  Shape result;
  bool is_loop;  // takes a count first
};

class Generator {
 public:
  Generator(std::uint64_t seed, const ProgramOptions& options) : random_(seed), options_(options) {
    program_.seed = seed;
  }

  RandomProgram run() {
    if (random_.one_in(2)) library();
    const std::size_t helpers = random_.below(3);
    for (std::size_t i = 0; i < helpers; ++i) random_.one_in(3) ? loop() : helper();
    main();
    return std::move(program_);
  }

 private:
  bool is_float() const { return lang::is_float(options_.dtype); }

  // --- Text of types and numbers ---

  std::string type_text(const Shape& shape) const {
    return type_text(shape, lang::name_of(options_.dtype));
  }
  static std::string type_text(const Shape& shape, std::string_view dtype) {
    if (shape.empty()) return std::string(dtype);
    return fmt::format("Tensor[({}), {}]", fmt::join(shape, ", "), dtype);
  }

  std::string number_text(double value) const {
    if (!is_float()) return fmt::format("{}", static_cast<int>(value * 8));
    const char* suffix = options_.dtype == DType::Float64   ? "f64"
                         : options_.dtype == DType::Float16 ? "f16"
                                                            : "f";
    const std::string digits = fmt::format("{}", value);
    return digits + (digits.find('.') == std::string::npos ? ".0" : "") + suffix;
  }
  std::string scalar(double value) const {
    const std::string text = number_text(value);
    return text.starts_with('-') ? "(" + text + ")" : text;
  }

  // A literal of this shape; its elements go to `numbers` too.
  std::string literal(const Shape& shape, std::size_t axis, std::vector<double>* numbers) {
    if (axis == shape.size()) {
      const double value = random_.number();
      if (numbers) numbers->push_back(value);
      return shape.empty() ? scalar(value) : number_text(value);
    }
    std::string text = "[";
    for (std::int64_t i = 0; i < shape[axis]; ++i) {
      text += (i ? ", " : "") + literal(shape, axis + 1, numbers);
    }
    return text + "]";
  }

  lang::Value value_of(const Shape& shape, const std::vector<double>& numbers) const {
    const auto bits = [&](double value) {
      return is_float() ? lang::bits_from_double(options_.dtype, value)
                        : lang::bits_from_int(options_.dtype, static_cast<int>(value * 8));
    };
    if (shape.empty()) return lang::Value::scalar(options_.dtype, bits(numbers[0]));
    auto tensor = lang::Tensor::make(options_.dtype, shape);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      tensor->set_bits(static_cast<std::int64_t>(i), bits(numbers[i]));
    }
    return lang::Value::tensor(std::move(tensor));
  }

  Shape any_shape() {
    Shape shape(random_.below(3));
    for (auto& extent : shape) extent = static_cast<std::int64_t>(1 + random_.below(4));
    return shape;
  }

  // --- Definitions ---

  // Functions whose dimensions stay variables when they are specialised.
  void library() {
    has_library_ = true;
    const std::string_view dtype = lang::name_of(options_.dtype);
    program_.text += "def mm(a, b) { for i, j { sum k { a[i, k] * b[k, j] } } }\n";
    program_.text += "def outer(a, b) { for i, j { a[i] * b[j] } }\n";
    program_.text += fmt::format(
        "def dot[n](a: Tensor[(n), {0}], b: Tensor[(n), {0}]) {{ sum(a * b) }}\n", dtype);
  }

  std::string library_call(const Shape& shape, int depth) {
    const auto inner = static_cast<std::int64_t>(1 + random_.below(4));
    if (shape.size() == 2 && random_.one_in(2)) {
      return fmt::format("mm({}, {})", expression({shape[0], inner}, depth - 1),
                         expression({inner, shape[1]}, depth - 1));
    }
    if (shape.size() == 2) {
      return fmt::format("outer({}, {})", expression({shape[0]}, depth - 1),
                         expression({shape[1]}, depth - 1));
    }
    const std::string dot =
        fmt::format("dot({}, {})", expression({inner}, depth - 1), expression({inner}, depth - 1));
    return shape.empty() ? dot : fmt::format("({} * {})", expression(shape, depth - 1), dot);
  }

  void helper() {
    Callee callee{fmt::format("g{}", callees_.size()), {}, any_shape(), false};
    for (std::size_t i = 1 + random_.below(2); i > 0; --i) callee.params.push_back(any_shape());
    define(callee, "", expression_over(callee.params, callee.result));
  }

  // A tail-recursive loop whose state stays small.
  void loop() {
    const Shape state = any_shape();
    Callee callee{fmt::format("g{}", callees_.size()), {state, any_shape()}, state, true};
    const std::string step = expression_over(callee.params, state);
    const std::string damped = is_float() ? fmt::format("tanh({})", step) : step;
    define(callee, "n, ",
           fmt::format("if (n <= 0) {{ p0 }} else {{ {}(n - 1, {}, p1) }}", callee.name, damped));
  }

  void define(const Callee& callee, const std::string& first, const std::string& body) {
    const bool annotated = random_.one_in(2);
    std::string params = first;
    for (std::size_t i = 0; i < callee.params.size(); ++i) {
      params += fmt::format("{}p{}", i ? ", " : "", i);
      if (annotated) params += ": " + type_text(callee.params[i]);
    }
    program_.text += fmt::format("def {}({}) {{ {} }}\n", callee.name, params, body);
    callees_.push_back(callee);
  }

  std::string expression_over(const std::vector<Shape>& params, const Shape& result) {
    scope_.clear();
    for (std::size_t i = 0; i < params.size(); ++i)
      scope_.push_back({fmt::format("p{}", i), params[i]});
    return expression(result, options_.depth - 1);
  }

  void main() {
    scope_.clear();
    std::string args;
    std::string params;
    for (std::size_t i = 1 + random_.below(3); i > 0; --i) {
      const std::string name = fmt::format("x{}", scope_.size());
      const Shape shape = any_shape();
      std::vector<double> numbers;
      args += (args.empty() ? "" : ", ") + literal(shape, 0, &numbers);
      program_.args.push_back(value_of(shape, numbers));
      program_.param_types.push_back(type_text(shape));
      params += (params.empty() ? "" : ", ") + name + ": " + type_text(shape);
      scope_.push_back({name, shape});
    }
    const Shape result = options_.scalar_result ? Shape{} : any_shape();
    program_.text +=
        fmt::format("def f({}) {{ {} }}\n", params, expression(result, options_.depth));
    program_.call = fmt::format("f({})", args);
  }

  // --- Expressions ---

  std::string expression(const Shape& shape, int depth) {
    if (depth <= 0) return leaf(shape);
    switch (random_.below(12)) {
      case 0:
        return leaf(shape);
      case 1:
        return unary(shape, depth);
      case 2:
      case 3:
        return binary(shape, depth);
      case 4:
        return broadcast(shape, depth);
      case 5:
        return let(shape, depth);
      case 6:
        return tuple(shape, depth);
      case 7:
        return conditional(shape, depth);
      case 8:
        return call(shape, depth);
      case 9:
        return reduced(shape, depth);
      case 10:
        return indexed(shape, depth);
      default:
        return rearranged(shape, depth);
    }
  }

  std::string leaf(const Shape& shape) {
    std::vector<const Name*> fitting;
    for (const Name& name : scope_) {
      if (name.shape == shape) fitting.push_back(&name);
    }
    if (!fitting.empty() && !random_.one_in(6)) return fitting[random_.below(fitting.size())]->text;
    if (scope_.empty() || random_.one_in(3)) return literal(shape, 0, nullptr);
    // A name of another shape must do.
    const Name& name = scope_[random_.below(scope_.size())];
    const std::string number = name.shape.empty() ? name.text : fmt::format("sum({})", name.text);
    return shape.empty() ? number : fmt::format("({} * {})", literal(shape, 0, nullptr), number);
  }

  std::string unary(const Shape& shape, int depth) {
    const std::string x = expression(shape, depth - 1);
    if (!is_float()) {
      static constexpr const char* kInteger[] = {"(-{})", "abs({})", "bitwise_not({})", "sign({})"};
      return fmt::format(fmt::runtime(kInteger[random_.below(4)]), x);
    }
    static constexpr const char* kSmooth[] = {"sin({0})",
                                              "cos({0})",
                                              "tanh({0})",
                                              "sigmoid({0})",
                                              "atan({0})",
                                              "erf({0})",
                                              "(-{0})",
                                              "exp(tanh({0}))",
                                              "log(sigmoid({0}) + {1})",
                                              "sqrt({1} + sigmoid({0}))"};
    static constexpr const char* kOther[] = {"abs({0})",  "nn.relu({0})", "floor({0})",
                                             "sign({0})", "sqrt({0})",    "log({0})",
                                             "exp({0})",  "round({0})"};
    if (options_.smooth || random_.one_in(2)) {
      return fmt::format(fmt::runtime(kSmooth[random_.below(std::size(kSmooth))]), x, scalar(1.5));
    }
    return fmt::format(fmt::runtime(kOther[random_.below(std::size(kOther))]), x);
  }

  std::string binary(const Shape& shape, int depth) {
    return combine(expression(shape, depth - 1), expression(shape, depth - 1));
  }

  std::string combine(const std::string& a, const std::string& b) {
    const std::size_t kinds = options_.smooth ? 4 : 7;
    switch (random_.below(kinds)) {
      case 0:
        return fmt::format("({} + {})", a, b);
      case 1:
        return fmt::format("({} - {})", a, b);
      case 2:
        return fmt::format("({} * {})", a, b);
      case 3:
        if (!is_float()) return fmt::format("mod({}, {})", a, scalar(1 + random_.below(5)));
        return options_.smooth ? fmt::format("({} / ({} + sigmoid({})))", a, scalar(1), b)
                               : fmt::format("({} / {})", a, b);
      case 4:
        return fmt::format("maximum({}, {})", a, b);
      case 5:
        return fmt::format("minimum({}, {})", a, b);
      default:
        return fmt::format("where({} < {}, {}, {})", a, b, b, a);
    }
  }

  // An operand of another shape that broadcasts to this one.
  std::string broadcast(const Shape& shape, int depth) {
    Shape smaller(shape.begin() + static_cast<std::ptrdiff_t>(random_.below(shape.size() + 1)),
                  shape.end());
    if (!smaller.empty() && random_.one_in(3)) smaller[0] = 1;
    const std::string a = expression(shape, depth - 1);
    const std::string b = expression(smaller, depth - 1);
    return random_.one_in(2) ? combine(a, b) : fmt::format("({} * {})", b, a);
  }

  std::string let(const Shape& shape, int depth) {
    const Shape bound = any_shape();
    const std::string name = fmt::format("v{}", names_++);
    const std::string value = expression(bound, depth - 1);
    scope_.push_back({name, bound});
    const std::string body = expression(shape, depth - 1);
    scope_.pop_back();
    return fmt::format("{{ let {} = {}; {} }}", name, value, body);
  }

  std::string tuple(const Shape& shape, int depth) {
    const Shape other = any_shape();
    const std::string name = fmt::format("t{}", names_++);
    const std::string first = expression(shape, depth - 1);
    const std::string second = expression(other, depth - 1);
    scope_.push_back({name + ".0", shape});
    scope_.push_back({name + ".1", other});
    const std::string body = expression(shape, depth - 1);
    scope_.resize(scope_.size() - 2);
    return fmt::format("{{ let {} = ({}, {}); {} }}", name, first, second, body);
  }

  // Smooth: the condition does not depend on what is differentiated.
  std::string conditional(const Shape& shape, int depth) {
    const std::string condition =
        options_.smooth
            ? fmt::format("{} < {}", random_.below(5), random_.below(5))
            : fmt::format("{} < {}", expression({}, depth - 2), expression({}, depth - 2));
    return fmt::format("if ({}) {{ {} }} else {{ {} }}", condition, expression(shape, depth - 1),
                       expression(shape, depth - 1));
  }

  std::string call(const Shape& shape, int depth) {
    if (has_library_ && random_.one_in(2)) return library_call(shape, depth);
    std::vector<const Callee*> fitting;
    for (const Callee& callee : callees_) {
      if (callee.result == shape) fitting.push_back(&callee);
    }
    if (fitting.empty()) return binary(shape, depth);
    const Callee& callee = *fitting[random_.below(fitting.size())];
    std::string args = callee.is_loop ? fmt::format("{}", random_.below(5)) : "";
    for (const Shape& param : callee.params) {
      args += (args.empty() ? "" : ", ") + expression(param, depth - 2);
    }
    return fmt::format("{}({})", callee.name, args);
  }

  // A reduction of a tensor with one axis more.
  std::string reduced(const Shape& shape, int depth) {
    if (shape.size() > 1) return unary(shape, depth);
    Shape larger = shape;
    const std::size_t axis = random_.below(shape.size() + 1);
    larger.insert(larger.begin() + static_cast<std::ptrdiff_t>(axis),
                  static_cast<std::int64_t>(1 + random_.below(5)));
    const std::string x = expression(larger, depth - 1);
    static constexpr const char* kOps[] = {"sum", "mean", "max", "min"};
    const std::size_t ops = !options_.smooth ? 4 : 2;
    const char* op = kOps[random_.below(ops)];
    if (!is_float() && op == kOps[1]) op = "sum";
    return fmt::format("{}({}, axis={})", op, x, axis);
  }

  // Index notation over a named tensor, also with the index reversed.
  std::string indexed(const Shape& shape, int depth) {
    if (shape.empty()) {
      const std::int64_t n = static_cast<std::int64_t>(1 + random_.below(5));
      const std::string v = fmt::format("v{}", names_++);
      const std::string value = expression({n}, depth - 1);
      const std::string i = fmt::format("i{}", names_++);
      return fmt::format("{{ let {0} = {1}; sum {2} {{ {3} }} }}", v, value, i,
                         element(fmt::format("{}[{}]", v, i), depth));
    }
    const std::string v = fmt::format("v{}", names_++);
    if (shape.size() == 1) {
      const std::string value = expression(shape, depth - 1);
      const std::string i = fmt::format("i{}", names_++);
      const bool reversed = random_.one_in(3);
      const std::string at =
          reversed ? fmt::format("{}[{} - {}]", v, shape[0] - 1, i) : fmt::format("{}[{}]", v, i);
      return fmt::format("{{ let {} = {}; for {}{} {{ {} }} }}", v, value, i,
                         reversed ? fmt::format(" < {}", shape[0]) : "", element(at, depth));
    }
    const std::int64_t inner = static_cast<std::int64_t>(1 + random_.below(3));
    const std::string w = fmt::format("w{}", names_++);
    const std::string a = expression({shape[0], inner}, depth - 2);
    const std::string b = expression({inner, shape[1]}, depth - 2);
    return fmt::format(
        "{{ let {0} = {1}; let {2} = {3}; for i, j {{ sum k {{ {0}[i, k] * {2}[k, j] }} }} }}", v,
        a, w, b);
  }

  // A scalar expression over one element and the scalars in scope.
  std::string element(const std::string& at, int depth) {
    scope_.push_back({at, {}});
    scope_.push_back({at, {}});  // likelier than the rest
    const std::string body = combine(at, expression({}, depth - 2));
    scope_.resize(scope_.size() - 2);
    return body;
  }

  std::string rearranged(const Shape& shape, int depth) {
    if (shape.size() == 2) {
      return fmt::format("transpose({})", expression({shape[1], shape[0]}, depth - 1));
    }
    if (shape.size() == 1) {
      switch (random_.below(is_float() ? 4 : 3)) {
        case 0:
          return fmt::format("reverse({}, axis=0)", expression(shape, depth - 1));
        case 1:
          return fmt::format("reshape({}, newshape=[{}])", expression({shape[0], 1}, depth - 1),
                             shape[0]);
        case 2: {
          const std::int64_t rows = static_cast<std::int64_t>(1 + random_.below(3));
          return fmt::format("take({}, {}, axis=0)", expression({rows, shape[0]}, depth - 1),
                             random_.below(static_cast<std::size_t>(rows)));
        }
        default:
          return fmt::format("nn.softmax({})", expression(shape, depth - 1));
      }
    }
    return fmt::format("squeeze({}, axis=[0])", expression({1}, depth - 1));
  }

  Random random_;
  const ProgramOptions options_;
  RandomProgram program_;
  std::vector<Name> scope_;
  std::vector<Callee> callees_;
  bool has_library_ = false;
  int names_ = 0;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed, const ProgramOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace relay::tests
