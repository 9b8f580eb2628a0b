// Runs records captured from another implementation of Relay and says where we differ.
//
//   conformance_runner [--differences FILE] [--if-present] RECORDS.jsonl...
//
// Prints a line for each record that differs and closes with `N of M agree`. Records that call an
// operator which we do not have are counted apart. FILE names the differences that are known: the
// record's id, a tab, and the reason; with it, exit code 1 means an unlisted difference or a listed
// one that is none. --if-present: where a file of records is missing, do nothing and exit with 77.
// A call that is wrong exits with 2.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "stdlib/register.h"
#include "tests/support/conformance_check.h"
#include "tests/support/conformance_record.h"

namespace {

using namespace relay::tests;  // NOLINT: the program's own file

constexpr int kSkipped = 77;  // what tests/CMakeLists.txt tells ctest

struct Arguments {
  std::string differences;
  bool if_present = false;
  std::vector<std::string> files;
};

struct Tally {
  int agree = 0;
  int checked = 0;
  int without_verdict = 0;
  int listed = 0;
  int not_comparable = 0;
  int not_read_back = 0;
  std::map<std::string, int> without_operator;  // by operator
  std::map<std::string, int> not_run;           // by kind
  int surprises = 0;
};

std::map<std::string, std::string> read_differences(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("cannot open {}", path));
  std::map<std::string, std::string> reasons;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos || tab + 1 == line.size())
      throw std::runtime_error(fmt::format("{}:{}: an id, a tab and a reason", path, number));
    if (!reasons.emplace(line.substr(0, tab), line.substr(tab + 1)).second)
      throw std::runtime_error(fmt::format("{}:{}: listed twice", path, number));
  }
  return reasons;
}

// What other programs of the same collection call is an operator too, also where a mutant calls it.
std::set<std::string> known_to_be_missing(const std::vector<std::string>& files) {
  std::set<std::string> folders;
  for (const std::string& file : files)
    folders.insert(std::filesystem::path(file).parent_path().string());
  std::set<std::string> names;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder)) {
      if (entry.path().extension() == ".jsonl")
        names.merge(missing_operators(read_records(entry.path().string())));
    }
  }
  return names;
}

void run(const Record& record, const std::set<std::string>& missing,
         const std::map<std::string, std::string>& reasons, Tally& tally) {
  if (!is_checked(record)) {
    ++tally.not_run[record.pass.empty() ? record.kind : record.pass];
    return;
  }
  if (!record.has_verdict) {
    ++tally.without_verdict;
    return;
  }
  if (const std::string name = mentioned(record, missing); !name.empty()) {
    ++tally.without_operator[name];
    return;
  }
  const Agreement outcome = check_record(record);
  if (!outcome.is_comparable) {
    ++tally.not_comparable;
    return;
  }
  ++tally.checked;
  tally.agree += outcome.agrees;
  tally.not_read_back += !outcome.reads_back;
  const auto reason = reasons.find(record.id);
  const bool is_listed = reason != reasons.end();
  const bool differs = !outcome.agrees || !outcome.reads_back;
  tally.listed += is_listed && differs;
  if (differs != is_listed) ++tally.surprises;
  const std::string note = is_listed ? fmt::format(" (known: {})", reason->second) : "";
  if (!outcome.agrees)
    fmt::print("{} {}: {}{}\n", record.id, record.kind, outcome.difference, note);
  if (!outcome.reads_back)
    fmt::print("{} {}: {}{}\n", record.id, record.kind, outcome.read_back_trouble, note);
  if (is_listed && !differs)
    fmt::print("{} {}: agrees, but is listed as a difference{}\n", record.id, record.kind, note);
}

void print_counts(std::string_view what, const std::map<std::string, int>& counts) {
  int all = 0;
  for (const auto& [name, count] : counts) all += count;
  if (all == 0) return;
  fmt::print("{} {}:", all, what);
  std::string_view separator = " ";
  for (const auto& [name, count] : counts) {
    fmt::print("{}{} {}", separator, count, name);
    separator = ", ";
  }
  fmt::print("\n");
}

bool read_arguments(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--differences" && i + 1 < argc) {
      arguments.differences = argv[++i];
    } else if (argument == "--if-present") {
      arguments.if_present = true;
    } else if (argument.starts_with("-")) {
      return false;
    } else {
      arguments.files.emplace_back(argument);
    }
  }
  return !arguments.files.empty();
}

int run_all(const Arguments& arguments) {
  for (const std::string& file : arguments.files) {
    if (!arguments.if_present || std::filesystem::exists(file)) continue;
    fmt::print("skipped: {} is not here\n", file);
    return kSkipped;
  }
  relay::stdlib::register_operators();
  std::map<std::string, std::string> reasons;
  if (!arguments.differences.empty()) reasons = read_differences(arguments.differences);
  const std::set<std::string> missing = known_to_be_missing(arguments.files);
  Tally tally;
  for (const std::string& file : arguments.files) {
    for (const Record& record : read_records(file)) run(record, missing, reasons, tally);
  }
  print_counts("records call operators that do not exist yet and were skipped",
               tally.without_operator);
  print_counts("records are of a kind that is not run yet", tally.not_run);
  if (tally.without_verdict > 0)
    fmt::print("{} records have no verdict and were skipped\n", tally.without_verdict);
  if (tally.not_comparable > 0)
    fmt::print("{} results of Relay's passes do not stand alone, or take no tensors\n",
               tally.not_comparable);
  if (tally.not_read_back > 0)
    fmt::print("{} programs do not read back as they print\n", tally.not_read_back);
  if (!reasons.empty()) fmt::print("{} differences are known\n", tally.listed);
  fmt::print("{} of {} agree\n", tally.agree, tally.checked);
  return !arguments.differences.empty() && tally.surprises > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!read_arguments(argc, argv, arguments)) {
    fmt::print(stderr, "usage: {} [--differences FILE] [--if-present] RECORDS.jsonl...\n", argv[0]);
    return 2;
  }
  try {
    return run_all(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 2;
  }
}
