// A schedule changes no bit: what a function gives with schedules drawn at random is what it gives
// without, on lanes and in native code. RELAY_COUNT asks for more of them (tests/support/replay.h).

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/schedule.h"
#include "tests/support/property.h"
#include "tests/support/random.h"
#include "tests/support/schedule_check.h"

namespace relay::tests {
namespace {

constexpr std::size_t kSchedules = 500;

// A function of tensors over indices. `sizes` are those of N, M, K in the text of its arguments.
struct Scheduled {
  const char* function;
  std::vector<const char*> arguments;  // `for` over their indices
  std::vector<std::string> domain;
  std::vector<std::string> reduced;
  std::size_t reductions;
  std::vector<std::string> tensors;
};

const char* const kLeft = "for i < N, k < K { cast(i * 7 + k * 13 + i * k, dtype=T) * V - W }";
const char* const kRight = "for k < K, j < M { cast(k * 5 - j * 11 + k * j, dtype=T) * V - W }";
const char* const kWhole = "for i < N, j < M { cast(i * 3 - j * 5, dtype=T) * V + W }";
const char* const kOther = "for i < N, j < M { cast(i * j, dtype=T) * V - W }";
const char* const kTurned = "for j < M, i < N { cast(i * 3 - j * 5, dtype=T) * V + W }";
const char* const kRow = "for j < M { cast(j * 17, dtype=T) * V - W }";
const char* const kColumn = "for i < N { cast(i * 29, dtype=T) * V - W }";
const char* const kStack = "for p < 3, i < N, k < K { cast(p * 3 + i * 7 - k, dtype=T) * V - W }";
const char* const kWeights = "for k < K { cast(k * 3 + 1, dtype=T) * V }";

const std::vector<Scheduled>& programs() {
  static const std::vector<Scheduled> all = {
      {"(a, b) { for i, j { sum k { a[i, k] * b[k, j] } } }",
       {kLeft, kRight},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, b, c) { for i, j { maximum(sum k { a[i, k] * b[k, j] } + c[j], cast(0, dtype=T)) } }",
       {kLeft, kRight, kRow},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b", "c"}},
      {"(a, b) { for i, j { a[i, j] * b[i, j] + a[i, j] } }",
       {kWhole, kOther},
       {"i", "j"},
       {},
       0,
       {"b"}},
      {"(a) { for i, j { a[j, i] + a[j, i] * a[j, i] } }", {kTurned}, {"i", "j"}, {}, 0, {}},
      {"(a, b) { for p, i, j { sum k { a[p, i, k] * b[k, j] } } }",
       {kStack, kRight},
       {"p", "i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, b) { for i, j { max k { a[i, k] - b[k, j] } } }",
       {kLeft, kRight},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, b) { for i, j { argmin k { a[i, k] - b[k, j] } } }",
       {kLeft, kRight},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a) { for i { sum k { a[i, k] * a[i, k] } } }", {kLeft}, {"i"}, {"k"}, 1, {}},
      {"(a) { for i, j { a[i, j] + cast(i * 3 - j, dtype=T) } }",
       {kWhole},
       {"i", "j"},
       {},
       0,
       {"a"}},
      {"(a, w) { for i < N { sum k { if i + k < N { a[i + k] * w[k] } else { w[k] } } } }",
       {kColumn, kWeights},
       {"i"},
       {"k"},
       1,
       {"w"}},
      {"(a, b) { for i, j { sum k { a[i, k] } * sum l { b[l, j] } } }",
       {kLeft, kRight},
       {"i", "j"},
       {},
       2,
       {"a", "b"}},
      {"(a, b) { for i, j { a[i] * b[j] } }", {kColumn, kRow}, {"i", "j"}, {}, 0, {"a", "b"}},
      {"(a, b) { for i, j { prod k { a[i, k] + b[k, j] } } }",
       {kLeft, kRight},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, b, c) { for i, j { if c[i, j] > cast(0, dtype=T) { sum k { a[i, k] * b[k, j] } } else "
       "{ "
       "c[i, j] } } }",
       {kLeft, kRight, kWhole},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, b) { for i, j { maximum(sum k { a[i, k] * b[k, j] }, cast(0, dtype=T)) } }",
       {kLeft, kRight},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, b, c, d) { for i, j { (sum k { a[i, k] * b[k, j] } + c[j]) * d[i, j] - d[i, j] } }",
       {kLeft, kRight, kRow, kWhole},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b", "c"}},
      {"(a, b) { for j, i { sum k { a[i, k] * b[k, j] } } }",
       {kLeft, kRight},
       {"j", "i"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, b) { for i, j { sum k { (a[i, k] - b[k, j]) * (a[i, k] - b[k, j]) } } }",
       {kLeft, kRight},
       {"i", "j"},
       {"k"},
       1,
       {}},
      {"(a) { for i { max k { a[i, k] } } }", {kLeft}, {"i"}, {"k"}, 1, {"a"}},
      {"(a, w) { for i { sum k { a[i, k] * w[k] } } }",
       {kLeft, kWeights},
       {"i"},
       {"k"},
       1,
       {"a", "w"}},
      {"(a, b) { for i, j { min k { maximum(a[i, k], b[k, j]) } } }",
       {kLeft, kRight},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, b) { for i, j { any k { a[i, k] > b[k, j] } } }",
       {kLeft, kRight},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, b) { for i, j { sum k { if a[i, k] > b[k, j] { a[i, k] } else { b[k, j] } } } }",
       {kLeft, kRight},
       {"i", "j"},
       {"k"},
       1,
       {}},
      {"(a) { for i < N, j < M { if i > 0 && j > 0 { a[i - 1, j - 1] + a[i, j] } else { a[i, j] } "
       "} }",
       {kWhole},
       {"i", "j"},
       {},
       0,
       {}},
      {"(a, b) { for p, i, k { a[p, i, k] + b[k] } }",
       {kStack, kWeights},
       {"p", "i", "k"},
       {},
       0,
       {"a", "b"}},
      {"(a) { for k, i, p { a[p, i, k] * a[p, i, k] } }", {kStack}, {"k", "i", "p"}, {}, 0, {}},
      {"(a) { for p, k { sum i { a[p, i, k] } } }", {kStack}, {"p", "k"}, {"i"}, 1, {"a"}},
      {"(a) { for k { sum p, i { a[p, i, k] } } }", {kStack}, {"k"}, {"p", "i"}, 1, {"a"}},
      {"(a, b, c) {\n  let y = for i, j { sum k { a[i, k] * b[k, j] } };\n"
       "  for r, s { y[r, s] * c[r, s] }\n}",
       {kLeft, kRight, kWhole},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, b) { for i, j { argmax k { a[i, k] * b[k, j] } } }",
       {kLeft, kRight},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, c) { for i, j { sum k { a[i, k] } * c[j] } }",
       {kLeft, kRow},
       {"i", "j"},
       {"k"},
       1,
       {"a", "c"}},
      {"(a, b, w) { for i, j { sum k { a[i, k] * b[k, j] * w[k] } } }",
       {kLeft, kRight, kWeights},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b", "w"}},
      {"(a, b) { for i, j { dot k { (a[i, k], b[k, j]) } } }",
       {kLeft, kRight},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b"}},
      {"(a, b, c) { for i, j { let r = dot k { let d = a[i, k] - b[k, j]; (d, d) }; r * c[j] } }",
       {kLeft, kRight, kRow},
       {"i", "j"},
       {"k"},
       1,
       {"a", "b", "c"}},
  };
  return all;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
    at += by.size();
  }
  return text;
}

