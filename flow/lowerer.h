#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "flow/lower.h"
#include "lang/any_dim.h"
#include "lang/function_fact.h"
#include "lang/visit.h"

// How a function's body becomes control flow over slots: what flow/lower.cpp and
// flow/small_tensors.cpp share.
namespace relay::flow {

using lang::as;
using lang::cast;
using lang::DiagnosticKind;
using lang::Expr;
using lang::ExprKind;
using lang::has_constant_extents;
using lang::is_scalar;

[[noreturn]] inline void refuse(std::string_view what, lang::Span span) {
  lang::fail(DiagnosticKind::Unsupported, fmt::format("not supported: {}", what), span);
}

// A value in slots: one operand, or the parts of a tuple or of a small tensor.
struct Spread {
  bool is_tuple = false;
  Operand operand;
  std::vector<Spread> parts;
  lang::Type tensor = {};             // of a small tensor
  std::optional<Operand> whole = {};  // an object that holds the same, if there is one; then the
                                      // parts may be missing, and are read from it
  static Spread of(Operand operand) { return {false, operand, {}}; }
  static Spread of(std::vector<Spread> parts) { return {true, {}, std::move(parts)}; }
  static Spread of_tensor(const lang::Type& type, std::vector<Spread> elements) {
    return {true, {}, std::move(elements), type};
  }
};

inline const std::vector<lang::Dim>& dims_of(const lang::Type& type) {
  return as<lang::TensorType>(type)->shape.dims();
}

// Scalars, small tensors, tuples of such.
inline bool is_small(const lang::Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type))
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), is_small);
  return is_scalar(type) || small_elements(type) > 0;
}

// An integer that is one of two known ones.
struct EitherIndex {
  Operand condition;
  std::int64_t if_true = 0;
  std::int64_t if_false = 0;
};

// What was tried with small tensors needs an object, or grows.
struct NotSmall {};

inline lang::DType dtype_of(const lang::Type& type) {
  return as<lang::TensorType>(type)->dtype.known();
}

// A local function whose calls are all known becomes a function of its own, with what it captures
// as further parameters.
struct Lifted {
  std::unique_ptr<Function> function;
  std::vector<lang::VariableRef> captures;
};

// The variables of a function that are used other than as what is called.
class Uses {
 public:
  explicit Uses(const Expr& root) {
    lang::visit_post_order(root, [&](const Expr& node) {
      const auto* call = as<lang::Call>(node);
      lang::for_each_child(node, [&](const Expr& child) {
        const auto* var = as<lang::Var>(child);
        if (var && !(call && child == call->callee)) values_.insert(var->variable.get());
      });
      // The same node as callee and as argument.
      if (call) {
        for (const Expr& arg : call->args) {
          if (const auto* var = as<lang::Var>(arg)) values_.insert(var->variable.get());
        }
      }
    });
    if (const auto* function = as<lang::Function>(root)) {
      if (const auto* var = as<lang::Var>(function->body)) values_.insert(var->variable.get());
    }
  }
  bool is_value(const lang::Variable* variable) const { return values_.contains(variable); }

 private:
  std::unordered_set<const lang::Variable*> values_;
};

class Lowerer {
 public:
  Lowerer(Function& function, Environment& environment, const Uses& uses, Lowerer* outer)
      : function_(function), environment_(environment), uses_(uses), outer_(outer) {}
  void run(const std::vector<lang::VariableRef>& params, const Expr& body);

