// Reductions inside of reductions and of other arithmetic are what their text says, however they
// are computed: element by element, as tensors of their own, by a library, on lanes or in native
// code. Elements are small whole numbers, so that sums are exact in any order, and what is expected
// is computed here, point by point, from the tree that the text is written from.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "repl/session.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPrograms = 200;
constexpr std::size_t kGradients = 100;
constexpr std::int64_t kSide = 48;       // of the tensors
constexpr std::int64_t kPoints = 60000;  // of a body and the reductions around it, at most

constexpr std::size_t kTensors = 3;

double element(std::size_t tensor, std::int64_t row, std::int64_t column) {
  const auto seed = static_cast<std::int64_t>(tensor);
  return static_cast<double>((row * 7 + column * (3 + seed) + row * column + seed) % 5 - 2);
}
std::string data() {
  std::string text;
  for (std::size_t i = 0; i < kTensors; ++i)
    text += fmt::format(
        "let {} = for p < {}, q < {} {{ cast((p * 7 + q * {} + p * q + {}) % 5 - 2, "
        "dtype=\"float64\") }};\n",
        "abc"[i], kSide, kSide, 3 + i, i);
  return text;
}

struct Index {
  std::size_t var;
  std::int64_t moved;
};

struct Tree {
  enum class Kind : std::uint8_t { Read, Sum, Max, Add, Sub, Mul, Neg, Quarter, Abs, If };
  Kind kind = Kind::Read;
  Index row{}, column{};  // Read; If: is the row's variable below the column's, moved?
  std::size_t var = 0;    // Sum, Max: the first variable
  std::vector<Tree> parts;
  std::size_t vars = 1;    // Sum, Max
  std::size_t tensor = 0;  // Read
};

