// Runs the rows of files of cases: both tiers, against what NumPy gave, with `?` dims, and the
// gradients against differences.
//
//   oracle_runner [--only OPERATOR] CASES.tsv...
//   oracle_runner --complete LEAST NAMES LEDGER CASES-FOLDER
//
// The second form says which operators of Relay's work, are excused in the ledger, or are missing;
// something is wrong if any is missing, or if fewer than LEAST work.
// Prints what is wrong with a row after its place, and closes with a count. Exit code 1: something
// is wrong; 2: the call is.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/oracle/check.h"
#include "tests/oracle/completeness.h"

namespace {

using namespace relay::tests;  // NOLINT: the program's own file

struct Arguments {
  std::string only;
  std::vector<std::string> files;
};

bool read_arguments(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--only" && i + 1 < argc) {
      arguments.only = argv[++i];
    } else if (argument.starts_with("-")) {
      return false;
    } else {
      arguments.files.emplace_back(argument);
    }
  }
  return !arguments.files.empty();
}

// tests/oracle/cases/reduce.tsv has its results in tests/oracle/recorded/reduce.json.
std::string recorded_path(const std::filesystem::path& cases) {
  return (cases.parent_path().parent_path() / "recorded" / cases.stem()).string() + ".json";
}

int run_all(const Arguments& arguments) {
  CaseChecker checker;
  int rows = 0;
  int bad = 0;
  for (const std::string& file : arguments.files) {
    const Recorded recorded(recorded_path(file));
    std::set<std::string> keys;
    for (const CaseRow& row : read_cases(file)) {
      keys.insert(row.key);
      if (!arguments.only.empty() && row.op != arguments.only) continue;
      ++rows;
      const auto troubles = checker.check(row, recorded);
      bad += !troubles.empty();
      for (const std::string& trouble : troubles)
        fmt::print("{}: {}: {}\n", row.place, row.key, trouble);
    }
    for (const std::string& key : recorded.keys()) {
      if (keys.contains(key)) continue;
      ++bad;
      fmt::print("{}: recorded, and no row any more; run ./dev oracle\n", key);
    }
  }
  for (const std::string& code : checker.on_lanes()) {
    ++bad;
    fmt::print("no native code for `{}`\n", code);
  }
  fmt::print("{} rows, {} wrong, with {} native kernels\n", rows, bad, checker.native_kernels());
  fmt::print("{} times with extents that are no constants, {} more cannot be typed\n",
             checker.extents().tried - checker.extents().skipped, checker.extents().skipped);
  return bad > 0 ? 1 : 0;
}

void print_names(std::string_view what, const std::vector<std::string>& names) {
  fmt::print("{} {}\n", names.size(), what);
  for (const std::string& name : names) fmt::print("  {}\n", name);
}

int check_completeness(char** arguments) {
  const auto least = static_cast<std::size_t>(std::stoul(arguments[0]));
  const Completeness found = completeness(arguments[1], arguments[2], arguments[3]);
  fmt::print("{} operators of Relay's work, {} are excused\n", found.working.size(),
             found.excused.size());
  print_names("of Relay's have no record and are not named in the ledger", found.without_record);
  print_names("have no row in the table of cases", found.without_row);
  print_names("of ours alone have none, as steps of others", found.ours_without_row);
  print_names("have a derivative and no row in float64", found.without_gradient_row);
  print_names("are excused and have rows", found.wrongly_excused);
  const bool is_complete = found.without_record.empty() && found.without_row.empty() &&
                           found.without_gradient_row.empty() && found.wrongly_excused.empty();
  return is_complete && found.working.size() >= least ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 6 && std::string_view(argv[1]) == "--complete") {
    try {
      return check_completeness(argv + 2);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", argv[0], error.what());
      return 2;
    }
  }
  Arguments arguments;
  if (!read_arguments(argc, argv, arguments)) {
    fmt::print(stderr,
               "usage: {0} [--only OPERATOR] CASES.tsv...\n"
               "       {0} --complete LEAST NAMES LEDGER CASES-FOLDER\n",
               argv[0]);
    return 2;
  }
  try {
    return run_all(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 2;
  }
}
