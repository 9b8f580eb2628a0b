#include <algorithm>

#include <fmt/format.h>

#include "ad/closures.h"
#include "ad/forward_block.h"
#include "ad/pairs.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/visit.h"

// Functions in forward mode: known ones are calls of their derivatives (ad/jvps), values are asked
// for theirs (ad/function_tangent).
namespace relay::ad {

using lang::as;
using lang::Binding;
using lang::Expr;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

bool ForwardBlock::is_active(const std::vector<Expr>& args) const {
  return std::any_of(args.begin(), args.end(),
                     [&](const Expr& arg) { return !tangent_of(arg).is_zero(); });
}

void ForwardBlock::construction(const Binding& binding, const lang::Call& call, Emitter& code) {
  code.append({binding});
  if (!is_active(call.args)) return;
  Tangents& tangents = pairs_.tangents();
  if (as<lang::TupleType>(tangent_type(binding.value->type))) {  // of a record
    std::vector<TangentValue> fields;
    for (const Expr& arg : call.args) fields.push_back(tangent_of(arg));
    return set_tangent(binding.variable, TangentValue::of_fields(std::move(fields)));
  }
  const auto& constructor = *lang::cast<lang::ConstructorRef>(call.callee).constructor;
  const auto* mirror = tangents.mirror(constructor, *as<lang::AdtType>(binding.value->type));
  if (!mirror) {
    lang::fail(lang::DiagnosticKind::Unsupported,
               fmt::format("not supported: differentiation through a value of type `{}`",
                           lang::to_string(binding.value->type)),
               binding.span);
  }
  std::vector<Expr> fields;
  for (const Expr& arg : call.args) {
    const Type type = tangent_type(arg->type);
    if (!is_unit(type)) fields.push_back(tangent_of(arg).value(type, arg, code));
  }
  set_tangent(binding.variable,
              TangentValue(code.emit(
                  "d" + binding.variable->name,
                  construct(mirror, std::move(fields), tangent_type(binding.value->type)))));
}

namespace {

// Calls of local functions that have become globals.
class KnownCalls final : public lang::Rewriter {
 public:
  struct Target {
    Expr global;
    std::vector<Expr> captures;
  };
  explicit KnownCalls(std::unordered_map<const lang::Variable*, Target> targets)
      : targets_(std::move(targets)) {}

 protected:
  Expr post(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    const auto* var = call ? as<lang::Var>(call->callee) : nullptr;
    const auto found = var ? targets_.find(var->variable.get()) : targets_.end();
    if (found == targets_.end()) return expr;
    std::vector<Expr> args = found->second.captures;
    args.insert(args.end(), call->args.begin(), call->args.end());
    return lang::make_call(found->second.global, std::move(args), nullptr, expr->span, expr->type);
  }

