// Index notation in reverse whose body is more than arithmetic: calls, branches, tensors. The body
// is reversed as any straight-line code, and the adjoint of
//   for i { body }          is made of   for i { body again, and backwards }
// which gives, at each point, the adjoints of what the body reads `xs[i]` (they are placed by their
// indices, as those of arithmetic are), and of what it uses whole (summed over the points). Where
// that would be more than numbers at each point, a loop over the points adds all of it in place.

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_set>

#include "ad/block.h"
#include "ad/pairs.h"
#include "ad/reduce_adjoint.h"
#include "ad/repeated_loop.h"
#include "ad/replay.h"
#include "index/binder_use.h"
#include "index/distribute.h"
#include "index/hoist_reads.h"
#include "index/scalar_form.h"
#include "lang/any_dim.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using index::distributed;
using index::hoist_reads;
using index::is_arithmetic;
using index::scalar_form;
using index::summed_over_points;
using lang::as;
using lang::Binding;
using lang::Expr;
using lang::ExprKind;
using lang::IndexBinder;
using lang::ReduceOp;
using lang::Type;
using lang::Variable;
using lang::VariableRef;
namespace build = lang::build;

namespace {

using Variables = std::unordered_set<const Variable*>;

bool mentions(const Expr& expr, const Variables& variables) {
  const auto free = lang::free_variables(expr);
  return std::any_of(free.begin(), free.end(),
                     [&](const VariableRef& each) { return variables.count(each.get()) != 0; });
}

const Expr* body_of(const Expr& value) {
  if (const auto* comprehension = as<lang::Comprehension>(value)) return &comprehension->body;
  if (const auto* reduction = as<lang::Reduction>(value)) return &reduction->body;
  return nullptr;
}

Expr with_body(const Expr& value, Expr body) {
  if (const auto* node = as<lang::Comprehension>(value))
    return lang::make_comprehension(node->binders, std::move(body), value->span, value->type);
  const auto& node = lang::cast<lang::Reduction>(value);
  return lang::make_reduction(node.op, node.binders, std::move(body), value->span, value->type);
}

// Takes something apart, or chooses between values at hand: never worth repeating.
bool is_access(const Expr& value) {
  if (value->kind == ExprKind::Projection) return true;
  const auto* match = as<lang::Match>(value);
  return match && match->is_complete &&
         std::all_of(match->clauses.begin(), match->clauses.end(),
                     [](const lang::Clause& clause) { return build::is_atom(clause.body); });
}

// What was printed, asserted or saved is not again.
Binding without_effect(Binding binding) {
  const auto* call = as<lang::Call>(binding.value);
  const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
  const bool acts =
      op && (op->op->effect == lang::Effect::Print || op->op->effect == lang::Effect::Assert ||
             op->op->effect == lang::Effect::Save || op->op->effect == lang::Effect::Plot);
  if (acts && is_unit(binding.value->type)) binding.value = build::tuple({});
  return binding;
}

// Calls `found` with the parts of a tangent that are no tuples, and the primal of each (null where
// its zeros need none).
void for_each_part(const Expr& value, const Type& tangent, const Expr& primal, Emitter& code,
                   Emitter& around, const std::function<void(Expr, Expr)>& found) {
  const auto* tuple = as<lang::TupleType>(tangent);
  if (!tuple) return found(value, primal);
  for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
    if (is_unit(tuple->fields[i])) continue;
    const Expr part =
        primal && needs_primal(tuple->fields[i]) ? around.emit("part", part_of(primal, i)) : Expr();
    for_each_part(code.emit("part", build::project(value, i)), tuple->fields[i], part, code, around,
                  found);
  }
}

std::size_t number_of_parts(const Type& tangent) {
  const auto* tuple = as<lang::TupleType>(tangent);
  if (!tuple) return 1;
  std::size_t count = 0;
  for (const Type& field : tuple->fields) count += number_of_parts(field);
  return count;
}

Expr tuple_of_parts(const Type& tangent, const std::vector<Expr>& parts, std::size_t& next) {
  const auto* tuple = as<lang::TupleType>(tangent);
  if (!tuple) return parts[next++];
  std::vector<Expr> fields;
  for (const Type& field : tuple->fields) fields.push_back(tuple_of_parts(field, parts, next));
  return build::tuple(std::move(fields));
}

}  // namespace

