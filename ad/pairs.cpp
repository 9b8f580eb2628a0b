#include "ad/pairs.h"

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "ad/along_number.h"
#include "ad/block.h"
#include "ad/checkpoint.h"
#include "ad/counters.h"
#include "ad/own_gradient.h"
#include "ad/recompute.h"
#include "ad/saved_slices.h"
#include "ad/tape.h"
#include "index/static_shapes.h"
#include "lang/build.h"
#include "lang/checkpoint.h"
#include "lang/diagnostic.h"
#include "lang/function_fact.h"
#include "lang/match_dims.h"
#include "lang/schedule.h"
#include "lang/visit.h"

namespace relay::ad {

using index::with_static_shapes;
using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

// Derives both halves of one function.
class Deriver {
 public:
  Deriver(lang::Program& program, Pairs& pairs, std::string name, Type type, const Pair& pair,
          lang::TypeDefRef residual)
      : program_(program),
        pairs_(pairs),
        name_(std::move(name)),
        type_(std::move(type)),
        pair_(pair),
        residual_(std::move(residual)) {}

  void define(const lang::Function& fn) {
    fn_ = &fn;
    is_inlined_ = is_inlined(fn);
    residual_type_ = own_type(*residual_);
    adjoints_type_ = as<lang::FunctionType>(pair_.backward_type)->result;
    tangents_ = as<lang::TupleType>(adjoints_type_)->fields;
    const std::vector<const lang::Call*> calls = loop_calls(fn.body, name_, type_);
    has_loop_ = !calls.empty();
    if (has_loop_) prepare_loop(calls);
    BlockReverse path(program_, pairs_);
    for (std::size_t i = 0; i < tangents_.size(); ++i) {
      if (is_unit(tangents_[i])) path.deactivate(fn.params[i]);
      if (has_loop_ && is_kept_[i]) path.expect_adjoint(fn.params[i]);
    }
    if (!has_loop_) {
      for (const std::size_t i : pair_.accumulated) path.expect_adjoint(fn.params[i]);
    }
    Expr body = forward_tail(fn.body, path);
    if (!has_loop_) {
      add(pair_.forward, fn.params, body);
    } else {
      settle_unwind();
      lang::Substitution made = {{loop_.get(), lang::make_global_var(loop_name_, {}, loop_type_)}};
      for (TapeStep& step : steps_) made[step.place.get()] = tape_with(step);
      for (const BaseLeaf& leaf : bases_)
        made[leaf.residual.get()] = base_leaf(leaf.value, leaf.path);
      body = lang::substitute(body, made);
      std::vector<VariableRef> params = fn.params;
      params.push_back(tape_);
      add(loop_name_, params, body);
      add_entry();
      add_unwind();
    }
    add_backward();
  }

 private:
  // --- shape of the function ---

  bool is_self_call(const Expr& expr) const {
    const auto* call = as<lang::Call>(expr);
    const auto* global = call ? as<lang::GlobalVar>(call->callee) : nullptr;
    return global && global->name == name_ && lang::equal(global->type, type_);
  }

  void prepare_loop(const std::vector<const lang::Call*>& calls) {
    for (std::size_t i = 0; i < fn_->params.size(); ++i) {
      is_kept_.push_back(std::all_of(calls.begin(), calls.end(), [&](const lang::Call* call) {
        const auto* var = as<lang::Var>(call->args[i]);
        return var && var->variable == fn_->params[i];
      }));
    }
    counters_.emplace(*fn_, calls, is_kept_);
    loop_name_ = program_.reserve_name(name_ + "_taping");
    loop_ = lang::make_variable(loop_name_, pair_.forward_type);
    unwind_name_ = program_.reserve_name(name_ + "_unwind");
  }

  // Once it is known what the steps save. Of steps that are all the same and save nothing, the tape
  // is their number.
  void settle_tape() {
    if (steps_.size() == 1 && steps_.front().saved.empty()) {
      tape_type_ = lang::scalar_type(lang::DType::Int64);
    } else {
      tape_def_ = lang::TypeDefRef(new lang::TypeDef);
      tape_def_->name = program_.reserve_name(name_ + "_Tape");
      tape_def_->params = residual_->params;
      program_.add_type(tape_def_);
      tape_type_ = own_type(*tape_def_);
      start_ = add_constructor(*tape_def_, tape_def_->name + "_Start", {});
    }
    tape_ = lang::make_variable("tape", tape_type_);
    const auto* forward = as<lang::FunctionType>(pair_.forward_type);
    std::vector<Type> params = forward->params;
    params.push_back(tape_type_);
    loop_type_ = lang::function_type(std::move(params), forward->result);
  }

