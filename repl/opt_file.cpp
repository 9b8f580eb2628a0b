#include "repl/opt_file.h"

#include <cstdio>

#include <fmt/format.h>

#include "lang/attrs.h"
#include "lang/source.h"
#include "opt/analysis.h"
#include "opt/pass.h"
#include "parser/notation.h"
#include "repl/files.h"
#include "repl/module_passes.h"
#include "repl/output.h"
#include "repl/session.h"
#include "repl/tools.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

std::string describe_times(const Session::Passed& passed) {
  std::string text;
  for (const auto& [name, seconds] : passed.times)
    text += fmt::format("{:>10.3f} ms  {}\n", seconds * 1e3, name);
  return text;
}

// The list that is asked for; empty: none.
std::string passes_of(const OptRequest& request) {
  const std::string named =
      request.passes.empty() && request.level ? opt::pipeline_at(*request.level) : request.passes;
  if (request.rules.empty()) return named;
  const std::string first =
      fmt::format("Rewrite(rules={})", lang::AttrValue(request.rules).to_string());
  return named.empty() ? first : first + "," + named;
}

}  // namespace

int optimise_file(const OptRequest& request, const std::vector<std::string>& search_path,
                  const formats::FileAccess& files, Reporter& reporter) {
  if (request.list) {
    put_output(opt::describe_passes());
    return 0;
  }
  if (request.lists_analyses) {
    put_output(opt::describe_analyses());
    return 0;
  }
  const std::string chosen = passes_of(request);
  const bool hands_over = !request.compilers.empty();
  const bool is_asked = hands_over || !chosen.empty() || !request.analysis.empty();
  if (!is_asked || request.path.empty()) {
    reporter.report(
        {Diagnostic(DiagnosticKind::BadCommand, is_asked ? "which file?" : "which passes?")
             .note("help: `relay opt -p \"InferType,FuseOps\" FILE`, and `relay opt "
                   "--list` lists the passes")});
    return kMisuse;
  }
  // Before anything else: a list that is wrong is no mistake of the program.
  const lang::Source passes("-p", chosen);
  auto list = chosen.empty() ? lang::Result<PassList>(PassList{{}, 0}) : parse_passes(passes);
  if (list && chosen.find_first_not_of(" \t\n", list->end) != std::string::npos) {
    const auto end = static_cast<std::uint32_t>(list->end);
    list = Diagnostic(DiagnosticKind::SyntaxError, "expected `,` or the end of the list",
                      {&passes, end, end});
  }
  if (!list) {
    reporter.report(list.errors());
    return kMisuse;
  }
  auto text = read_file(request.path);
  if (!text) {
    reporter.report(text.errors());
    return kProgramError;
  }
  SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.evaluate = false;
  options.search_path = search_path;
  options.plugins = request.plugins;
  options.files = files;
  Session session(std::move(options));
  const bool is_strict =
      parser::is_strict(lang::Source(request.path, *text), parser::Notation::Auto);
  std::vector<Diagnostic> errors = request.path == "-"
                                       ? session.run("<stdin>", std::move(*text), nullptr)
                                       : session.run_file(request.path, nullptr);
  if (errors.empty()) {
    const auto passed = hands_over ? session.partitioned(request.compilers, "", is_strict)
                                   : session.optimised({.passes = chosen,
                                                        .is_strict = is_strict,
                                                        .shows_each = request.print_after,
                                                        .shows_differences = request.differences,
                                                        .level = request.level,
                                                        .bindings = request.bindings,
                                                        .analysis = request.analysis});
    if (passed) {
      const bool tells_generic = request.analysis.empty();
      for (const std::string& name : tells_generic ? passed->generic : std::vector<std::string>())
        put_error(fmt::format("relay: `{}` is generic, and stays as it is\n", name));
      put_output(passed->text);
      if (request.times) put_error(describe_times(*passed));
      return 0;
    }
    errors = passed.errors();
  }
  reporter.report(errors);
  reporter.hint("relay --explain");
  return kProgramError;
}

}  // namespace relay::repl
