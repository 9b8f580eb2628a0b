// Patterns over expressions: what each form matches, what it binds, and the same answers as a
// matcher that knows nothing of lets and tries everything.

#include "opt/pattern.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "lang/build.h"
#include "lang/op.h"
#include "lang/print.h"
#include "opt/passes.h"
#include "parser/parse.h"
#include "parser/rules.h"
#include "stdlib/register.h"
#include "tests/support/prelude.h"
#include "tests/support/property.h"
#include "tests/support/random.h"
#include "typecheck/infer.h"

namespace relay::tests {
namespace {

using lang::as;
using lang::Expr;
using opt::ExprMatch;

// The rules of a text.
std::vector<opt::PatternRule> rules_of(const std::string& text) {
  static lang::SourceStore sources;
  stdlib::register_operators();
  return opt::pattern_rules(parser::parse_rules(*sources.add("rules", text), prelude()).or_throw());
}

std::string error_of(const std::string& text) {
  try {
    rules_of(text);
    return "none";
  } catch (const lang::Failure& failure) {
    const lang::Diagnostic& first = failure.diagnostics.front();
    return fmt::format("{}: {}", lang::name_of(first.kind), first.message);
  }
}

// A function in A-normal form, and its result as patterns see it.
class Code {
 public:
  explicit Code(const std::string& body) {
    stdlib::register_operators();
    const std::string text =
        "fn (x: Tensor[(2, 3), float32], y: Tensor[(2, 3), float32], w: Tensor[(4, 3), float32], "
        "n: Tensor[(2, 3), int32]) { " +
        body + " }";
    const auto parsed = parser::parse(*sources_.add("code", text), prelude()).or_throw();
    typecheck::Checker checker(prelude());
    read(checker.check(parsed.items[0].expr).or_throw());
  }
  explicit Code(const Expr& typed) { read(typed); }

  std::optional<ExprMatch> match(const opt::PatternRule& rule) const {
    return opt::match(*rule.pattern, root_, definitions_, variable_);
  }
  const Expr& function() const { return function_; }
  const opt::Definitions& definitions() const { return definitions_; }
  const Expr& root() const { return root_; }

 private:
  void read(const Expr& typed) {
    function_ = opt::to_anf(typed);
    const lang::Block block = lang::open_block(lang::cast<lang::Function>(function_).body);
    for (const lang::Binding& binding : block.bindings)
      definitions_.add(binding.variable, binding.value);
    root_ = definitions_.of(block.result);
    if (const auto* var = as<lang::Var>(block.result)) variable_ = var->variable;
  }

