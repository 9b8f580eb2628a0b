#include "repl/opt_file.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "interp/stack.h"
#include "lang/attrs.h"
#include "lang/module.h"
#include "lang/print.h"
#include "lang/source.h"
#include "opt/analysis.h"
#include "opt/pass.h"
#include "opt/pass_program.h"
#include "parser/notation.h"
#include "parser/parse.h"
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

// Around the functions and types of a file: what else is in it, in light notation.
class RestOfFile {
 public:
  // Throws Failure.
  RestOfFile(const lang::Source& text, lang::Module& module) : module_(module) {
    const parser::Parsed parsed = parser::parse(text, module).or_throw();
    for (const parser::Item& item : parsed.items) {
      const std::string written(item.span.text());
      if (item.kind == parser::ItemKind::Import) imports_ += written + "\n";
      const bool is_let = item.kind == parser::ItemKind::Let;
      if (!is_let && item.kind != parser::ItemKind::Expression) continue;
      const lang::Definition* definition = is_let && !item.pattern ? find(item.name) : nullptr;
      if (definition && definition->function) continue;  // printed as what it is, a function
      const std::vector<std::string> used = opt::functions_mentioned_in(item.expr).called;
      used_.insert(used.begin(), used.end());
      items_ += as_it_is_called(item, used).value_or(written) + (item.hide_value ? ";\n" : "\n");
    }
  }

  const std::string& imports() const { return imports_; }
  bool has_items() const { return !items_.empty(); }
  bool uses(const std::string& name) const { return used_.contains(name); }

  // Functions that passes have dropped, and that are used here, are as they were.
  std::string around(const Session::Passed& passed) const {
    std::string text = imports_ + passed.text;
    const std::set<std::string> defined(passed.defined.begin(), passed.defined.end());
    std::set<std::string> seen = used_;
    std::vector<std::string> open(seen.begin(), seen.end());
    while (!open.empty()) {
      const std::string name = std::move(open.back());
      open.pop_back();
      const lang::Definition* definition = find(name);
      if (!definition || !definition->function) continue;
      if (!defined.contains(name))
        text += lang::print_light_definition(name, definition->function, &module_) + "\n";
      for (const std::string& each : opt::functions_mentioned_in(definition->function).called) {
        if (seen.insert(each).second) open.push_back(each);
      }
    }
    return text + items_;
  }

 private:
  const lang::Definition* find(const std::string& name) const {
    const lang::Definition* definition = module_.find(name);
    return definition && definition->origin == lang::Origin::Own ? definition : nullptr;
  }

  // Defaults and attributes are part of calls by now: printed functions have none.
  std::optional<std::string> as_it_is_called(const parser::Item& item,
                                             const std::vector<std::string>& used) const {
    const bool is_plain = std::none_of(used.begin(), used.end(), [&](const std::string& name) {
      const lang::Definition* definition = find(name);
      return definition && (definition->parameters || !definition->instance_of.empty());
    });
    if (is_plain) return std::nullopt;
    std::string value = lang::print_light(item.expr, &module_);
    if (lang::as<lang::Let>(item.expr)) value = "{\n" + value + "\n}";
    if (item.kind == parser::ItemKind::Expression) return value;
    const std::string target = item.pattern ? std::string(item.pattern->span.text()) : item.name;
    const std::string type =
        item.annotation && !item.pattern ? ": " + lang::to_string(item.annotation) : "";
    return fmt::format("let {}{} = {}", target, type, value);
  }

  lang::Module& module_;
  std::string imports_;
  std::string items_;
  std::set<std::string> used_;
};

// What is printed of a file after passes.
lang::Result<std::string> whole_file(const Session::Passed& passed, const lang::Source& text,
                                     const Bindings& bindings, lang::Module& module) {
  std::optional<lang::Result<std::string>> whole;
  // Texts may nest deeply.
  interp::EvaluationStack::instance().run([&] {
    whole.emplace(lang::capture([&] {
      const RestOfFile rest(text, module);
      if (!bindings.list.empty() && rest.uses(bindings.function)) {
        lang::fail(DiagnosticKind::Unsupported,
                   fmt::format("not supported: `--bind` of a parameter of `{}`, which a top-level "
                               "binding or expression uses",
                               bindings.function));
      }
      if (!passed.has_changed_meaning) return rest.around(passed);
      if (rest.has_items()) {
        put_error(
            "relay: functions are gradients now, and top-level bindings and expressions are left "
            "out\n");
      }
      return rest.imports() + passed.text;
    }));
  });
  return std::move(*whole);
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
  const lang::Source whole(request.path, *text);
  const bool is_strict = parser::is_strict(whole, parser::Notation::Auto);
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
      const bool is_program =
          !is_strict && request.analysis.empty() && !request.print_after && !request.differences;
      const lang::Result<std::string> printed =
          is_program ? whole_file(*passed, whole, request.bindings, session.module())
                     : lang::Result<std::string>(passed->text);
      if (printed) {
        put_output(*printed);
        if (request.times) put_error(describe_times(*passed));
        return 0;
      }
      errors = printed.errors();
    } else {
      errors = passed.errors();
    }
  }
  reporter.report(errors);
  reporter.hint("relay --explain");
  return kProgramError;
}

}  // namespace relay::repl
