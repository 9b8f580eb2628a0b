#include "tests/oracle/check.h"

#include <cstdlib>

#include <fmt/format.h>

namespace relay::tests {
namespace {

repl::SessionOptions options_for(interp::JitMode mode) {
  repl::SessionOptions options;
  options.jit = mode;
  options.verify = true;
  return options;
}

std::string short_text(const lang::Value& value) {
  return lang::to_string(value, {.max_elements = 40});
}

double tolerance_of(const CaseRow& row) {
  constexpr std::string_view kWord = "tolerance=";
  for (const std::string& note : row.notes) {
    if (note.starts_with(kWord)) return std::strtod(note.c_str() + kWord.size(), nullptr);
  }
  return 0;
}

}  // namespace

std::string describe(const std::vector<lang::Diagnostic>& errors) {
  std::string text;
  for (const lang::Diagnostic& error : errors) text += "\n" + lang::render(error);
  return text;
}

CaseChecker::CaseChecker()
    : lanes_(options_for(interp::JitMode::Off)), native_(options_for(interp::JitMode::Always)) {}

std::int64_t CaseChecker::native_kernels() {
  return native_.evaluator().statistics().kernels_run_native;
}

lang::Result<lang::Value> CaseChecker::run(repl::Session& session, const CaseRow& row,
                                           CaseDims dims) {
  const auto function = session.evaluate(function_text(row, dims));
  if (!function) return function;
  return session.evaluator().call(*function, make_arguments(row));
}

std::vector<std::string> CaseChecker::check(const CaseRow& row, const Recorded& recorded) {
  std::vector<std::string> found;
  const auto result = run(lanes_, row, CaseDims::Constant);
  if (!result) return {"it fails:" + describe(result.errors())};
  const std::string difference = recorded.difference(row.key, *result, tolerance_of(row));
  if (!difference.empty()) found.push_back(difference);
  const auto same = [&](const char* what, const lang::Result<lang::Value>& other) {
    if (!other) {
      found.push_back(fmt::format("{} it fails:{}", what, describe(other.errors())));
    } else if (!lang::bit_equal(*result, *other)) {
      found.push_back(fmt::format("{} it gives other bits:\n{}\nand without:\n{}", what,
                                  short_text(*other), short_text(*result)));
    }
  };
  same("with the JIT", run(native_, row, CaseDims::Constant));
  if (!row.has_note("constant")) same("with `?` dims", run(lanes_, row, CaseDims::Any));
  if (has_gradient(row, *result)) {
    const std::string trouble = gradient_trouble(lanes_, row, *result);
    if (!trouble.empty()) found.push_back(trouble);
  }
  return found;
}

}  // namespace relay::tests
