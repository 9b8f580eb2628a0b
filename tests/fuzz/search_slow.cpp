// A search for short programs that are slow to check: those that cost most for their length are
// changed further. What takes more than two seconds or a gigabyte is cut down and written out.
//
//   RELAY_SEED=7 search_slow -max_total_time=600 tests/golden examples
//
//   search_slow slow-7-1                               measure this one again
//
// A program has at most 100 lines. It is measured in a process of its own, by the time of the
// processor, so that neither a hang nor other work on the machine counts. Exit code 1 if something
// was found.

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "interp/stack.h"
#include "lang/memory.h"
#include "lang/module.h"
#include "lang/sanitizer.h"
#include "lang/source.h"
#include "parser/parse.h"
#include "repl/check_rest.h"
#include "stdlib/register.h"
#include "tests/support/family.h"
#include "tests/support/prelude.h"
#include "tests/support/replay.h"
#include "tests/support/text_diff.h"

namespace {

using namespace relay;         // NOLINT: the program's own file
using namespace relay::tests;  // NOLINT
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostLines = 100;
constexpr std::size_t kMostBytes = 6000;
#ifdef RELAY_ASAN
constexpr int kSlower = 4;
#else
constexpr int kSlower = 1;
#endif
constexpr double kSlow = 2 * kSlower;         // seconds of the processor
constexpr long kLarge = 1024L * 1024;         // KiB
constexpr rlim_t kMostSeconds = 3 * kSlower;  // then it is ended
constexpr std::size_t kPopulation = 200;

// What is worth growing: each doubles something from line to line, or nests it.
constexpr std::string_view kStarts[] = {
    R"(def p0(x) { (x, x) }
def p1(x) { p0(p0(x)) }
)",
    R"(def p(x) { x + x }
def q(x, y) { p(x) * p(y) }
def r(x, y) { q(q(x, y), q(y, x)) }
)",
    R"(def f(x) {
  let a = (x, x);
  let b = (a, a);
  b
}
)",
    R"(def f(x) { (fn (y) { (fn (z) { z + y })(x) })(x) }
)",
    R"(def f() { let g = fn (x) { (x, x) }; let h = fn (x) { g(g(x)) }; h }
)",
    R"(def f(x) { { let g = fn (y) { (y, x) }; g(1.0).1 + g(2).1 } }
f(1.0)
)",
    R"(def f(x, y) { for i, j { sum k { x[i, k] * y[k, j] } } }
)",
    R"(def f(x) { if (x > 0.0) { x } else { if (x > 1.0) { x } else { 2.0 * x } } }
)",
    R"(def f(a: bool, b: bool, c: bool) { match (a, b, c) { (True, _, False) => 1, (_, False, True) =>
  2, (False, True, _) => 3, _ => 4 } }
)",
    R"(type T[A] { T(A, A), N }
def f(x) { T(T(x, x), N) }
def g(x) { match f(x) { T(a, b) => a, N => N } }
)",
    R"(type R { R { a: float32, b: float32 } }
type S { S { a: R, b: R } }
def f(s: S) { s.a.a }
def g(s: S) { grad(f)(s) }
)",
    R"(def f(n, x) { if (n <= 0) { x } else { g(n - 1, f(n - 1, x)) } }
def g(n, x) { f(n, (x * x)) }
)",
    R"(def c(x) { concatenate((x, x)) }
def d(x) { c(c(x)) }
def e(x) { reshape(d(x), [2, -1]) }
)",
    R"(def f(x) { x |> sin |> (fn (y) { y * y }) |> tanh }
)",
    R"(def f(x: float32) { grad(fn (y) { grad(fn (z) { z * y })(y) * x })(x) }
f(1.0)
)",
    R"(def t(f) { fn (x) { f(f(x)) } }
def u(f) { t(t(f)) }
u(fn (x) { x * 2.0 })
)",
    R"(def m(f, xs) { match xs { Nil => Nil, Cons(x, r) => Cons(f(x), m(f, r)) } }
