#include "ad/forward.h"

#include "ad/reverse.h"
#include "lang/build.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::VariableRef;
namespace build = lang::build;

namespace {

TangentValue from_gradient(const Expr& gradient, const Expr& primal, lang::Span span,
                           Tangents& tangents, Emitter& code) {
  const lang::Type type = tangents.or_unit(gradient->type);
  if (is_unit(type)) return {};
  if (const auto* tuple = as<lang::TupleType>(type)) {
    std::vector<TangentValue> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      const Expr field = code.emit("d", part_of(gradient, i));
      fields.push_back(from_gradient(field, part_of(primal, i), span, tangents, code));
    }
    return TangentValue::of_fields(std::move(fields));
  }
  return TangentValue(code.emit("d", tangents.from_gradient(gradient, primal, span)));
}

}  // namespace

Linearised::Linearised(const lang::Function& given, lang::Program& program, Pairs& pairs)
    : pairs_(pairs),
      copy_(lang::rename_bound(pairs.prepared(Expr(&given)))),
      fn_(&lang::cast<lang::Function>(copy_)),
      forward_(program, pairs) {}

void Linearised::set_direction(std::size_t index, const Expr& direction, Emitter& code) {
  const VariableRef& param = fn_->params[index];
  forward_.set_tangent(
      param, from_gradient(direction, lang::make_var(param), copy_->span, pairs_.tangents(), code));
}

std::pair<Expr, Expr> Linearised::run(Emitter& code) {
  Expr walk;
  if (pairs_.reference_use().in(fn_->body)) {
    walk = code.emit("walk", AdjointCells::begin_forward());
    forward_.set_walk(walk);
  }
  const auto dual = forward_.run(fn_->body, code);
  if (walk) code.emit("done", AdjointCells::end());
  Tangents& tangents = pairs_.tangents();
  const Expr tangent = dual.tangent.value(tangents.or_unit(dual.value->type), dual.value, code);
  return {dual.value, code.emit("d", tangents.as_gradient(tangent, dual.value))};
}

namespace {

Expr along_direction(const lang::Function& given, lang::Program& program, Pairs& pairs,
                     bool with_value) {
  Linearised linear(given, program, pairs);
  Emitter code(pairs.tangents());
  std::vector<VariableRef> params = linear.params();
  for (std::size_t i = 0; i < linear.params().size(); ++i) {
    const VariableRef& param = linear.params()[i];
    params.push_back(lang::make_variable("d" + param->name, param->type));
    linear.set_direction(i, lang::make_var(params.back()), code);
  }
  const auto [value, tangent] = linear.run(code);
  const Expr result = with_value ? build::tuple({value, tangent}) : tangent;
  const Expr body = lang::close_block({code.take(), result});
  return lang::rename_bound(
      lang::make_function(std::move(params), body->type, body, {}, nullptr, given.span));
}

}  // namespace

Expr jvp(const lang::Function& given, lang::Program& program, Pairs& pairs) {
  return along_direction(given, program, pairs, true);
}

Expr hvp(const lang::Function& given, lang::Program& program, Pairs& pairs) {
  const Expr gradient = derivative(given, lang::DiffMode::Grad, program, pairs);
  return along_direction(lang::cast<lang::Function>(gradient), program, pairs, false);
}

}  // namespace relay::ad
