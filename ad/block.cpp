#include "ad/block.h"

#include <algorithm>

#include <fmt/format.h>

#include "ad/adjoint_operator.h"
#include "ad/closures.h"
#include "ad/own_gradient.h"
#include "ad/pairs.h"
#include "ad/pattern.h"
#include "ad/replay.h"
#include "ad/transpose.h"
#include "ad/way.h"
#include "index/flatten.h"
#include "index/scalar_form.h"
#include "lang/any_dim.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/op.h"
#include "lang/record.h"
#include "lang/visit.h"

namespace relay::ad {

using index::flatten;
using index::is_arithmetic;
using index::PrimalCode;
using index::scalar_form;
using lang::as;
using lang::Binding;
using lang::DiagnosticKind;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

Type BlockReverse::tangent_of(const Expr& expr, lang::Span span) const {
  const auto* var = as<lang::Var>(expr);
  if (var && !active_.is_active(var->variable)) return lang::unit_type();
  Type tangent = pairs_.tangents().of(expr->type);
  if (!tangent) {
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported: differentiation through a value of type `{}`",
                           lang::to_string(expr->type)),
               span);
  }
  return tangent;
}

BlockReverse::BlockReverse(lang::Program& program, Pairs& pairs)
    : program_(program),
      pairs_(pairs),
      backward_(pairs.tangents()),
      active_(pairs.tangents(), pairs.reference_use()) {}

void BlockReverse::forward(const std::vector<Binding>& bindings) {
  for (const Binding& binding : bindings) forward_binding(binding);
}

Expr BlockReverse::forward_value(const std::string& name, const Expr& value) {
  if (build::is_atom(value)) return value;
  VariableRef variable = lang::make_variable(name, value->type, value->span);
  forward_binding({variable, value, value->span});
  return lang::make_var(variable);
}

void BlockReverse::forward_binding(const Binding& binding) {
  const Expr& value = binding.value;
  if (is_point_) own_.insert(binding.variable.get());
  note_extent(binding, extents_);
  const bool is_active = active_.bind(binding.variable, value);
  if (value->kind == ExprKind::Function) return forward_function(binding);
  if (!is_active && !pairs_.reference_use().in(value)) {
    primal_.push_back({binding});
    return;
  }
  note_part(binding);
  if (const auto* call = as<lang::Call>(value)) {
    if (const auto* op = as<lang::Operator>(call->callee))
      return forward_operator(binding, *call, *op->op);
    return forward_call(binding, *call);
  }
  if (value->kind == ExprKind::If || value->kind == ExprKind::Match)
    return forward_branches(binding);
  const Expr since = forward_watch(binding);
  if (!forward_index_notation(binding)) primal_.push_back({binding});
  if (since) push_effect(end_replay());
}

void BlockReverse::note_part(const Binding& binding) {
  const auto* projection = as<lang::Projection>(binding.value);
  const auto* match = as<lang::Match>(binding.value);
  const Expr whole = projection ? projection->tuple : match ? match->scrutinee : Expr();
  const auto index = projection ? std::optional(projection->index)
                     : match    ? field_read(*match)
                                : std::nullopt;
  const auto* var = as<lang::Var>(whole);
  const bool is_part = var && index && is_product(whole->type) && active_.is_active(var->variable);
  if (is_part) parts_.insert_or_assign(binding.variable.get(), PartOf{var->variable, *index});
}

void BlockReverse::forward_call(const Binding& binding, const lang::Call& call) {
  const auto* global = pairs_.growing_recursion().known_callee(call.callee);
  const auto* var = as<lang::Var>(call.callee);
  const bool is_asked_for = !is_unit(pairs_.tangents().or_unit(binding.value->type));
  if (call.callee->kind == ExprKind::ConstructorRef ||
      (var && plain_functions_.count(var->variable.get()))) {
    primal_.push_back({binding});
    return;
  }
  std::vector<Expr> args = call.args;
  std::string name;
  Type type = call.callee->type;
  if (global) {
    name = global->name;
    const Expr callee = program_.function(name, type);
    if (const std::string* gradient = lang::gradient_of(lang::cast<lang::Function>(callee))) {
      if (is_asked_for) custom_.emplace(binding.variable.get(), *gradient);
      primal_.push_back({binding});
      return;
    }
  } else if (var && functions_.count(var->variable.get())) {
    const KnownFunction& known = functions_.at(var->variable.get());
    name = known.global;
    type = known.type;
    args = known.captures;
    args.insert(args.end(), call.args.begin(), call.args.end());
  } else {
    return forward_unknown(binding, call);
  }
  const bool uses_references = pairs_.reference_use().in_global(name, type);
  if (!is_asked_for && !uses_references) {
    primal_.push_back({binding});
    return;
  }
  const Pair pair = pair_of(name, type, args);
  forward_pair(binding, pair, std::move(args), uses_references);
}