  bool is_tape_number() const { return !tape_def_; }

  // Once it is known what the steps read: parameters that go round unchanged are not taped, but go
  // round the backward loop, too; and so do counters, and the state of the step behind.
  void settle_unwind() {
    carried_ = carry_states(fn_->params, steps_);
    settle_tape();
    std::vector<Type> types = {tape_type_};
    for (std::size_t i = 0; i < fn_->params.size(); ++i) {
      if (counters_->is_counter(i)) settle_counter(i);
    }
    for (std::size_t i = 0; i < fn_->params.size(); ++i) {
      const VariableRef& param = fn_->params[i];
      const auto reads = [&](const TapeStep& step) { return is_free_in(param, step.code); };
      if (is_kept_[i] && std::any_of(steps_.begin(), steps_.end(), reads)) {
        invariants_.push_back(param);
        types.push_back(param->type);
      }
    }
    for (const Carried& each : carried_) types.push_back(each.param->type);
    append_leaves(adjoints_type_, types);
    unwind_type_ = lang::function_type(std::move(types), adjoints_type_);
  }

  // Each step that reads a counter has it from the one behind.
  void settle_counter(std::size_t number) {
    const VariableRef& param = fn_->params[number];
    if (std::none_of(steps_.begin(), steps_.end(),
                     [&](const TapeStep& step) { return is_free_in(param, step.code); }))
      return;
    const VariableRef after = lang::make_variable(param->name, param->type);
    for (TapeStep& step : steps_)
      step.code = lang::make_let(
          param, counters_->before(*step.call, number, lang::make_var(after)), step.code);
    carried_.push_back({param, after});
  }

  static bool is_free_in(const VariableRef& variable, const Expr& code) {
    const std::vector<VariableRef> free = lang::free_variables(code);
    return std::find(free.begin(), free.end(), variable) != free.end();
  }

  // --- forward half, leaf by leaf ---

  Expr forward_tail(const Expr& expr, BlockReverse& path) {
    const lang::Block block = lang::open_block(expr);
    const std::size_t before = path.size();
    path.forward(block.bindings);
    return forward_result(block.result, path, before);
  }

  // The bindings added to the path since `before`, then `result`.
  static Expr close(const BlockReverse& path, std::size_t before, Expr result) {
    return lang::close_block({path.primal(before), std::move(result)});
  }

  Expr forward_result(const Expr& result, BlockReverse& path, std::size_t before) {
    const Type both = as<lang::FunctionType>(pair_.forward_type)->result;
    if (const auto* branch = as<lang::If>(result)) {
      BlockReverse then_path = path, else_path = path;
      Expr then_code = forward_tail(branch->then_branch, then_path);
      Expr else_code = forward_tail(branch->else_branch, else_path);
      return close(path, before,
                   lang::make_if(branch->condition, std::move(then_code), std::move(else_code),
                                 result->span, both));
    }
    if (const auto* match = as<lang::Match>(result)) {
      std::vector<lang::Clause> clauses;
      for (const auto& clause : match->clauses) {
        BlockReverse clause_path = path;
        const lang::PatternRef pattern = clause_path.enter(match->scrutinee, clause.pattern);
        clauses.push_back({pattern, forward_tail(clause.body, clause_path)});
      }
      return close(path, before,
                   lang::make_match(match->scrutinee, std::move(clauses), match->is_complete,
                                    result->span, both));
    }
    if (has_loop_ && is_self_call(result)) {
      std::vector<Expr> args = lang::cast<lang::Call>(result).args;
      std::vector<lang::Binding> slices;
      args.push_back(step_leaf(lang::cast<lang::Call>(result), path, slices));
      return lang::close_block(
          {bound_early(path.primal(before), slices),
           lang::make_call(lang::make_var(loop_), std::move(args), nullptr, {}, both)});
    }
    const Expr value = path.forward_value("value", result);
    if (has_loop_) {
      bases_.push_back({path, value, lang::make_variable("residual", residual_type_)});
      return close(path, before, build::tuple({value, lang::make_var(bases_.back().residual)}));
    }
    const Expr saved = base_leaf(value, path);
    return close(path, before, build::tuple({value, saved}));
  }

