#include "repl/text_check.h"

#include <algorithm>
#include <optional>

#include "lang/record.h"
#include "lang/stop.h"
#include "lang/visit.h"
#include "parser/resolve.h"
#include "repl/left_behind.h"
#include "repl/let_function.h"
#include "repl/session_state.h"
#include "repl/set_aside.h"
#include "repl/text_errors.h"
#include "typecheck/components.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::Expr;
using parser::ItemKind;

TextCheck::TextCheck(lang::Module& module, lang::Module& prelude, typecheck::Checker& checker,
                     parser::Reading& reading)
    : module_(module), prelude_(prelude), checker_(checker), reading_(reading) {
  lets_as_definitions(reading_.parsed.items, module);
  for (const Item& item : reading_.parsed.items) define(item);
  for (const Item& item : reading_.parsed.items) {
    if (item.expr) note_mentions(item);
  }
  for (const Item* item : lost_) leave_out(*item);  // now that all that read them are known
}

std::vector<Diagnostic> TextCheck::errors(KnownItems* known) {
  TextErrors errors;
  for (const Diagnostic& error : reading_.errors) errors.add({error}, error.span);
  std::vector<Item*> pending;
  for (Item& item : reading_.parsed.items) {
    if (item.expr) pending.push_back(&item);
  }
  std::vector<std::pair<const Item*, lang::Type>> right;
  // Definitions that read a binding further down wait for it. What never comes is not checked.
  for (std::size_t before = pending.size() + 1; pending.size() < before;) {
    before = pending.size();
    std::erase_if(pending, [&](Item* item) {
      if (unsound_.contains(item)) return true;
      if (item->kind == ItemKind::Let) reach(*item);
      if (item->kind == ItemKind::Def && waits(*item)) return false;
      lang::Type type;
      if (known && known->find(*item, type)) {
        if (item->kind == ItemKind::Let) bind(*item, type);
        return true;
      }
      lang::poll();
      const auto checked = lang::capture([&] {
        type = check(*item);
        return true;
      });
      if (checked && item->kind == ItemKind::Let) bind(*item, type);
      if (checked && known) right.emplace_back(item, type);
      if (!checked) {
        std::vector<Diagnostic> found = checked.errors();
        help_with_order(found, reading_.parsed.items,
                        [&](const std::string& name) { return is_missing(name); });
        errors.add(found, item->span);
        if (item->kind == ItemKind::Let) bind_open(*item);
      }
      return true;
    });
  }
  for (Diagnostic& warning : checker_.take_warnings()) warnings_.push_back(std::move(warning));
  for (const auto& [item, type] : right) {
    const bool has_warning =
        std::any_of(warnings_.begin(), warnings_.end(), [&, place = item->span](const auto& each) {
          return each.span.source == place.source && lang::join(each.span, place) == place;
        });
    if (!has_warning) known->add(*item, type);
  }
  return errors.take();
}

void TextCheck::define(const Item& item) {
  if (item.kind == ItemKind::Type) {
    if (auto hidden = hidden_constructors(*item.type_def, module_))
      warnings_.push_back(std::move(*hidden));
    module_.define(item.type_def);
  }
  if (!item.expr || item.kind == ItemKind::Expression) return;
  for (const std::string& name : names_of(item)) {
    const bool is_first = defined_.emplace(name, &item).second;
    set_aside(name, item.span.source, module_, prelude_);
    if (item.kind != ItemKind::Let || !is_first) continue;
    // Its own value means what the name has meant before.
    const std::vector<std::string> read = typecheck::globals_of(item.expr);
    if (std::find(read.begin(), read.end(), name) == read.end()) module_.remove(name);
  }
  if (item.kind == ItemKind::Let) {
    missing_.insert(&item);
    return;
  }
  define_function(item);
}

// A `let` that only now is seen to be a definition.
void TextCheck::reach(Item& item) {
  for (const std::string& name : reach_let(item, module_)) checker_.forget(name);
  if (item.kind != ItemKind::Def) return;
  missing_.erase(&item);
  define_function(item);
  checker_.forget(item.name);
}