void BlockReverse::forward_pair(const Binding& binding, const Pair& pair, std::vector<Expr> args,
                                bool uses_references) {
  const lang::Span span = binding.value->span;
  const Type& result = as<lang::FunctionType>(pair.forward_type)->result;
  VariableRef both = lang::make_variable(binding.variable->name + "_both", result);
  VariableRef residual = lang::make_variable(binding.variable->name + "_residual",
                                             as<lang::TupleType>(result)->fields[1]);
  primal_.push_back({{both,
                      lang::make_call(lang::make_global_var(pair.forward, span, pair.forward_type),
                                      args, nullptr, span, result),
                      span}});
  primal_.push_back({{residual, build::project(lang::make_var(both), 1)}});
  primal_.push_back({{binding.variable, build::project(lang::make_var(both), 0), span}});
  pair_calls_[binding.variable.get()] = {pair.backward,      residual,         std::move(args),
                                         pair.backward_type, pair.accumulated, uses_references};
}

Pair BlockReverse::pair_of(const std::string& name, const Type& type,
                           const std::vector<Expr>& args) {
  std::vector<bool> wanted, expected;
  for (const Expr& arg : args) {
    wanted.push_back(!is_unit(pairs_.tangents().or_unit(arg->type)) && active_.reads_active(arg));
    expected.push_back(wanted.back() && expects_adjoint(arg));
  }
  return pairs_.of_global(name, type, wanted, expected);
}

bool BlockReverse::expects_adjoint(const Expr& atom) const {
  const auto* var = as<lang::Var>(atom);
  if (!var) return false;
  const lang::Variable* variable = var->variable.get();
  return expected_.count(variable) || (is_point_ && !own_.count(variable));
}

void BlockReverse::forward_branches(const Binding& binding) {
  const Expr& value = binding.value;
  if (is_unit(tangent_of(value, value->span)) && !pairs_.reference_use().in(value)) {
    primal_.push_back({binding});
    return;
  }
  if (const auto* match = as<lang::Match>(value); match && is_without_choice(*match))
    return forward_fields(binding, *match);
  // A branch in the middle: a function of its free variables, called on the spot.
  std::vector<VariableRef> params = lang::free_variables(value);
  std::vector<Expr> args;
  for (const auto& param : params) args.push_back(lang::make_var(param));
  const Expr lifted = lang::make_function(params, value->type, value, {}, nullptr, value->span);
  const Lifted branch = lift(program_, binding.variable->name + "_branch",
                             lang::rename_bound(lifted), nullptr, inline_mark());
  const Pair pair = pair_of(branch.name, branch.type, args);
  forward_pair(binding, pair, std::move(args),
               pairs_.reference_use().in_global(branch.name, branch.type));
}

// An alias: a one-field tuple keeps the variable and its adjoint apart from the atom's.
void BlockReverse::forward_alias(const Binding& binding, const Expr& atom) {
  VariableRef alias = lang::make_variable("alias", lang::tuple_type({atom->type}));
  primal_.push_back({{alias, build::tuple({atom})}});
  primal_.push_back({{binding.variable, build::project(lang::make_var(alias), 0), binding.span}});
}

