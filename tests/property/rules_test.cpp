// The rules that are part of the program hold on random instances; and each is refused once its
// replacement is another, be it by a sign, by one, or by the last bit.

#include "parser/rules.h"

#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/op.h"
#include "lang/print.h"
#include "opt/rewrite.h"
#include "opt/rule_check.h"
#include "stdlib/rule_files.h"
#include "tests/support/passed_program.h"
#include "tests/support/prelude.h"
#include "tests/support/property.h"
#include "typecheck/infer.h"

namespace relay::tests {
namespace {

using lang::Expr;

class RuleSession {
 public:
  std::vector<opt::PatternRule> rules(const std::string& text) {
    return opt::pattern_rules(
        parser::parse_rules(*sources_.add("rules", text), prelude()).or_throw());
  }
  opt::RuleHost host() {
    return {[this](const Expr& fn) { return checker_.check(fn).or_throw(); },
            [this](const Expr& closed) -> Expr {
              const auto value = session_.evaluate(closed);
              if (!value || !(value->is_scalar() || value->is_tensor())) return nullptr;
              return lang::make_constant(value->to_tensor());
            }};
  }
  // Empty: the rule holds.
  std::string fault(const opt::PatternRule& rule) {
    try {
      opt::check_rules({rule}, host());
      return {};
    } catch (const lang::Failure& failure) {
      return rendered(failure.diagnostics);
    }
  }

 private:
  lang::SourceStore sources_;
  repl::Session session_{quiet_options()};
  typecheck::Checker checker_{prelude()};
};

std::vector<opt::PatternRule> library_rules(RuleSession& session) {
  std::vector<opt::PatternRule> all;
  for (const auto& file : stdlib::rule_files()) {
    const auto rules = session.rules(std::string(file.text));
    all.insert(all.end(), rules.begin(), rules.end());
  }
  return all;
}

TEST_CASE("the rules of the library hold on random instances") {
  RuleSession session;
  std::size_t count = 0;
  for (const opt::PatternRule& rule : library_rules(session)) {
    CAPTURE(rule.written.name);
    CHECK(session.fault(rule).empty());
    ++count;
  }
  CHECK(count > 30);
}

Expr applied(const char* op, std::vector<Expr> args) {
  return lang::make_call(lang::make_operator(&lang::OpRegistry::instance().get(op)),
                         std::move(args));
}

TEST_CASE("a rule of the library whose replacement is another is refused") {
  RuleSession session;
  const std::vector<std::function<Expr(const Expr&)>> changes = {
      [](const Expr& e) {
        return applied("add", {e, lang::make_literal(std::int64_t{1})});
      },
      [](const Expr& e) {
        return applied("subtract", {e, lang::make_literal(std::int64_t{2})});
      },
      [](const Expr& e) { return applied("zeros_like", {e}); }};
  for (opt::PatternRule rule : library_rules(session)) {
    if (!rule.written.replacement) continue;
    const Expr good = rule.written.replacement;
    for (const auto& change : changes) {
      rule.written.replacement = change(good);
      CAPTURE(rule.written.name, lang::print_light(rule.written.replacement));
      CHECK_FALSE(session.fault(rule).empty());
    }
  }
}

// Each is nearly true.
TEST_CASE("rules that hold for nearly all values are refused") {
  RuleSession session;
  for (
      const char* text : {
          "rule r(x) { x + 0 } => { x }",                        // -0.0
          "rule r(x) { 0 - x } => { negative(x) }",              // 0.0
          "rule r(x) { x * 0 } => { zeros_like(x) }",            // inf, nan, -1.0
          "rule r(x) { x - x } => { zeros_like(x) }",            // inf
          "rule r(x) { x / x } => { ones_like(x) }",             // 0
          "rule r(x, y) { (x - y) + y } => { x }",               // rounding
          "rule r(x: Float) { x / 3.0 } => { x * 0.33333334 }",  // rounding
          "rule r(x) { sqrt(x * x) } => { x }",                  // negative numbers
          "rule r(x) { sqrt(x * x) } => { abs(x) }",             // overflow
          "rule r(x) { nn.relu(x) } => { maximum(x, zeros_like(x)) + abs(x) * 0.0 }",
          "rule r(x) { transpose(transpose(x)) } => { x }",    // axes
          "rule r(x, y) { floor_divide(x, y) } => { x / y }",  // rounding down
          "rule r(x, k) { negative(cumsum(x, axis=k)) } => { negative(cumsum(x, axis=k)) }",  // exclusive
          "approximate rule r(x: Float) { x * 1.001 } => { x }",
          "approximate rule r(x: Float) { abs(x) } => { x }",
          "rule r(x: Integer) { x / 2 * 2 } => { x }",
          "rule r(x: Tensor[(n), d]) where n % 2 == 1 { sum(x) } => { sum(x) + cast(n, dtype=d) }",
          "rule r(x: Tensor[(n), bool]) { argwhere(x) } => { argwhere(logical_not(x)) }",  // shapes
      }) {
    CAPTURE(text);
    CHECK_FALSE(session.fault(session.rules(text).back()).empty());
  }
}

TEST_CASE("rules that hold are accepted") {
  RuleSession session;
  for (const char* text : {
           "rule r(x, y: Float) { maximum(x, y) + y } => { y + maximum(x, y) }",
           "rule r(x: Integer) { x * 0 } => { zeros_like(x) }",
           "rule r(x: Integer, y: Integer) { (x - y) + y } => { x }",
           "approximate rule r(x: Float, y: Float) { (x - y) + y } => { x }",
           "approximate rule r(x: Tensor[s, float32]) { x / 3.0 } => { x * 0.33333334 }",
           "approximate rule r(x: Float) { sqrt(x * x) } => { abs(x) }",
           "rule r(x: Tensor[(n, m), float32], w: Tensor[(k, m), float32]) { nn.relu(nn.dense(x, "
           "w)) } "
           "=> { maximum(nn.dense(x, w), zeros_like(nn.dense(x, w))) }",
           "rule r(f: Elementwise, x, a) { f(reshape(x, newshape=a)) } => { reshape(f(x), "
           "newshape=a) }",
           "rule r(x: Tensor[(n), int32]) where n % 2 == 0 { sum(x) } => { sum(reshape(x, "
           "newshape=[2, -1])) }",
           "rule r(x, k) { let c = cumsum(x, axis=k); negative(negative(c)) } => { cumsum(x, "
           "like=c) }",
       }) {
    CAPTURE(text);
    CHECK(session.fault(session.rules(text).back()) == "");
  }
}

}  // namespace
}  // namespace relay::tests