class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {
    std::vector<std::size_t> scope;
    std::int64_t points = 1;
    if (random_.one_in(2)) {
      body_ = random_.one_in(3) ? few_columns() : large_sum();
      return;
    }
    for (std::size_t axes = random_.below(4); axes > 0; --axes) open(scope, points);
    outer_ = scope.size();
    body_ = tree(scope, points, 5);
  }

  std::string text() const {
    std::string binders;
    for (std::size_t var = 0; var < outer_; ++var)
      binders += fmt::format("{}{} < {}", var ? ", " : "", name(var), extents_[var]);
    const std::string body = text_of(body_);
    return fmt::format(
        "def f(a: Tensor[({0}, {0}), float64], b: Tensor[({0}, {0}), float64], "
        "c: Tensor[({0}, {0}), float64]) {{ {1} }}\n",
        kSide, outer_ ? fmt::format("for {} {{ {} }}", binders, body) : body);
  }

  // The elements, in order.
  std::vector<double> expected() const {
    std::vector<double> all;
    std::vector<std::int64_t> at(extents_.size());
    fill(0, at, all);
    return all;
  }

 private:
  using Kind = Tree::Kind;

  std::size_t open(std::vector<std::size_t>& scope, std::int64_t& points) {
    constexpr std::int64_t kExtents[] = {7, 24, 1, 40, 2, 16, 33};
    std::int64_t extent = kExtents[random_.below(7)];
    while (extent > 1 && points * extent > kPoints) extent /= 2;
    points *= extent;
    extents_.push_back(extent);
    scope.push_back(extents_.size() - 1);
    return scope.back();
  }

  // A condition on the last index of a few columns, before or behind reductions of the rows.
  Tree few_columns() {
    constexpr std::int64_t kExtents[] = {40, 33, 24};
    extents_ = {kExtents[random_.below(3)], 2 + static_cast<std::int64_t>(random_.below(5))};
    outer_ = 2;
    const std::vector<std::size_t> scope = {0, 1};
    const std::int64_t points = extents_[0] * extents_[1];
    Tree condition{Kind::If, {1, 0}, random_.one_in(2) ? Index{0, 0} : Index{0, -1}, 0, {}};
    if (random_.one_in(2)) std::swap(condition.row, condition.column);
    condition.parts = {tree(scope, points, 1), tree(scope, points, 0)};
    Tree reduced{random_.one_in(4) ? Kind::Max : Kind::Sum, {}, {}, 2, {}};
    std::vector<std::size_t> inner = scope;
    extents_.push_back(random_.one_in(2) ? 2 + static_cast<std::int64_t>(random_.below(5)) : 40);
    inner.push_back(2);
    const auto read = [&](std::size_t row) {
      Tree made{Kind::Read, {row, 0}, {2, 0}, 0, {}};
      made.tensor = random_.below(kTensors);
      if (random_.one_in(6)) std::swap(made.row, made.column);
      return made;
    };
    Tree factor = random_.one_in(2) ? read(1) : tree(inner, points * extents_.back(), 1);
    reduced.parts = {{Kind::Mul, {}, {}, 0, {read(0), std::move(factor)}}};
    Tree made{random_.one_in(2) ? Kind::Add : Kind::Mul, {}, {}, 0, {condition, reduced}};
    if (random_.one_in(4)) std::swap(made.parts[0], made.parts[1]);
    return made;
  }

  // A sum of products, each factor of which depends on some of the variables: a library's, maybe.
  Tree large_sum() {
    constexpr std::int64_t kExtents[] = {40, 33, 48, 24};
    const std::size_t axes = random_.one_in(3) ? 4 : 3;
    std::vector<std::size_t> scope;
    std::int64_t points = 1;
    for (std::size_t i = 0; i < axes; ++i) {
      extents_.push_back(axes == 4 ? 16 + static_cast<std::int64_t>(random_.below(8))
                                   : kExtents[random_.below(4)]);
      points *= extents_.back();
      scope.push_back(i);
    }
    outer_ = axes == 4 && random_.one_in(2) ? 3 : 2;
    Tree made = product(scope, points);
    if (random_.one_in(4))
      made = {random_.one_in(2) ? Kind::Sub : Kind::Add,
              {},
              {},
              0,
              {std::move(made), product(scope, points)}};
    if (axes - outer_ == 2 && random_.one_in(3)) {
      // A sum among the factors of the other.
      scope.pop_back();
      made = {Kind::Sum, {}, {}, axes - 1, {std::move(made)}};
      Tree factor = product(scope, points);
      if (random_.one_in(2)) std::swap(made, factor);
      made = {Kind::Mul, {}, {}, 0, {std::move(made), std::move(factor)}};
      made = {Kind::Sum, {}, {}, outer_, {std::move(made)}};
    } else if (random_.one_in(2)) {
      made = {Kind::Sum, {}, {}, outer_, {std::move(made)}, axes - outer_};
    } else {
      for (std::size_t var = outer_; var < axes; ++var)
        made = {Kind::Sum, {}, {}, var, {std::move(made)}};
    }
    if (random_.one_in(3)) made = {Kind::Abs, {}, {}, 0, {std::move(made)}};
    return made;
  }

  Tree product(const std::vector<std::size_t>& scope, std::int64_t points) {
    Tree made;
    const std::size_t factors = 2 + random_.below(3);
    for (std::size_t i = 0; i < factors; ++i) {
      // Most factors depend on one of two groups of the variables, and on what all have in common.
      std::vector<std::size_t> some;
      const std::size_t side = i < 2 ? i : random_.below(2);
      for (const std::size_t var : scope) {
        const bool is_common = var >= 2;
        if ((is_common || var == side) && (i < 2 || random_.one_in(2))) some.push_back(var);
      }
      if (random_.one_in(8)) some.push_back(random_.below(2));
      Tree factor = tree(some, points, random_.one_in(2) ? 1 : 0);
      if (i < 2 && !random_.one_in(6)) {
        Tree read{Kind::Read,
                  index({i}),
                  index({scope[outer_ + random_.below(scope.size() - outer_)]}),
                  0,
                  {}};
        read.tensor = random_.below(kTensors);
        if (random_.one_in(2)) std::swap(read.row, read.column);
        constexpr Kind kKinds[] = {Kind::Mul, Kind::Add, Kind::Sub};
        factor =
            random_.one_in(2)
                ? std::move(read)
                : Tree{kKinds[random_.below(3)], {}, {}, 0, {std::move(read), std::move(factor)}};
      }
      if (random_.one_in(8)) factor = {Kind::Neg, {}, {}, 0, {std::move(factor)}};
      made = i == 0 ? std::move(factor)
                    : Tree{Kind::Mul, {}, {}, 0, {std::move(made), std::move(factor)}};
      if (random_.one_in(6)) made = {Kind::Quarter, {}, {}, 0, {std::move(made)}};
    }
    return made;
  }

  Index index(const std::vector<std::size_t>& scope) {
    if (scope.empty()) return {0, -1};
    // What was bound last is read most.
    const std::size_t back = std::min(random_.below(scope.size()), random_.below(scope.size()));
    const std::size_t var = scope[scope.size() - 1 - back];
    const auto room = static_cast<std::size_t>(kSide - extents_[var]);
    return {var, random_.one_in(4) ? static_cast<std::int64_t>(random_.below(room + 1)) : 0};
  }

  Tree tree(const std::vector<std::size_t>& scope, std::int64_t points, int depth) {
    Tree made;
    const auto parts = [&](std::size_t count) {
      while (made.parts.size() < count) made.parts.push_back(tree(scope, points, depth - 1));
    };
    const std::size_t choice = depth == 0 ? 0 : random_.below(10);
    if (choice < 2) {
      made.row = index(scope);
      made.column = index(scope);
      made.tensor = random_.below(kTensors);
    } else if (choice < 6) {
      made.kind = random_.one_in(4) ? Kind::Max : Kind::Sum;
      std::vector<std::size_t> below = scope;
      std::int64_t inner = points;
      made.var = open(below, inner);
      made.parts.push_back(tree(below, inner, depth - 1));
    } else if (choice < 8) {
      made.kind = Kind::Mul;
      parts(2);
    } else if (choice == 8 || scope.empty()) {
      constexpr Kind kKinds[] = {Kind::Add, Kind::Sub, Kind::Abs};
      made.kind = kKinds[random_.below(3)];
      parts(made.kind == Kind::Abs ? 1 : 2);
    } else {
      made.kind = Kind::If;
      made.row = index(scope);
      made.column = index(scope);
      parts(2);
    }
    return made;
  }

  static std::string name(std::size_t var) { return fmt::format("i{}", var); }
  static std::string text_of(const Index& index) {
    if (index.moved < 0) return "3";
    return index.moved ? fmt::format("{} + {}", name(index.var), index.moved) : name(index.var);
  }
  std::string text_of(const Tree& tree) const {
    const auto part = [&](std::size_t i) { return text_of(tree.parts[i]); };
    const auto reduction = [&](const char* op) {
      std::string vars;
      for (std::size_t var = tree.var; var < tree.var + tree.vars; ++var)
        vars += fmt::format("{}{} < {}", vars.empty() ? "" : ", ", name(var), extents_[var]);
      return fmt::format("({} {} {{ {} }})", op, vars, part(0));
    };
    switch (tree.kind) {
      case Kind::Read:
        return fmt::format("{}[{}, {}]", "abc"[tree.tensor], text_of(tree.row),
                           text_of(tree.column));
      case Kind::Sum:
        return reduction("sum");
      case Kind::Max:
        return reduction("max");
      case Kind::Add:
        return fmt::format("({} + {})", part(0), part(1));
      case Kind::Sub:
        return fmt::format("({} - {})", part(0), part(1));
      case Kind::Mul:
        return fmt::format("{} * {}", part(0), part(1));
      case Kind::Neg:
        return fmt::format("(-{})", part(0));
      case Kind::Quarter:
        return fmt::format("{} / 4.0", part(0));
      case Kind::Abs:
        return fmt::format("abs({})", part(0));
      case Kind::If:
        return fmt::format("(if {} < {} {{ {} }} else {{ {} }})", text_of(tree.row),
                           text_of(tree.column), part(0), part(1));
    }
    return "";
  }

  using Point = std::vector<std::int64_t>;

  // To the next point of these variables; false where there is none.
  bool advance(Point& point, std::size_t begin, std::size_t end) const {
    for (std::size_t var = end; var-- > begin;) {
      if (++point[var] < extents_[var]) return true;
      point[var] = 0;
    }
    return false;
  }

  static std::int64_t at(const Index& index, const Point& point) {
    return index.moved < 0 ? 3 : point[index.var] + index.moved;
  }
  double value(const Tree& tree, Point& point) const {
    const auto part = [&](std::size_t i) { return value(tree.parts[i], point); };
    switch (tree.kind) {
      case Kind::Read:
        return element(tree.tensor, at(tree.row, point), at(tree.column, point));
      case Kind::Sum:
      case Kind::Max: {
        const std::size_t end = tree.var + tree.vars;
        std::fill(point.begin() + static_cast<std::ptrdiff_t>(tree.var),
                  point.begin() + static_cast<std::ptrdiff_t>(end), 0);
        double folded = part(0);
        while (advance(point, tree.var, end))
          folded = tree.kind == Kind::Sum ? folded + part(0) : std::max(folded, part(0));
        return folded;
      }
      case Kind::Add:
        return part(0) + part(1);
      case Kind::Sub:
        return part(0) - part(1);
      case Kind::Mul:
        return part(0) * part(1);
      case Kind::Neg:
        return -part(0);
      case Kind::Quarter:
        return part(0) / 4;
      case Kind::Abs:
        return std::abs(part(0));
      case Kind::If:
        return part(at(tree.row, point) < at(tree.column, point) ? 0 : 1);
    }
    return 0;
  }
  void fill(std::size_t axis, Point& point, std::vector<double>& all) const {
    if (axis == outer_) {
      all.push_back(value(body_, point));
      return;
    }
    for (point[axis] = 0; point[axis] < extents_[axis]; ++point[axis]) fill(axis + 1, point, all);
  }

  Random random_;
  std::vector<std::int64_t> extents_;  // by variable
  std::size_t outer_ = 0;              // variables of the tensor, the first
  Tree body_;
};

