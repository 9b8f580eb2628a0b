#include "tests/oracle/check.h"

#include <cstdlib>

#include <fmt/format.h>

#include "tests/support/native_code.h"
#include "tests/support/value_bits.h"

namespace relay::tests {
namespace {

repl::SessionOptions options_for(interp::JitMode mode, bool kernels = true) {
  repl::SessionOptions options;
  options.jit = mode;
  options.kernels = kernels ? repl::LibraryKernels::Auto : repl::LibraryKernels::Off;
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

bool can_be_typed(repl::Session& session, const std::string& text) {
  return static_cast<bool>(session.evaluate(text));
}

CaseChecker::CaseChecker()
    : lanes_(options_for(interp::JitMode::Off)),
      native_(options_for(interp::JitMode::Always)),
      plain_(options_for(interp::JitMode::Off, false)) {}

std::int64_t CaseChecker::native_kernels() {
  return native_.evaluator().statistics().kernels_run_native;
}

std::set<std::string> CaseChecker::on_lanes() {
  return without_native_code(native_.evaluator().statistics());
}

lang::Result<lang::Value> CaseChecker::run(repl::Session& session, const CaseRow& row,
                                           const CaseDims& dims, Arguments arguments) {
  const auto function = session.evaluate(function_text(row, dims));
  if (!function) return function;
  std::vector<lang::Value> args = make_arguments(row);
  if (arguments == Arguments::Strided) {
    for (lang::Value& arg : args) arg = spread_out(arg);
  }
  return session.evaluator().call(*function, std::move(args));
}

std::vector<std::string> CaseChecker::check(const CaseRow& row, const Recorded& recorded) {
  std::vector<std::string> found;
  const auto library_before = lanes_.evaluator().statistics().kernels_run_library;
  const auto result = run(lanes_, row, CaseDims::Constant);
  if (!result) return {"it fails:" + describe(result.errors())};
  const std::string difference = recorded.difference(row.key, *result, tolerance_of(row));
  if (!difference.empty()) found.push_back(difference);
  const bool is_library = lanes_.evaluator().statistics().kernels_run_library > library_before;
  const auto close = [&](const char* what, const lang::Result<lang::Value>& other) {
    const std::string wrong =
        other ? recorded.difference(row.key, *other, tolerance_of(row)) : describe(other.errors());
    if (!wrong.empty()) found.push_back(fmt::format("{}: {}", what, wrong));
  };
  if (is_library) close("without library kernels", run(plain_, row, CaseDims::Constant));
  const auto same_as = [&](const lang::Value& first, const char* what,
                           const lang::Result<lang::Value>& other) {
    if (!other) {
      found.push_back(fmt::format("{} it fails:{}", what, describe(other.errors())));
    } else if (!same_bits(first, *other)) {
      found.push_back(fmt::format("{} it gives other bits:\n{}\nand without:\n{}", what,
                                  short_text(*other), short_text(first)));
    }
  };
  const auto same = [&](const char* what, const lang::Result<lang::Value>& other) {
    same_as(*result, what, other);
  };
  same("with the JIT", run(native_, row, CaseDims::Constant));
  const auto strided_result = run(lanes_, row, CaseDims::Constant, Arguments::Strided);
  if (is_library && strided_result) {  // a library may not take them as they lie
    close("with strided arguments", strided_result);
    same_as(*strided_result, "with the JIT, of strided arguments",
            run(native_, row, CaseDims::Constant, Arguments::Strided));
  } else {
    same("with strided arguments", strided_result);
    same("with the JIT and strided arguments",
         run(native_, row, CaseDims::Constant, Arguments::Strided));
  }
  if (!row.has_note("constant")) {
    std::vector<CaseDims> all = single_extents(row);
    all.emplace_back(CaseDims::Symbolic);
    for (const CaseDims& dims : all) {
      ++extents_.tried;
      if (can_be_typed(lanes_, function_text(row, dims))) {
        same(("with " + dims.describe()).c_str(), run(lanes_, row, dims));
      } else {
        ++extents_.skipped;
      }
    }
    same("with `?` dims", run(lanes_, row, CaseDims::Any));
  }
  if (has_gradient(row, *result)) {
    const std::string trouble = gradient_trouble(lanes_, row, *result, extents_);
    if (!trouble.empty()) found.push_back(trouble);
  }
  return found;
}

}  // namespace relay::tests
