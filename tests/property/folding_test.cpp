// Folding a primitive of constants gives what running it gives, bit for bit, in both tiers: every
// primitive at every dtype, on values at which operations change their behaviour and on random
// ones. Any NaN counts as any other; what gives one stays unfolded, and so does a division by zero.

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "interp/scalar.h"
#include "lang/build.h"
#include "opt/passes.h"
#include "repl/session.h"
#include "tests/support/property.h"

namespace relay::tests {
namespace {

using lang::DType;
using lang::Expr;
using lang::Prim;
using Words = std::vector<std::uint64_t>;

constexpr std::size_t kRandom = 12;  // values of each dtype

std::vector<Prim> all_primitives() {
  return {
#define RELAY_PRIMITIVE(name, text, arity, operands, result) Prim::name,
#include "lang/primitives.def"
#undef RELAY_PRIMITIVE
  };
}

std::vector<DType> all_dtypes() {
  std::vector<DType> all;
  for (std::size_t i = 0; i < lang::kDTypeCount; ++i) all.push_back(static_cast<DType>(i));
  return all;
}

std::uint64_t mask_of(DType dtype) {
  const std::size_t bits = 8 * lang::size_of(dtype);
  return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// Limits, zeros, infinities, denormals, NaN; small numbers; random bits.
Words values_of(DType dtype, std::uint64_t seed) {
  if (dtype == DType::Bool) return {0, 1};
  Words values;
  if (lang::is_float(dtype)) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    for (const double x : {0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 0.5, 3.0, 1e-3, 87.5, kInf, -kInf,
                           std::numeric_limits<double>::quiet_NaN()})
      values.push_back(lang::bits_from_double(dtype, x));
    const std::uint64_t infinity = lang::bits_from_double(dtype, kInf);
    values.push_back(1);             // the smallest denormal
    values.push_back(infinity - 1);  // the largest number
  } else {
    for (const int x : {0, 1, -1, 2, -2, 3, 7, 8, 100, -127})
      values.push_back(lang::bits_from_int(dtype, x));
    values.push_back(mask_of(dtype) >> 1);        // the largest signed number
    values.push_back((mask_of(dtype) >> 1) + 1);  // the smallest
  }
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < kRandom; ++i) values.push_back(random() & mask_of(dtype));
  return values;
}

bool same(DType dtype, std::uint64_t a, std::uint64_t b) {
  if (a == b) return true;
  return lang::is_float(dtype) && std::isnan(lang::double_from_bits(dtype, a)) &&
         std::isnan(lang::double_from_bits(dtype, b));
}

// A primitive at one dtype.
struct Case {
  Prim prim;
  DType operand;
  DType result;
  std::size_t arity() const { return lang::info(prim).arity; }
  std::vector<DType> operands() const {
    if (prim == Prim::Select) return {DType::Bool, operand, operand};
    return std::vector<DType>(arity(), operand);
  }
  // In index notation over tensors a, b, c; `x` is the letter of a bool.
  std::string text() const {
    std::vector<std::string> args;
    if (prim == Prim::Select) args.emplace_back("x[i]");
    for (std::size_t k = 0; args.size() < arity(); ++k) args.push_back(k == 0 ? "a[i]" : "b[i]");
    if (prim == Prim::Cast) args.push_back(fmt::format("dtype=\"{}\"", lang::name_of(result)));
    return fmt::format("prim.{}({})", lang::info(prim).text, fmt::join(args, ", "));
  }
};

std::vector<Case> cases_at(DType operand) {
  std::vector<Case> cases;
  for (const Prim prim : all_primitives()) {
    if (!lang::accepts(lang::info(prim).operands, operand)) continue;
    const bool is_test = lang::info(prim).result == lang::PrimResult::kTruth;
    if (prim != Prim::Cast) {
      cases.push_back({prim, operand, is_test ? DType::Bool : operand});
      continue;
    }
    for (const DType result : all_dtypes()) cases.push_back({prim, operand, result});
  }
  return cases;
}

// Every pair of values, as columns: a condition, and two operands.
struct Columns {
  Words x, a, b;
};
Columns columns_of(DType dtype, std::uint64_t seed) {
  Columns columns;
  for (const std::uint64_t a : values_of(dtype, seed)) {
    for (const std::uint64_t b : values_of(dtype, seed + 1)) {
      columns.x.push_back(columns.a.size() % 3 == 0);
      columns.a.push_back(a);
      columns.b.push_back(b);
    }
  }
  return columns;
}

lang::Value tensor_of(DType dtype, const Words& words) {
  const auto tensor = lang::Tensor::make(dtype, {static_cast<std::int64_t>(words.size())});
  for (std::size_t i = 0; i < words.size(); ++i)
    tensor->set_bits(static_cast<std::int64_t>(i), words[i]);
  return lang::Value::tensor(tensor);
}

Expr constant(DType dtype, std::uint64_t bits) {
  return lang::make_constant(lang::Tensor::scalar(dtype, bits));
}

const lang::Constant* folded(const Case& each, const Words& args, Expr& keep) {
  std::vector<Expr> operands;
  for (std::size_t k = 0; k < args.size(); ++k)
    operands.push_back(constant(each.operands()[k], args[k]));
  const Expr node = lang::make_primitive(each.prim, operands, {}, lang::scalar_type(each.result));
  keep = opt::simplify(node, {interp::scalar_value});
  return lang::as<lang::Constant>(keep);
}

Words args_at(const Case& each, const Columns& columns, std::size_t row) {
  if (each.prim == Prim::Select) return {columns.x[row], columns.a[row], columns.b[row]};
  if (each.arity() == 1) return {columns.a[row]};
  return {columns.a[row], columns.b[row]};
}

// All cases at a dtype run at once, in one kernel.
std::vector<lang::Value> run(repl::Session& session, DType dtype, const std::vector<Case>& cases,
                             const Columns& columns) {
  std::vector<std::string> texts;
  for (const Case& each : cases) texts.push_back(each.text());
  const std::string name(lang::name_of(dtype));
  const std::string text = fmt::format(
      "fn (x: Tensor[({0}), bool], a: Tensor[({0}), {1}], b: Tensor[({0}), {1}]) {{ "
      "for i < {0} {{ ({2}) }} }}",
      columns.a.size(), name, fmt::join(texts, ", "));
  const auto function = session.evaluate(text);
  if (!function) FAIL(rendered(function.errors()));
  const auto result = session.evaluator().call(
      *function, {tensor_of(DType::Bool, columns.x), tensor_of(dtype, columns.a),
                  tensor_of(dtype, columns.b)});
  if (!result) FAIL(rendered(result.errors()));
  const auto fields = result->as_tuple().fields();
  return {fields.begin(), fields.end()};
}

void check_folding(DType dtype, repl::Session& lanes, repl::Session& native) {
  std::vector<Case> plain, dividing;
  for (const Case& each : cases_at(dtype))
    (interp::divides_integers(each.prim, dtype) ? dividing : plain).push_back(each);
  for (const auto* cases : {&plain, &dividing}) {
    if (cases->empty()) continue;
    Columns columns = columns_of(dtype, 17 + static_cast<std::uint64_t>(dtype));
    if (cases == &dividing) {
      for (std::uint64_t& divisor : columns.b) divisor = divisor == 0 ? 1 : divisor;
    }
    const auto on_lanes = run(lanes, dtype, *cases, columns);
    const auto natively = run(native, dtype, *cases, columns);
    for (std::size_t k = 0; k < cases->size(); ++k) {
      const Case& each = (*cases)[k];
      const auto first = on_lanes[k].to_tensor(), second = natively[k].to_tensor();
      for (std::size_t row = 0; row < columns.a.size(); ++row) {
        const auto place = static_cast<std::int64_t>(row);
        const std::uint64_t expected = first->bits_at(place);
        Expr keep;
        const lang::Constant* found = folded(each, args_at(each, columns, row), keep);
        const bool is_nan = std::isnan(first->number_at(place));
        const bool is_good = found ? same(each.result, found->value->bits_at(0), expected) : is_nan;
        if (is_good && same(each.result, expected, second->bits_at(place))) continue;
        FAIL_CHECK(
            fmt::format("{} at {}: of {:#x} and {:#x} it is folded to {:#x}, lanes give "
                        "{:#x}, native code {:#x}",
                        each.text(), lang::name_of(dtype), columns.a[row], columns.b[row],
                        found ? found->value->bits_at(0) : 0, expected, second->bits_at(place)));
        break;
      }
    }
  }
}

repl::Session session_with(interp::JitMode mode) {
  repl::SessionOptions options;
  options.jit = mode;
  return repl::Session(options);
}

TEST_CASE("a primitive of constants is folded to what running it gives") {
  repl::Session lanes = session_with(interp::JitMode::Off);
  repl::Session native = session_with(interp::JitMode::Always);
  for (const DType dtype : all_dtypes()) check_folding(dtype, lanes, native);
}

TEST_CASE("an integer division by zero is not folded") {
  for (const DType dtype : all_dtypes()) {
    for (const Case& each : cases_at(dtype)) {
      if (!interp::divides_integers(each.prim, dtype)) continue;
      Expr keep;
      INFO(each.text() << " at " << lang::name_of(dtype));
      CHECK(folded(each, {1, 0}, keep) == nullptr);
    }
  }
}

}  // namespace
}  // namespace relay::tests