  lang::SourceStore sources_;
  Expr function_;
  opt::Definitions definitions_;
  Expr root_;
  lang::VariableRef variable_;
};

// `x=y f=tanh a=1: tanh add`: values, operators, attributes; then the steps.
std::string described(const opt::PatternRule& rule, const Code& code) {
  const auto found = code.match(rule);
  if (!found) return "no";
  std::string text;
  for (const lang::VariableRef& param : rule.written.params) {
    const auto value = found->values.find(param.get());
    const auto call = found->calls.find(param.get());
    const auto attr = found->attrs.find(param->name);
    if (call != found->calls.end()) {
      text += param->name + "=" + opt::operator_of(call->second)->name + " ";
    } else if (attr != found->attrs.end()) {
      text += param->name + "=" + attr->second.to_string() + " ";
    } else if (value != found->values.end()) {
      text += param->name + "=" + lang::print_light(code.definitions().of(value->second)) + " ";
    }
  }
  text += ":";
  for (const ExprMatch::Step& step : found->steps) {
    const lang::OpDef* op = opt::operator_of(step.value);
    text += " " + (op ? op->name : std::string("part"));
  }
  return text;
}
std::string described(const std::string& rule, const std::string& code) {
  return described(rules_of(rule).back(), Code(code));
}

TEST_CASE("a pattern binds its names, and looks through lets") {
  CHECK(described("pattern p(a, b) { a + b }", "x + y") == "a=x b=y : add");
  CHECK(described("pattern p(a, b) { a + b }", "x * y") == "no");
  CHECK(described("pattern p(a) { tanh(abs(a)) }", "let t = abs(x); tanh(t)") == "a=x : abs tanh");
  CHECK(described("pattern p(a) { a + a }", "x + x") == "a=x : add");
  CHECK(described("pattern p(a) { a + a }", "x + y") == "no");
  CHECK(described("pattern p(a) { abs(a) * tanh(a) }", "abs(x) * tanh(x)") ==
        "a=x : abs tanh multiply");
  CHECK(described("pattern p(a) { let s = abs(a); s + s }", "let t = abs(y); t + t") ==
        "a=y : abs add");
}

TEST_CASE("operators that commute match in either order") {
  CHECK(described("pattern p(a, b) { a + negative(b) }", "negative(x) + y") ==
        "a=y b=x : negative add");
  CHECK(described("pattern p(a, b) { a - negative(b) }", "negative(x) - y") == "no");
}

TEST_CASE("numbers and constants") {
  CHECK(described("pattern p(a) { a * 2 }", "x * 2.0") == "a=x : multiply");
  CHECK(described("pattern p(a) { a * 2 }", "2 * n") == "a=n : multiply");
  CHECK(described("pattern p(a) { a * 2.0 }", "n * 2") == "no");
  CHECK(described("pattern p(a) { a + 0.0 }", "x + -0.0") == "no");
  CHECK(described("pattern p(a) { a + -0.0 }", "x + -0.0") == "a=x : add");
  CHECK(described("pattern p(a) { a + 1 }", "x + ones([2, 3])").ends_with(": add"));
  CHECK(described("pattern p(a, c: Constant) { a * c }", "3.0 * x") == "a=x c=3.0 : multiply");
  CHECK(described("pattern p(a, c: Constant) { a * c }", "x * y") == "no");
  CHECK(described("pattern p(a, c: Constant[int32]) { a * c }", "x * 3.0") == "no");
}

TEST_CASE("types restrict what a name matches") {
  CHECK(described("pattern p(a: Tensor[(n, n), float32]) { abs(a) }", "abs(x)") == "no");
  CHECK(described("pattern p(a: Tensor[(n, m), d]) { abs(a) }", "abs(n)") == "a=n : abs");
  CHECK(described("pattern p(a: Tensor[(n, k), d], b: Tensor[(m, k), d]) { nn.dense(a, b) }",
                  "nn.dense(x, w)") == "a=x b=w : nn.dense");
  CHECK(described("pattern p(a: Tensor[(n, k), d], b: Tensor[(n, k), d]) { nn.dense(a, b) }",
                  "nn.dense(x, w)") == "no");
  CHECK(described("pattern p(a: Integer) { abs(a) }", "abs(x)") == "no");
  CHECK(described("pattern p(a: Integer) { abs(a) }", "abs(n)") == "a=n : abs");
}

TEST_CASE("attributes that are written restrict, and parameters stand for their values") {
  CHECK(described("pattern p(a) { sum(a, axis=1) }", "sum(x, axis=[1])") == "a=x : sum");
  CHECK(described("pattern p(a) { sum(a, axis=0) }", "sum(x, axis=[1])") == "no");
  CHECK(described("pattern p(a) { sum(a) }", "sum(x, axis=[1])") == "a=x : sum");
  CHECK(described("pattern p(a, k) { sum(a, axis=k) }", "sum(x, axis=[1])") == "a=x k=[1] : sum");
  CHECK(described("pattern p(a, k) { max(sum(a, axis=k, keepdims=True), axis=k) }",
                  "max(sum(x, axis=[1], keepdims=True), axis=[1])") == "a=x k=[1] : sum max");
  CHECK(described("pattern p(a, k) { max(sum(a, axis=k, keepdims=True), axis=k) }",
                  "max(sum(x, axis=[1], keepdims=True), axis=[0])") == "no");
}

TEST_CASE("alternatives, optional steps, traits and chains") {
  const std::string either = "pattern p(a) { either(tanh(a), abs(tanh(a)), nn.relu(a)) }";
  CHECK(described(either, "nn.relu(x)") == "a=x : nn.relu");
  CHECK(described(either, "abs(tanh(x))") == "a=x : tanh abs");
  CHECK(described(either, "abs(x)") == "no");
  const std::string maybe =
      "pattern p(a, b) { nn.dense(a, b) |> maybe(nn.relu) |> maybe(clip(a_min=0.0)) }";
  CHECK(described(maybe, "nn.dense(x, w)") == "a=x b=w : nn.dense");
  CHECK(described(maybe, "nn.relu(nn.dense(x, w))") == "a=x b=w : nn.dense nn.relu");
  CHECK(described(maybe, "clip(nn.relu(nn.dense(x, w)), a_min=0.0, a_max=6.0)") ==
        "a=x b=w : nn.dense nn.relu clip");
  CHECK(described(maybe, "clip(nn.dense(x, w), a_min=1.0, a_max=6.0)") == "no");
  CHECK(described("pattern p(a) { elementwise(abs(a)) }", "nn.relu(abs(x))") ==
        "a=x : abs nn.relu");
  CHECK(described("pattern p(a) { elementwise(abs(a)) }", "transpose(abs(x))") == "no");
  CHECK(described("pattern p(a) { injective(abs(a)) }", "transpose(abs(x))") ==
        "a=x : abs transpose");
  CHECK(described("pattern p(a) { reduction(a) }", "sum(x, axis=1)") == "a=x : sum");
  CHECK(described("pattern p(a) { reduction(a) }", "nn.softmax(x)") == "no");
  CHECK(described("pattern p(f: Elementwise, a) { transpose(f(transpose(a))) }",
                  "transpose(tanh(transpose(x)))") == "f=tanh a=x : transpose tanh transpose");
  CHECK(described("pattern p(f: Elementwise, a) { f(f(a)) }", "tanh(abs(x))") == "no");
  CHECK(described("pattern p(f: Elementwise, a) { f(f(a)) }", "abs(abs(x))") ==
        "f=abs a=x : abs abs");
  const std::string chain = "pattern p(a, b) { chain(nn.dense(a, b), elementwise) }";
  CHECK(described(chain, "nn.dense(x, w)") == "a=x b=w : nn.dense");
  CHECK(described(chain, "tanh(2.0 * abs(nn.dense(x, w)) + 1.0)") ==
        "a=x b=w : nn.dense abs multiply add tanh");
  CHECK(described(chain, "sum(nn.dense(x, w))") == "no");
  CHECK(described("pattern act(a) { either(tanh(a), nn.relu(a)) }\n"
                  "pattern p(a, b) { chain(nn.dense(a, b), act) }",
                  "tanh(nn.relu(nn.dense(x, w)))") == "a=x b=w : nn.dense nn.relu tanh");
}

TEST_CASE("a step that mentions its operand twice stands behind one thing") {
  const std::string twice = "pattern twice(y) { y + abs(y) }\n";
  const std::string maybe = twice + "pattern p(a) { maybe(nn.relu(a), twice) }";
  CHECK(described(maybe, "let r = nn.relu(x); r + abs(r)") == "a=x : nn.relu abs add");
  CHECK(described(maybe, "let r = nn.relu(x); abs(r) + r") == "a=x : nn.relu abs add");
  CHECK(described(maybe, "nn.relu(x)") == "a=x : nn.relu");
  CHECK(described(maybe, "nn.relu(x) + abs(y)") == "no");
  CHECK(described(maybe, "nn.relu(x) + abs(nn.relu(y))") == "no");
  const std::string chain = twice + "pattern p(a) { tanh(chain(nn.relu(a), twice)) }";
  CHECK(described(chain, "let r = nn.relu(x); let s = r + abs(r); tanh(s + abs(s))") ==
        "a=x : nn.relu abs add abs add tanh");
  CHECK(described(chain, "let r = nn.relu(x); let s = r + abs(r); tanh(s + abs(r))") == "no");
  CHECK(described("pattern both(y) { maybe(abs(y), add(y)) }\n"
                  "pattern p(a) { maybe(nn.relu(a), both) }",
                  "let r = nn.relu(x); abs(r) + r") == "a=x : nn.relu abs add");
}

TEST_CASE("tuples and their parts") {
  CHECK(described("pattern p(a, b) { concatenate((a, abs(b)), axis=0) }",
                  "concatenate((x, abs(y)), axis=0)") == "a=x b=y : abs part concatenate");
  CHECK(described("pattern p(a) { abs(split(a, indices_or_sections=3, axis=1).0) }",
                  "abs(split(x, indices_or_sections=3, axis=1).0)") == "a=x : split part abs");
  CHECK(described("pattern p(a) { abs(split(a, indices_or_sections=3, axis=1).0) }",
                  "abs(split(x, indices_or_sections=3, axis=1).1)") == "no");
}

TEST_CASE("a match is one thing if nothing else uses its steps") {
  const auto rule = rules_of("pattern p(a) { tanh(abs(a)) }").back();
  const auto is_closed = [&](const std::string& text) {
    const Code code(text);
    const auto found = code.match(rule);
    REQUIRE(found);
    return opt::MentionCounts(code.function()).is_closed(*found);
  };
  CHECK(is_closed("let t = abs(x); tanh(t)"));
  CHECK(is_closed("tanh(abs(x))"));
  const Code shared("let t = abs(x); let r = tanh(t); (t, r)");
  const auto& fields = lang::cast<lang::Tuple>(shared.root()).fields;
  const auto found = opt::match(*rule.pattern, fields[1], shared.definitions());
  REQUIRE(found);
  CHECK_FALSE(opt::MentionCounts(shared.function()).is_closed(*found));
}

TEST_CASE("what is no pattern is said so") {
  CHECK(error_of("pattern p(a) { a }").starts_with("BadRule: a pattern that is a name alone"));
  CHECK(error_of("pattern p(a, b) { abs(a) }").starts_with("BadRule: `b` does not occur"));
  CHECK(error_of("pattern p(a) { abso(a) }") == "UnknownName: unknown name `abso`");
  CHECK(error_of("pattern p(a) { abs(p(a)) }") == "BadRule: the pattern `p` is made of itself");
  CHECK(error_of("pattern p(a) { sum(a, axs=1) }") ==
        "UnknownAttribute: `sum` has no attribute `axs`");
  CHECK(error_of("pattern p(a) { abs(a, a) }") ==
        "WrongArity: operator `abs` takes 1 operand, not 2");
  CHECK(error_of("pattern p(a) { for i { a[i] } }").starts_with("Unsupported: "));
  CHECK(error_of("rule r(a, b) { either(abs(a), a + b) } => { b }")
            .starts_with("BadRule: `b` may have no value"));
  CHECK(error_of("rule r(a) { abs(a) } => { c }") == "UnknownName: unknown name `c`");
}

// --- Against a matcher of trees ---

using Values = std::map<std::string, Expr>;

// A tree of operators over x and y, and a pattern that is the same with other leaves.
struct Drawn {
  Expr code;
  std::string pattern;
};

class Drawer {
 public:
  Drawer(Random& random, const std::vector<Expr>& leaves) : random_(random), leaves_(leaves) {}

