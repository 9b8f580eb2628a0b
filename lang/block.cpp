#include "lang/expr.h"

namespace relay::lang {

Block open_block(const Expr& expr) {
  Block block;
  const Expr* at = &expr;
  while (const auto* let = as<Let>(*at)) {
    block.bindings.push_back({let->variable, let->value, let->span});
    at = &let->body;
  }
  block.result = *at;
  return block;
}

Expr close_block(const Block& block) {
  Expr expr = block.result;
  for (auto binding = block.bindings.rbegin(); binding != block.bindings.rend(); ++binding) {
    expr = make_let(binding->variable, binding->value, std::move(expr), binding->span);
  }
  return expr;
}

}  // namespace relay::lang