// What is wrong; empty if nothing is.
std::string trouble(repl::Session& session, const Program& program,
                    const std::vector<double>& expected) {
  const auto errors = session.run("<program>", program.text(), nullptr);
  if (!errors.empty()) return rendered(errors);
  const auto value = session.evaluate("f(a, b, c)");
  if (!value) return rendered(value.errors());
  const lang::TensorRef tensor = value->to_tensor();
  if (tensor->element_count() != static_cast<std::int64_t>(expected.size()))
    return fmt::format("{} elements, not {}", tensor->element_count(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double found = tensor->number_at(static_cast<std::int64_t>(i));
    if (found != expected[i]) return fmt::format("element {} is {}, not {}", i, found, expected[i]);
  }
  return "";
}

// A derivative along one direction by the gradient must be what forward mode gives.
std::string trouble_of_gradient(repl::Session& session, const Program& program) {
  const auto errors = session.run("<program>", program.text() + R"(
def g(a, b, c) { sum(f(a, b, c)) }
def by_gradient(a, b, c) {
  let (da, db, dc) = grad(g)(a, b, c);
  (sum(da * (b - c)) + sum(db * (c - a)) + sum(dc * (a - b)), abs(g(a, b, c)) + sum(abs(da)) + 1.0)
}
def by_tangent(a, b, c) { jvp(g)(a, b, c, b - c, c - a, a - b).1 }
)",
                                  nullptr);
  if (!errors.empty()) return rendered(errors);
  const auto found = session.evaluate("by_gradient(a, b, c)");
  if (!found) return rendered(found.errors());
  const auto expected = session.evaluate("by_tangent(a, b, c)");
  if (!expected) return rendered(expected.errors());
  const auto& fields = found->as_tuple().fields();
  const double left = fields[0].to_tensor()->number_at(0);
  const double largest = fields[1].to_tensor()->number_at(0);
  const double right = expected->to_tensor()->number_at(0);
  if (std::abs(left - right) <= 1e-9 * largest) return "";
  return fmt::format("{} by the gradient, {} by the tangent", left, right);
}

