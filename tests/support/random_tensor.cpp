#include <fmt/format.h>

#include "tests/support/random_generator.h"

// Tensors: operators and index notation.
namespace relay::tests {

namespace {

Ty tensor(Shape shape) { return {Ty::Kind::Tensor, std::move(shape), {}}; }

}  // namespace

std::string Generator::unary(const Ty& type, int fuel) {
  const std::string x = expression(type, fuel - 1);
  if (!is_float()) {
    static constexpr const char* kInteger[] = {"(-{})", "abs({})", "bitwise_not({})", "sign({})"};
    return fmt::format(fmt::runtime(kInteger[random_.below(4)]), x);
  }
  static constexpr const char* kSmooth[] = {"sin({0})",
                                            "(-{0})",
                                            "tanh({0})",
                                            "cos({0})",
                                            "sigmoid({0})",
                                            "atan({0})",
                                            "erf({0})",
                                            "exp(tanh({0}))",
                                            "log(sigmoid({0}) + {1})",
                                            "sqrt({1} + sigmoid({0}))",
                                            "power(sigmoid({0}) + {1}, {1})",
                                            "rsqrt({1} + {0} * {0})",
                                            "abs({0})",
                                            "nn.relu({0})",
                                            "nn.leaky_relu({0}, alpha=0.3)",
                                            "clip({0}, a_min=-0.7, a_max=0.9)"};
  static constexpr const char* kOther[] = {"floor({0})", "sign({0})", "sqrt({0})",
                                           "log({0})",   "exp({0})",  "round({0})"};
  if (options_.smooth || random_.one_in(2)) {
    return fmt::format(fmt::runtime(kSmooth[random_.below(std::size(kSmooth))]), x, scalar(1.5));
  }
  return fmt::format(fmt::runtime(kOther[random_.below(std::size(kOther))]), x);
}

std::string Generator::binary(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 2);
  const std::string a = expression(type, parts[0]);
  return combine(a, expression(type, parts[1]));
}

std::string Generator::combine(const std::string& a, const std::string& b) {
  switch (random_.below(8)) {
    case 0:
      return fmt::format("({} + {})", a, b);
    case 1:
      return fmt::format("({} - {})", a, b);
    case 2:
    case 3:
      return fmt::format("({} * {})", a, b);
    case 4:
      if (!is_float()) return fmt::format("(mod({}, {}) + {})", a, scalar(1), b);
      return options_.smooth ? fmt::format("({} / ({} + sigmoid({})))", a, scalar(1), b)
                             : fmt::format("({} / {})", a, b);
    case 5:
      return fmt::format("maximum({}, {})", a, b);
    case 6:
      return fmt::format("minimum({}, {})", a, b);
    default:
      return is_float() ? fmt::format("({} * tanh({}))", a, b) : fmt::format("({} + {})", b, a);
  }
}

// An operand of another shape that broadcasts to this one.
std::string Generator::broadcast(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 2);
  const Shape& shape = type.shape;
  Shape smaller(shape.begin() + static_cast<std::ptrdiff_t>(random_.below(shape.size() + 1)),
                shape.end());
  if (!smaller.empty() && random_.one_in(3)) smaller[0] = 1;
  const std::string a = expression(type, parts[0]);
  const std::string b = expression(tensor(smaller), parts[1]);
  if (random_.one_in(4))
    return fmt::format("({} + broadcast_to({}, shape=[{}]))", a, b, fmt::join(shape, ", "));
  return random_.one_in(2) ? combine(a, b) : fmt::format("({} * {})", b, a);
}

std::string Generator::chosen(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 3);
  const std::string a = expression(type, parts[0]);
  const std::string b = expression(type, parts[1]);
  return fmt::format("where({} < {}, {}, {})", expression(type, parts[2]), scalar(random_.number()),
                     a, b);
}

// A reduction of a tensor with one axis more.
std::string Generator::reduced(const Ty& type, int fuel) {
  if (type.shape.size() > 1) return unary(type, fuel);
  Shape larger = type.shape;
  const std::size_t axis = random_.below(type.shape.size() + 1);
  larger.insert(larger.begin() + static_cast<std::ptrdiff_t>(axis),
                static_cast<std::int64_t>(1 + random_.below(3)));
  const std::string x = expression(tensor(larger), fuel - 1);
  static constexpr const char* kOps[] = {"sum", "max", "min", "prod", "mean", "logsumexp"};
  const char* op = kOps[random_.below(is_float() ? 6 : 3)];
  if (std::string_view(op) == "logsumexp" && axis + 1 != larger.size()) op = "mean";
  if (random_.one_in(4)) {
    return fmt::format("squeeze({}({}, axis={}, keepdims=True), axis=[{}])", op, x, axis, axis);
  }
  return fmt::format("{}({}, axis={})", op, x, axis);
}

