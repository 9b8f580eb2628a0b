#include "opt/steps_literal.h"

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/visit.h"
#include "opt/external.h"

namespace relay::opt {

using lang::Expr;

Expr StepParameters::find(const Expr& value) const {
  for (std::size_t i = 0; i < args_.size(); ++i) {
    if (is_same_value(args_[i], value)) return lang::make_var(params_[i]);
  }
  return nullptr;
}

Expr StepParameters::add(const Expr& value) {
  if (Expr known = find(value)) return known;
  params_.push_back(
      lang::make_variable(fmt::format("{}{}", prefix_, params_.size()), value->type, value->span));
  args_.push_back(value);
  return lang::make_var(params_.back());
}

Expr literal_of_steps(const StepParameters& params, const lang::Block& steps, lang::AttrsRef attrs,
                      lang::Span span) {
  const Expr plain = lang::build::function(params.params(), lang::close_block(steps));
  const auto& fn = lang::cast<lang::Function>(plain);
  return lang::rename_bound(lang::make_function(fn.params, fn.body->type, fn.body, {},
                                                std::move(attrs), span, plain->type));
}

}  // namespace relay::opt
