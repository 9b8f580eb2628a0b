#include "ad/repeated_loop.h"

#include <algorithm>
#include <unordered_map>

#include "ad/tangent.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::Binding;
using lang::Expr;
using lang::IndexBinder;
using lang::Prim;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

Type index_type() { return lang::scalar_type(lang::DType::Int64); }

// The positions at step `step`, row-major.
std::vector<Binding> positions(const std::vector<IndexBinder>& binders,
                               const std::vector<VariableRef>& extents, const Expr& step) {
  std::vector<Binding> bindings;
  const auto named = [&](const VariableRef& variable, Expr value) {
    bindings.push_back({variable, std::move(value)});
    return lang::make_var(variable);
  };
  Expr rest = step;
  for (std::size_t i = binders.size(); i-- > 0;) {
    const Expr extent = lang::make_var(extents[i]);
    named(binders[i].variable, build::prim(Prim::FloorMod, {rest, extent}));
    if (i > 0) {
      rest = named(lang::make_variable("rest", index_type()),
                   build::prim(Prim::FloorDiv, {rest, extent}));
    }
  }
  return bindings;
}

}  // namespace

std::vector<Expr> summed_in_loop(lang::Program& program, const std::vector<IndexBinder>& binders,
                                 const std::vector<Binding>& code,
                                 const std::vector<GrowingPart>& parts, Emitter& around) {
  const VariableRef step = lang::make_variable("step", index_type());
  const VariableRef count = lang::make_variable("count", index_type());
  std::vector<VariableRef> params = {step, count};
  std::vector<Expr> args = {build::index_constant(0)};
  std::vector<VariableRef> extents;
  std::vector<Expr> wide;
  Expr total = build::index_constant(1);
  for (const IndexBinder& binder : binders) {
    extents.push_back(lang::make_variable("extent", index_type()));
    // An extent may be any integer, and their product is larger.
    wide.push_back(around.emit("extent", build::cast_to(lang::DType::Int64, binder.extent)));
    total = around.emit("count", build::mul(total, wide.back()));
  }
  args.push_back(total);
  args.insert(args.end(), wide.begin(), wide.end());
  params.insert(params.end(), extents.begin(), extents.end());

  std::vector<VariableRef> sums;
  std::vector<Type> types;
  std::vector<Expr> values;
  for (const GrowingPart& part : parts) {
    sums.push_back(part.so_far ? part.so_far : lang::make_variable("sum", part.value->type));
    types.push_back(part.value->type);
    values.push_back(part.value);
  }
  const std::size_t own = params.size();
  const Type result = lang::tuple_type(types);
  std::vector<VariableRef> captures;
  for (const VariableRef& free :
       lang::free_variables(lang::close_block({code, build::tuple(std::move(values))}))) {
    const bool is_index = std::any_of(binders.begin(), binders.end(),
                                      [&](const auto& binder) { return binder.variable == free; });
    const bool is_sum = std::find(sums.begin(), sums.end(), free) != sums.end();
    if (!is_index && !is_sum) captures.push_back(free);
  }
  params.insert(params.end(), captures.begin(), captures.end());
  params.insert(params.end(), sums.begin(), sums.end());
  std::vector<Type> param_types;
  for (const VariableRef& param : params) param_types.push_back(param->type);
  const Type type = lang::function_type(std::move(param_types), result);
  const std::string name = program.reserve_name("points");

  Emitter body(around.tangents());
  body.append(positions(binders, extents, lang::make_var(step)));
  body.append(code);
  std::vector<Expr> next = uses_of(params);
  next[0] = body.emit("next", build::add(lang::make_var(step), build::index_constant(1)));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    next[own + captures.size() + i] =
        parts[i].so_far
            ? parts[i].value
            : body.emit("sum", around.tangents().add(lang::make_var(sums[i]), parts[i].value));
  }
  const Expr again = lang::close_block({body.take(), call_global(name, type, std::move(next))});
  Emitter head(around.tangents());
  const Expr goes_on =
      head.emit("goes_on", build::prim(Prim::Lt, {lang::make_var(step), lang::make_var(count)}));
  const Expr choice = lang::make_if(goes_on, again, build::tuple(uses_of(sums)), {}, result);
  program.add_function(name, lang::rename_bound(lang::make_function(
                                 params, result, lang::close_block({head.take(), choice}))));

  for (const Expr& use : uses_of(captures)) args.push_back(use);
  for (const GrowingPart& part : parts) {
    args.push_back(part.first ? part.first
                              : around.emit("zero", zero_of(part.value->type, part.primal)));
  }
  const Expr totals = around.emit("totals", call_global(name, type, std::move(args)));
  std::vector<Expr> results;
  for (std::uint32_t i = 0; i < parts.size(); ++i)
    results.push_back(around.emit("total", build::project(totals, i)));
  return results;
}

namespace {

// The other operand, where `value` is a sum with that variable; else null.
Expr added_to(const VariableRef& variable, const Expr& value) {
  const auto* call = lang::as<lang::Call>(value);
  const auto* op = call ? lang::as<lang::Operator>(call->callee) : nullptr;
  if (!op || op->op->name != "add") return nullptr;
  const auto* first = lang::as<lang::Var>(call->args[0]);
  return first && first->variable == variable ? call->args[1] : Expr();
}

}  // namespace

std::vector<Binding> beginning_at_zero(const std::vector<Binding>& code,
                                       std::vector<GrowingPart>& parts) {
  std::unordered_map<const lang::Variable*, const GrowingPart*> starts;
  std::vector<Binding> zeros;
  for (const GrowingPart& part : parts) {
    if (!part.so_far) continue;
    starts.emplace(part.so_far.get(), &part);
    zeros.push_back({part.so_far, zero_of(part.so_far->type, part.primal)});
  }
  const auto start_of = [&](const Expr& atom) -> const GrowingPart* {
    const auto* var = lang::as<lang::Var>(atom);
    const auto found = var ? starts.find(var->variable.get()) : starts.end();
    return found == starts.end() ? nullptr : found->second;
  };
  // A sum with zeros is no sum, and what is scattered into them needs no name for them.
  lang::Substitution known;
  std::vector<Binding> rest;
  for (const Binding& binding : code) {
    Expr value = lang::substitute(binding.value, known);
    const auto* call = lang::as<lang::Call>(value);
    const GrowingPart* start = call && !call->args.empty() ? start_of(call->args[0]) : nullptr;
    if (const Expr added = start ? added_to(start->so_far, value) : Expr()) {
      known.emplace(binding.variable.get(), added);
      continue;
    }
    const auto* scatter = lang::as<lang::ScatterReduce>(value);
    if (const GrowingPart* from = scatter ? start_of(scatter->init) : nullptr) {
      value = lang::make_scatter_reduce(scatter->op, zero_of(value->type, from->primal),
                                        scatter->binders, scatter->indices, scatter->value,
                                        value->span, value->type, scatter->algebra);
    }
    rest.push_back({binding.variable, std::move(value), binding.span});
  }
  for (GrowingPart& part : parts) part.value = lang::substitute(part.value, known);
  std::vector<Expr> values;
  for (const GrowingPart& part : parts) values.push_back(part.value);
  const auto used = lang::free_variables(lang::close_block({rest, build::tuple(values)}));
  std::vector<Binding> all;
  for (Binding& zero : zeros) {
    if (std::find(used.begin(), used.end(), zero.variable) != used.end())
      all.push_back(std::move(zero));
  }
  all.insert(all.end(), rest.begin(), rest.end());
  for (GrowingPart& part : parts) part.so_far = nullptr;
  return all;
}

}  // namespace relay::ad
