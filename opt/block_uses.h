#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lang/expr.h"
#include "lang/pointer_map.h"
#include "opt/effect.h"

// Private to the passes that change blocks in place.
namespace relay::opt {

// Which bindings of a block use which. A binding is known by its place; the number of bindings
// stands for the block's result. Asking costs what the answer is long.
class BlockUses {
 public:
  BlockUses(const lang::Block& block, Effects& effects) : effects_(effects) { read(block); }

  // The place of the binding; nothing for a variable that is bound elsewhere.
  std::optional<std::size_t> place_of(const lang::Variable* variable) const;
  // Those whose values mention the variable, in order.
  const std::vector<std::size_t>& users_of(const lang::Variable* variable) const;
  // What the value mentions and does not bind.
  const std::vector<lang::VariableRef>& used_at(std::size_t place) const;
  bool has_effect_at(std::size_t place);

  // After the value at the place has changed, or the variable that it is bound to: costs what the
  // two values mention.
  void change(const lang::Block& block, std::size_t place);
  // After bindings have come, gone or moved: costs the length of the block, and not what stands in
  // its values.
  void read(const lang::Block& block);

 private:
  // Of a value, whichever binding has it.
  struct Known {
    lang::Expr value;  // kept alive
    std::vector<lang::VariableRef> used;
    std::optional<bool> has_effect;
  };
  struct Entry {
    std::optional<std::size_t> place;
    std::vector<std::size_t> users;
  };
  static const lang::Expr& value_at(const lang::Block& block, std::size_t place);
  std::size_t known(const lang::Expr& value);
  Entry& entry(const lang::VariableRef& variable);
  const Entry* find(const lang::Variable* variable) const;

  Effects& effects_;
  std::vector<Known> known_;
  lang::PointerMap<lang::ExprNode, std::size_t> known_index_;
  std::vector<std::size_t> at_;  // in `known_`, by place
  std::vector<Entry> entries_;
  lang::PointerMap<lang::Variable, std::size_t> entry_index_;
  std::vector<lang::VariableRef> kept_alive_;  // whatever has had an entry
};

}  // namespace relay::opt
