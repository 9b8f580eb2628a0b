#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lang/type.h"
#include "lang/value.h"

// How C sees a function of the language: its dimension variables as numbers, and its arguments and
// results as tensors, row-major, and scalars. Tuples and records are what they consist of.
namespace relay::built {

// A scalar or a tensor.
struct Leaf {
  lang::DType dtype = lang::DType::Bool;
  std::vector<lang::Dim> shape;  // of the dimension variables; empty: a scalar
};

// A value of a function's parameters or of its result.
struct Part {
  enum class Kind : std::uint8_t { Leaf, Tuple, Record } kind = Kind::Leaf;
  std::size_t leaf = 0;                            // Leaf: its number
  std::vector<Part> parts;                         // Tuple, Record
  std::vector<std::string> names;                  // Record: of the parts
  const lang::Constructor* constructor = nullptr;  // Record
  lang::Type type;
};

struct Signature {
  std::vector<lang::TypeVarRef> dims;  // in order of first occurrence
  std::vector<Part> params;
  std::vector<Leaf> args;
  Part result;
  std::vector<Leaf> results;
};

// Of a function at this type. Throws Failure(Unsupported) for what C cannot see: data types of
// several constructors or that contain themselves, functions, references, extents that the
// dimension variables do not tell.
Signature signature_of(const lang::Type& function);

// Extents of a leaf, for values of the signature's dims. Throws Failure(ShapeMismatchAtRunTime) for
// one below 0.
std::vector<std::int64_t> extents_of(const Signature& signature, const Leaf& leaf,
                                     std::span<const std::int64_t> dims);

// A value of its leaves, which are taken in order; and the leaves of a value.
lang::Value compose(const Part& part, std::span<lang::Value> leaves);
void append_leaves(const Part& part, const lang::Value& value, std::vector<lang::Value>& leaves);

}  // namespace relay::built
