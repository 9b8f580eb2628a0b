#include "ad/along_number.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "lang/build.h"
#include "lang/checkpoint.h"
#include "lang/diagnostic.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

bool calls_itself(const lang::Function& function, const std::string& name) {
  bool found = false;
  lang::visit_post_order(function.body, [&](const Expr& node) {
    const auto* global = as<lang::GlobalVar>(node);
    found = found || (global && global->name == name);
  });
  return found;
}

// All that a function reaches.
class Reached {
 public:
  explicit Reached(lang::Program& program) : program_(program) {}

  // Does it do nothing but compute, and says nothing of its derivative?
  bool is_plain(const std::string& name, const Type& type) {
    add(name, type);
    while (is_plain_ && !open_.empty()) {
      const auto [next, at] = std::move(open_.back());
      open_.pop_back();
      const auto body =
          lang::capture([&, &callee = next, &own = at] { return program_.function(callee, own); });
      is_plain_ = body && !lang::is_checkpoint(lang::cast<lang::Function>(*body)) &&
                  !lang::gradient_of(lang::cast<lang::Function>(*body));
      if (is_plain_) look_at(*body);
    }
    return is_plain_;
  }

 private:
  static constexpr std::size_t kMostFunctions = 100;

  void add(const std::string& name, const Type& type) {
    if (seen_.insert(name + " : " + lang::to_string(type)).second) open_.emplace_back(name, type);
    is_plain_ = is_plain_ && seen_.size() <= kMostFunctions;
  }

  void look_at(const Expr& body) {
    std::unordered_set<const lang::Variable*> literals;
    lang::visit_post_order(body, [&](const Expr& node) {
      const auto* let = as<lang::Let>(node);
      if (let && let->value->kind == lang::ExprKind::Function) literals.insert(let->variable.get());
    });
    lang::visit_post_order(body, [&](const Expr& node) {
      if (const auto* op = as<lang::Operator>(node))
        is_plain_ = is_plain_ && op->op->effect == lang::Effect::None;
      const auto* global = as<lang::GlobalVar>(node);
      if (global && program_.is_function(global->name)) add(global->name, global->type);
      const auto* call = as<lang::Call>(node);
      const auto* callee = call ? as<lang::Var>(call->callee) : nullptr;
      if (callee && literals.count(callee->variable.get()) == 0) is_plain_ = false;
    });
  }

  lang::Program& program_;
  bool is_plain_ = true;
  std::unordered_set<std::string> seen_;
  std::vector<std::pair<std::string, Type>> open_;
};

std::size_t place_of(const std::vector<bool>& wanted) {
  return static_cast<std::size_t>(std::find(wanted.begin(), wanted.end(), true) - wanted.begin());
}

std::vector<Type> leaves_of(const Type& tangent) {
  std::vector<Type> leaves;
  append_leaves(tangent, leaves);
  return leaves;
}

std::vector<VariableRef> variables_of_types(const std::string& name,
                                            const std::vector<Type>& types) {
  std::vector<VariableRef> variables;
  for (const Type& type : types) variables.push_back(lang::make_variable(name, type));
  return variables;
}

Expr inlined(std::vector<VariableRef> params, const Expr& body) {
  return lang::rename_bound(
      lang::make_function(std::move(params), body->type, body, {}, inline_mark()));
}

}  // namespace

bool is_along_number(lang::Program& program, const lang::Function& function,
                     const std::string& name, const Type& type, const std::vector<bool>& wanted,
                     Tangents& tangents) {
  const auto& own = *as<lang::FunctionType>(type);
  if (std::count(wanted.begin(), wanted.end(), true) != 1 || !lang::variables_of(type).empty())
    return false;
  const std::vector<Type> results = leaves_of(tangents.or_unit(own.result));
  return lang::is_scalar(own.params[place_of(wanted)]) && !results.empty() &&
         std::all_of(results.begin(), results.end(), lang::is_scalar) &&
         calls_itself(function, name) && Reached(program).is_plain(name, type);
}

void define_along_number(lang::Program& program, Pairs& pairs, const std::string& name,
                         const Type& type, const std::vector<bool>& wanted, const Pair& pair,
                         lang::TypeDef& residual) {
  Tangents& tangents = pairs.tangents();
  const Jvp jvp = pairs.jvps().of_global(name, type, wanted);
  const auto& own = *as<lang::FunctionType>(type);
  const Type residual_type = own_type(residual);
  const std::vector<Type> results = leaves_of(tangents.or_unit(own.result));
  const lang::Constructor* const slopes =
      add_constructor(residual, residual.name + "_Slopes", results);

  const std::vector<VariableRef> params = variables_of_types("x", own.params);
  Emitter forward(tangents);
  std::vector<Expr> args = uses_of(params);
  const std::size_t number = place_of(wanted);
  args.push_back(build::constant(as<lang::TensorType>(own.params[number])->dtype.known(), 1));
  const Expr both = forward.emit("both", call_global(jvp.name, jvp.type, std::move(args)));
  const Expr value = forward.emit("value", build::project(both, 0));
  std::vector<Expr> parts;
  append_parts(forward.emit("tangent", build::project(both, 1)), parts);
  for (Expr& part : parts) part = forward.emit("slope", std::move(part));
  const Expr saved = construct(slopes, std::move(parts), residual_type);
  program.add_function(
      pair.forward,
      inlined(params, lang::close_block({forward.take(), build::tuple({value, saved})})));

  const auto& halves = *as<lang::FunctionType>(pair.backward_type);
  const VariableRef taken = lang::make_variable("residual", residual_type);
  const VariableRef adjoint = lang::make_variable("adjoint", halves.params[1]);
  const std::vector<VariableRef> fields = variables_of_types("slope", results);
  Emitter backward(tangents);
  std::vector<Expr> adjoints;
  append_parts(lang::make_var(adjoint), adjoints);
  Expr sum;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Expr seed = backward.emit("adjoint", adjoints[i]);
    const Expr part = backward.emit("part", build::mul(seed, lang::make_var(fields[i])));
    sum = sum ? backward.emit("sum", tangents.add(sum, part)) : part;
  }
  std::vector<Expr> all(own.params.size(), build::tuple({}));
  all[number] = sum;
  std::vector<lang::PatternRef> patterns;
  for (const VariableRef& field : fields) patterns.push_back(lang::variable_pattern(field));
  const lang::Clause clause = {lang::constructor_pattern(slopes, std::move(patterns)),
                               lang::close_block({backward.take(), build::tuple(std::move(all))})};
  program.add_function(pair.backward,
                       inlined({taken, adjoint}, lang::make_match(lang::make_var(taken), {clause},
                                                                  true, {}, halves.result)));
}

}  // namespace relay::ad
