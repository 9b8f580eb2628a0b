#include "ad/function_tangent.h"

#include "ad/closures.h"
#include "ad/own_gradient.h"
#include "ad/pairs.h"
#include "ad/way.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Type;
using lang::VariableRef;

namespace {

// Makes the global (captures..., own tangent, params..., tangents of params...) of a lifted one.
class Maker {
 public:
  Maker(lang::Program& program, Pairs& pairs, const std::string& global, const Type& type,
        std::size_t captured)
      : program_(program), pairs_(pairs), global_(global), type_(type), captured_(captured) {
    const auto& function = *as<lang::FunctionType>(type);
    own_ = lang::make_variable("dself", pairs.tangents().function_tangent());
    walk_ = lang::make_variable("walk", AdjointCells::walk_type());
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      const Type tangent = pairs.tangents().or_unit(function.params[i]);
      primals_.push_back(lang::make_variable("x", function.params[i]));
      tangents_.push_back(lang::make_variable("dx", tangent));
    }
  }

  // The first parameters are captures; their tangents come with `place`, null: they are zero.
  std::pair<std::string, Type> make(const lang::Constructor* place) const {
    Expr body = call(false);
    if (place) {
      std::vector<lang::PatternRef> parts;
      for (std::size_t i = 0; i < captured_; ++i) {
        if (!is_unit(tangents_[i]->type)) parts.push_back(lang::variable_pattern(tangents_[i]));
      }
      std::vector<lang::Clause> clauses;
      clauses.push_back({lang::constructor_pattern(place, std::move(parts)), call(true)});
      clauses.push_back({lang::wildcard_pattern(), body});
      body = lang::make_match(lang::make_var(own_), std::move(clauses), true, {}, body->type);
    }
    const auto captured = static_cast<std::ptrdiff_t>(captured_);
    std::vector<VariableRef> params(primals_.begin(), primals_.begin() + captured);
    params.push_back(own_);
    params.insert(params.end(), primals_.begin() + captured, primals_.end());
    params.insert(params.end(), tangents_.begin() + captured, tangents_.end());
    params.push_back(walk_);
    const std::string name = program_.reserve_name(global_ + "_tangent");
    program_.add_function(name, lang::make_function(params, body->type, body));
    return {name, type_of(params, body->type)};
  }

 private:
  Expr call(bool with_captures) const {
    Activity active;
    std::vector<Expr> args = uses_of(primals_);
    for (std::size_t i = 0; i < tangents_.size(); ++i) {
      active.push_back(!is_unit(tangents_[i]->type) && (with_captures || i >= captured_));
      if (active.back()) args.push_back(lang::make_var(tangents_[i]));
    }
    const Jvp jvp = pairs_.jvps().of_global(global_, type_, active);
    if (jvp.takes_walk) args.push_back(lang::make_var(walk_));
    return call_global(jvp.name, jvp.type, std::move(args));
  }

  lang::Program& program_;
  Pairs& pairs_;
  std::string global_;
  Type type_;
  std::size_t captured_;
  VariableRef own_;
  VariableRef walk_;
  std::vector<VariableRef> primals_;
  std::vector<VariableRef> tangents_;
};

}  // namespace

namespace {

Expr made_tangent_literal(lang::Program& program, Pairs& pairs, const Expr& literal,
                          const VariableRef& self) {
  const auto& fn = lang::cast<lang::Function>(literal);
  Tangents& tangents = pairs.tangents();
  std::vector<VariableRef> params = {lang::make_variable("dself", tangents.function_tangent())};
  for (const VariableRef& param : fresh(fn.params)) params.push_back(param);
  for (const VariableRef& param : fn.params)
    params.push_back(lang::make_variable("d" + param->name, tangents.or_unit(param->type)));
  params.push_back(lang::make_variable("walk", AdjointCells::walk_type()));
  if (const std::string* gradient = lang::gradient_of(fn)) {
    // A global as a value: its name without that of its gradient.
    const std::string owner = owner_of_gradient(*gradient);
    const Maker maker(program, pairs, owner, type_of(fn.params, fn.body->type), 0);
    const auto [name, type] = maker.make(nullptr);
    return literal_calling(name, type, {}, params, nullptr, literal->span);
  }
  if (const auto placed = as_placed(literal)) {
    const Maker maker(program, pairs, placed->global, placed->type, placed->captures.size());
    const auto [name, type] = maker.make(tangents.place(placed->place));
    return literal_calling(name, type, placed->captures, params, fn.attrs, literal->span);
  }
  const Lifted lifted = lift(program, "fn", literal, self);
  const Maker maker(program, pairs, lifted.name, lifted.type, lifted.captures.size());
  const auto [name, type] = maker.make(nullptr);
  return literal_calling(name, type, uses_of(lifted.captures), params, nullptr, literal->span);
}

}  // namespace

Expr tangent_literal(lang::Program& program, Pairs& pairs, const Expr& literal,
                     const VariableRef& self) {
  const lang::AlgebraScope scope(lang::Algebra::Real);
  return telling_way(lang::cast<lang::Function>(literal), self ? self->name : "",
                     variables_of(literal), program, pairs.tangents(),
                     [&] { return made_tangent_literal(program, pairs, literal, self); });
}

}  // namespace relay::ad
