// The simplifier keeps every bit: generated arithmetic, as operators on tensors and as primitives,
// is evaluated as it was written and as it was simplified, on zeros of both signs, infinities, NaN,
// denormals and the largest numbers, and on integers at their limits. Any NaN counts as any other.
// Nothing here has a place in a source: what may be regrouped does not hang on that.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "interp/scalar.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/print.h"
#include "lang/visit.h"
#include "opt/passes.h"
#include "stdlib/register.h"
#include "tests/support/property.h"

namespace relay::tests {
namespace {

using lang::as;
using lang::DType;
using lang::Expr;
using lang::Prim;
namespace build = lang::build;

constexpr std::size_t kPrograms = 400;  // of each dtype
constexpr int kRounds = 6;
constexpr std::int64_t kExtent = 3;

std::vector<std::uint64_t> values_of(DType dtype) {
  std::vector<std::uint64_t> values;
  if (!lang::is_float(dtype)) {
    for (const int x : {0, 1, -1, 2, 5, -7, 100}) values.push_back(lang::bits_from_int(dtype, x));
    const std::uint64_t sign = std::uint64_t{1} << (8 * lang::size_of(dtype) - 1);
    values.push_back(sign);      // the smallest signed number
    values.push_back(sign - 1);  // the largest
    return values;
  }
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const double x : {0.0, -0.0, 1.0, -1.0, 3.7, -0.3, 1e-4, kInf, -kInf,
                         std::numeric_limits<double>::quiet_NaN()})
    values.push_back(lang::bits_from_double(dtype, x));
  const std::uint64_t infinity = lang::bits_from_double(dtype, kInf);
  values.push_back(1);             // the smallest denormal
  values.push_back(5);             // a denormal
  values.push_back(infinity - 1);  // the largest number
  return values;
}

// --- What an expression means, element by element ---

class Meaning {
 public:
  void set(const lang::Variable* variable, std::uint64_t bits) { values_[variable] = bits; }

  std::uint64_t of(const Expr& expr) {
    const Expr* at = &expr;
    while (const auto* let = as<lang::Let>(*at)) {
      set(let->variable.get(), of(let->value));
      at = &let->body;
    }
    const Expr& value = *at;
    if (const auto* var = as<lang::Var>(value)) return values_.at(var->variable.get());
    if (const auto* constant = as<lang::Constant>(value)) return constant->value->bits_at(0);
    if (const auto* node = as<lang::Primitive>(value))
      return primitive(node->prim, node->args, value);
    const auto& call = lang::cast<lang::Call>(value);
    const lang::OpDef& op = *lang::cast<lang::Operator>(call.callee).op;
    if (op.elementwise) return primitive(*op.elementwise, call.args, value);
    if (op.name == "zeros_like") return lang::bits_from_int(dtype(value), 0);
    if (op.name == "ones_like") return lang::bits_from_int(dtype(value), 1);
    if (op.name == "full_like") return of(call.args[1]);
    if (op.name == "broadcast_to_like") return of(call.args[0]);
    if (op.name == "where") return of(call.args[of(call.args[0]) != 0 ? 1 : 2]);
    FAIL("an operator without a meaning: " << op.name);
    return 0;
  }

 private:
  static DType dtype(const Expr& expr) { return as<lang::TensorType>(expr->type)->dtype.known(); }

  std::uint64_t primitive(Prim prim, const std::vector<Expr>& args, const Expr& value) {
    std::vector<std::uint64_t> words;
    for (const Expr& arg : args) words.push_back(of(arg));
    return interp::scalar_value(prim, dtype(args.back()), dtype(value), words.data()).value_or(0);
  }

  std::map<const lang::Variable*, std::uint64_t> values_;
};

// --- Programs ---

enum class Form { Operators, Primitives };

// Two variables, and small expressions of them that rules are made for.
class Maker {
 public:
  Maker(DType dtype, Form form, std::uint64_t seed) : dtype_(dtype), form_(form), random_(seed) {
    const lang::Type type = form == Form::Primitives || seed % 4 == 0
                                ? lang::scalar_type(dtype)
                                : lang::tensor_type(lang::Shape{kExtent}, dtype);
    for (const char* name : {"x", "y"}) variables.push_back(lang::make_variable(name, type));
  }

  std::vector<lang::VariableRef> variables;