// Fields of records and the like that do not depend on the indices are taken once.
bool BlockReverse::forward_index_notation(const Binding& binding) {
  const Expr* body = body_of(binding.value);
  if (!body || (*body)->kind != ExprKind::Let || is_arithmetic(scalar_form(binding.value)))
    return false;
  Variables inside;
  for (const IndexBinder& binder : *binders_of(binding.value)) inside.insert(binder.variable.get());
  lang::Block block = lang::open_block(*body);
  std::vector<Binding> kept;
  for (const Binding& each : block.bindings) {
    if (is_access(each.value) && !mentions(each.value, inside)) {
      forward_binding(each);
    } else {
      inside.insert(each.variable.get());
      kept.push_back(each);
    }
  }
  if (kept.size() == block.bindings.size()) return false;
  block.bindings = std::move(kept);
  const Expr value = with_body(binding.value, lang::close_block(block));
  primal_.push_back({{binding.variable, value, binding.span}});
  return true;
}

// The code at one point, and what it gives.
struct BlockReverse::Point {
  std::vector<Binding> code;
  // Values of which there is one for each point, and the tensors of them all.
  std::vector<std::pair<Expr, VariableRef>> kept;
  std::vector<Contribution> reads;  // in terms of those tensors
  bool uses_references = false;     // then the code may run only once
  // Values that are summed over the points, and the variables that they are adjoints of parts of.
  std::vector<GrowingPart> parts;
  std::vector<VariableRef> whole;

  // `element` for all values of `domain`; returns the element at a point.
  Expr keep(const std::vector<IndexBinder>& binders, const std::vector<IndexBinder>& domain,
            const Expr& element, Emitter& inner) {
    const Expr value = tabulated("kept", domain, element, inner);
    const VariableRef all =
        lang::make_variable("all", lang::make_comprehension(binders, value)->type);
    kept.emplace_back(value, all);
    std::vector<Expr> indices = uses_of(binders);
    for (const Expr& index : uses_of(domain)) indices.push_back(index);
    return build::at(lang::make_var(all), indices);
  }
};

void BlockReverse::reverse_repeated(const Expr& value, const std::vector<Expr>& adjoints,
                                    const Expr& since) {
  if (!body_of(value)) {
    lang::fail(lang::DiagnosticKind::Unsupported,
               "not supported: the derivative of a scatter of more than arithmetic", value->span);
  }
  const Expr plain = lang::rename_bound(value);
  const std::vector<IndexBinder>& binders = *binders_of(plain);
  std::vector<Expr> at_point;
  if (const auto* reduction = as<lang::Reduction>(plain)) {
    at_point = {
        element_adjoint(reduction->op, reduction->body, {}, binders, adjoints[0], backward_)};
  } else {
    for (const Expr& each : adjoints)
      at_point.push_back(each ? build::at(each, uses_of(binders)) : Expr());
  }
  BlockReverse inner(program_, pairs_);
  inner.functions_ = functions_;
  inner.plain_functions_ = plain_functions_;
  inner.active_ = active_;
  inner.is_point_ = true;
  inner.reverse_point(hoist_reads(lang::open_block(*body_of(plain))), at_point, since);
  uses_references_ = uses_references_ || inner.uses_references_;
  if (!take_apart(binders, inner, value->span))
    take_together(binders, inner.point_code(binders, Reads::Added, backward_));
}

namespace {

Expr sum_over(const std::vector<IndexBinder>& binders, const Expr& all) {
  std::vector<std::int64_t> axes(binders.size());
  std::iota(axes.begin(), axes.end(), 0);
  return build::op("sum", {all}, {{"axis", lang::AttrValue::ints(axes)}});
}

// Does it give several numbers at each point, which go to the same places at other points?
bool repeats(const Contribution& read, const std::vector<IndexBinder>& binders) {
  return read.domain.size() > binders.size() &&
         std::any_of(binders.begin(), binders.end(), [&](const IndexBinder& binder) {
           return std::none_of(read.indices.begin(), read.indices.end(), [&](const Expr& index) {
             return mentions(index, {binder.variable.get()});
           });
         });
}

// Does that read, whose value is taken from `all`, go to places that do not depend on the point?
bool is_same_at_all_points(const Contribution& read, const VariableRef& all,
                           const std::vector<IndexBinder>& binders) {
  const auto* value = as<lang::Index>(read.value);
  const auto* tensor = as<lang::Var>(value ? value->tensor : read.value);
  if (!tensor || !(tensor->variable == all)) return false;
  Variables points;
  for (const IndexBinder& binder : binders) points.insert(binder.variable.get());
  return std::none_of(read.indices.begin(), read.indices.end(),
                      [&](const Expr& index) { return mentions(index, points); });
}

}  // namespace