// --- Products ---

std::string Generator::product(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 2);
  const Shape& shape = type.shape;
  const auto inner = static_cast<std::int64_t>(1 + random_.below(3));
  if (shape.size() == 2) {
    const std::size_t kind = random_.below(is_float() ? 4 : 2);
    const bool is_outer = kind == 0;
    const std::string a =
        expression(tensor(is_outer ? Shape{shape[0]} : Shape{shape[0], inner}), parts[0]);
    const Shape right = is_outer    ? Shape{shape[1]}
                        : kind == 2 ? Shape{shape[1], inner}
                                    : Shape{inner, shape[1]};
    const std::string b = expression(tensor(right), parts[1]);
    switch (kind) {
      case 0:
        return fmt::format("{}({}, {})", require("outer"), a, b);
      case 1:
        return fmt::format("{}({}, {})", require("mm"), a, b);
      case 2:
        return fmt::format("nn.dense({}, {})", a, b);
      default:
        return fmt::format("matmul({}, {})", a, b);
    }
  }
  const std::string a = expression(tensor({inner}), parts[0] / 2);
  const std::string b = expression(tensor({inner}), parts[0] / 2);
  const std::string dot = fmt::format("{}({}, {})", require("dot"), a, b);
  return shape.empty() ? dot : fmt::format("({} * {})", expression(type, parts[1]), dot);
}

// --- Index notation ---

std::string Generator::indexed(const Ty& type, int fuel) {
  if (index_depth_ > 1) return binary(type, fuel);
  use(Feature::IndexNotation);
  if (type.shape.empty()) return indexed_scalar(fuel);
  return type.shape.size() == 1 ? indexed_vector(type, fuel) : indexed_matrix(type, fuel);
}

// A scalar expression over elements and the scalars in scope.
std::string Generator::element(const std::vector<std::string>& at, int fuel) {
  std::string text = at[0];
  for (std::size_t i = 1; i < at.size(); ++i) text = combine(text, at[i]);
  if (!options_.calls_in_indices || fuel <= 1) return tame({}, text);
  ++index_depth_;
  const std::size_t scope = scope_.size();
  for (const std::string& name : at) scope_.push_back({name, {}});
  scope_.push_back({text, {}});
  const std::string body = expression({}, fuel);
  scope_.resize(scope);
  --index_depth_;
  // The elements say how far the indices run.
  for (const std::string& name : at) {
    if (body.find(name) == std::string::npos) return combine(text, body);
  }
  return body;
}

// `i`, or how far it runs besides, as an integer of any type.
std::string Generator::range(const std::string& index, std::int64_t extent) {
  if (random_.one_in(2)) return index;
  static constexpr const char* kTypes[] = {"", "i64", "i32", "i16", "i8", "u8"};
  return fmt::format("{} < {}{}", index, extent, kTypes[random_.below(std::size(kTypes))]);
}

std::string Generator::indexed_scalar(int fuel) {
  const auto parts = shares(fuel, 3);
  const auto n = static_cast<std::int64_t>(1 + random_.below(4));
  const std::string v = fresh("v");
  const std::string i = fresh("i");
  static constexpr const char* kOps[] = {"sum", "max", "min", "prod"};
  const std::size_t count = !options_.extremes_in_indices ? 1 : is_float() ? 4 : 3;
  if (random_.one_in(3)) {
    const std::string j = fresh("j");
    const std::string value = expression(tensor({n, 2}), parts[0]);
    return fmt::format("{{ let {} = {}; {} {}, {} {{ {} }} }}", v, value,
                       kOps[random_.below(count)], range(i, n), range(j, 2),
                       element({fmt::format("{}[{}, {}]", v, i, j)}, parts[1]));
  }
  const std::string value = expression(tensor({n}), parts[0]);
  return fmt::format("{{ let {} = {}; {} {} {{ {} }} }}", v, value, kOps[random_.below(count)],
                     range(i, n), element({fmt::format("{}[{}]", v, i)}, parts[1]));
}

