#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/type.h"

// Turns a failure of the solver, which knows no places, into the message that a person reads.
namespace relay::typecheck {

class Solver;
struct Relation;

// Something has one type and must have another.
struct Mismatch {
  lang::Type found;
  lang::Type expected;
  lang::Span span;                       // of what has type `found`
  std::string subject = {};              // "argument 2 of `f`"; empty: just "expected .., found .."
  std::vector<lang::Label> labels = {};  // where the expected type comes from
  std::vector<std::string> notes = {};
  lang::Span other = {};  // a value that has the expected type, if it is one that asks for it
};
lang::Failure explain_mismatch(lang::Failure failure, const Mismatch& mismatch, Solver& solver);
// What it says of a tensor where a list must be.
inline constexpr std::string_view kTensorForList =
    "help: a list is `Cons(1, Cons(2, Nil))`; over a tensor goes `for i { f(xs[i]) }`";

// Where an argument has more axes than the parameter, whose rank was taken from code of `function`
// that indexes it: shows that code, and how a row is written.
void explain_rank(Mismatch& mismatch, const lang::Function& function, const lang::Variable& param,
                  Solver& solver);

// The type rule of `relation` has failed. Adds a label on each argument, and a mend where one can
// be computed: a cast, a transposed argument, a literal written another way.
lang::Failure explain_relation(lang::Failure failure, const Relation& relation, Solver& solver);

// Would a value of type `found` do where `expected` is demanded? Binds nothing; where unknowns
// other than the dtypes of literals would have to be bound the answer is no.
bool fits(const lang::Type& found, const lang::Type& expected, Solver& solver);

// A type as a label says it: "`int32`", or in words where nothing is known of it.
std::string describe_type(const lang::Type& type, Solver& solver);
// The source text of a span if it is short enough to stand in a sentence, else `otherwise`.
std::string quote(const lang::Span& span, std::string_view otherwise);
// "1 argument", "2 arguments"
std::string count_of(std::size_t count, std::string_view noun);
// A literal as it was written: `2`, `1.5`.
std::string literal_text(const lang::Literal& literal, bool negated);

}  // namespace relay::typecheck
