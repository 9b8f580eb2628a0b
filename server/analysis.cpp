#include "server/analysis.h"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>

#include "lang/type_print.h"
#include "lang/visit.h"
#include "typecheck/components.h"

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

constexpr std::string_view kGradient = ".gradient";

// Does it hold data of a type that the text itself defines? Such a type is another one when the
// text is read again.
bool has_own_data(const lang::Type& type) {
  if (const auto* adt = lang::as<lang::AdtType>(type)) {
    return adt->def->origin == Origin::Own ||
           std::any_of(adt->args.begin(), adt->args.end(), has_own_data);
  }
  if (const auto* tuple = lang::as<lang::TupleType>(type))
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), has_own_data);
  if (const auto* function = lang::as<lang::FunctionType>(type)) {
    return has_own_data(function->result) ||
           std::any_of(function->params.begin(), function->params.end(), has_own_data);
  }
  const auto* reference = lang::as<lang::ReferenceType>(type);
  return reference && has_own_data(reference->content);
}

}  // namespace

// Finds the items that say and mean what they did in the last version.
class Analysis::Known final : public repl::KnownItems {
 public:
  Known(const repl::ReadText& text, const std::unordered_map<std::string, lang::Type>& before)
      : before_(before) {
    const std::vector<Item>& items = text.reading.parsed.items;
    for (const Item& item : items) {
      if (item.expr) keys_[place_of(item)] = key_of(item, text.occurrences);
    }
    std::vector<std::string> changed;
    std::unordered_map<std::string, std::vector<const Item*>> readers;
    std::unordered_set<std::string> names;
    for (const Item& item : items) {
      if (!item.expr) continue;
      for (const std::string& name : typecheck::globals_of(item.expr))
        readers[name].push_back(&item);
      // A gradient has the type of its function.
      if (item.name.ends_with(kGradient))
        readers[item.name.substr(0, item.name.size() - kGradient.size())].push_back(&item);
      const bool is_changed = !before.contains(keys_[place_of(item)]);
      if (is_changed) changed_.insert(place_of(item));
      for (const std::string& name : defined_by(item)) {
        const bool is_second = !names.insert(name).second;
        if (is_changed || is_second) changed.push_back(name);
      }
    }
    while (!changed.empty()) {
      const std::string name = std::move(changed.back());
      changed.pop_back();
      for (const Item* reader : readers[name]) {
        if (!changed_.insert(place_of(*reader)).second) continue;
        for (const std::string& next : defined_by(*reader)) changed.push_back(next);
      }
    }
  }

  bool find(const Item& item, lang::Type& type) override {
    if (changed_.contains(place_of(item))) return false;
    const std::string& key = keys_[place_of(item)];
    type = before_.at(key);
    if (item.kind == ItemKind::Let && !type) return false;
    right.emplace(key, type);
    return true;
  }

  void add(const Item& item, const lang::Type& type) override {
    if (type && has_own_data(type)) return;
    right.emplace(keys_[place_of(item)], type);
  }

  std::unordered_map<std::string, lang::Type> right;

 private:
  // Items keep their places while they are checked; gradients and instances stand in others.
  using Place = std::string;
  static Place place_of(const Item& item) {
    return fmt::format("{}:{}:{}", item.span.begin, item.span.end, item.name);
  }

  static std::vector<std::string> defined_by(const Item& item) {
    std::vector<std::string> names;
    if (item.kind == ItemKind::Expression) return names;
    if (!item.pattern) return {item.name};
    lang::for_each_variable(item.pattern, [&](const lang::VariableRef& variable) {
      names.push_back(item.prefix + variable->name);
    });
    return names;
  }

  // What an item says, and what the names in it mean. The texts of globals are not in it.
  static std::string key_of(const Item& item, const parser::Occurrences& occurrences) {
    std::string key = fmt::format("{} {} {}\n", static_cast<int>(item.kind), item.name,
                                  std::string_view(item.span.text()));
    const auto first = std::lower_bound(
        occurrences.begin(), occurrences.end(), item.span.begin,
        [](const Occurrence& each, std::uint32_t begin) { return each.span.begin < begin; });
    for (auto each = first; each != occurrences.end() && each->span.end <= item.span.end; ++each) {
      key += static_cast<char>('a' + static_cast<int>(each->kind));
      if (each->kind == NameKind::Global || each->kind == NameKind::Operator) key += each->name;
      // Which of several locals of one name.
      if (each->kind == NameKind::Local && each->definition)
        key += std::to_string(each->definition.begin - item.span.begin);
      key += each->definition ? ' ' : '\n';
    }
    return key;
  }

  const std::unordered_map<std::string, lang::Type>& before_;
  std::unordered_map<Place, std::string> keys_;
  std::unordered_set<Place> changed_;
};

Analysis::Analysis(std::string path, AnalysisOptions options)
    : path_(std::move(path)),
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
    Known known(text_, right_);
    repl::TextCheck check(module_, text_.prelude, *checker_, text_.reading);
    diagnostics_ = check.errors(&known);
    for (Diagnostic& each : check.take_warnings()) warnings.push_back(std::move(each));
    right_ = std::move(known.right);
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
