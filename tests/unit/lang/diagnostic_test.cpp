#include "lang/diagnostic.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace relay::lang;

namespace {

// The span of the first `what` in `source`.
Span find(const Source& source, std::string_view what) {
  const auto at = static_cast<std::uint32_t>(source.text().find(what));
  return {&source, at, at + static_cast<std::uint32_t>(what.size())};
}

}  // namespace

TEST_CASE("a disagreement is labelled on both sides") {
  const Source source("a.relay", "\n\nadd(ones(shape=[3]), ones(shape=[4]))\n");
  const Diagnostic diagnostic =
      Diagnostic(DiagnosticKind::BroadcastMismatch,
                 "shapes `(3)` and `(4)` do not broadcast: axis 0 is 3 and 4",
                 find(source, "add(ones(shape=[3]), ones(shape=[4]))"))
          .label(find(source, "ones(shape=[3])"), "`(3)` from here")
          .label(find(source, "ones(shape=[4])"), "`(4)` from here")
          .note("help: `reshape` changes a shape");
  CHECK(render(diagnostic) ==
        R"(error[BroadcastMismatch]: shapes `(3)` and `(4)` do not broadcast: axis 0 is 3 and 4
 --> a.relay:3:1
  |
3 | add(ones(shape=[3]), ones(shape=[4]))
  |     ^^^^^^^^^^^^^^^  ^^^^^^^^^^^^^^^ `(4)` from here
  |     |
  |     `(3)` from here
  = help: `reshape` changes a shape
)");
}

