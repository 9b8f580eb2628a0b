// What can be completed where: texts with `|` as the cursor, and the candidates that come first.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "repl/completion/names.h"
#include "repl/completion/place.h"
#include "repl/session.h"

using namespace relay;

namespace {

// What is not the `|` of `|>` or `||`.
std::size_t cursor_of(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_sign = text.compare(i, 2, "|>") == 0;
    if (text[i] == '|' && !is_sign) return i;
  }
  return text.size();
}

repl::Session& session() {
  static repl::Session* session = [] {
    auto* made = new repl::Session(repl::SessionOptions{});
    const auto errors = made->run("setup", R"(
type Params { Params { w: Tensor[(4, 3), float32], b: Tensor[(3), float32] } }
type Shape { Circle { name: int32, radius: float32 }, Square { side: float32, name: int32 } }
type Colour { Red, Green(int32) }
let p = Params(w = ones([4, 3]), b = zeros([3]))
let pages = 3
let weight = ones([4])
let pair = (1, (2.0, True))
/// Doubles.
def predict[n](q: Params, x: Tensor[(n, 4), float32]) { nn.dense(x, transpose(q.w)) }
def scale(x, factor = 2.0) { x * factor }
def my.twice(x) { x * 2 }
)",
                                  {});
    REQUIRE(errors.empty());
    return made;
  }();
  return *session;
}

repl::Completions completed(std::string text) {
  const std::size_t cursor = cursor_of(text);
  if (cursor < text.size()) text.erase(cursor, 1);
  return session().complete(text, cursor);
}

struct Row {
  std::string typed;
  // Each `text`, or `text : detail`; "": there are no more.
  std::vector<std::string> first;
};

