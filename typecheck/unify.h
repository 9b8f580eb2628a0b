#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/op.h"
#include "lang/type.h"

namespace relay::typecheck {

// A type with more parts than 10,000 is refused, as written out it would take minutes to look at;
// and one of more than 3,000 levels, as walks over types recurse. Throws Failure(TypeTooLarge).
void check_size(const lang::Type& type);

class Widening;

// What the solver knows about one unknown.
struct Unknown {
  lang::TypeVarRef var;  // null: this id belongs to no unknown of the solver
  std::variant<std::monostate, lang::Type, lang::Shape, lang::DTypeTerm, lang::Dim> value;
  // The smallest id of all unknowns this one has been tied to. It tells whether an unknown belongs
  // to the `let` at hand or to something older.
  std::uint64_t birth = 0;
  bool pinned = false;                     // tied to the parameter of a function
  std::uint8_t requirements = 0;           // DType: a bit for each PrimOperands
  const lang::Literal* literal = nullptr;  // DType: the undecorated number it was made for
  bool is_number = false;                  // DType: of a number in a definition that is used
  bool prefers_float = false;              // DType: of numbers that are floats if they may
  std::vector<std::uint32_t> watchers;     // relations to run again when it is bound

  bool is_bound() const { return value.index() != 0; }
};

// Two dims that must be equal, which could not be solved yet. One that a scheme brought along needs
// no answer here: where only running can tell, the function checks it at its entry.
struct Equation {
  lang::Dim a;
  lang::Dim b;
  std::string needed_by = {};  // the global whose scheme has it; empty: the code at hand
  lang::Span span = {};        // of that global's use
};

// Bindings for the unknowns of all four kinds. Failures are thrown without a place: whoever asked
// for the unification knows the places and adds them (messages.h).
class Solver final : public lang::TypeSolver {
 public:
  Solver();
  ~Solver() override;
  Solver(const Solver&) = delete;

  lang::Type resolve(const lang::Type& type) override;
  lang::Shape resolve(const lang::Shape& shape);
  lang::DTypeTerm resolve(const lang::DTypeTerm& dtype);
  lang::Dim resolve(const lang::Dim& dim);
  // Only the outermost layer: not a bound unknown.
  lang::Type head(const lang::Type& type);

  void unify(const lang::Type& a, const lang::Type& b) override;
  void unify(const lang::Shape& a, const lang::Shape& b) override;
  void unify(const lang::DTypeTerm& a, const lang::DTypeTerm& b) override;
  void unify(const lang::Dim& a, const lang::Dim& b) override;

  lang::Type fresh_type() override { return lang::var_type(fresh(lang::VarKind::Type)); }
  lang::Shape fresh_shape() override { return lang::Shape(fresh(lang::VarKind::Shape)); }
  lang::Dim fresh_dim() override { return lang::Dim::variable(fresh(lang::VarKind::Dim)); }
  lang::DTypeTerm fresh_dtype() override { return lang::DTypeTerm(fresh(lang::VarKind::DType)); }
  void require(const lang::DTypeTerm& dtype, lang::PrimOperands operands) override;
  void prefer_float(const lang::DTypeTerm& dtype) override;

  lang::TypeVarRef fresh(lang::VarKind kind);
  // The type of what has been reported: agrees with every type, silently, and spreads to the
  // unknowns that it meets.
  lang::Type error_type();
  bool is_error(const lang::Type& type) { return error_type_ && head(type) == error_type_; }
  bool mentions_error(const lang::Type& type);
  // The next unknown will not have a smaller id.
  std::uint64_t mark() const { return next_id_; }
  // Null for rigid variables and for unknowns of others.
  Unknown* find(const lang::TypeVar& var);
  Unknown& at(const lang::TypeVar& var);

  // The unbound unknowns of a type (which need not be resolved), in order of occurrence, each once.
  std::vector<lang::TypeVarRef> unknowns_of(const lang::Type& type);
  // For messages: unknowns print as `_`.
  std::string show(const lang::Type& type);
  std::string show(const lang::Shape& shape);
  std::string show(const lang::DTypeTerm& dtype);
  std::string show(const lang::Dim& dim);

