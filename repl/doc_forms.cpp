#include "repl/doc_forms.h"

#include <array>

#include <fmt/format.h>

namespace relay::repl {

namespace {

struct Form {
  std::string_view name;
  std::string_view usage;
  std::string_view text;
  std::string_view example;
};

constexpr std::array kForms = {
    Form{"grad", "grad(f)", "the gradient of a function whose result is a float scalar",
         "grad(fn (x) { sum(x * x) })([1.0, 2.0])  // [2.0, 4.0]"},
    Form{"value_and_grad", "value_and_grad(f)", "a function that gives the result and the gradient",
         "value_and_grad(fn (x) { sum(x * x) })([1.0, 2.0])  // (5.0, [2.0, 4.0])"},
    Form{"tree_map", "tree_map(f, tree, ...)",
         "the tree (a tuple, record or other data type) with `f` of each leaf that is a float "
         "tensor; of several trees, `f` of the leaves at one place",
         "tree_map(fn (x) { x * 2.0 }, (1.0, [2.0]))  // (2.0, [4.0])"},
    Form{"tree_fold", "tree_fold(f, start, tree, ...)",
         "`f(f(start, leaf), leaf)` and so on, over the leaves that are float tensors",
         "tree_fold(fn (n, x) { n + sum(x) }, 0.0, (1.0, [2.0]))  // 3.0"},
    Form{"for", "for i, j { e }, for i < n { e }",
         "the tensor of the values of `e`; extents come from uses such as `a[i]`, or are written",
         "for i < 3 { i * i }  // [0, 1, 4]"},
    Form{"scatter", "scatter sum (t) i { [k[i]] => e }",
         "a copy of `t` in which each element at the indices is folded with the values of `e`",
         "scatter sum (zeros(shape=[3])) i < 4 { [i / 2] => 1.0 }  // [2.0, 2.0, 0.0]"},
    Form{"if", "if c { a } else { b }", "`a` if the boolean scalar `c` is True, else `b`",
         "if 1 < 2 { 10 } else { 20 }  // 10"},
    Form{"match", "match e { pattern => value, ... }",
         "the value of the first pattern that fits; `match?` may leave patterns out",
         "match Cons(1, Nil) { Cons(x, _) => x, Nil => 0 }  // 1"},
    Form{"let", "let x = e", "names a value, or the parts of one: `let (a, b) = e`",
         "let (a, b) = (1, 2)"},
    Form{"def", "def f(x, y = 1) { e }",
         "defines a function, which may be generic; `with gradient fn (x, dy) { ... }` behind it "
         "gives it a derivative of its own",
         "def square(x) { x * x }"},
    Form{"fn", "fn (x) { e }", "a function", "(fn (x) { x + 1 })(2)  // 3"},
    Form{"type", "type T { A, B(int32) }",
         "defines a data type, or a record: `type P { P { x: T } }`",
         "type Shape { Circle(float32), Square { side: float32 } }"},
    Form{"with", "p with { x = e }", "a copy of a record with other values in some fields",
         "p with { b = 0.0 }"},
    Form{"import", "import \"file.relay\"", "makes the definitions of another file visible",
         "import \"other.relay\""},
    Form{"ref", "ref(e), ref_read(r), ref_write(r, e)", "a cell whose content may change",
         "let r = ref(1)"},
    Form{"dim", "dim(n + 1)", "a dimension as an int64 scalar",
         "def rows[n](x: Tensor[(n), float32]) { dim(n) }"},
    Form{"|>", "x |> f(a)", "the call `f(x, a)`", "[1.0, 4.0] |> sqrt  // [1.0, 2.0]"},
    Form{"True", "True", "a boolean scalar", "!True  // False"},
    Form{"False", "False", "a boolean scalar", "!False  // True"},
};

struct Sign {
  std::string_view sign;
  std::string_view name;
};
constexpr std::array kSigns = {
    Sign{"*", "multiply"},    Sign{"/", "divide"},      Sign{"%", "mod"},
    Sign{"+", "add"},         Sign{"-", "subtract"},    Sign{"<", "less"},
    Sign{"<=", "less_equal"}, Sign{">", "greater"},     Sign{">=", "greater_equal"},
    Sign{"==", "equal"},      Sign{"!=", "not_equal"},  Sign{"&&", "logical_and"},
    Sign{"||", "logical_or"}, Sign{"!", "logical_not"},
};

}  // namespace

std::optional<std::string> form_doc(std::string_view name) {
  if (name == "else") name = "if";
  if (name == "ref_read" || name == "ref_write") name = "ref";
  for (const Form& form : kForms) {
    if (form.name == name)
      return fmt::format("{}\n{}\nexample:\n  {}\n", form.usage, form.text, form.example);
  }
  return std::nullopt;
}

std::string_view operator_of_sign(std::string_view sign) {
  for (const Sign& each : kSigns) {
    if (each.sign == sign) return each.name;
  }
  return {};
}

}  // namespace relay::repl