  // Backward code of a path whose seeds are set: the block, and what it reads of the primal.
  struct Backward {
    Expr block;
    std::vector<VariableRef> saved;
  };

  // Where a loop ends. Its residual is made once all steps are known; its variable stands for it.
  struct BaseLeaf {
    BlockReverse path;
    Expr value;
    VariableRef residual;
  };

  // The adjoints of the parameters, of a path whose seeds are set.
  Expr reversed(BlockReverse& path) const {
    path.reverse();
    std::vector<Expr> adjoints;
    for (std::size_t i = 0; i < tangents_.size(); ++i) {
      adjoints.push_back(is_unit(tangents_[i]) ? build::tuple({})
                                               : path.adjoint_of(fn_->params[i]));
    }
    return build::tuple(std::move(adjoints));
  }

  Backward backward_of(BlockReverse& path, const std::vector<VariableRef>& own,
                       const std::function<Expr(Expr)>& finish) {
    Expr result = finish(reversed(path));
    Backward backward{
        with_static_shapes(lang::close_block({path.backward().take(), std::move(result)})), {}};
    for (const auto& variable : lang::free_variables(backward.block)) {
      if (std::find(own.begin(), own.end(), variable) == own.end())
        backward.saved.push_back(variable);
    }
    return backward;
  }

  static lang::Clause clause_of(const lang::Constructor* constructor, const Backward& backward,
                                const VariableRef& rest) {
    std::vector<lang::PatternRef> fields;
    lang::Substitution renamed;
    for (const auto& variable : backward.saved) {
      VariableRef fresh = lang::make_variable(variable->name, variable->type);
      renamed[variable.get()] = lang::make_var(fresh);
      fields.push_back(lang::variable_pattern(fresh));
    }
    if (rest) fields.push_back(lang::variable_pattern(rest));
    return {lang::constructor_pattern(constructor, std::move(fields)),
            lang::rename_bound(lang::substitute(backward.block, renamed))};
  }

  static std::vector<Type> types_of(const std::vector<VariableRef>& variables) {
    std::vector<Type> types;
    for (const auto& variable : variables) types.push_back(variable->type);
    return types;
  }
  // A leaf that yields a result. Returns the residual of the forward half.
  Expr base_leaf(const Expr& value, const BlockReverse& path) {
    BlockReverse leaf = path;
    const VariableRef adjoint =
        lang::make_variable("adjoint", pairs_.tangents().or_unit(value->type));
    leaf.seed(value, lang::make_var(adjoint));
    make_accumulators();
    // What is known of the adjoint of an argument goes round the loop if that does. Else it is
    // added at the end: the last step's parameter is another value.
    std::vector<Expr> added(tangents_.size());
    std::size_t next = 0;
    for (const std::size_t i : pair_.accumulated) {
      Expr so_far = packed(tangents_[i], accumulators_, next);
      if (has_loop_ && !is_kept_[i]) {
        added[i] = std::move(so_far);
      } else {
        leaf.seed(lang::make_var(fn_->params[i]), so_far);
      }
    }
    const VariableRef rest = has_loop_ ? lang::make_variable("tape", tape_type_) : VariableRef();
    std::vector<VariableRef> own = accumulators_;
    own.push_back(adjoint);
    if (rest) own.push_back(rest);
    Backward backward = backward_of(leaf, own, [&](const Expr& adjoints) {
      return rest ? sum(unwind(lang::make_var(rest), adjoints), added, leaf.backward()) : adjoints;
    });
    std::vector<Type> types = types_of(backward.saved);
    std::vector<Expr> fields = uses_of(backward.saved);
    if (rest) {
      types.push_back(tape_type_);
      fields.push_back(lang::make_var(tape_));
    }
    const auto* constructor = add_constructor(
        *residual_, fmt::format("{}_{}", residual_->name, residual_->constructors.size()), types);
    // The clauses of one `match` share the name of the incoming adjoint.
    backward.block = lang::substitute(backward.block,
                                      {{adjoint.get(), lang::make_var(incoming(adjoint->type))}});
    base_clauses_.push_back(clause_of(constructor, backward, rest));
    return construct(constructor, std::move(fields), residual_type_);
  }