const std::vector<Row> kRows = {
    // Names, with their types
    {"pa|", {"pages : int32", "pair : (int32, (float32, bool))"}},
    {"predi|", {"predict : fn (Params, Tensor[(n, 4), float32]) -> Tensor[(n, 3), float32]", ""}},
    {"Para|", {"Params : fn (Tensor[(4, 3), float32], Tensor[(3), float32]) -> Params", ""}},
    {"Re|", {"Red : Colour", ""}},
    {"Gree|", {"Green : fn (int32) -> Colour", ""}},
    {"let y = pag|", {"pages : int32", ""}},
    {"1 + pag|", {"pages : int32", ""}},
    {"pag|es + 1", {"pages : int32", ""}},
    {"Pag|", {"pages : int32", ""}},
    {"prdct|", {"predict : fn (Params, Tensor[(n, 4), float32]) -> Tensor[(n, 3), float32]"}},
    {"qqqqq|", {""}},
    // Operators and their namespaces
    {"softm|",
     {"nn.softmax : Exponentials along an axis, divided by their sum; large values do not "
      "overflow."}},
    {"nn.softm|", {"nn.softmax", ""}},
    {"nn|", {"nn."}},
    {"my|", {"my. : names", "my.twice"}},
    {"my.|", {"my.twice", ""}},
    {"hess|", {"hessian", ""}},
    // Locals, the innermost ones
    {"def f(alpha, beta: Params) { let gamma = beta.w * 2.0; gam|",
     {"gamma : Tensor[(4, 3), float32]", ""}},
    {"def f(alpha, beta: Params) { let gamma = beta.w * 2.0; be|", {"beta : Params"}},
    {"def f(alpha: int32) = alp|", {"alpha : int32"}},
    {"def f(zqx: int32) = zqx\nzqx|", {""}},
    {"fn (first, second: float32) { sec|", {"second : float32", ""}},
    {"for iota { iot|", {"iota : int64", ""}},
    {"for i < 3, jot < 2 { sum kil { jo|", {"jot : int64"}},
    {"scatter sum (weight) iota < 4 { [iot|", {"iota : int64", ""}},
    {"match Cons(1.5, Nil) { Cons(head, tail) => hea|", {"head : float32"}},
    {"match Cons(1.5, Nil) { Cons(zqx, _) => 1, Nil => zqx|", {""}},
    {"{ let inner = p.w; inne|", {"inner : Tensor[(4, 3), float32]", ""}},
    {"{ { let zqx = p.w; 1 }; zqx|", {""}},
    {"let (one, (two, tri)) = pair; tri|", {"tri : bool"}},
    {"let pages = True\npage|", {"pages : bool", ""}},
    {"def loop(n) { loo|", {"loop"}},
    {"{ let go = fn (x) { go|", {"go"}},
    // One error costs the types of what it concerns
    {"def f(x: Params) { let good = x.b; let bad = x + ; goo|", {"good : Tensor[(3), float32]"}},
    {"def f(x: Nowhere, y: Params) { let good = p.b; goo|", {"good : Tensor[(3), float32]"}},
    // Behind a dot
    {"p.|", {"b : Tensor[(3), float32]", "w : Tensor[(4, 3), float32]", ""}},
    {"p.w|", {"w : Tensor[(4, 3), float32]", ""}},
    {"pair.1.|", {"0 : float32", "1 : bool", ""}},
    {"def f(q: Params) { q.|", {"b : Tensor[(3), float32]", "w : Tensor[(4, 3), float32]", ""}},
    {"Circle(name = 1, radius = 2.0).|", {"name : int32", ""}},
    {"fn (x) { x.rad|", {""}},
    {"p with { |", {"b =  : Tensor[(3), float32]", "w =  : Tensor[(4, 3), float32]", ""}},
    {"type Own { Own { mine: int32 } }\ndef f(x: Own) { x.mi|", {"mine : a field", ""}},
    // Arguments
    {"nn.conv2d(weight, weight, pad|", {"padding= : padding=[0, 0]"}},
    {"nn.conv2d(weight, weight, padding=1, |",
     {"channels= : channels=None", "data_layout= : data_layout=\"NCHW\"", "dilation="}},
    {"nn.conv2d(weight, weight, padding=1, padding|", {""}},
    {"nn.conv2d(weight, weight, data_layout=|", {"\"NCHW\"", "\"NHWC\""}},
    {"nn.conv2d(weight, weight, data_layout=\"N|", {"NCHW", "NHWC", ""}},
    {"sum(weight, keepdims=|", {"False", "True"}},
    {"zeros([3], dtype=\"float|", {"float16", "float32", "float64", ""}},
    {"nn.pad(weight, pad_mode=\"|", {"constant", "edge", "reflect", ""}},
    {"scale(weight, fa|", {"factor= : factor=2.0"}},
    {"Params(|", {"b= : Tensor[(3), float32]", "w= : Tensor[(4, 3), float32]"}},
    {"Params(w = p.w, |", {"b= : Tensor[(3), float32]"}},
    {"def own(speed, rate = 1) { speed }\nown(1, r|", {"rate= : a parameter"}},
    // What fits comes first
    {"predict(|", {"p : Params"}},
    {"predict(p|", {"p : Params", "pages"}},
    {"def f(n: int32, q: Params) { predict(|", {"q : Params", "p : Params", "n : int32"}},
    {"def f(zz: Params, aa: int32) { let go = fn (x: Params) { x.w }; go(|", {"zz : Params", "p"}},
    {"let use = fn (t: Tensor[(4), float32]) { t }\nuse(|", {"weight : Tensor[(4), float32]"}},
    // Types
    {"def f(x: Par|", {"Params : a data type", ""}},
    {"def f(x: Tensor[(2), flo|", {"float16", "float32", "float64", ""}},
    {"def f[rows, cols](x: Tensor[(r|", {"rows : a type parameter", ""}},
    {"def f(x) -> Sha|", {"Shape : a data type", ""}},
    {"type T { T(Colo|", {"Colour : a data type", ""}},
    {"type T { T { field: Colo|", {"Colour : a data type", ""}},
    {"let x: Colo|", {"Colour : a data type", ""}},
    // Patterns
    {"match Red { Gr|", {"Green : fn (int32) -> Colour", ""}},
    {"match Red { Red => 1, Gr|", {"Green : fn (int32) -> Colour", ""}},
    // Words of the language
    {"def|", {"nn.deformable_conv2d", "def : def f(x) { e }"}},
    {"1 + def|", {"nn.deformable_conv2d", ""}},
    {"if True { 1 } el|", {"else", ""}},
    {"p wi|", {"with : p with { x = e }", ""}},
    // Where nothing can be known
    {"let pag|", {""}},
    {"def pag|", {""}},
    {"def f(pag|", {""}},
    {"for pag|", {""}},
    {"type Par|", {""}},
    {"// pag|", {""}},
    {"/* pag|", {""}},
    {"let s = \"pag|", {""}},
    {"12|", {""}},
    // Commands
    {":sho|", {":show", ""}},
    {":show lo|", {"loops : a stage", ""}},
    {":show loops page|", {"pages : int32", ""}},
    {":type p.|", {"b", "w", ""}},
    {":doc pages|", {"pages : int32", ""}},
    {":doc nn.softm|", {"nn.softmax", ""}},
    {":doc Colo|", {"Colour : a data type", ""}},
    {":explain ShapeMism|", {"ShapeMismatch"}},
    {":limit |", {"memory", "time", ""}},
    {"def f(a) { for row, column { a[row, column] } }\nschedule f { split ro|", {"row", ""}},
    {"def f(a) { for row { a[row] } }\nschedule f { split row 4; vectorize row_|",
     {"row_i", "row_o"}},
    {"def f(a) { for row { a[row] } }\nschedule f { parallel row; reorder row_|", {""}},
    {"def f(a) { for row { a[row] } }\nschedule f { split row 4; spli|", {"split", ""}},
    {"def f(a) { for row, col { a[row, col] } }\nschedule f {\n  tile row col 4 8\n  unroll col_|",
     {"col_i", "col_o", ""}},
    {"def f(a) { for row, col { a[row, col] } }\nschedule f { fuse row col; split row_|",
     {"row_col", ""}},
    {"def f(a) { for row { a[row] } }\nschedule half(r) { split r 2 }\n"
     "schedule f { half row; unroll row_|",
     {"row_i", "row_o"}},
    {"def f(a) { let twice = for row { a[row] }; for col { twice[col] } }\nschedule f { inline "
     "twi|",
     {"twice"}},
    {"schedule tiled(first, second) { ti|", {"tile", "tiled", ""}},
    {"schedule tiled(first, second) { tile fi|", {"first"}},
    {"schedule tiled(first, second) { tile fi| }\nlet x = 1\n", {"first"}},
    {"def f(a) { for row { a[row] } }\nschedule f { split ro| 4 }\nf([1.0])", {"row", ""}},
    {"def f(a) { for row { a[row] } }\nschedule f { spl| row 4; vectorize row_i }\n",
     {"split", ""}},
    {":stats |", {"memory", "passes", ""}},
    {":qqq pa|", {""}},
    {"?nn.softm|", {"nn.softmax", ""}},
    // Files
    {"import \"opti|", {"optim.relay : standard library", ""}},
    {"import \"optim.relay\" (tree_n|", {"tree_norm", ""}},
    {"import \"optim.relay\"\ntree_no|", {"tree_norm : of optim.relay", "optim.tree_norm", ""}},
    {"import \"optim.relay\" as o\no.tree_no|", {"o.tree_norm", ""}},
    {"load(\"examples/da|", {"data/ : folder", ""}},
    {":load examples/01|", {"01_iris.relay", ""}},
    // Characters by their names
    {"\"\\alph|", {"α : \\alpha", ""}},
    {"// \\Delta|", {"Δ : \\Delta", ""}},
    {"let \\Delta|", {"Δ : \\Delta", ""}},
    {"def f(θ, θ_max: int32) { θ_m|", {"θ_max : int32", ""}},
    {"\\le|", {"≤ : \\le", "≤ : \\leq", "← : \\leftarrow", ""}},
};

}  // namespace

