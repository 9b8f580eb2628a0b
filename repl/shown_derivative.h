#pragma once

#include <deque>

#include "lang/module.h"
#include "lang/value.h"

namespace relay::repl {

// An adjoint or a tangent as the value prints that it belongs to: records with the names of their
// fields, data with its own constructors. What is so deep that no line shows it stays as it is.
// What it gives lives as long as it.
class ShownDerivative {
 public:
  lang::Value of(const lang::Value& derivative, const lang::Value& primal, std::size_t depth = 0);

 private:
  lang::Value data(const lang::Value& derivative, const lang::Value& primal, std::size_t depth);
  lang::Value of_function(const lang::Value& derivative, std::size_t depth);
  lang::Value named(std::string name, std::vector<lang::Value> fields);

  std::deque<lang::Constructor> made_;
};

// May a value have a derivative?
bool holds_float(const lang::Value& value);

}  // namespace relay::repl
