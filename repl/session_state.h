#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "interp/eval.h"
#include "interp/profile.h"
#include "interp/stack.h"
#include "lang/call_site.h"
#include "lang/module.h"
#include "parser/parse.h"
#include "repl/deadline.h"
#include "repl/imports.h"
#include "repl/numbered_results.h"
#include "repl/pipeline.h"
#include "repl/read_text.h"
#include "repl/session.h"
#include "typecheck/infer.h"

// Private to the sources of Session.
namespace relay::repl {

// What a session is made of, and the steps from a text to definitions and values. Unless it says
// otherwise, a function throws lang::Failure.
struct Session::Impl {
  SessionOptions options;
  lang::SourceStore sources;
  lang::Module module;
  typecheck::Checker checker;
  Pipeline pipeline;
  interp::Evaluator evaluator;
  Imports imports;
  std::unique_ptr<interp::Profile> profile;
  std::unique_ptr<Debugger> debugger;
  lang::Module prelude;  // what an imported file sees besides its own imports
  NumberedResults results;
  std::map<std::string, std::set<std::string>> made_with;  // globals that a `let` mentions
  std::vector<lang::TypeDefRef> kept_types;                // of entries that were undone
  std::set<std::string> hidden;  // builtins whose names have been taken, which has been told

  explicit Impl(SessionOptions given);
  ~Impl();

  // What a caller asked for, within the limits of a run. A request to stop is over once its errors
  // tell of it; one that came too late for that stays, for what is asked for next.
  template <class F>
  auto entry(F&& body) -> decltype(body()) {
    lang::free_put_off();
    const Deadline deadline(options.seconds);
    auto outcome = body();
    settle_stop(errors_of(outcome));
    return outcome;
  }

  // Everything that recurses over programs runs on the evaluation stack, so nesting is bounded by
  // memory.
  template <class F>
  auto guarded(F&& body) -> lang::Result<decltype(body())> {
    using T = decltype(body());
    std::optional<lang::Result<T>> outcome;
    interp::EvaluationStack::instance().run([&] { outcome.emplace(lang::capture(body)); });
    if (outcome->ok()) return std::move(*outcome);
    std::vector<lang::Diagnostic> errors = outcome->errors();
    for (lang::Diagnostic& error : errors) lang::use_text_places(error);
    return errors;
  }

  template <class F>
  auto entry_guarded(F&& body) {
    return entry([&] { return guarded(body); });
  }

  // --- Definitions ---

  // What has been derived from the definition of that name is derived anew. Native code of other
  // functions stays where no definition mentions the name: that of `_`, most often.
  void forget(const std::string& name);
  // The definition or type of that name is gone, its value too.
  void remove(const std::string& name);
  // `:forget`; says what came of it (session_forget.cpp).
  std::string take_back(const std::string& name);
  void load_prelude();
  void define(const parser::Item& item, lang::Origin origin);
  struct Binding {
    std::string name;
    lang::Origin origin;
    std::string doc;
    lang::Span span;
  };
  // `value`: null where nothing is evaluated.
  void bind(const Binding& binding, const lang::Value* value, const lang::Type& type);
  // Makes a value that is shown `_`, and `_NUMBER` where results are numbered; the number, or 0.
  int bind_result(const lang::Value& value, const lang::Type& type, lang::Span span);
  void forget_old_results();
  // The names that a `let` item binds.
  void bind_all(const parser::Item& item, lang::Origin origin, const lang::Value* value,
                const lang::Type& type);

  // --- Texts ---

  // Of reading, for report_warnings.
  std::vector<lang::Diagnostic> warnings;

  // Names that had another meaning before the text at hand, and where they get the new one.
  std::map<std::string, lang::Span> changed;

  // Makes what a text imports visible in `scope`; loads what is not loaded yet, or has been edited
  // since. Of an imported file: itself, and what it exports of it; or null.
  void import_files(const lang::Source& source, parser::Notation notation,
                    const std::string& directory, lang::Module& scope, ImportedFile* importer,
                    Exports* passed_on);
  // Runs a text whose imports are looked for in `directory` first. Returns what went
  // wrong.
  std::vector<lang::Diagnostic> run_text(const lang::Source& source, const std::string& directory,
                                         const std::function<void(const ItemResult&)>& on_item,
                                         parser::Notation notation);
  // Returns what went wrong (session_run.cpp).
  std::vector<lang::Diagnostic> run_items(std::vector<parser::Item>& items,
                                          const std::function<void(const ItemResult&)>& on_item,
                                          lang::Origin origin);
  ItemResult run_expression(const parser::Item& item);
  // `:show plan` of an expression that was read (session.cpp).
  std::string plan_of(const lang::Expr& expr);
  ItemResult run_let(const parser::Item& item, lang::Origin origin);
  ItemResult run_def(const parser::Item& item);

  // --- Expressions ---

  // The one expression of a command's argument.
  lang::Expr command_expression(const lang::Source& source);
  lang::Expr checked(const lang::Expr& expr, const lang::Type& expected = nullptr);
  typecheck::CheckedValue checked_value(const lang::Expr& expr,
                                        const lang::Type& expected = nullptr);
  // With the types of the files that it loads, or as tensor_files.h says; the second fails with the
  // errors that the first collects.
  lang::Expr with_files(const lang::Expr& expr, const lang::Type& expected,
                        std::vector<lang::Diagnostic>& errors);
  lang::Expr with_files(const lang::Expr& expr, const lang::Type& expected = nullptr);
  lang::Expr ready(const lang::Expr& typed);
  lang::Value evaluate(const lang::Expr& typed, lang::Span place = {});  // for a profile
  // A function value is shown by its most general type: it need not be ground.
  bool is_polymorphic_function(const lang::Expr& expr);

 private:
  static const std::vector<lang::Diagnostic>* errors_of(const std::vector<lang::Diagnostic>& list) {
    return &list;
  }
  template <class T>
  static const std::vector<lang::Diagnostic>* errors_of(const lang::Result<T>& result) {
    return result ? nullptr : &result.errors();
  }
  void settle_stop(const std::vector<lang::Diagnostic>* errors);
  // Of what an imported file defines, now or again (session_import.cpp).
  void bring_up_to_date(ImportedFile& file, lang::Span span);
  void load(ImportedFile& file, lang::Span span);
  void reload(ImportedFile& file, lang::Span span);
  void add_export(const parser::Item& item, const std::string& prefix, Exports& exports);
  // Those of this text, each once: code is inferred for its scheme and again for each use.
  void report_warnings(const lang::Source& source);
  // `let (a, b) = e`; inference has seen to it that the pattern fits. `whole.name` is the prefix of
  // the names.
  void bind_parts(const lang::PatternRef& pattern, const Binding& whole, const lang::Value* value,
                  const lang::Type& type);
};

// The static type with `?` and unknown dims replaced by those of the value.
lang::Type concrete_type(const lang::Type& type, const lang::Value& value);

// Of a Def.
lang::Definition definition_of(const parser::Item& item, lang::Origin origin);
// What a let binds.
std::vector<std::string> names_of(const parser::Item& item);

}  // namespace relay::repl
