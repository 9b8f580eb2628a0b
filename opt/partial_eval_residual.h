#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "opt/partial_eval_value.h"

namespace relay::opt::partial {

// The code that is left, as it grows, and the values that it makes. What has no effect and cannot
// fail (tuples, data, functions, references and writes to them, reads of fields) has a place in it
// from the moment at which it is evaluated, and is there only if something needs it.
class Residual {
 public:
  // --- values ---
  const Value* constant(const lang::Expr& constant);
  const Value* callee(const lang::Expr& atom);
  // Of a parameter, or a variable of a pattern; or an atom of which nothing is known.
  const Value* unknown(const lang::Expr& atom);
  // `source`: the node that it comes from, for its type.
  const Value* tuple(std::vector<const Value*> fields, const lang::Expr& source, lang::Span span);
  const Value* construction(const lang::Constructor* constructor, const lang::Expr& callee,
                            std::vector<const Value*> fields, const lang::Expr& source,
                            lang::Span span);
  const Value* closure(const lang::Expr& function, Frame* frame, std::uint64_t size,
                       lang::Span span);
  const Value* reference(std::size_t number, const Value* content, const lang::Expr& source,
                         lang::Span span);
  // Gives the unit that a write gives.
  const Value* write(const Value* reference, const Value* content, const lang::Expr& source,
                     lang::Span span);
  const Value* projection(const Value* tuple, std::uint32_t index, const lang::Type& type,
                          lang::Span span);
  const Value* field(const Value* record, const lang::Constructor& constructor, std::size_t place,
                     lang::Span span);

  // --- steps that are there in any case ---
  const Value* add(lang::Expr value, lang::Span span);
  const Value* add(std::unique_ptr<Step> step, const lang::Type& type);
  // The atom, which is needed.
  lang::Expr use(const Value* value);
  void need(const Value* value);

  // --- where steps are put ---
  // The new innermost block; `close` gives it back with its result.
  void open();
  std::unique_ptr<Code> close(const Value* result);
  // What the variable of the next step is called.
  void set_hint(const std::string& hint) { hint_ = hint; }
  const std::string& hint() const { return hint_; }

  // A function that something needs and whose body has not been made; null: there is none.
  Step* next_closure();
  // How many nodes have been put anywhere.
  std::size_t size() const { return size_; }
  void count(std::size_t nodes) { size_ += nodes; }

  static lang::Expr assembled(const Code& code);

 private:
  struct Reference {
    Step* made;
    std::vector<Step*> writes;
  };
  Value* new_value(Known known, const lang::Type& type);
  Step* put(std::unique_ptr<Step> step);
  // A value that a step makes when it is needed.
  Value* lazy(Known known, lang::Expr value, std::vector<const Value*> parts, lang::Span span);
  void need(Step* step);

  std::deque<Value> values_;
  std::vector<std::unique_ptr<Code>> open_;
  std::vector<Reference> references_;
  std::vector<Step*> closures_;  // needed, and without a body
  std::string hint_;
  std::size_t size_ = 0;
};

// How many nodes the code has.
std::size_t nodes_of(const lang::Expr& code);

}  // namespace relay::opt::partial
