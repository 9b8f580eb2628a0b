#pragma once

#include <cstdint>
#include <string>

#include "lang/ref.h"

namespace relay::lang {

// What a variable stands for. One record serves all four kinds of variable in types.
enum class VarKind : std::uint8_t { Type, Shape, DType, Dim };

class TypeVar;
using TypeVarRef = Ref<const TypeVar>;

// A variable of the type language. Identity is the object. `flexible` variables are unknowns of
// inference (the solver binds them); the others are rigid: written or generalised.
class TypeVar final : public Counted {
 public:
  TypeVar(VarKind kind, std::string name, bool flexible, std::uint64_t id)
      : kind(kind), flexible(flexible), id(id), name(std::move(name)) {}
  const VarKind kind;
  const bool flexible;
  const std::uint64_t id;  // unique in the process; orders variables
  const std::string name;  // may be empty for unknowns

  static TypeVarRef rigid(VarKind kind, std::string name);
  static TypeVarRef unknown(VarKind kind);
};

}  // namespace relay::lang
