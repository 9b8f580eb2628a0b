#include "ad/checkpoint.h"

#include "ad/replay.h"
#include "ad/tangent.h"
#include "lang/build.h"
#include "lang/checkpoint.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

std::vector<VariableRef> variables_of(const std::vector<Type>& types) {
  std::vector<VariableRef> variables;
  for (const Type& type : types) variables.push_back(lang::make_variable("x", type));
  return variables;
}

// Straight-line code.
class Code {
 public:
  Expr emit(const char* name, const Expr& value) {
    bindings_.push_back({lang::make_variable(name, value->type), value});
    return lang::make_var(bindings_.back().variable);
  }
  Expr close(Expr result) { return lang::close_block({std::move(bindings_), std::move(result)}); }

 private:
  std::vector<lang::Binding> bindings_;
};

void add(lang::Program& program, const std::string& name, std::vector<VariableRef> params,
         const Expr& body, lang::AttrsRef attrs) {
  program.add_function(name, lang::rename_bound(lang::make_function(std::move(params), body->type,
                                                                    body, {}, std::move(attrs))));
}

}  // namespace

void define_checkpoint(lang::Program& program, const std::string& name, const Type& type,
                       const Pair& pair, const Pair& inner, lang::TypeDef& residual,
                       bool uses_references, bool gives_functions) {
  const auto& backward_type = *as<lang::FunctionType>(pair.backward_type);
  std::vector<Type> types = as<lang::FunctionType>(type)->params;
  if (uses_references) types.push_back(lang::scalar_type(lang::DType::Int64));
  const auto* kept = add_constructor(residual, residual.name + "_0", types);

  Code forward;
  std::vector<VariableRef> params = variables_of(as<lang::FunctionType>(type)->params);
  std::vector<Expr> saved = uses_of(params);
  if (uses_references) saved.push_back(forward.emit("since", reference_time()));
  // A function that is differentiated later has to be of the kind that knows what it captured, as
  // the inner half makes them.
  const Expr result =
      gives_functions
          ? build::project(forward.emit("both", call_global(inner.forward, inner.forward_type,
                                                            uses_of(params))),
                           0)
          : call_global(name, type, uses_of(params));
  const Expr value = forward.emit("result", result);
  const Expr both = build::tuple({value, construct(kept, saved, backward_type.params[0])});
  add(program, pair.forward, std::move(params), forward.close(both), nullptr);

  Code backward;
  const std::vector<VariableRef> fields = variables_of(types);
  const std::vector<VariableRef> given = variables_of(backward_type.params);
  std::vector<Expr> args = uses_of(fields);
  if (uses_references) {
    backward.emit("replay", begin_replay(args.back()));
    args.pop_back();
  }
  const Expr again =
      backward.emit("both", call_global(inner.forward, inner.forward_type, std::move(args)));
  if (uses_references) backward.emit("replay", end_replay());
  std::vector<Expr> rest = uses_of(given);
  rest[0] = build::project(again, 1);
  const Expr clause =
      backward.close(call_global(inner.backward, inner.backward_type, std::move(rest)));
  std::vector<lang::PatternRef> patterns;
  for (const VariableRef& variable : fields) patterns.push_back(lang::variable_pattern(variable));
  const Expr body = lang::make_match(
      lang::make_var(given[0]), {{lang::constructor_pattern(kept, std::move(patterns)), clause}},
      true, {}, backward_type.result);
  add(program, pair.backward, given, body, lang::checkpoint_attrs());
}

}  // namespace relay::ad
