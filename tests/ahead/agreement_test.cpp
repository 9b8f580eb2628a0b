// What `relay build` makes of a function gives the bits that the session gives.

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/ahead/built_program.h"
#include "tests/support/property.h"
#include "tests/support/random_program.h"

namespace relay::tests {
namespace {

using lang::Value;

repl::SessionOptions plain() {
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.kernels = repl::LibraryKernels::Off;
  return options;
}

bool has_compiler() {
#ifdef RELAY_HAS_JIT
  return true;
#else
  return false;
#endif
}

void run(repl::Session& session, const std::string& text) {
  const auto errors = session.run("<test>", text, nullptr);
  for (const auto& error : errors) FAIL(lang::render(error));
}

std::vector<Value> values(repl::Session& session, const std::vector<std::string>& texts) {
  std::vector<Value> all;
  for (const std::string& text : texts) all.push_back(session.evaluate(text).or_throw());
  return all;
}

// `f` of these arguments, built and not.
void check(repl::Session& session, const std::string& f, const std::vector<std::string>& args,
           BuiltProgram& built, const std::vector<std::int64_t>& dims) {
  const Value expected =
      session.evaluate(fmt::format("{}({})", f, fmt::join(args, ", "))).or_throw();
  const Value found = built.call(values(session, args), dims);
  INFO(f << " of extents " << fmt::format("{}", fmt::join(dims, ", ")));
  CHECK(lang::to_string(found) == lang::to_string(expected));
}

TEST_CASE("functions of any extents are native code, with the session's bits") {
  repl::Session session(plain());
  run(session, R"(
type Layer { Layer { w: Tensor[(5, 4), float32], b: Tensor[(5), float32] } }
let layer = Layer(w=for i < 5, j < 4 { sin(cast(i * 4 + j, float32)) }, b=for i < 5 { cos(cast(i, float32)) })
def points(n: int64) { for i < n { sin(cast(i, float32) * 0.7) } }
def rows(n: int64) { for i < n, j < 4 { cos(cast(i * 4 + j, float32) * 0.3) } }
def forward[n](layer: Layer, x: Tensor[(n, 4), float32]) { tanh(nn.dense(x, layer.w) + layer.b) }
def loss[n](layer: Layer, x: Tensor[(n, 4), float32]) { sum(forward(layer, x) * forward(layer, x)) }
def slope[n](layer: Layer, x: Tensor[(n, 4), float32]) { value_and_grad(loss)(layer, x) }
def bends[n](x: Tensor[(n, 4), float32]) { grad(fn (x) { sum(grad(fn (y) { loss(layer, y) })(x) * x) })(x) }
def softmax[n](x: Tensor[(n, 4), float32]) { (nn.softmax(x), argmax(x, axis=1), sum(x, axis=[0])) }
def outer[n, m](a: Tensor[(n), float32], b: Tensor[(m), float32]) { for i, j { a[i] * b[j] } }
def joined[n, m](a: Tensor[(n), float32], b: Tensor[(m), float32]) { concatenate((a, b)) }
def ordered[n](a: Tensor[(n), float32]) { (sort(a), argsort(a)) }
def reversed[n](a: Tensor[(n), float32]) { for i < n { a[n - 1 - i] } }
def scan[n](a: Tensor[(n), float32]) -> Tensor[(n), float32] { cumsum(a) }
)");
  const std::vector<std::int64_t> extents{1, 2, 3, 5, 17, 64, 130, 1025};
  const auto check_all = [&](const std::string& f, const auto& args_of) {
    BuiltProgram built(session, f);
    for (const std::int64_t n : extents) check(session, f, args_of(n), built, {n});
    INFO(f);
    CHECK((built.slow_kernels() == 0 || !has_compiler()));
  };
  using Texts = std::vector<std::string>;
  const auto rows = [](std::int64_t n) { return Texts{fmt::format("rows({}i64)", n)}; };
  const auto points = [](std::int64_t n) { return Texts{fmt::format("points({}i64)", n)}; };
  const auto with_layer = [](std::int64_t n) {
    return Texts{"layer", fmt::format("rows({}i64)", n)};
  };
  for (const char* const f : {"forward", "loss", "slope"}) check_all(f, with_layer);
  for (const char* const f : {"bends", "softmax"}) check_all(f, rows);
  for (const char* const f : {"ordered", "reversed", "scan"}) check_all(f, points);
  for (const char* const f : {"outer", "joined"}) {
    BuiltProgram built(session, f);
    for (const std::int64_t n : extents) {
      for (const std::int64_t m : {1, 3, 64}) {
        const Texts args{fmt::format("points({}i64)", n), fmt::format("points({}i64)", m)};
        check(session, f, args, built, {n, m});
      }
    }
    INFO(f);
    CHECK((built.slow_kernels() == 0 || !has_compiler()));
  }
}

TEST_CASE("data, recursion and closures are built") {
  repl::Session session(plain());
  run(session, R"(
type Tree { Leaf, Node(Tree, float64, Tree) }
def insert(t: Tree, x: float64) -> Tree {
  match t { Leaf => Node(Leaf, x, Leaf), Node(l, y, r) => if x < y { Node(insert(l, x), y, r) } else { Node(l, y, insert(r, x)) } }
}
def total(t: Tree) -> float64 { match t { Leaf => 0.0f64, Node(l, x, r) => total(l) + x + total(r) } }
def grow(i: int32, n: int32, t: Tree) -> Tree { if i == n { t } else { grow(i + 1, n, insert(t, sin(cast(i, float64)))) } }
def tree(n: int32) -> float64 { total(grow(0, n, Leaf)) }
let table = [1.5, 2.5, 4.0]
let steps = Cons(1.0f64, Cons(2.0f64, Nil))
def look(i: int32) -> float32 { table[i] }
def follow(x: float64) -> float64 { foldl(fn (a, s) { a * s + 1.0f64 }, x, steps) }
def compose(f, g) { fn (x) { f(g(x)) } }
def composed(x: float64) -> float64 { compose(sin, fn (y) { y * 2.0f64 })(x) }
def half(x: Tensor[(4), float16]) { x * x + 1.0 }
def both[n](p: (Tensor[(n), float64], bool)) { if p.1 { (p.0 * 2.0f64, 1) } else { (p.0, 0) } }
def cell(x: float64) -> float64 { let r = ref(x); ref_write(r, ref_read(r) * x); ref_read(r) + 1.0f64 }
)");
  const auto agrees = [&](const std::string& f, const std::vector<std::string>& args,
                          const std::vector<std::int64_t>& dims = {}) {
    BuiltProgram built(session, f);
    check(session, f, args, built, dims);
  };
  agrees("tree", {"300"});
  agrees("look", {"2"});
  agrees("follow", {"0.5f64"});
  agrees("composed", {"0.5f64"});
  agrees("half", {"[1.0f16, 2.5f16, 3.0f16, 0.1f16]"});
  agrees("both", {"([1.0f64, 2.0f64], True)"}, {2});
  agrees("cell", {"3.0f64"});
  BuiltProgram built(session, "look");
  CHECK_THROWS_AS(built.call(values(session, {"7"})), lang::Failure);
}

TEST_CASE("generated programs are built with the bits of the session") {
  ProgramOptions drawn;
  drawn.smooth = false;
  drawn.scalar_result = false;
  std::size_t count = 0;
  for (const std::uint64_t seed : seeds(25)) {
    for (const lang::DType dtype : {lang::DType::Float32, lang::DType::Int32}) {
      drawn.dtype = dtype;
      const RandomProgram program = random_program(seed, drawn);
      repl::Session session(plain());
      run(session, program.text);
      std::optional<BuiltProgram> built;
      try {
        built.emplace(session, "f");
      } catch (const lang::Failure& failure) {
        if (failure.diagnostics.front().kind == lang::DiagnosticKind::Unsupported) continue;
        FAIL_CHECK(lang::render(failure.diagnostics.front()) << program.text);
        continue;
      }
      INFO("seed " << seed << "\n" << program.text);
      const Value expected = session.evaluate(program.call).or_throw();
      const Value found = built->call(values(session, program.args));
      CHECK(lang::to_string(found) == lang::to_string(expected));
      ++count;
    }
  }
  CHECK(count > 0);
}

TEST_CASE("what a built object cannot do is refused with its place") {
  repl::Session session(plain());
  run(session, R"(
def reads(x: float32) -> float32 { x + load(path="x.npy", shape=[], dtype="float32") }
def list(n: int32) -> List[int32] { if n == 0 { Nil } else { Cons(n, list(n - 1)) } }
def open(x) { x }
def apply(f: fn (float32) -> float32) -> float32 { f(1.0) }
def filtered[n](x: Tensor[(n), float32]) { take(x, squeeze(argwhere(x > 0.0), axis=[1]), axis=0) }
)");
  for (const char* const f : {"reads", "list", "apply", "filtered"}) {
    INFO(f);
    CHECK_THROWS_AS(BuiltProgram(session, f), lang::Failure);
  }
}

}  // namespace
}  // namespace relay::tests
