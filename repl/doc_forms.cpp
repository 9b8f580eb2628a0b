#include "repl/doc_forms.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lang/derivative.h"
#include "lang/infix.h"
#include "lang/tree_form.h"

namespace relay::repl {

namespace {

struct Form {
  std::string_view name;
  std::string_view usage;
  std::string_view text;
  std::string_view example;
};

constexpr std::array kForms = {
    Form{"for", "for i, j { e }, for i < n { e }",
         "the tensor of the values of `e`; extents come from uses such as `a[i]`, or are written",
         "for i < 3 { i * i }\n// expect: [0, 1, 4]"},
    Form{"scatter", "scatter sum (t) i { [k[i]] => e }, scatter set (t) i { [k[i]] => e }",
         "a copy of `t` in which each element at the indices is folded with the values of `e`, or "
         "is "
         "the last of them",
         "scatter sum (zeros(shape=[3])) i < 4 { [i / 2] => 1.0 }\n// expect: [2.0, 2.0, 0.0]"},
    Form{"if", "if c { a } else { b }", "`a` if the boolean scalar `c` is True, else `b`",
         "if 1 < 2 { 10 } else { 20 }\n// expect: 10"},
    Form{"match", "match e { pattern => value, ... }",
         "the value of the first pattern that fits; `match?` may leave patterns out",
         "match Cons(1, Nil) { Cons(x, _) => x, Nil => 0 }\n// expect: 1"},
    Form{"let", "let x = e", "names a value, or the parts of one: `let (a, b) = e`",
         "let (a, b) = (1, 2)\na + b\n// expect: 3"},
    Form{"def", "def f(x, y = 1) { e }",
         "defines a function, which may be generic; `with gradient fn (x, dy) { ... }` behind it "
         "gives it a derivative of its own",
         "def square(x) { x * x }\nsquare(3)\n// expect: 9"},
    Form{"schedule", "schedule f { tile i j 4 16; vectorize j_i }",
         "how the index notation of a function runs, by the names of its indices; with parameters, "
         "a "
         "step of one's own",
         "def f(x) { for i { x[i] + 1 } }\nschedule f { split i 2; unroll i_i }\nf([1, 2, 3])\n"
         "// expect: [2, 3, 4]"},
    Form{"fn", "fn (x) { e }", "a function", "(fn (x) { x + 1 })(2)\n// expect: 3"},
    Form{"type", "type T { A, B(int32) }",
         "defines a data type, or a record: `type P { P { x: T } }`",
         "type Shape { Circle(float32), Square { side: float32 } }\n"
         "Square(side = 2.0)\n// expect: Square(side = 2.0)"},
    Form{"with", "p with { x = e }, a with { [i, j] = e }",
         "a copy of a record with other values in some fields, or of a tensor with other elements",
         "type Line { Line { w: float32, b: float32 } }\n"
         "Line(w = 2.0, b = 1.0) with { b = 0.0 }\n// expect: Line(w = 2.0, b = 0.0)\n"
         "[1, 2, 3] with { [0] = 7, [-1] = 9 }\n// expect: [7, 2, 9]"},
    Form{"import", "import \"file.relay\"", "makes the definitions of another file visible",
         "import \"optim.relay\"\ntree_norm([3.0, 4.0])\n// expect: 5.0"},
    Form{"ref", "ref(e), ref_read(r), ref_write(r, e)", "a cell whose content may change",
         "let r = ref(1)\nref_write(r, 2)\nref_read(r)\n// expect: 2"},
    Form{"dim", "dim(n + 1)", "a dimension as an int64 scalar",
         "def rows[n](x: Tensor[(n), float32]) { dim(n) }\nrows([1.0, 2.0])\n// expect: 2i64"},
    Form{"|>", "x |> f(a)", "the call `f(x, a)`", "[1.0, 4.0] |> sqrt\n// expect: [1.0, 2.0]"},
    Form{"True", "True", "a boolean scalar", "!True\n// expect: False"},
    Form{"False", "False", "a boolean scalar", "!False\n// expect: True"},
};

// Of the derivatives and the forms for trees, what `lang` says.
std::optional<Form> form_called(std::string_view name, std::string& usage) {
  if (const auto mode = lang::parse_diff_mode(name)) {
    usage = fmt::format("{}(f)", name);
    return Form{name, usage, lang::doc_of(*mode), lang::example_of(*mode)};
  }
  if (const lang::OpDef* tree = lang::find_tree_form(name)) {
    for (const lang::InputSpec& input : tree->inputs) usage += input.name + ", ";
    usage = fmt::format("{}({}...)", name, usage);
    return Form{name, usage, tree->doc, tree->example};
  }
  if (name == "else") name = "if";
  if (name == "ref_read" || name == "ref_write") name = "ref";
  const auto* const found = std::find_if(kForms.begin(), kForms.end(),
                                         [&](const Form& form) { return form.name == name; });
  return found == kForms.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::optional<std::string> form_doc(std::string_view name) {
  std::string usage;
  const auto form = form_called(name, usage);
  if (!form) return std::nullopt;
  return fmt::format("{}\n{}\n{}", form->usage, form->text, example_text(form->example));
}

std::optional<std::string> form_example(std::string_view name) {
  std::string usage;
  const auto form = form_called(name, usage);
  return form ? std::optional<std::string>(form->example) : std::nullopt;
}

std::string form_summary(std::string_view name) {
  std::string usage;
  const auto form = form_called(name, usage);
  return form ? std::string(form->text) : std::string();
}

std::vector<std::string> form_names() {
  std::vector<std::string> names = lang::derivative_names();
  for (std::string& name : lang::tree_form_names()) names.push_back(std::move(name));
  for (const Form& form : kForms) names.emplace_back(form.name);
  return names;
}

std::string shown_line(std::string_view line) {
  constexpr std::string_view kError = "// expect-error ";
  constexpr std::string_view kMore = "// |";
  constexpr std::string_view kOutput = "// expect: ";
  if (line.starts_with(kError)) {
    line.remove_prefix(kError.size());
    line.remove_prefix(std::min(line.find(' ') + 1, line.size()));  // the place
    const std::size_t colon = line.find(':');
    return fmt::format("error[{}]{}", line.substr(0, colon), line.substr(colon));
  }
  if (line.starts_with(kMore)) {
    line.remove_prefix(kMore.size());
    return std::string(line.substr(line.starts_with(' ') ? 1 : 0));
  }
  if (line.starts_with(kOutput)) return std::string(line.substr(kOutput.size()));
  return std::string(line);
}

std::string example_text(std::string_view example) {
  std::string text = "example:\n";
  while (!example.empty()) {
    const std::size_t end = std::min(example.find('\n'), example.size());
    text += fmt::format("  {}\n", shown_line(example.substr(0, end)));
    example.remove_prefix(std::min(end + 1, example.size()));
  }
  return text;
}

std::string_view operator_of_sign(std::string_view sign) {
  if (sign == "!") return "logical_not";
  const lang::Infix* infix = lang::find_infix(sign);
  return infix ? infix->op : std::string_view();
}

}  // namespace relay::repl