// What is read and what is summed is kept for all points. False where tensors would be kept only to
// be summed.
bool BlockReverse::take_apart(const std::vector<IndexBinder>& binders, BlockReverse inner,
                              lang::Span span) {
  Emitter around(pairs_.tangents());
  Point point = inner.point_code(binders, Reads::Kept, around);
  point.code = beginning_at_zero(point.code, point.parts);
  std::vector<Expr> sums(point.parts.size());
  if (point.uses_references || !take_distributed(binders, point, around, sums)) {
    const auto is_number = [](const GrowingPart& part) {
      return lang::is_scalar(part.value->type);
    };
    if (!std::all_of(point.parts.begin(), point.parts.end(), is_number) ||
        std::any_of(point.reads.begin(), point.reads.end(),
                    [&](const Contribution& read) { return repeats(read, binders); }))
      return false;
    backward_.append(around.bindings());
    take_points(binders, point, sums, span);
  }
  contribute(std::move(point.reads));
  std::size_t next = 0;
  for (const VariableRef& variable : point.whole) {
    const Expr whole = lang::make_var(variable);
    accumulate(whole, tuple_of_parts(tangent_of(whole, variable->span), sums, next));
  }
  return true;
}

// All that is added grows in one loop over the points, from what there is in front of it.
void BlockReverse::take_together(const std::vector<IndexBinder>& binders, Point point) {
  Replaced replaced(*this);
  std::vector<bool> is_replaced;
  std::size_t next = 0;
  for (const VariableRef& variable : point.whole) {
    const Expr whole = lang::make_var(variable);
    const Type tangent = tangent_of(whole, variable->span);
    const Expr known = replaced.take(whole, tangent);
    is_replaced.push_back(known != nullptr);
    if (!known) {
      next += number_of_parts(tangent);
      continue;
    }
    for_each_part(known, tangent, nullptr, backward_, backward_,
                  [&](Expr part, const Expr&) { point.parts[next++].first = std::move(part); });
  }
  const std::vector<Expr> sums =
      summed_in_loop(program_, binders, point.code, point.parts, backward_);
  next = 0;
  std::vector<Expr> totals;
  for (const VariableRef& variable : point.whole) {
    const Expr whole = lang::make_var(variable);
    totals.push_back(tuple_of_parts(tangent_of(whole, variable->span), sums, next));
  }
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (is_replaced[i]) replaced.put(lang::make_var(point.whole[i]), totals[i]);
  }
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (!is_replaced[i]) accumulate(lang::make_var(point.whole[i]), totals[i]);
  }
}

bool BlockReverse::take_distributed(const std::vector<IndexBinder>& binders, Point& point,
                                    const Emitter& around, std::vector<Expr>& sums) {
  std::vector<Expr> values;
  for (const GrowingPart& part : point.parts) values.push_back(part.value);
  for (const auto& [element, all] : point.kept) values.push_back(element);
  auto result = distributed(binders, point.code, values);
  if (!result) return false;
  backward_.append(around.bindings());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = summed_over_points(*result, i, binders);
  // Reads of the same elements at all points are sums too.
  std::vector<Binding> kept;
  for (std::size_t i = 0; i < point.kept.size(); ++i) {
    const VariableRef& all = point.kept[i].second;
    const auto read = std::find_if(point.reads.begin(), point.reads.end(), [&](const auto& each) {
      return is_same_at_all_points(each, all, binders);
    });
    if (read == point.reads.end()) {
      kept.push_back({all, result->values[sums.size() + i]});
      continue;
    }
    const Expr total = summed_over_points(*result, sums.size() + i, binders);
    const VariableRef variable = lang::make_variable("total", total->type);
    kept.push_back({variable, total});
    read->domain.erase(read->domain.begin(),
                       read->domain.begin() + static_cast<std::ptrdiff_t>(binders.size()));
    read->value = build::at(lang::make_var(variable), uses_of(read->domain));
  }
  backward_.append(result->code);
  backward_.append(kept);
  return true;
}

void BlockReverse::take_points(const std::vector<IndexBinder>& binders, Point& point,
                               std::vector<Expr>& sums, lang::Span span) {
  for (std::size_t i = 0; i < point.parts.size(); ++i) {
    const Expr& element = point.parts[i].value;
    const VariableRef all =
        lang::make_variable("all", lang::make_comprehension(binders, element)->type);
    point.kept.emplace_back(element, all);
    sums[i] = sum_over(binders, lang::make_var(all));
  }
  // All that the code does may be to add to the adjoints of references.
  if (point.kept.empty() && !point.uses_references) return;
  std::vector<Expr> values;
  for (const auto& [element, all] : point.kept) values.push_back(element);
  if (values.empty()) values.push_back(build::constant(lang::DType::Float32, 0));
  const bool is_one = values.size() == 1;
  const Expr body =
      lang::close_block({point.code, is_one ? values[0] : build::tuple(std::move(values))});
  const Expr points =
      backward_.emit("points", lang::rename_bound(lang::make_comprehension(binders, body, span)));
  for (std::uint32_t i = 0; i < point.kept.size(); ++i)
    backward_.append({{point.kept[i].second, is_one ? points : build::project(points, i)}});
}

