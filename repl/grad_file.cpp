#include "repl/grad_file.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include <fmt/format.h>

#include "lang/derivative.h"
#include "lang/op.h"
#include "repl/files.h"
#include "repl/named_function.h"
#include "repl/output.h"
#include "repl/session.h"
#include "repl/tools.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

bool is_name(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
}

// The function that is meant; a diagnostic where the file has none of that name.
lang::Result<std::string> chosen(const GradRequest& request, Session& session) {
  const std::vector<std::string> names = own_functions(session.module());
  std::string wanted = request.function;
  if (!wanted.empty() && wanted.front() == '@') wanted.erase(0, 1);
  if (wanted.empty()) {
    if (names.size() == 1) return names.front();
    Diagnostic diagnostic(DiagnosticKind::BadCommand,
                          names.empty() ? fmt::format("there is no function in `{}`", request.path)
                                        : fmt::format("which function of `{}`?", request.path));
    if (!names.empty()) {
      diagnostic.note(fmt::format("help: `-f {}`", names.back()));
      diagnostic.note("note: it has " + list_of(names));
    }
    return diagnostic;
  }
  if (!is_name(wanted) || session.module().lookup(wanted) ||
      lang::OpRegistry::instance().find(wanted))
    return wanted;
  return no_such_function(session.module(), wanted, request.path);
}

}  // namespace

int print_gradient(const GradRequest& request, const std::vector<std::string>& search_path,
                   const formats::FileAccess& files, Reporter& reporter) {
  const auto mode = lang::parse_diff_mode(request.mode);
  if (!mode) {
    const std::vector<std::string> names = lang::derivative_names();
    Diagnostic diagnostic(DiagnosticKind::BadCommand,
                          fmt::format("there is no mode `{}`", request.mode));
    const auto close = lang::closest_names(request.mode, names);
    if (!close.empty()) diagnostic.note(fmt::format("help: did you mean `{}`?", close.front()));
    diagnostic.note("note: the modes are " + list_of(names));
    reporter.report({std::move(diagnostic)});
    return kMisuse;
  }
  SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.evaluate = false;
  options.search_path = search_path;
  options.files = files;
  Session session(std::move(options));
  std::vector<Diagnostic> errors;
  if (request.path == "-") {
    auto text = read_file(request.path);
    errors = text ? session.run("<stdin>", std::move(*text), nullptr) : text.errors();
  } else {
    errors = session.run_file(request.path, nullptr);
  }
  if (errors.empty()) {
    const auto function = chosen(request, session);
    const auto text =
        function ? session.derivative(*function, *mode, request.strict, true) : function;
    if (text) {
      put_output(*text + "\n");
      return 0;
    }
    errors = text.errors();
  }
  reporter.report(errors);
  reporter.hint("relay --explain");
  return kProgramError;
}

}  // namespace relay::repl
