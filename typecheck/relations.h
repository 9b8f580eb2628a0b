#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lang/op.h"
#include "typecheck/unify.h"

namespace relay::typecheck {

// One application of an operator (or of a rule of core_rules.h) whose type is being worked out.
struct Relation {
  const lang::OpDef* op = nullptr;
  std::vector<lang::Type> args;
  lang::AttrsRef attrs;
  lang::Type result = {};  // null until the first run
  lang::Span span = {};
  std::vector<lang::Span> arg_spans = {};
  const lang::Call* call = nullptr;      // of which operator calls are; for messages
  const lang::ExprNode* node = nullptr;  // of a rule of the core: the expression; for messages
  std::string needed_by = {};            // the global whose scheme brought it along
  std::uint32_t place = 0;               // among the relations of that scheme
  lang::Span used_at = {};  // of code of a generic local function: the use that it is for
  bool is_solved = false;
};

// The relations of one solver. A relation runs when it is added, and again whenever an unknown that
// it mentions has been bound.
class Relations {
 public:
  // What goes wrong in a relation is told to `report`, and its result becomes the error type.
  using Report = std::function<void(lang::Failure&&, const Relation&)>;
  // `widening`, if there is one, is told where a relation gives a `?` for an extent that was known
  // of its result before.
  Relations(Solver& solver, Report report, Widening* widening = nullptr)
      : solver_(solver), report_(std::move(report)), widening_(widening) {}

  // Returns the result's type, which is what `relation.result` must be unless that is null.
  lang::Type add(Relation relation);
  // Runs what has been woken until nothing moves. Throws Failure for a dimension equation.
  void drain();
  // An operator's result follows from its arguments, so of open relations that agree in these one
  // is enough: the others take its result. Keeps schemes small that use generic code repeatedly.
  void merge_equal();
  // Solved relations may have had a dtype that was open: runs them again, now that it is not, for
  // what their rules have to say about it.
  void recheck();
  // Those that are not solved, in order of creation.
  std::vector<const Relation*> open() const;
  const Relation& operator[](std::uint32_t index) const { return relations_[index]; }
  std::size_t open_count() const { return open_; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(relations_.size()); }
  // The unbound unknowns of a relation.
  std::vector<lang::TypeVarRef> unknowns_of(const Relation& relation);
  // Is the unknown tied, through open relations, to something older than `mark` or to a parameter?
  bool is_tied(const lang::TypeVarRef& var, std::uint64_t mark);

 private:
  bool run(Relation& relation);  // true when that solved it
  void watch(std::uint32_t index);
  bool has_open_dtype(const Relation& relation);
  void tell_meetings(const Relation& relation, const lang::Type& known);
  void enter(const Relation& relation, const lang::Type& given);
  Solver& solver_;
  Report report_;
  Widening* const widening_;
  std::vector<Relation> relations_;
  std::size_t open_ = 0;             // of them, not solved
  std::vector<Relation> rechecked_;  // solved with an open dtype
};

}  // namespace relay::typecheck
