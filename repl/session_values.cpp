#include "repl/session_state.h"

namespace relay::repl {

using lang::Expr;
using lang::Result;
using lang::Type;
using lang::Value;

Result<Expr> Session::read(const std::string& name, const std::string& text) {
  const lang::Source* source = impl_->sources.add(name, text);
  return impl_->entry_guarded([&] { return impl_->command_expression(*source); });
}

Result<Session::Typed> Session::evaluate_typed(const Expr& expr, bool is_settled) {
  return impl_->entry_guarded([&]() -> Typed {
    if (!is_settled && impl_->is_polymorphic_function(expr)) {
      const typecheck::Scheme scheme = impl_->checker.type_of(impl_->with_files(expr)).or_throw();
      return {{}, scheme.type, to_string(scheme)};
    }
    const auto [typed, general] = impl_->checked_value(expr);
    Value value = impl_->evaluate(typed, expr->span);
    Type type = concrete_type(general, value);
    std::string scheme = lang::to_string(type);
    return {std::move(value), std::move(type), std::move(scheme)};
  });
}

Result<Value> Session::call(const Value& function, std::vector<Value> args) {
  return impl_->entry([&] { return impl_->evaluator.call(function, std::move(args)); });
}

void Session::bind(const std::string& name, const Value& value, const Type& type) {
  impl_->bind({name, lang::Origin::Own, "", {}}, &value, type);
}

const Value* Session::bound_value(const std::string& name) const {
  return impl_->pipeline.value(name);
}

}  // namespace relay::repl
