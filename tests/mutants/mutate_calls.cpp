// Calls operators as nobody should: rows of the table of cases with mutated shapes, dtypes,
// elements and attributes, in both tiers. Each call must end with a value or a diagnostic, in time,
// and with the same one in both tiers; no crash, no internal error.
//
//   mutate_calls [--at NUMBER] [--only OPERATOR] CASES.tsv...
//
// RELAY_FUZZ_SEED and RELAY_FUZZ_COUNT: which calls, and how many. --at runs one of them and prints
// it. Calls run in child processes, a few hundred each, so that a crash is one call's. Exit code 1:
// something was found; 2: the call is wrong.

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "interp/eval.h"
#include "interp/stack.h"
#include "lang/sanitizer.h"
#include "lang/stop.h"
#include "repl/session.h"
#include "tests/mutants/call_mutator.h"
#include "tests/support/value_bits.h"

namespace {

using namespace relay;         // NOLINT: the program's own file
using namespace relay::tests;  // NOLINT

constexpr int kBatch = 250;
// A call that takes longer is interrupted, and must stop then.
constexpr unsigned kPatience = 3;
constexpr int kInterrupts = 12;  // seconds in which it must
constexpr rlim_t kMemory = rlim_t{3} << 30;
constexpr std::size_t kTextSize = 1 << 14;

// What the child is at, where the parent can read it.
struct Progress {
  long at;
  long found;
  long values;
  long interrupted;
  char text[kTextSize];
};
Progress* progress = nullptr;

int interrupts = 0;
void on_alarm(int) {
  lang::request_stop(lang::Stop::Interrupted);
  if (++interrupts > kInterrupts) _exit(3);
  alarm(1);
}

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
    progress->values += first.is_value;
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
    if (outcome.kind == "Interrupted") ++progress->interrupted;
    return outcome;
  }

  static Outcome run(repl::Session& session, const MutatedCall& call) {
    Outcome outcome;
    interrupts = 0;
    alarm(kPatience);
    try {
      outcome = evaluate(session, call);
    } catch (const std::bad_alloc&) {
      outcome.kind = "OutOfMemory";
    } catch (const std::exception& error) {
      outcome.trouble = fmt::format("an exception: {}", error.what());
    }
    alarm(0);
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
  long at = -1;
  std::vector<CaseRow> rows;
};

bool read_arguments(int argc, char** argv, Arguments& arguments) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--at" && i + 1 < argc) {
      arguments.at = std::strtol(argv[++i], nullptr, 10);
    } else if (argument == "--only" && i + 1 < argc) {
      arguments.only = argv[++i];
    } else if (argument.starts_with("-")) {
      return false;
    } else {
      files.emplace_back(argument);
    }
  }
  for (const std::string& file : files) {
    for (CaseRow& row : read_cases(file)) {
      // What reads the clock, files or the terminal is no function of its arguments.
      const bool is_pure = row.op != "save" && row.op != "load";
      if (is_pure && (arguments.only.empty() || row.op == arguments.only))
        arguments.rows.push_back(std::move(row));
    }
  }
  return !arguments.rows.empty();
}

long number_from(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtol(text, nullptr, 10) : otherwise;
}

class Farm {
 public:
  Farm(CallMutator mutator, long seed) : mutator_(std::move(mutator)), seed_(seed) {}

  MutatedCall call(long number) const {
    Random random(static_cast<std::uint64_t>(seed_) * 1'000'003 +
                  static_cast<std::uint64_t>(number));
    return mutator_.make(random);
  }

  std::string describe(const MutatedCall& call, long number) const {
    return fmt::format("{}{}\n  {}\n  inputs: {}\n  again: RELAY_FUZZ_SEED={} mutate_calls --at {}",
                       call.row.place, call.is_strided ? ", arguments spread out" : "",
                       function_text(call.row, call.dims), inputs_text(call.row), seed_, number);
  }

  // Runs calls from `begin` on in a child. Returns the first that has not been run.
  long run_batch(long begin, long end) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      work(begin, end);
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return end;
    const std::string how =
        WIFSIGNALED(status)
            ? fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
        : WEXITSTATUS(status) == 3 ? "no answer to an interrupt"
                                   : fmt::format("exit code {}", WEXITSTATUS(status));
    report(progress->text, how);
    return progress->at + 1;
  }

  void work(long begin, long end) {
    limit_memory();
    std::signal(SIGALRM, on_alarm);
    Tiers tiers;
    for (long number = begin; number < end; ++number) {
      const MutatedCall call = this->call(number);
      const std::string text = describe(call, number);
      progress->at = number;
      std::snprintf(progress->text, kTextSize, "%s", text.c_str());
      const std::string trouble = tiers.check(call);
      if (!trouble.empty()) report(text, trouble);
    }
  }

  static void report(std::string_view call, std::string_view what) {
    ++progress->found;
    fmt::print("{}\n  {}\n", call, what);
    std::fflush(stdout);
  }

 private:
  // What is reserved already counts too. The sanitizers reserve far more when they like.
  static void limit_memory() {
#ifndef RELAY_ASAN
    interp::EvaluationStack::instance();
    std::ifstream statm("/proc/self/statm");
    rlim_t data = 0;
    for (int field = 0; field < 6; ++field) statm >> data;
    const rlim_t most = data * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kMemory;
    const rlimit limit{most, most};
    setrlimit(RLIMIT_DATA, &limit);
#endif
  }

  CallMutator mutator_;
  long seed_;
};

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  try {
    if (!read_arguments(argc, argv, arguments)) {
      fmt::print(stderr, "usage: {} [--at NUMBER] [--only OPERATOR] CASES.tsv...\n", argv[0]);
      return 2;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 2;
  }
  progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (progress == MAP_FAILED) return 2;
  const long seed = number_from("RELAY_FUZZ_SEED", 1);
  const long count = number_from("RELAY_FUZZ_COUNT", 300);
  Farm farm(CallMutator(std::move(arguments.rows)), seed);
  if (arguments.at >= 0) {
    fmt::print("{}\n", farm.describe(farm.call(arguments.at), arguments.at));
    farm.run_batch(arguments.at, arguments.at + 1);
    return progress->found > 0 ? 1 : 0;
  }
  for (long number = 0; number < count;)
    number = farm.run_batch(number, std::min<long>(number + kBatch, count));
  fmt::print("{} mutated calls with seed {}: {} values, {} interrupted, {} found\n", count, seed,
             progress->values, progress->interrupted, progress->found);
  return progress->found > 0 ? 1 : 0;
}