 private:
  // --- Slots, constants, steps ---
  Slot new_slot(SlotType type);
  // New slots for a value of a type; they are appended to `slots`.
  Spread new_slots(const lang::Type& type, std::vector<Slot>& slots);
  Spread spread_params(const lang::Type& type, Slot& next);
  // The value of an expression, spread.
  Spread constant_spread(lang::Value value, const lang::Type& type, Block& block);
  Operand constant(lang::Value value);
  const Site* site(lang::Span span);
  Step& add(Block& block, StepKind kind);
  // A value as data holds it.
  Operand boxed(const Spread& value, Block& block);
  bool is_param(const std::vector<Operand>& elements) const;
  // An object of constant shape, whose elements are read where they are used.
  Spread tensor_of(Operand cell, const lang::Type& type, lang::Span span, Block& block);
  // What a cell's field or an interpreted result is, spread.
  Spread unboxed(Operand cell, const lang::Type& type, lang::Span span, Block& block);
  // The part of a tensor (args[0]) at the indices behind it, as a small tensor.
  Spread elements_of(const std::vector<Operand>& args, const lang::Type& type, bool in_bounds,
                     const Site* site, Block& block);
  std::vector<Spread> parts_of(const Spread& value, Block& block);
  // The value in the slots of `type`, which may tell less, or more, of a tensor's extents than what
  // the value was made of.
  Spread as_type(const Spread& value, const lang::Type& type, Block& block);
  void append_operands(const Spread& value, Block& block, std::vector<Operand>& operands);
  static void next_point(std::vector<std::int64_t>& at, const std::vector<lang::Dim>& dims);
  // Of an integer dtype.
  Operand number(lang::DType dtype, std::int64_t value);
  Operand index_constant(std::int64_t value);  // int64
  // The number that an operand is known to be.
  std::optional<std::uint64_t> known_bits(const Operand& operand) const;
  std::optional<std::int64_t> known_index(const Operand& operand) const;

  // --- Variables, and nodes that several others share ---
  Spread variable(const lang::Var& var);
  const Spread* remembered(const Expr& expr) const;

  // --- Expressions ---
  Operand scalar(const Expr& expr, Block& block);
  Spread lower(const Expr& expr, Block& block);
  Spread lower_node(const Expr& expr, Block& block);
  // Lowers a chain of lets up to its result.
  Expr bindings(const Expr& expr, Block& block);
  void bind(const lang::Let& let, Block& block);
  void yield(const Expr& expr, const lang::Type& type, Block& block);
  // What a point of a loop gives: tensors that are spread are stored element by element.
  void yield_point(const Expr& expr, Block& block);
  // Of the function's result: leaves the function.
  void tail(const Expr& expr, Block& block);

  // --- Calls ---
  // A function whose code is known, and its arguments in slots; null for another callee.
  Function* known_callee(const lang::Call& call, Block& block, std::vector<Operand>& args);
  Spread call(const Expr& expr, Block& block);
  // A step whose arguments and result are as in data.
  Spread as_data(StepKind kind, std::vector<Operand> args, std::vector<lang::Type> types,
                 const Expr& expr, Block& block, Interpreted* interpreted = nullptr);
  Spread interpret(const Expr& expr, Block& block);
  Spread interpret_alone(const Expr& expr, Block& block);
  // What keeps a kernel from being steps, for people.
  static std::string why_no_steps(const Expr& expr);
  Spread operator_call(const Expr& expr, const lang::Call& node, const lang::OpDef& op,
                       Block& block);

  // --- Small tensors ---
  // What computes small tensors of such, and of elements of others, as scalar code. Nothing where
  // that would be long, or something in it is no such thing.
  std::optional<Spread> small(const Expr& expr, Block& block, std::size_t most = kMostSmallSteps);
  // The same, whatever its type.
  std::optional<Spread> tried_small(const Expr& expr, Block& block,
                                    std::size_t most = kMostSmallSteps);
  Spread small_value(const Expr& expr, Block& block);
  // Of index notation: each point by itself. A tuple at each of them gives tensors.
  Spread small_points(const Expr& expr, Block& block);