// Steps that a nest takes, one after the other.
lang::ScheduleSteps random_steps(const Scheduled& program, Random& random) {
  lang::ScheduledNest nest(program.domain, program.reduced, program.reductions, program.tensors);
  const auto size = [&] {
    constexpr int kSizes[] = {2, 4, 3, 8, 1, 5, 16, 7};
    return std::to_string(kSizes[random.below(8)]);
  };
  const auto any_loop = [&] {
    const std::vector<std::string> names = nest.names();
    return names[random.below(names.size())];
  };
  const auto step = [&]() -> lang::ScheduleStep {
    const std::vector<std::string> words = lang::schedule_words();
    lang::ScheduleStep made{words[random.below(words.size())], {}, {}};
    const auto add = [&](std::string text) { made.args.push_back({std::move(text), {}}); };
    if (made.word == "cache") {
      add(program.tensors.empty() ? "a" : program.tensors[random.below(program.tensors.size())]);
      return made;
    }
    add(any_loop());
    if (made.word == "split") add(size());
    if (made.word == "fuse" || made.word == "tile") add(any_loop());
    if (made.word == "tile") {
      add(size());
      add(size());
    }
    if (made.word == "reorder") {
      made.args.clear();
      std::vector<std::string> names = nest.names();
      const std::size_t count = 2 + random.below(names.size());
      while (made.args.size() < count && !names.empty()) {
        const std::size_t at = random.below(names.size());
        add(names[at]);
        names.erase(names.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    return made;
  };
  const auto attempt = [&](const lang::ScheduleStep& made) {
    lang::ScheduledNest changed = nest;
    if (!changed.apply(made, "f") && !changed.check()) nest = std::move(changed);
  };
  for (std::size_t i = 3 + random.below(6); i > 0; --i) attempt(step());
  // As people write it: a tile inside the reduction.
  if (random.one_in(2)) {
    for (const std::string& name : nest.names()) {
      if (!random.one_in(4)) attempt({"split", {{name, {}}, {size(), {}}}, {}});
    }
    std::vector<lang::ScheduleArg> order;
    for (const bool is_inner : {false, true}) {
      for (const lang::ScheduledLoop& loop : nest.loops()) {
        if (!loop.is_reduction && loop.extent.has_value() == is_inner)
          order.push_back({loop.name, {}});
      }
      for (const lang::ScheduledLoop& loop : nest.loops()) {
        if (loop.is_reduction && !is_inner) order.push_back({loop.name, {}});
      }
    }
    attempt({"reorder", order, {}});
    attempt({"vectorize", {order.back()}, {}});
    attempt({"parallel", {order.front()}, {}});
  }
  return nest.steps();
}

struct Case {
  std::string text;  // of the function
  std::string lets;
  std::string call;
  std::string schedule;  // as steps
};

// `wanted`: the dtype; empty: any.
Case random_case(std::uint64_t seed, const std::string& wanted = "") {
  Random random(seed);
  const Scheduled& program = programs()[random.below(programs().size())];
  constexpr const char* kTypes[] = {"float32", "float64", "int32", "float16"};
  std::string drawn = kTypes[random.below(4)];
  if (drawn == "int32" && std::string_view(program.function).find("dot") != std::string_view::npos)
    drawn = "float32";
  const std::string dtype = wanted.empty() ? drawn : wanted;
  const bool is_float = dtype[0] == 'f';
  constexpr int kExtents[] = {9, 16, 5, 1, 33, 24, 7, 50};
  constexpr int kReduced[] = {5, 17, 40, 1, 300, 256, 600, 16};
  const auto settled = [&](std::string text, const std::string& n, const std::string& m,
                           const std::string& k) {
    text = replaced(std::move(text), "dtype=T", "dtype=\"" + dtype + "\"");
    text = replaced(std::move(text), "< N", "< " + n);
    text = replaced(std::move(text), "< M", "< " + m);
    text = replaced(std::move(text), "< K", "< " + k);
    text = replaced(std::move(text), "* V",
                    is_float ? "* cast(0.37, dtype=\"" + dtype + "\")" : "* 3");
    return replaced(std::move(text), " W", is_float ? " cast(2.9, dtype=\"" + dtype + "\")" : " 2");
  };
  const std::string n = std::to_string(kExtents[random.below(8)]);
  const std::string m = std::to_string(kExtents[random.below(8)]);
  const std::string k = std::to_string(kReduced[random.below(8)]);
  Case made;
  made.text = "def f" + settled(program.function, n, m, k) + "\n";
  made.call = "f(";
  for (std::size_t i = 0; i < program.arguments.size(); ++i) {
    made.lets += fmt::format("let x{} = {}\n", i, settled(program.arguments[i], n, m, k));
    made.call += fmt::format("{}x{}", i == 0 ? "" : ", ", i);
  }
  made.call += ")";
  made.schedule = lang::to_string(random_steps(program, random));
  return made;
}

TEST_CASE("schedules keep every bit in both tiers") {
  ScheduleCheck check("schedules keep every bit in both tiers");
  std::size_t refused = 0;
  std::size_t unchanged = 0;
  const auto all = seeds(kSchedules);
  for (const std::uint64_t seed : all) {
    const Case drawn = random_case(seed);
    if (drawn.schedule.empty()) ++unchanged;
    if (!check.run(seed, drawn.lets + drawn.text, drawn.schedule, drawn.call)) ++refused;
  }
  CHECK(refused * 5 <= all.size());
  CHECK(unchanged * 4 <= all.size());
}

// What a derivative takes over of a schedule changes no value either.
TEST_CASE("derivatives of functions with schedules are those of the functions") {
  constexpr std::size_t kDerivatives = 60;
  ScheduleCheck check("derivatives of functions with schedules are those of the functions", 1e-9);
  std::size_t refused = 0;
  const auto all = seeds(kDerivatives);
  for (const std::uint64_t seed : all) {
    const Case drawn = random_case(seed, "float64");
    const bool gives_floats = drawn.text.find("{ arg") == std::string::npos &&
                              drawn.text.find("any") == std::string::npos;
    if (!gives_floats) continue;
    const auto count =
        static_cast<std::size_t>(std::count(drawn.lets.begin(), drawn.lets.end(), '\n'));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("x{}", i));
    const std::string args = fmt::format("{}", fmt::join(names, ", "));
    const std::string loss = fmt::format("fn ({0}) {{ mean(sin(f({0}) * 0.01f64)) }}", args);
    constexpr const char* kForms[] = {"grad({1})({0})", "jvp({1})({0}, {0})", "jvp(f)({0}, {0})",
                                      "hvp({1})({0}, {0})"};
    const std::string call = fmt::format(fmt::runtime(kForms[seed % 4]), args, loss);
    if (!check.run(seed, drawn.lets + drawn.text, drawn.schedule, call)) ++refused;
  }
  CHECK(refused * 5 <= all.size());
}

}  // namespace
}  // namespace relay::tests
