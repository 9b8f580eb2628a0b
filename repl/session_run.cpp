#include <map>
#include <optional>
#include <set>

#include "lang/memory.h"
#include "lang/stop.h"
#include "lang/visit.h"
#include "repl/left_behind.h"
#include "repl/let_function.h"
#include "repl/session_state.h"
#include "repl/set_aside.h"
#include "repl/text_errors.h"

namespace relay::repl {

using lang::Definition;
using lang::Diagnostic;
using lang::Expr;
using lang::Origin;
using lang::Type;
using parser::Item;
using parser::ItemKind;

// One text on its way through a session. After the first failure nothing more is evaluated, but
// what follows is still checked, so that all errors are reported at once.
class Session::Run {
 public:
  // Files that cannot be read, and who loads them.
  struct Unread {
    std::vector<Diagnostic> errors;
    std::set<std::string> definitions;
  };

  Run(Impl& session, std::vector<Item>& items,
      const std::function<void(const ItemResult&)>& on_item, Origin origin, Unread unread)
      : session_(session),
        items_(items),
        on_item_(on_item),
        origin_(origin),
        undo_{session.module},
        pending_(std::move(unread.definitions)),
        stopped_(!unread.errors.empty()) {
    for (const Diagnostic& error : unread.errors) errors_.add({error}, error.span);
  }

  std::vector<Diagnostic> operator()() {
    try {
      define_all();
      run_all();
    } catch (...) {
      if (!lang::is_ending()) restore_all();
      if (origin_ == Origin::Own) session_.changed.clear();
      throw;
    }
    restore_failed();
    if (origin_ == Origin::Own && !errors_.is_stopped()) warn_of_stale();
    if (origin_ == Origin::Own) session_.changed.clear();
    return errors_.take();
  }

 private:
  // What definitions were before a text replaced them; put back when the text's own fails.
  struct Undo {
    lang::Module& module;
    std::map<std::string, lang::DefinitionRef> before = {};  // null: there was none
    void note(const std::string& name) { before.emplace(name, module.held(name)); }
    void restore(const std::string& name) {
      const auto found = before.find(name);
      if (found != before.end()) restore(name, found->second);
    }
    void restore(const std::string& name, const lang::DefinitionRef& old) {
      if (old) {
        module.define(old);
      } else {
        module.remove(name);
      }
    }
  };

  void define_all() {
    lets_as_definitions(items_, session_.module);
    for (const Item& item : items_) {
      lang::poll();
      if (item.kind == ItemKind::Def) {
        undo_.note(item.name);
        const lang::Span name = name_span({item.name, item.expr, nullptr, origin_, "", item.span});
        note_hidden(item.name, name ? name : item.span);
        note_change(item.name, item.span);
      }
      if (item.kind == ItemKind::Let) {
        for (const std::string& name : names_of(item)) {
          note_hidden(name, item.span);
          note_change(name, item.span);
          if (!session_.module.find(name)) pending_.insert(name);
          if (origin_ == Origin::Own)
            set_aside(name, item.span.source, session_.module, session_.prelude);
        }
      }
      if (item.kind == ItemKind::Type) note_changed_type(item.name, item.span);
      session_.define(item, origin_);
      if (item.kind == ItemKind::Def) session_.forget(item.name);
    }
  }

  // A name that an earlier text has defined gets another meaning.
  void note_change(const std::string& name, lang::Span span) {
    const Definition* old = session_.module.find(name);
    if (origin_ == Origin::Own && old && old->origin == Origin::Own)
      session_.changed.insert_or_assign(name, span);
  }

  void note_changed_type(const std::string& name, lang::Span span) {
    const lang::TypeDef* old = session_.module.find_type(name);
    if (origin_ == Origin::Own && old && old->origin == Origin::Own)
      changed_types_.push_back({old, span});
  }