  // The parameters of the backward half that hold adjoints so far.
  void make_accumulators() {
    const auto& params = as<lang::FunctionType>(pair_.backward_type)->params;
    while (accumulators_.size() + 2 < params.size())
      accumulators_.push_back(lang::make_variable("so_far", params[accumulators_.size() + 2]));
  }

  const VariableRef& incoming(const Type& type) {
    if (!incoming_) incoming_ = lang::make_variable("adjoint", type);
    return incoming_;
  }

  // The adjoints of the arguments in the backward loop: made of its parameters, one for each
  // tensor, so that none is held by a tuple as well and what is added to it is added in place.
  Expr adjoints_state() {
    if (state_.empty()) {
      std::vector<Type> leaves;
      append_leaves(adjoints_type_, leaves);
      for (const Type& leaf : leaves) state_.push_back(lang::make_variable("adjoint", leaf));
    }
    std::size_t next = 0;
    return packed(adjoints_type_, state_, next);
  }

  Expr unwind(Expr tape, const Expr& adjoints) const {
    std::vector<Expr> args = {std::move(tape)};
    for (const VariableRef& each : invariants_) args.push_back(lang::make_var(each));
    for (const Carried& each : carried_) args.push_back(lang::make_var(each.param));
    append_parts(adjoints, args);
    return call_global(unwind_name_, unwind_type_, std::move(args));
  }

  // A tuple of adjoints, with more of some of them.
  Expr sum(const Expr& adjoints, const std::vector<Expr>& added, Emitter& code) {
    if (std::none_of(added.begin(), added.end(), [](const Expr& more) { return bool(more); }))
      return adjoints;
    const Expr all = code.emit("adjoints", adjoints);
    std::vector<Expr> parts;
    for (std::uint32_t i = 0; i < added.size(); ++i) {
      const Expr part = code.emit("part", build::project(all, i));
      parts.push_back(added[i] ? pairs_.tangents().add(added[i], part) : part);
    }
    return build::tuple(std::move(parts));
  }

  // A leaf that goes round the loop. Returns what stands for the tape with this step on top, which
  // needs `slices` of the path's values, too.
  Expr step_leaf(const lang::Call& call, const BlockReverse& path,
                 std::vector<lang::Binding>& slices) {
    BlockReverse leaf = path;
    leaf.has_run();
    const Expr state = adjoints_state();
    for (std::uint32_t i = 0; i < tangents_.size(); ++i) {
      if (!is_unit(tangents_[i])) leaf.seed(call.args[i], build::project(state, i));
    }
    TapeStep step;
    const Expr adjoints = reversed(leaf);
    step.code = with_static_shapes(lang::close_block({leaf.backward().take(), adjoints}));
    step.call = &call;
    const auto is_at_hand = [&](const VariableRef& variable) {
      const std::size_t number = number_of(variable);
      return number < is_kept_.size() && (is_kept_[number] || counters_->is_counter(number));
    };
    for (const auto& variable : lang::free_variables(step.code)) {
      const bool is_own = std::find(state_.begin(), state_.end(), variable) != state_.end();
      if (!is_own && !is_at_hand(variable)) step.saved.push_back(variable);
    }
    lang::Block code = lang::open_block(step.code);
    std::vector<lang::Binding> again = recompute(step.saved, path.primal(0), is_at_hand);
    code.bindings.insert(code.bindings.begin(), again.begin(), again.end());
    step.code = lang::close_block(code);
    slices = save_slices(step.saved, step.code, is_at_hand);
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const auto* var = as<lang::Var>(call.args[i]);
      const bool is_made = var && number_of(var->variable) == fn_->params.size() &&
                           lang::equal(var->variable->type, fn_->params[i]->type);
      step.next.push_back(is_made ? var->variable : VariableRef());
    }
    step.place = lang::make_variable("tape", residual_type_);
    steps_.push_back(std::move(step));
    return lang::make_var(steps_.back().place);
  }

  // Which parameter it is; their number for another variable.
  std::size_t number_of(const VariableRef& variable) const {
    const auto found = std::find(fn_->params.begin(), fn_->params.end(), variable);
    return static_cast<std::size_t>(found - fn_->params.begin());
  }