std::string Generator::indexed_vector(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 3);
  const std::int64_t n = type.shape[0];
  const std::string v = fresh("v");
  const std::string i = fresh("i");
  switch (random_.below(6)) {
    case 0: {
      const std::string value = expression(type, parts[0]);
      return fmt::format("{{ let {} = {}; for {} {{ {} }} }}", v, value, range(i, n),
                         element({fmt::format("{}[{}]", v, i)}, parts[1]));
    }
    case 1: {  // backwards
      const std::string value = expression(type, parts[0]);
      return fmt::format("{{ let {} = {}; for {} < {} {{ {} }} }}", v, value, i, n,
                         element({fmt::format("{}[{} - {}]", v, n - 1, i)}, parts[1]));
    }
    case 2: {  // at computed places, some of them twice
      const std::string value = expression(tensor({3}), parts[0]);
      std::string places = "[";
      for (std::int64_t k = 0; k < n; ++k)
        places += (k ? ", " : "") + std::to_string(random_.below(3));
      const std::string p = fresh("p");
      return fmt::format("{{ let {} = {}; let {} = {}]; for {} {{ {} }} }}", v, value, p, places, i,
                         element({fmt::format("{}[{}[{}]]", v, p, i)}, parts[1]));
    }
    case 3: {  // a window
      const std::string w = fresh("w");
      const std::string k = fresh("k");
      const std::string value = expression(tensor({n + 1}), parts[0]);
      const std::string weights = expression(tensor({2}), parts[1]);
      return fmt::format(
          "{{ let {0} = {1}; let {2} = {3}; for {4} < {5} {{ sum {6} < 2 {{ {7} }} }} }}", v, value,
          w, weights, i, n, k,
          element({fmt::format("{}[{} + {}]", v, i, k), fmt::format("{}[{}]", w, k)},
                  parts[2] / 2));
    }
    case 4: {  // over the rows of a matrix
      const std::string j = fresh("j");
      const std::string value = expression(tensor({n, 2}), parts[0]);
      const char* op = options_.extremes_in_indices && random_.one_in(3) ? "max" : "sum";
      return fmt::format("{{ let {} = {}; for {} {{ {} {} {{ {} }} }} }}", v, value, range(i, n),
                         op, range(j, 2),
                         element({fmt::format("{}[{}, {}]", v, i, j)}, parts[1] / 2));
    }
    default: {  // a function of each row
      if (!options_.calls_in_indices) return unary(type, fuel);
      const std::string value = expression(tensor({n, 3}), parts[0]);
      const std::string row = fresh("row");
      ++index_depth_;
      scope_.push_back({row, tensor({3})});
      const std::string body = expression({}, parts[1]);
      scope_.pop_back();
      --index_depth_;
      return fmt::format("{{ let {0}: {5} = {1}; for {2} {{ let {3} = {0}[{2}]; {4} }} }}", v,
                         value, i, row, body, type_text(tensor({n, 3})));
    }
  }
}

std::string Generator::indexed_matrix(const Ty& type, int fuel) {
  const auto parts = shares(fuel, 3);
  const Shape& shape = type.shape;
  const std::string v = fresh("v");
  const std::string i = fresh("i");
  const std::string j = fresh("j");
  switch (random_.below(3)) {
    case 0: {
      const std::string value = expression(tensor({shape[1], shape[0]}), parts[0]);
      return fmt::format("{{ let {} = {}; for {}, {} {{ {} }} }}", v, value, range(i, shape[0]),
                         range(j, shape[1]),
                         element({fmt::format("{}[{}, {}]", v, j, i)}, parts[1]));
    }
    case 1: {
      const std::string w = fresh("w");
      const std::string value = expression(tensor({shape[0]}), parts[0]);
      const std::string other = expression(tensor({shape[1]}), parts[1]);
      return fmt::format(
          "{{ let {} = {}; let {} = {}; for {}, {} {{ {} }} }}", v, value, w, other, i, j,
          element({fmt::format("{}[{}]", v, i), fmt::format("{}[{}]", w, j)}, parts[2] / 2));
    }
    default: {  // each row at once
      if (!options_.calls_in_indices || !is_float()) return unary(type, fuel);
      const std::string value = expression(type, parts[0]);
      const Ty row{Ty::Kind::Tensor, {shape[1]}, {}};
      const std::string name = fresh("row");
      ++index_depth_;
      scope_.push_back({name, row});
      const std::string body = expression(row, parts[1]);
      scope_.pop_back();
      --index_depth_;
      return fmt::format("{{ let {0}: {5} = {1}; for {2} {{ let {3} = {0}[{2}]; {4} }} }}", v,
                         value, i, name, body, type_text(type));
    }
  }
}

