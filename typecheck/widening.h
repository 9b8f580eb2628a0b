#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "lang/diagnostic.h"
#include "lang/stop.h"
#include "typecheck/unify.h"

namespace relay::typecheck {

// Where a known extent enters what is generic, a `?` may turn out to come as well: the start of a
// fold over a list of layers has 4 columns, and what each layer gives has `?`. What is generic then
// stands for the `?`, which takes in the 4, and nothing may rely on the 4. The order in which types
// are found does not tell this beforehand, so inference runs again:
// - the first run only notices that a `?` has met a known extent;
// - in further runs known extents are marked where they enter, and the marks go along with them
//   through the types of what is computed. Where a `?` meets a marked one, the next run has a `?`
//   at that entrance.
class Widening {
 public:
  // The place of an extent within what enters, by counting.
  struct Entrance {
    lang::Span span;
    std::uint32_t operand;  // which of what stands there
    std::uint32_t place;
    auto key() const { return std::tie(span.source, span.begin, span.end, operand, place); }
    friend bool operator<(const Entrance& a, const Entrance& b) { return a.key() < b.key(); }
  };

  bool is_marking() const { return is_marking_; }
  // `type`, which enters where `expected` is needed, with marks where that is open. Null for
  // `expected`: all of it. `keeps_marks`: what has come in elsewhere already has its mark.
  lang::Type entered(const lang::Type& type, const lang::Type& expected, lang::Span span,
                     std::size_t operand, Solver& solver, bool keeps_marks = false);
  // A `?` has come where this extent is known.
  void meet(const lang::Dim& known);
  // What an operator gives by itself, and what was known of it before.
  void meet(const lang::Type& given, const lang::Type& known, Solver& solver);
  std::size_t meetings() const { return meetings_; }
  // What is only tried meets nothing.
  void set_trying(bool is_trying) { is_trying_ = is_trying; }
  // After a run: is there another one to make?
  bool begins_again();

 private:
  class Marking;
  bool is_marking_ = false;
  bool is_trying_ = false;
  std::size_t meetings_ = 0;  // of all runs
  std::set<Entrance> wide_;
  bool is_wider_ = false;  // this run has found new ones
  int runs_ = 0;
  std::unordered_map<std::uint32_t, Entrance> marks_;
};

// What `attempt` gives in the last run that it makes. Where one that is wider fails, what the
// narrower one gave stays, and running tells where it does not hold.
template <class Attempt>
auto with_widening(Attempt&& attempt) {
  Widening widening;
  std::optional<decltype(attempt(widening))> narrower;
  for (;;) {
    try {
      auto result = attempt(widening);
      if (!widening.begins_again()) return result;
      narrower = std::move(result);
    } catch (const lang::Failure& failure) {
      // One without diagnostics has been told.
      if (!failure.diagnostics.empty() && lang::is_stop(failure.diagnostics.front().kind)) throw;
      if (narrower) return std::move(*narrower);
      if (!widening.begins_again()) throw;
    }
  }
}

}  // namespace relay::typecheck
