// Sessions at the prompt as nobody should have them: definitions and their redefinitions with
// another type, data types, commands, mistakes, limits, whole generated programs, each interrupted
// now and then at any moment. RELAY_SEED and RELAY_COUNT: which sessions, and how many.
//
// Nothing crashes and nothing is a mistake of ours; what was defined stays, and what is redefined
// is seen; after each interruption and each limit the session answers.

#include <algorithm>
#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "formats/file_access.h"
#include "lang/memory.h"
#include "lang/stop.h"
#include "repl/command.h"
#include "repl/deadline.h"
#include "repl/display.h"
#include "repl/driver.h"
#include "repl/session.h"
#include "stdlib/register.h"
#include "tests/support/isolated_cases.h"
#include "tests/support/random_program.h"
#include "tests/support/replay.h"
#include "tests/support/text_diff.h"
#include "tests/support/typed_program.h"

namespace {

using namespace relay;         // NOLINT: the program's own file
using namespace relay::tests;  // NOLINT

constexpr unsigned kPatience = 3;  // seconds for an entry; then it is interrupted
constexpr std::size_t kMostEntries = 24;

// In a pattern `$f` is one of three names, `$n` a number, `$e` an expression, `$d` the folder.
constexpr const char* kDefinitions[] = {
    "def $f(x) { x + $n.0 }",
    "def $f(x: int32) -> int32 { x * $n }",
    "def $f(x, y) { (y, x) }",
    "def $f(x) { $f($e) }",
    "def $f(a) { fn (b) { a * b + $n.0 } }",
    "def $f(g) { fn (x) { g(g(x)) } }",
    "def $f(x: Tensor[(n), float32]) { sum(x * x) / $n.0 }",
    "def $f(x: float32) -> float32 { if (x > $n.0) { $f(x - 1.0) } else { x } }",
    "def $f(n: int32) -> int32 { if (n <= 0) { 0 } else { 1 + $f(n - 1) } }",
    "def $f() { $e }",
    "def $f(x: T) { match (x) { A(y) => y, _ => $e } }",
    "def $f(x) {\n  let y = $e;\n\n  (x, y)\n}",
    "def $f(r: R) { r.a * r.a }",
    "def $f(x) { for i < $n { x * cast(i, dtype=\"float32\") } }",
    "type T { A(float32), B }",
    "type T { A(int32), B, C(T) }",
    "type T[X] { A(X), B(T[X], T[X]) }",
    "type R { R { a: float32, b: float32 } }",
    "type R { R { a: int32 } }",
    "let t = A($n.0)",
    "let t = [1.0, 2.0, $n.0]",
    "let r = R($n.0, 2.0)",
    "let r = ref($n.0)",
    "import \"$d/part.relay\"",
    "import \"$d/missing.relay\"",
};

constexpr const char* kExpressions[] = {
    "$f($n)",
    "$f($n.0)",
    "$f($f($n.0))",
    "$f(t)",
    "$f($f)",
    "$f($f)($n.0)",
    "grad($f)($n.5)",
    "grad(grad($f))($n.5)",
    "grad($f)(r)",
    "t",
    "$f(A($n))",
    "$f()",
    "(1, $n.0).0",
    "[$n.0, 1.0] + t",
    "r := $n.0",
    "!r",
    "$f([1.0, 2.0])",
    "map($f, Cons($n.0, Nil))",
    "jvp($f)(1.0, $n.0)",
    "$f(1",
    "zeros([$n, $n])",
    "sum(zeros([${n}00, 1000]))",
    "print($f)",
    "nonsense($n)",
    "t.a + r.a",
    "save(\"$d/a.npy\", [1.0, $n.0])",
    "load(\"$d/a.npy\")",
    "load(\"$d/missing.npy\")",
    "match (t) { A(x) => x }",
    "ones([$n, 2]) @ ones([2, 3])",
    "if ($n > 2) { $f(1.0) }",
};

// These end only when they are interrupted, or by a limit.
constexpr const char* kEndless[] = {
    "{ let go = fn (n: int64) -> int64 { go(n + int64($n)) }; go(int64(0)) }",
    "for i < 4 { sum k < 2000000000 { sin(cast(k + i, dtype=\"float32\")) } }",
    "def endless(n: int32) -> int32 { endless(n + 1) }\nendless($n)",
    "def grow(xs) { grow(Cons($n.0, xs)) }\ngrow(Nil)",
    "def deep(n: int32) -> int32 { 1 + deep(n + 1) }\ndeep($n)",
    "sum(ones([2000, 2000]) @ ones([2000, 2000]) @ ones([2000, 2000]) @ ones([2000, 2000]))",
};

constexpr const char* kCommands[] = {
    ":type $e",
    ":type $f",
    ":show anf $e",
    ":show typed $f",
    ":show loops $e",
    ":show flow $e",
    ":show flow $f",
    ":show llvm $e",
    ":show grad $f",
    ":show $f",
    ":grad $f",
    ":grad $f($n.5)",
    ":trace $e",
    ":break $f",
    ":break off",
    ":frame",
    ":frame 1 $e",
    ":nanbreak $e",
    ":nanbreak on",
    ":nanbreak off",
    ":doc $f",
    ":doc conv2d",
    ":source $f",
    ":explain SyntaxError",
    ":ops sort",
    ":load $d/good.relay",
    ":load $d/bad.relay",
    ":load $d/missing.relay",
    ":load $d",
    ":limit",
    ":limit memory $n0M",
    ":limit time ${n}0ms",
    ":limit memory none",
    ":limit time none",
    ":limit $f $n",
    ":stats",
    ":jit",
    ":jit $f",
    ":help",
    ":nonsense $e",
    ":seconds 1 $e",
    ":",
    ":type $f(",
};

struct Entry {
  enum class Kind { Any, Probe, Base };  // a definition of `probe` or `base`
  Kind kind = Kind::Any;
  std::string text;
  std::string value;             // of `probe()`, or of `user()`, which calls `base`, after it
  std::optional<int> interrupt;  // after so many microseconds
};

struct Script {
  repl::SessionOptions options;
  int blank_lines = 0;
  std::vector<Entry> entries;
};

template <std::size_t N>
const char* one_of(const char* const (&texts)[N], Random& random) {
  return texts[random.below(N)];
}

std::string filled(std::string_view pattern, Random& random, const std::string& folder,
                   int depth = 0) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$' || i + 1 == pattern.size()) {
      text += pattern[i];
      continue;
    }
    const bool in_braces = pattern[++i] == '{';
    if (in_braces) ++i;
    switch (pattern[i]) {
      case 'f':
        text += "fgh"[random.below(3)];
        break;
      case 'n':
        text += std::to_string(random.below(5));
        break;
      case 'e':
        text += depth > 2 ? "1.0" : filled(one_of(kExpressions, random), random, folder, depth + 1);
        break;
      default:
        text += folder;
    }
    if (in_braces) ++i;
  }
  return text;
}

