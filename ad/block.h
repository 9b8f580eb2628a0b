#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ad/active_variables.h"
#include "ad/adjoint.h"
#include "ad/closures.h"
#include "ad/contribution.h"
#include "ad/placed.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

class Pairs;
struct Pair;

// Reverse mode over straight-line code. The primal bindings are copied (calls of functions with
// control flow become calls of their forward halves, operators without a rule of their own are
// expanded into their definitions); `reverse` then walks them backwards. Adjoints of what is bound
// outside (parameters, captures) are read with `adjoint_of`.
class BlockReverse {
 public:
  BlockReverse(lang::Program& program, Pairs& pairs);

  // Nobody asks for the adjoint of this variable from outside, nor of what depends on no other.
  void deactivate(const lang::VariableRef& variable) { active_.deactivate(variable); }

  // Appends primal bindings. May be called several times (a path through branches).
  void forward(const std::vector<lang::Binding>& bindings);
  // One more value of the primal code; returns its atom.
  lang::Expr forward_value(const std::string& name, const lang::Expr& value);
  // Goes on inside a clause of a `match` on `scrutinee`, whose value is taken apart by the pattern
  // returned (wildcards have become variables where their zeros may be asked for).
  lang::PatternRef enter(const lang::Expr& scrutinee, const lang::PatternRef& pattern);
  // How many steps the primal code has, and its bindings from step `first` on.
  std::size_t size() const { return primal_.size(); }
  std::vector<lang::Binding> primal(std::size_t first) const;

  // Something will be known already of the variable's adjoint when the code goes backwards.
  void expect_adjoint(const lang::VariableRef& variable) { expected_.insert(variable.get()); }
  // Seeds the adjoint of an atom.
  void seed(const lang::Expr& atom, const lang::Expr& adjoint);
  // The primal code is the step of a loop: it has run, to its end, where the code goes backwards.
  void has_run() { has_run_ = true; }
  // Walks all primal bindings backwards; the code goes to `backward`.
  void reverse();
  // After reverse(): the adjoint of a variable from outside, of its tangent type.
  lang::Expr adjoint_of(const lang::VariableRef& variable);
  bool has_adjoint(const lang::VariableRef& variable) const;
  Emitter& backward() { return backward_; }
  // After reverse(): the code that goes backwards; between begin and end of a walk (AdjointCells)
  // where it uses references.
  std::vector<lang::Binding> take_walk();

 private:
  void forward_binding(const lang::Binding& binding);
  void forward_operator(const lang::Binding& binding, const lang::Call& call,
                        const lang::OpDef& op);
  void forward_call(const lang::Binding& binding, const lang::Call& call);
  void forward_pair(const lang::Binding& binding, const Pair& pair, std::vector<lang::Expr> args,
                    bool uses_references);
  void forward_function(const lang::Binding& binding);
  void forward_branches(const lang::Binding& binding);
  void forward_alias(const lang::Binding& binding, const lang::Expr& atom);
  void forward_fields(const lang::Binding& binding, const lang::Match& match);
  void bind_parts(const lang::Expr& value, const lang::PatternRef& pattern);
  bool is_without_choice(const lang::Match& match) const;
  bool is_product(const lang::Type& type) const;
  void forward_unknown(const lang::Binding& binding, const lang::Call& call);
  bool forward_index_notation(const lang::Binding& binding);
  void reverse_function(const lang::Binding& binding, const lang::Expr& adjoint);
  void reverse_unknown(const lang::Binding& binding);
  void take_apart(const lang::Constructor* mirror, const std::vector<lang::Expr>& fields,
                  const lang::Expr& adjoint, lang::Span span);
  void reverse_binding(const lang::Binding& binding);
  void reverse_call(const lang::Binding& binding, const lang::Call& call,
                    const lang::Expr& adjoint);
  void reverse_by_definition(const lang::Call& call, const lang::OpDef& op,
                             const lang::Expr& adjoint);
  void reverse_custom(const lang::Binding& binding, const lang::Call& call,
                      const std::string& gradient, const lang::Expr& adjoint);
  void reverse_index_notation(const lang::Binding& binding, const Adjoint& adjoint);
  void accumulate(const lang::Expr& atom, const lang::Expr& contribution);
  Adjoint& adjoint_to_add_to(const lang::VariableRef& variable);
  // What is known of adjoints goes out, and all of them comes back.
  class Replaced {
   public:
    explicit Replaced(BlockReverse& owner) : owner_(owner) {}
    // The adjoint so far of an atom; null where it has none, or it, or what it is a part of, is out
    // already.
    lang::Expr take(const lang::Expr& atom, const lang::Type& tangent);
    void put(const lang::Expr& atom, const lang::Expr& whole);

   private:
    // A variable, and the way to a field of it.
    using Path = std::vector<std::uintptr_t>;
    Path path_of(lang::VariableRef variable) const;
    BlockReverse& owner_;
    std::vector<Path> taken_;
  };
  void contribute(std::vector<Contribution> contributions);

