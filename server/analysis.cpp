#include "server/analysis.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

#include "lang/type_print.h"
#include "server/uri.h"

namespace relay::server {

using lang::Diagnostic;
using lang::Origin;
using parser::Item;
using parser::ItemKind;
using parser::NameKind;
using parser::Occurrence;

namespace {

bool holds(lang::Span span, std::size_t offset) {
  return span.begin <= offset && offset <= span.end;
}

}  // namespace

Analysis::Analysis(std::string path, AnalysisOptions options)
    : path_(std::move(path)),
      canonical_path_(canonical(path_)),
      directory_(std::filesystem::path(path_).parent_path().string()),
      options_(std::move(options)),
      source_(std::make_unique<lang::Source>(path_, "")) {
  start_session();
}

Analysis::~Analysis() = default;

void Analysis::start_session() {
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.evaluate = false;
  options.reads_headers = false;
  options.seconds = options_.seconds;
  options.search_path = options_.search_path;
  if (!directory_.empty()) options.search_path.insert(options.search_path.begin(), directory_);
  options.edited = options_.edited;
  options.write = [](std::string_view) {};
  session_ = std::make_unique<repl::Session>(std::move(options));
  checker_ = std::make_unique<typecheck::Checker>(module_);
  right_.clear();
}

void Analysis::update(const std::string& text) {
  types_.clear();
  // What the old text was made into goes before the text.
  for (const Item& item : items()) {
    if (item.expr) checker_->forget(item.name);
  }
  auto source = std::make_unique<lang::Source>(path_, text);
  std::swap(source_, source);
  try {
    read_and_check();
  } catch (const std::exception& error) {
    // A mistake of ours: nothing is known of this version, and the next one is looked at anew.
    forget_all();
    diagnostics_.emplace_back(lang::DiagnosticKind::Unsupported,
                              fmt::format("not supported: internal error: {}", error.what()),
                              lang::Span{source_.get(), 0, 0});
  }
}

void Analysis::forget_all() {
  text_ = {};
  module_ = {};
  diagnostics_.clear();
  imports_.clear();
  environment_.clear();
  start_session();
}

void Analysis::read_and_check() {
  read();
  std::vector<std::string> imports;
  for (const Item& item : items()) {
    if (item.kind == ItemKind::Import) imports.emplace_back(item.span.text());
  }
  if (imports != imports_) {
    // What an import is called inside depends on those before it.
    imports_ = std::move(imports);
    text_ = {};
    module_ = {};
    start_session();
    read();
  }
  check();
}

void Analysis::read() {
  repl::ReadText read = session_->read(*source_, directory_);
  module_ = std::move(read.scope);
  text_ = std::move(read);
  const auto place = [](const Occurrence& each) {
    return std::tuple(each.span.begin, each.span.end, !each.is_definition);
  };
  parser::Occurrences& names = text_.occurrences;
  std::stable_sort(names.begin(), names.end(),
                   [&](const Occurrence& a, const Occurrence& b) { return place(a) < place(b); });
  names.erase(
      std::unique(names.begin(), names.end(),
                  [](const Occurrence& a, const Occurrence& b) { return a.span == b.span; }),
      names.end());
}

// Types and imports: what changes in them may change every item.
std::string Analysis::environment() const {
  std::string text;
  for (const lang::Definition* each : module_.definitions()) {
    if (each->origin != Origin::Imported) continue;
    text += fmt::format("{} {} {}\n", each->name, std::string_view(each->span.text()),
                        each->value_type ? lang::to_string(each->value_type) : "");
  }
  for (const auto& [name, full_name] : module_.aliases())
    text += fmt::format("{}={}\n", name, full_name);
  for (const lang::TypeDef* each : module_.types()) {
    if (each->origin != Origin::Prelude) text += fmt::format("{}\n", each->span.source->name());
  }
  return text;
}

void Analysis::check() {
  std::string environment = this->environment();
  const bool has_new_imports = environment != environment_;
  if (has_new_imports) checker_ = std::make_unique<typecheck::Checker>(module_);
  environment_ = std::move(environment);
  std::string types;
  for (const Item& item : items()) {
    if (item.kind == ItemKind::Type) types += fmt::format("{}\n", item.span.text());
  }
  diagnostics_ = text_.import_errors;
  if (!diagnostics_.empty()) {
    right_.clear();
    return;
  }
  if (has_new_imports || types != types_text_) right_.clear();
  types_text_ = std::move(types);
  std::vector<Diagnostic> warnings = std::move(text_.reading.parsed.warnings);
  std::move(text_.warnings.begin(), text_.warnings.end(), std::back_inserter(warnings));
  auto stopped = session_->within_limits([&] {
    UnchangedItems known(text_, *checker_, right_);
    repl::TextCheck check(module_, text_.prelude, *checker_, text_.reading);
    diagnostics_ = check.errors(&known);
    for (Diagnostic& each : check.take_warnings()) warnings.push_back(std::move(each));
    right_ = known.take_right();
  });
  if (!stopped.empty()) right_.clear();
  std::move(stopped.begin(), stopped.end(), std::back_inserter(diagnostics_));
  for (Diagnostic& each : warnings) {
    if (each.span.source == source_.get()) diagnostics_.push_back(std::move(each));
  }
  std::stable_sort(
      diagnostics_.begin(), diagnostics_.end(),
      [](const Diagnostic& a, const Diagnostic& b) { return a.span.begin < b.span.begin; });
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.span == b.span && a.kind == b.kind && a.message == b.message;
  };
  diagnostics_.erase(std::unique(diagnostics_.begin(), diagnostics_.end(), same),
                     diagnostics_.end());
}

const Occurrence* Analysis::occurrence_at(std::size_t offset) const {
  const Occurrence* found = nullptr;
  for (const Occurrence& each : occurrences()) {
    if (each.span.begin > offset) break;
    // The innermost: a field behind its record.
    if (holds(each.span, offset)) found = &each;
  }
  return found;
}

const Item* Analysis::item_at(std::size_t offset) const {
  const Item* found = nullptr;
  for (const Item& item : items()) {
    const bool is_inner =
        !found || item.span.end - item.span.begin < found->span.end - found->span.begin;
    if (item.expr && item.instance_of.empty() && holds(item.span, offset) && is_inner)
      found = &item;
  }
  return found;
}

const std::vector<typecheck::TypeAt>& Analysis::types_in(const Item& item) {
  const auto [place, is_new] = types_.try_emplace(&item);
  if (!is_new) return place->second;
  std::vector<typecheck::TypeAt>& types = place->second;
  within_limits([&] {
    types = item.kind == ItemKind::Def ? checker_->types_inside(item.name)
                                       : checker_->types_inside(item.expr, item.annotation);
  });
  std::erase_if(types, [&](const typecheck::TypeAt& each) {
    return each.span.source != source_.get() || !each.type;
  });
  return types;
}

std::optional<typecheck::TypeAt> Analysis::type_at(std::size_t offset) {
  const Item* item = item_at(offset);
  if (!item) return std::nullopt;
  const typecheck::TypeAt* found = nullptr;
  for (const typecheck::TypeAt& each : types_in(*item)) {
    if (!holds(each.span, offset)) continue;
    const auto length = each.span.end - each.span.begin;
    if (!found || length < found->span.end - found->span.begin) found = &each;
  }
  return found ? std::optional(*found) : std::nullopt;
}

}  // namespace relay::server
