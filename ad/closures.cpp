#include "ad/closures.h"

#include <fmt/format.h>

#include "ad/adjoint.h"
#include "ad/own_gradient.h"
#include "ad/pairs.h"
#include "ad/way.h"
#include "lang/build.h"
#include "lang/checkpoint.h"
#include "lang/diagnostic.h"
#include "lang/function_fact.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

std::vector<VariableRef> fresh(const std::vector<VariableRef>& variables) {
  std::vector<VariableRef> copies;
  for (const auto& variable : variables)
    copies.push_back(lang::make_variable(variable->name, variable->type, variable->span));
  return copies;
}

Type type_of(const std::vector<VariableRef>& params, const Type& result) {
  std::vector<Type> types;
  for (const auto& param : params) types.push_back(param->type);
  return lang::function_type(std::move(types), result);
}

Expr literal_calling(const std::string& global, const Type& type, const std::vector<Expr>& captures,
                     const std::vector<VariableRef>& params, lang::AttrsRef attrs,
                     lang::Span span) {
  std::vector<Expr> args = captures;
  for (const Expr& use : uses_of(params)) args.push_back(use);
  const Expr body = call_global(global, type, std::move(args));
  return lang::make_function(params, body->type, body, {}, std::move(attrs), span,
                             type_of(params, body->type));
}

namespace {

// Calls of itself pass the captures along; as a value it is a literal again.
class SelfUses final : public lang::Rewriter {
 public:
  SelfUses(VariableRef self, Expr target, std::vector<VariableRef> captures,
           std::vector<VariableRef> params)
      : self_(std::move(self)),
        target_(std::move(target)),
        captures_(std::move(captures)),
        params_(std::move(params)) {}

 protected:
  Expr pre(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    if (!call || !is_self(call->callee)) return nullptr;
    std::vector<Expr> args = uses_of(captures_);
    for (const Expr& arg : call->args) args.push_back(rewrite(arg));
    return lang::make_call(target_, std::move(args), nullptr, expr->span, expr->type);
  }
  Expr post(const Expr& expr) override {
    if (!is_self(expr)) return expr;
    return literal_calling(lang::cast<lang::GlobalVar>(target_).name, target_->type,
                           uses_of(captures_), fresh(params_), nullptr, expr->span);
  }

 private:
  bool is_self(const Expr& expr) const {
    const auto* var = as<lang::Var>(expr);
    return var && var->variable == self_;
  }
  VariableRef self_;
  Expr target_;
  std::vector<VariableRef> captures_;
  std::vector<VariableRef> params_;
};

// (captures..., params...) -> (result, pullback) for the lifted global: adds it to the program.
class PullbackMaker {
 public:
  PullbackMaker(lang::Program& program, Pairs& pairs) : program_(program), pairs_(pairs) {}

  // The first `captured` parameters are captures; their adjoints go to `place`; null: nobody asks
  // for them.
  std::pair<std::string, Type> make(const std::string& global, const Type& type,
                                    std::size_t captured, const lang::Constructor* place) {
    const auto& function = *as<lang::FunctionType>(type);
    std::vector<bool> wanted;
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      const bool has_tangent = !is_unit(pairs_.tangents().or_unit(function.params[i]));
      wanted.push_back(has_tangent && (place || i >= captured));
    }
    const Pair pair = pairs_.of_global(global, type, wanted, {}, captured);
    std::vector<VariableRef> params;
    for (const Type& param : function.params) params.push_back(lang::make_variable("x", param));
    Emitter code(pairs_.tangents());
    const Expr both =
        code.emit("both", call_global(pair.forward, pair.forward_type, uses_of(params)));
    const Expr result = code.emit("result", build::project(both, 0));
    const Expr residual = code.emit("residual", build::project(both, 1));
    const Expr pullback = code.emit(
        "pullback", pullback_of(pair, residual, uses_of(params), function, captured, place));
    const Expr body = lang::close_block({code.take(), build::tuple({result, pullback})});
    const std::string name = program_.reserve_name(global + "_pullback");
    program_.add_function(name, lang::rename_bound(lang::make_function(params, body->type, body)));
    return {name, type_of(params, body->type)};
  }

 private:
  Expr pullback_of(const Pair& pair, const Expr& residual, const std::vector<Expr>& params,
                   const lang::FunctionType& function, std::size_t captured,
                   const lang::Constructor* place) {
    Tangents& tangents = pairs_.tangents();
    const VariableRef adjoint = lang::make_variable("adjoint", tangents.or_unit(function.result));
    const VariableRef so_far = lang::make_variable("so_far", tangents.function_tangent());
    Emitter code(tangents);
    const std::vector<Expr> known =
        place ? parts_of(so_far, *place, {params.begin(), params.begin() + captured}, code)
              : std::vector<Expr>();
    std::vector<Expr> args = {residual, lang::make_var(adjoint)};
    std::size_t next = 0;
    for (const std::size_t i : pair.accumulated) {
      append_parts(
          i < captured ? known[next++] : zero_of(tangents.or_unit(function.params[i]), params[i]),
          args);
    }
    const Expr all =
        code.emit("adjoints", call_global(pair.backward, pair.backward_type, std::move(args)));
    std::vector<Expr> own;
    std::vector<Expr> results(1);
    for (std::uint32_t i = 0; i < function.params.size(); ++i) {
      const Expr part = code.emit("part", build::project(all, i));
      if (i >= captured) {
        results.push_back(part);
      } else if (!is_unit(part->type)) {
        own.push_back(part);
      }
    }
    results[0] =
        place ? code.emit("own", construct(place, std::move(own), tangents.function_tangent()))
              : lang::make_var(so_far);
    const Expr body = lang::close_block({code.take(), build::tuple(std::move(results))});
    return lang::make_function({adjoint, so_far}, body->type, body, {}, nullptr, {},
                               type_of({adjoint, so_far}, body->type));
  }

