#include "interp/closed_source.h"

#include "lang/build.h"

namespace relay::interp {

using lang::Expr;
using lang::VariableRef;

Expr closed_source(const FunctionCode& code) {
  if (code.captured.empty() && !code.self) return code.source;
  const auto& fn = lang::cast<lang::Function>(code.source);
  std::vector<VariableRef> params;
  std::vector<Expr> args;
  for (const VariableRef& param : fn.params) {
    params.push_back(code.self ? lang::make_variable(param->name, param->type, param->span)
                               : param);
    args.push_back(lang::make_var(params.back()));
  }
  params.insert(params.end(), code.captured.begin(), code.captured.end());
  Expr body = fn.body;
  if (code.self) {
    const Expr call =
        lang::make_call(lang::make_var(code.self), std::move(args), nullptr, fn.span, body->type);
    body = lang::make_let(code.self, code.source, call, fn.span, body->type);
  }
  return lang::make_function(std::move(params), fn.body->type, std::move(body), {}, nullptr,
                             fn.span);
}

}  // namespace relay::interp
