// What is asked for at the prompt, typed on a pseudo-terminal. tests/repl has what does not need
// one.

#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/typed_program.h"

namespace relay::repl {
namespace {

using tests::Screen;
using tests::TemporaryFolder;
using tests::TypedProgram;

// A session whose home, and working directory, is a folder of its own.
class Asking {
 public:
  explicit Asking(std::map<std::string, std::string> environment = {}, int columns = 80,
                  std::vector<std::string> arguments = {})
      : program(command(std::move(arguments)), {with_home(std::move(environment)), 24, columns}) {
    REQUIRE(program.wait([](const Screen& screen) { return screen.line() == "relay>"; }));
  }

  // Does the text come when this is entered?
  bool gives(const std::string& entry, const std::string& text) {
    return program.enter(entry + "\r") && program.output().find(text) != std::string::npos;
  }

  TemporaryFolder home;
  TypedProgram program;

 private:
  static std::vector<std::string> command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), tests::relay_program());
    return arguments;
  }
  std::map<std::string, std::string> with_home(std::map<std::string, std::string> all) const {
    all.insert({{"HOME", home.path()}, {"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}});
    return all;
  }
};

TEST_CASE("the prompt says by which name a result is kept") {
  Asking prompt;
  CHECK(prompt.gives("20 + 1", "21 : int32  // _1"));
  CHECK(prompt.gives("[[1], [2]]", ": Tensor[(2, 1), int32]  // _2"));
  CHECK(prompt.gives("_1 * 2", "42 : int32  // _3"));
  CHECK(prompt.gives("def f(x) { x }", "f : fn"));
  CHECK(prompt.gives("_ + 1", "43 : int32  // _4"));
}

}  // namespace
}  // namespace relay::repl
