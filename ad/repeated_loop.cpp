#include "ad/repeated_loop.h"

#include <algorithm>

#include "ad/tangent.h"
#include "lang/build.h"
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
                                 const std::vector<Binding>& code, const std::vector<Expr>& parts,
                                 const std::vector<Expr>& primals, Emitter& around) {
  const VariableRef step = lang::make_variable("step", index_type());
  const VariableRef count = lang::make_variable("count", index_type());
  std::vector<VariableRef> params = {step, count};
  std::vector<Expr> args = {build::index_constant(0)};
  std::vector<VariableRef> extents;
  Expr total = build::index_constant(1);
  for (const IndexBinder& binder : binders) {
    extents.push_back(lang::make_variable("extent", index_type()));
    total = around.emit("count", build::mul(total, binder.extent));
  }
  args.push_back(total);
  for (const IndexBinder& binder : binders) args.push_back(binder.extent);
  params.insert(params.end(), extents.begin(), extents.end());

  std::vector<VariableRef> sums;
  std::vector<Type> types;
  for (const Expr& part : parts) {
    sums.push_back(lang::make_variable("sum", part->type));
    types.push_back(part->type);
  }
  const std::size_t own = params.size();
  const Type result = lang::tuple_type(types);
  std::vector<VariableRef> captures;
  for (const VariableRef& free :
       lang::free_variables(lang::close_block({code, build::tuple(parts)}))) {
    const bool is_index = std::any_of(binders.begin(), binders.end(),
                                      [&](const auto& binder) { return binder.variable == free; });
    if (!is_index) captures.push_back(free);
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
        body.emit("sum", around.tangents().add(lang::make_var(sums[i]), parts[i]));
  }
  const Expr again = lang::close_block({body.take(), call_global(name, type, std::move(next))});
  Emitter head(around.tangents());
  const Expr goes_on =
      head.emit("goes_on", build::prim(Prim::Lt, {lang::make_var(step), lang::make_var(count)}));
  const Expr choice = lang::make_if(goes_on, again, build::tuple(uses_of(sums)), {}, result);
  program.add_function(name, lang::rename_bound(lang::make_function(
                                 params, result, lang::close_block({head.take(), choice}))));

  for (const Expr& use : uses_of(captures)) args.push_back(use);
  for (std::size_t i = 0; i < parts.size(); ++i)
    args.push_back(around.emit("zero", zero_of(parts[i]->type, primals[i])));
  const Expr totals = around.emit("totals", call_global(name, type, std::move(args)));
  std::vector<Expr> results;
  for (std::uint32_t i = 0; i < parts.size(); ++i)
    results.push_back(around.emit("total", build::project(totals, i)));
  return results;
}

}  // namespace relay::ad
