#include <array>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/diagnostic.h"
#include "repl/session.h"

using namespace relay;

namespace {

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// What goes wrong when `text` is run, all stages included; empty if nothing does.
std::string errors_of(const std::string& text) {
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.threads = 1;
  repl::Session session(options);
  std::string shown;
  for (const lang::Diagnostic& error : session.run("deep", text, {})) shown += lang::render(error);
  return shown;
}

}  // namespace

TEST_CASE("deep nesting goes through all stages") {
  const int n = 10000;
  for (const auto& [open, middle, close] :
       std::vector<std::array<std::string, 3>>{{"(", "1", ")"},
                                               {"{ let x = ", "1", "; x }"},
                                               {"match (1) { x => ", "1", " }"},
                                               {"-", "1", ""}}) {
    CAPTURE(open);
    CHECK(errors_of(repeat(open, n) + middle + repeat(close, n)).empty());
  }
  CHECK(errors_of("let a = " + repeat("[", 256) + "1" + repeat("]", 256)).empty());
  CHECK_THAT(errors_of("let a = " + repeat("[", n) + "1" + repeat("]", n)),
             Catch::Contains("more than 256 axes"));
}

TEST_CASE("long chains go through all stages") {
  CHECK(errors_of("1" + repeat(" + 1", 5000)).empty());
  std::string lets = "def f(x) {\n";
  for (int i = 0; i < 5000; ++i) lets += "  let x = x + 1;\n";
  CHECK(errors_of(lets + "  x\n}\nf(1)").empty());
}
