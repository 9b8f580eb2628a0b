// Calls operators as nobody should: rows of the table of cases with mutated shapes, dtypes,
// elements and attributes, in both tiers. Each call must end with a value or a diagnostic, in time,
// and with the same one in both tiers; no crash, no internal error.
//
//   mutate_calls [--only OPERATOR] [CASES.tsv...]
//
// RELAY_SEED and RELAY_COUNT: which calls, and how many. Without files the whole table. Exit code
// 1: something was found; 2: the call is wrong.

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "interp/eval.h"
#include "repl/session.h"
#include "tests/mutants/call_mutator.h"
#include "tests/support/isolated_cases.h"
#include "tests/support/replay.h"
#include "tests/support/value_bits.h"

namespace {

using namespace relay;         // NOLINT: the program's own file
using namespace relay::tests;  // NOLINT

// A call that takes longer is interrupted, and must stop then.
constexpr unsigned kPatience = 3;

class Tiers {
 public:
  Tiers() : lanes_(options(interp::JitMode::Off)), native_(options(interp::JitMode::Always)) {}

  // What is wrong; empty if nothing is.
  std::string check(const MutatedCall& call) {
    const auto first = run(lanes_, call);
    if (!first.trouble.empty()) return "on lanes, " + first.trouble;
    const auto second = run(native_, call);
    if (!second.trouble.empty()) return "with native code, " + second.trouble;
    if (first.is_value != second.is_value || first.kind != second.kind) {
      const bool may_differ = is_limit(first.kind) || is_limit(second.kind);
      if (may_differ) return {};
      return fmt::format("the tiers disagree: {} on lanes, {} with native code", first.name(),
                         second.name());
    }
    if (first.is_value && !same_bits(first.value, second.value)) {
      return fmt::format("the tiers disagree: {} on lanes, {} with native code",
                         lang::to_string(first.value, {.max_elements = 20}),
                         lang::to_string(second.value, {.max_elements = 20}));
    }
    if (first.is_value) tally("values");
    return {};
  }

 private:
  struct Outcome {
    bool is_value = false;
    lang::Value value;
    std::string kind;  // of the first diagnostic
    std::string trouble;
    std::string name() const { return is_value ? "a value" : kind; }
  };

  static repl::SessionOptions options(interp::JitMode mode) {
    repl::SessionOptions options;
    options.jit = mode;
    options.threads = 1;
    options.write = [](std::string_view) {};
    return options;
  }

  // Which call meets the end of memory or of patience first is a matter of luck.
  static bool is_limit(const std::string& kind) {
    return kind == "OutOfMemory" || kind == "Interrupted";
  }

  static Outcome failed(const std::vector<lang::Diagnostic>& errors) {
    Outcome outcome;
    outcome.kind = std::string(lang::name_of(errors.front().kind));
    if (outcome.kind == "Interrupted") tally("interrupted");
    return outcome;
  }

  static Outcome run(repl::Session& session, const MutatedCall& call) {
    Outcome outcome;
    const Patience patience(kPatience);
    try {
      outcome = evaluate(session, call);
    } catch (const std::bad_alloc&) {
      outcome.kind = "OutOfMemory";
    } catch (const std::exception& error) {
      outcome.trouble = fmt::format("an exception: {}", error.what());
    }
    return outcome;
  }

  static Outcome evaluate(repl::Session& session, const MutatedCall& call) {
    const auto function = session.evaluate(function_text(call.row, call.dims));
    if (!function) return failed(function.errors());
    std::vector<lang::Value> args = make_arguments(call.row);
    if (call.is_strided) std::transform(args.begin(), args.end(), args.begin(), spread_out);
    auto result = session.evaluator().call(*function, std::move(args));
    if (!result) return failed(result.errors());
    Outcome outcome;
    outcome.is_value = true;
    outcome.value = std::move(*result);
    return outcome;
  }

  repl::Session lanes_;
  repl::Session native_;
};

struct Arguments {
  std::string only;
  std::vector<CaseRow> rows;
};

std::vector<std::string> all_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/oracle/cases"))
    if (entry.path().extension() == ".tsv") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

bool read_arguments(int argc, char** argv, Arguments& arguments) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--only" && i + 1 < argc) {
      arguments.only = argv[++i];
    } else if (argument.starts_with("-")) {
      return false;
    } else {
      files.emplace_back(argument);
    }
  }
  for (const std::string& file : files.empty() ? all_files() : files) {
    for (CaseRow& row : read_cases(file)) {
      // What reads the clock, files or the terminal is no function of its arguments.
      const bool is_pure = row.op != "save" && row.op != "load";
      if (is_pure && (arguments.only.empty() || row.op == arguments.only))
        arguments.rows.push_back(std::move(row));
    }
  }
  return !arguments.rows.empty();
}

std::string describe(const MutatedCall& call) {
  return fmt::format("{}{}\n  {}\n  inputs: {}", call.row.place,
                     call.is_strided ? ", arguments spread out" : "",
                     function_text(call.row, call.dims), inputs_text(call.row));
}

int run(int argc, char** argv) {
  Arguments arguments;
  if (!read_arguments(argc, argv, arguments)) {
    fmt::print(stderr, "usage: {} [--only OPERATOR] [CASES.tsv...]\n", argv[0]);
    return 2;
  }
  const CallMutator mutator(std::move(arguments.rows));
  const auto call = [&](std::uint64_t seed) {
    Random random(seed);
    return mutator.make(random);
  };
  std::unique_ptr<Tiers> tiers;
  IsolatedCases cases;
  cases.name = "mutated calls";
  cases.arguments = fmt::format("{}", fmt::join(argv + 1, argv + argc, " "));
  cases.first = first_seed();
  cases.count = case_count(300, 300);
  cases.begin = [&] { tiers = std::make_unique<Tiers>(); };
  cases.describe = [&](std::uint64_t seed) { return describe(call(seed)); };
  cases.check = [&](std::uint64_t seed) { return tiers->check(call(seed)); };
  return run_isolated(cases);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 2;
  }
}