struct Way {
  const char* name;
  std::unique_ptr<repl::Session> session;
};

std::vector<Way> ways() {
  std::vector<Way> all;
  const auto add = [&](const char* name, interp::JitMode jit, repl::LibraryKernels kernels,
                       int threads) {
    repl::SessionOptions options;
    options.jit = jit;
    options.kernels = kernels;
    options.threads = threads;
    all.push_back({name, std::make_unique<repl::Session>(options)});
    REQUIRE(all.back().session->run("<data>", data(), nullptr).empty());
  };
  // Native code first: an element that it does not store is not what another way left there.
  add("in native code", interp::JitMode::Always, repl::LibraryKernels::Off, 2);
  add("on lanes", interp::JitMode::Off, repl::LibraryKernels::Off, 1);
  add("on lanes, with libraries", interp::JitMode::Off, repl::LibraryKernels::Auto, 2);
  return all;
}

void fail(std::uint64_t seed, const Program& program, const Way& way, const std::string& wrong,
          const std::string& test) {
  FAIL_CHECK("seed " << seed << "\n"
                     << program.text() << way.name << ": " << wrong << "\n"
                     << replay_test(seed, test));
}

TEST_CASE("nested reductions are what their text says") {
  const std::vector<Way> all = ways();
  for (const std::uint64_t seed : seeds(kPrograms)) {
    const Program program(seed);
    const std::vector<double> expected = program.expected();
    for (const Way& way : all) {
      const std::string wrong = trouble(*way.session, program, expected);
      if (wrong.empty()) continue;
      fail(seed, program, way, wrong, "nested reductions are what their text says");
      break;
    }
  }
}

TEST_CASE("gradients of nested reductions are what tangents say") {
  const std::vector<Way> all = ways();
  for (const std::uint64_t seed : seeds(kGradients)) {
    const Program program(seed);
    for (const Way& way : all) {
      if (&way == &all.front() && seed % 4 != 0) continue;  // compiling takes its time
      const std::string wrong = trouble_of_gradient(*way.session, program);
      if (wrong.empty()) continue;
      fail(seed, program, way, wrong, "gradients of nested reductions are what tangents say");
      break;
    }
  }
}

}  // namespace
}  // namespace relay::tests