// Known calls go to the lifted global; as a value it is a literal that calls it.
void BlockReverse::forward_function(const Binding& binding) {
  const Expr& literal = binding.value;
  const auto& function = lang::cast<lang::Function>(literal);
  if (is_unit(pairs_.tangents().or_unit(function.body->type)) &&
      !pairs_.reference_use().in(function.body)) {
    plain_functions_.insert(binding.variable.get());
    primal_.push_back({binding});
    return;
  }
  Tangents& tangents = pairs_.tangents();
  if (auto placed = as_placed(literal)) {  // differentiated before: its adjoint keeps its form
    primal_.push_back({binding});
    functions_[binding.variable.get()] = {std::move(placed->global), std::move(placed->type),
                                          std::move(placed->captures),
                                          tangents.place(placed->place)};
    return;
  }
  const auto free = lang::free_variables(literal);
  const bool is_recursive = std::find(free.begin(), free.end(), binding.variable) != free.end();
  Lifted lifted = lift(program_, binding.variable->name, literal,
                       is_recursive ? binding.variable : VariableRef());
  std::vector<Expr> captures;
  std::vector<Type> captured;
  for (const auto& capture : lifted.captures) {
    captures.push_back(lang::make_var(capture));
    const Type type = tangents.or_unit(capture->type);
    if (!is_unit(type)) captured.push_back(type);
  }
  const lang::Constructor* place = tangents.add_place(std::move(captured));
  primal_.push_back(
      {{binding.variable, placed_literal(lifted, literal, place->tag), binding.span}});
  functions_[binding.variable.get()] = {std::move(lifted.name), std::move(lifted.type),
                                        std::move(captures), place};
}

// What the function is, its value knows: it gives the result and a pullback.
void BlockReverse::forward_unknown(const Binding& binding, const lang::Call& call) {
  Tangents& tangents = pairs_.tangents();
  const auto* type = as<lang::FunctionType>(call.callee->type);
  RELAY_CHECK(type, "what is called is a function");
  const Type with_pullback = tangents.with_pullback(*type);
  const std::string& name = binding.variable->name;
  const VariableRef derived = lang::make_variable(name + "_derived", with_pullback);
  const VariableRef both =
      lang::make_variable(name + "_both", as<lang::FunctionType>(with_pullback)->result);
  const VariableRef pullback =
      lang::make_variable(name + "_pullback", as<lang::TupleType>(both->type)->fields[1]);
  const Expr op = lang::make_operator(&tangents.pullback_operator(), call.span,
                                      lang::function_type({call.callee->type}, with_pullback));
  primal_.push_back(
      {{derived, lang::make_call(op, {call.callee}, nullptr, call.span, with_pullback),
        call.span}});
  primal_.push_back(
      {{both, lang::make_call(lang::make_var(derived), call.args, nullptr, call.span, both->type),
        call.span}});
  primal_.push_back({{pullback, build::project(lang::make_var(both), 1)}});
  primal_.push_back({{binding.variable, build::project(lang::make_var(both), 0), call.span}});
  unknown_calls_[binding.variable.get()] = {pullback, call.callee, call.args};
}

void BlockReverse::forward_operator(const Binding& binding, const lang::Call& call,
                                    const lang::OpDef& op) {
  const bool has_rule =
      op.gradient || !op.differentiable || op.effect != lang::Effect::None || !op.definition;
  const Type tangent = pairs_.tangents().of(binding.value->type);
  const bool waits = lang::has_any_dim(binding.value->type) ||
                     std::any_of(call.args.begin(), call.args.end(),
                                 [](const Expr& arg) { return lang::has_any_dim(arg->type); });
  if (has_rule || waits || !tangent || is_unit(tangent)) {
    primal_.push_back({binding});
    return;
  }
  const auto expanded =
      lang::definition_at(op, {call.args, call.attrs, binding.value->type}, call.algebra);
  if (!expanded) {
    primal_.push_back({binding});
    return;
  }
  lang::Block block = flatten(*expanded);
  // Its steps stand where the operator is called.
  const lang::Span place = binding.value->span;
  for (const Binding& inner : block.bindings)
    forward_binding({inner.variable, inner.value, inner.span ? inner.span : place});
  if (build::is_atom(block.result)) return forward_alias(binding, block.result);
  forward_binding({binding.variable, block.result, binding.span ? binding.span : place});
}

std::vector<Binding> BlockReverse::primal(std::size_t first) const {
  std::vector<Binding> bindings;
  for (std::size_t i = first; i < primal_.size(); ++i) {
    if (!primal_[i].pattern) bindings.push_back(primal_[i].binding);
  }
  return bindings;
}

void BlockReverse::seed(const Expr& atom, const Expr& adjoint) { accumulate(atom, adjoint); }

