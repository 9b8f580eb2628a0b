#include "repl/check_rest.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "lang/visit.h"
#include "parser/resolve.h"
#include "repl/let_function.h"
#include "repl/text_errors.h"
#include "typecheck/infer.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::Expr;
using parser::Item;
using parser::ItemKind;

namespace {

class Rest {
 public:
  Rest(const lang::Module& module, parser::Reading reading)
      : module_(module), checker_(module_), reading_(std::move(reading)) {
    for (Item& item : reading_.parsed.items) {
      let_as_definition(item, [&](const std::string& name) { return function_called(name); });
      define(item);
    }
    for (const Item& item : reading_.parsed.items) {
      if (item.expr) note_mentions(item);
    }
    for (const Item* item : lost_) leave_out(*item);  // now that all that read them are known
  }

  std::vector<Diagnostic> errors() {
    TextErrors errors;
    for (const Diagnostic& error : reading_.errors) errors.add({error}, error.span);
    std::vector<const Item*> pending;
    for (const Item& item : reading_.parsed.items) {
      if (item.expr) pending.push_back(&item);
    }
    // Items that read a binding further down wait for it. What never comes is not checked.
    for (std::size_t before = pending.size() + 1; pending.size() < before;) {
      before = pending.size();
      std::erase_if(pending, [&](const Item* item) {
        if (unsound_.contains(item)) return true;
        if (waits(*item)) return false;
        std::vector<Diagnostic> found = check(*item);
        if (!found.empty()) leave_out(*item);
        errors.add(found, item->span);
        return true;
      });
    }
    return errors.take();
  }

 private:
  // Of this text, else of the module; null if that is none.
  const lang::Function* function_called(const std::string& name) const {
    for (const Item& item : reading_.parsed.items) {
      if (item.name != name || item.kind == ItemKind::Import) continue;
      return item.kind == ItemKind::Def ? lang::as<lang::Function>(item.expr) : nullptr;
    }
    const lang::Definition* definition = module_.find(name);
    return definition ? lang::as<lang::Function>(definition->function) : nullptr;
  }

  void define(const Item& item) {
    if (item.kind == ItemKind::Type) module_.define(item.type_def);
    if (!item.expr || item.kind == ItemKind::Expression) return;
    defined_.emplace(item.name, &item);
    if (item.kind == ItemKind::Def) {
      module_.define({item.name, item.expr, nullptr, lang::Origin::Own, "", item.span});
    } else {
      if (const lang::Definition* old = module_.find(item.name);
          old && old->origin == lang::Origin::Prelude) {
        lang::Definition moved = *old;
        moved.name = parser::name_in_prelude(item.name);
        module_.define(std::move(moved));
      }
      module_.remove(item.name);
      missing_.insert(&item);
    }
  }

  // What is neither of this text nor known before can only be something that was left out.
  void note_mentions(const Item& item) {
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
  bool waits(const Item& item) const {
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

  void leave_out(const Item& item) {
    std::vector<const Item*> work{&item};
    while (!work.empty()) {
      const Item* next = work.back();
      work.pop_back();
      if (!unsound_.insert(next).second) continue;
      const auto& readers = readers_[next];
      work.insert(work.end(), readers.begin(), readers.end());
    }
  }

  std::vector<Diagnostic> check(const Item& item) {
    if (item.kind == ItemKind::Def) {
      const std::string owner = owner_of_gradient(module_, item.name);
      const auto scheme =
          owner.empty() ? checker_.scheme(item.name) : checker_.check_gradient(owner);
      return scheme ? std::vector<Diagnostic>{} : scheme.errors();
    }
    const auto typed = checker_.check_value(item.expr, item.annotation);
    if (!typed) return typed.errors();
    if (item.kind == ItemKind::Let) {
      module_.define({item.name, nullptr, typed->type, lang::Origin::Own, "", item.span});
      missing_.erase(&item);
    }
    return {};
  }

  lang::Module module_;
  typecheck::Checker checker_;
  parser::Reading reading_;
  std::unordered_map<std::string, const Item*> defined_;
  std::unordered_map<const Item*, std::vector<const Item*>> mentions_;  // by way of globals
  std::unordered_map<const Item*, std::vector<const Item*>> readers_;
  std::unordered_set<const Item*> missing_;  // bindings without a type so far
  std::vector<const Item*> lost_;            // mention what was left out of the text
  std::unordered_set<const Item*> unsound_;
};

}  // namespace

std::vector<Diagnostic> check_rest(const lang::Module& module, parser::Reading reading) {
  return Rest(module, std::move(reading)).errors();
}

}  // namespace relay::repl