  // What `so_far`, made by `place`, holds for those of `captures` that have adjoints.
  std::vector<Expr> parts_of(const VariableRef& so_far, const lang::Constructor& place,
                             const std::vector<Expr>& captures, Emitter& code) {
    std::vector<lang::PatternRef> patterns;
    std::vector<Expr> parts;
    std::vector<Expr> zeros;
    for (const Expr& capture : captures) {
      const Type tangent = pairs_.tangents().or_unit(capture->type);
      if (is_unit(tangent)) continue;
      const VariableRef part = lang::make_variable("part", tangent);
      patterns.push_back(lang::variable_pattern(part));
      parts.push_back(lang::make_var(part));
      zeros.push_back(zero_of(tangent, capture));
    }
    if (parts.empty()) return {};
    std::vector<lang::Clause> clauses;
    const Expr there = build::tuple(std::move(parts));
    clauses.push_back({lang::constructor_pattern(&place, std::move(patterns)), there});
    clauses.push_back({lang::wildcard_pattern(), build::tuple(std::move(zeros))});
    const Expr all = code.emit("parts", lang::make_match(lang::make_var(so_far), std::move(clauses),
                                                         true, {}, there->type));
    std::vector<Expr> each;
    for (std::uint32_t i = 0; i < as<lang::TupleType>(there->type)->fields.size(); ++i)
      each.push_back(code.emit("part", build::project(all, i)));
    return each;
  }

  lang::Program& program_;
  Pairs& pairs_;
};

}  // namespace

Lifted lift(lang::Program& program, const std::string& hint, const Expr& literal,
            const VariableRef& self, lang::AttrsRef attrs) {
  const auto& fn = lang::cast<lang::Function>(literal);
  std::vector<VariableRef> captures;
  for (const auto& free : lang::free_variables(literal)) {
    if (!(free == self)) captures.push_back(free);
  }
  std::vector<VariableRef> params = captures;
  params.insert(params.end(), fn.params.begin(), fn.params.end());
  Lifted lifted{program.reserve_name(hint.empty() ? "fn" : hint), type_of(params, fn.body->type),
                std::move(captures)};
  const Expr target = lang::make_global_var(lifted.name, literal->span, lifted.type);
  const Expr body =
      self ? SelfUses(self, target, lifted.captures, fn.params).rewrite(fn.body) : fn.body;
  if (lang::is_checkpoint(fn)) attrs = lang::checkpoint_attrs();
  program.add_function(lifted.name,
                       lang::rename_bound(lang::make_function(params, fn.result, body, {},
                                                              std::move(attrs), literal->span)));
  return lifted;
}

std::optional<Placed> as_placed(const Expr& literal) {
  const auto& fn = lang::cast<lang::Function>(literal);
  const lang::AttrValue* place = lang::find_fact(fn.attrs, lang::FunctionFact::Place);
  const auto* call = as<lang::Call>(fn.body);
  const auto* global = call ? as<lang::GlobalVar>(call->callee) : nullptr;
  if (!place || !place->as_int() || !global || call->args.size() < fn.params.size())
    return std::nullopt;
  const auto captured = static_cast<std::ptrdiff_t>(call->args.size() - fn.params.size());
  return Placed{global->name,
                global->type,
                {call->args.begin(), call->args.begin() + captured},
                *place->as_int()};
}

Expr placed_literal(const Lifted& lifted, const Expr& literal, std::int64_t place) {
  const auto& fn = lang::cast<lang::Function>(literal);
  return literal_calling(lifted.name, lifted.type, uses_of(lifted.captures), fresh(fn.params),
                         lang::with_fact(lang::FunctionFact::Place, place), literal->span);
}

namespace {

Expr made_pullback_literal(lang::Program& program, Pairs& pairs, const Expr& literal,
                           const VariableRef& self) {
  const auto& fn = lang::cast<lang::Function>(literal);
  PullbackMaker maker(program, pairs);
  if (const std::string* gradient = lang::gradient_of(fn)) {
    // A global as a value: its name without that of its gradient.
    const std::string owner = owner_of_gradient(*gradient);
    const auto [name, type] = maker.make(owner, type_of(fn.params, fn.body->type), 0, nullptr);
    return literal_calling(name, type, {}, fresh(fn.params), nullptr, literal->span);
  }
  const std::vector<VariableRef> params = fresh(fn.params);
  if (const auto placed = as_placed(literal)) {
    const auto [name, type] = maker.make(placed->global, placed->type, placed->captures.size(),
                                         pairs.tangents().place(placed->place));
    return literal_calling(name, type, placed->captures, params, fn.attrs, literal->span);
  }
  const Lifted lifted = lift(program, "fn", literal, self);
  const auto [name, type] = maker.make(lifted.name, lifted.type, lifted.captures.size(), nullptr);
  return literal_calling(name, type, uses_of(lifted.captures), params, nullptr, literal->span);
}

}  // namespace

Expr pullback_literal(lang::Program& program, Pairs& pairs, const Expr& literal,
                      const VariableRef& self) {
  const lang::AlgebraScope scope(lang::Algebra::Real);
  return telling_way(lang::cast<lang::Function>(literal), self ? self->name : "",
                     variables_of(literal), program, pairs.tangents(),
                     [&] { return made_pullback_literal(program, pairs, literal, self); });
}

}  // namespace relay::ad
