// The prompt, as it is typed at: keys go in on a pseudo-terminal, and the screen is read.

#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/typed_program.h"

namespace relay::repl {
namespace {

using tests::Screen;
using tests::TemporaryFolder;
using tests::text_of_file;
using tests::TypedProgram;
using Environment = std::map<std::string, std::string>;

constexpr const char* kPrompt = "relay> ";
constexpr const char* kMore = "  ...> ";
constexpr const char* kCtrlC = "\x03";
constexpr const char* kCtrlD = "\x04";

// A session with a home of its own.
class Prompt {
 public:
  explicit Prompt(Environment changes = {}, int rows = 24, int columns = 80)
      : Prompt(std::make_shared<TemporaryFolder>(), std::move(changes), rows, columns) {}
  explicit Prompt(std::shared_ptr<TemporaryFolder> home, Environment changes = {}, int rows = 24,
                  int columns = 80)
      : home(std::move(home)),
        program({tests::relay_program()}, {environment(std::move(changes)), rows, columns}) {
    REQUIRE(program.wait([](const Screen& screen) { return screen.line() == "relay>"; }));
  }

  // The line after the prompt, once it is `wanted`.
  bool shows(const std::string& wanted) {
    return program.wait([&](const Screen& screen) { return screen.line() == kPrompt + wanted; });
  }
  std::string text() const { return program.screen().text(); }
  std::string history() const { return text_of_file(home->path() + "/.relay_history"); }

  std::shared_ptr<TemporaryFolder> home;
  TypedProgram program;