TEST_CASE("what can be completed, best first", "[completion]") {
  for (const Row& row : kRows) {
    const repl::Completions found = completed(row.typed);
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < row.first.size(); ++i) {
      if (i >= found.candidates.size()) {
        shown.emplace_back();
        continue;
      }
      const repl::Candidate& each = found.candidates[i];
      const bool has_detail = row.first[i].find(" : ") != std::string::npos;
      shown.push_back(has_detail ? each.text + " : " + each.detail : each.text);
    }
    INFO("typed: " << row.typed);
    CHECK(shown == row.first);
  }
}

// docs/limits.md speaks of these.
TEST_CASE("what completion does not know yet", "[completion]") {
  const auto first = [](const std::string& text) {
    const repl::Completions found = completed(text);
    if (found.candidates.empty()) return std::string();
    return found.candidates.front().text + " : " + found.candidates.front().detail;
  };
  CHECK(first("type Own { Own { mine: int32 } }\ndef f(zxq: Own) { zxq|") == "zxq : ");
  CHECK(first("{ let zxq = load(\"none.npy\"); zxq|") == "zxq : ");
  CHECK(first("match if True { Some(1) } else { None } { Some(zxq) => zxq|").empty());
  CHECK(first("nn.conv2d(weight, weight, data_layout=\"NCHW1|").empty());
  std::string long_text = "def f(zxq: int32) { ";
  for (int i = 0; i < 2000; ++i) long_text += "let a = zxq; ";
  CHECK(first(long_text + "zxq|") == "zxq : ");
}

TEST_CASE("a completion replaces what has been typed of a name", "[completion]") {
  const auto range = [](const std::string& text) {
    const repl::Completions found = completed(text);
    return std::pair(found.begin, found.end);
  };
  CHECK(range("1 + pag|") == std::pair<std::size_t, std::size_t>(4, 7));
  CHECK(range("pag|es") == std::pair<std::size_t, std::size_t>(0, 3));
  CHECK(range("nn.soft|") == std::pair<std::size_t, std::size_t>(0, 7));
  CHECK(range("p.w|") == std::pair<std::size_t, std::size_t>(2, 3));
  CHECK(range(":type pa|") == std::pair<std::size_t, std::size_t>(6, 8));
  CHECK(range("load(\"examples/da|") == std::pair<std::size_t, std::size_t>(15, 17));
  CHECK(range("\"\\alph|") == std::pair<std::size_t, std::size_t>(1, 6));
  CHECK(range("|") == std::pair<std::size_t, std::size_t>(0, 0));
}

