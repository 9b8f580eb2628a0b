#pragma once

#include <cstdint>
#include <deque>
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
  lang::Type result;
  lang::Span span = {};
  std::vector<lang::Span> arg_spans = {};
  std::string needed_by = {};  // the global whose scheme brought it along
  bool is_solved = false;
};

// The relations of one solver. A relation runs when it is added, and again whenever an unknown that
// it mentions has been bound.
class Relations {
 public:
  explicit Relations(Solver& solver) : solver_(solver) {}

  void add(Relation relation);
  // Runs what has been woken until nothing moves. Throws Failure with places.
  void drain();
  // Those that are not solved, in order of creation.
  std::vector<const Relation*> open() const;
  const Relation& operator[](std::uint32_t index) const { return relations_[index]; }
  // The unbound unknowns of a relation.
  std::vector<lang::TypeVarRef> unknowns_of(const Relation& relation);
  // Is the unknown tied, through open relations, to something older than `mark` or to a parameter?
  bool is_tied(const lang::TypeVarRef& var, std::uint64_t mark);

 private:
  void run(std::uint32_t index);
  Solver& solver_;
  std::deque<Relation> relations_;
  std::size_t first_open_ = 0;
};

}  // namespace relay::typecheck