  // The tape with a step on top, of which all is known.
  Expr tape_with(TapeStep& step) {
    if (is_tape_number()) return build::add(lang::make_var(tape_), build::index_constant(1));
    std::vector<Type> types = types_of(step.saved);
    types.push_back(tape_type_);
    std::vector<Expr> fields = uses_of(step.saved);
    fields.push_back(lang::make_var(tape_));
    step.constructor = add_constructor(
        *tape_def_, fmt::format("{}_Step{}", tape_def_->name, tape_def_->constructors.size()),
        types);
    return construct(step.constructor, std::move(fields), tape_type_);
  }

  // --- the functions ---

  // The halves of a branch, and of what is as small as one, come together again where they are
  // called: then the residual need not be made (opt/branches).
  static bool is_inlined(const lang::Function& fn) {
    if (lang::has_fact(fn, lang::FunctionFact::Inline)) return true;
    constexpr int kSmall = 40;
    int nodes = 0;
    bool calls = false;
    lang::visit_post_order(fn.body, [&](const Expr& node) {
      ++nodes;
      calls = calls || node->kind == ExprKind::GlobalVar;
    });
    return nodes <= kSmall && !calls;
  }

  void add(const std::string& name, const std::vector<VariableRef>& params, const Expr& body) {
    program_.add_function(
        name,
        lang::rename_bound(lang::make_function(
            params, body->type, body, {},
            lang::with_inherited_schedule(*fn_, body, is_inlined_ ? inline_mark() : nullptr))));
  }

  void add_entry() {
    std::vector<VariableRef> params;
    for (const auto& param : fn_->params)
      params.push_back(lang::make_variable(param->name, param->type));
    std::vector<Expr> args = uses_of(params);
    args.push_back(is_tape_number() ? build::index_constant(0) : construct(start_, {}, tape_type_));
    add(pair_.forward, params, call_global(loop_name_, loop_type_, std::move(args)));
  }

  void add_unwind() {
    const VariableRef tape = lang::make_variable("tape", tape_type_);
    std::vector<VariableRef> params = {tape};
    params.insert(params.end(), invariants_.begin(), invariants_.end());
    for (const Carried& each : carried_) params.push_back(each.after);
    params.insert(params.end(), state_.begin(), state_.end());
    add(unwind_name_, params,
        is_tape_number() ? counted_turns(lang::make_var(tape)) : taped_turns(lang::make_var(tape)));
  }

  Expr counted_turns(const Expr& tape) {
    return lang::make_if(build::prim(lang::Prim::Lt, {build::index_constant(0), tape}),
                         turn(steps_.front(), build::sub(tape, build::index_constant(1))),
                         adjoints_state(), {}, adjoints_type_);
  }

  Expr taped_turns(const Expr& tape) {
    std::vector<lang::Clause> clauses;
    for (const TapeStep& step : steps_) {
      const VariableRef rest = lang::make_variable("tape", tape_type_);
      clauses.push_back(
          clause_of(step.constructor, {turn(step, lang::make_var(rest)), step.saved}, rest));
    }
    clauses.push_back({lang::constructor_pattern(start_, {}), adjoints_state()});
    return lang::make_match(tape, std::move(clauses), true, {}, adjoints_type_);
  }

  // A step, and the ones before it, which `rest` tells.
  Expr turn(const TapeStep& step, Expr rest) const {
    lang::Block code = lang::open_block(step.code);
    code.result = unwind(std::move(rest), code.result);
    return lang::close_block(code);
  }

  void add_backward() {
    const auto* type = as<lang::FunctionType>(pair_.backward_type);
    const VariableRef residual = lang::make_variable("residual", residual_type_);
    std::vector<VariableRef> params = {residual, incoming(type->params[1])};
    params.insert(params.end(), accumulators_.begin(), accumulators_.end());
    add(pair_.backward, params,
        lang::make_match(lang::make_var(residual), base_clauses_, true, {}, adjoints_type_));
  }

  lang::Program& program_;
  Pairs& pairs_;
  std::string name_;
  Type type_;
  const Pair& pair_;
  lang::TypeDefRef residual_;
  const lang::Function* fn_ = nullptr;
  bool is_inlined_ = false;
  Type residual_type_, adjoints_type_;
  std::vector<Type> tangents_;
  std::vector<lang::Clause> base_clauses_;
  VariableRef incoming_;
  std::vector<VariableRef> accumulators_;
  // loops
  bool has_loop_ = false;
  std::vector<bool> is_kept_;  // parameters that go round unchanged
  std::optional<Counters> counters_;
  lang::TypeDefRef tape_def_;  // null where the tape is a number
  Type tape_type_, loop_type_, unwind_type_;
  const lang::Constructor* start_ = nullptr;
  // Stands for the forward loop until the type of its tape is known, which this one's lacks.
  VariableRef loop_;
  VariableRef tape_;
  std::vector<VariableRef> state_;
  std::string loop_name_, unwind_name_;
  std::vector<TapeStep> steps_;
  std::vector<BaseLeaf> bases_;
  std::vector<VariableRef> invariants_;  // kept parameters that a step reads going backwards
  std::vector<Carried> carried_;
};

}  // namespace

