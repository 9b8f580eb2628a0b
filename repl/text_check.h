#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/module.h"
#include "parser/parse.h"
#include "typecheck/infer.h"

namespace relay::repl {

// What the check of an earlier version of a text has found.
class KnownItems {
 public:
  virtual ~KnownItems() = default;
  // Has an item that means the same been found right? `type`: gets that of a `let`.
  virtual bool find(const parser::Item& item, lang::Type& type) = 0;
  // Nothing is wrong with it. `type`: of a `let`, else null.
  virtual void add(const parser::Item& item, const lang::Type& type) = 0;
};

// Checks the items of a text and runs none, be there errors in reading it or not: those items that
// neither are broken nor mention, be it by way of others, one that is.
class TextCheck {
 public:
  // `module`: what the text sees; gets its definitions. `prelude`: as a session has it. `checker`:
  // that of the module.
  TextCheck(lang::Module& module, lang::Module& prelude, typecheck::Checker& checker,
            parser::Reading& reading);

  // All errors of the text, those of its reading too, in its order; one for each cause.
  std::vector<lang::Diagnostic> errors(KnownItems* known = nullptr);
  std::vector<lang::Diagnostic> take_warnings() { return std::exchange(warnings_, {}); }

 private:
  using Item = parser::Item;

  void define(const Item& item);
  void reach(Item& item);
  void define_function(const Item& item);
  void note_mentions(const Item& item);
  bool waits(const Item& item) const;
  bool is_missing(const std::string& name) const;
  void leave_out(const Item& item);
  lang::Type check(const Item& item);
  void bind_open(const Item& item);
  void bind(const Item& item, const lang::Type& type);
  void bind_part(const lang::PatternRef& pattern, const Item& item, const lang::Type& type);

  lang::Module& module_;
  lang::Module& prelude_;
  typecheck::Checker& checker_;
  parser::Reading& reading_;
  std::vector<lang::Diagnostic> warnings_;
  std::unordered_map<std::string, const Item*> defined_;
  std::unordered_map<const Item*, std::vector<const Item*>> mentions_;  // by way of globals
  std::unordered_map<const Item*, std::vector<const Item*>> readers_;
  std::unordered_set<const Item*> missing_;  // bindings without a type so far
  std::vector<const Item*> lost_;            // mention what was left out of the text
  std::unordered_set<const Item*> unsound_;
};

}  // namespace relay::repl
