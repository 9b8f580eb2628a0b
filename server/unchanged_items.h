#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "parser/occurrences.h"
#include "repl/read_text.h"
#include "repl/text_check.h"
#include "typecheck/infer.h"

namespace relay::server {

// What is known of an item that is right.
struct RightItem {
  lang::Type type;     // of a `let`
  std::string scheme;  // of a function, with its name
};
// By what they say, and what the names in them mean.
using RightItems = std::unordered_map<std::string, RightItem>;

// Finds the items of a text that say and mean what they did in its last version: those need not be
// checked again. `before`: what was right then; what the text imports, and its types, are the same.
class UnchangedItems final : public repl::KnownItems {
 public:
  // All three must live as long as it does. Cost: a walk over the items.
  UnchangedItems(const repl::ReadText& text, typecheck::Checker& checker, const RightItems& before);

  bool find(const parser::Item& item, lang::Type& type) override;
  void add(const parser::Item& item, const lang::Type& type) override;
  // What is right in this version.
  RightItems take_right() { return std::move(right_); }

 private:
  void find_changed();
  using Readers = std::unordered_map<std::string, std::vector<const parser::Item*>>;
  bool spread(std::vector<const parser::Item*> changed, Readers& readers,
              const std::unordered_set<std::string>* open);
  std::string shown_scheme(const std::string& name);

  // Items keep their places while they are checked; gradients and instances stand in others.
  using Place = std::string;

  typecheck::Checker& checker_;
  const RightItems& before_;
  const std::vector<parser::Item>& items_;
  std::unordered_map<Place, std::string> keys_;
  std::unordered_set<Place> changed_;
  std::unordered_set<std::string> schemes_before_;  // of functions that were right, with names
  RightItems right_;
  bool has_looked_ = false;
};

}  // namespace relay::server