def n(xs) { m(fn (x) { m(fn (y) { y + 1 }, x) }, xs) }
)",
    R"(def l0(x) { Cons(x, Nil) }
def l1(x) { l0(l0(x)) }
)",
    R"(def k0(a) { fn (b) { a * b } }
def k1(a) { fn (b) { k0(a)(b) + k0(b)(a) } }
)",
    R"(def f(x: Tensor[(?), float32]) { let y = x[1:]; y + y[0:2] }
)",
};

struct Cost {
  double seconds = 0;
  std::int64_t allocations = 0;
  long kilobytes = 0;
  bool crashed = false;
  bool is_too_much() const { return crashed || seconds > kSlow || kilobytes > kLarge; }
  // What is worth going on with. The time of short programs is mostly noise, their allocations are
  // not.
  double work() const { return std::max(seconds, static_cast<double>(allocations) * 1e-7); }
};

// Where a child says what it has allocated.
std::int64_t* shared_allocations() {
  static auto* const place = static_cast<std::int64_t*>(mmap(
      nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (place == MAP_FAILED) std::abort();
  return place;
}

void check(const std::string& text) {
  interp::EvaluationStack::instance().run([&] {
    const lang::Source source("<slow>", text);
    parser::Reading reading = parser::parse_all(source, prelude(), parser::Notation::Light);
    for (const auto& error : repl::check_rest(prelude(), prelude(), std::move(reading)))
      (void)lang::render(error);
  });
}

Cost cost_of(const std::string& text) {
  std::int64_t* const allocations = shared_allocations();
  *allocations = 0;
  const pid_t child = fork();
  if (child == 0) {
    const rlimit time{kMostSeconds, kMostSeconds + 1};
    setrlimit(RLIMIT_CPU, &time);
    if (!std::freopen("/dev/null", "w", stderr)) _exit(3);
    const std::int64_t before = lang::allocations_made();
    check(text);
    *allocations = lang::allocations_made() - before;
    _exit(0);
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  const bool ran_out = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
  const bool crashed =
      WIFSIGNALED(status) ? !ran_out : WIFEXITED(status) && WEXITSTATUS(status) != 0;
  return {ran_out ? double{kMostSeconds} : seconds(used.ru_utime) + seconds(used.ru_stime),
          *allocations, used.ru_maxrss, crashed};
}

class Search {
 public:
  explicit Search(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  // Deep at once: what doubles with each level shows late.
  std::string fresh() {
    const std::size_t levels = 12 + below(20);
    const Family& family = families()[below(families().size())];
    if (!family.is_nested) return program_of(family, static_cast<int>(levels));
    static constexpr std::string_view kInnermost[] = {"x", "x > 0.0", "x * 0.5", "(x, x)"};
    const std::string body =
        nest(std::string(kInnermost[below(std::size(kInnermost))]), "x", levels);
    return "def f(x: float32) { " + body + " }\n" + (below(2) ? "grad(f)(1.0)\n" : "f(1.0)\n");
  }

  std::string changed(std::string text, const std::string& other) {
    for (std::size_t i = 1 + below(3); i > 0; --i) {
      switch (below(10)) {
        case 0:
        case 1:
          text = next_line(text);
          break;
        case 3:
          text = replaced_group(text, text);
          break;
        case 4:
          text = replaced_group(text, other);
          break;
        case 5:
          text = other_line(text, other);
          break;
        case 6:
          text = without_line(text);
          break;
        case 2:
        case 7:
        case 8:
          text = grown(text);
          break;
        default:
          text = nested(text);
          break;
      }
    }
    std::vector<std::string> lines = split_lines(text);
    if (lines.size() > kMostLines) lines.resize(kMostLines);
    return join_lines(lines);
  }

 private:
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }

  // The last lines once more, in which the names that they define and that they use go one on: `def
  // p2(x) { p1(p1(x)) }` becomes `def p3(x) { p2(p2(x)) }`, again and again.
  std::string next_line(const std::string& text) {
    std::vector<std::string> lines = split_lines(text);
    if (lines.empty()) return text;
    const std::size_t at = below(lines.size());
    std::string line = lines[at];
    const std::size_t defines = line.find("def ") == 0 ? 4 : line.find("let ");
    if (defines == std::string::npos) return text;
    const std::size_t begin = defines + (line.compare(defines, 4, "let ") == 0 ? 4 : 0);
    std::size_t end = begin;
    while (end < line.size() && is_word(line[end])) ++end;
    std::string name = line.substr(begin, end - begin);
    if (name.empty()) return text;
    std::size_t place = at;
    for (std::size_t i = times(); i > 0; --i) {
      const std::string made =
          name.substr(0, name.find_last_not_of("0123456789") + 1) + std::to_string(10 + ++names_);
      std::string body = line.substr(end);
      // The new one uses the one before where that used its own.
      if (body.find(name) == std::string::npos) {
        for (std::size_t from = 0; from < body.size(); ++from) {
          if (!is_word(body[from]) || (from > 0 && is_word(body[from - 1]))) continue;
          std::size_t to = from;
          while (to < body.size() && is_word(body[to])) ++to;
          const std::string word = body.substr(from, to - from);
          const bool is_defined = text.find("def " + word + "(") != std::string::npos ||
                                  text.find("let " + word + " ") != std::string::npos;
          if (is_defined) body = body.substr(0, from) + name + body.substr(to);
        }
      }
      const std::string added = line.substr(0, begin) + made + body;
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(++place), added);
      line = added;
      end = begin + made.size();
      std::string old = name;
      name = made;
      // In the next turn, uses of the one before become uses of this one.
      std::string rest = line.substr(end);
      for (std::size_t from = rest.find(old); from != std::string::npos;
           from = rest.find(old, from + made.size()))
        rest.replace(from, old.size(), made);
      line = line.substr(0, end) + rest;
    }
    return join_lines(lines);
  }

  // A part in brackets: [begin, end), with them.
  std::pair<std::size_t, std::size_t> group(const std::string& text) {
    std::vector<std::size_t> opening;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '(' || text[i] == '{' || text[i] == '[') opening.push_back(i);
    }
    if (opening.empty()) return {0, 0};
    const std::size_t begin = opening[below(opening.size())];
    int depth = 0;
    for (std::size_t i = begin; i < text.size(); ++i) {
      if (text[i] == '(' || text[i] == '{' || text[i] == '[') ++depth;
      if (text[i] == ')' || text[i] == '}' || text[i] == ']') --depth;
      if (depth == 0) return {begin, i + 1};
    }
    return {begin, begin};
  }

  std::string replaced_group(const std::string& text, const std::string& other) {
    const auto [begin, end] = group(text);
    for (int i = 0; i < 8; ++i) {
      const auto [from, to] = group(other);
      if (begin == end || from == to || text[begin] != other[from]) continue;
      return text.substr(0, begin) + other.substr(from, to - from) + text.substr(end);
    }
    return text;
  }

  // What nests, in the notation of the families.
  static const std::vector<std::string_view>& patterns() {
    static const std::vector<std::string_view> all = [] {
      std::vector<std::string_view> made = {"({2})",
                                            "({2}, 1)",
                                            "(1, {2})",
                                            "id({2})",
                                            "(fn (w) {{ w }})({2})",
                                            "{{ let w = {2}; (w, w) }}",
                                            "(if (True) {{ {2} }} else {{ 0 }})",
                                            "Some({2})",
                                            "Cons({2}, Nil)",
                                            "grad(fn (w) {{ w * w }})({2})",
                                            "(for i < 2 {{ {2} }})",
                                            "match ({2}) {{ w => w }}",
                                            "[{2}, x]",
                                            "(x := {2})",
                                            "(-{2})",
                                            "({2} + x)"};
      for (const Family& family : families())
        if (family.is_nested) made.push_back(family.next);
      return made;
    }();
    return all;
  }

  // What stands in brackets, nested as one of the patterns nests, or as two in turn. They name a
  // variable `x`, which here is one that stands there.
  std::string grown(const std::string& text) {
    const auto [begin, end] = group(text);
    if (begin + 2 > end || text[begin] == '[') return text;
    const std::string inner = text.substr(begin + 1, end - begin - 2);
    if (inner.find(':') != std::string::npos && text[begin] == '(') return text;  // parameters
    return text.substr(0, begin + 1) + nest(inner, some_word(inner), times()) +
           text.substr(end - 1);
  }

  std::string nest(std::string inner, const std::string& variable, std::size_t levels) {
    const std::string_view one = patterns()[below(patterns().size())];
    const std::string_view two = below(2) ? one : patterns()[below(patterns().size())];
    for (std::size_t i = 0; i < levels; ++i)
      inner = with_variable(i % 2 ? two : one, variable, std::to_string(10 + ++names_), inner);
    return inner;
  }

  // Mostly few, now and then many: what doubles each time shows late.
  std::size_t times() { return 1 + below(below(4) == 0 ? 24 : 6); }

  std::string some_word(const std::string& text) {
    const std::size_t begin = below(text.size());
    for (std::size_t i = begin; i < text.size(); ++i) {
      if (!is_letter(text[i]) || (i > 0 && is_word(text[i - 1]))) continue;
      std::size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      if (end == text.size() || text[end] != '(') return text.substr(i, end - i);
    }
    return "x";
  }

  // The pattern of a family with its variable renamed and its places filled.
  static std::string with_variable(std::string_view pattern, const std::string& variable,
                                   const std::string& number, const std::string& inner) {
    std::string renamed;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const bool is_x = pattern[i] == 'x' && (i == 0 || !is_word(pattern[i - 1])) &&
                        (i + 1 == pattern.size() || !is_word(pattern[i + 1]));
      renamed += is_x ? variable : std::string(1, pattern[i]);
    }
    return fmt::format(fmt::runtime(renamed), number, "0", inner);
  }

  // A part inside itself: where it stands within a larger one, that one stands in its place.
  std::string nested(const std::string& text) {
    const auto [begin, end] = group(text);
    if (begin + 4 > end) return text;
    const std::string part = text.substr(begin, end - begin);
    const auto [from, to] = group(part.substr(1, part.size() - 2));
    if (from == to || part[from + 1] != part[0]) return text;
    const std::string twice = part.substr(0, from + 1) + part + part.substr(to + 1);
    return text.substr(0, begin) + twice + text.substr(end);
  }

  std::string other_line(const std::string& text, const std::string& other) {
    std::vector<std::string> lines = split_lines(text);
    const std::vector<std::string> from = split_lines(other);
    if (from.empty()) return text;
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size() + 1)),
                 from[below(from.size())]);
    return join_lines(lines);
  }

  std::string without_line(const std::string& text) {
    std::vector<std::string> lines = split_lines(text);
    if (lines.size() < 2) return text;
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size())));
    return join_lines(lines);
  }

  std::mt19937_64 random_;
  int names_ = 0;
};

