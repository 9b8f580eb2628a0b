// Parts of programs that external compilers run: what comes out is what comes out without them.

#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/value.h"
#include "repl/session.h"
#include "tests/support/marked_compiler.h"
#include "tests/support/passed_program.h"

namespace relay::tests {
namespace {

using repl::Session;

// A program with two compilers, `a` and `b`, which take operators of their own.
class Partitioned {
 public:
  explicit Partitioned(const std::string& text) : session_(quiet_options()) {
    add_to(session_);
    REQUIRE(session_.run("program", text, nullptr).empty());
  }

  std::string after(const std::string& passes) {
    const auto passed = session_.optimised({.passes = passes});
    REQUIRE(passed);
    return passed->text;
  }
  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++found;
    return found;
  }
  // The functions for external compilers.
  std::size_t regions(const std::string& passes) {
    return count(after(passes + ", PartitionGraph"), "Compiler=");
  }
  // Do both give the same, in both tiers?
  void check(const std::string& passes, const std::string& call) {
    const auto expected = session_.evaluate(call);
    REQUIRE(expected);
    const std::string made = after(passes + ", PartitionGraph");
    INFO(made);
    for (const interp::JitMode mode : {interp::JitMode::Off, interp::JitMode::Always}) {
      repl::SessionOptions options = quiet_options();
      options.jit = mode;
      Session session(options);
      add_to(session);
      REQUIRE(session.run("made", made, nullptr).empty());
      const auto found = session.evaluate(call);
      REQUIRE(found);
      CHECK(lang::to_string(*found) == lang::to_string(*expected));
    }
  }

 private:
  static void add_to(Session& session) {
    session.add_compiler(std::make_unique<MarkedCompiler>(
        "a", std::set<std::string>{"negative", "nn.relu", "add"},
        std::vector<lang::CompositePattern>{{"a.add_relu", "(x, y) { nn.relu(x + y) }"},
                                            {"a.negative_add", "(x, y) { negative(x) + y }"}}));
    session.add_compiler(
        std::make_unique<MarkedCompiler>("b", std::set<std::string>{"abs", "multiply"}));
  }