  void watch(const lang::TypeVar& var, std::uint32_t relation);
  // Relations whose unknowns have been bound since the last call, each once: one that waits for
  // many unknowns would else be run for each, and wait for all of them again each time.
  std::vector<std::uint32_t> take_woken();
  bool has_woken() const { return !woken_.empty() || dims_changed_; }
  // Runs the equations between dims that could not be solved yet once more.
  void retry_equations();
  const std::vector<Equation>& open_equations() const { return equations_; }
  void relate(Equation equation);
  // A rigid dim that nothing declares: what it must be equal to is not refused, but an equation
  // that stays open. Relay's texts have such variables in their metadata.
  void leave_open(const lang::TypeVar& var) { left_open_.insert(&var); }
  // While one lives, `widening`, if there is one, is told of each `?` in what is unified first that
  // meets a known extent in what it is unified with.
  class Meetings {
   public:
    Meetings(Solver& solver, Widening* widening) : solver_(solver) {
      solver_.told_of_meetings_ = widening;
    }
    Meetings(const Meetings&) = delete;
    Meetings& operator=(const Meetings&) = delete;
    ~Meetings() { solver_.told_of_meetings_ = nullptr; }

   private:
    Solver& solver_;
  };
  // From now on these are equal (rigid dims of a function that checks it at its entry).
  void assume(const lang::Dim& a, const lang::Dim& b) { assumed_.push_back(a - b); }

  // What an unknown with these requirement bits may still be.
  static bool accepts(std::uint8_t requirements, lang::DType dtype);
  static std::uint8_t bit(lang::PrimOperands operands) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(operands));
  }

  // Binds an unbound unknown without looking (defaults).
  void settle(const lang::TypeVar& var, lang::Type type);
  void settle(const lang::TypeVar& var, lang::Shape shape);
  void settle(const lang::TypeVar& var, lang::DTypeTerm dtype);
  void settle(const lang::TypeVar& var, lang::Dim dim);

 private:
  bool has_bound(const lang::Dim& dim);  // does it mention an unknown that is bound?
  template <class V>
  void bind(Unknown& unknown, V value);
  void bind_type(Unknown& unknown, const lang::Type& type);
  void tie(Unknown& unknown,
           const lang::TypeVarRef& var);  // `var` occurs in the value of `unknown`
  void bind_dtype(Unknown& unknown, const lang::DTypeTerm& dtype);
  bool solve_dim(const lang::Dim& a, const lang::Dim& b, const lang::Dim& difference);
  bool has_unknown(const lang::Dim& dim);
  bool is_assumed(const lang::Dim& difference) const;
  bool is_left_open(const lang::Dim& difference) const;
  void add_once(Equation equation);
  [[noreturn]] void refuse(const Equation& equation, const lang::Dim& a, const lang::Dim& b);
  void unify_lists(const std::vector<lang::Type>& a, const std::vector<lang::Type>& b);
  void unify_params(const std::vector<lang::Type>& a, const std::vector<lang::Type>& b);

  std::uint64_t base_;  // id of the first slot
  std::uint64_t next_id_;
  std::vector<Unknown> unknowns_;
  std::vector<std::uint32_t> woken_;
  bool dims_changed_ = false;
  std::vector<Equation> equations_;
  std::vector<lang::Dim> assumed_;
  std::unordered_set<const lang::TypeVar*> left_open_;
  lang::Type error_type_;  // null as long as nothing has gone wrong
  Widening* told_of_meetings_ = nullptr;
  bool are_exchanged_ = false;  // what is unified first and second: in parameters of functions
};

inline Unknown* Solver::find(const lang::TypeVar& var) {
  if (!var.flexible || var.id < base_ || var.id - base_ >= unknowns_.size()) return nullptr;
  Unknown& unknown = unknowns_[var.id - base_];
  return unknown.var.get() == &var ? &unknown : nullptr;
}

// Calls `visit` for every variable of the type, each occurrence, without allocating.
void for_each_type_variable(const lang::Type& type,
                            const std::function<void(const lang::TypeVarRef&)>& visit);

}  // namespace relay::typecheck