  // Runs `body` with the binders at each of their points, which are constant and few.
  template <class F>
  void at_points(const std::vector<lang::IndexBinder>& binders, const F& body, Block& block) {
    std::vector<lang::Dim> extents;
    std::int64_t points = 1;
    for (const lang::IndexBinder& binder : binders) {
      const auto extent = known_index(scalar(binder.extent, block));
      if (!extent || *extent < 1 || *extent > kMostSmallPoints) throw NotSmall{};
      extents.emplace_back(*extent);
      points *= *extent;
      if (points > kMostSmallPoints) throw NotSmall{};
    }
    std::vector<std::int64_t> at(binders.size(), 0);
    for (std::int64_t point = 0; point < points; ++point) {
      for (std::size_t i = 0; i < binders.size(); ++i)
        variables_[binders[i].variable.get()] = Spread::of(index_constant(at[i]));
      memo_.emplace_back();
      body();
      memo_.pop_back();
      next_point(at, extents);
    }
  }
  // In the order of loops/loop_ir.h. What a lane starts as matters to a sum of floats alone, which
  // makes of -0 a 0; after that it changes nothing.
  Operand folded(const lang::Reduction& node, const std::vector<Operand>& elements, Block& block);
  // An element, or a part, of a small tensor.
  Spread small_index(const Spread& tensor, const std::vector<Operand>& indices,
                     const lang::Index& node, Block& block);
  // The same at indices of which some are known only when it runs.
  Spread chosen(const Spread& tensor, const std::vector<Operand>& indices, const lang::Index& node,
                Block& block);
  // Those `count` elements, at indices that are in range: one of what each index may be. The first
  // `axis` of them lead to the part `first`.
  std::vector<Operand> picked(const Spread& tensor, const std::vector<Operand>& indices,
                              std::size_t axis, std::size_t first, std::size_t count, Block& block);
  // Which two numbers an index is, where it is one of two that are known.
  std::optional<EitherIndex> either_index(const Operand& index) const;
  // A slot that is one operand where a condition holds, and the other where it does not.
  void note_either(Slot slot, const Operand& condition, const Operand& if_true,
                   const Operand& if_false);
  // Is an index known to be in range?
  bool is_inside(const Operand& index, const lang::Dim& dim) const;
  // The row-major position of the element, or the part, where all indices are known and in range.
  std::optional<std::size_t> known_position(const lang::Type& tensor,
                                            const std::vector<Operand>& indices) const;
  // What `inside` gives, so many scalars of the dtype of a small tensor, where that has an element
  // at the indices; else the step fails.
  std::vector<Operand> where_inside(const Spread& tensor, const std::vector<Operand>& indices,
                                    lang::Span span, std::size_t count, Block& block,
                                    const std::function<std::vector<Operand>(Block&)>& inside);
  lang::DType operand_dtype(const Operand& operand) const;
  Operand emit(lang::Prim prim, lang::DType operand, lang::DType result, std::vector<Operand> args,
               Block& block);

  // --- Scatters (flow/scatter.cpp) ---
  Spread scatter(const Expr& expr, Block& block);
  Spread scatter_small(const lang::ScatterReduce& node, const Spread& init, Block& block);
  // One point of a scatter into a small tensor: its elements, some of which become others.
  void scatter_point(const lang::ScatterReduce& node, Spread& tensor, Block& block);
  // The row-major position of indices that are in range, as int64.
  Operand position_of(const lang::Type& tensor, const std::vector<Operand>& indices, Block& block);
  // One point of a scatter into `target`, by Own.
  void store_point(const lang::ScatterReduce& node, const Operand& target, Block& block);
  // --- Kernels (flow/kernels.cpp) ---
  // What kernels compute whose extents are all constants; nothing where they are no part of the
  // function.
  std::optional<Spread> kernels(const Expr& expr, Block& block);
  // The leaves of an argument of kernels, and Step::fields.
  void append_leaves(const Spread& value, const lang::Type& type, Block& block, Step& step);
  Spread run_or_interpret(Step step, const Expr& expr, Block& block);
  std::vector<std::pair<const lang::Variable*, Spread>> views_again(const Expr& expr, Block& block);

  // --- Updates (flow/update.cpp) ---
  struct Update;
  // Index notation that gives a tensor with some elements changed; nothing where it is no such.
  std::optional<Spread> update(const Expr& expr, Block& block);
  Operand updated(const Update& update, Block& block);
  Operand owned(const Update& update, const Operand& tensor, Block& block);
  std::optional<Operand> is_changed(const Update& update, Block& block);
  void set_point(const Update& update, const Operand& target, const Operand& value, Block& block);
  Operand set_element(const Update& update, const Operand& tensor, Block& block);
  Operand set_row(const Update& update, const Operand& tensor, Block& block);
  // An `if` of two blocks that yield one value.
  Operand choice(const Operand& condition, std::vector<Block> blocks, SlotType type, Block& block);