namespace {

// fn (x) { let result = f(x); result }: the halves of a function with a gradient of its own, which
// holds for the call. (A call at the end would be taken for a loop.)
Expr calling(const std::string& name, const Type& type, const lang::Function& function) {
  std::vector<VariableRef> params;
  std::vector<Expr> args;
  for (const auto& param : function.params) {
    params.push_back(lang::make_variable(param->name, param->type));
    args.push_back(lang::make_var(params.back()));
  }
  const Type& result = as<lang::FunctionType>(type)->result;
  const VariableRef variable = lang::make_variable("result", result);
  const Expr call =
      lang::make_call(lang::make_global_var(name, {}, type), std::move(args), nullptr, {}, result);
  return lang::make_function(std::move(params), result,
                             lang::make_let(variable, call, lang::make_var(variable)));
}

}  // namespace

namespace {

// Does it cost less to add to such an adjoint than to make one anew and add them?
bool is_worth_keeping(const Type& tangent, const Type& function_tangent) {
  if (const auto* tuple = as<lang::TupleType>(tangent)) {
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), [&](const Type& field) {
      return is_worth_keeping(field, function_tangent);
    });
  }
  if (lang::equal(tangent, function_tangent)) return true;
  return as<lang::TensorType>(tangent) && !lang::is_scalar(tangent);
}

}  // namespace

Expr Pairs::prepared(const Expr& function) {
  Expr result = functions_.prepared(function);
  refuse_captured_references(result, program_, *this);
  return result;
}

// Which parameters have accumulators.
std::vector<bool> Pairs::accumulated(const std::string& name, const Type& type,
                                     const Choice& choice) {
  const auto& params = as<lang::FunctionType>(type)->params;
  std::vector<bool> are(params.size(), false);
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Type tangent = choice.wanted[i] ? tangents_.or_unit(params[i]) : lang::unit_type();
    const bool is_expected = !choice.expected.empty() && choice.expected[i];
    are[i] = i < choice.captured ? !is_unit(tangent)
                                 : is_worth_keeping(tangent, tangents_.function_tangent()) &&
                                       threading_.has_accumulator(name, type, i, is_expected);
  }
  return are;
}

// The names and types of both halves; `residual` gets its name, and the extents that the function's
// type leaves open as parameters.
Pair Pairs::declare(const std::string& name, const Type& type, const Choice& choice,
                    lang::TypeDefRef residual) {
  const auto* fn_type = as<lang::FunctionType>(type);
  residual->name = program_.reserve_name(name + "_Residual");
  for (const lang::TypeVarRef& variable : lang::variables_of(type)) {
    if (variable->kind == lang::VarKind::Dim) residual->params.push_back(variable);
  }
  const Type residual_type = own_type(*residual);
  program_.add_type(std::move(residual));
  Pair pair;
  std::vector<Type> tangents;
  std::vector<Type> given = {residual_type, tangents_.or_unit(fn_type->result)};
  const std::vector<bool> are_accumulated = accumulated(name, type, choice);
  for (std::size_t i = 0; i < fn_type->params.size(); ++i) {
    tangents.push_back(choice.wanted[i] ? tangents_.or_unit(fn_type->params[i])
                                        : lang::unit_type());
    if (!are_accumulated[i]) continue;
    pair.accumulated.push_back(i);
    append_leaves(tangents[i], given);
  }
  pair.forward = program_.reserve_name(name + "_forward");
  pair.backward = program_.reserve_name(name + "_backward");
  pair.forward_type =
      lang::function_type(fn_type->params, lang::tuple_type({fn_type->result, residual_type}));
  pair.backward_type = lang::function_type(std::move(given), lang::tuple_type(std::move(tangents)));
  return pair;
}

