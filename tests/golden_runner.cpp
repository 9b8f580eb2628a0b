// Runs golden files, or the code blocks of Markdown pages, with the JIT off and with the JIT always
// on, and compares what comes of them with what they expect. tests/README.md describes the format.
//
//   golden_runner [--update] FILE...
//   golden_runner [--update] --markdown FILE...
//
// Exits with 0 if all is as expected, 1 if not, 2 if it was called wrongly.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/support/golden_file.h"
#include "tests/support/golden_run.h"
#include "tests/support/page.h"
#include "tests/support/text_diff.h"

namespace {

using namespace relay::tests;  // NOLINT: the program's own file
using relay::interp::JitMode;

struct Arguments {
  std::string program;
  bool update = false;
  bool markdown = false;
  std::vector<std::string> files;
};

struct Tier {
  JitMode mode;
  std::string_view name;
};
constexpr Tier kLanes{JitMode::Off, "with the JIT off"};
constexpr Tier kNative{JitMode::Always, "with the JIT always on"};

// One way of running a file: its text as it should be, and what no update can mend.
struct Outcome {
  std::string text;
  std::vector<std::string> problems;
};

Outcome run_file(const std::string& path, const std::string& text, const Tier& tier) {
  const GoldenRun run = run_golden(path, text, tier.mode);
  Outcome outcome{with_expectations(text, run), {}};
#ifdef RELAY_HAS_JIT
  // Files about native code would pass silently on lanes alone.
  const bool is_about_it = path.find("golden/jit/") != std::string::npos;
  const bool is_native = run.native_kernels > 0 || run.native_functions > 0;
  if (tier.mode == JitMode::Always && is_about_it && !is_native)
    outcome.problems.emplace_back("nothing ran as native code");
#endif
  for (const std::string& code : run.on_lanes)
    outcome.problems.push_back(fmt::format("no native code for `{}`", code));
  if (run.has_internal_error) {
    for (const Entry& entry : run.entries) {
      for (const Event& event : entry.events) {
        if (!event.text.starts_with("internal error: ")) continue;
        outcome.problems.push_back(fmt::format("line {}: {}", entry.first_line, event.text));
      }
    }
  }
  return outcome;
}

Outcome run_markdown(const std::string& text, const Tier& tier) {
  PageRun page = run_page(text, tier.mode);
  return {std::move(page.text), std::move(page.problems)};
}

void report(const Arguments& arguments, const std::string& path, const std::string& what) {
  const char* markdown = arguments.markdown ? "--markdown " : "";
  fmt::print("{}", what);
  fmt::print("rerun:  {0} {1}{2}\nupdate: {0} --update {1}{2}\n", arguments.program, markdown,
             path);
}

// The first line break style and a missing last one are not the runner's concern.
bool same_lines(const std::string& a, const std::string& b) {
  return split_lines(a) == split_lines(b);
}

bool is_right(const std::string& path, const std::string& text, const std::vector<Tier>& tiers) {
  return std::all_of(tiers.begin(), tiers.end(), [&](const Tier& tier) {
    const Outcome outcome = run_file(path, text, tier);
    return outcome.problems.empty() && same_lines(outcome.text, text);
  });
}

// A file that is known to fail passes by failing as it says, and says what would be right.
bool is_known_failing(const std::string& path) {
  return path.find("known_failing/") != std::string::npos;
}

bool check(const Arguments& arguments, const std::string& path, std::string text,
           int updates_left) {
  std::vector<std::string> problems;
  std::vector<Tier> tiers{kLanes, kNative};
  if (!arguments.markdown) {
    const GoldenOptions options = golden_options(text, problems);
    if (!options.skip.empty() && problems.empty()) {
      fmt::print("{}: skipped: {}\n", path, options.skip);
      return true;
    }
    if (!options.native) tiers = {kLanes};
    if (!options.lanes) tiers = {kNative};
  }
  const std::string right = arguments.markdown ? "" : when_mended(text);
  if (right.empty() == is_known_failing(path)) {
    problems.push_back(is_known_failing(path)
                           ? "a file that is known to fail says what is right, by `// right:`"
                           : "`// right:` is for files that are known to fail");
  }
  if (problems.empty() && !right.empty() && is_right(path, right, tiers)) {
    fmt::print(
        "{}: mended: move it to the golden tests, with what stands behind `right:` as its "
        "expectation\n",
        path);
    return false;
  }
  std::vector<std::string> texts;
  for (const Tier& tier : tiers) {
    Outcome outcome = arguments.markdown ? run_markdown(text, tier) : run_file(path, text, tier);
    for (const std::string& problem : outcome.problems) {
      problems.push_back(fmt::format("{}, {}", problem, tier.name));
    }
    texts.push_back(std::move(outcome.text));
  }
  std::string what;
  for (const std::string& problem : problems) what += fmt::format("{}: {}\n", path, problem);
  if (!same_lines(texts.front(), texts.back())) {
    what += fmt::format("{}: the tiers disagree\n{}", path,
                        unified_diff(texts.front(), texts.back(), kLanes.name, kNative.name));
  }
  if (!what.empty()) {
    if (!same_lines(text, texts.front()))
      what += unified_diff(text, texts.front(), "expected", "actual");
    report(arguments, path, what);
    return false;
  }
  if (same_lines(text, texts.front())) return true;
  if (!arguments.update) {
    report(arguments, path,
           fmt::format("{}: not as expected\n{}", path,
                       unified_diff(text, texts.front(), "expected", "actual")));
    return false;
  }
  std::ofstream(path, std::ios::binary) << texts.front();
  fmt::print("{}: updated\n", path);
  // A file that now expects an error runs line by line, and goes on after it.
  return updates_left == 0 || check(arguments, path, std::move(texts.front()), updates_left - 1);
}

bool read_arguments(int argc, char** argv, Arguments& arguments) {
  arguments.program = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--update") {
      arguments.update = true;
    } else if (argument == "--markdown") {
      arguments.markdown = true;
    } else if (argument.starts_with("-")) {
      return false;
    } else {
      arguments.files.emplace_back(argument);
    }
  }
  return !arguments.files.empty();
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!read_arguments(argc, argv, arguments)) {
    fmt::print(stderr, "usage: {} [--update] [--markdown] FILE...\n", argv[0]);
    return 2;
  }
  constexpr int kMostUpdates = 3;
  bool all_right = true;
  for (const std::string& path : arguments.files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      fmt::print(stderr, "cannot open {}\n", path);
      return 2;
    }
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    try {
      all_right = check(arguments, path, text, kMostUpdates) && all_right;
    } catch (const std::exception& error) {
      fmt::print("{}: internal error: {}\n", path, error.what());
      all_right = false;
    }
    std::fflush(stdout);
  }
  return all_right ? 0 : 1;
}