  Session session_;
};

constexpr const char* kBoth = "AnnotateExternalCompiler(\"a\", \"b\")";
constexpr const char* kVector = "([1.5, -2.0, 0.25])";

TEST_CASE("neighbours of one compiler become one function") {
  Partitioned program("def f(x: Tensor[(3), float32]) { nn.relu(negative(x)) + x }\n");
  CHECK(program.regions("AnnotateTarget(a)") == 3);
  CHECK(program.regions("AnnotateTarget(a), MergeCompilerRegions") == 1);
  program.check("AnnotateTarget(a)", std::string("f") + kVector);
  program.check(kBoth, std::string("f") + kVector);
}

TEST_CASE("a region does not wait for its own results") {
  // From `negative` a path leads around `exp` to `add`.
  Partitioned program(
      "def f(x: Tensor[(3), float32]) { let y = negative(x); let z = exp(y); nn.relu(y) + z }\n");
  CHECK(program.regions(kBoth) == 2);
  program.check(kBoth, std::string("f") + kVector);
}

TEST_CASE("nor through a branch") {
  Partitioned program(
      "def f(x: Tensor[(3), float32], c: bool) {\n"
      "  let y = negative(x);\n"
      "  let z = if c { abs(y) } else { nn.relu(y) };\n"
      "  nn.relu(y) + z\n"
      "}\n");
  CHECK(program.regions(kBoth) == 4);
  program.check(kBoth, "(f([1.5, -2.0, 0.25], True), f([1.5, -2.0, 0.25], False))");
}

TEST_CASE("what has an effect keeps its order") {
  Partitioned program(
      "def f(x: Tensor[(3), float32]) {\n"
      "  let r = ref(x);\n"
      "  let y = negative(ref_read(r));\n"
      "  ref_write(r, y);\n"
      "  nn.relu(ref_read(r)) + y\n"
      "}\n");
  program.check(kBoth, std::string("f") + kVector);
}

TEST_CASE("regions with several results, tuples and constants") {
  Partitioned program(
      "def f(x: Tensor[(3), float32]) {\n"
      "  let y = negative(x);\n"
      "  let t = (y, nn.relu(y) + [1.0, 2.0, 3.0]);\n"
      "  (exp(y), t.1, t)\n"
      "}\n");
  program.check(kBoth, std::string("f") + kVector);
  program.check(
      "AnnotateTarget(a, include_non_call_ops=False), MergeCompilerRegions, "
      "PartitionGraph(bind_constants=False)",
      std::string("f") + kVector);
}

TEST_CASE("two compilers, with a branch between their regions") {
  Partitioned program(
      "def f(x: Tensor[(3), float32], c: bool) {\n"
      "  let y = nn.relu(x);\n"
      "  let z = if c { abs(y) * y } else { sin(y) };\n"
      "  negative(z)\n"
      "}\n");
  CHECK(program.regions(kBoth) == 3);
  program.check(kBoth, "(f([1.5, -2.0, 0.25], True), f([1.5, -2.0, 0.25], False))");
}

TEST_CASE("composites are found whichever way the operands stand, and not where a part is shared") {
  Partitioned program("def f(x: Tensor[(3), float32]) { nn.relu(x + exp(x)) }\n");
  const std::string found = program.after("MergeComposite(a)");
  CHECK(Partitioned::count(found, "Composite=\"a.add_relu\"") == 1);
  CHECK(Partitioned::count(found, "PartitionedFromPattern=\"add_nn.relu_\"") == 1);
  program.check(kBoth, std::string("f") + kVector);
  Partitioned shared("def f(x: Tensor[(3), float32]) { let y = x + x; nn.relu(y) * y }\n");
  CHECK(Partitioned::count(shared.after("MergeComposite(a)"), "Composite=") == 0);
  shared.check(kBoth, std::string("f") + kVector);
}

TEST_CASE("no parameter of a composite stands for one of its steps") {
  Partitioned program("def f(x: Tensor[(3), float32]) { let y = negative(x); y + y }\n");
  CHECK(Partitioned::count(program.after("MergeComposite(a)"), "Composite=") == 0);
  program.check(kBoth, std::string("f") + kVector);
}

TEST_CASE("a pass reads the patterns of a compiler once, for however many functions") {
  class Counted final : public MarkedCompiler {
   public:
    explicit Counted(int& asked)
        : MarkedCompiler("c", {}, {{"c.twice", "(x) { negative(abs(x)) }"}}), asked_(asked) {}
    std::vector<lang::CompositePattern> composites() override {
      ++asked_;
      return MarkedCompiler::composites();
    }

   private:
    int& asked_;
  };
  int asked = 0;
  Session session(quiet_options());
  session.add_compiler(std::make_unique<Counted>(asked));
  std::string text;
  for (const char* name : {"f", "g", "h"}) {
    text += std::string("def ") + name + "(x: Tensor[(3), float32]) { negative(abs(x)) }\n";
  }
  REQUIRE(session.run("program", text, nullptr).empty());
  for (const char* pass : {"MergeComposite(c)", "AnnotateExternalCompiler(c)"}) {
    asked = 0;
    const auto passed = session.optimised({.passes = pass});
    REQUIRE(passed);
    CHECK(Partitioned::count(passed->text, "Composite=\"c.twice\"") == 3);
    CHECK(asked == 1);
  }
}

TEST_CASE("marks that are there stay, and what nobody took may be taken by another") {
  Partitioned program("def f(x: Tensor[(3), float32]) { abs(nn.relu(x)) }\n");
  const std::string once = program.after("AnnotateTarget(a)");
  CHECK(program.after("AnnotateTarget(a), AnnotateTarget(a)") == once);
  CHECK(Partitioned::count(once, "\"default\"") == 2);
  const std::string both = program.after("AnnotateTarget(a), AnnotateTarget(b)");
  CHECK(Partitioned::count(both, "\"default\"") == 0);
  CHECK(Partitioned::count(both, "\"b\"") == 2);
  program.check("AnnotateTarget(a), AnnotateTarget(b)", std::string("f") + kVector);
}

TEST_CASE("marks are nothing where nobody looks at them") {
  Partitioned program("def f(x: Tensor[(3), float32]) { abs(nn.relu(x)) + x }\n");
  const std::string marked = program.after(kBoth);
  Session plain(quiet_options());
  REQUIRE(plain.run("marked", marked, nullptr).empty());
  const auto value = plain.evaluate("f([1.5, -2.0, 0.25])");
  REQUIRE(value);
  CHECK(lang::to_string(*value) == "[3.0, -2.0, 0.5]");
}

TEST_CASE("derivatives go through functions of external compilers") {
  Partitioned program(
      "def f(x: Tensor[(3), float32]) { sum(nn.relu(x + x) * x) }\n"
      "def d(x: Tensor[(3), float32]) { grad(f)(x) }\n");
  program.check(kBoth, std::string("d") + kVector);
}

}  // namespace
}  // namespace relay::tests