  // A group becomes steps where all of its parts are short.
  Spread group(const Expr& expr, Block& block);
  Spread group_body(const lang::Call& node, Block& block);

  // --- Scalars ---
  Spread primitive(const lang::Primitive& node, Block& block);
  // Of operands that are all known.
  std::optional<Operand> known_primitive(const lang::Primitive& node,
                                         const std::vector<Operand>& args);
  Spread index(const lang::Index& node, Block& block);
  Spread element_or_part(std::vector<Operand> args, const lang::Index& node, Block& block);

  // --- Local functions ---
  const Lifted* find_lifted(const lang::Variable* variable) const;
  void lift(const lang::VariableRef& variable, const Expr& literal);

 public:
  // Local functions and expanded operators live as long as the function.
  void keep();

 private:
  // --- Data ---

  template <class LowerBody>
  Step match(const lang::Match& node, Block& block, LowerBody lower_body) {
    const Spread scrutinee = lower(node.scrutinee, block);
    Step step;
    step.kind = StepKind::Match;
    step.site = site(node.span);
    step.type = node.scrutinee->type;
    append_operands(scrutinee, block, step.args);
    for (const auto& clause : node.clauses) {
      Arm arm;
      pattern(*clause.pattern, scrutinee, node.scrutinee->type, arm);
      lower_body(clause.body, arm.body);
      step.arms.push_back(std::move(arm));
    }
    return step;
  }
  static void add_shape(Operand cell, const std::vector<lang::Type>& fields, Arm& arm);
  // As cell_type, but of kind Empty where that refuses, or where a value may be of several kinds.
  static SlotType stored_type(const lang::Type& type);
  // The value of a field, spread; a tuple in data is a cell.
  Spread field_of(Operand cell, std::uint32_t number, const lang::Type& type, lang::Span span,
                  Arm& arm);
  void pattern(const lang::Pattern& node, const Spread& value, const lang::Type& type, Arm& arm);

  // --- Index notation ---
  // Of a loop that will be a step of `block`, with `body` at each point: what it may want to have
  // made in front of it, then its binders.
  void binders(const std::vector<lang::IndexBinder>& nodes, const Expr& body, Step& step,
               Block& block);
  void before_loop(const Expr& body, Block& block);
  // Lowers what a loop does at each point.
  template <class F>
  void in_loop(const F& body) {
    ++loop_depth_;
    body();
    if (--loop_depth_ == 0) outermost_ = {};
  }
  Spread comprehension(const Expr& expr, Block& block);
  Spread reduction(const Expr& expr, Block& block);
  Function& function_;
  Environment& environment_;
  const Uses& uses_;
  Lowerer* outer_;
  std::unordered_map<const lang::Variable*, Spread> variables_;
  std::unordered_map<const lang::Variable*, Lifted> lifted_;
  std::vector<std::unordered_map<const lang::ExprNode*, Spread>> memo_;  // by block
  std::vector<Expr> expansions_;
  lang::Span operator_span_;
  int loop_depth_ = 0;
  // The outermost loop that is under way, and what it may want to have made in front of it: small
  // parameters as objects, each in a slot before those of the loop.
  struct Wanted {
    Slot first;  // its first element
    lang::Type type;
    Slot slot;
    bool is_made = false;
  };
  struct Outermost {
    Block* around = nullptr;
    std::vector<Wanted> wanted;
  };
  Outermost outermost_;
  static constexpr std::int64_t kMostSmallPoints = 64;
  static constexpr std::size_t kMostSmallSteps = 150;       // at once
  static constexpr std::size_t kMostStepsForKernels = 400;  // of those that the evaluator begins
  static constexpr std::size_t kMostSmallStepsInAll = 600;
  int small_depth_ = 0;  // 1: what is lowered is tried as code of small tensors
  std::size_t small_steps_ = 0;
  std::size_t most_small_steps_ = kMostSmallSteps;
  std::size_t all_small_steps_ = 0;
  std::size_t kernel_steps_ = 0;
  std::size_t kernel_instructions_ = 0;   // of these
  std::unordered_map<Slot, Step> views_;  // by their results
  std::unordered_map<Slot, EitherIndex> either_indices_;
};

}  // namespace relay::flow