void BlockReverse::accumulate(const Expr& atom, const Expr& contribution) {
  if (!contribution) return;
  const auto* var = as<lang::Var>(atom);
  RELAY_CHECK(var || build::is_atom(atom), "an adjoint for what is no atom would get lost");
  if (!var) {  // constants: only what happens on the way counts
    const auto* call = as<lang::Call>(contribution);
    const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
    if (op && op->op->effect == lang::Effect::Print) backward_.emit("told", contribution);
    return;
  }
  const Type tangent = tangent_of(atom, atom->span);
  if (is_unit(tangent)) return;
  adjoint_to_add_to(var->variable)
      .add(contribution, tangent, backward_, var->variable->name + "_adj");
}

Adjoint& BlockReverse::adjoint_to_add_to(const VariableRef& variable) {
  if (const auto found = parts_.find(variable.get()); found != parts_.end()) {
    const auto& [whole, index] = found->second;
    return adjoint_to_add_to(whole).part(index, tangent_of(lang::make_var(whole), variable->span),
                                         backward_);
  }
  const auto [known, is_new] = adjoints_.try_emplace(variable.get());
  if (is_new && outside_ && !outside_->inside.count(variable.get())) {
    outside_->whole.push_back({variable, {}});
    const Type tangent = tangent_of(lang::make_var(variable), variable->span);
    known->second.start(tangent, outside_->whole.back().so_far);
  }
  return known->second;
}

// In the body of index notation, reads of what is outside are kept apart: together they are much
// smaller than an adjoint of the whole for each point.
void BlockReverse::contribute(std::vector<Contribution> contributions) {
  for (Contribution& each : contributions) {
    const bool is_kept =
        outside_ && !each.indices.empty() && !outside_->inside.count(each.variable.get());
    if (is_kept) {
      add_to(outside_->reads, std::move(each));
    } else {
      accumulate(lang::make_var(each.variable), placed(each, extents_));
    }
  }
}

void BlockReverse::reverse() {
  for (std::size_t i = primal_.size(); i-- > 0;) {
    if (primal_[i].pattern) {
      reverse_pattern(primal_[i].binding.value, primal_[i].pattern);
    } else {
      const Binding& binding = primal_[i].binding;
      placed_at(binding.span ? binding.span : binding.value->span,
                [&] { reverse_binding(binding); });
    }
  }
}

void BlockReverse::reverse_binding(const Binding& binding) {
  reverse_write(binding);
  const auto found = adjoints_.find(binding.variable.get());
  const bool is_zero = found == adjoints_.end() || found->second.is_zero();
  if (is_zero && !runs_anyway(*binding.variable)) return;
  if (unknown_calls_.count(binding.variable.get())) return reverse_unknown(binding);
  if (const auto pair = pair_calls_.find(binding.variable.get()); pair != pair_calls_.end()) {
    const PairCall call = pair->second;
    uses_references_ = uses_references_ || call.uses_references;
    return reverse_pair(call, adjoint_of(binding.variable), binding.span);
  }
  const Expr primal = lang::make_var(binding.variable);
  const Type tangent = tangent_of(primal, binding.span);
  const Expr& value = binding.value;
  switch (value->kind) {
    case ExprKind::Tuple: {
      const auto& tuple = lang::cast<lang::Tuple>(value);
      for (std::uint32_t i = 0; i < tuple.fields.size(); ++i) {
        accumulate(tuple.fields[i], found->second.field(i, tangent, backward_));
      }
      return;
    }
    case ExprKind::Projection: {
      const auto& projection = lang::cast<lang::Projection>(value);
      const auto* var = as<lang::Var>(projection.tuple);
      if (!var) return;
      const Type tuple_tangent = tangent_of(projection.tuple, binding.span);
      const Expr adjoint = found->second.value(tangent, primal, backward_);
      adjoint_to_add_to(var->variable)
          .add_field(projection.index, adjoint, tuple_tangent, backward_);
      return;
    }
    case ExprKind::Match:
      return reverse_field(lang::cast<lang::Match>(value),
                           found->second.value(tangent, primal, backward_));
    case ExprKind::Call:
      if (lang::cast<lang::Call>(value).callee->kind == ExprKind::ConstructorRef &&
          is_product(value->type)) {
        const auto& args = lang::cast<lang::Call>(value).args;
        for (std::uint32_t i = 0; i < args.size(); ++i)
          accumulate(args[i], found->second.field(i, tangent, backward_));
        return;
      }
      reverse_call(binding, lang::cast<lang::Call>(value),
                   found->second.value(tangent, primal, backward_));
      return;
    case ExprKind::Var:
      accumulate(value, found->second.value(tangent, primal, backward_));
      return;
    case ExprKind::Primitive:
    case ExprKind::Index:
    case ExprKind::Comprehension:
    case ExprKind::Reduction:
    case ExprKind::ScatterReduce:
      return reverse_index_notation(binding, found->second);
    case ExprKind::RefRead:
      return reverse_read(lang::cast<lang::RefRead>(value),
                          found->second.value(tangent, primal, backward_));
    case ExprKind::Function:
      return reverse_function(binding, found->second.value(tangent, primal, backward_));
    case ExprKind::Constant:
    case ExprKind::ConstructorRef:
    case ExprKind::GlobalVar:
    case ExprKind::Operator:
      return;
    default:
      RELAY_CHECK(false, fmt::format("no rule for a binding of kind {}", name_of(value->kind)));
  }
}

