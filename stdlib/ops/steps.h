#pragma once

#include <utility>
#include <vector>

#include "lang/build.h"

namespace relay::stdlib {

// Steps of a computation on scalars, each with a name, around a result.
class Steps {
 public:
  // The value as a variable that the result may use any number of times.
  lang::Expr name(const char* name, const lang::Expr& value) {
    if (lang::build::is_atom(value)) return value;
    const lang::VariableRef variable = lang::make_variable(name, value->type);
    bound_.emplace_back(variable, value);
    return lang::make_var(variable);
  }
  lang::Expr around(lang::Expr result) const {
    for (auto step = bound_.rbegin(); step != bound_.rend(); ++step) {
      const lang::Type type = result->type;
      result = lang::make_let(step->first, step->second, std::move(result), {}, type);
    }
    return result;
  }

 private:
  std::vector<std::pair<lang::VariableRef, lang::Expr>> bound_;
};

}  // namespace relay::stdlib