// `adjoints`: of the result, or of its fields; null for zero.
void BlockReverse::reverse_point(const lang::Block& body, const std::vector<Expr>& adjoints,
                                 const Expr& since) {
  if (since) push_effect(begin_replay(since));
  forward(body.bindings);
  const Expr result = forward_value("value", body.result);
  if (since) push_effect(end_replay());
  outside_.emplace();
  outside_->inside = bound_here();
  const auto* var = as<lang::Var>(result);
  if (!var) return;
  const Type tangent = tangent_of(result, result->span);
  if (is_unit(tangent)) return reverse();  // no parameter has an influence on it
  Adjoint& adjoint = adjoint_to_add_to(var->variable);
  for (std::uint32_t i = 0; i < adjoints.size(); ++i) {
    if (!adjoints[i]) continue;
    const Expr seed = backward_.emit("adjoint", adjoints[i]);
    if (as<lang::TupleType>(tangent)) {
      adjoint.add_field(i, seed, tangent, backward_);
    } else {
      adjoint.add(seed, tangent, backward_);
    }
  }
  reverse();
}

std::unordered_set<const Variable*> BlockReverse::bound_here() const {
  Variables variables;
  for (const Step& step : primal_) variables.insert(step.binding.variable.get());
  for (const Binding& each : backward_.bindings()) variables.insert(each.variable.get());
  return variables;
}

BlockReverse::Point BlockReverse::point_code(const std::vector<IndexBinder>& binders, Reads reads,
                                             Emitter& around) {
  Point point;
  point.uses_references = uses_references_;
  for (Contribution& read : outside_->reads) {
    if (reads == Reads::Kept) {
      keep_read(std::move(read), binders, around, point);
    } else {
      accumulate(lang::make_var(read.variable), placed(read, extents_));
    }
  }
  for (const Outside::Whole& whole : outside_->whole) {
    const VariableRef& variable = whole.variable;
    if (!has_adjoint(variable)) continue;
    point.whole.push_back(variable);
    const Expr primal = lang::make_var(variable);
    std::size_t next = 0;
    for_each_part(adjoint_of(variable), tangent_of(primal, variable->span), primal, backward_,
                  around, [&](Expr part, Expr of) {
                    point.parts.push_back({std::move(part), std::move(of), whole.so_far[next++]});
                  });
  }
  for (Binding& binding : primal(0)) point.code.push_back(without_effect(std::move(binding)));
  for (Binding& binding : backward_.take()) point.code.push_back(std::move(binding));
  return point;
}

void BlockReverse::keep_read(Contribution read, const std::vector<IndexBinder>& binders,
                             Emitter& around, Point& point) {
  const Variables bound = bound_here();
  if (read.guard && mentions(read.guard, bound)) read = without_guard(std::move(read));
  // No extent of what is kept for all points may depend on the point.
  Variables inside = bound;
  for (const IndexBinder& binder : binders) inside.insert(binder.variable.get());
  Variables used;
  const auto use = [&](const Expr& expr) {
    for (const VariableRef& variable : lang::free_variables(expr)) used.insert(variable.get());
  };
  for (const Expr& index : read.indices) use(index);
  if (read.guard) use(read.guard);
  std::vector<IndexBinder> domain, summed;
  bool is_fixed = true;
  for (IndexBinder& binder : read.domain) {
    if (!used.count(binder.variable.get())) {
      summed.push_back(binder);
      continue;
    }
    // An extent that is found inside, of something outside, is found outside again.
    for (const Binding& each : backward_.bindings()) {
      const auto* var = as<lang::Var>(binder.extent);
      if (var && each.variable == var->variable && !mentions(each.value, bound))
        binder.extent = around.emit("extent", each.value);
    }
    is_fixed = is_fixed && !mentions(binder.extent, inside);
    domain.push_back(binder);
  }
  // What uses references must not run again for what is kept, besides what is summed in a loop.
  if (!is_fixed || uses_references_)
    return accumulate(lang::make_var(read.variable), placed(read, extents_));
  Expr value = read.value;
  if (!summed.empty())
    value = lang::rename_bound(lang::make_reduction(ReduceOp::Sum, summed, value));
  Contribution outer{read.variable, {},        point.keep(binders, domain, value, backward_),
                     binders,       read.span, read.guard};
  outer.domain.insert(outer.domain.end(), domain.begin(), domain.end());
  for (const Expr& index : read.indices) {
    outer.indices.push_back(mentions(index, bound) ? point.keep(binders, domain, index, backward_)
                                                   : index);
  }
  point.reads.push_back(std::move(outer));
}

}  // namespace relay::ad