  void note_hidden(const std::string& name, lang::Span span) {
    if (origin_ != Origin::Own || !session_.options.interactive) return;
    std::optional<Diagnostic> hidden = hidden_builtin(name, span, session_.module);
    if (hidden && session_.hidden.insert(name).second)
      session_.warnings.push_back(std::move(*hidden));
  }

  void warn_of_stale() {
    auto changed = std::exchange(session_.changed, {});
    for (const std::string& name : failed_) changed.erase(name);
    if (changed.empty() && changed_types_.empty()) return;
    for (auto& [name, span] : changed) {
      const Definition* definition = session_.module.find(name);
      const lang::Span place = definition ? name_span(*definition) : lang::Span();
      if (place && place.source == span.source) span = place;
    }
    // What ends it comes too late for the text, which is done.
    static_cast<void>(session_.guarded([&] {
      for (Diagnostic& stale : stale_definitions(changed, session_.module, session_.checker))
        session_.warnings.push_back(std::move(stale));
      for (Diagnostic& left : left_with_older(changed_types_, session_.module, session_.checker))
        session_.warnings.push_back(std::move(left));
      return true;
    }));
  }

  void restore_all() {
    for (const auto& [name, old] : undo_.before) {
      undo_.restore(name, old);
      session_.forget(name);
    }
    for (const std::string& name : failed_) session_.forget(name);
  }

  void restore_failed() {
    for (const std::string& name : failed_) {
      undo_.restore(name);
      session_.forget(name);
    }
  }

  void run_all() {
    for (Item& item : items_) {
      if (errors_.is_stopped()) return;
      std::vector<std::string> bound;
      if (item.kind == ItemKind::Let) {
        bound = names_of(item);
        reach(item);
      }
      if (item.kind == ItemKind::Def) {
        const bool settles = settle(bound);
        run_definition(item);
        if (settles) run_deferred();
        continue;
      }
      if (stopped_ || !evaluate(item)) check_only(item);
      if (settle(bound)) run_deferred();
    }
    for (const Item* definition : deferred_) fail(*definition);
  }

  // A `let` that only now is seen to be a definition.
  void reach(Item& item) {
    for (const std::string& name : reach_let(item, session_.module)) session_.forget(name);
    if (item.kind != ItemKind::Def) return;
    undo_.note(item.name);
    session_.define(item, origin_);
    session_.forget(item.name);
  }

  // Was one of the names pending?
  bool settle(const std::vector<std::string>& names) {
    std::size_t settled = 0;
    for (const std::string& name : names) settled += pending_.erase(name);
    return settled > 0;
  }

  void run_deferred() {
    const std::vector<const Item*> waiting = std::exchange(deferred_, {});
    for (const Item* definition : waiting) run_definition(*definition);
  }

  void run_definition(const Item& item) {
    if (!pending_.empty() && reaches_pending(item.name)) {
      deferred_.push_back(&item);
    } else if (!evaluate(item)) {
      fail(item);
    }
  }

  void fail(const Item& definition) {
    failed_.push_back(definition.name);
    const std::string owner = owner_of_gradient(session_.module, definition.name);
    if (!owner.empty()) failed_.push_back(owner);
  }

  // Does the definition reach a pending `let` through the definitions of this module?
  bool reaches_pending(const std::string& from) {
    std::set<std::string> seen;
    std::vector<std::string> work{from};
    while (!work.empty()) {
      const std::string name = std::move(work.back());
      work.pop_back();
      if (pending_.count(name)) return true;
      if (independent_.count(name) || !seen.insert(name).second) continue;
      const Definition* definition = session_.module.find(name);
      if (!definition || !definition->function || definition->origin == Origin::Prelude) continue;
      lang::visit_post_order(definition->function, [&](const Expr& node) {
        if (const auto* global = lang::as<lang::GlobalVar>(node)) work.push_back(global->name);
      });
    }
    independent_.merge(seen);
    return false;
  }

