#include "repl/main_call.h"

#include <fmt/format.h>

#include "interp/stack.h"
#include "parser/outline.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

parser::Outline outline_of(const lang::Source& source) {
  parser::Outline outline;
  interp::EvaluationStack::instance().run([&] { outline = parser::outline_of(source); });
  return outline;
}

std::string plural(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

}  // namespace

MainCall::MainCall(std::string file, const std::vector<std::string>& arguments)
    : file_(std::move(file)) {
  for (const std::string& argument : arguments) {
    const std::string name = fmt::format("<argument {}>", sources_.size() + 1);
    sources_.push_back(std::make_unique<lang::Source>(name, argument));
    interp::EvaluationStack::instance().run(
        [&] { values_.push_back(parser::read_value(*sources_.back())); });
  }
}

std::string MainCall::text() const {
  std::string text = "@main(";
  for (const parser::ValueText& value : values_) {
    if (&value != &values_.front()) text += ", ";
    text += value.text;
  }
  return text + ")";
}

std::vector<Diagnostic> MainCall::check_names(const lang::Module& module) const {
  std::vector<Diagnostic> wrong;
  for (const parser::ValueText& value : values_) {
    for (const lang::Span& name : value.names) {
      if (module.find_constructor(name.text()) && !module.find(std::string(name.text()))) continue;
      wrong.push_back(Diagnostic(DiagnosticKind::UnknownConstructor,
                                 fmt::format("`{}` is no constructor of `{}`", name.text(), file_),
                                 name)
                          .note("note: an argument is a value, and calls no functions"));
    }
  }
  return wrong;
}

std::vector<Diagnostic> MainCall::check(const lang::Source& file) const {
  const std::size_t count = values_.size();
  if (count == 0 && file.text().find("main") == std::string_view::npos) return {};
  const parser::Outline outline = outline_of(file);
  if (!outline.syntax_errors.empty()) return {};  // they are told when the file is run
  if (outline.has_expressions || !outline.has_main) {
    if (count == 0) return {};
    return {
        Diagnostic(DiagnosticKind::BadCommand,
                   fmt::format("`{}` takes no arguments: it has {}", file_,
                               outline.has_main ? "top-level expressions, so `@main` is not called"
                                                : "no `@main`"))};
  }
  if (!outline.main_parameters || outline.main_parameters->size() == count) {
    std::vector<Diagnostic> wrong;
    for (const parser::ValueText& value : values_)
      wrong.insert(wrong.end(), value.errors.begin(), value.errors.end());
    return wrong;
  }
  const auto& parameters = *outline.main_parameters;
  Diagnostic wrong(DiagnosticKind::BadCommand,
                   fmt::format("`@main` of `{}` takes {}, found {}", file_,
                               plural(parameters.size(), "argument"), count));
  if (!parameters.empty())
    wrong.note(fmt::format("note: for {} `{}`",
                           parameters.size() == 1 ? "the parameter" : "the parameters",
                           fmt::join(parameters, "`, `")));
  return {std::move(wrong)};
}

}  // namespace relay::repl