std::string generated(Random& random) {
  ProgramOptions options;
  options.dtype = random.one_in(2) ? lang::DType::Float64 : lang::DType::Float32;
  options.size = 4 + random.below(10);
  options.combinators = random.one_in(3);
  options.references = random.one_in(2);
  options.smooth = false;
  const RandomProgram program = random_program(1 + random.below(1'000'000'000), options);
  return program.text + program.call;
}

// With a part lost, doubled or moved: mistakes as they are typed.
std::string damaged(std::string text, Random& random) {
  const std::size_t begin = random.below(text.size() + 1);
  const std::string part = text.substr(begin, 1 + random.below(12));
  if (random.one_in(2)) text.erase(begin, part.size());
  if (random.one_in(2)) text.insert(random.below(text.size() + 1), part);
  return text;
}

Entry entry_of(Random& random, const std::string& folder) {
  Entry entry;
  switch (random.below(10)) {
    case 0:
    case 1:
      entry.text = filled(one_of(kDefinitions, random), random, folder);
      break;
    case 2:
    case 3:
      entry.text = filled(one_of(kExpressions, random), random, folder);
      break;
    case 4:
    case 5:
      entry.text = filled(one_of(kCommands, random), random, folder);
      break;
    case 6:
      entry.text = generated(random);
      break;
    case 7: {
      const std::size_t number = random.below(1000);
      entry.kind = Entry::Kind::Probe;
      entry.text = fmt::format("def probe() {{ {} }}", number);
      entry.value = std::to_string(number);
      break;
    }
    case 8: {
      const std::size_t number = random.below(1000);
      const bool is_float = random.one_in(2);
      entry.kind = Entry::Kind::Base;
      entry.text = fmt::format("def base() {{ {}{} }}", number, is_float ? ".5" : "");
      entry.value = fmt::format("{}{}", number + 1, is_float ? ".5" : "");
      break;
    }
    default:
      entry.text = filled(one_of(kEndless, random), random, folder);
      entry.interrupt = static_cast<int>(1 + random.below(60'000));
  }
  if (entry.kind == Entry::Kind::Any && random.one_in(8)) entry.text = damaged(entry.text, random);
  if (random.one_in(4)) entry.interrupt = static_cast<int>(1) << random.below(17);
  return entry;
}

Script script_of(std::uint64_t seed, const std::string& folder) {
  Random random(seed);
  Script script;
  constexpr interp::JitMode kModes[] = {interp::JitMode::Auto, interp::JitMode::Off,
                                        interp::JitMode::Always};
  script.options.jit = kModes[random.below(std::size(kModes))];
  script.options.threads = 1 + static_cast<int>(random.below(2));
  script.options.verify = random.one_in(4);
  script.options.files = formats::FileAccess::beneath({folder}, "the folder of the farm");
  script.options.write = [](std::string_view) {};
  script.blank_lines = static_cast<int>(random.below(3));
  for (std::size_t i = 2 + random.below(kMostEntries); i > 0; --i)
    script.entries.push_back(entry_of(random, folder));
  return script;
}

std::string describe(const Script& script) {
  std::string text =
      fmt::format("jit {}, {} threads{}",
                  script.options.jit == interp::JitMode::Off      ? "off"
                  : script.options.jit == interp::JitMode::Always ? "always"
                                                                  : "auto",
                  script.options.threads, script.options.verify ? ", every pass verified" : "");
  for (const Entry& entry : script.entries) {
    text += '\n' + entry.text;
    if (entry.interrupt) text += fmt::format("    [interrupted after {} us]", *entry.interrupt);
  }
  return text;
}

class Prompt {
 public:
  explicit Prompt(const Script& script)
      : session_(script.options), driver_(session_, events(), script.blank_lines) {
    for (const char* line : {"def kept(x) { x * 2 + 1 }", "def probe() { 0 }", "def base() { 0 }",
                             "def user() { base() + 1 }"})
      enter({Entry::Kind::Any, line, "", {}});
    if (has_errors_) trouble_ = "the session does not begin";
  }

  // What is wrong; empty: nothing.
  std::string run(const Script& script) {
    for (const Entry& entry : script.entries) {
      if (!trouble_.empty()) break;
      enter(entry);
      if (entry.kind == Entry::Kind::Probe && !has_errors_) probe_ = entry.value;
      if (entry.kind == Entry::Kind::Base && !has_errors_) user_ = entry.value;
      if (entry.interrupt) answers("1 + 1", "2");
      if (entry.kind == Entry::Kind::Probe) answers("probe()", probe_);
      if (entry.kind == Entry::Kind::Base) answers("user()", user_);
    }
    enter({Entry::Kind::Any, ":limit memory none", "", {}});
    enter({Entry::Kind::Any, ":limit time none", "", {}});
    is_limited_ = false;
    answers("kept(20)", "41");
    answers("probe()", probe_);
    answers("user()", user_);
    return trouble_;
  }

 private:
  repl::DriverEvents events() {
    return {[](const repl::ItemResult& result) { (void)repl::describe(result); },
            [this](const std::vector<lang::Diagnostic>& errors) { see(errors); },
            [](std::string_view) {},
            [this](const std::string& what) { fail("a mistake of ours: " + what); }};
  }

  void fail(const std::string& what) {
    if (trouble_.empty()) trouble_ = fmt::format("{}\n  at: {}", what, at_);
  }

  void see(const std::vector<lang::Diagnostic>& errors) {
    has_errors_ = true;
    if (errors.empty()) fail("a failure without an error");
    for (const lang::Diagnostic& error : errors) {
      (void)lang::render(error);
      if (error.kind == lang::DiagnosticKind::Interrupted) tally("interrupted");
    }
  }

  void enter(const Entry& entry) {
    at_ = entry.text;
    has_errors_ = false;
    if (entry.text.starts_with(":l")) is_limited_ = true;
    tally("entries");
    const Patience patience(kPatience);
    std::optional<repl::Deadline> interrupt;
    if (entry.interrupt) interrupt.emplace(*entry.interrupt * 1e-6, lang::Stop::Interrupted);
    for (const std::string& line : split_lines(entry.text)) {
      if (driver_.feed(line) == repl::Driver::State::Quit) fail("the session ends");
    }
    driver_.finish();
    interrupt.reset();
    lang::clear_stop();  // one that came when all was done, as the prompt does it
  }

  void answers(const std::string& text, const std::string& wanted) {
    if (!trouble_.empty()) return;
    const Patience patience(kPatience);
    auto shown = lang::capture([&] {
      const auto value = session_.evaluate(text);
      if (!value) throw lang::Failure{value.errors()};
      return lang::to_string(*value);
    });
    if (shown) {
      if (*shown != wanted) fail(fmt::format("{} is {} and not {}", text, *shown, wanted));
    } else if (!is_limited_ || !lang::is_stop(shown.errors().front().kind)) {
      fail(fmt::format("{} does not answer {}:\n{}", text, wanted,
                       lang::render(shown.errors().front())));
    }
    lang::clear_stop();
  }

  repl::Session session_;
  repl::Driver driver_;
  bool has_errors_ = false;  // the last entry
  bool is_limited_ = false;  // by a `:limit` of its own
  std::string at_;
  std::string trouble_;
  std::string probe_ = "0";
  std::string user_ = "1";
};

std::string check(const Script& script) {
  try {
    return Prompt(script).run(script);
  } catch (const std::exception& error) {
    return fmt::format("an exception: {}", error.what());
  }
}

}  // namespace

int main(int, char** argv) {
  try {
    stdlib::register_operators();
    const TemporaryFolder folder;
    std::ofstream(folder.path() + "/good.relay") << "def f(x) { x * 3.0 }\nlet t = f(2.0)\n";
    std::ofstream(folder.path() + "/bad.relay") << "def g(x) { x }\ng(1) + [1, 2\n";
    std::ofstream(folder.path() + "/part.relay") << "def h(x) { (x, x) }\n";
    IsolatedCases cases;
    cases.name = "sessions";
    cases.first = first_seed();
    cases.count = case_count(40, 20);
    cases.batch = 20;
    const auto script = [&](std::uint64_t seed) { return script_of(seed, folder.path()); };
    cases.describe = [&](std::uint64_t seed) { return describe(script(seed)); };
    cases.check = [&](std::uint64_t seed) { return check(script(seed)); };
    return run_isolated(cases);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 2;
  }
}