  bool evaluate(const Item& item) {
    auto result = session_.guarded([&] {
      switch (item.kind) {
        case ItemKind::Def:
          return session_.run_def(item);
        case ItemKind::Let:
          return session_.run_let(item, origin_);
        case ItemKind::Expression:
          return session_.run_expression(item);
        case ItemKind::Type:
          return ItemResult{ItemKind::Type, item.type_def->name, "", {}, true, item.span};
        case ItemKind::Import:  // its definitions are there already
          break;
      }
      return ItemResult{ItemKind::Import, item.name, "", {}, true, item.span};
    });
    if (!result && result.errors().empty() && !stopped_) {
      leave_open(item);
      return true;
    }
    if (!result) {
      add_errors(result.errors(), item);
      stopped_ = true;
    } else if (on_item_ && item.instance_of.empty()) {
      on_item_(*result);
    }
    return static_cast<bool>(result);
  }

  void add_errors(std::vector<Diagnostic> found, const Item& item) {
    help_with_order(found, items_,
                    [&](const std::string& name) { return pending_.contains(name); });
    errors_.add(found, item.span);
  }

  // Nothing is wrong with the item, but it depends on what was not looked at: a file that was not
  // opened.
  void leave_open(const Item& item) {
    if (item.kind == ItemKind::Let) bind_open(item);
    ItemResult result{item.kind, item.name, "_", {}, true, item.span};
    if (item.pattern) result.name = item.pattern->span.text();
    if (on_item_ && item.instance_of.empty()) on_item_(result);
  }

  void bind_open(const Item& item) {
    for (const std::string& name : names_of(item))
      session_.bind({name, origin_, "", item.span}, nullptr, lang::incomplete_type());
  }

  // A `let` that has no value has a type for those who read it: its own, or `_`, of which nothing
  // is demanded.
  void check_only(const Item& item) {
    if (errors_.is_stopped()) return;
    if (item.kind != ItemKind::Let && item.kind != ItemKind::Expression) return;
    const auto type = session_.guarded([&]() -> Type {
      if (item.kind == ItemKind::Let)
        return session_.checked_value(item.expr, item.annotation).type;
      if (!session_.is_polymorphic_function(item.expr)) return session_.checked(item.expr)->type;
      return session_.checker.type_of(session_.with_files(item.expr)).or_throw().type;
    });
    if (!type) add_errors(type.errors(), item);
    if (item.kind != ItemKind::Let) return;
    for (const std::string& name : names_of(item)) {
      undo_.note(name);
      failed_.push_back(name);
    }
    if (type) {
      session_.bind_all(item, origin_, nullptr, *type);
    } else {
      bind_open(item);
    }
  }

  Impl& session_;
  std::vector<Item>& items_;
  const std::function<void(const ItemResult&)>& on_item_;
  const Origin origin_;
  Undo undo_;
  // Lets of this text without a value yet, and definitions that load what cannot be read.
  std::set<std::string> pending_;
  std::set<std::string> independent_;  // definitions that reach none of those
  std::vector<const Item*> deferred_;  // definitions that do
  std::vector<ChangedType> changed_types_;
  std::vector<std::string> failed_;  // names that are put back at the end
  TextErrors errors_;
  bool stopped_ = false;
};

std::vector<Diagnostic> Session::Impl::run_items(
    std::vector<Item>& items, const std::function<void(const ItemResult&)>& on_item,
    Origin origin) {
  auto unread = guarded([&] {
    Run::Unread result;
    for (Item& item : items) {
      if (item.kind != ItemKind::Def) continue;
      const std::size_t before = result.errors.size();
      item.expr = with_files(item.expr, nullptr, result.errors);
      if (result.errors.size() > before) result.definitions.insert(item.name);
    }
    return result;
  });
  if (!unread) return unread.errors();
  return Run(*this, items, on_item, origin, std::move(*unread))();
}

}  // namespace relay::repl