  Expr expression(int depth) {
    if (depth == 0) return leaf();
    switch (below(15)) {
      case 0:
      case 1:
        return step(Prim::Add, expression(depth - 1), expression(below(depth)));
      case 2:
        return step(Prim::Sub, expression(below(depth)), expression(depth - 1));
      case 3:
      case 4:
        return step(Prim::Mul, expression(below(depth)), expression(depth - 1));
      case 5:
        return lang::is_float(dtype_) || below(2) == 0
                   ? step(Prim::Div, expression(depth - 1), nonzero(expression(depth - 1)))
                   : expression(depth - 1);
      case 6:
        return negative(expression(depth - 1));
      case 7: {  // the same operand twice
        const Expr x = variable();
        const Expr sum = step(Prim::Add, below(2) ? scaled(x) : expression(depth - 1), x);
        return step(Prim::Add, sum, below(2) ? x : scaled(x));
      }
      case 8: {
        const Expr x = variable();
        return step(Prim::Div, x, nonzero(step(Prim::Mul, x, expression(depth - 1))));
      }
      case 9:
        return step(below(2) ? Prim::Add : Prim::Sub, below(2) ? zero() : expression(depth - 1),
                    below(2) ? zero() : expression(depth - 1));
      case 10:
        return step(Prim::Mul, number(),
                    step(Prim::Div, expression(depth - 1), nonzero(scaled(variable()))));
      case 11:
        return step(Prim::Pow, expression(depth - 1), constant(1 + below(2)));
      case 12: {  // one condition, several times
        if (form_ == Form::Operators) return expression(depth - 1);
        const Expr less = build::prim(Prim::Lt, {variable(), variable()});
        const Expr condition = below(2) ? less : build::prim(Prim::Not, {less});
        const auto part = [&] { return below(2) ? zero() : expression(depth - 1); };
        const Expr one = build::select(condition, part(), part());
        const Expr same = below(4) ? part() : one;
        const Expr other =
            below(2) ? build::select(condition, part(), part()) : build::select(less, same, same);
        switch (below(3)) {
          case 0:
            return build::select(condition, one, other);
          case 1:
            return build::select(less, other, one);
          default:
            return step(Prim::Add, one, other);
        }
      }
      case 13: {  // two digits of an integer
        if (lang::is_float(dtype_)) return expression(depth - 1);
        const bool is_floor = below(2) != 0;
        const Expr x = variable();
        const Expr base = constant(below(2) ? 3 : -2);
        const Expr digit = step(is_floor ? Prim::FloorMod : Prim::Mod, x, base);
        const Expr rest =
            step(Prim::Mul, below(4) ? base : constant(2),
                 step(is_floor ? Prim::FloorDiv : Prim::Div, below(4) ? x : variable(), base));
        return below(2) ? step(Prim::Add, rest, digit) : step(Prim::Add, digit, rest);
      }
      default:
        return step(Prim::Mul, number(), scaled(expression(depth - 1)));
    }
  }

 private:
  int below(int limit) {
    return static_cast<int>(random_() % static_cast<std::uint64_t>(std::max(limit, 1)));
  }
  Expr variable() { return lang::make_var(variables[static_cast<std::size_t>(below(2))]); }
  Expr constant(double value) {
    return lang::is_float(dtype_) ? build::constant(dtype_, value)
                                  : build::constant_int(dtype_, static_cast<std::int64_t>(value));
  }
  Expr zero() { return constant(below(2) ? 0.0 : -0.0); }
  Expr number() {
    static constexpr double kNumbers[] = {0, -0.0, 1, -1, 2, 3, -2, 0.5, 4, 7, 0.1};
    return constant(kNumbers[below(std::size(kNumbers))]);
  }
  Expr leaf() {
    if (below(3) != 0) return variable();
    if (form_ == Form::Primitives || below(2) == 0) return number();
    const Expr like = variable();
    if (lang::is_scalar(like->type)) return number();
    switch (below(4)) {
      case 0:
        return build::op("zeros_like", {like});
      case 1:
        return build::op("ones_like", {like});
      case 2:
        return build::op("full_like", {like, number()});
      default:
        return build::op("broadcast_to_like", {number(), like});
    }
  }
  Expr scaled(const Expr& x) { return step(Prim::Mul, number(), x); }
  Expr negative(const Expr& x) {
    return form_ == Form::Primitives ? build::prim(Prim::Neg, {x}) : build::op("negative", {x});
  }
  // Integers are divided by constants other than 0, and by 1.
  Expr nonzero(Expr divisor) {
    return lang::is_float(dtype_) ? std::move(divisor) : constant(1 + 2 * below(2));
  }
  Expr step(Prim prim, const Expr& a, const Expr& b) {
    if (form_ == Form::Primitives) return build::prim(prim, {a, b});
    static const std::map<Prim, const char*> kNames = {{Prim::Add, "add"},
                                                       {Prim::Sub, "subtract"},
                                                       {Prim::Mul, "multiply"},
                                                       {Prim::Div, "divide"},
                                                       {Prim::FloorDiv, "floor_divide"},
                                                       {Prim::Mod, "mod"},
                                                       {Prim::FloorMod, "floor_mod"},
                                                       {Prim::Pow, "power"}};
    return build::op(kNames.at(prim), {a, b});
  }