Expr BlockReverse::Replaced::take(const Expr& atom, const Type& tangent) {
  const auto* var = as<lang::Var>(atom);
  if (!var || !owner_.active_.is_active(var->variable)) return nullptr;
  Path path = path_of(var->variable);
  const bool is_taken = std::any_of(taken_.begin(), taken_.end(), [&](const Path& other) {
    const auto length = static_cast<std::ptrdiff_t>(std::min(path.size(), other.size()));
    return std::equal(path.begin(), path.begin() + length, other.begin());
  });
  if (is_taken) return nullptr;
  taken_.push_back(std::move(path));
  return owner_.adjoint_to_add_to(var->variable).value(tangent, atom, owner_.backward_);
}

void BlockReverse::Replaced::put(const Expr& atom, const Expr& whole) {
  owner_.adjoint_to_add_to(lang::cast<lang::Var>(atom).variable).replace(whole);
}

BlockReverse::Replaced::Path BlockReverse::Replaced::path_of(VariableRef variable) const {
  Path path;
  for (auto found = owner_.parts_.find(variable.get()); found != owner_.parts_.end();
       found = owner_.parts_.find(variable.get())) {
    path.push_back(found->second.index);
    variable = found->second.whole;
  }
  path.push_back(reinterpret_cast<std::uintptr_t>(variable.get()));
  std::reverse(path.begin(), path.end());
  return path;
}

// What is known of an accumulated adjoint goes in, and what comes out is all of it.
void BlockReverse::reverse_pair(const PairCall& call, const Expr& adjoint, lang::Span span) {
  const auto* type = as<lang::FunctionType>(call.backward_type);
  const auto& tangents = as<lang::TupleType>(type->result)->fields;
  std::vector<Expr> args = {lang::make_var(call.residual), adjoint};
  Replaced replaced(*this);
  std::vector<bool> is_replaced(call.args.size(), false);
  for (const std::size_t i : call.accumulated) {
    const Expr known = replaced.take(call.args[i], tangents[i]);
    is_replaced[i] = known != nullptr;
    append_parts(known ? known : zero_of(tangents[i], call.args[i]), args);
  }
  const Expr result = backward_.emit(
      "adjoints",
      lang::make_call(lang::make_global_var(call.backward_name, span, call.backward_type),
                      std::move(args), nullptr, span, type->result));
  std::vector<Expr> parts(call.args.size());
  for (std::uint32_t i = 0; i < call.args.size(); ++i) {
    if (!is_unit(tangents[i])) parts[i] = backward_.emit("part", build::project(result, i));
  }
  // One variable may be two arguments: what replaces its adjoint comes before what is added to it.
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (is_replaced[i]) replaced.put(call.args[i], parts[i]);
  }
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (!is_replaced[i]) accumulate(call.args[i], parts[i]);
  }
}