namespace {

// The pair of a function of type `own`, as a use at type `actual` sees it.
Pair at_dims_of(Pair pair, const Type& own, const Type& actual) {
  lang::TypeSubstitution dims;
  lang::match_dims(own, actual, dims);
  pair.forward_type = lang::substitute(pair.forward_type, dims);
  pair.backward_type = lang::substitute(pair.backward_type, dims);
  return pair;
}

}  // namespace

Pair Pairs::of_global(const std::string& name, const Type& type, const std::vector<bool>& wanted,
                      const std::vector<bool>& expected, std::size_t captured) {
  const Expr own = program_.function(name, type);
  const std::size_t before = known_.size();
  try {
    return at_dims_of(at_own_type(name, own, {wanted, expected, captured}), own->type, type);
  } catch (const lang::Failure&) {
    // Those derived on the way may call this one, which does not exist.
    for (; known_.size() > before; known_.pop_back()) globals_.erase(known_.back());
    throw;
  }
}

const Pair& Pairs::remember(const std::string& key, const Pair& pair) {
  known_.push_back(key);
  return *globals_.emplace(key, &pair).first->second;
}

const Pair& Pairs::at_own_type(const std::string& name, const Expr& own, const Choice& choice) {
  std::string key = fmt::format("{} : {} / ", name, lang::to_string(own->type));
  for (const bool is_accumulated : accumulated(name, own->type, choice))
    key += is_accumulated ? '+' : '-';
  key += " / ";
  for (const bool is_wanted : choice.wanted) key += is_wanted ? '1' : '0';
  const auto found = globals_.find(key);
  return found != globals_.end() ? *found->second : derive_global(key, name, own, choice);
}

// Null where the function is none of those, or forward mode has no derivative of it.
const Pair* Pairs::along_number(const std::string& key, const std::string& name, const Expr& own,
                                const Choice& choice) {
  const auto& function = lang::cast<lang::Function>(own);
  if (choice.captured > 0 ||
      !is_along_number(program_, function, name, own->type, choice.wanted, tangents_) ||
      uses_.in_global(name, own->type))
    return nullptr;
  const auto derived = lang::capture([&] {
    lang::TypeDefRef residual(new lang::TypeDef);
    Pair pair = declare(name, own->type, choice, residual);
    define_along_number(program_, *this, name, own->type, choice.wanted, pair, *residual);
    return pair;
  });
  if (!derived) return nullptr;
  pairs_.push_back(*derived);
  return &remember(key, pairs_.back());
}

const Pair& Pairs::derive_global(const std::string& key, const std::string& name, const Expr& own,
                                 Choice choice) {
  const Type& type = own->type;
  const auto& own_function = lang::cast<lang::Function>(own);
  const Expr function = lang::rename_bound(
      lang::gradient_of(own_function) ? calling(name, type, own_function) : prepared(own));
  RELAY_CHECK(function->kind == ExprKind::Function, "a global function's body is a function");
  if (const Pair* pair = along_number(key, name, own, choice)) return *pair;
  const std::vector<bool> active = active_params(lang::cast<lang::Function>(function), name, type,
                                                 choice.wanted, tangents_, uses_);
  if (active != choice.wanted) {
    choice.wanted = active;
    return remember(key, at_own_type(name, own, choice));
  }
  lang::TypeDefRef residual(new lang::TypeDef);
  pairs_.push_back(declare(name, type, choice, residual));
  // Before the body, which may call the function.
  const Pair& known = remember(key, pairs_.back());
  const auto derive = [&](const Pair& pair, const lang::TypeDefRef& saved) {
    Deriver(program_, *this, name, type, pair, saved).define(lang::cast<lang::Function>(function));
  };
  if (lang::is_checkpoint(own_function)) {
    lang::TypeDefRef saved(new lang::TypeDef);
    const Pair inner = declare(name, type, choice, saved);
    derive(inner, saved);
    const bool uses_references = uses_.in_global(name, type);
    const bool gives_functions =
        tangents_.holds_function(lang::as<lang::FunctionType>(type)->result);
    // References made again are others than those that the result knows.
    if (uses_references && gives_functions) {
      lang::fail(lang::DiagnosticKind::Unsupported,
                 "not supported: computing again, for a derivative, what uses references and gives "
                 "functions or references",
                 own_function.span);
    }
    define_checkpoint(program_, name, type, known, inner, *residual, uses_references,
                      gives_functions);
  } else {
    derive(known, residual);
  }
  return known;
}

}  // namespace relay::ad
