#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "opt/pass.h"
#include "repl/session.h"
#include "tests/support/pass_programs.h"
#include "tests/support/value_bits.h"

namespace relay::tests {
namespace {

using lang::Value;

repl::SessionOptions without_native_code() {
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  return options;
}

std::string first_of(const std::vector<lang::Diagnostic>& errors) {
  return lang::render(errors.front());
}

// A program that has run.
class Ran {
 public:
  explicit Ran(const std::string& text) : session(without_native_code()) {
    const auto errors = session.run("<program>", text, nullptr);
    if (!errors.empty()) FAIL(text << "\n" << first_of(errors));
  }
  Value value(const std::string& call) {
    auto given = session.evaluate(call);
    if (!given) FAIL(call << "\n" << first_of(given.errors()));
    return *given;
  }
  std::string passed(const std::string& passes) {
    const auto given = session.optimised({passes});
    if (!given) FAIL(passes << "\n" << first_of(given.errors()));
    return given->text;
  }
  repl::Session session;
};

enum class DTypes { Same, Any };

// Numbers that agree to `tolerance`, relative to the largest.
bool is_close(const Value& a, const Value& b, double tolerance, DTypes dtypes = DTypes::Same) {
  if (a.kind() == lang::ValueKind::Tuple && b.kind() == lang::ValueKind::Tuple) {
    const auto x = a.as_tuple().fields();
    const auto y = b.as_tuple().fields();
    return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), [&](auto& p, auto& q) {
             return is_close(p, q, tolerance, dtypes);
           });
  }
  const lang::TensorRef x = a.to_tensor();
  const lang::TensorRef y = b.to_tensor();
  if (x->shape() != y->shape()) return false;
  if (dtypes == DTypes::Same && x->dtype() != y->dtype()) return false;
  double largest = 0;
  for (std::int64_t i = 0; i < x->element_count(); ++i) {
    if (std::isfinite(x->number_at(i))) largest = std::max(largest, std::abs(x->number_at(i)));
  }
  for (std::int64_t i = 0; i < x->element_count(); ++i) {
    const double p = x->number_at(i);
    const double q = y->number_at(i);
    const bool are_same = p == q || (std::isnan(p) && std::isnan(q));
    if (!are_same && !(std::abs(p - q) <= tolerance * largest)) return false;
  }
  return true;
}

// Names that are made follow from what a session has made before.
std::string twice(const PassProgramText& program, const std::string& pass) {
  return Ran(program.text).passed(pass + ", " + pass);
}

// Options other than the defaults that do more, or something else.
const std::vector<std::string>& more_passes() {
  static const std::vector<std::string> kPasses = {
      "CombineParallelDense(min_num_branches=2, to_batch=False)",
      "CombineParallelDense(min_num_branches=2)",
      "CombineParallelConv2D(min_num_branches=2)",
      "CombineParallelBatchMatmul(min_num_branches=2)",
      "EtaExpand(expand_global_var=True)",
      "ToGraphNormalForm, ToANormalForm",
      "LambdaLift, Inline, DeadCodeElimination",
      "SimplifyInference, CanonicalizeOps, FoldConstant, FuseOps, LabelOps, DefuseOps"};
  return kPasses;
}

TEST_CASE("passes keep values and types, and do nothing a second time") {
  for (const PassProgramText& program : pass_programs()) {
    CAPTURE(program.name);
    Ran before(program.text);
    const Value expected = before.value(program.call);
    for (const opt::Pass& pass : opt::passes()) {
      if (pass.keeps == opt::Keeps::Meaning) continue;
      CAPTURE(pass.name);
      const std::string text = before.passed(pass.name);
      CAPTURE(text);
      const Value found = Ran(text).value(program.call);
      if (pass.keeps == opt::Keeps::Bits) {
        CHECK(same_bits(found, expected));
      } else {
        CHECK(is_close(found, expected, 1e-5));
      }
      if (pass.is_idempotent)
        CHECK(twice(program, pass.name) == Ran(program.text).passed(pass.name));
    }
  }
}

TEST_CASE("passes with other options, and one after the other, keep values") {
  for (const PassProgramText& program : pass_programs()) {
    CAPTURE(program.name);
    Ran before(program.text);
    const Value expected = before.value(program.call);
    for (const std::string& passes : more_passes()) {
      const std::string text = before.passed(passes);
      CAPTURE(passes, text);
      CHECK(is_close(Ran(text).value(program.call), expected, 1e-5));
    }
  }
}

TEST_CASE("mixed precision gives about the same numbers") {
  for (const PassProgramText& program : pass_programs()) {
    CAPTURE(program.name);
    Ran before(program.text);
    const Value expected = before.value(program.call);
    for (const auto& [pass, tolerance] :
         {std::pair{"ToMixedPrecision", 1e-2},
          std::pair{"ToMixedPrecision(mixed_precision_type=\"bfloat16\")", 1e-1}}) {
      const std::string text = before.passed(pass);
      CAPTURE(pass, text);
      CHECK(is_close(Ran(text).value(program.call), expected, tolerance, DTypes::Any));
      CHECK(twice(program, pass) == text);
    }
  }
}

}  // namespace
}  // namespace relay::tests