TEST_CASE("a terminal obeys nothing of a diagnostic") {
  const Source source("x\x1b[31m\n.relay", "a \x1b[31m \u009b \u202e b\n");
  const Diagnostic diagnostic =
      Diagnostic(DiagnosticKind::FileError, "cannot open `\x1b]0;title\x07\xff`",
                 find(source, "\x1b[31m"))
          .label(find(source, "b"), "a \u2066label")
          .note("help: `\u009b`\n\tand `\x7f`");
  CHECK(render(diagnostic) == R"(error[FileError]: cannot open `\x1b]0;title\x07\xff`
 --> x\x1b[31m\n.relay:1:3
  |
1 | a �[31m � � b
  |   ^^^^^     - a \u2066label
  = help: `\u009b`
    	and `\x7f`
)");
}

TEST_CASE("labels elsewhere are underlined by dashes, in lines and sources of their own") {
  const Source source("b.relay", "def f(x) { x }\n1;\n2;\n3;\nf(1, 2)\n");
  const Source prelude("prelude.relay", "def g() { () }");
  const Diagnostic diagnostic =
      Diagnostic(DiagnosticKind::WrongArity, "`f` takes 1 argument, got 2", find(source, "f(1, 2)"))
          .label(find(source, "f(x)"), "defined here")
          .label(find(prelude, "g()"), "and here");
  CHECK(render(diagnostic) == R"(error[WrongArity]: `f` takes 1 argument, got 2
 --> b.relay:5:1
  |
1 | def f(x) { x }
  |     ---- defined here
...
5 | f(1, 2)
  | ^^^^^^^
 ::: prelude.relay:1:5
  |
1 | def g() { () }
  |     --- and here
)");
}

TEST_CASE("a span over several lines shows its first and last") {
  const Source source("c", "let y = if (c) {\n  1\n} else {\n  2.0\n};\n");
  const Diagnostic diagnostic(DiagnosticKind::TypeMismatch, "branches differ",
                              find(source, "if (c) {\n  1\n} else {\n  2.0\n}"));
  CHECK(render(diagnostic) == R"(error[TypeMismatch]: branches differ
 --> c:1:9
  |
1 | let y = if (c) {
  |         ^^^^^^^^
...
5 | };
  | ^
)");
}

TEST_CASE("carets count code points and expanded tabs") {
  const Source source("d", "\té🙂 = bad");
  const Diagnostic diagnostic(DiagnosticKind::UnknownName, "unknown name `bad`",
                              find(source, "bad"));
  CHECK(render(diagnostic) ==
        "error[UnknownName]: unknown name `bad`\n --> d:1:7\n  |\n1 |     é🙂 = bad\n"
        "  |          ^^^\n");
}

TEST_CASE("the end of the input, control characters and broken UTF-8 can be pointed at") {
  const Source source("e", std::string_view("f(\x1b\xff").data());
  const Diagnostic diagnostic(DiagnosticKind::SyntaxError, "missing `)`", {&source, 4, 4});
  CHECK(render(diagnostic) ==
        "error[SyntaxError]: missing `)`\n --> e:1:5\n  |\n1 | f(\uFFFD\uFFFD\n  |     ^\n");
  const Source empty("empty", "");
  CHECK(render(Diagnostic(DiagnosticKind::SyntaxError, "nothing", {&empty, 0, 0})) ==
        "error[SyntaxError]: nothing\n --> empty:1:1\n  |\n1 |\n  | ^\n");
  // Out of range: held, never a crash.
  CHECK_FALSE(render(Diagnostic(DiagnosticKind::SyntaxError, "x", {&empty, 7, 3})).empty());
}

TEST_CASE("nested labels hang, the narrower one in front") {
  const Source source("n", "f(g(x))");
  const Diagnostic diagnostic =
      Diagnostic(DiagnosticKind::TypeMismatch, "m", find(source, "f(g(x))"))
          .label(find(source, "f(g(x))"), "outer")
          .label(find(source, "x"), "inner");
  CHECK(render(diagnostic) ==
        "error[TypeMismatch]: m\n --> n:1:1\n  |\n1 | f(g(x))\n  | ^^^^^^^\n"
        "  | |   |\n  | |   inner\n  | outer\n");
}

TEST_CASE("a long line is shown around its marks") {
  const Source source("long", fmt::format("{0:a>5000} bad {0:b>5000}", ""));
  const std::string text =
      render(Diagnostic(DiagnosticKind::UnknownName, "m", find(source, "bad")));
  CHECK(text.size() < 400);
  CHECK(text.find(" bad ") != std::string::npos);
  CHECK(text.find("\n  |                                  ^^^\n") != std::string::npos);
}

TEST_CASE("without a place only the message and the notes stand") {
  CHECK(render(Diagnostic(DiagnosticKind::Unsupported, "x").note("note: y")) ==
        "error[Unsupported]: x\n  = note: y\n");
}

TEST_CASE("colours change no character") {
  const Source source("f", "a + b");
  const Diagnostic diagnostic = Diagnostic(DiagnosticKind::TypeMismatch, "m", find(source, "a + b"))
                                    .label(find(source, "a"), "left")
                                    .label(find(source, "b"), "right")
                                    .note("help: no");
  std::string plain;
  const std::string colored = render(diagnostic, true);
  for (std::size_t i = 0; i < colored.size(); ++i) {
    if (colored[i] == '\x1b') {
      while (colored[i] != 'm') ++i;
    } else {
      plain += colored[i];
    }
  }
  CHECK(colored != plain);
  CHECK(plain == render(diagnostic));
}

TEST_CASE("every kind has a name, and a failure carries its diagnostics") {
  CHECK(name_of(DiagnosticKind::SyntaxError) == "SyntaxError");
  CHECK(name_of(DiagnosticKind::Unsupported) == "Unsupported");
  CHECK(class_of(DiagnosticKind::Unsupported) == DiagnosticClass::kUnsupported);
  const Result<int> result = capture([]() -> int { fail(DiagnosticKind::BadData, "no data"); });
  REQUIRE_FALSE(result);
  CHECK(result.errors().front().message == "no data");
  CHECK_THROWS_AS([] { RELAY_CHECK(false, "why"); }(), InternalError);
}