void TextCheck::define_function(const Item& item) {
  module_.define(definition_of(item, lang::Origin::Own));
}

// What is neither of this text nor known before can only be something that was left out.
void TextCheck::note_mentions(const Item& item) {
  lang::visit_post_order(item.expr, [&](const Expr& node) {
    const auto* global = lang::as<lang::GlobalVar>(node);
    if (!global) return;
    const auto found = defined_.find(global->name);
    if (found != defined_.end()) {
      readers_[found->second].push_back(&item);
      mentions_[&item].push_back(found->second);
    } else if (!module_.find(global->name)) {
      lost_.push_back(&item);
    }
  });
}

// Does it reach a binding whose type is not known yet?
bool TextCheck::waits(const Item& item) const {
  if (missing_.empty()) return false;
  std::unordered_set<const Item*> seen;
  std::vector<const Item*> work{&item};
  while (!work.empty()) {
    const Item* next = work.back();
    work.pop_back();
    if (!seen.insert(next).second) continue;
    if (next != &item && missing_.contains(next)) return true;
    if (const auto found = mentions_.find(next); found != mentions_.end())
      work.insert(work.end(), found->second.begin(), found->second.end());
  }
  return false;
}

bool TextCheck::is_missing(const std::string& name) const {
  const auto found = defined_.find(name);
  return found != defined_.end() && missing_.contains(found->second);
}

void TextCheck::leave_out(const Item& item) {
  std::vector<const Item*> work{&item};
  while (!work.empty()) {
    const Item* next = work.back();
    work.pop_back();
    if (!unsound_.insert(next).second) continue;
    const auto& readers = readers_[next];
    work.insert(work.end(), readers.begin(), readers.end());
  }
}

// The type of a `let`, else null. Throws Failure.
lang::Type TextCheck::check(const Item& item) {
  if (item.kind == ItemKind::Def) {
    const std::string owner = owner_of_gradient(module_, item.name);
    if (owner.empty()) {
      checker_.scheme(item.name).or_throw();
    } else {
      checker_.check_gradient(owner).or_throw();
    }
    return nullptr;
  }
  if (item.kind == ItemKind::Expression && is_function(item.expr, module_)) {
    checker_.type_of(item.expr).or_throw();
    return nullptr;
  }
  const lang::Type type = checker_.check_value(item.expr, item.annotation).or_throw().type;
  return item.kind == ItemKind::Let ? type : nullptr;
}

// Of a `let` with errors, or that depends on what was not looked at: nothing is demanded of what it
// binds.
void TextCheck::bind_open(const Item& item) {
  for (const std::string& name : names_of(item)) {
    module_.define(
        {name, nullptr, lang::incomplete_type(), lang::Origin::Own, item.doc, item.span});
  }
  missing_.erase(&item);
}

void TextCheck::bind(const Item& item, const lang::Type& type) {
  if (item.pattern) {
    bind_part(item.pattern, item, type);
  } else {
    module_.define({item.name, nullptr, type, lang::Origin::Own, item.doc, item.span});
  }
  missing_.erase(&item);
}

void TextCheck::bind_part(const lang::PatternRef& pattern, const Item& item,
                          const lang::Type& type) {
  if (pattern->kind == lang::PatternKind::Variable) {
    const lang::Variable& variable = *pattern->variable;
    module_.define(
        {item.prefix + variable.name, nullptr, type, lang::Origin::Own, item.doc, variable.span});
    return;
  }
  const auto* tuple = lang::as<lang::TupleType>(type);
  for (std::size_t i = 0; i < pattern->fields.size(); ++i) {
    bind_part(pattern->fields[i], item,
              tuple ? tuple->fields[i]
                    : lang::field_type(*lang::as<lang::AdtType>(type), *pattern->constructor, i));
  }
}

}  // namespace relay::repl