 private:
  std::unordered_map<const lang::Variable*, Target> targets_;
};

}  // namespace

// The global that a literal becomes. In it, calls of local functions that are known here are calls
// of theirs: captured, they would be calls of what nobody knows.
Lifted ForwardBlock::lifted(const std::string& name, const Expr& literal, const VariableRef& self) {
  std::unordered_map<const lang::Variable*, KnownCalls::Target> targets;
  for (const VariableRef& free : lang::free_variables(literal)) {
    const auto found = functions_.find(free.get());
    if (free == self || found == functions_.end()) continue;
    KnownFunction& known = found->second;
    make_global(known, free->name);
    targets[free.get()] = {lang::make_global_var(known.global, literal->span, known.type),
                           known.captures};
  }
  const Expr own = targets.empty() ? literal : KnownCalls(std::move(targets)).rewrite(literal);
  return lift(program_, name, own, self);
}

void ForwardBlock::make_global(KnownFunction& known, const std::string& name) {
  if (!known.literal) return;
  Lifted made = lifted(name, known.literal, known.self);
  known = {{}, {}, std::move(made.name), std::move(made.type), uses_of(made.captures)};
}

// A literal whose captures have tangents becomes one that calls a lifted global, so that its
// tangent, that of the captures, is tagged by its place.
void ForwardBlock::function(const Binding& binding, Emitter& code) {
  const Expr& literal = binding.value;
  Tangents& tangents = pairs_.tangents();
  Expr placed = literal;
  KnownFunction known;
  const lang::Constructor* place = nullptr;
  if (auto found = as_placed(literal)) {
    known = {{}, {}, std::move(found->global), std::move(found->type), std::move(found->captures)};
    place = tangents.place(found->place);
  } else {
    const auto free = lang::free_variables(literal);
    const bool is_recursive = std::find(free.begin(), free.end(), binding.variable) != free.end();
    const VariableRef self = is_recursive ? binding.variable : VariableRef();
    const Expr& body = lang::cast<lang::Function>(literal).body;
    const bool has_tangent = !is_unit(tangent_type(body->type)) || pairs_.reference_use().in(body);
    if (!has_tangent || !is_active(uses_of(free))) {
      known = {literal, self, {}, {}, {}};
    } else {
      Lifted made = lifted(binding.variable->name, literal, self);
      std::vector<Type> captured;
      for (const VariableRef& capture : made.captures) {
        const Type type = tangent_type(capture->type);
        if (!is_unit(type)) captured.push_back(type);
      }
      place = tangents.add_place(std::move(captured));
      placed = placed_literal(made, literal, place->tag);
      known = {{}, {}, std::move(made.name), std::move(made.type), uses_of(made.captures)};
    }
  }
  code.append({{binding.variable, placed, binding.span}});
  if (place && is_active(known.captures)) {
    std::vector<Expr> fields;
    for (const Expr& capture : known.captures) {
      const Type type = tangent_type(capture->type);
      if (!is_unit(type)) fields.push_back(tangent_of(capture).value(type, capture, code));
    }
    set_tangent(
        binding.variable,
        TangentValue(code.emit("d" + binding.variable->name,
                               construct(place, std::move(fields), tangents.function_tangent()))));
  }
  functions_[binding.variable.get()] = std::move(known);
}

Expr ForwardBlock::derived_call(const lang::Call& call, lang::Span span, Emitter& code) {
  if (const auto* global = pairs_.growing_recursion().known_callee(call.callee))
    return known_call(global->name, call.callee->type, call.args, span, code);
  const auto* var = as<lang::Var>(call.callee);
  const auto found = var ? functions_.find(var->variable.get()) : functions_.end();
  if (found == functions_.end()) return unknown_call(call, span, code);
  KnownFunction& known = found->second;
  if (known.literal) {
    const Expr& body = lang::cast<lang::Function>(known.literal).body;
    const bool has_tangent = is_active(call.args) && !is_unit(tangent_type(call.type));
    if (!has_tangent && !pairs_.reference_use().in(body)) return nullptr;
    make_global(known, var->variable->name);
  }
  std::vector<Expr> args = known.captures;
  args.insert(args.end(), call.args.begin(), call.args.end());
  return known_call(known.global, known.type, args, span, code);
}

Expr ForwardBlock::known_call(const std::string& name, const Type& type,
                              const std::vector<Expr>& args, lang::Span span, Emitter& code) {
  Activity active;
  std::vector<Expr> all = args;
  for (const Expr& arg : args) {
    const Type tangent = tangent_type(arg->type);
    const TangentValue value = tangent_of(arg);
    active.push_back(!value.is_zero() && !is_unit(tangent));
    if (active.back()) all.push_back(value.value(tangent, arg, code));
  }
  const bool has_tangent =
      all.size() > args.size() && !is_unit(tangent_type(as<lang::FunctionType>(type)->result));
  if (!has_tangent && !pairs_.reference_use().in_global(name, type)) return nullptr;
  const Jvp jvp = pairs_.jvps().of_global(name, type, active);
  if (jvp.takes_walk) all.push_back(walk_);
  return lang::make_call(lang::make_global_var(jvp.name, span, jvp.type), std::move(all), nullptr,
                         span, as<lang::FunctionType>(jvp.type)->result);
}

// What nobody knows may use references, whose tangents nobody knows either.
Expr ForwardBlock::unknown_call(const lang::Call& call, lang::Span span, Emitter& code) {
  const TangentValue own = tangent_of(call.callee);
  Tangents& tangents = pairs_.tangents();
  const Type type = tangents.with_tangent(*as<lang::FunctionType>(call.callee->type));
  const Expr op = lang::make_operator(&tangents.tangent_operator(), span,
                                      lang::function_type({call.callee->type}, type));
  const Expr derived =
      code.emit("derived", lang::make_call(op, {call.callee}, nullptr, span, type));
  std::vector<Expr> args = {own.value(tangents.function_tangent(), call.callee, code)};
  args.insert(args.end(), call.args.begin(), call.args.end());
  for (const Expr& arg : call.args)
    args.push_back(tangent_of(arg).value(tangent_type(arg->type), arg, code));
  args.push_back(walk_);
  return lang::make_call(derived, std::move(args), nullptr, span,
                         as<lang::FunctionType>(type)->result);
}

}  // namespace relay::ad
