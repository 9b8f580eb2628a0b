#include "ad/jvps.h"

#include "ad/forward_block.h"
#include "ad/own_gradient.h"
#include "ad/pairs.h"
#include "lang/checkpoint.h"
#include "lang/diagnostic.h"
#include "lang/schedule.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Type;
using lang::VariableRef;

const Jvp& Jvps::of_global(const std::string& name, const Type& type, const Activity& active) {
  std::string key = name + " : " + lang::to_string(type) + " : ";
  for (const bool is_active : active) key += is_active ? '1' : '0';
  if (const auto found = globals_.find(key); found != globals_.end()) return found->second;
  const std::size_t before = known_.size();
  known_.push_back(key);
  try {
    return derive(key, name, type, active);
  } catch (const lang::Failure&) {
    // Those derived on the way may call this one, which does not exist.
    for (; known_.size() > before; known_.pop_back()) globals_.erase(known_.back());
    throw;
  }
}

const Jvp& Jvps::derive(const std::string& key, const std::string& name, const Type& type,
                        const Activity& active) {
  Tangents& tangents = pairs_.tangents();
  const auto& function_type = *as<lang::FunctionType>(type);
  std::vector<Type> params = function_type.params;
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i]) params.push_back(tangents.or_unit(function_type.params[i]));
  }
  const bool takes_walk = pairs_.reference_use().in_global(name, type);
  if (takes_walk) params.push_back(AdjointCells::walk_type());
  const Type both =
      lang::tuple_type({function_type.result, tangents.or_unit(function_type.result)});
  const Jvp& known =  // before the body: it may call itself
      globals_
          .emplace(key, Jvp{program_.reserve_name(name + "_jvp"),
                            lang::function_type(std::move(params), both), takes_walk})
          .first->second;
  const Expr core = program_.function(name, type);
  if (const std::string* gradient = lang::gradient_of(lang::cast<lang::Function>(core))) {
    program_.add_function(known.name, lang::rename_bound(jvp_of_own_gradient(
                                          name, type, *gradient, active, program_, pairs_)));
    return known;
  }
  const Expr own = lang::rename_bound(pairs_.prepared(core));
  const auto& function = lang::cast<lang::Function>(own);
  ForwardBlock forward(program_, pairs_);
  std::vector<VariableRef> variables = function.params;
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (!active[i]) continue;
    const VariableRef& param = function.params[i];
    variables.push_back(lang::make_variable("d" + param->name, tangents.or_unit(param->type)));
    forward.set_tangent(param, TangentValue(lang::make_var(variables.back())));
  }
  if (takes_walk) {
    variables.push_back(lang::make_variable("walk", AdjointCells::walk_type()));
    forward.set_walk(lang::make_var(variables.back()));
  }
  // A caller does not see what a function with a gradient of its own uses.
  const bool is_own_walk = !takes_walk && pairs_.reference_use().in(function.body);
  const Expr body = is_own_walk ? forward.in_own_walk(function.body) : forward.tail(function.body);
  const lang::AttrsRef attrs = lang::with_inherited_schedule(
      function, body, lang::is_checkpoint(function) ? lang::checkpoint_attrs() : nullptr);
  program_.add_function(known.name, lang::rename_bound(lang::make_function(
                                        std::move(variables), body->type, body, {}, attrs)));
  return known;
}

}  // namespace relay::ad