void BlockReverse::reverse_index_notation(const Binding& binding, const Adjoint& adjoint) {
  const Expr primal = lang::make_var(binding.variable);
  const Type tangent = tangent_of(primal, binding.span);
  std::vector<Expr> adjoints;
  if (const auto* tuple = as<lang::TupleType>(tangent)) {
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
      adjoints.push_back(adjoint.field(i, tangent, backward_));
  } else {
    adjoints.push_back(adjoint.value(tangent, primal, backward_));
  }
  const Expr form = scalar_form(binding.value, has_run_ ? PrimalCode::HasRun : PrimalCode::MayRun);
  if (is_arithmetic(form)) return contribute(transpose(form, adjoints, backward_));
  const auto watched = watched_.find(binding.variable.get());
  reverse_repeated(binding.value, adjoints,
                   watched == watched_.end() ? Expr() : lang::make_var(watched->second));
}

void BlockReverse::reverse_call(const Binding& binding, const lang::Call& call,
                                const Expr& adjoint) {
  if (const auto custom = custom_.find(binding.variable.get()); custom != custom_.end())
    return reverse_custom(binding, call, custom->second, adjoint);
  if (call.callee->kind == ExprKind::ConstructorRef)
    return reverse_construction(binding.value, call, adjoint);
  const auto* op = as<lang::Operator>(call.callee);
  if (!op) {
    lang::fail(DiagnosticKind::Unsupported, "not supported: differentiation through data types",
               binding.span);
  }
  if (!op->op->differentiable) return;
  const bool is_derived = op->op->definition || !op->op->static_form.empty();
  if (!op->op->gradient && is_derived) return reverse_by_definition(call, *op->op, adjoint);
  if (!op->op->gradient) {
    lang::fail(DiagnosticKind::NotDifferentiable,
               fmt::format("operator `{}` has no derivative", op->op->name), binding.span);
  }
  const auto adjoints = lang::gradient_at(
      *op->op, {call.args, call.attrs, lang::make_var(binding.variable), adjoint});
  if (!adjoints) return reverse_by_definition(call, *op->op, adjoint);
  for (std::size_t i = 0; i < adjoints->size() && i < call.args.size(); ++i)
    accumulate(call.args[i], (*adjoints)[i]);
}

// C(a, b) hands the adjoints of its fields on; Zero is zero for all of them.
void BlockReverse::reverse_construction(const Expr& value, const lang::Call& call,
                                        const Expr& adjoint) {
  const auto& constructor = *lang::cast<lang::ConstructorRef>(call.callee).constructor;
  const auto* mirror = pairs_.tangents().mirror(constructor, *as<lang::AdtType>(value->type));
  std::vector<Expr> fields;  // those that have an adjoint
  for (const Expr& arg : call.args) {
    if (!is_unit(pairs_.tangents().or_unit(arg->type))) fields.push_back(arg);
  }
  take_apart(mirror, fields, adjoint, call.span);
}

// Gives `fields` their parts of an adjoint made by `mirror`, or zeros.
void BlockReverse::take_apart(const lang::Constructor* mirror, const std::vector<Expr>& fields,
                              const Expr& adjoint, lang::Span span) {
  if (fields.empty()) return;
  std::vector<lang::PatternRef> patterns;
  std::vector<Expr> parts;
  std::vector<Expr> zeros;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Type type = lang::field_type(*as<lang::AdtType>(adjoint->type), *mirror, i);
    const VariableRef part = lang::make_variable("part", type);
    patterns.push_back(lang::variable_pattern(part));
    parts.push_back(lang::make_var(part));
    zeros.push_back(zero_of(type, fields[i]));
  }
  std::vector<lang::Clause> clauses;
  const Expr all = build::tuple(std::move(parts));
  clauses.push_back({lang::constructor_pattern(mirror, std::move(patterns)), all});
  clauses.push_back({lang::wildcard_pattern(), build::tuple(std::move(zeros))});
  const Expr adjoints =
      backward_.emit("parts", lang::make_match(adjoint, std::move(clauses), true, span, all->type));
  for (std::uint32_t i = 0; i < fields.size(); ++i)
    accumulate(fields[i], build::project(adjoints, i));
}

