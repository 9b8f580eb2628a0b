#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opt/partial_eval_value.h"

namespace relay::opt::partial {

// What references hold, as far as that is known, at the point that evaluation has come to. A
// reference that is exposed can be reached by code that nobody sees: what it holds is forgotten
// wherever such code may run.
class Heap {
 public:
  explicit Heap(Captures& captures) : captures_(captures) {}

  std::size_t make(const Value* content);
  // Null where that is not known.
  const Value* read(std::size_t reference) const;
  void write(std::size_t reference, const Value* content);

  // The value gets to where nobody sees what becomes of it, with all that can be reached from it.
  void expose(const Value* value);
  // Code that nobody sees may run.
  void forget_exposed();
  // What comes is the body of a function, which may run at any time: of all that there is nothing
  // is known.
  void forget_all();

  // What branches write, one after the other, each from where the first began.
  using Writes = std::unordered_map<std::size_t, const Value*>;
  std::size_t mark() const { return log_.size(); }
  Writes end_branch(std::size_t mark);
  // Then the branches come together: only what all have left alike is known.
  void join(const std::vector<Writes>& branches);

 private:
  void set(std::size_t reference, const Value* content);

  std::vector<bool> is_exposed_;                         // by reference
  std::unordered_map<std::size_t, const Value*> known_;  // null: nothing
  std::vector<std::size_t> exposed_;  // of those that are, whose content may be known
  std::vector<std::pair<std::size_t, const Value*>> log_;  // what was known before each change
  Captures& captures_;
};

}  // namespace relay::opt::partial