  DType dtype_;
  Form form_;
  std::mt19937_64 random_;
};

Expr simplified(Expr expr, const opt::SimplifyOptions& options) {
  for (int round = 0; round < kRounds; ++round) expr = opt::to_anf(opt::simplify(expr, options));
  return expr;
}

bool same(DType dtype, std::uint64_t a, std::uint64_t b) {
  if (a == b) return true;
  return lang::is_float(dtype) && std::isnan(lang::double_from_bits(dtype, a)) &&
         std::isnan(lang::double_from_bits(dtype, b));
}

constexpr DType kDTypes[] = {DType::Float32,  DType::Float64, DType::Float16,
                             DType::BFloat16, DType::Int8,    DType::UInt8,
                             DType::Int32,    DType::Int64,   DType::UInt64};

// Says where the two differ; empty where they agree.
std::string difference(const Expr& written, const Expr& better, const Maker& made, DType dtype) {
  for (const std::uint64_t x : values_of(dtype)) {
    for (const std::uint64_t y : values_of(dtype)) {
      Meaning meaning;
      meaning.set(made.variables[0].get(), x);
      meaning.set(made.variables[1].get(), y);
      const std::uint64_t expected = meaning.of(written);
      const std::uint64_t found = meaning.of(better);
      if (same(dtype, expected, found)) continue;
      return fmt::format("{}\nbecomes\n{}\nof x = {}, y = {}: {} becomes {} at {}",
                         lang::print(written), lang::print(better),
                         lang::double_from_bits(dtype, x), lang::double_from_bits(dtype, y),
                         lang::double_from_bits(dtype, expected),
                         lang::double_from_bits(dtype, found), lang::name_of(dtype));
    }
  }
  return "";
}

// The rules that have been applied. With `fast_math` floats may differ, and integers not.
std::set<std::string_view> check_rewrites(bool fast_math) {
  std::set<std::string_view> applied;
  const opt::SimplifyOptions options{interp::scalar_value, fast_math,
                                     [&](std::string_view rule) { applied.insert(rule); }};
  for (const DType dtype : kDTypes) {
    for (const Form form : {Form::Operators, Form::Primitives}) {
      for (const std::uint64_t seed : seeds(kPrograms)) {
        Maker made(dtype, form, seed);
        const Expr written = opt::to_anf(made.expression(1 + static_cast<int>(seed % 3)));
        const Expr better = simplified(written, options);
        if (fast_math && lang::is_float(dtype)) continue;
        const std::string wrong = difference(written, better, made, dtype);
        if (wrong.empty()) continue;
        FAIL_CHECK(replay_test(seed, "a rewrite keeps every bit, zeros and infinities included")
                   << "\n"
                   << wrong);
        return applied;
      }
    }
  }
  return applied;
}

TEST_CASE("a rewrite keeps every bit, zeros and infinities included") {
  stdlib::register_operators();
  auto applied = check_rewrites(false);
  // Every rule is tried: those that hold of real numbers alone, where they are asked for.
  applied.merge(check_rewrites(true));
  if (seeds(kPrograms).size() < kPrograms) return;  // too few to meet them all
  for (const std::string_view rule : opt::arithmetic_rules()) {
    INFO("the rule " << rule << " is never applied");
    CHECK(applied.contains(rule));
  }
}

}  // namespace
}  // namespace relay::tests