// Without the lines that it is slow without, as far as one comes in a minute.
std::string cut_down(std::string text) {
  const auto end = Clock::now() + std::chrono::minutes(1);
  for (bool progress = true; progress;) {
    progress = false;
    const std::vector<std::string> lines = split_lines(text);
    for (std::size_t i = lines.size(); i-- > 0 && !progress && Clock::now() < end;) {
      std::vector<std::string> fewer = lines;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const std::string shorter = join_lines(fewer);
      if (shorter.empty() || !cost_of(shorter).is_too_much()) continue;
      text = shorter;
      progress = true;
    }
  }
  return text;
}

struct Candidate {
  std::string text;
  double fitness;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int measure(const std::vector<fs::path>& programs) {
  bool is_too_much = false;
  for (const fs::path& program : programs) {
    const Cost cost = cost_of(read_file(program));
    is_too_much |= cost.is_too_much();
    std::printf("%s: %.2f s, %ld MiB, %lld allocations%s\n", program.c_str(), cost.seconds,
                cost.kilobytes / 1024, static_cast<long long>(cost.allocations),
                cost.crashed ? ", crashed" : "");
  }
  return is_too_much ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  long most_seconds = 3;
  std::string prefix;              // of the files with what is found
  std::vector<fs::path> programs;  // to be measured once more
  const std::uint64_t seed = first_seed();
  std::vector<std::string> texts(std::begin(kStarts), std::end(kStarts));
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto number = [&](std::string_view key, auto& value) {
      if (!argument.starts_with(key)) return false;
      std::from_chars(argument.data() + key.size(), argument.data() + argument.size(), value);
      return true;
    };
    if (number("-max_total_time=", most_seconds)) continue;
    constexpr std::string_view kPrefix = "-artifact_prefix=";
    if (argument.starts_with(kPrefix)) {
      prefix = argument.substr(kPrefix.size());
      continue;
    }
    if (fs::is_regular_file(argument)) {
      programs.emplace_back(argument);
      continue;
    }
    if (!fs::is_directory(argument)) {
      std::fprintf(stderr, "%s: there is no folder %s\n", argv[0], argv[i]);
      return 2;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(argument))
      if (entry.path().extension() == ".relay") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      std::string text = read_file(file);
      if (text.size() < 2000 && text.find("import") == std::string::npos)
        texts.push_back(std::move(text));
    }
  }
  stdlib::register_operators();
  check("1\n");  // what is loaded once
  if (!programs.empty()) return measure(programs);

  Search search(seed);
  std::vector<Candidate> population;
  const auto start = Clock::now();
  long tried = 0;
  int found = 0;
  // The starts are there from the beginning, the files as others to take from.
  std::vector<std::string> starts(std::begin(kStarts), std::end(kStarts));
  for (const Family& family : families()) starts.push_back(program_of(family, 3));
  for (const std::string& text : starts) population.push_back({text, 0});
  double slowest = 0;  // of those that are quick enough
  std::string slowest_text;
  while (Clock::now() - start < std::chrono::seconds(most_seconds)) {
    // Of three, the fittest.
    std::size_t chosen = search.below(population.size());
    for (int i = 0; i < 2; ++i) {
      const std::size_t other = search.below(population.size());
      if (population[other].fitness > population[chosen].fitness) chosen = other;
    }
    const std::string& other = search.below(2) ? texts[search.below(texts.size())]
                                               : population[search.below(population.size())].text;
    std::string text =
        search.below(8) == 0 ? search.fresh() : search.changed(population[chosen].text, other);
    if (text.size() > kMostBytes) continue;
    const Cost cost = cost_of(text);
    ++tried;
    if (cost.seconds > slowest && !cost.is_too_much()) {
      slowest = cost.seconds;
      slowest_text = text;
    }
    if (cost.is_too_much()) {
      const std::chrono::duration<double> taken = Clock::now() - start;
      text = cut_down(text);
      const Cost least = cost_of(text);
      const std::string name =
          prefix + "slow-" + std::to_string(seed) + "-" + std::to_string(++found);
      std::ofstream(name) << text;
      std::printf("%s after %ld programs, %.0f s: %.1f s, %ld MiB%s\n%s\n", name.c_str(), tried,
                  taken.count(), least.seconds, least.kilobytes / 1024,
                  least.crashed ? ", crashed" : "", text.c_str());
      std::fflush(stdout);
      if (found == 5) break;
      // Elsewhere, then.
      std::erase_if(population, [&](const Candidate& each) { return each.fitness > 0; });
      continue;
    }
    population.push_back({text, cost.work() / static_cast<double>(text.size() + 300)});
    if (population.size() > kPopulation) {
      std::nth_element(
          population.begin(), population.begin() + kPopulation / 2, population.end(),
          [](const Candidate& a, const Candidate& b) { return a.fitness > b.fitness; });
      population.resize(kPopulation / 2);
      for (const std::string& again : starts) population.push_back({again, 0});
    }
  }
  if (slowest > kSlow / 4) std::printf("%s\n", slowest_text.c_str());
  std::printf("search_slow: %ld programs, RELAY_SEED=%llu, slowest %.2f s, %d too slow\n", tried,
              static_cast<unsigned long long>(seed), slowest, found);
  return found > 0 ? 1 : 0;
}
