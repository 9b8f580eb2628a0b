#include "repl/opt_file.h"

#include <cstdio>

#include <fmt/format.h>

#include "lang/source.h"
#include "opt/pass_list.h"
#include "parser/notation.h"
#include "repl/files.h"
#include "repl/output.h"
#include "repl/session.h"
#include "repl/tools.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

int optimise_file(const OptRequest& request, const std::vector<std::string>& search_path,
                  const formats::FileAccess& files, Reporter& reporter) {
  if (request.list) {
    put_output(opt::describe_passes());
    return 0;
  }
  if (request.passes.empty() || request.path.empty()) {
    reporter.report({Diagnostic(DiagnosticKind::BadCommand,
                                request.passes.empty() ? "which passes?" : "which file?")
                         .note("help: `relay opt -p \"InferType,FuseOps\" FILE`, and `relay opt "
                               "--list` lists the passes")});
    return kMisuse;
  }
  // Before anything else: a list that is wrong is no mistake of the program.
  const lang::Source passes("-p", request.passes);
  if (const auto calls = opt::parse_passes(passes); !calls) {
    reporter.report(calls.errors());
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
  options.files = files;
  Session session(std::move(options));
  const bool is_strict =
      parser::is_strict(lang::Source(request.path, *text), parser::Notation::Auto);
  std::vector<Diagnostic> errors = request.path == "-"
                                       ? session.run("<stdin>", std::move(*text), nullptr)
                                       : session.run_file(request.path, nullptr);
  if (errors.empty()) {
    std::vector<std::string> generic;
    const auto module = session.optimised(request.passes, is_strict, generic);
    if (module) {
      for (const std::string& name : generic)
        put_error(fmt::format("relay: `{}` is generic, and stays as it is\n", name));
      put_output(*module);
      return 0;
    }
    errors = module.errors();
  }
  reporter.report(errors);
  reporter.hint("relay --explain");
  return kProgramError;
}

}  // namespace relay::repl
