#include "tests/support/family.h"

#include <fmt/format.h>

namespace relay::tests {

namespace {

const Family kFamilies[] = {
    // Types that are the square of the one before, or twice as large: an error, and soon.
    {"tower of tuples", "def f0(x) {{ (x, x) }}", "def f{0}(x) {{ f{1}(f{1}(x)) }}", false, ""},
    {"pairs of pairs", "def f0(x) {{ (x, x) }}", "def f{0}(x) {{ (f{1}(x), f{1}(x)) }}", false, ""},
    {"lists of lists", "def f0(x) {{ Cons(x, Nil) }}", "def f{0}(x) {{ f{1}(f{1}(x)) }}", false,
     ""},
    {"lets of pairs", "def f(x0) {{", "let x{0} = (x{1}, x{1});", false, "0 }}"},
    {"local towers", "def f() {{ let g0 = fn (x) {{ (x, x) }};",
     "let g{0} = fn (x) {{ g{1}(g{1}(x)) }};", false, "0 }}"},
    // Operators that stay open, in schemes that hold those of the one before.
    {"open sums", "def f0(x, y) {{ x + y }}", "def f{0}(x, y) {{ f{1}(f{1}(x, y), f{1}(y, x)) }}",
     false, ""},
    {"open sums of two", "def f0(x, y) {{ x + y }}", "def f{0}(x, y) {{ f{1}(x, y) * f{1}(y, x) }}",
     false, ""},
    {"concatenations", "def f0(x) {{ concatenate((x, x)) }}", "def f{0}(x) {{ f{1}(f{1}(x)) }}",
     false, ""},
    {"reads", "def f0(x) {{ x[0] }}", "def f{0}(x) {{ f{1}(f{1}(x)) }}", false, ""},
    {"index notation", "def f0(x) {{ for i {{ x[i] }} }}", "def f{0}(x) {{ f{1}(f{1}(x)) }}", false,
     ""},
    {"products", "def f0(x) {{ nn.dense(nn.relu(x), ones([3, 2])) }}",
     "def f{0}(x) {{ f{1}(f{1}(x)) }}", false, ""},
    {"sums of rows", "def f0(x) {{ for i {{ sum j {{ x[i, j] }} }} }}",
     "def f{0}(x) {{ f{1}(x) + f{1}(x) }}", false, ""},
    {"convolutions", "def f0(x) {{ nn.conv2d(x, ones([3, 3, 3, 3])) }}",
     "def f{0}(x) {{ f{1}(f{1}(x)) }}", false, ""},
    {"one sum", "def f0(x) {{ x + x }}", "def f{0}(x) {{ f{1}(f{1}(x)) }}", false, ""},
    // Functions.
    {"towers of functions", "def f0(g) {{ fn (x) {{ g(x) }} }}", "def f{0}(g) {{ f{1}(f{1}(g)) }}",
     false, ""},
    {"partial applications", "def f0(a) {{ fn (b) {{ a * b }} }}",
     "def f{0}(a) {{ fn (b) {{ f{1}(a)(b) + f{1}(b)(a) }} }}", false, ""},
    {"calls of literals", "sin(x)", "(fn (x) {{ {2} }})(x)", true,
     "def f(x: float32) {{ {0} }} f(1.0)"},
    {"gradients of calls of literals", "sin(x)", "(fn (x) {{ {2} }})(x)", true,
     "def f(x: float32) {{ {0} }} grad(f)(1.0)"},
    {"literals in lets", "x * 1.5", "{{ let g{0} = fn (x) {{ {2} }}; g{0}(x) }}", true,
     "def f(x: float32) {{ {0} }} f(1.0)"},
    {"gradients of literals in lets", "x * 1.5", "{{ let g{0} = fn (x) {{ {2} }}; g{0}(x) }}", true,
     "def f(x: float32) {{ {0} }} grad(f)(1.0)"},
    {"generic local functions", "x",
     "{{ let g{0} = fn (y) {{ (y, {2}) }}; g{0}(1.0).1 + g{0}(2).1 }}", true,
     "def f(x: float32) {{ {0} }} f(1.0)"},
    {"local loops", "x",
     "{{ let g{0} = fn (k: int32, x: float32) {{ if (k == 0) {{ {2} }} else {{ g{0}(k - 1, x) }} "
     "}}; "
     "g{0}(1, x) }}",
     true, "def f(x: float32) {{ {0} }} f(1.0)"},
    {"maps in maps", "x", "hd(map(fn (x) {{ {2} }}, Cons(x, Nil)))", true,
     "def f(x: float32) {{ {0} }} f(1.0)"},
    // Nesting.
    {"lets in arguments", "x", "sin({{ let y = {2}; y }})", true,
     "def f(x: float32) {{ {0} }} f(1.0)"},
    {"ifs in conditions", "x > 0.0", "(if ({2}) {{ x > {0}.0 }} else {{ x < {0}.0 }})", true,
     "def f(x: float32) {{ {0} }} f(1.0)"},
    {"ifs in branches", "x", "(if (x > {0}.0) {{ {2} }} else {{ x * 2.0 }})", true,
     "def f(x: float32) {{ {0} }} grad(f)(1.0)"},
    {"matches in scrutinees", "x", "match ({2}, x) {{ (p, q) => p * q }}", true,
     "def f(x: float32) {{ {0} }} grad(f)(1.0)"},
    {"matches in clauses", "x", "match (Some(x)) {{ Some(x) => {2}, None => x }}", true,
     "def f(x: float32) {{ {0} }} f(1.0)"},
    {"comprehensions", "x[0]", "(for i < 2 {{ {2} }})[0]", true,
     "def f(x: Tensor[(2), float32]) {{ {0} }} f([1.0, 2.0])"},
    {"tuples in tuples", "x", "({2}, 1)", true, "def f(x) {{ {0} }} f(1.0)"},
    {"pipes", "x", "{2} |> sin", true, "def f(x: float32) {{ {0} }} grad(f)(1.0)"},
    {"gradients in gradients", "x * x", "grad(fn (x) {{ {2} }})(x)", true,
     "def f(x: float32) {{ {0} }}"},
    {"records in records", "type R0 {{ R0 {{ a: float32, b: float32 }} }}",
     "type R{0} {{ R{0} {{ a: R{1}, b: R{1} }} }}", false, ""},
    {"types of many types", "type D[A] {{ D(A, A) }} def f0(x) {{ D(x, x) }}",
     "def f{0}(x) {{ D(f{1}(x), f{1}(x)) }}", false, ""},
    {"recursion in recursion", "def f0(n, x) {{ if (n <= 0) {{ x }} else {{ f0(n - 1, x) }} }}",
     "def f{0}(n, x) {{ if (n <= 0) {{ x }} else {{ f{0}(n - 1, f{1}(n, x)) }} }}", false, ""},
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

std::string program_of(const Family& family, int size) {
  std::string text = fmt::format(fmt::runtime(family.first));
  for (int i = 1; i < size; ++i) {
    const std::string next = fmt::format(fmt::runtime(family.next), i, i - 1, text);
    text = family.is_nested ? next : text + "\n" + next;
  }
  if (!family.is_nested)
    return text + "\n" + fmt::format(fmt::runtime(family.last), size - 1) + "\n";
  text = fmt::format(fmt::runtime(family.last), text);
  if (const std::size_t call = text.rfind("} "); call != std::string::npos) text[call + 1] = '\n';
  return text + "\n";
}

}  // namespace relay::tests