  // Index notation whose body is more than arithmetic (repeated.cpp).
  // `since`: when it was computed, where it may use references.
  void reverse_repeated(const lang::Expr& value, const std::vector<lang::Expr>& adjoints,
                        const lang::Expr& since);
  void reverse_point(const lang::Block& body, const std::vector<lang::Expr>& adjoints,
                     const lang::Expr& since);
  struct Point;
  // What is read outside: kept for all points, or added to its adjoint at each of them.
  enum class Reads : std::uint8_t { Kept, Added };
  Point point_code(const std::vector<lang::IndexBinder>& binders, Reads reads, Emitter& around);
  void keep_read(Contribution read, const std::vector<lang::IndexBinder>& binders, Emitter& around,
                 Point& point);
  std::unordered_set<const lang::Variable*> bound_here() const;
  bool take_apart(const std::vector<lang::IndexBinder>& binders, BlockReverse inner,
                  lang::Span span);
  bool take_distributed(const std::vector<lang::IndexBinder>& binders, Point& point,
                        const Emitter& around, std::vector<lang::Expr>& sums);
  void take_together(const std::vector<lang::IndexBinder>& binders, Point point);
  void take_points(const std::vector<lang::IndexBinder>& binders, Point& point,
                   std::vector<lang::Expr>& sums, lang::Span span);
  lang::Type tangent_of(const lang::Expr& expr, lang::Span span) const;

  lang::Program& program_;
  Pairs& pairs_;
  bool has_run_ = false;
  // A binding, or (with a pattern, and without a variable) a value that is taken apart.
  struct Step {
    lang::Binding binding;
    lang::PatternRef pattern = {};
  };
  void reverse_construction(const lang::Expr& value, const lang::Call& call,
                            const lang::Expr& adjoint);
  void reverse_field(const lang::Match& match, const lang::Expr& adjoint);
  void reverse_pattern(const lang::Expr& scrutinee, const lang::PatternRef& pattern);
  // The adjoint of what the pattern takes apart; null where nothing arrived.
  lang::Expr adjoint_of_pattern(const lang::PatternRef& pattern, const lang::Type& type);
  std::vector<Step> primal_;
  Extents extents_;
  Emitter backward_;
  ActiveVariables active_;
  std::unordered_map<const lang::Variable*, Adjoint> adjoints_;
  // Variables that are fields of others: what is added to their adjoints is added there.
  struct PartOf {
    lang::VariableRef whole;
    std::uint32_t index;
  };
  std::unordered_map<const lang::Variable*, PartOf> parts_;
  void note_part(const lang::Binding& binding);
  // Let-bound function literals.
  struct KnownFunction {
    std::string global;  // with the captures as leading parameters
    lang::Type type;
    std::vector<lang::Expr> captures;
    const lang::Constructor* place = nullptr;
  };
  std::unordered_map<const lang::Variable*, KnownFunction> functions_;
  // Calls of functions that are values, by the result's variable.
  struct UnknownCall {
    lang::VariableRef pullback;
    lang::Expr callee;
    std::vector<lang::Expr> args;
  };
  std::unordered_map<const lang::Variable*, UnknownCall> unknown_calls_;
  // Calls of functions with control flow: the variable that holds (result, residual), by the
  // result's variable.
  struct PairCall {
    std::string backward_name;
    lang::VariableRef residual;
    std::vector<lang::Expr> args;
    lang::Type backward_type;
    std::vector<std::size_t> accumulated;
    bool uses_references = false;
  };
  Pair pair_of(const std::string& name, const lang::Type& type,
               const std::vector<lang::Expr>& args);
  void reverse_pair(const PairCall& call, const lang::Expr& adjoint, lang::Span span);
  std::unordered_map<const lang::Variable*, PairCall> pair_calls_;
  // Results of functions with gradients of their own, and the names of those.
  std::unordered_map<const lang::Variable*, std::string> custom_;
  // While the body of index notation is reversed: what it says of the variables outside of it.
  struct Outside {
    std::unordered_set<const lang::Variable*> inside;  // all others are outside
    std::vector<Contribution> reads;
    // Those that have an adjoint, in order, and what it begins with (Adjoint::start).
    struct Whole {
      lang::VariableRef variable;
      std::vector<lang::VariableRef> so_far;
    };
    std::vector<Whole> whole;
  };
  std::optional<Outside> outside_;
  bool is_point_ = false;  // it is the body of index notation
  // Variables whose adjoints will hold something when what has been read of them adds to it, and,
  // at a point, those that are bound there and do not.
  std::unordered_set<const lang::Variable*> expected_, own_;
  bool expects_adjoint(const lang::Expr& atom) const;
  // Function literals whose calls have nothing to do in reverse.
  std::unordered_set<const lang::Variable*> plain_functions_;
  bool uses_references_ = false;  // the code that goes backwards
  // When index notation that may use references was computed, by its variable.
  std::unordered_map<const lang::Variable*, lang::VariableRef> watched_;

  // reference.cpp
  // Index notation that may use references is computed again in reverse, so that it must not write
  // them: a replay begins, and the time is given. Else null.
  lang::Expr forward_watch(const lang::Binding& binding);
  void push_effect(const lang::Expr& effect);
  void reverse_read(const lang::RefRead& read, const lang::Expr& adjoint);
  // Making a reference, too.
  void reverse_write(const lang::Binding& binding);
  // Does its code run in reverse even where the adjoint of the result is zero?
  bool runs_anyway(const lang::Variable& variable) const;
};

}  // namespace relay::ad
