// Ctrl-C at random moments of programs that take long, each in another part of the program: all of
// them answer, and a prompt lives on. RELAY_COUNT sets how many presses each gets, RELAY_SEED the
// moments.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/replay.h"
#include "tests/support/typed_program.h"

namespace relay::repl {
namespace {

using Clock = std::chrono::steady_clock;
using tests::TemporaryFolder;

std::string repeated(int count, const std::function<std::string(int)>& line) {
  std::string text;
  for (int i = 0; i < count; ++i) text += line(i);
  return text;
}

struct Long {
  const char* name;
  std::string text;
};

// Each runs for many seconds, nearly all of them in the part that its name says.
std::vector<Long> long_programs() {
  return {
      {"library_products",
       "let a = ones([700, 700])\n"
       "def go(x: Tensor[(700, 700), float32], n: int32) -> Tensor[(700, 700), float32] {\n"
       "  if n == 0 { x } else { go(x @ a * 0.001, n - 1) }\n}\nsum(go(a, 100000))\n"},
      {"one_kernel", "for i < 4 { sum k < 2000000000 { sin(cast(k + i, dtype=\"float32\")) } }\n"},
      {"kernels",
       "def go(x: Tensor[(1000000), float32], n: int32) -> Tensor[(1000000), float32] {\n"
       "  if n == 0 { x } else { go(tanh(x) * 0.5 + sin(x), n - 1) }\n}\n"
       "sum(go(ones([1000000]), 1000000))\n"},
      {"bands",
       "let x = for i < 2048, j < 2048 { cast(i * j, dtype=\"float32\") / 1000000.0 }\n"
       "def over(n: int32, x) { if (n == 0) { x } else { over(n - 1, nn.softmax(x)) } }\n"
       "sum(over(1000000, x))\n"},
      {"calls", "def forever(n: int32) -> int32 { forever(n + 1) }\nforever(0)\n"},
      {"points",
       "def slow(n: int64) -> int64 { if n < 2 { n } else { slow(n - 1) + slow(n - 2) } }\n"
       "for i < 100 { slow(30 + i) }\n"},
      {"inference",
       "def f(x0) {\n" +
           repeated(60000,
                    [](int i) { return fmt::format("  let x{} = x{} * 1.5 + x0;\n", i + 1, i); }) +
           "  x60000\n}\nf(1.0)\n"},
      {"derivation",
       "def f(x: Tensor[(3), float32]) { sum(x * x) }\n" +
           repeated(12000,
                    [](int i) {
                      return fmt::format(
                          "grad(fn (x: Tensor[(3), float32]) {{ f(x * {}.5) }})(ones([3]))\n", i);
                    })},
      {"compilation",
       "let a = ones([300, 300])\n" +
           repeated(12000,
                    [](int i) {
                      return fmt::format(
                          "sum(for i, j {{ sin(a[i, j] * {}.25) + a[j, i] / {}.0 }})\n", i + 1,
                          i + 2);
                    })},
      {"loading",
       "def go(n: int32) { if n == 0 { 0.0 } else { let t = load_csv(\"table.csv\"); "
       "go(n - 1) + sum(t) } }\ngo(1000)\n"},
      {"saving",
       "let a = ones([3000, 3000])\ndef go(n: int32) { if n > 0 { save(\"a.npy\", a); "
       "go(n - 1) } }\ngo(10000)\n"},
      {"printing",
       "type List { Nil, Cons(int32, List) }\n"
       "def upto(n: int32, list: List) -> List {\n"
       "  if n == 0 { list } else { upto(n - 1, Cons(n, list)) }\n}\n"
       "let list = upto(300000, Nil)\n" +
           repeated(30000, [](int) { return "print(list)\nlist\n"; })},
      {"reading", "1\n" + repeated(100000,
                                   [](int i) {
                                     return fmt::format(
                                         "def g{}(x) {{ (x, [1.0, 2.0, {}.5], x) }}\n", i, i);
                                   })},
  };
}

std::uint64_t presses() { return tests::case_count(2, 2); }

std::mt19937_64 moments() {
  UNSCOPED_INFO("RELAY_SEED=" << tests::first_seed());
  return std::mt19937_64(tests::first_seed());
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void write_table(const std::string& folder) {
  std::string row;
  for (int i = 0; i < 200; ++i) row += fmt::format("{}{}.125", i ? "," : "", i);
  write(folder + "/table.csv", repeated(5000, [&](int) { return row + "\n"; }));
}

// A process with its output thrown away.
class Process {
 public:
  Process(const std::vector<std::string>& command, const std::string& folder,
          const std::string& input) {
    id_ = fork();
    if (id_ != 0) return;
    if (chdir(folder.c_str()) != 0) _exit(126);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    if (!input.empty()) dup2(open(input.c_str(), O_RDONLY), STDIN_FILENO);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  void interrupt() const { kill(id_, SIGINT); }
  // Its status once it has ended, in seconds; nothing if it does not within a minute.
  std::optional<int> wait(double& seconds) const {
    const auto start = Clock::now();
    for (seconds = 0; seconds < 60;
         seconds = std::chrono::duration<double>(Clock::now() - start).count()) {
      int status = 0;
      if (waitpid(id_, &status, WNOHANG) == id_) return status;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    return std::nullopt;
  }

 private:
  pid_t id_;
};

std::chrono::milliseconds some_time(std::mt19937_64& random) {
  constexpr std::uint64_t kLongest = 1000;
  return std::chrono::milliseconds(random() % kLongest);
}

// Somebody who asks for more presses wants to see how long each takes.
bool is_told() { return tests::is_count_given(); }

void report(const char* name, const char* where, std::chrono::milliseconds time, double seconds) {
  fmt::print("{:<18} {:>6} after {:>4} ms: {:.3f} s\n", name, where, time.count(), seconds);
}

TEST_CASE("an interrupt ends a file and a pipe wherever they are") {
  const TemporaryFolder folder;
  write_table(folder.path());
  std::mt19937_64 random = moments();
  double longest = 0;
  for (const Long& program : long_programs()) {
    const std::string file = folder.path() + "/" + program.name + ".relay";
    write(file, program.text);
    for (std::uint64_t i = 0; i < presses(); ++i) {
      const bool is_pipe = i % 2 == 1;
      std::vector<std::string> command = {tests::relay_program()};
      if (!is_pipe) command.push_back(file);
      if (i % 3 == 1) command.emplace_back("--jit=always");
      const auto time = some_time(random);
      const Process process(command, folder.path(), is_pipe ? file : "");
      std::this_thread::sleep_for(time);
      process.interrupt();
      double seconds = 0;
      const auto status = process.wait(seconds);
      longest = std::max(longest, seconds);
      INFO(program.name << (is_pipe ? ", piped" : ", a file") << ", after " << time.count()
                        << " ms; it took " << seconds << " s, status " << status.value_or(-1));
      REQUIRE(status);
      const bool by_signal = WIFSIGNALED(*status) && WTERMSIG(*status) == SIGINT;
      CHECK((by_signal || (WIFEXITED(*status) && WEXITSTATUS(*status) == 130)));
      if (is_told()) report(program.name, is_pipe ? "piped" : "file", time, seconds);
    }
  }
  if (is_told()) fmt::print("the longest: {:.3f} s\n", longest);
}

TEST_CASE("an interrupt brings the prompt back with all that was there") {
  const TemporaryFolder folder;
  write_table(folder.path());
  std::mt19937_64 random = moments();
  tests::TypedProgram prompt(
      {tests::relay_program()},
      {{{"HOME", folder.path()}, {"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}}, 24, 80});
  REQUIRE(prompt.wait([](const tests::Screen& screen) { return screen.line() == "relay>"; }));
  REQUIRE(prompt.enter("let kept = 40\r"));
  int answers = 0;
  double longest = 0;
  for (const Long& program : long_programs()) {
    const std::string name = program.name;
    if (name == "loading" || name == "saving") continue;  // they name their files by the folder
    const std::string file = folder.path() + "/" + name + ".relay";
    write(file, program.text);
    for (std::uint64_t i = 0; i < (presses() + 1) / 2; ++i) {
      prompt.type(":load " + file + "\r");
      const auto time = std::chrono::milliseconds(100) + some_time(random);
      std::this_thread::sleep_for(time);
      INFO(program.name << " after " << time.count() << " ms");
      const auto start = Clock::now();
      REQUIRE(prompt.enter("\x03"));
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      longest = std::max(longest, seconds);
      if (is_told()) report(program.name, "prompt", time, seconds);
      const int answer = ++answers + 100;
      REQUIRE(prompt.enter(fmt::format("kept + {}\r", answer - 40)));
      CHECK(prompt.output().find(fmt::format("{} : int32", answer)) != std::string::npos);
    }
  }
  if (is_told()) fmt::print("the longest: {:.3f} s\n", longest);
}

}  // namespace
}  // namespace relay::repl
