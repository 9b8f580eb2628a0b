#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/dtype.h"
#include "lang/value.h"

// Well-typed programs, drawn from a seed alone.
namespace relay::tests {

// Numbers that are the same with every library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : next() % limit; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  // A multiple of 1/64 in [-2, 2], exact in every float type.
  double number();

 private:
  std::uint64_t state_;
};

struct ProgramOptions {
  lang::DType dtype = lang::DType::Float64;  // of its tensors: a float type or int32
  bool smooth = true;                        // differentiable everywhere, for finite differences
  int depth = 4;                             // nesting of expressions
  bool scalar_result = true;
};

struct RandomProgram {
  std::uint64_t seed = 0;
  std::string text;                      // definitions in light notation; the last is `f`
  std::vector<std::string> param_types;  // of `f`
  std::vector<lang::Value> args;         // to call `f` with
  std::string call;                      // the same as text: `f(0.5f64, [1.0f64])`

  // `fn (a0: T0, a1: T1) { body }`, where body may call `f(a0, a1)`.
  std::string wrapped(const std::string& body) const;
  std::string arg_names() const;  // `a0, a1`
};

RandomProgram random_program(std::uint64_t seed, const ProgramOptions& options);

}  // namespace relay::tests