// What is quadratic would take minutes here.
TEST_CASE("long and deep texts are completed", "[completion]") {
  const auto many = [](const std::string& piece) {
    std::string text;
    while (text.size() < 200'000) text += piece;
    return text;
  };
  for (const std::string piece : {"(",
                                  "f(1, ",
                                  "{ ",
                                  "{ let a = ",
                                  "let a = 1; ",
                                  "[",
                                  "((]",
                                  "fn (x) { ",
                                  "p with { w = ",
                                  "match x { A(y) => ",
                                  ")",
                                  "f(1), ",
                                  "a.b.",
                                  "def f(x) { x }\n",
                                  "1 + ",
                                  "\"",
                                  "if x { ",
                                  "for i, j { ",
                                  "/* ",
                                  "x |> f(",
                                  "type T { T { a: int32 } }\n",
                                  "import \"a\"\n"}) {
    INFO(piece);
    const std::string text = many(piece);
    CHECK(session().complete(text, text.size()).end == text.size());
    CHECK(session().complete(text + "pag", text.size() + 3).end == text.size() + 3);
  }
  const std::string inside_out = many("f(") + "x" + many(", 1)");
  CHECK(session().complete(inside_out, inside_out.size()).end == inside_out.size());
}

TEST_CASE("completion leaves the session as it is", "[completion]") {
  repl::Session fresh{repl::SessionOptions{}};
  REQUIRE(fresh.run("t", "def f(x, axis = 1) { sum(x, axis=axis) }", {}).empty());
  const auto names = [&] {
    std::vector<std::string> all;
    for (const auto* definition : fresh.module().definitions()) all.push_back(definition->name);
    return all;
  };
  const auto before = names();
  const std::string path =
      (std::filesystem::temp_directory_path() / "relay_completion_test.npy").string();
  std::filesystem::remove(path);
  for (const std::string& text :
       {"let y = f([[1.0]], axis=0); let z = print(y); save(\"" + path + "\", y); z.",
        std::string("import \"examples/01_iris.relay\"\nf("), std::string("f([[1.0]], ax")})
    (void)fresh.complete(text, text.size());
  CHECK(names() == before);
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(fresh.run("t", "f([[1.0, 2.0]])", {}).empty());
}

TEST_CASE("without access to files none are listed", "[completion]") {
  repl::SessionOptions options;
  options.files = formats::FileAccess::none();
  const repl::Session closed(options);
  const std::string text = "load(\"examples/";
  CHECK(closed.complete(text, text.size()).candidates.empty());
}

TEST_CASE("names match by prefix, then in any case, then by their letters", "[completion]") {
  using repl::completion::Group;
  using repl::completion::Match;
  using repl::completion::match;
  CHECK(match("so", "softmax") == Match::Prefix);
  CHECK(match("so", "nn.softmax") == Match::LastPart);
  CHECK(match("SO", "softmax") == Match::AnyCase);
  CHECK(match("sfm", "softmax") == Match::Scattered);
  CHECK(match("smx", "nn.softmax") == Match::Scattered);
  CHECK(match("sx", "log_softmax") == Match::Scattered);
  CHECK(match("xs", "softmax") == Match::None);
  CHECK(match("of", "softmax") == Match::None);
  const auto names = repl::completion::matching(
      {{"abc", Group::Operator}, {"abd", Group::Local}, {"Abe", Group::Local}, {"xab", Group::Own}},
      "ab");
  REQUIRE(names.size() == 2);
  CHECK(names[0].text == "abd");
  CHECK(names[1].text == "abc");
}

TEST_CASE("a place knows what binds the names around it", "[completion]") {
  using repl::completion::place_at_end;
  using repl::completion::PlaceKind;
  CHECK(place_at_end("", "").kind == PlaceKind::Item);
  CHECK(place_at_end("let x = ", "").kind == PlaceKind::Value);
  CHECK(place_at_end("x ", "").kind == PlaceKind::After);
  CHECK(place_at_end("x\n", "").kind == PlaceKind::Item);
  CHECK(place_at_end("f(x: ", "").kind == PlaceKind::Value);
  CHECK(place_at_end("def f(x: ", "").kind == PlaceKind::Type);
  CHECK(place_at_end("))]}} + ", "").kind == PlaceKind::Value);
  const auto place = place_at_end("def f[n](x, y = 2) { let z = x; for i { ", "def later() { 1 }");
  REQUIRE(place.binders.size() == 5);
  CHECK(place.binders[0].text == "[n](x, y)");
  CHECK(place.binders[1].source == "let z = x");
  CHECK(place.binders[2].names == std::vector<std::string>{"i"});
  CHECK(place.binders[3].names == std::vector<std::string>{"f"});
  CHECK(place.binders[4].names == std::vector<std::string>{"later"});
}