  Drawn drawn(int depth) {
    const bool is_leaf = depth == 0 || random_.one_in(5);
    if (is_leaf) return {leaves_[random_.below(leaves_.size())], name()};
    static const std::vector<std::string> kOnes = {"abs", "tanh", "negative"};
    static const std::vector<std::string> kTwos = {"add", "multiply", "subtract"};
    const bool is_one = random_.one_in(2);
    const auto& ops = is_one ? kOnes : kTwos;
    const std::string op = ops[random_.below(ops.size())];
    // Now and then the pattern asks for another operator, or for none.
    const std::string wanted = random_.one_in(8) ? ops[random_.below(ops.size())] : op;
    const Drawn a = drawn(depth - 1);
    const Drawn b = is_one ? Drawn() : drawn(depth - 1);
    Drawn made;
    made.code = is_one ? lang::build::op(op, {a.code}) : lang::build::op(op, {a.code, b.code});
    made.pattern = random_.one_in(6) ? name()
                   : is_one          ? fmt::format("{}({})", wanted, a.pattern)
                                     : fmt::format("{}({}, {})", wanted, a.pattern, b.pattern);
    return made;
  }

 private:
  std::string name() { return std::string(1, static_cast<char>('a' + random_.below(3))); }

  Random& random_;
  const std::vector<Expr>& leaves_;
};

// Tries everything, in both orders.
bool matches(const Expr& pattern, const Expr& code, const Values& bound,
             const std::function<bool(const Values&)>& next) {
  if (const auto* var = as<lang::Var>(pattern)) {
    const auto known = bound.find(var->variable->name);
    if (known != bound.end()) return known->second == code && next(bound);
    Values more = bound;
    more.emplace(var->variable->name, code);
    return next(more);
  }
  const auto& wanted = lang::cast<lang::Call>(pattern);
  const auto* call = as<lang::Call>(code);
  if (!call || opt::operator_of(pattern) != opt::operator_of(code)) return false;
  if (call->args.size() == 1) return matches(wanted.args[0], call->args[0], bound, next);
  const auto both = [&](std::size_t first) {
    return matches(wanted.args[0], call->args[first], bound, [&](const Values& then) {
      return matches(wanted.args[1], call->args[1 - first], then, next);
    });
  };
  const std::string& name = opt::operator_of(code)->name;
  return both(0) || ((name == "add" || name == "multiply") && both(1));
}

TEST_CASE("matching through lets is matching of trees") {
  stdlib::register_operators();
  constexpr std::uint64_t kCases = 1500;
  const auto all = seeds(kCases);
  std::size_t matched = 0;
  for (const std::uint64_t seed : all) {
    Random random(seed);
    const lang::Type type = lang::tensor_type({lang::Dim(2)}, lang::DType::Float32);
    const lang::VariableRef x = lang::make_variable("x", type);
    const lang::VariableRef y = lang::make_variable("y", type);
    const std::vector<Expr> leaves = {lang::make_var(x), lang::make_var(y)};
    const Drawn drawn = Drawer(random, leaves).drawn(4);
    if (drawn.pattern.size() == 1 || !as<lang::Call>(drawn.code)) continue;
    std::string params;
    for (const char* name : {"a", "b", "c"}) {
      // Names of operators have these letters, too.
      for (const char* place : {"(", " "}) {
        for (const char* end : {")", ","}) {
          const bool is_there =
              drawn.pattern.find(place + std::string(name) + end) != std::string::npos;
          if (is_there && params.find(name) == std::string::npos)
            params += (params.empty() ? "" : ", ") + std::string(name);
        }
      }
    }
    CAPTURE(drawn.pattern, lang::print_light(drawn.code),
            replay_test(seed, "matching through lets is matching of trees"));
    const auto rules = rules_of("pattern p(" + params + ") { " + drawn.pattern + " }");
    const bool expected =
        matches(rules[0].written.pattern, drawn.code, {}, [](const Values&) { return true; });
    const Code code(lang::make_function({x, y}, nullptr, drawn.code, {}, nullptr, {},
                                        lang::function_type({type, type}, type)));
    CHECK(code.match(rules[0]).has_value() == expected);
    matched += expected ? 1 : 0;
  }
  CHECK(matched > all.size() / 20);
}

}  // namespace
}  // namespace relay::tests
