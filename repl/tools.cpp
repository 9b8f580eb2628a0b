#include "repl/tools.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "interp/stack.h"
#include "lang/op.h"
#include "lang/utf8.h"
#include "parser/format.h"
#include "repl/display.h"
#include "repl/explain.h"
#include "repl/files.h"
#include "repl/output.h"
#include "repl/parts.h"
#include "repl/session.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

// Files do not see each other's definitions: each gets a session of its own.
bool check_file(const std::string& path, const std::vector<std::string>& search_path,
                const formats::FileAccess& files, Reporter& reporter) {
  SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.evaluate = false;
  options.search_path = search_path;
  options.files = files;
  options.reads_headers = false;
  options.warn = [&](const auto& warnings) { reporter.report(warnings); };
  Session session(std::move(options));
  const auto put_type = [](const ItemResult& item) {
    if (item.kind != parser::ItemKind::Expression) put_output(describe(item));
  };
  std::vector<Diagnostic> errors;
  if (path == "-") {
    auto text = read_file(path);
    errors = text ? session.run("<stdin>", std::move(*text), put_type) : text.errors();
  } else {
    errors = session.run_file(path, put_type);
  }
  reporter.report(errors);
  return errors.empty();
}

// Formatting recurses over the syntax tree, so it runs where nesting is bounded by memory only.
lang::Result<std::string> formatted(const lang::Source& source) {
  std::optional<lang::Result<std::string>> result;
  interp::EvaluationStack::instance().run([&] { result.emplace(parser::format(source)); });
  return std::move(*result);
}

// What is wrong with the file, or nothing.
std::vector<Diagnostic> format_file(const std::string& path, const FormatRequest& request,
                                    bool& differs, lang::SourceStore& sources) {
  auto text = read_file(path);
  if (!text) return text.errors();
  const lang::Source* source = sources.add(path == "-" ? "<stdin>" : path, std::move(*text));
  const auto result = formatted(*source);
  if (!result) return result.errors();
  const bool changed = *result != source->text();
  if (request.check) {
    if (changed) put_output(path + "\n");
    differs = differs || changed;
  } else if (!request.write || path == "-") {
    put_output(*result);
  } else if (changed) {
    const auto written = write_file(path, *result);
    if (!written) return written.errors();
  }
  return {};
}

// Those of the program itself, and its parts.
std::vector<std::string> commands() {
  std::vector<std::string> names = {"build_external", "check", "fmt", "grad", "opt", "tune"};
  for (const Part& part : parts()) names.emplace_back(part.command);
  return names;
}

// What people look for, and there is no command for yet.
struct Planned {
  std::string_view name;
  std::string_view instead;
};
constexpr std::array kPlanned = {
    Planned{"doc", "`:doc NAME` at the prompt"},
};

}  // namespace

int check_files(const std::vector<std::string>& paths, const std::vector<std::string>& search_path,
                const formats::FileAccess& files, Reporter& reporter) {
  bool ok = true;
  for (const std::string& path : paths) {
    if (paths.size() > 1)
      put_output(fmt::format("{}// {}\n", &path == &paths.front() ? "" : "\n",
                             lang::printable_line(path)));
    ok = check_file(path, search_path, files, reporter) && ok;
  }
  return ok ? 0 : kProgramError;
}

int format_files(const FormatRequest& request, Reporter& reporter) {
  if (request.converts) {
    reporter.report({Diagnostic(DiagnosticKind::Unsupported,
                                "not supported: `relay fmt` from one notation to the other")});
    return kProgramError;
  }
  if (request.paths.size() > 1 && !request.write && !request.check) {
    reporter.report({Diagnostic(DiagnosticKind::BadCommand,
                                "`relay fmt` prints one file, and several are given")
                         .note("help: `--write` rewrites them, `--check` compares them")});
    return kMisuse;
  }
  bool ok = true;
  bool differs = false;
  lang::SourceStore sources;
  for (const std::string& path : request.paths) {
    const auto errors = format_file(path, request, differs, sources);
    reporter.report(errors);
    ok = ok && errors.empty();
  }
  return ok && !differs ? 0 : kProgramError;
}

int explain_kind(const std::string& name, Reporter& reporter) {
  const auto text = explain(name);
  if (!text) {
    reporter.report(text.errors());
    return kMisuse;
  }
  put_output(*text);
  return 0;
}

bool is_unknown_command(const std::string& word) {
  if (word.empty() || word.front() == '-' || word.find_first_of("./\\") != std::string::npos)
    return false;
  const auto known = commands();
  if (std::find(known.begin(), known.end(), word) != known.end()) return false;
  std::error_code ignored;
  return !std::filesystem::is_regular_file(word, ignored);
}

int report_unknown_command(const std::string& word, Reporter& reporter) {
  for (const Planned& planned : kPlanned) {
    if (planned.name != word) continue;
    reporter.report(
        {Diagnostic(DiagnosticKind::Unsupported, fmt::format("not supported: `relay {}`", word))
             .note(fmt::format("help: {}", planned.instead))});
    return kMisuse;
  }
  Diagnostic diagnostic(DiagnosticKind::BadCommand,
                        fmt::format("there is neither a command nor a file `{}`", word));
  const auto known = commands();
  const auto close = lang::closest_names(word, known);
  diagnostic.note(close.empty()
                      ? fmt::format("note: the commands are `{}` and `{}`",
                                    fmt::join(known.begin(), known.end() - 1, "`, `"), known.back())
                      : fmt::format("help: did you mean `relay {}`?", close.front()));
  reporter.report({std::move(diagnostic)});
  return kMisuse;
}

}  // namespace relay::repl