// --- Shapes ---

std::string Generator::rearranged(const Ty& type, int fuel) {
  if (type.shape.size() == 2) return rearranged_matrix(type, fuel);
  if (type.shape.size() == 1) return rearranged_vector(type, fuel);
  switch (random_.below(options_.whole_language ? 3 : 2)) {
    case 0:
      return fmt::format("squeeze({}, axis=[0])", expression(tensor({1}), fuel - 1));
    case 1:
      return fmt::format("take({}, {})", expression(tensor({3}), fuel - 1), random_.below(3));
    default: {
      const std::string v = fresh("v");
      return fmt::format("{{ let {0} = {1}; {0}[{2}] }}", v, expression(tensor({3}), fuel - 1),
                         random_.below(3));
    }
  }
}

std::string Generator::rearranged_vector(const Ty& type, int fuel) {
  const std::int64_t n = type.shape[0];
  const auto parts = shares(fuel, 2);
  switch (random_.below(is_float() ? 10 : 7)) {
    case 0:
      return fmt::format("reverse({}, axis=0)", expression(type, fuel - 1));
    case 1:
      return fmt::format("reshape({}, newshape=[{}])", expression(tensor({n, 1}), fuel - 1), n);
    case 2: {
      const auto rows = static_cast<std::int64_t>(1 + random_.below(3));
      return fmt::format("take({}, {}, axis=0)", expression(tensor({rows, n}), fuel - 1),
                         random_.below(static_cast<std::size_t>(rows)));
    }
    case 3: {
      std::vector<std::string> items;
      const auto each = shares(fuel, static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i)
        items.push_back(expression({}, each[static_cast<std::size_t>(i)]));
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
    case 4: {
      if (n < 2) return unary(type, fuel);
      const auto first =
          static_cast<std::int64_t>(1 + random_.below(static_cast<std::size_t>(n) - 1));
      const std::string a = expression(tensor({first}), parts[0]);
      return fmt::format("concatenate(({}, {}), axis=0)", a,
                         expression(tensor({n - first}), parts[1]));
    }
    case 5: {
      const std::string v = fresh("v");
      const auto from = random_.below(2);
      return fmt::format("{{ let {0} = {1}; {0}[{2}:{3}] }}", v,
                         expression(tensor({n + 1}), fuel - 1), from,
                         static_cast<std::int64_t>(from) + n);
    }
    case 6:
      return fmt::format("split({}, indices_or_sections=2).{}",
                         expression(tensor({2 * n}), fuel - 1), random_.below(2));
    case 7:
      return fmt::format("cumsum({}, axis=0)", expression(type, fuel - 1));
    case 8:
      return fmt::format("nn.log_softmax({})", expression(type, fuel - 1));
    default:
      return fmt::format("nn.softmax({})", expression(type, fuel - 1));
  }
}

std::string Generator::rearranged_matrix(const Ty& type, int fuel) {
  const Shape& shape = type.shape;
  const auto parts = shares(fuel, 2);
  switch (random_.below(is_float() ? 6 : 4)) {
    case 0:
      return fmt::format("transpose({})", expression(tensor({shape[1], shape[0]}), fuel - 1));
    case 1: {
      if (shape[0] != 2) return broadcast(type, fuel);
      const std::string a = expression(tensor({shape[1]}), parts[0]);
      return fmt::format("stack(({}, {}), axis=0)", a, expression(tensor({shape[1]}), parts[1]));
    }
    case 2:
      return fmt::format("reshape({}, newshape=[{}, {}])",
                         expression(tensor({shape[0] * shape[1]}), fuel - 1), shape[0], shape[1]);
    case 3:
      return fmt::format("tile(expand_dims({}, axis=0), reps=[{}, 1])",
                         expression(tensor({shape[1]}), fuel - 1), shape[0]);
    case 4:
      return fmt::format("nn.softmax({}, axis={})", expression(type, fuel - 1), random_.below(2));
    default:
      return fmt::format("nn.dense({}, {})", expression(tensor({shape[0], 2}), parts[0]),
                         expression(tensor({shape[1], 2}), parts[1]));
  }
}

}  // namespace relay::tests
