#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/dtype.h"
#include "tests/support/random.h"

// Well-typed programs, drawn from a seed alone.
namespace relay::tests {

struct ProgramOptions {
  lang::DType dtype = lang::DType::Float64;  // of its tensors: a float type or int32
  // Differentiable almost everywhere, and bounded: for finite differences.
  bool smooth = true;
  std::size_t size = 30;  // steps of `f`, about
  bool scalar_result = true;
  // Data types, recursion and functions as values; else tensors, tuples, branches, calls, loops.
  bool whole_language = true;
  // Mostly functions: what takes and gives them, to the third order, over scalars.
  bool combinators = false;
  bool references = false;          // `ref`, `ref_read`, `ref_write`
  bool calls_in_indices = true;     // any function may be called in the body of index notation
  bool extremes_in_indices = true;  // `max`, `min` and `prod` as well as `sum`
};

// What a program uses.
enum class Feature : std::uint8_t {
  If,
  Match,
  ListRecursion,
  TreeRecursion,
  Loop,
  MutualRecursion,
  Closure,
  ClosureInData,
  Record,
  Reference,
  IndexNotation,
  Gradient,  // `grad` inside the program
};
inline constexpr const char* kFeatureNames[] = {"if",
                                                "match",
                                                "recursion over lists",
                                                "recursion over trees",
                                                "loops",
                                                "mutual recursion",
                                                "closures",
                                                "closures in data",
                                                "records",
                                                "references",
                                                "index notation",
                                                "nested gradients"};
inline constexpr std::size_t kFeatures = std::size(kFeatureNames);

struct RandomProgram {
  std::uint64_t seed = 0;
  Choices choices;                       // that made it
  std::string text;                      // definitions in light notation; the last is `f`
  std::vector<std::string> param_types;  // of `f`
  std::vector<std::string> args;         // to call `f` with, as text
  std::string result_type;
  // Names of functions of two values of each parameter's type, which give their inner product.
  std::vector<std::string> inner_products;
  std::string inner_product_definitions;
  std::string call;            // `f(0.5f64, [1.0f64])`
  std::uint32_t features = 0;  // a bit for each Feature

  bool uses(Feature feature) const { return features >> static_cast<unsigned>(feature) & 1; }
  // `fn (a0: T0, a1: T1) { body }`, where body may call `f(a0, a1)`.
  std::string wrapped(const std::string& body) const;
  std::string arg_names() const;  // `a0, a1`
};

RandomProgram random_program(std::uint64_t seed, const ProgramOptions& options);
// The program that these choices make. None at all make the smallest of all.
RandomProgram program_of_choices(const Choices& choices, const ProgramOptions& options);

}  // namespace relay::tests
