#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/visit.h"
#include "opt/explain_compilers.h"
#include "opt/passes.h"
#include "repl/module_passes.h"
#include "repl/session_state.h"
#include "repl/show.h"

namespace relay::repl {

using lang::Expr;

namespace {

// What is written between commas.
std::vector<std::string> compilers_listed(const std::string& list) {
  std::vector<std::string> names(1);
  for (const char c : list) {
    if (c == ',') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  return names;
}

}  // namespace

lang::Result<std::string> Session::add_plugin(const std::string& path) {
  return impl_->entry_guarded([&] {
    if (impl_->options.files.is_limited()) {
      lang::fail(lang::DiagnosticKind::FileRefused,
                 "a plug-in may do anything, and this program may open some files only");
    }
    SessionCompilers& compilers = *impl_->pipeline.external_compilers();
    const std::string name = compilers.add_plugin(path);
    impl_->pipeline.forget();
    return fmt::format("the external compiler `{}` is {}\n", name,
                       compilers.get(name, {}).origin());
  });
}

void Session::add_compiler(std::unique_ptr<lang::ExternalCompiler> compiler) {
  impl_->pipeline.external_compilers()->add(std::move(compiler));
}

lang::Result<std::string> Session::external_compilers() {
  return impl_->entry_guarded([&] {
    SessionCompilers& compilers = *impl_->pipeline.external_compilers();
    std::string text;
    for (const std::string& name : compilers.names()) {
      const auto origin = lang::capture([&] { return compilers.get(name, {}).origin(); });
      text += fmt::format("{:<6} {}\n", name, origin ? *origin : "not in this program");
    }
    return text;
  });
}

lang::Result<Session::Passed> Session::partitioned(const std::string& compilers,
                                                   const std::string& text, bool is_strict) {
  const auto list = impl_->entry_guarded([&] {
    const std::vector<std::string> names = compilers_listed(compilers);
    for (const std::string& name : names) impl_->pipeline.external_compilers()->get(name, {});
    return fmt::format("\"{}\"", fmt::join(names, "\", \""));
  });
  if (!list) return list.errors();
  const std::string passes = fmt::format(
      "SimplifyInference, FoldConstant, AnnotateExternalCompiler({}), PartitionGraph", *list);
  return optimised({.passes = passes + " " + text, .is_strict = is_strict});
}

lang::Result<std::string> Session::who_runs(const std::string& text) {
  const lang::Source* source = impl_->sources.add("<why>", text);
  return impl_->entry_guarded([&] {
    const Expr typed =
        typed_for_showing(impl_->command_expression(*source), impl_->module, impl_->checker);
    SessionCompilers& compilers = *impl_->pipeline.external_compilers();
    std::vector<lang::ExternalCompiler*> all;
    for (const std::string& name : compilers.names()) {
      // One that this program was built without is none that could run something.
      const auto compiler = lang::capture([&] { return &compilers.get(name, {}); });
      if (compiler) all.push_back(*compiler);
    }
    // The functions that it calls, each once.
    std::vector<Expr> functions = {typed};
    std::set<std::string> seen;
    std::string told;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const Expr code = opt::to_anf(functions[i], &impl_->pipeline);
      told += opt::explain_compilers(code, all);
      lang::visit_post_order(code, [&](const Expr& node) {
        const auto* global = lang::as<lang::GlobalVar>(node);
        if (!global || !impl_->pipeline.is_function(global->name)) return;
        if (!node->type || !seen.insert(global->name + lang::to_string(node->type)).second) return;
        functions.push_back(impl_->checker.specialise(global->name, node->type).or_throw());
      });
    }
    return told.empty() ? std::string("there are no operators in it\n") : told;
  });
}

}  // namespace relay::repl