 private:
  Environment environment(Environment changes) const {
    Environment all = {{"HOME", home->path()}, {"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}};
    for (auto& [name, value] : changes) all[name] = value;
    if (const auto home = all.find("HOME"); home->second == "unset") all.erase(home);
    return all;
  }
};

TEST_CASE("ctrl-c at the prompt gives up the line, however often, and never the session") {
  Prompt prompt;
  for (int i = 0; i < 5; ++i) CHECK(prompt.program.enter(kCtrlC));
  prompt.program.type("1 + nonsense");
  CHECK(prompt.shows("1 + nonsense"));
  for (int i = 0; i < 4; ++i) CHECK(prompt.program.enter(kCtrlC));
  CHECK(prompt.program.enter("def f(x) {\r", kMore));
  CHECK(prompt.program.enter(kCtrlC));
  CHECK(prompt.program.enter("40 + 2\r"));
  CHECK(prompt.text().find("42 : int32") != std::string::npos);
  CHECK(prompt.text().find("error") == std::string::npos);
  CHECK(prompt.text().find("1 + nonsense^C\n") != std::string::npos);
  CHECK(prompt.history() == "40 + 2\n");
}

TEST_CASE("a text with a mistake that is pasted is one entry") {
  Prompt prompt;
  prompt.program.type(
      "def f(x) {\r  let y = x +* 2;\r\r  let z = { y };\r  z\r}\rdef g(x) {\r  (x 2\rdef h(x) { x "
      "}\rh(42)\r");
  CHECK(prompt.program.wait_for("42 : int32"));
  const std::string text = prompt.text();
  std::size_t errors = 0;
  for (std::size_t at = 0; (at = text.find("error[", at)) != std::string::npos; ++at) ++errors;
  INFO(text);
  CHECK(errors == 2);
  // Typed, it is told at once.
  CHECK(prompt.program.enter("def f(x) {\r", kMore));
  CHECK(prompt.program.enter("  x +* 2;\r"));
}

TEST_CASE("ctrl-c in the middle of a line of several rows leaves all of them") {
  Prompt prompt({}, 24, 20);
  prompt.program.type("1 + 2 + 3 + 4 + 5 + 6 + 7 + 8");
  CHECK(prompt.program.wait_for(" + 7 + 8"));
  prompt.program.type("\x01");
  CHECK(prompt.program.wait([](const Screen& screen) { return screen.column() == 7; }));
  CHECK(prompt.program.enter(kCtrlC));
  INFO(prompt.text());
  CHECK(prompt.text().find("relay> 1 + 2 + 3 + 4\n + 5 + 6 + 7 + 8^C\nrelay>") !=
        std::string::npos);
}

TEST_CASE("ctrl-c stops what runs, and the presses are not counted afterwards") {
  Prompt prompt;
  CHECK(prompt.program.enter("def forever(n: int32) { forever(n + 1) }\r"));
  for (int i = 0; i < 2; ++i) {
    prompt.program.type("forever(0)\r");
    CHECK(prompt.program.wait([](const Screen& screen) { return screen.line().empty(); }));
    // Nothing on the screen says that it runs now.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK(prompt.program.enter(kCtrlC));
    CHECK(prompt.text().find("Interrupted") != std::string::npos);
    for (int j = 0; j < 3; ++j) CHECK(prompt.program.enter(kCtrlC));
  }
  CHECK(prompt.program.enter("6 * 7\r"));
  CHECK(prompt.text().find("42 : int32") != std::string::npos);
  prompt.program.type(kCtrlD);
  CHECK(prompt.program.wait_for_end() == 0);
}

TEST_CASE("keys are seen, and ctrl-c answers, while code is compiled in the background") {
  Prompt prompt;
  const std::string path = prompt.home->path() + "/large.relay";
  {
    std::ofstream file(path);
    file << "def large(n: int32, x: float32) -> float32 {\n"
            "if n == 0 { x } else { if x > 1000000.0 {\n";
    for (int i = 0; i < 60; ++i) file << fmt::format("let x = x * 0.5 + sin(x + {}.0);\n", i);
    file << "x } else { large(n - 1, x) } } }\n";
  }
  CHECK(prompt.program.enter(fmt::format(":load {}\r", path)));
  CHECK(prompt.program.enter("large(40000, 0.5)\r"));  // hot: LLVM is being loaded
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(prompt.program.enter("large(10, 0.5)\r"));  // it is being compiled, for a second or more
  // A key takes milliseconds; it does not wait for the compiler.
  constexpr std::chrono::milliseconds kSoon{1500};
  std::string typed;
  for (const char key : std::string("1 + 2 + 3")) {
    typed += key;
    prompt.program.type(std::string(1, key));
    const auto is_there = [&](const Screen& screen) {
      return screen.line() ==
             std::string(kPrompt) + (key == ' ' ? typed.substr(0, typed.size() - 1) : typed);
    };
    CHECK(prompt.program.wait(is_there, kSoon));
  }
  prompt.program.type(kCtrlC);
  CHECK(prompt.program.wait([](const Screen& screen) { return screen.line() == "relay>"; }, kSoon));
  bool is_native = false;
  for (int i = 0; i < 600 && !is_native; ++i) {
    CHECK(prompt.program.enter("large(10, 0.5)\r"));
    CHECK(prompt.program.enter(":jit large\r"));
    is_native = prompt.text().find("native code: ") != std::string::npos ||
                prompt.text().find("without the JIT") != std::string::npos;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  CHECK(is_native);
}

TEST_CASE("ctrl-d leaves at an empty line, ends an entry, and deletes in a line") {
  Prompt prompt;
  CHECK(prompt.program.enter("12\x02\x04\r"));
  CHECK(prompt.text().find("\n1 : int32") != std::string::npos);
  CHECK(prompt.program.enter("def f(x) {\r", kMore));
  CHECK(prompt.program.enter(kCtrlD));
  CHECK(prompt.text().find("error[SyntaxError]") != std::string::npos);
  prompt.program.type(kCtrlD);
  CHECK(prompt.program.wait_for_end() == 0);
}

TEST_CASE("a window that becomes smaller than the line keeps the line and the session") {
  Prompt prompt;
  const std::string sum = "1" + [] {
    std::string more;
    for (int i = 0; i < 16; ++i) more += " + 1";
    return more;
  }();
  prompt.program.type(sum);
  CHECK(prompt.shows(sum));
  for (const auto& [rows, columns] : {std::pair(24, 8), {3, 80}, {2, 9}, {24, 80}}) {
    prompt.program.resize(rows, columns);
    for (int i = 0; i < 4; ++i) prompt.program.type(" + 1");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  prompt.program.type("\r");
  CHECK(prompt.program.wait([&](const Screen&) {
    return prompt.program.output().find("33 : int32") != std::string::npos;
  }));
  prompt.program.type(kCtrlD);
  CHECK(prompt.program.wait_for_end() == 0);
}

TEST_CASE("letters of all alphabets can be typed in every locale that could mean UTF-8") {
  const std::string text = "größe Ωmega 日本 😀 â";
  for (const Environment& locale :
       {Environment{{"LC_ALL", "C.UTF-8"}}, Environment{{"LC_ALL", "C"}},
        Environment{{"LC_ALL", "POSIX"}}, Environment{{"LC_ALL", "xx_XX.UTF-8"}},
        Environment{{"LC_ALL", ""}, {"LANG", "C.UTF-8"}}, Environment{{"LC_ALL", ""}}}) {
    INFO(locale.begin()->second);
    Prompt prompt(locale);
    CHECK(prompt.program.enter(fmt::format("print(\"{}\")\r", text)));
    CHECK(prompt.text().find("relay> print(\"" + text + "\")\n" + text + "\n") !=
          std::string::npos);
    // Back over the smiley and a letter; the one before goes.
    prompt.program.type("1 // é日本😀\x02\x02\x08!");
    CHECK(prompt.shows("1 // é!本😀"));
    CHECK(prompt.history() == fmt::format("print(\"{}\")\n", text));
  }
}

TEST_CASE("keys move and delete, and those without a meaning type nothing") {
  struct Case {
    const char* name;
    const char* keys;
    const char* line;  // of `alpha beta gamma`, after the keys and an X
  };
  const Case cases[] = {
      {"ctrl-left", "\x1b[1;5D", "alpha beta Xgamma"},
      {"ctrl-left, rxvt", "\x1bOd", "alpha beta Xgamma"},
      {"ctrl-left twice", "\x1b[1;5D\x1b[1;5D", "alpha Xbeta gamma"},
      {"alt-left", "\x1b[1;3D", "alpha beta Xgamma"},
      {"alt-b",
       "\x1b"
       "b",
       "alpha beta Xgamma"},
      {"ctrl-right", "\x01\x1b[1;5C", "alphaX beta gamma"},
      {"alt-right", "\x01\x1b[1;3C", "alphaX beta gamma"},
      {"alt-f",
       "\x01\x1b"
       "f",
       "alphaX beta gamma"},
      {"home", "\x1b[H", "Xalpha beta gamma"},
      {"home, application", "\x1bOH", "Xalpha beta gamma"},
      {"home, console", "\x1b[1~", "Xalpha beta gamma"},
      {"end", "\x01\x1b[F", "alpha beta gammaX"},
      {"end, application", "\x01\x1bOF", "alpha beta gammaX"},
      {"end, console", "\x01\x1b[4~", "alpha beta gammaX"},
      {"left", "\x1b[D", "alpha beta gammXa"},
      {"left, application", "\x1bOD", "alpha beta gammXa"},
      {"right", "\x01\x1b[C", "aXlpha beta gamma"},
      {"delete", "\x01\x1b[3~", "Xlpha beta gamma"},
      {"backspace", "\x7f", "alpha beta gammX"},
      {"ctrl-w", "\x17", "alpha beta X"},
      {"alt-backspace", "\x1b\x7f", "alpha beta X"},
      {"alt-d",
       "\x01\x1b"
       "d",
       "X beta gamma"},
      {"ctrl-k", "\x01\x0b", "X"},
      {"ctrl-u", "\x15", "X"},
      {"shift-left", "\x1b[1;2D", "alpha beta gammaX"},
      {"ctrl-alt-left", "\x1b[1;7D", "alpha beta gammaX"},
      {"page up", "\x1b[5~", "alpha beta gammaX"},
      {"insert", "\x1b[2~", "alpha beta gammaX"},
      {"F1", "\x1bOP", "alpha beta gammaX"},
      {"F5", "\x1b[15~", "alpha beta gammaX"},
      {"shift-tab", "\x1b[Z", "alpha beta gammaX"},
      {"focus", "\x1b[I", "alpha beta gammaX"},
      {"a pasted text's marks", "\x1b[200~\x1b[201~", "alpha beta gammaX"},
  };
  Prompt prompt;
  for (const Case& c : cases) {
    INFO(c.name);
    prompt.program.type(std::string("alpha beta gamma") + c.keys + "X");
    CHECK(prompt.shows(c.line));
    CHECK(prompt.program.enter(kCtrlC));
  }
}

TEST_CASE("what was entered is found again by the arrows and by ctrl-r") {
  Prompt prompt;
  for (const char* entry : {"1 + 1", "2 * 21", "3 - 1"})
    CHECK(prompt.program.enter(std::string(entry) + '\r'));
  prompt.program.type("\x1b[A\x1b[A");
  CHECK(prompt.shows("2 * 21"));
  prompt.program.type("\x1b[B");
  CHECK(prompt.shows("3 - 1"));
  CHECK(prompt.program.enter(kCtrlC));
  CHECK(
      prompt.program.enter("\x12"
                           "21\r"));
  CHECK(prompt.text().find("42 : int32") < prompt.text().rfind("42 : int32"));
}

TEST_CASE("an entry of several lines is one item of the history") {
  const auto home = std::make_shared<TemporaryFolder>();
  {
    Prompt prompt(home);
    CHECK(prompt.program.enter("def f(x) {\r", kMore));
    CHECK(prompt.program.enter("x + 41\r", kMore));
    CHECK(prompt.program.enter("}\r"));
    CHECK(prompt.program.enter(":type f\r"));
    CHECK(prompt.history() == "def f(x) {\\012x + 41\\012}\n:type f\n");
  }
  Prompt prompt(home);
  prompt.program.type("\x1b[A\x1b[A");
  CHECK(prompt.program.wait([](const Screen& screen) { return screen.line() == "  ...> }"; }));
  CHECK(prompt.program.enter("\r"));
  CHECK(prompt.program.enter("f(1)\r"));
  CHECK(prompt.text().find("42 : int32") != std::string::npos);
}

TEST_CASE("the history has an entry before it runs, and those of all sessions") {
  const auto home = std::make_shared<TemporaryFolder>();
  {
    Prompt first(home);
    Prompt second(home);
    CHECK(first.program.enter("1\r"));
    CHECK(second.program.enter("2\r"));
    CHECK(first.program.enter("def forever(n: int32) { forever(n + 1) }\r"));
    first.program.type("forever(0)\r");
    CHECK(first.program.wait([](const Screen& screen) { return screen.line().empty(); }));
    CHECK(second.program.enter("3\r"));
    const auto is_kept = [&](const Screen&) {
      return first.history().find("forever(0)\n") != std::string::npos;
    };
    CHECK(first.program.wait(is_kept));
  }  // both are killed
  Prompt prompt(home);
  const std::string all = prompt.history();
  for (const char* line : {"1\n", "2\n", "3\n", "forever(0)\n"}) {
    INFO(line);
    CHECK(all.find(line) != std::string::npos);
  }
  prompt.program.type("\x1b[A");
  CHECK(prompt.program.wait([](const Screen& screen) { return screen.line() != "relay>"; }));
}

TEST_CASE("without a home to write to there is a prompt all the same") {
  for (const char* home : {"unset", "", "/nonexistent", "/proc", "/dev/null"}) {
    INFO(home);
    Prompt prompt(Environment{{"HOME", home}});
    CHECK(prompt.program.enter("1 + 1\r"));
    prompt.program.type("\x1b[A");
    CHECK(prompt.shows("1 + 1"));
    prompt.program.type("\x15\x04");
    CHECK(prompt.program.wait_for_end() == 0);
    CHECK(prompt.text().find("rror") == std::string::npos);
  }
}

TEST_CASE("colour is for terminals that have it and people who want it") {
  struct Case {
    Environment environment;
    bool has_looks;
  };
  for (const auto& [environment, has_looks] :
       {Case{{}, true}, Case{{{"NO_COLOR", ""}}, true}, Case{{{"NO_COLOR", "1"}}, false},
        Case{{{"TERM", "dumb"}}, false}, Case{{{"TERM", ""}}, false}}) {
    INFO((environment.empty() ? "" : environment.begin()->first + environment.begin()->second));
    Prompt prompt(environment);
    CHECK(prompt.program.enter("nonsense\r"));
    CHECK(prompt.text().find("error[UnknownName]") != std::string::npos);
    CHECK((prompt.program.screen().looks() > 0) == has_looks);
    if (environment.count("TERM") > 0) CHECK(prompt.program.screen().sequences() == 0);
  }
}

TEST_CASE("long lines can be pasted, also while something runs") {
  Prompt prompt;
  std::string line = "1";
  for (int i = 0; i < 3000; ++i) line += " + 1";  // longer than a terminal keeps of a line
  prompt.program.type(line + '\r');
  CHECK(prompt.program.wait_for("\n3001 : int32  // _1\n"));
  CHECK(prompt.program.enter("def count(n: int32) { if n == 0 { 0 } else { count(n - 1) } }\r"));
  prompt.program.type("count(5000000)\r");
  CHECK(prompt.program.wait([](const Screen& screen) { return screen.line().empty(); }));
  prompt.program.type(line + " + 1\r");
  CHECK(prompt.program.wait_for("\n3002 : int32  // _3\n"));
}

TEST_CASE("several lines can be pasted at once, tabs included") {
  Prompt prompt;
  prompt.program.type("def f(x) {\n\tlet y = x;\n\n\ty + 41\n}\nf(1)\n");
  CHECK(prompt.program.wait_for("\n42 : int32  // _1\n"));
  // What was there before the prompt was is not shown twice.
  const std::string text = prompt.text();
  for (const char* line : {"let y = x;", "y + 41", "f(1)"})
    CHECK(text.find(line) == text.rfind(line));
}

TEST_CASE("a terminal that does not know its size, and one that changes it") {
  Prompt unknown({}, 0, 0);
  CHECK(unknown.program.enter("6 * 7\r"));
  CHECK(unknown.text().find("42 : int32") != std::string::npos);
  Prompt prompt;
  prompt.program.resize(10, 30);
  prompt.program.type("1 + 2 + 3 + 4 + 5 + 6 + 7 + 8");
  CHECK(prompt.program.wait_for("relay> 1 + 2 + 3 + 4 + 5 + 6 +\n 7 + 8"));
  CHECK(prompt.program.enter("\r"));
  CHECK(prompt.text().find("36 : int32") != std::string::npos);
}

TEST_CASE("a terminal that the system does not know is one like xterm") {
  Prompt prompt(Environment{{"TERM", "xterm-of-the-future"}});
  prompt.program.type("alpha beta\x1b[1;5DX");
  CHECK(prompt.shows("alpha Xbeta"));
  CHECK(prompt.text().find("future") == std::string::npos);
  CHECK(prompt.text().find("terminal") == std::string::npos);
}

TEST_CASE("a stopped session goes on where it was") {
  Prompt prompt;
  prompt.program.type("40 +");
  CHECK(prompt.shows("40 +"));
  prompt.program.send(SIGSTOP);
  prompt.program.send(SIGCONT);
  prompt.program.type(" 2");
  CHECK(prompt.shows("40 + 2"));
  CHECK(prompt.program.enter("\r"));
  CHECK(prompt.text().find("42 : int32") != std::string::npos);
}

TEST_CASE("a session that ends leaves the terminal as it was") {
  for (const int signal : {0, SIGTERM, SIGHUP}) {
    for (const bool runs : {false, true}) {
      INFO(signal << (runs ? " while it runs" : ""));
      Prompt prompt;
      CHECK((prompt.program.settings().c_lflag & ICANON) == 0);
      CHECK(
          prompt.program.enter("def count(n: int32) { if n == 0 { 7 } else { count(n - 1) } }\r"));
      if (runs && signal != 0) prompt.program.type("count(2000000000)\r");
      if (runs) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      if (signal == 0) {
        prompt.program.type(runs ? ":quit\r" : kCtrlD);
      } else {
        prompt.program.send(signal);
      }
      const auto status = prompt.program.wait_for_end();
      REQUIRE(status);
      CHECK((signal == 0 ? *status == 0 : WIFSIGNALED(*status) && WTERMSIG(*status) == signal));
      constexpr tcflag_t kUsual = ICANON | ECHO | ISIG;
      CHECK((prompt.program.settings().c_lflag & kUsual) == kUsual);
      CHECK(prompt.history().find("count") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace relay::repl
