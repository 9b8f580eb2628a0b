// What is asked for at the prompt, typed on a pseudo-terminal. tests/repl has what does not need
// one.

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
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

TEST_CASE("a tensor is an excerpt within the terminal") {
  Asking prompt({}, 60);
  CHECK(prompt.gives("for i < 3, j < 4, k < 50, l < 50 { i * j + k * l }",
                     ": Tensor[(3, 4, 50, 50), int64]"));
  const std::string text = prompt.program.screen().text();
  CHECK(text.find("relay> for i < 3") != std::string::npos);  // the entry is still to be seen
  CHECK(text.find("...") != std::string::npos);
  CHECK(prompt.gives("for i < 200 { i }", ": Tensor[(200), int64]"));
  CHECK(prompt.program.screen().text().find("  0,   1,") != std::string::npos);
  CHECK(prompt.gives(":print for i < 100 { i }", " 97, 98, 99]"));
}

TEST_CASE("NaN and infinities are counted behind the type") {
  Asking prompt;
  CHECK(prompt.gives("[0.0 / 0.0, 1.0, 1.0 / 0.0, -1.0 / 0.0]", "// _1, 1 NaN, 2 Inf"));
  CHECK(prompt.gives("(for i < 3, j < 2000 { 0.0 / 0.0 }, 1)", "// _2, 6,000 NaN"));
  CHECK(prompt.gives("[1.0, 2.0]", ": Tensor[(2), float32]  // _3"));
}

TEST_CASE("on a terminal without a cursor and with NO_COLOR nothing is coloured") {
  for (const auto& [name, value] : {std::pair{"TERM", "dumb"}, std::pair{"NO_COLOR", "1"}}) {
    Asking prompt(std::map<std::string, std::string>{{name, value}});
    CHECK(prompt.gives("nonsense", "error[UnknownName]: unknown name `nonsense`"));
    CHECK(prompt.program.output().find("\x1b[1;31m") == std::string::npos);
    CHECK(prompt.program.output().find("\x1b[31m") == std::string::npos);
  }
}

TEST_CASE("the startup file is run before the first prompt") {
  TemporaryFolder configuration;
  std::filesystem::create_directory(configuration.path() + "/relay");
  std::ofstream(configuration.path() + "/relay/init.relay") << "def mine(x) { x + 2 }\n1 + 1\n";
  {
    Asking prompt(std::map<std::string, std::string>{{"XDG_CONFIG_HOME", configuration.path()}});
    CHECK(prompt.gives("mine(40)", "42 : int32"));
    CHECK(prompt.program.output().find("2 : int32\r\nrelay> mine") == std::string::npos);
  }
  Asking prompt(std::map<std::string, std::string>{{"XDG_CONFIG_HOME", configuration.path()}}, 80,
                std::vector<std::string>{"--no-init"});
  CHECK(prompt.gives("mine(40)", "unknown name `mine`"));
}

TEST_CASE("a prompt follows a file with -i, also one that fails") {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/f.relay";
  std::ofstream(path) << "def half(x) { x / 2 }\nhalf(42)\nassert(False)\n";
  Asking prompt({}, 80, std::vector<std::string>{"-i", path});
  CHECK(prompt.program.output().find("21 : int32") != std::string::npos);
  CHECK(prompt.program.output().find("AssertionFailed") != std::string::npos);
  CHECK(prompt.gives("half(10)", "5 : int32  // _1"));
}

TEST_CASE("an editor changes a definition") {
  TemporaryFolder folder;
  const std::string script = folder.path() + "/editor";
  std::ofstream(script) << "#!/bin/sh\nsed -i 's/+ 1 /+ 100 /' \"$1\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  Asking prompt(std::map<std::string, std::string>{{"EDITOR", script}});
  CHECK(prompt.gives("def f(x) { x + 1 }", "f : fn"));
  CHECK(prompt.gives(":edit f", "f : fn"));
  CHECK(prompt.gives("f(1)", "101 : int32"));
  CHECK(prompt.gives(":edit f", "nothing has changed"));
}

TEST_CASE("a name that is taken is told once, and given back") {
  Asking prompt;
  CHECK(prompt.gives("def tanh(x) { 7 }", "`:forget tanh` brings it back"));
  const std::size_t told = prompt.program.output().size();
  CHECK(prompt.gives("def tanh(x) { 8 }", "tanh : fn"));
  CHECK(prompt.program.output().find("HiddenBuiltin", told) == std::string::npos);
  CHECK(prompt.gives(":forget tanh", "`tanh` is the operator again"));
  CHECK(prompt.gives("tanh(0.0)", "0.0 : float32"));
}

TEST_CASE("output that is longer than the screen goes through the pager") {
  Asking prompt(std::map<std::string, std::string>{{"PAGER", "sed s/^/paged-/"}});
  CHECK(prompt.gives(":ops", "paged-nn.softmax"));
  const std::size_t before = prompt.program.output().size();
  CHECK(prompt.gives(":ops log_softmax", "nn.log_softmax"));
  CHECK(prompt.program.output().find("paged-", before) == std::string::npos);

  // One that is left before it has read all ends nothing but itself.
  Asking left(std::map<std::string, std::string>{{"PAGER", "exec 0<&-; sleep 0.1"}});
  CHECK(left.program.enter(":ops\r"));
  CHECK(left.gives("1 + 1", "2 : int32"));

  // A pager that does not exist hides nothing.
  Asking other(std::map<std::string, std::string>{{"PAGER", "/nonexistent/pager"}});
  CHECK(other.gives(":ops", "qnn.softmax"));
}

TEST_CASE("the first line names the engine") {
  CHECK(Asking().program.output().find(", interpreter") != std::string::npos);
  Asking lanes({}, 80, std::vector<std::string>{"--jit=off"});
  CHECK(lanes.program.output().find(", interpreter only") != std::string::npos);
}

TEST_CASE("a measurement tells its spread and compiling apart") {
  Asking prompt;
  CHECK(prompt.gives(":bench sum(for i < 1000 { cast(i, dtype=\"float32\") })", "compiling"));
  CHECK(prompt.program.output().find("half of them between") != std::string::npos);
  CHECK(prompt.gives(":bench print(1)", "what has an effect is not run again and again"));
}

}  // namespace
}  // namespace relay::repl
