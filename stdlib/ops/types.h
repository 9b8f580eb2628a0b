// What the type rules of many families ask of their arguments.

#pragma once

#include <string>

#include "lang/op.h"

namespace relay::stdlib {

// Needs: the type is that of a tensor.
inline const lang::TensorType& as_tensor(const lang::Type& type) {
  return static_cast<const lang::TensorType&>(*type);
}

// The shape of the argument, of this rank: opened to unknown extents where its rank is open,
// refused where it has another.
lang::Shape ranked(lang::TypeCall& call, std::size_t argument, std::size_t rank);

// An attribute whose value no call of this operator can have; the message says why.
[[noreturn]] void bad_attribute(const lang::TypeCall& call, const std::string& message);

// How many axes of extent 1 one call may add. Throws BadAttribute for a count beyond that, or a
// negative one.
std::size_t new_axes(const lang::TypeCall& call);

}  // namespace relay::stdlib