void BlockReverse::reverse_unknown(const Binding& binding) {
  const UnknownCall call = unknown_calls_.at(binding.variable.get());
  uses_references_ = true;
  const Expr adjoint = adjoint_of(binding.variable);
  const auto* type = as<lang::FunctionType>(call.pullback->type);
  const auto* var = as<lang::Var>(call.callee);
  const auto* callee = var && active_.is_active(var->variable) ? var : nullptr;
  const Type& own = pairs_.tangents().function_tangent();
  const Expr so_far = callee
                          ? adjoint_to_add_to(callee->variable).value(own, call.callee, backward_)
                          : mirror_zero(own);
  const Expr all =
      backward_.emit("adjoints", lang::make_call(lang::make_var(call.pullback), {adjoint, so_far},
                                                 nullptr, binding.span, type->result));
  if (callee) {
    adjoint_to_add_to(callee->variable).replace(backward_.emit("part", build::project(all, 0)));
  }
  for (std::uint32_t i = 0; i < call.args.size(); ++i) {
    if (is_unit(as<lang::TupleType>(type->result)->fields[i + 1])) continue;
    accumulate(call.args[i], build::project(all, i + 1));
  }
}

// The adjoint of a closure holds those of what it has captured.
void BlockReverse::reverse_function(const Binding& binding, const Expr& adjoint) {
  if (plain_functions_.count(binding.variable.get())) return;
  const KnownFunction& known = functions_.at(binding.variable.get());
  std::vector<Expr> fields;
  for (const Expr& capture : known.captures) {
    if (!is_unit(pairs_.tangents().or_unit(capture->type))) fields.push_back(capture);
  }
  take_apart(known.place, fields, adjoint, binding.span);
}

// Shapes that are known only when the program runs: the definition is transposed then.
void BlockReverse::reverse_by_definition(const lang::Call& call, const lang::OpDef& op,
                                         const Expr& adjoint) {
  std::vector<Type> types;
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (!op.inputs[i].attr.empty() || !has_tangent(call.args[i]->type)) continue;
    types.push_back(ad::tangent_of(call.args[i]->type));
    inputs.push_back(i);
  }
  if (inputs.empty()) return;
  std::vector<Expr> args = call.args;
  args.push_back(adjoint);
  std::vector<Type> params;
  for (const Expr& arg : args) params.push_back(arg->type);
  const Type result = lang::tuple_type(std::move(types));
  const Expr callee = lang::make_operator(&adjoint_operator(op), call.span,
                                          lang::function_type(std::move(params), result));
  const Expr adjoints = backward_.emit(
      "adjoints", lang::make_call(callee, std::move(args), call.attrs, call.span, result));
  for (std::uint32_t i = 0; i < inputs.size(); ++i)
    accumulate(call.args[inputs[i]], build::project(adjoints, i));
}

// The gradient takes the arguments and the adjoint of the result, and gives adjoints as a person
// writes them: of the primal types.
void BlockReverse::reverse_custom(const Binding& binding, const lang::Call& call,
                                  const std::string& gradient, const Expr& adjoint) {
  const auto& type = *as<lang::FunctionType>(call.callee->type);
  const bool is_one = type.params.size() == 1;
  const Expr dy = backward_.emit(
      "adjoint", pairs_.tangents().as_gradient(adjoint, lang::make_var(binding.variable)));
  const Expr adjoints = backward_.emit(
      "adjoints", call_own_gradient({gradient, type, call.args, lang::make_var(binding.variable)},
                                    dy, program_, binding.span));
  for (std::uint32_t i = 0; i < call.args.size(); ++i) {
    if (pairs_.tangents().holds_function(call.args[i]->type)) {
      if (active_.reads_active(call.args[i])) refuse_capture(gradient, call.args[i], binding.span);
      continue;
    }
    const Expr own = is_one ? adjoints : build::project(adjoints, i);
    accumulate(call.args[i], pairs_.tangents().from_gradient(own, call.args[i], binding.span));
  }
}

bool BlockReverse::has_adjoint(const VariableRef& variable) const {
  const auto found = adjoints_.find(variable.get());
  return found != adjoints_.end() && !found->second.is_zero();
}

Expr BlockReverse::adjoint_of(const VariableRef& variable) {
  const Expr primal = lang::make_var(variable);
  const Type tangent = tangent_of(primal, variable->span);
  return adjoints_[variable.get()].value(tangent, primal, backward_);
}

}  // namespace relay::ad
